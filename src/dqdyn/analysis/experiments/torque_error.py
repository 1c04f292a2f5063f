"""Torques of an arm with seven joints against another library, and the time per call: Quiroz, section 6.3.1.

The paper's states are random and its arm is not printed; ours has no symmetry. The Robotics Toolbox is the baseline
where it is installed, as in the paper, else Pinocchio.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter_ns

import numpy as np

from dqdyn.analysis.experiments.experiment import Claim, Result, Table
from dqdyn.analysis.experiments.figure_kinds import Bars
from dqdyn.analysis.peers import Body, SerialArm, Torques, installed_peers
from dqdyn.arrays import Array
from dqdyn.dynamics.methods import INVERSE
from dqdyn.errors import Error, MissingExtraError
from dqdyn.loading import from_dh
from dqdyn.progress import Progress
from dqdyn.robot import Robot
from dqdyn.robot.options import NamedInverse
from dqdyn.simulate.problem import is_whole

NAME, TITLE = "torque-error", "Torques of an arm against another library, and the time they take"
STATES = 10_000
ALLOWED = 1e-9  # percent, of the mean error of a joint
METHODS: dict[NamedInverse, str] = {
    "gauss": "Algorithm 5.1",
    "gauss-literal": "Algorithm 5.1 step by step",
    "newton-euler": "by dual quaternions",
    "auto": "what users get",
}
"""Whose torques are compared; fig. 6.20 is about the first."""

AS_PRINTED, FEWER = "gauss-literal, run in Python", 50  # so many times fewer calls of it
HEAVY, PART = 4, 0.01  # the link of the negative control, and by what part it is too heavy
QUARTER = np.pi / 2
TABLE = np.array(
    [  # θ, d, a, α
        [0.0, 0.36, 0.0, -QUARTER],
        [0.1, 0.0, 0.02, QUARTER],
        [0.0, 0.42, -0.05, QUARTER],
        [-0.3, 0.0, 0.04, -QUARTER],
        [0.0, 0.40, 0.0, -QUARTER],
        [0.2, 0.0, 0.03, QUARTER],
        [0.0, 0.13, 0.0, 0.4],
    ]
)
JOINTS = tuple(f"joint {k + 1}" for k in range(len(TABLE)))
States = tuple[Array, Array, Array]


def bodies(seed: int = 1) -> list[Body]:
    """Mass in kg, center of mass in m and tensor about it in kg m² of each link, in its frame; no symmetry."""
    rng = np.random.default_rng(seed)
    result: list[Body] = []
    for mass in (4.0, 4.0, 3.0, 2.7, 1.7, 1.8, 0.3):
        cloud = rng.normal(size=(3, 5)) * 0.06
        spread = cloud @ cloud.T * mass
        result.append((mass, rng.uniform(-0.1, 0.1, 3), np.trace(spread) * np.eye(3) - spread))
    return result


def seven_joints() -> Robot:
    """The arm, without friction and rotors."""
    return from_dh(TABLE, inertias=bodies(), name="seven joints", strict=True)


def arm_for_peers() -> SerialArm:
    """The same arm for other libraries."""
    return SerialArm(TABLE, bodies(), np.array(seven_joints().gravity))


def random_states(count: int = STATES, seed: int = 2) -> States:
    """q in rad, v in rad/s and a in rad/s², each (count, 7)."""
    rng = np.random.default_rng(seed)
    size = (count, len(TABLE))
    return rng.uniform(-np.pi, np.pi, size), rng.uniform(-2.0, 2.0, size), rng.uniform(-5.0, 5.0, size)


def experiment(plant: str | None = None, states: int = STATES) -> Result:
    """Errors and times over so many random states."""
    if plant is not None:
        raise Error(f"{NAME} runs on no plant: it compares torques at given states, and nothing moves.", plant=plant)
    if not is_whole(states) or states < 2:
        raise Error(f"{NAME} takes a whole number of states from 2 on; found {states!r}.", states=states)
    peers, missing = installed_peers(arm_for_peers())
    if not peers:
        wanted = " or ".join(missing)
        raise MissingExtraError(f"{NAME} needs another library to compare with: pip install {wanted}.", package=wanted)
    robot, given = seven_joints(), random_states(states)
    baseline = peers[0].torques(*given)
    found: dict[str, Array] = {f"{peer.name}, {peer.function}": peer.torques(*given) for peer in peers[1:]}
    found |= {method: robot.inverse_dynamics(*given, method=method) for method in METHODS}
    errors = {name: percentage_errors(tau, baseline) for name, tau in found.items()}
    heavy = robot.with_payload(f"link{HEAVY}", PART * bodies()[HEAVY - 1][0], bodies()[HEAVY - 1][1])
    control = percentage_errors(heavy.inverse_dynamics(*given), baseline)
    calls: dict[str, Torques] = {f"{peer.name}, {peer.function}": peer.call for peer in peers}
    calls |= {method: robot.function("inverse_dynamics", method=method) for method in METHODS}
    times = times_per_call({**calls, AS_PRINTED: plain_python(robot)}, given)
    return Result(
        NAME,
        TITLE,
        "Quiroz, section 6.3.1, figs. 6.20 and 6.21",
        (
            f"An arm with seven joints, whose links have no symmetry, in {states:,} random states. Its torques by our "
            f"methods are compared with those of {peers[0].name}, built from the same Denavit-Hartenberg table.",
            "The percentage error (6.5) of a joint is 100 |τ − τ_baseline| / |τ_baseline|: where the baseline's torque "
            "happens to be small, rounding alone makes it large, so that deviations exceed the means.",
            *map(absent, missing),
            "Times include the clock's own, some ten nanoseconds. Other work on the machine shows in their deviation.",
        ),
        (*(agrees(method, errors[method], peers[0].name) for method in METHODS), seen(control)),
        (),
        (error_bars(errors["gauss"], peers[0].name), time_bars(times)),
        (error_table(errors), time_table(times)),
    )


def absent(package: str) -> str:
    """What it means that a library is not installed."""
    if package.startswith("roboticstoolbox"):
        return (
            "The Robotics Toolbox, the paper's baseline, is not installed, so Pinocchio takes its place: "
            "pip install roboticstoolbox-python compares as the paper does."
        )
    return "Pinocchio is not installed and so not compared: pip install pin."


def percentage_errors(found: Array, baseline: Array) -> Array:
    """100 |τ − τ_baseline| / |τ_baseline| (n, joints) [Quiroz, eq. (6.5)]; the paper prints no bars below."""
    return np.asarray(100.0 * np.abs(found - baseline) / np.abs(baseline))


def plain_python(robot: Robot) -> Torques:
    """Algorithm 5.1 as it is written, on numbers, without the compiler: what the paper's Python does."""
    formulation = INVERSE["gauss-literal"]

    def call(q: Array, v: Array, a: Array) -> Array:
        return np.array(formulation(robot.model, q.tolist(), v.tolist(), a.tolist()))

    return call


