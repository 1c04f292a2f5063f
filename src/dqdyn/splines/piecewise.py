"""A vector that is a polynomial of time on each of several intervals, and where it is largest."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.arrays import Array
from dqdyn.caching import cached_property

DEGREE = 5
_HALVINGS = 30  # of an interval around a turning point; the value there is then exact, as its error goes by the square


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A vector (n,) on the intervals between ``times``; before and after them it stays where it is, at rest."""

    times: Array
    """(m + 1,) in s, rising."""
    coefficients: Array
    """(m, 6, n), of powers of the time since the start of the interval."""

    @classmethod
    def of_one(cls, begin: float, end: float, coefficients: Array) -> Piecewise:
        """One interval with coefficients (6, n)."""
        return cls(np.array([begin, end]), coefficients[None])

    @cached_property
    def _starts(self) -> list[float]:
        starts: list[float] = self.times[:-1].tolist()
        return starts

    def interval(self, t: float) -> int:
        """The index of the interval at time t; the first before all and the last after all."""
        return max(0, bisect_right(self._starts, t) - 1)

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration (n,) at one time."""
        begin, end = float(self.times[0]), float(self.times[-1])
        k = self.interval(t)
        position, velocity, acceleration = _horner(self.coefficients[k], min(max(t, begin), end) - self._starts[k])
        if not begin <= t <= end:
            return position, np.zeros_like(velocity), np.zeros_like(velocity)
        return position, velocity, acceleration

    def sample(self, times: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration (k, n) at many times (k,)."""
        k = self.intervals(times)
        inside = np.clip(times, self.times[0], self.times[-1])
        position, *rates = _horner(np.moveaxis(self.coefficients[k], -2, 0), (inside - self.times[k])[:, None])
        moving = ((times >= self.times[0]) & (times <= self.times[-1]))[:, None]
        return position, np.where(moving, rates[0], 0.0), np.where(moving, rates[1], 0.0)

    def intervals(self, times: Array) -> np.ndarray:
        """The indices of the intervals at times (k,)."""
        return np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.coefficients) - 1)

    def over(self, t: Scalar) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """Position, velocity and acceleration at a time that is any scalar: all intervals become part of a program."""
        begin, end = float(self.times[0]), float(self.times[-1])
        inside = select(less(t, begin), begin, select(less(end, t), end, t))
        moving = select(less(t, begin), 0.0, select(less(end, t), 0.0, 1.0))
        s = inside - self.choose(t, self._starts)
        columns = self.coefficients.transpose(2, 1, 0).tolist()  # n × 6 × m
        found = [_horner([self.choose(t, values) for values in column], s) for column in columns]
        return [p for p, _, _ in found], [v * moving for _, v, _ in found], [a * moving for _, _, a in found]

    def choose(self, t: Scalar, values: list[float]) -> Scalar:
        """Of one value per interval, that of the interval at time t, which is any scalar."""
        result: Scalar = values[-1]
        for k in range(len(values) - 2, -1, -1):
            if values[k] != values[k + 1]:
                result = select(less(t, float(self.times[k + 1])), values[k], result)
        return result

    def stretched(self, factor: float) -> Piecewise:
        """The same way, slower by a factor."""
        powers = factor ** np.arange(DEGREE + 1.0)[:, None]
        return Piecewise(self.times[0] + (self.times - self.times[0]) * factor, self.coefficients / powers)

    def range(self, order: int) -> tuple[Array, Array]:
        """The least and the largest value (n,) of the derivative of that order, exactly: 0 for positions."""
        h = np.diff(self.times)[:, None, None]
        c = np.moveaxis(self.coefficients, -2, -1) * h ** np.arange(DEGREE + 1.0)  # (m, n, 6) of powers of s/h
        for _ in range(order):
            c = _derivative(c) / h
        values = _value(c[..., None, :], turning_points(c))
        return values.min(axis=(0, 2)), values.max(axis=(0, 2))

    def largest(self, order: int) -> Array:
        """The largest absolute value (n,) of the derivative of that order."""
        low, high = self.range(order)
        return np.maximum(-low, high)


def turning_points(c: Array) -> Array:
    """0, 1 and points between (..., d + 1), where polynomials with coefficients (..., d + 1) on [0, 1] have extremes.

    Between the extremes of its derivative a polynomial's derivative is monotone, so that halving finds its only root.
    Where there is none, an end of the interval stands instead.
    """
    ends = np.stack([np.zeros(c.shape[:-1]), np.ones(c.shape[:-1])], axis=-1)
    while c.shape[-1] > 1 and not c[..., -1].any():
        c = c[..., :-1]
    slope = _derivative(c)
    if slope.shape[-1] <= 3:
        return np.sort(np.concatenate([ends, *_roots(slope)], axis=-1), axis=-1)
    bounds = turning_points(slope)
    low, high = bounds[..., :-1].copy(), bounds[..., 1:].copy()
    slope = slope[..., None, :]
    at_low = _value(slope, low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        before = _value(slope, middle) * at_low > 0.0  # the root lies behind the middle
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return np.sort(np.concatenate([ends, 0.5 * (low + high)], axis=-1), axis=-1)


def _roots(c: Array) -> list[Array]:
    """Roots (..., 1) or (..., 2) of polynomials up to second degree, moved into [0, 1]; any where there is none."""
    if c.shape[-1] <= 1:
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        if c.shape[-1] == 2:
            found = -c[..., :1] / c[..., 1:]
        else:
            c0, c1, c2 = c[..., 0], c[..., 1], c[..., 2]
            half = -0.5 * (c1 + np.copysign(np.sqrt(np.maximum(c1 * c1 - 4.0 * c0 * c2, 0.0)), c1))  # no cancellation
            found = np.stack([half / c2, c0 / half], axis=-1)
    return [np.clip(np.nan_to_num(found, nan=0.5, posinf=1.0, neginf=0.0), 0.0, 1.0)]


def _derivative(c: Array) -> Array:
    return c[..., 1:] * np.arange(1.0, c.shape[-1])


def _value(c: Array, s: Array) -> Array:
    """Polynomials with coefficients (..., 1, d + 1) at s (..., k)."""
    result = np.broadcast_to(c[..., -1], s.shape)
    for k in range(c.shape[-1] - 2, -1, -1):
        result = result * s + c[..., k]
    return result


def _horner(c: Scalar, s: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    c0, c1, c2, c3, c4, c5 = c
    position = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    velocity = c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * (5.0 * c5))))
    return position, velocity, 2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * (20.0 * c5)))
