"""Limits that references keep: of velocity, acceleration and jerk per axis, and those of the robot's coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.references.path import TimedPath
from dqdyn.references.space import Space

_ROUNDING = 1e-9  # relative, by which a limit may be missed


@dataclass(frozen=True, eq=False)
class Bounds:
    """Largest velocity, acceleration and jerk (nv,) each; infinite where there is no limit."""

    velocity: Array
    acceleration: Array
    jerk: Array

    @classmethod
    def of(cls, space: Space, velocity: Any, acceleration: Any, jerk: Any) -> Bounds:
        """As users give them: a number, or one per velocity; without a velocity, the robot's own."""
        if velocity is None and space.model is not None:
            own = [joint.velocity for joint in space.model.joints if not joint.is_mimic]
            velocity = np.array([c for row in own for c in row])
        given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
        return cls(*(_per_axis(space, name, value) for name, value in given.items()))

    def excess(self, path: TimedPath) -> tuple[float, str]:
        """By which factor the path must be slower to keep the limits, and what asks for it; below 1 it may be faster.

        0 where nothing limits it.
        """
        worst, why = 0.0, ""
        for order, (name, limit) in enumerate(vars(self).items(), start=1):
            if not np.isfinite(limit).any():
                continue
            found = getattr(path, f"largest_{name}")
            if np.isnan(found[np.isfinite(limit)]).any():
                axis = path.space.axes[int(np.isnan(found).argmax())]
                remedy = "leave the limit infinite there, or use time_optimal, which stops at way points"
                raise Error(f"the jerk of {axis!r}, which passes way points, is unknown: {remedy}.", axis=axis)
            share = np.nan_to_num(found / limit) ** (1.0 / order)
            if share.max() > worst:
                k = int(share.argmax())
                worst, why = float(share[k]), f"the {name} of {path.space.axes[k]!r} to {found[k]:.6g}"
        return worst, why


def _per_axis(space: Space, name: str, value: Any) -> Array:
    given = math.inf if value is None else value
    array = real_array(given, f"the limit of {name}", argument=name)
    if array.shape not in ((), (space.nv,)):
        wanted = f"one number or {space.nv}, one per velocity of {space.name}"
        raise Error(f"the limit of {name} is {wanted}; found shape {array.shape}.", argument=name)
    if not (array > 0.0).all():
        raise Error(f"the limit of {name} must be above 0, or infinite; found {value!r}.", argument=name)
    return np.array(np.broadcast_to(array, (space.nv,)))


def as_fast_as_allowed(path: TimedPath, bounds: Bounds) -> TimedPath:
    """The path as fast as limits allow."""
    factor, _ = bounds.excess(path)
    if factor == 0.0 and path.pieces.coefficients[:, 1:].any():
        raise Error("nothing limits how fast the reference goes: give times, or a velocity or an acceleration.")
    return path.stretched(factor) if factor > 0.0 else path


def require_slow(path: TimedPath, bounds: Bounds) -> TimedPath:
    """The path itself, or an error that says how much time it needs."""
    factor, why = bounds.excess(path)
    if factor > 1.0 + _ROUNDING:
        needed = path.duration * factor
        remedy = f"give it {needed:.6g} s, leave out the times, or raise the limit (math.inf for none)"
        raise Error(f"the reference brings {why}, above the limit: {remedy}.", duration=needed, factor=factor)
    return path


def require_in_reach(path: TimedPath) -> TimedPath:
    """The path itself, or an error where it leaves the limits of the robot's coordinates."""
    space = path.space
    if space.model is None:
        return path
    low, high = path.position_range()
    for joint in space.model.joints:
        if joint.is_mimic or joint.motion.nq != joint.motion.nv:
            continue
        for k, least, most in zip(range(space.nq)[joint.q], joint.lower, joint.upper, strict=True):
            for value, bad in ((low[k], low[k] < least - _ROUNDING), (high[k], high[k] > most + _ROUNDING)):
                if bad:
                    text = f"the reference takes q[{k}] (joint {joint.name!r}) to {value:.6g}"
                    remedy = "move or add way points, use time_optimal, which does not overshoot, or pass reach=False"
                    raise Error(
                        f"{text}, outside of its limits [{least:.6g}, {most:.6g}]: {remedy}.",
                        joint=joint.name,
                        coordinate=k,
                        found=float(value),
                    )
    return path
