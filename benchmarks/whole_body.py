"""Whole-body control of the Talos on both feet against placo and TSID, each in an environment of its own.

Tasks on the center of mass, the posture and the waist; torque limits and friction cones; the feet do not move. All
sides go through the same states of a sway, step by step, and take turns in blocks of steps. A step begins with a
state and ends with torques.

``python -m benchmarks whole_body``, or ``python -m benchmarks.whole_body --fresh`` to install the peers anew.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import talos_sway
from benchmarks.environments import CannotInstall, environment, variables
from benchmarks.measure import Result
from dqdyn import control as ct
from dqdyn.algebra.scalar import sin

PEERS = {
    "placo": ["placo==0.10.2"],
    "tsid": ["tsid==1.7.1", "pin==3.4.0", "cmeel-urdfdom<5", "cmeel-tinyxml2<11"],
}
"""What each needs; later versions of the other packages do not fit the wheel of TSID."""
FEET = ("hard", "soft")
FASTER, LEVELS_SLOWER = 3.0, 2.0
"""Targets: how much faster than placo, and how much longer three strict levels may take."""
BLOCK, ROUNDS, UNTIMED = 50, 200, 20  # steps per block, blocks of each side, steps before each block
FOLLOWED = 0.05  # m/s² by which the center of mass may miss its acceleration
STEPS = 100_000
SLOW = 2.0  # times the median: how long a step may take
SLOW_SHARE, GROWTH = 0.1, 0.1  # % of the steps that may take longer, MB that memory may grow by
WEIGHTS = {"center": 100.0, "waist": 10.0, "posture": 0.1, "force": 1e-6, "foot": 100.0}
STIFFNESS, DAMPING = 100.0, 21.0  # 1/s², 1/s


class Ours:
    """Our controller, step by step through the states of a sway, again and again."""

    def __init__(self, controller: Any, sway: talos_sway.Sway) -> None:
        self.controller, self.next = controller, 0
        self.states = [(np.ascontiguousarray(q), np.ascontiguousarray(v)) for q, v in zip(sway.q, sway.v, strict=True)]

    def seconds(self, steps: int) -> float:
        """What some steps take."""
        controller, states, count = self.controller, self.states, len(self.states)
        start = time.perf_counter()
        for k in range(self.next, self.next + steps):
            controller(k * talos_sway.STEP, *states[k % count])
        self.next += steps
        return time.perf_counter() - start

    def starts(self, steps: int, clock: Callable[[], int]) -> Iterator[np.ndarray]:
        """Twice the same array: at first as memory, then when steps began and the last ended, in ns of a ``clock``."""
        controller, states, count = self.controller, self.states, len(self.states)
        times = np.ones(steps + 1, dtype=np.int64)
        yield times
        times[0] = clock()
        for k in range(self.next, self.next + steps):
            controller(k * talos_sway.STEP, *states[k % count])
            times[k + 1 - self.next] = clock()
        self.next += steps
        yield times

    def check(self, robot: Any) -> None:
        """Every step of a period is solved: motors give the torques, and the center of mass goes where it should."""
        limits = np.array([0.0 if motor is None else motor.effort for motor in robot.motors])
        for _ in range(len(self.states)):
            t, (q, v) = self.next * talos_sway.STEP, self.states[self.next % len(self.states)]
            torques, report = self.controller(t, q, v), self.controller.report
            self.next += 1
            found = robot.center_of_mass_jacobian(q) @ self.controller.accelerations
            found += robot.center_of_mass_jacobian_derivative(q, v) @ v
            missed = np.abs(found - talos_sway.center_acceleration(t)).max()
            if report.status != "solved" or (np.abs(torques) > limits + 1e-6).any() or missed > FOLLOWED:
                raise SystemExit(f"step {self.next - 1} is not solved, by {missed:.3g} m/s²: {report}")


def controller(robot: Any, sway: talos_sway.Sway, strict: bool) -> Any:
    """Tasks on center of mass, waist and posture, weighted or in strict levels, on both feet; motors have limits."""
    from dqdyn import contacts

    gains = DAMPING, STIFFNESS
    target = lambda t: talos_sway.center_of_mass(sway.center, t, sin)
    tasks = [
        ct.CenterOfMassTask(target, gains=gains, weight=WEIGHTS["center"]),
        ct.RotationTask(talos_sway.WAIST, [1.0, 0.0, 0.0, 0.0], gains=gains, weight=WEIGHTS["waist"]),
        ct.PostureTask(sway.posture, gains=gains, weight=WEIGHTS["posture"]),
    ]
    size = {"half_length": talos_sway.HALF_LENGTH, "half_width": talos_sway.HALF_WIDTH}
    feet = [contacts.face(foot, friction=talos_sway.FRICTION, **size) for foot in talos_sway.FEET]
    return ct.whole_body_controller(robot, [[task] for task in tasks] if strict else tasks, contacts=feet)


class Peer:
    """A peer in a process of its own."""

    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self._process, self.name = process, name
        self.name = f"{name} {json.loads(self._line())}"
        self.sizes = self.ask("check")

    def seconds(self, feet: str, steps: int) -> float:
        """What some steps take, with feet that are "hard" constraints or "soft" tasks."""
        return float(self.ask(f"{feet} {steps}"))

    def ask(self, question: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        return json.loads(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process with {self.name} ended without an answer")
        return line


@contextmanager
def peers(sway: talos_sway.Sway, robot: Any, fresh: bool) -> Iterator[dict[str, Peer]]:
    """Those that can be installed, ready to be asked."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        urdf, problem = talos_sway.without_shapes(Path(folder)), Path(folder) / "problem.npz"
        np.savez(problem, **described(sway, robot))
        found = {}
        for name, requirements in PEERS.items():
            try:
                interpreter = environment(requirements, fresh)
            except CannotInstall as reason:
                print(f"without {name}: {reason}", file=sys.stderr)
                continue
            script = Path(__file__).with_name(f"whole_body_{name}.py")
            command = [str(interpreter), "-P", str(script), str(urdf), str(problem)]
            pipe, libraries = (
                subprocess.PIPE,
                next(interpreter.parent.parent.glob("lib/*/site-packages/cmeel.prefix/lib")),
            )
            settings = {**variables(), "LD_LIBRARY_PATH": str(libraries)}
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=settings)
            stack.callback(process.wait)
            stack.callback(process.kill)
            found[name] = Peer(name, process)
        yield found


