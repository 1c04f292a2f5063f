"""A pendulum hits a humanoid with a hand on a table: Quiroz, section 4.4, fig. 4.9."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.analysis.experiments.experiment import Case, Result
from dqdyn.analysis.experiments.figures import draw, phases
from dqdyn.analysis.experiments.pendulum_blow import claims, pictures, setting
from dqdyn.analysis.experiments.pendulum_blow.blows import DURATION, Balance, Blow, Ring, Search, searched
from dqdyn.analysis.experiments.pendulum_blow.pendulum import Pendulum
from dqdyn.analysis.experiments.pendulum_blow.postures import Posture, Steps, polygon, postures
from dqdyn.analysis.experiments.pendulum_blow.study import VARIED, Study
from dqdyn.errors import Error
from dqdyn.progress import Progress

NAME, TITLE = "pendulum-blow", "A pendulum hits a humanoid that leans on a table"
MOMENTUM = 105.0
"""N s of the ball in the blow that both postures get."""
RESOLUTION, SUBSTEPS = 0.05, (1, 2)
_RUNS = 36  # about, for the progress bar


def experiment(
    plant: str | None = None,
    momentum: float = MOMENTUM,
    duration: float = DURATION,
    resolution: float = RESOLUTION,
    substeps: Sequence[int] = SUBSTEPS,
) -> Result:
    """Both postures get the same blow, slightly weaker and stronger ones, and stronger ones until they fall.

    ``momentum`` of the ball in N s; the greatest blow that is survived is found to ``resolution``, a share of it; all
    that with each number of ``substeps``, of the engine per control step.
    """
    if plant is None:
        what = "there is no pendulum to touch on our own dynamics"
        raise Error(f"{NAME} runs in MuJoCo alone, {what}: use --plant mujoco, or experiment({NAME!r}, 'mujoco').")
    study = studied(momentum, duration, resolution, substeps)
    pair = study.pair(substeps[0])
    return Result(
        NAME,
        TITLE,
        "Quiroz, section 4.4, fig. 4.9",
        pictures.text(study),
        tuple(claims.all_claims(study)),
        (_steps_case(study.steps), *(_case(blow) for blow in pair)),
        tuple(pictures.figures(study)),
        (pictures.summary(study), pictures.all_runs(study)),
    )


def studied(momentum: float, duration: float, resolution: float, substeps: Sequence[int]) -> Study:
    """All runs."""
    start = setting.start()
    steps = postures(start)
    ring = Ring(start, Balance(start), Pendulum())
    done = 0
    with Progress(_RUNS, "blows of the pendulum in MuJoCo") as bar:

        def noted() -> None:
            nonlocal done
            done += 1
            bar.at(min(done, _RUNS))

        def search(posture: Posture, count: int) -> Search:
            blows = []
            for factor in (1.0, *VARIED):
                blows.append(ring.blow(posture, factor * momentum, duration=duration, substeps=count))
                noted()
            found = Search(blows)
            for found in searched(ring, posture, blows, resolution, duration):  # noqa: B007 (the last one counts)
                noted()
            return found

        near, far = steps.both
        searches = {count: (search(near, count), search(far, count)) for count in substeps}
    return Study(start, steps, ring, momentum, searches)


def _case(blow: Blow) -> Case:
    drawn = draw("support_polygon", polygon=blow.posture.polygon, center=blow.centers)
    name = f"{blow.posture.name}: {'falls' if blow.fell else 'stays'}"
    return Case(name, blow.trajectory, (drawn,), scene=blow.scene)


def _steps_case(steps: Steps) -> Case:
    run, start = steps.run, steps.unmaximised.standing
    centers = [start.robot.center_of_mass(q) for q in run.q]
    drawn = draw("support_polygon", polygon=[polygon(start, q) for q in run.q], center=centers)
    spans = phases(run.time, steps.states)
    return Case("Steps I and II", run, (drawn,), scene=setting.scene(), spans=spans)
