"""A reference in time on a manifold: polynomials in the tangent spaces at way points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.real import real_array, real_number
from dqdyn.algebra.scalar import Scalar, is_numeric, is_scalar
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array, RealArray
from dqdyn.caching import cached_property
from dqdyn.errors import Error
from dqdyn.references.space import Motion, Space
from dqdyn.splines import Piecewise

_SAMPLES = 64  # per interval, where extremes of a joint with quaternions are looked for
_REFINED = 3  # times, each around the largest of the samples before


@dataclass(frozen=True, eq=False, repr=False)
class TimedPath:
    """q(t) = base ⊞ w(t): ``path(t)`` gives q (nq), v (nv) and v̇ (nv), and every task takes it as target.

    w is a polynomial of time on each interval, in the tangent space at the ``bases`` (m, nq) of the intervals. For a
    pose q is vec8 and v the body twist [ω, v]. Before and after its time it stays where it is, at rest. At a time
    that is any scalar, such as a traced one, all intervals become part of the program.
    """

    space: Space
    pieces: Piecewise
    bases: Array

    @property
    def begin(self) -> float:
        """When it starts, in s."""
        return float(self.pieces.times[0])

    @property
    def end(self) -> float:
        """When it arrives, in s."""
        return float(self.pieces.times[-1])

    @property
    def duration(self) -> float:
        """From start to arrival, in s."""
        return self.end - self.begin

    def __call__(self, t: Scalar) -> tuple[Array, Array, Array]:
        """q, v and v̇ at the time t in s."""
        if not is_scalar(t):
            raise Error(f"a reference is asked at a time in s; found {t!r}.", argument="t", found=t)
        found = self.motion(float(t)) if is_numeric(t) and np.ndim(t) == 0 else self._over(t)
        return found.components, found.velocity, found.acceleration

    def motion(self, t: float) -> Motion:
        """Where it is at one time, with the rates of its components too."""
        if t != t:
            raise Error(f"a reference is asked at a time in s; found {t!r}.", argument="t", found=t)
        return self.space.motion(self.bases[self.pieces.interval(t)], *self.pieces.at(t))

    def sample(self, times: RealArray) -> Motion:
        """Where it is at many times (k,) in s: arrays (k, n)."""
        t = real_array(times, "the times of a reference", argument="times")
        if t.ndim != 1:
            raise Error(f"the times of a reference are one row (k,); found shape {t.shape}.", argument="times")
        if np.isnan(t).any():
            raise Error("the times of a reference must not be NaN.", argument="times")
        return self.space.motion(self.bases[self.pieces.intervals(t)], *self.pieces.sample(t))

    def pose(self, t: float) -> Pose:
        """The pose at one time, of a path of poses."""
        if self.space.name != "pose":
            raise Error(f"a path of {self.space.name} has no pose: use robot.pose(frame, path(t)[0]).")
        return Pose(self.motion(t).components)

    def starting_at(self, t: float) -> TimedPath:
        """The same path, later or earlier, so that it begins at t (s)."""
        start = real_array(t, "the start of a reference", argument="t")
        if start.ndim or not np.isfinite(start):
            raise Error(f"a reference starts at a finite time in s; found {t!r}.", argument="t")
        times = self.pieces.times - self.begin + float(start)
        return TimedPath(self.space, Piecewise(times, self.pieces.coefficients), self.bases)

    def stretched(self, factor: float) -> TimedPath:
        """The same way, slower by a factor above 0: velocities fall by it, accelerations by its square."""
        slower = real_number(factor, "the factor of a stretched reference", argument="factor")
        if not 0.0 < slower < np.inf:
            raise Error(f"a reference is stretched by a finite factor above 0; found {factor!r}.", argument="factor")
        return TimedPath(self.space, self.pieces.stretched(slower), self.bases)

    def _over(self, t: Scalar) -> Motion:
        base = [self.pieces.choose(t, column) for column in self.bases.T.tolist()]
        return self.space.motion_over(base, *self.pieces.over(t))

    # --- extremes -----------------------------------------------------------------------------------------------------

    @cached_property
    def largest_velocity(self) -> Array:
        """(nv,) in rad/s or m/s."""
        return self._largest(1)

    @cached_property
    def largest_acceleration(self) -> Array:
        """(nv,) in rad/s² or m/s²."""
        return self._largest(2)

    @cached_property
    def largest_jerk(self) -> Array:
        """(nv,) in rad/s³ or m/s³; NaN on the axes of joints that pass way points with quaternions."""
        largest = self.pieces.largest(3)
        for part in self._curved:
            largest[part] = np.nan
        return largest

    def position_range(self) -> tuple[Array, Array]:
        """The least and the largest of each coordinate (nq,); ±1 for those of quaternions."""
        low, high = np.full(self.space.nq, -1.0), np.full(self.space.nq, 1.0)
        c, q, v = self.pieces.coefficients.copy(), *np.array(self.space.flat, dtype=int).reshape(-1, 2).T
        c[:, 0, v] += self.bases[:, q]
        least, most = Piecewise(self.pieces.times, c).range(0)
        low[q], high[q] = least[v], most[v]
        return low, high

    @property
    def _curved(self) -> list[slice]:
        """Axes of joints with quaternions on which w does not keep its direction, so that v is not ẇ."""
        return [part.v for part in self.space.parts if not self._is_straight(part.v)]

    def _is_straight(self, axes: slice) -> bool:
        """Whether w stays on a line through 0 on every interval: then it commutes with its rate."""
        c = self.pieces.coefficients[:, :, axes]
        size = np.linalg.norm(c, axis=2, keepdims=True)
        main = np.take_along_axis(c, size.argmax(axis=1, keepdims=True), axis=1)
        main = main / np.maximum(np.linalg.norm(main, axis=2, keepdims=True), 1e-300)
        rest = c - (c * main).sum(axis=2, keepdims=True) * main
        return bool((np.linalg.norm(rest, axis=2) <= 1e-12 * size.max(axis=1)).all())

    def _largest(self, order: int) -> Array:
        largest = self.pieces.largest(order)
        curved = self._curved
        if curved:
            sampled = self._sampled(order)
            for axes in curved:
                largest[axes] = sampled[axes]
        return largest

    def _sampled(self, order: int) -> Array:
        """Largest values by samples, refined around the largest; each time the error falls with the square."""
        starts, ends = self.pieces.times[:-1], self.pieces.times[1:]
        share = np.linspace(0.0, 1.0, _SAMPLES + 1)
        largest = np.zeros(self.space.nv)
        for start, end in zip(starts, ends, strict=True):
            inside = np.array([start, end]) + np.array([1e-12, -1e-12]) * (end - start)
            values = self._values(order, inside[0] + share * (inside[1] - inside[0]))
            for axis in np.concatenate([np.arange(self.space.nv)[axes] for axes in self._curved]):
                low, high, of_axis = float(inside[0]), float(inside[1]), values[:, axis]
                for _ in range(_REFINED):
                    k, step = int(of_axis.argmax()), (high - low) / _SAMPLES
                    low, high = max(low, low + (k - 1) * step), min(high, low + (k + 1) * step)
                    of_axis = self._values(order, low + share * (high - low))[:, axis]
                largest[axis] = max(largest[axis], of_axis.max())
        return largest

    def _values(self, order: int, times: Array) -> Array:
        motion = self.space.motion(self.bases[self.pieces.intervals(times)], *self.pieces.sample(times))
        return np.asarray(np.abs(motion.velocity if order == 1 else motion.acceleration))

    def __repr__(self) -> str:
        of = self.space.name if self.space.model is None else f"robot {self.space.name}"
        return f"TimedPath({of}, {self.begin:g} s to {self.end:g} s, {len(self.bases)} intervals)"
