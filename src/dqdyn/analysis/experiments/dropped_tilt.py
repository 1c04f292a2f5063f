"""Runs with all constraints of a cup's setting, and without that on its tilt: what Quiroz, section 6.1.3, compares.

The paper contradicts itself about the joint limits: QP and CQP differ in the tilt alone, and CQP alone keeps joint
limits. So there are two runs without the tilt: QP, which keeps the joint limits, and one that lacks them too. All runs
keep the constraints against collisions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from dqdyn.analysis.experiments import cup_setting as cup
from dqdyn.analysis.experiments.cup_setting import KINDS, Setting
from dqdyn.analysis.experiments.experiment import Claim, Table
from dqdyn.analysis.experiments.figure_kinds import AnyFigure
from dqdyn.analysis.experiments.figures import curves, figure, joint_figures, norm
from dqdyn.analysis.experiments.running import of_steps
from dqdyn.simulate import Trajectory

QP, FREE, CQP = "QP", "QP without joint limits", "CQP"
COLLISION = ("planes", "torso")
KEPT: Mapping[str, Collection[str]] = {QP: ("joints", *COLLISION), FREE: COLLISION, CQP: KINDS}
"""The kinds of constraints that each run knows."""

ALLOWED = 1e-3  # of a limit
TEXT = (
    "All runs keep the constraints against collisions: the four planes, and torso and arm. CQP knows the tilt and the "
    "joint limits as well. The paper says that the tilt is the only difference of QP and CQP, and also that CQP alone "
    "respects the joint limits. Both cannot be: QP here lacks the tilt alone, a further run lacks the joint limits too."
)

Runs = Mapping[str, Trajectory]
ByStep = Mapping[int, Runs]
"""Runs by the engine's steps per torque; 1 on our own dynamics."""


def claims(setting: Setting, by_step: ByStep) -> Iterator[Claim]:
    """What the paper says of figs. 6.5 to 6.7 and of figs. 6.9 and 6.10, for every number of engine steps."""
    for steps, runs in by_step.items():
        words = of_steps(steps, by_step)
        beyond = {name: setting.violations(run) for name, run in runs.items()}
        for name, run in runs.items():
            wanted = np.exp(-cup.RATE * run.time)
            text = f"{name}: the error decays as e^(−{cup.RATE} t){words}"
            yield cup.decays(text, setting.height(run), wanted, "error off at most")
        yield reached(setting, runs, words)
        yield kept(QP, beyond[QP], KEPT[QP], words)
        yield kept(FREE, beyond[FREE], KEPT[FREE], words)
        yield kept(CQP, beyond[CQP], KEPT[CQP], words)
        yield violated(setting, QP, beyond[QP], ("tilt",), words)
        yield violated(setting, FREE, beyond[FREE], ("tilt", "joints"), words)


def reached(setting: Setting, runs: Runs, words: str = "") -> Claim:
    """The cup ends on the table between the planes in all runs."""
    left = {name: setting.height(run)[-1] / setting.height(run)[0] for name, run in runs.items()}
    room = {name: float(cup.to_planes(setting.planes, setting.hand(run)[-1:]).min()) for name, run in runs.items()}
    heights = ", ".join(f"{name} {100 * value:.2g} %" for name, value in left.items())
    return Claim(
        f"every run ends in the target region{words}",
        f"of the height remain: {heights}; at least {1e3 * min(room.values()):.3g} mm from the planes",
        all(abs(value) < 0.1 for value in left.values()) and min(room.values()) > 0.0,
    )


def kept(name: str, beyond: Mapping[str, float], kinds: Collection[str], words: str = "") -> Claim:
    """A run respects the limits that it knows."""
    known = [kind for kind in KINDS if kind in kinds]
    return Claim(
        f"{name} respects {listed(known)}{words}",
        "; ".join(f"{kind} {part_of_limit(beyond[kind])}" for kind in known),
        all(beyond[kind] < ALLOWED for kind in known),
    )


def violated(
    setting: Setting, name: str, beyond: Mapping[str, float], kinds: Collection[str], words: str = ""
) -> Claim:
    """A run violates limits that it does not know."""
    tilt = setting.most_tilt * (1.0 + beyond["tilt"])
    joints = f"; joints {part_of_limit(beyond['joints'])}" if "joints" in kinds else ""
    return Claim(
        f"{name} violates {listed(kinds)}{words}",
        f"tilt {tilt:.3g} rad for {setting.most_tilt}{joints}",
        all(beyond[kind] > 10.0 * ALLOWED for kind in kinds),
    )


def figures(setting: Setting, runs: Runs, number: str) -> Iterator[AnyFigure]:
    """Inputs, error, tilt and joints: the graphs of the paper's ``number``; room and distances besides."""
    names, tilt = [joint.name for joint in setting.robot.joints][:9], {"limit": setting.most_tilt}
    yield figure(f"norm of the joint velocities ({number})", "rad/s", curves(runs, lambda run: norm(run.v)))
    yield figure(f"task error ({number})", "m", curves(runs, setting.height))
    yield figure(f"tilt of the cup ({number})", "rad", curves(runs, setting.tilt), tilt)
    yield from joint_figures("joints", runs, names, number)
    least = curves(runs, lambda run: cup.to_planes(setting.planes, setting.hand(run)).min(axis=1))
    yield figure("cup to the nearest of the four planes", "m", least, {"limit": cup.PLANE})
    yield figure("forearm to torso", "m", curves(runs, setting.to_torso), {"limit": cup.TORSO})


def by_engine_steps(setting: Setting, by_step: ByStep) -> Table:
    """How far from its limits CQP stays, by the engine's steps per torque."""
    rows = []
    for steps, runs in by_step.items():
        beyond = setting.violations(runs[CQP])
        rows.append((str(steps), *(part_of_limit(beyond[kind]) for kind in KINDS)))
    return Table("CQP on the engine: part of each limit", ("steps of the engine per torque", *KINDS), tuple(rows))


def part_of_limit(violation: float) -> str:
    """A violation, a part of the limit, in words."""
    return f"{violation:.1e} beyond" if violation > 0.0 else f"{-violation:.1e} inside"


def listed(kinds: Collection[str]) -> str:
    """Kinds of constraints in words."""
    names = {
        "tilt": "the tilt",
        "planes": "the planes",
        "joints": "the joint limits",
        "torso": "the distance of torso and arm",
    }
    words = [names[kind] for kind in kinds]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
