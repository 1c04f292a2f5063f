"""Motions that show the parameters of a robot: Fourier series within limits, from rest to rest.

Every joint swings as c + A w(t) Σ (a_k sin kωt + b_k cos kωt), with an envelope w that rises from 0 to 1 and falls back
by 10 s³ − 15 s⁴ + 6 s⁵, so that motion starts and ends at rest without a jump of acceleration. Whatever a_k and b_k,
the amplitude A is the largest that position, velocity and acceleration allow, times a share; so the search for the best
conditioned motion never leaves the limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.errors import Error, missing_extra
from dqdyn.identify.base import BaseParameters, base_parameters
from dqdyn.robot import Robot
from dqdyn.splines.quintic import quintic_coefficients

_DENSE = 1200  # points on which limits are verified
_MARGIN = 0.995  # of the limits, for what lies between the points
_SAMPLES = 90  # states whose regressor is rated
Criterion = Literal["condition", "determinant"]


@dataclass(frozen=True, eq=False)
class Excitation:
    """A motion from rest to rest: ``at(t)`` gives q, v and a; ``condition`` is that of the scaled base regressor."""

    robot: Robot
    center: Array
    sines: Array
    """(harmonics, nv), in rad or m; so are the cosines."""
    cosines: Array
    frequency: float
    """Of the first harmonic, in Hz."""
    duration: float
    """s, with the blends."""
    blend: float
    """s, at each end."""
    condition: float

    def at(self, t: RealArray) -> tuple[Array, Array, Array]:
        """q, v, a (..., n) at times (...) in s; at rest before and after."""
        time = np.asarray(t, float)
        shape, first, second = _shape(time, self.sines, self.cosines, self.frequency, self.duration, self.blend)
        return self.center + shape, first, second

    def samples(self, rate: float = 100.0) -> tuple[Array, Array, Array, Array]:
        """t (N,) and q, v, a (N, n) at a rate in Hz."""
        t = np.arange(0.0, self.duration, 1.0 / rate)
        return t, *self.at(t)


def excitation(
    robot: Robot,
    *,
    base: BaseParameters | None = None,
    harmonics: int = 5,
    frequency: float = 0.1,
    periods: float = 1.0,
    blend: float = 1.0,
    velocity: RealNumber | RealArray | None = None,
    acceleration: RealNumber | RealArray | None = None,
    torque: RealNumber | RealArray | None = None,
    center: RealArray | None = None,
    reach: float = 1.0,
    criterion: Criterion = "condition",
    starts: int = 20,
    iterations: int = 8,
    seed: int = 0,
) -> Excitation:
    """The Fourier series of ``harmonics`` of ``frequency`` (Hz) that shows the base parameters best.

    Positions keep to the robot's limits, or to ``reach`` (rad or m) about ``center`` where it has none; velocities to
    its own unless ``velocity`` is given, accelerations to ``acceleration`` and torques of the described robot to
    ``torque``, each a number or one per axis. ``blend`` is the time to start and to stop. Of ``starts`` random series
    the best is improved by ``iterations`` of SciPy's L-BFGS-B, by the condition number of the regressor with columns of
    unit length, or by the determinant of its information.
    """
    if robot.nq != robot.nv or any(j.motion.nv and j.motion.nq != j.motion.nv for j in robot.joints):
        raise Error(
            f"excitation is for robots with nq = nv; {robot.name!r} has quaternions in q: give data of your own."
        )
    if not (harmonics >= 1 and frequency > 0.0 and periods > 0.0 and blend >= 0.0):
        raise Error("excitation needs harmonics of 1 or more, and frequency, periods and blend above 0.")
    base = base_parameters(robot) if base is None else base
    room = _Room.of(robot, center, reach, velocity, acceleration)
    search = _Search(base, room, harmonics, frequency, periods / frequency + 2.0 * blend, blend, criterion)
    best = search.best(np.random.default_rng(seed), starts, iterations)
    found = search.motion(best)
    if torque is not None:
        found = _within_torques(found, search, best, _per_axis(robot, "torque", torque))
    return replace(found, condition=float(np.exp(search.logarithms(found)[0])))


@dataclass(frozen=True, eq=False)
class _Room:
    """Limits (n,) each."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    @classmethod
    def of(cls, robot: Robot, center: Any, reach: float, velocity: Any, acceleration: Any) -> _Room:
        middle = np.zeros(robot.nv) if center is None else _per_axis(robot, "center", center)
        lower, upper = robot.limits.lower.copy(), robot.limits.upper.copy()
        lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0 * reach, middle - reach))
        upper = np.where(np.isfinite(upper), upper, lower + 2.0 * reach)
        if center is not None:
            lower, upper = np.maximum(lower, middle - reach), np.minimum(upper, middle + reach)
        fast = robot.limits.velocity if velocity is None else _per_axis(robot, "velocity", velocity)
        quick = np.full(robot.nv, np.inf) if acceleration is None else _per_axis(robot, "acceleration", acceleration)
        for k in range(robot.nv):
            problem = "no room between its limits" if not upper[k] > lower[k] else ""
            problem = "a velocity limit of 0" if not fast[k] > 0.0 else problem
            problem = "an acceleration limit of 0" if not quick[k] > 0.0 else problem
            if problem:
                raise Error(
                    f"axis {k} of {robot.name!r} has {problem}, so no motion excites it: lock its joint.", axis=k
                )
        return cls(lower, upper, fast, quick)