def times_per_call(calls: Mapping[str, Callable[..., object]], states: States) -> dict[str, Array]:
    """ms of each call (n,), one state after the other; calls take turns in slices, so that all see the same machine."""
    count, slices = len(states[0]), min(20, len(states[0]))
    times: dict[str, list[int]] = {name: [] for name in calls}
    with Progress(slices * len(calls), "timing calls") as bar:
        for call in calls.values():
            call(*(x[0] for x in states))  # the first call may compile
        for k, part in enumerate(np.array_split(np.arange(count), slices)):
            for i, (name, call) in enumerate(calls.items()):
                for row in part[:: FEWER if name == AS_PRINTED else 1]:
                    q, v, a = states[0][row], states[1][row], states[2][row]
                    begin = perf_counter_ns()
                    call(q, v, a)
                    times[name].append(perf_counter_ns() - begin)
                bar.at(k * len(calls) + i + 1)
    return {name: 1e-6 * np.array(values) for name, values in times.items()}


# --- claims, tables and figures ---------------------------------------------------------------------------------------


def agrees(method: NamedInverse, errors: Array, baseline: str) -> Claim:
    """The mean error of every joint is rounding."""
    means, deviations = errors.mean(axis=0), errors.std(axis=0)
    worst = int(means.argmax())
    name = f"{method} ({METHODS[method]})"
    return Claim(
        f"{name} gives the same torques as {baseline}: mean error of each joint below {ALLOWED:g} %",
        f"at most {means[worst]:.1e} % (deviation {deviations[worst]:.1e} %), of {JOINTS[worst]}",
        bool((means < ALLOWED).all()),
    )


def seen(errors: Array) -> Claim:
    """The negative control: joints that carry the heavy link show it, those after it do not."""
    means = errors.mean(axis=0)
    carrying, after = means[:HEAVY], means[HEAVY:]
    return Claim(
        f"link {HEAVY}, {100 * PART:g} % too heavy, is seen by the joints that carry it, and by no other",
        f"{carrying.min():.2g} % to {carrying.max():.2g} %; after it at most {after.max():.1e} %",
        bool((carrying > 1e-3).all() and (after < ALLOWED).all()),
    )


def error_table(errors: Mapping[str, Array]) -> Table:
    """Mean and deviation per joint [Quiroz, fig. 6.20], and of our other methods and libraries."""
    rows = tuple(
        (
            name,
            *(f"{mean:.1e} ± {deviation:.0e}" for mean, deviation in zip(e.mean(axis=0), e.std(axis=0), strict=True)),
        )
        for name, e in errors.items()
    )
    return Table("Mean percentage error and its deviation, in %", ("method", *JOINTS), rows)


def error_bars(errors: Array, baseline: str) -> Bars:
    """Algorithm 5.1 against the baseline, mean and deviation per joint [Quiroz, fig. 6.20]."""
    name, number = f"gauss against {baseline}", " (fig. 6.20)" if baseline == "Robotics Toolbox" else ""
    title = f"mean percentage error of Algorithm 5.1{number}"
    means, spread = 1e13 * errors.mean(axis=0), 1e13 * errors.std(axis=0)
    return Bars(title, "10⁻¹³ %", JOINTS, {name: means}, {name: spread}, log=bool((means > 0.0).all()))


def time_table(times: Mapping[str, Array]) -> Table:
    """Mean and deviation of the time per call [Quiroz, fig. 6.21]; its printed numbers are not in our text of it."""
    rows = tuple(
        (name, f"{t.mean():.3g}", f"{t.std():.2g}", f"{np.median(t):.3g}", f"{len(t):,}") for name, t in times.items()
    )
    return Table("Time per call, in ms", ("method", "mean", "deviation", "median", "calls"), rows)


def time_bars(times: Mapping[str, Array]) -> Bars:
    """The means and deviations as bars."""
    values, spread = np.array([t.mean() for t in times.values()]), np.array([t.std() for t in times.values()])
    return Bars("time per call (fig. 6.21)", "ms", tuple(times), {"mean": values}, {"mean": spread}, log=True)
