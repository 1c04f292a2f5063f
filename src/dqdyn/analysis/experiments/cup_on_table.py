"""A hand puts a cup on a table: Quiroz, sections 6.1.1 (by velocity) and 6.1.2 (by torque).

QP knows the task alone, CQP also the fifteen constraints and, by torque, the bounds (3.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments import cup_setting as cup
from dqdyn.analysis.experiments.cup_setting import GAINS, PLANE, RATE, START, TILT, TORSO, Setting
from dqdyn.analysis.experiments.experiment import AnyFigure, Case, Claim, Result, Table
from dqdyn.analysis.experiments.figures import curves, effort, figure, joint_figures, norm
from dqdyn.analysis.experiments.running import follow
from dqdyn.simulate import Trajectory

NAME, TITLE = "cup-on-table", "A cup is put on a table"
VELOCITY, TORQUE = ("QP by velocity", "CQP by velocity"), ("QP by torque", "CQP by torque")
STOPPED = "QP by torque with the bounds (3.4)"
ALLOWED = 1e-3  # of a limit
SLOW, FAST = (0.5 * (GAINS[0] + sign * np.sqrt(GAINS[0] ** 2 - 4.0 * GAINS[1])) for sign in (-1.0, 1.0))  # 1/s
ENGINE_STEPS = (2, 4, 20)  # per command, of the runs that show what finer steps do
ON_THE_ENGINE = (
    "On the engine, claims are about one step of the engine per command. Only then does CQP by torque stay within its "
    "limits; with finer steps of the engine a torque is held while the arm moves on; the last table says by how much."
)


def controller(setting: Setting, name: str) -> ct.Controller:
    """(3.1) by velocity, (3.3) and (3.7) by torque; CQP with constraints and, by torque, (3.4)."""
    constraints = setting.constraints() if name.startswith("CQP") else []
    if name in (TORQUE[1], STOPPED):
        constraints.append(ct.StoppingBounds(2.0))
    make = ct.velocity_controller if name in VELOCITY else ct.torque_controller
    return make(setting.robot, [setting.task()], constraints, damping=cup.DAMPING)


def experiment(
    plant: str | None = None, duration: float = 18.0, dt_velocity: float = 0.01, dt_torque: float = 5e-4
) -> Result:
    """All runs for ``duration`` s, those with constraints at three steps."""
    setting = Setting.above_the_table(cup.nine_joints(), START)
    steps = {**dict.fromkeys(VELOCITY, dt_velocity), **dict.fromkeys((*TORQUE, STOPPED), dt_torque)}
    if plant is not None:
        # One step of the engine per command: the commanded acceleration acts unchanged, whatever the step. With
        # more of them a torque is held while the arm moves on, as on a real robot: :func:`finer` shows what that does.
        steps = dict.fromkeys(steps, 4.0 * dt_torque)

    def at(name: str, dt: float, substeps: int = 1) -> Trajectory:
        every, law = max(1, round(5e-3 / dt)), controller(setting, name)
        return follow(setting.robot, law, duration, dt, START, plant, every=every, substeps=substeps)

    runs = {name: at(name, dt) for name, dt in steps.items()}
    steps_of = {name: [factor * steps[name] for factor in (1.0, 2.0, 4.0)] for name in (VELOCITY[1], TORQUE[1])}
    stepped = {
        name: {dt: runs[name] if dt == steps[name] else at(name, dt) for dt in dts} for name, dts in steps_of.items()
    }
    engine: list[Table] = []
    if plant is not None:
        dt = steps[TORQUE[1]]
        many = {1: runs[TORQUE[1]], **{count: at(TORQUE[1], dt, count) for count in ENGINE_STEPS}}
        engine.append(finer({count: setting.violations(r) for count, r in many.items()}, dt))
    efforts = {name: effort(r.time, r.v if name in VELOCITY else r.tau) for name, r in runs.items()}
    claims = [
        *[broken(setting, name, runs[name]) for name in (VELOCITY[0], TORQUE[0])],
        *[respected(setting, name, by_step) for name, by_step in stepped.items()],
        *[decays(setting, name, runs[name]) for name in (*VELOCITY, *TORQUE)],
        *[
            Claim(
                f"constraints take effort, by {word}",
                f"{efforts[a]:.4g} without, {efforts[b]:.4g} with",
                efforts[b] > efforts[a],
            )
            for word, (a, b) in (("velocity", VELOCITY), ("torque", TORQUE))
        ],
        *stops(runs),
    ]
    return Result(
        NAME,
        TITLE,
        "Quiroz, sections 6.1.1 and 6.1.2, figs. 6.1 to 6.4, table 6.1",
        (
            "A torso of five joints and an arm of four lower a cup to a table. The task is the height alone; the cup "
            f"must not tilt by more than {TILT} rad, the hand stays between four planes, all joints within their "
            "limits, and the forearm away from the torso. QP does not know these constraints, CQP does.",
            "Tilt, distances and joint angles below are computed from the runs, not taken from the controllers.",
            *([ON_THE_ENGINE] if engine else []),
        ),
        tuple(claims),
        tuple(Case(name, r, setting.drawings(r)) for name, r in runs.items()),
        tuple(figures(setting, runs)),
        (table(efforts, duration), *engine),
    )


def broken(setting: Setting, name: str, run: Trajectory) -> Claim:
    """QP violates all kinds of limits."""
    v = setting.violations(run)
    return Claim(
        f"{name} violates tilt, planes, joint limits and the distance of torso and arm",
        f"tilt {TILT * (1 + v['tilt']):.3g} rad, planes {PLANE * (1 - v['planes']):.3g} m, "
        f"torso {TORSO * (1 - v['torso']):.3g} m, joints {100 * v['joints']:.3g} % beyond a limit",
        all(value > ALLOWED for value in v.values()),
    )


def respected(setting: Setting, name: str, runs: dict[float, Trajectory]) -> Claim:
    """CQP violates none, and less with a smaller step; runs by their step in s, the finest first."""
    kinds = [setting.violations(r) for r in runs.values()]
    worst = [max(violations.values()) for violations in kinds]
    series = ", ".join(f"{_part(value)} at {1e3 * dt:g} ms" for dt, value in zip(runs, worst, strict=True))
    words = ", ".join(f"{kind} {_part(value)}" for kind, value in kinds[0].items())
    beyond = [max(value, 0.0) for value in worst]
    return Claim(
        f"{name} respects all limits to {ALLOWED:g} of each, the better the smaller the step",
        f"worst {series}; at the smallest step: {words}",
        worst[0] < ALLOWED and all(fine <= coarse for fine, coarse in pairwise(beyond)),
    )


def finer(violations: dict[int, dict[str, float]], dt: float) -> Table:
    """Violations by the steps of the engine per command."""
    kinds = list(next(iter(violations.values())))
    rows = tuple((f"{count}", *(_part(v[kind]) for kind in kinds)) for count, v in violations.items())
    title = f"{TORQUE[1]} on the engine, a command each {1e3 * dt:g} ms: part of each limit"
    return Table(title, ("steps of the engine per command", *kinds), rows)


def _part(violation: float) -> str:
    return f"{violation:.1e} beyond" if violation > 0.0 else f"{-violation:.1e} inside"


def decays(setting: Setting, name: str, run: Trajectory) -> Claim:
    """The error against that of the equation which the task sets, from rest."""
    error, t = setting.height(run), run.time
    if name in VELOCITY:
        wanted, law = np.exp(-RATE * t), f"e^(−{RATE} t)"
    else:
        wanted = (FAST * np.exp(-SLOW * t) - SLOW * np.exp(-FAST * t)) / (FAST - SLOW)
        law = f"ë = −{GAINS[0]} ė − {GAINS[1]} e"
    return cup.decays(f"{name}: the error decays as {law}", error, wanted, "error off at most")


def stops(runs: dict[str, Trajectory]) -> Iterator[Claim]:
    """With the bounds (3.4) the joints come to rest as the task does, without them they go on."""
    for name, still in ((TORQUE[0], False), (STOPPED, True), (TORQUE[1], True)):
        speed, t = norm(runs[name].v), runs[name].time
        last = t > 2.0 / 3.0 * t[-1]
        falls = -float(np.polyfit(t[last], np.log(speed[last]), 1)[0])
        words = "come to rest as the hand does" if still else "go on when the hand has come to rest"
        yield Claim(
            f"{name}: the joints {words}",
            f"{speed[-1]:.2g} rad/s at the end, e^({-falls:.2g} t) over the last third; the hand e^({-SLOW:.2g} t)",
            falls > 0.5 * SLOW if still else falls < 0.2 * SLOW,
        )


def table(efforts: dict[str, float], duration: float) -> Table:
    """Ours beside the paper's [Quiroz, table 6.1], whose robot, start and duration are others."""
    rows = (
        ("(3.1)", "√∫‖v‖² dt", *(f"{efforts[name]:.4f}" for name in VELOCITY), "0.1637", "0.5132"),
        ("(3.7)", "√∫‖τ‖² dt", *(f"{efforts[name]:.2f}" for name in TORQUE), "61.508", "115.07"),
    )
    title = f"Control effort over {duration:g} s, as table 6.1"
    return Table(title, ("control law", "metric", "QP", "CQP", "QP in print", "CQP in print"), rows)