class _Search:
    """From numbers without limits to motions within them, and how well these show the parameters."""

    def __init__(
        self,
        base: BaseParameters,
        room: _Room,
        harmonics: int,
        frequency: float,
        duration: float,
        blend: float,
        by: str,
    ) -> None:
        if by not in ("condition", "determinant"):
            raise Error(
                f"the criterion of an excitation is 'condition' or 'determinant'; found {by!r}.", option="criterion"
            )
        self.base, self.room, self.by, self.n = base, room, by, base.columns.robot.nv
        self.harmonics, self.frequency, self.duration, self.blend = harmonics, frequency, duration, blend
        self.dense = np.linspace(0.0, duration, _DENSE)
        self.rated = np.linspace(0.0, duration, max(_SAMPLES, 2 + 2 * len(base) // max(self.n, 1)))
        self.share = np.ones(self.n)

    def motion(self, x: Array) -> Excitation:
        """The motion of these numbers: shapes, then a share of the room for each axis's center."""
        size = self.harmonics * self.n
        sines, cosines = (x[k * size : (k + 1) * size].reshape(self.harmonics, self.n) for k in range(2))
        p, v, a = _shape(self.dense, sines, cosines, self.frequency, self.duration, self.blend)
        room = self.room
        with np.errstate(divide="ignore"):
            allowed = [
                (room.upper - room.lower) / (p.max(axis=0) - p.min(axis=0)),
                room.velocity / np.abs(v).max(axis=0),
                room.acceleration / np.abs(a).max(axis=0),
            ]
        amplitude = _MARGIN * self.share * np.min(allowed, axis=0)
        low, high = room.lower - amplitude * p.min(axis=0), room.upper - amplitude * p.max(axis=0)
        center = low + (high - low) * (0.5 + 0.5 * np.tanh(x[2 * size :]))
        robot = self.base.columns.robot
        made = Excitation(
            robot, center, amplitude * sines, amplitude * cosines, self.frequency, self.duration, self.blend, np.inf
        )
        return made

    def logarithms(self, motion: Excitation) -> tuple[float, float]:
        """Of the condition number, and of the determinant of the scaled regressor, less is better."""
        y = self.base.regressor(*motion.at(self.rated), check=False).reshape(-1, len(self.base))
        scale = np.linalg.norm(y, axis=0)
        if not (scale > 0.0).all():
            return np.inf, np.inf
        y = y / scale
        # Of the small square matrix: a good motion has a condition number far below the 1e8 that squaring costs.
        sizes = np.maximum(np.linalg.eigvalsh(y.T @ y), 1e-17)
        return 0.5 * float(np.log(sizes[-1] / sizes[0])), float(-np.log(sizes).sum() - 2.0 * np.log(scale).sum())

    def cost(self, x: Array) -> float:
        condition, determinant = self.logarithms(self.motion(x))
        found = condition if self.by == "condition" else determinant
        return found if np.isfinite(found) else 1e6

    def best(self, rng: np.random.Generator, starts: int, iterations: int) -> Array:
        size = (2 * self.harmonics + 1) * self.n
        if not size:
            raise Error(f"{self.base.columns.robot.name!r} has no axis to excite.")
        drawn = [rng.normal(size=size) for _ in range(max(starts, 1))]
        start = min(drawn, key=self.cost)
        if iterations <= 0:
            return start
        try:
            from scipy.optimize import minimize
        except ImportError:
            raise missing_extra("scipy", "scipy", "improving an excitation (or pass iterations=0)") from None
        found = minimize(self.cost, start, method="L-BFGS-B", options={"maxiter": iterations, "maxfun": 10**6})
        result: Array = found.x if found.fun <= self.cost(start) else start
        return result


def _within_torques(found: Excitation, search: _Search, x: Array, limit: Array) -> Excitation:
    """The same motion with smaller amplitudes, until the described robot needs no more torque than allowed."""
    for _ in range(40):
        tau = np.abs(found.robot.inverse_dynamics(*found.at(search.dense), check=False)).max(axis=0)
        if (tau <= limit).all():
            return found
        search.share = search.share * 0.85
        found = search.motion(x)
    worst = int((tau / limit).argmax())
    raise Error(
        f"no motion keeps axis {worst} of {found.robot.name!r} below {limit[worst]:.4g} N m or N: holding it against "
        f"gravity takes {tau[worst]:.4g}; allow more torque, or choose another center.",
        axis=worst,
    )


def _shape(
    t: Array, sines: Array, cosines: Array, frequency: float, duration: float, blend: float
) -> tuple[Array, Array, Array]:
    """w(t) Σ (a_k sin kωt + b_k cos kωt) with its two derivatives, (..., n) each."""
    k = 2.0 * np.pi * frequency * np.arange(1, len(sines) + 1)
    s, c = np.sin(t[..., None] * k), np.cos(t[..., None] * k)
    f = s @ sines + c @ cosines
    f1 = (c * k) @ sines - (s * k) @ cosines
    f2 = -(s * k * k) @ sines - (c * k * k) @ cosines
    w, w1, w2 = (e[..., None] for e in _envelope(t, duration, blend))
    return w * f, w * f1 + w1 * f, w * f2 + 2.0 * w1 * f1 + w2 * f


def _envelope(t: Array, duration: float, blend: float) -> tuple[Array, Array, Array]:
    """From 0 to 1 and back to 0, with two derivatives; 0 outside."""
    if blend == 0.0:
        inside = ((t >= 0.0) & (t <= duration)).astype(float)
        return inside, np.zeros_like(t), np.zeros_like(t)
    c = quintic_coefficients(blend, ([0.0], [0.0], [0.0]), ([1.0], [0.0], [0.0]))[:, 0]
    derivatives = [np.polynomial.polynomial.polyder(c, m) for m in range(3)]
    up, down = np.clip(t, 0.0, blend), np.clip(duration - t, 0.0, blend)
    rising, falling = t < 0.5 * duration, t >= 0.5 * duration
    u = np.where(rising, up, down)
    w, w1, w2 = (np.polynomial.polynomial.polyval(u, d) for d in derivatives)
    return np.asarray(w), np.asarray(np.where(falling, -w1, w1)), np.asarray(w2)


def _per_axis(robot: Robot, name: str, value: Any) -> Array:
    array = real_array(value, f"{name} of an excitation", Error, option=name)
    if array.shape not in ((), (robot.nv,)) or not np.isfinite(array).all():
        raise Error(f"{name} of an excitation is a number or one per axis ({robot.nv}); found {value!r}.", option=name)
    return np.broadcast_to(array, (robot.nv,)).astype(float)
