"""How well a frame can move at a configuration: measures of its twist Jacobian, and the gradient of Yoshikawa's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dqdyn.algebra.real import in_words, real_array
from dqdyn.algebra.rows import at_state, first_row, row_number
from dqdyn.arrays import Array, Reals, is_lazy
from dqdyn.errors import Error, StateError, unknown_name
from dqdyn.kinematics.frames import Expressed
from dqdyn.robot.least_squares import Flags
from dqdyn.robot.options import FrameName
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.robot.kinematic import KinematicMethods

Measure = Literal["volume", "smallest", "isotropy"]
MEASURES = ("volume", "smallest", "isotropy")
_SINGULAR = 1e-12
"""Ratio of singular values below which a Jacobian is singular."""


def twist_mask(mask: Reals | None, what: str) -> Flags:
    """Which of six components count; all where none is given."""
    if mask is None:
        return np.ones(6, dtype=bool)
    flags = real_array(mask, f"the mask of {what}")
    if flags.shape != (6,) or not np.isin(flags, (0.0, 1.0)).all() or not flags.any():
        wanted = "six entries, three of rotation and three of translation, each 1 or 0 and not all 0"
        raise Error(f"the mask of {what} has {wanted}; found {in_words(mask)}.", found=mask)
    return flags.astype(bool)


def manipulability(
    robot: KinematicMethods,
    frame: FrameName,
    q: Reals,
    measure: Measure,
    mask: Reals | None,
    expressed: Expressed,
    check: bool,
) -> Array:
    """Of the singular values of J: their product, the smallest, or the smallest over the largest; shape (...)."""
    if not isinstance(measure, str) or measure not in MEASURES:
        raise unknown_name("measure of manipulability", measure, MEASURES)
    rows = _rows(robot, frame, mask)
    at = q if is_lazy(q) else _numbers(robot, q, check)
    jacobian = robot.twist_jacobian(frame, at, expressed, check=check)[..., rows, :]
    if is_lazy(jacobian):
        last, empty = (jacobian.ndim - 2, jacobian.ndim - 1), np.empty((0,) * (jacobian.ndim - 2))
        lazy: Any = jacobian
        measured: Array = lazy.map_blocks(partial(_measured, measure), drop_axis=last, meta=empty)
        return measured
    return _measured(measure, jacobian)


def _measured(measure: Measure, jacobian: Array) -> Array:
    """A measure of Jacobians (..., rows, nv)."""
    sizes = np.linalg.svd(jacobian, compute_uv=False)
    if measure == "volume":
        return np.asarray(sizes.prod(axis=-1))[()]
    if measure == "smallest":
        return np.asarray(sizes[..., -1])[()]
    largest = sizes[..., 0]
    return np.asarray(sizes[..., -1] / np.where(largest > 0.0, largest, 1.0))[()]


def manipulability_gradient(
    robot: KinematicMethods, frame: FrameName, q: Reals, mask: Reals | None, expressed: Expressed, check: bool
) -> Array:
    """∂w/∂qₖ = w tr(J⁺ ∂J/∂qₖ) of w = √det(J Jᵀ), in the tangent space; shape (..., nv)."""
    rows, at = _rows(robot, frame, mask), _numbers(robot, q, check)
    jacobian = robot.twist_jacobian(frame, at, expressed, check=check)[..., rows, :]
    sizes = np.linalg.svd(jacobian, compute_uv=False)
    singular = sizes[..., -1] <= _SINGULAR * sizes[..., 0]
    row = first_row(singular)
    if check and row is not None:
        raise StateError(
            f"the Jacobian of {frame!r} is singular at {at_state(row)}, where manipulability is 0 and has no gradient.",
            row=row_number(row),
        )
    nv = robot.model.nv
    each = np.broadcast_to(np.eye(nv), (*at.shape[:-1], nv, nv))
    everywhere = np.broadcast_to(at[..., None, :], (*at.shape[:-1], nv, at.shape[-1]))
    rates = robot.twist_jacobian_derivative(frame, everywhere, each, expressed, check=check)[..., rows, :]
    inverse = np.linalg.pinv(np.where(singular[..., None, None], 0.0, jacobian))
    gradient = sizes.prod(axis=-1)[..., None] * np.einsum("...ji,...kij->...k", inverse, rates)
    return np.where(singular[..., None], np.nan, gradient)


def _numbers(robot: KinematicMethods, q: Reals, check: bool) -> Array:
    at = as_state(robot.model, "q", q, check)
    if at.dtype == object:
        raise StateError("manipulability takes numbers, not symbols.", argument="q")
    return at


def _rows(robot: KinematicMethods, frame: FrameName, mask: Reals | None) -> Flags:
    """Rows that count, as many at most as there are axes that move the frame."""
    rows = twist_mask(mask, "manipulability")
    model = robot.model
    place = model.frame(frame)
    joints = [model.joints[i] for i in model.path(place.body)]
    axes = {i for joint in joints for i in range(joint.v.start, joint.v.stop)}
    count = int(rows.sum())
    if count > len(axes):
        problem = f"manipulability of {place.name!r} is 0 everywhere: {len(axes)} axes of {model.name!r} move it"
        remedy = f"give a mask with at most {len(axes)}" if axes else "choose a frame that moves"
        raise Error(f"{problem}, and {count} directions count; {remedy}.", axes=len(axes), directions=count)
    return rows
