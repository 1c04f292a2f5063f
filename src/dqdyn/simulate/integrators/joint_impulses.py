"""End stops and stiction of joints, around any integrator with a fixed step.

After each step, impulses along the axes of joints bring its velocity to the nearest one, by kinetic energy, that end
stops and dry friction allow [Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988]:

    v⁺ = v + M⁻¹ (f + n),   |f| ≤ h · friction, with f = 0 or −h · friction · sign(v⁺) or v⁺ = 0,
    n ≥ 0, n v⁺ = 0, v⁺ ≥ 0 at a lower stop, and the same from above at an upper one,

and, as by a force that is constant during the step, q⁺ = q exp(½ h (v⁺ − v)). So a joint that rests stays where it is
as long as friction can hold it; impacts are inelastic. The integrator moves the robot without Coulomb friction, so the
order is 1 where friction turns or a stop is hit. Impulses are found by sweeps of Gauss and Seidel from those of the
last step, a fixed number, so that the step remains a program without branches. They say which axes are held; a linear
system then holds these exactly, unless that breaks a bound. How much the last sweep changed is recorded then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import divide, less, select
from dqdyn.dynamics.fast.sparse_solve import factored, substitute
from dqdyn.errors import Error
from dqdyn.simulate.integrators.integrator import Integrator, Stage, Step, plus, times
from dqdyn.simulate.problem import Problem
from dqdyn.simulate.system import System
from dqdyn.simulate.unilateral.joint_stops import JointStops

SWEEPS = 16
_CONVERGED = 1e-3
"""Change of the velocity in the last sweep, relative, that is called converged."""

End = tuple[int, int, int, float]
"""Of an end stop: index into q and into v, 1 for a lower and −1 for an upper one, and where it is in rad or m."""


class WithJointImpulses(Integrator):
    """An integrator with end stops, and with friction (axis, N m or N) that holds.

    The memory begins with the impulses (nv) of the last step in N m s or N s and the change of the last sweep.
    """

    def __init__(self, inner: Integrator, ends: tuple[End, ...], friction: tuple[tuple[int, float], ...]) -> None:
        self.inner, self.ends, self.friction = inner, ends, friction

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.inner.name

    order, damps = 1, True

    @property
    def axes(self) -> list[int]:
        """The axes that impulses act on."""
        return sorted({axis for _, axis, _, _ in self.ends} | {axis for axis, _ in self.friction})

    def stages(self) -> Sequence[Stage]:
        return [*(partial(_inside, self, stage) for stage in self.inner.stages()), self._begin, self._sweep, self._hold]

    def schedule(self) -> Sequence[tuple[int, Sequence[float]]]:
        inner, count = list(self.inner.schedule()), len(self.inner.stages())
        unused = [0.0] * len(inner[0][1])
        sweeps = [(count + 1, unused)] * (SWEEPS if len(self.axes) > 1 else 2)
        return [*inner, (count, unused), *sweeps, (count + 2, unused)]

    def own(self, system: System) -> int:
        """Numbers in the memory before those of the inner integrator."""
        return system.nv + 1 + len(self.friction) + 2 * len(self.ends) + system.nv * len(self.axes)

    def memory(self, system: System) -> int:
        return self.own(system) + self.inner.memory(system)

    def records(self, system: System) -> int:
        return system.nv + 1

    def doubt(self, records: np.ndarray, v: np.ndarray) -> str:
        left = np.nanmax(records[..., v.shape[-1]] / (1.0 + np.abs(v).max(axis=-1)))
        if left < _CONVERGED:
            return ""
        return f"the impulses of end stops and friction still changed the velocity by {left:.2g} of it"

    def _begin(self, system: System, s: Step) -> list[Any]:
        """Which stops are reached; responses to impulses; those of the last step again."""
        old = _Parts(self, system, s)
        sides = [select(_is_beyond(s.q[at], sign, end), 1.0, 0.0) for at, _, sign, end in self.ends]
        n, entries = system.nv, system.quantity("mass_matrix", s.q)
        lower, inverse = factored([list(entries[n * i : n * i + n]) for i in range(n)])
        responses = [substitute(lower, inverse, [float(i == k) for i in range(n)]) for k in self.axes]
        new = _Parts(self, system, s)
        new.response = dict(zip(self.axes, responses, strict=True))
        new.rub, new.press, new.sides = [0.0] * len(old.rub), [0.0] * len(old.press), sides
        for i, impulse in enumerate(old.rub):
            new.push(i, impulse)
        for i, impulse in enumerate(old.press):
            new.press_on(i, impulse * sides[i])
        return new.state(s.q, 0.0)

    def _sweep(self, system: System, s: Step) -> list[Any]:
        """One impulse after the other, each as if it were the last."""
        now = _Parts(self, system, s)
        before = list(now.v)
        for i, (k, size) in enumerate(self.friction):
            wanted = now.rub[i] - divide(now.v[k], now.response[k][k])
            most = s.dt * size
            now.push(i, select(less(most, wanted), most, select(less(wanted, -most), -most, wanted)))
        for i, (_, k, sign, _) in enumerate(self.ends):
            wanted = now.press[i] - divide(now.v[k], now.response[k][k])
            now.press_on(i, select(less(0.0, wanted * float(sign)), wanted, 0.0) * now.sides[i])
        change: Any = 0.0
        for x in plus(now.v, before, -1.0):
            size = select(less(x, 0.0), -x, x)
            change = select(less(change, size), size, change)
        return now.state(s.q, change)

    def _hold(self, system: System, s: Step) -> list[Any]:
        """Axes that a stop presses or that friction holds without its full size, held exactly and together."""
        now = _Parts(self, system, s)
        held, by_stop, good = dict.fromkeys(self.axes, 0.0), dict.fromkeys(self.axes, 0.0), 1.0
        for i, (k, size) in enumerate(self.friction):
            held[k] = select(less(_size(now.rub[i]), s.dt * size), 1.0, held[k])
        for i, (_, k, sign, _) in enumerate(self.ends):
            pressed = less(0.0, now.press[i] * float(sign))
            held[k], by_stop[k] = select(pressed, 1.0, held[k]), select(pressed, 1.0, by_stop[k])
        matrix = [
            [now.response[j][i] * held[i] * held[j] + (1.0 - held[i] if i == j else 0.0) for j in self.axes]
            for i in self.axes
        ]
        more = substitute(*factored(matrix), [-now.v[k] * held[k] for k in self.axes])
        extra = dict(zip(self.axes, more, strict=True))
        rub = [x + extra[k] * (1.0 - by_stop[k]) for x, (k, _) in zip(now.rub, self.friction, strict=True)]
        press = []
        for x, (_, k, sign, _) in zip(now.press, self.ends, strict=True):
            press.append(select(less(0.0, x * float(sign)), x + extra[k], x))
            good = select(less(press[-1] * float(sign), 0.0), 0.0, good)
        for x, (_, size) in zip(rub, self.friction, strict=True):
            good = select(less(s.dt * size, _size(x)), 0.0, good)
        for i, x in enumerate(rub):
            now.push(i, now.rub[i] + (x - now.rub[i]) * good)
        for i, x in enumerate(press):
            now.press_on(i, now.press[i] + (x - now.press[i]) * good)
        q = system.moved(s.q, times(now.change_of_velocity(), 0.5 * s.dt))
        for at, _, sign, end in self.ends:
            q[at] = select(_is_beyond(q[at], sign, end), end, q[at])
        return now.state(q, now.change * (1.0 - good))


class _Parts:
    """The memory by name: impulses of friction and of stops, which stops are reached, responses (nv) per axis."""

    def __init__(self, outer: WithJointImpulses, system: System, s: Step) -> None:
        n, f, e, m = system.nv, len(outer.friction), len(outer.ends), s.memory
        self.outer, self.v, self.total, self.change = outer, list(s.v), list(m[:n]), m[n]
        at = n + 1
        self.rub, self.press, self.sides = list(m[at : at + f]), list(m[at + f : at + f + e]), list(m[at + f + e :][:e])
        at += f + 2 * e
        self.response = {k: m[at + n * i : at + n * (i + 1)] for i, k in enumerate(outer.axes)}
        self.rest = m[outer.own(system) :]

    def push(self, i: int, impulse: Any) -> None:
        """Friction i gives another impulse."""
        k, _ = self.outer.friction[i]
        self.v, self.rub[i] = plus(self.v, self.response[k], impulse - self.rub[i]), impulse

    def press_on(self, i: int, impulse: Any) -> None:
        """Stop i gives another impulse."""
        k = self.outer.ends[i][1]
        self.v, self.press[i] = plus(self.v, self.response[k], impulse - self.press[i]), impulse

    def change_of_velocity(self) -> list[Any]:
        """M⁻¹ (f + n) (nv)."""
        result: list[Any] = [0.0] * len(self.v)
        for (k, _), x in zip(self.outer.friction, self.rub, strict=True):
            result = plus(result, self.response[k], x)
        for (_, k, _, _), x in zip(self.outer.ends, self.press, strict=True):
            result = plus(result, self.response[k], x)
        return result

    def state(self, q: Sequence[Any], change: Any) -> list[Any]:
        """The whole state, with the impulses per axis first in the memory."""
        total: list[Any] = [0.0] * len(self.v)
        for (k, _), x in zip(self.outer.friction, self.rub, strict=True):
            total[k] = total[k] + x
        for (_, k, _, _), x in zip(self.outer.ends, self.press, strict=True):
            total[k] = total[k] + x
        responses = [x for k in self.outer.axes for x in self.response[k]]
        return [*q, *self.v, *total, change, *self.rub, *self.press, *self.sides, *responses, *self.rest]


def _is_beyond(x: Any, sign: int, end: float) -> Any:
    return less(x, end) if sign > 0 else less(end, x)


def _size(x: Any) -> Any:
    return select(less(x, 0.0), -x, x)


def _inside(outer: WithJointImpulses, stage: Stage, system: System, s: Step) -> list[Any]:
    """A stage of the inner integrator on its part of the memory."""
    own = outer.own(system)
    ours, s.memory = s.memory[:own], s.memory[own:]
    size = system.nq + system.nv
    result = stage(system, s)
    return [*result[:size], *ours, *result[size:]]


def with_joint_impulses(method: Integrator, problem: Problem, friction: Sequence[float]) -> Integrator:
    """The method with what the problem asks for; ``friction`` (nv) in N m or N is that of its robot."""
    if problem.robot.constraints:
        what = f"end stops and stiction take no constraints, but {problem.robot.name!r} has some"
        raise Error(f"{what}: use integrator='time-stepping' with limits=True, or robot.without_constraints().")
    stops = JointStops(problem.robot, bool(problem.limits))
    for q in problem.q0:
        stops.require_inside(q)
    axes = [int(np.flatnonzero(row)[0]) for row in stops.rows]
    given = zip(stops.coordinate.tolist(), axes, stops.sign.tolist(), stops.end.tolist(), strict=True)
    ends = tuple((int(at), axis, int(sign), float(end)) for at, axis, sign, end in given)
    held = tuple((k, float(f)) for k, f in enumerate(friction) if f) if problem.stiction else ()
    return WithJointImpulses(method, ends, held) if ends or held else method