def described(sway: talos_sway.Sway, robot: Any) -> dict[str, Any]:
    """The problem by names and arrays, in no one's layout."""
    times = sway.times
    return {
        "base": sway.q[:, :7],
        "base_twist": sway.v[:, :6],
        "names": [joint.name for joint in robot.joints[1:]],
        "angles": sway.q[:, 7:],
        "rates": sway.v[:, 6:],
        "posture": sway.posture[7:],
        "center": np.array([talos_sway.center_of_mass(sway.center, t) for t in times]),
        "center_rate": np.array([talos_sway.center_velocity(t) for t in times]),
        "center_acceleration": np.array([talos_sway.center_acceleration(t) for t in times]),
        "feet": talos_sway.FEET,
        "foot_poses": np.array(sway.feet),
        "half_length": talos_sway.HALF_LENGTH,
        "half_width": talos_sway.HALF_WIDTH,
        "friction": talos_sway.FRICTION,
        "waist": talos_sway.WAIST,
        "stiffness": STIFFNESS,
        "damping": DAMPING,
        "followed": FOLLOWED,
        **{f"{name}_weight": weight for name, weight in WEIGHTS.items()},
    }


def in_turns(sides: dict[str, Callable[[int], float]]) -> dict[str, np.ndarray]:
    """µs per step (ROUNDS,) of each side; a few untimed steps wake it up before each block."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, seconds in sides.items():
            seconds(UNTIMED)
            found[name].append(seconds(BLOCK) / BLOCK * 1e6)
    return {name: np.array(times) for name, times in found.items()}


def run(fresh: bool = False) -> list[Result]:
    """Time per step of both sides and of three strict levels; the distribution over many steps; memory."""
    robot = talos_sway.talos()
    sway = talos_sway.sway(robot)
    weighted, strict = (Ours(controller(robot, sway, kind), sway) for kind in (False, True))
    weighted.check(robot)
    strict.check(robot)
    sides: dict[str, Callable[[int], float]] = {"weighted": weighted.seconds, "strict": strict.seconds}
    with peers(sway, robot, fresh) as found:
        for name, peer in found.items():
            for feet in FEET:
                sides[f"{name} {feet}"] = lambda steps, peer=peer, feet=feet: peer.seconds(feet, steps)  # type: ignore[misc]
        times = in_turns(sides)
    return [*_against(found, times, weighted), *_distribution(weighted)]


def _against(found: dict[str, Peer], times: dict[str, np.ndarray], ours: Ours) -> list[Result]:
    results, own = [], _own_sizes(ours)
    for how, at in (("least", np.min), ("median", np.median)):
        µs = {side: float(at(values)) for side, values in times.items()}
        faster, slower = (FASTER, LEVELS_SLOWER) if how == "least" else (None, None)  # others disturb the median
        what = f"step, {how} of blocks"
        if not found:
            results.append(Result(what, µs["weighted"], "µs", note=own))
        for name, peer in found.items():
            for feet in FEET:
                told = f"{peer.name}, feet {feet}, {peer.sizes[feet]}"
                results.append(Result(what, µs["weighted"], "µs", None, told, µs[f"{name} {feet}"], faster, own))
        results.append(Result(f"three strict levels, {how} of blocks", µs["strict"], "µs"))
        ratio = µs["strict"] / µs["weighted"]
        results.append(Result(f"three strict levels by weighted, {how}", ratio, "×", slower))
    return results


def _own_sizes(ours: Ours) -> str:
    size = ours.controller.composition.size
    return f"{size.unknowns} unknowns, {size.sides - size.equalities} inequalities"


def _distribution(ours: Ours) -> list[Result]:
    """Steps as in a real-time loop: without garbage collection, the states at hand.

    Processor time leaves out what other processes take on a machine that is not idle.
    """
    gc.collect()
    gc.disable()
    try:
        ours.seconds(talos_sway.STATES)
        wall, processor = (ours.starts(STEPS, clock) for clock in (time.perf_counter_ns, time.thread_time_ns))
        next(wall)
        next(processor)
        before = memory()
        starts = next(wall), next(processor)
        after = memory()
    finally:
        gc.enable()
    times, of_processor = (np.diff(times) * 1e-3 for times in starts)
    at = {"least": 0.0, "median": 50.0, "99 %": 99.0, "99.9 %": 99.9, "longest": 100.0}
    of = f"of {STEPS:,} steps"
    return [
        *(Result(f"{name} {of}", float(np.percentile(times, percent)), "µs") for name, percent in at.items()),
        Result(f"above {SLOW:g} × the median {of}", _slow(times), "%", SLOW_SHARE, note="on an idle core"),
        *(
            Result(f"{name} {of}, processor time", float(np.percentile(of_processor, percent)), "µs")
            for name, percent in at.items()
        ),
        Result(f"above {SLOW:g} × the median {of}, processor time", _slow(of_processor), "%"),
        Result("slowest state by the median, each the least of all its steps", _slowest(of_processor), "×", SLOW),
        Result("memory", before, "MB"),
        Result(f"memory gained over twice {STEPS:,} steps", after - before, "MB", GROWTH),
    ]


def _slow(times: np.ndarray) -> float:
    return float((times > SLOW * np.median(times)).mean() * 100.0)


def _slowest(times: np.ndarray) -> float:
    """What a state itself causes, such as a change of what is active, and nothing else on the machine."""
    least = times.reshape(-1, talos_sway.STATES).min(axis=0)
    return float(least.max() / np.median(least))


def memory() -> float:
    """Resident memory of this process in MB, NaN where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6
    except OSError:
        return float("nan")


def main(arguments: list[str] | None = None) -> int:
    from benchmarks.__main__ import show

    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole_body", description=__doc__)
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--keep", action="store_true", help="use the environments of the last run (default)")
    kept.add_argument("--fresh", action="store_true", help="make the environments of the peers anew")
    return show({"whole_body": run(parser.parse_args(arguments).fresh)})


if __name__ == "__main__":
    sys.exit(main())