def figures(setting: Setting, runs: dict[str, Trajectory]) -> Iterator[AnyFigure]:
    """QP and CQP in one: [Quiroz, fig. 6.2] by velocity, [Quiroz, fig. 6.3] and [Quiroz, fig. 6.4] by torque.

    Curves by velocity that the paper shows of its real robot alone (fig. 6.5) have no number here.
    """
    for word, pair, distances, others in (
        ("velocity", VELOCITY, "fig. 6.2", ""),
        ("torque", TORQUE, "fig. 6.4", "fig. 6.3"),
    ):
        both = {name.split()[0]: runs[name] for name in pair}
        by, at = f"by {word}" + (f" ({others})" if others else ""), f"by {word} ({distances})"
        planes = {
            f"{key}, plane {i + 1}": (run, cup.to_planes(setting.planes, setting.hand(run))[:, i])
            for key, run in both.items()
            for i in range(4)
        }
        yield figure(f"tilt of the cup {by}", "rad", curves(both, setting.tilt), {"limit": TILT})
        yield figure(f"forearm to torso {at}", "m", curves(both, setting.to_torso), {"limit": TORSO})
        yield figure(f"hand to the four planes {at}", "m", planes, {"limit": PLANE})
        yield figure(f"task error {by}", "m", curves(both, setting.height))
        yield figure(f"norm of the joint velocities {by}", "rad/s", curves(both, lambda run: norm(run.v)))
        if word == "torque":
            yield figure(f"norm of the torques {by}", "N m", curves(both, lambda run: norm(run.tau)))
            yield figure(f"norm of the joint accelerations {by}", "rad/s²", curves(both, lambda run: norm(run.a)))
        yield from joint_figures(f"joints by {word}", both, [joint.name for joint in setting.robot.joints], others)
