"""A walk in a plant, with pushes on the way, and what is measured of it: falls, footprints, zero-moment point."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.analysis.standing.loop import DT
from dqdyn.analysis.standing.pushes import PUSH, greatest_force
from dqdyn.analysis.standing.setting import Standing
from dqdyn.analysis.walking.gait import Gait
from dqdyn.analysis.walking.states import Walk
from dqdyn.arrays import Array
from dqdyn.contacts import support_polygon
from dqdyn.footsteps import Footstep, FootstepPlan, Reach, Sole, straight
from dqdyn.footsteps.checks import count as whole
from dqdyn.footsteps.checks import number

_TOUCHES = 0.02  # of the weight, above which a foot stands
_STANDS = 0.25  # s that it stands at least, shorter ones are bounces
_EDGE = 0.06  # s at both ends of a stance, in which a foot may still roll
_FALLEN = 0.6  # of the height of the center of mass over the ground
_RESTS = 0.05  # m/s of the center of mass of a robot that stands at the end


def start_of(standing: Standing) -> tuple[Footstep, Footstep]:
    """Where the feet of a standing robot are."""
    left, right = (Footstep(foot, standing.robot.pose(foot, standing.q0)) for foot in standing.feet)
    return left, right


def straight_plan(standing: Standing, count: int, length: float, reach: Reach | None = None) -> FootstepPlan:
    """``count`` steps of ``length`` m ahead of a standing robot."""
    sole = Sole(standing.half_length, standing.half_width)
    return straight(start_of(standing), count, length, sole=sole, reach=reach)


@dataclass(frozen=True)
class Push:
    """A horizontal force at the pelvis for :data:`~dqdyn.analysis.standing.pushes.PUSH` s from the time ``start`` in s.

    ``angle`` in rad from x, forward, to y; ``ratio``: of the force that a standing robot survives as a pendulum.
    """

    start: float
    angle: float
    ratio: float

    def __post_init__(self) -> None:
        number(self.start, "the time of a push in s", 0.0)
        number(self.angle, "the direction of a push in rad")
        number(self.ratio, "the ratio of a push", 0.0)

    def force(self, standing: Standing) -> float:
        """N."""
        return self.ratio * greatest_force(standing, self.angle)

    def wrenches(self, standing: Standing, steps: int) -> Array:
        """(steps, 6) in N in the axes of the world, one per control step."""
        found = np.zeros((steps, 6))
        begin = round(self.start / DT)
        way = np.array([np.cos(self.angle), np.sin(self.angle)])
        found[begin : begin + round(PUSH / DT), :2] = self.force(standing) * way
        return found


def random_pushes(count: int, ratio: float, first: float, last: float, seed: int = 0) -> tuple[Push, ...]:
    """Pushes at random times from ``first`` to ``last`` in s, in random directions."""
    begin = number(first, "the first time of pushes in s", 0.0)
    end, runs = number(last, "the last time of pushes in s", begin), whole(count, "the number of pushes", 0)
    draw = np.random.default_rng(seed)
    pairs = [(float(draw.uniform(begin, end)), float(draw.uniform(0.0, 2.0 * np.pi))) for _ in range(runs)]
    return tuple(Push(time, angle, ratio) for time, angle in pairs)


class Walker:
    """A machine that walks, as a controller: the time of its steps, and what it records; no torques after a fall.

    ``seconds``: of every step, of the thread alone, without what other processes took.
    """

    level = "torque"

    def __init__(self, machine: ct.StateMachine, gait: Gait) -> None:
        self.machine, self.gait = machine, gait
        self.reset()

    def reset(self) -> None:
        self.machine.reset()
        self.gait.reset()
        self.seconds: list[float] = []
        self.unsolved = 0

    def observe(self, observation: Any) -> None:
        self.machine.observe(observation)

    def step(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv,)."""
        if self.machine.ended == "failed":
            return np.zeros(len(v))
        start = time.thread_time()
        torque = self.machine(t, q, v)
        self.seconds.append(time.thread_time() - start)
        self.unsolved += self.machine.report.status != "solved"
        return torque

    def record(self) -> dict[str, Array]:
        """Where ξ and the height of the center of mass should be, and the zero-moment point of the plan."""
        targets, reference = self.gait.targets, self.gait.reference
        t = self.machine.elapsed + self.machine.log[-1].t
        z = np.full(2, np.nan) if reference is None else reference.at(t).zero_moment_point[:2]
        state = np.array(float(list(self.machine.states).index(self.machine.state)))
        return {"xi_d": np.array(targets.goal.position), "zmp_d": z, "state": state}


