"""Twenty steps on flat ground, and the same with random pushes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from dqdyn.analysis.experiments.experiment import AnyFigure, Claim, Table
from dqdyn.analysis.experiments.figures import figure
from dqdyn.analysis.experiments.machine_figures import graph_of
from dqdyn.analysis.experiments.walk.part import Part
from dqdyn.analysis.experiments.walk.pictures import case_of, events_of, from_above, over_time, spans_of
from dqdyn.analysis.standing.pushes import PUSH
from dqdyn.analysis.standing.setting import Standing, humanoid
from dqdyn.analysis.walking.walked import Push, Walked, Walker, random_pushes, straight_plan, walk, walker_of
from dqdyn.arrays import Array
from dqdyn.progress import Progress

NEAR, SLIP, FOLLOWS = 5e-3, 2e-3, 0.02
"""m: of footprints from their footsteps, of feet that stand, and of ξ from its reference, without pushes."""
SEED = 16


def part(
    steps: int = 20,
    length: float = 0.2,
    pushes: int = 10,
    ratio: float = 0.3,
    higher: Sequence[float] = (0.6, 0.9),
    substeps: Sequence[int] = (1, 2),
    short: int = 8,
    show: bool | None = None,
) -> Part:
    """``steps`` of ``length`` m, undisturbed and with ``pushes`` runs of one push each, at all ``substeps``.

    ``ratio``: of the force that the standing robot survives as a pendulum; ``higher`` ones push a walk of ``short``
    steps with the first of ``substeps``. ``show``: a progress bar.
    """
    standing = humanoid()
    walker = walker_of(standing, straight_plan(standing, steps, length))
    total = len(substeps) * (1 + pushes) + len(higher) * pushes
    with Progress(total, f"{total} walks", show) as bar:
        done = iter(range(1, total + 1))

        def one(walker: Walker, push: Push | None, engine: int) -> Walked:
            found = walk(walker, push=push, substeps=engine)
            bar.at(next(done))
            return found

        plain = {engine: one(walker, None, engine) for engine in substeps}
        graph = graph_of(walker.machine, "the state machine")
        drawn = random_pushes(pushes, ratio, *_walking(walker), seed=SEED)
        pushed = {engine: [one(walker, push, engine) for push in drawn] for engine in substeps}
        ladder = {ratio: pushed[substeps[0]]}
        if higher:
            brief = walker_of(standing, straight_plan(standing, short, length))
            for each in higher:
                harder = random_pushes(pushes, each, *_walking(brief), seed=SEED)
                ladder[each] = [one(brief, push, substeps[0]) for push in harder]
    found = _report(standing, plain, pushed, ladder, steps, length, ratio)
    return replace(found, figures=(*found.figures, graph))


def _walking(walker: Walker) -> tuple[float, float]:
    """s between which the robot is pushed: from the first foot that leaves the ground to the last that lands."""
    timing, steps = walker.gait.timing, len(walker.gait.plan)
    return timing.begin, timing.begin + steps * (timing.single + timing.double) - timing.double


def _report(
    standing: Standing,
    plain: dict[int, Walked],
    pushed: dict[int, list[Walked]],
    ladder: dict[float, list[Walked]],
    steps: int,
    length: float,
    ratio: float,
) -> Part:
    first = next(iter(plain.values()))
    hardest = max(
        (run for run in pushed[next(iter(pushed))]), key=lambda run: np.nan_to_num(run.deviation), default=None
    )
    cases = [case_of(f"{steps} steps of {100 * length:.0f} cm", first)]
    if hardest is not None:
        cases.append(case_of("pushed: the run whose feet leave the plan farthest", hardest))
    seconds = np.concatenate([run.seconds for run in plain.values()])
    text = (
        f"Our humanoid of {standing.robot.mass:.1f} kg makes {steps} steps of {100 * length:.0f} cm on flat ground in "
        "MuJoCo, at 1 kHz, by the whole-body controller and the state machine: both feet, one foot, both feet, … The "
        "divergent component of motion follows in closed form from the footsteps that are left; where a push displaces "
        "it farther than the sole can correct, the next footstep gives way.",
        "Pushes act on the pelvis for 0.1 s at random times, in random directions, once in each run. Their force is a "
        "part of the greatest that a linear pendulum on both feet survives in that direction: "
        f"{_range([push.force(standing) for push in _pushes(pushed)])} N for {ratio:g} of it.",
        f"A control step took {1e6 * float(np.median(seconds)):.0f} µs in the median and "
        f"{1e6 * float(np.percentile(seconds, 99)):.0f} µs at the 99th percentile on the machine of this run.",
    )
    tables = (_runs_table(standing, pushed), _ladder_table(ladder))
    claims = tuple(_claims(plain, pushed, ladder, steps, ratio))
    return Part(text, claims, tuple(cases), tuple(_figures(first, hardest)), tables)


def _pushes(pushed: dict[int, list[Walked]]) -> list[Push]:
    return [run.push for run in next(iter(pushed.values())) if run.push is not None]


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.0f} to {max(values):.0f}" if values else "no"


# --- claims -----------------------------------------------------------------------------------------------------------


def _claims(
    plain: dict[int, Walked],
    pushed: dict[int, list[Walked]],
    ladder: dict[float, list[Walked]],
    steps: int,
    ratio: float,
) -> Iterator[Claim]:
    """What is measured of the plant."""
    each = [f"engine step {1e3 / engine:g} µs: {len(run.footprints)} footprints, {run.why or 'stands at the end'}"
            for engine, run in plain.items()]  # fmt: skip
    yield Claim(
        f"it makes {steps} steps without a fall, at every step of the engine",
        "; ".join(each),
        all(run.stayed_up and len(run.footprints) == steps for run in plain.values()),
    )
    for text, limit, values in (
        (f"every footprint is within {1e3 * NEAR:g} mm of its footstep", NEAR, [r.deviation for r in plain.values()]),
        (f"no foot slips by more than {1e3 * SLIP:g} mm while it stands", SLIP, [r.slip for r in plain.values()]),
        (
            f"the divergent component is within {1e3 * FOLLOWS:g} mm of its reference",
            FOLLOWS,
            [float(_error(run).max()) for run in plain.values()],
        ),
    ):
        measured = " and ".join(f"{1e3 * value:.2g} mm" for value in values)
        yield Claim(text, f"{measured} at the most", all(value <= limit for value in values))
    count = len(next(iter(pushed.values())))
    fallen = {engine: [run.why for run in runs if not run.stayed_up] for engine, runs in pushed.items()}
    yield Claim(
        f"no fall in {count} runs with a random push of {ratio:g} of the standing robot's bound",
        "; ".join(
            f"engine step {1e3 / engine:g} µs: {count - len(falls)} of {count} stay up"
            + "".join(f", {why}" for why in falls)
            for engine, falls in fallen.items()
        ),
        not any(fallen.values()),
    )
    all_steps = [len(run.footprints) for runs in pushed.values() for run in runs]
    yield Claim(
        "pushed robots make all their steps too",
        f"{min(all_steps, default=0)} to {max(all_steps, default=0)} footprints",
        set(all_steps) == {steps},
    )
    survived = [each for each, runs in sorted(ladder.items()) if all(run.stayed_up for run in runs)]
    counts = ", ".join(f"{each:g}: {sum(run.stayed_up for run in runs)}" for each, runs in sorted(ladder.items()))
    yield Claim(
        f"all pushes are survived up to a ratio of at least {ratio:g}",
        f"of {count} runs stay up, by ratio: {counts}",
        bool(survived) and min(ladder) in survived,
    )


def _error(run: Walked) -> Array:
    """|ξ − ξ_d| (n,) in m."""
    return np.asarray(np.linalg.norm(run.components - run.trajectory.extra["xi_d"], axis=1))


# --- tables and figures -----------------------------------------------------------------------------------------------


def _runs_table(standing: Standing, pushed: dict[int, list[Walked]]) -> Table:
    rows = []
    for engine, runs in pushed.items():
        for run in runs:
            assert run.push is not None
            push = run.push
            rows.append(
                (
                    f"{1e3 / engine:g}",
                    f"{push.start:.2f}",
                    f"{np.degrees(push.angle):.0f}",
                    f"{push.force(standing):.0f}",
                    f"{PUSH * push.force(standing):.1f}",
                    f"{1e3 * run.deviation:.0f}",
                    run.why or "stays up",
                )
            )
    columns = ("engine step in µs", "time in s", "direction in °", "N", "N s", "feet from the plan in mm", "end")
    return Table("Pushed walks; directions from ahead to the left", columns, tuple(rows))


def _ladder_table(ladder: dict[float, list[Walked]]) -> Table:
    rows = [
        (
            f"{ratio:g}",
            f"{sum(run.stayed_up for run in runs)} of {len(runs)}",
            "; ".join(
                f"{np.degrees(run.push.angle):.0f}° at {run.push.start:.2f} s: {run.why}"
                for run in runs
                if run.push is not None and not run.stayed_up
            )
            or "none",
        )
        for ratio, runs in sorted(ladder.items())
    ]
    return Table("How hard it may be pushed", ("ratio", "stay up", "falls"), tuple(rows))


def _figures(plain: Walked, pushed: Walked | None) -> Iterator[AnyFigure]:
    for name, run in (("", plain), ("pushed: ", pushed)):
        if run is None:
            continue
        spans, events = spans_of(run), events_of(run)
        yield from_above(f"{name}footsteps, center of mass, divergent component and zero-moment point", run)
        for i, axis in enumerate("xy"):
            yield over_time(f"{name}{axis} over time", run, i, spans, events)
        heights = {foot: (run.trajectory, run.feet(foot)[:, 2]) for foot in run.standing.feet}
        yield figure(f"{name}heights of the soles", "m", heights, spans=spans, events=events)
        forces = {foot: (run.trajectory, run.forces(foot)) for foot in run.standing.feet}
        yield figure(f"{name}normal forces below the feet", "N", forces, spans=spans, events=events)