@dataclass(frozen=True, eq=False)
class Walked:
    """What came of a walk over ``planned`` footsteps: the ``trajectory``, the machine's ``events``, and its end.

    ``ended``: "done" or "failed" as the machine has it; ``seconds`` (n,) of every control step, see :class:`Walker`.
    """

    standing: Standing
    planned: tuple[Footstep, ...]
    trajectory: dq.Trajectory
    events: tuple[ct.Event, ...]
    ended: str
    seconds: Array
    unsolved: int
    push: Push | None = None

    @cached_property
    def components(self) -> Array:
        """ξ (n, 2) in m, of what the plant did."""
        robot, run = self.standing.robot, self.trajectory
        velocity = np.array([robot.center_of_mass_velocity(q, v) for q, v in zip(run.q, run.v, strict=True)])
        return np.asarray((self.centers + velocity / self.standing.omega)[:, :2])

    @cached_property
    def centers(self) -> Array:
        """The center of mass (n, 3) in m."""
        return np.array([self.standing.robot.center_of_mass(q) for q in self.trajectory.q])

    def feet(self, foot: str) -> Array:
        """Positions of a sole (n, 3) in m."""
        return np.asarray(self.standing.robot.pose(foot, self.trajectory.q).translation)

    def forces(self, foot: str) -> Array:
        """Normal forces (n,) in N below a foot, as the plant measures them."""
        link = dict(zip(self.standing.feet, self.standing.links, strict=True))[foot]
        return np.asarray(self.trajectory.extra[f"normal_force/{link}"])

    @cached_property
    def zero_moment_points(self) -> Array:
        """(n, 2) in m, of the forces that the plant measures below both feet; NaN where nothing touches."""
        weighted, whole = np.zeros((len(self.trajectory), 2)), np.zeros(len(self.trajectory))
        for foot, link in zip(self.standing.feet, self.standing.links, strict=True):
            force = self.forces(foot)
            weighted += force[:, None] * np.nan_to_num(self.trajectory.extra[f"contact_center/{link}"][:, :2])
            whole += force
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(whole[:, None] > 0.0, weighted / whole[:, None], np.nan))

    @cached_property
    def stances(self) -> tuple[tuple[str, Any], ...]:
        """(foot, samples of its stance) in the order of touch-down; the first two are where the robot started."""
        least, run = _TOUCHES * 9.81 * self.standing.robot.mass, self.trajectory
        found: list[tuple[float, str, Any]] = []
        for foot in self.standing.feet:
            touches = np.flatnonzero(self.forces(foot) > least)
            for part in np.split(touches, np.flatnonzero(np.diff(touches) > 1) + 1):
                if len(part) and run.time[part[-1]] - run.time[part[0]] > _STANDS:
                    found.append((float(run.time[part[0]]), foot, part))
        return tuple((foot, part) for _, foot, part in sorted(found, key=lambda each: each[0]))

    @cached_property
    def footprints(self) -> tuple[Footstep, ...]:
        """Where feet stood after each step, in the middle of the stance, as the plant has them."""
        poses = [(foot, self.trajectory.q[part[len(part) // 2]]) for foot, part in self.stances[2:]]
        return tuple(Footstep(foot, self.standing.robot.pose(foot, q)) for foot, q in poses)

    @property
    def deviation(self) -> float:
        """The farthest in m that a footprint is from its footstep, horizontally; NaN where steps are missing."""
        if len(self.footprints) != len(self.planned):
            return float("nan")
        pairs = zip(self.footprints, self.planned, strict=True)
        return max(float(np.linalg.norm((a.position - b.position)[:2])) for a, b in pairs)

    @property
    def slip(self) -> float:
        """The farthest in m that a foot went while it stood."""
        time, farthest = self.trajectory.time, 0.0
        for foot, part in self.stances:
            inner = part[(time[part] > time[part[0]] + _EDGE) & (time[part] < time[part[-1]] - _EDGE)]
            if len(inner):
                places = self.feet(foot)[inner, :2]
                farthest = max(farthest, float(np.linalg.norm(places - places[0], axis=1).max()))
        return farthest

    @property
    def others(self) -> set[str]:
        """Links that touched something and should not."""
        touched = self.trajectory.about.get("touched", ())
        return self.standing.others(touched)

    @property
    def why(self) -> str:
        """What went wrong in the plant, or ""."""
        run, standing = self.trajectory, self.standing
        if not run.finished:
            return run.status
        fallen = self.centers[:, 2] < _FALLEN * standing.center[2]
        if fallen.any():
            return f"fell at {run.time[int(np.argmax(fallen))]:.2f} s"
        if self.others:
            return f"touched by {', '.join(sorted(self.others))}"
        speed = float(np.linalg.norm(standing.robot.center_of_mass_velocity(run.q[-1], run.v[-1])))
        if speed > _RESTS:
            return f"moves at {speed:.2f} m/s at the end"
        over = support_polygon(standing.robot, run.q[-1], standing.soles)
        return "" if over.contains(self.centers[-1, :2]) else "leans beyond its feet at the end"

    @property
    def stayed_up(self) -> bool:
        """Nothing but the feet touched anything, and the robot stands at the end."""
        return not self.why


def walk(
    walker: Walker,
    duration: float | None = None,
    push: Push | None = None,
    *,
    plant: str | None = "mujoco",
    substeps: int = 1,
    every: int = 10,
    **options: Any,
) -> Walked:
    """One walk from rest, on MuJoCo or, with ``plant=None``, on our own dynamics with unilateral contacts.

    ``duration`` in s: by default as long as the steps take, and 1 s more. ``substeps``: steps of the engine per control
    step of 1 ms.
    """
    gait = walker.gait
    standing, timing = gait.standing, gait.timing
    steps = len(gait.plan)
    whole = timing.begin + timing.end + steps * (timing.single + timing.double) + 1.0
    lasts = whole if duration is None else duration
    settings: dict[str, Any] = {"every": every, "progress": False, "scene": standing.scene}
    if plant is None:
        settings |= {"contacts": standing.soles, "integrator": "time-stepping"}
    else:
        settings |= {"plant": plant, "substeps": substeps}
    if push is not None:
        acting = push.wrenches(standing, round(lasts / DT))
        settings |= {"wrenches": {standing.pelvis: acting}, "expressed": "aligned"}
    walker.reset()
    run = dq.simulate(standing.plant, walker, lasts, DT, q0=standing.q0, **settings | options)
    return Walked(
        standing,
        gait.plan.steps,
        run,
        walker.machine.log,
        walker.machine.ended,
        np.array(walker.seconds),
        walker.unsolved,
        push,
    )


def walker_of(
    standing: Standing, plan: FootstepPlan, constraints: Sequence[Any] | None = None, **options: Any
) -> Walker:
    """The gait of a plan with its machine; ``options`` are those of :class:`~dqdyn.analysis.walking.gait.Gait`."""
    gait = Gait(standing, plan, **options)
    # A joint may be quick up to 0.05 s before its limit: a push does not wait.
    limits = [ct.JointLimits(gain=20.0)] if constraints is None else constraints
    return Walker(Walk(gait, constraints=limits).machine(progress=False), gait)
