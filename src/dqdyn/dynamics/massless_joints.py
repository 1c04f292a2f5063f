"""Joints that move no inertia, which make the mass matrix singular: everywhere, or in some configurations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.quaternion import dot3
from dqdyn.algebra.scalar import Scalar, less, select, unstack
from dqdyn.dynamics.arguments import Scalars
from dqdyn.dynamics.fast import composite
from dqdyn.dynamics.fast.sparse_solve import factored
from dqdyn.dynamics.joint_forces import armature
from dqdyn.dynamics.methods import MASS_MATRIX
from dqdyn.model.model import WORLD_BODY, Model

_TOLERANCE = 1e-10  # pivot relative to the diagonal entry that it came from: what is left of M is rounding
_ROUNDING = 1e-3  # and relative to the inertia that the joint moves, as if at its farthest: 1e-13 of it is rounding
_SURELY = (
    1e-7  # inertia of a body alone, relative to that of a body behind its joint, with which no pivot is that small
)
_form = MASS_MATRIX["composite-body"]


def joint_without_inertia(model: Model, samples: int = 3) -> str | None:
    """The name of a joint along which the robot can accelerate without force, or None.

    Eliminating M from the leaves, the pivot of a velocity is the inertia that it moves with all joints behind it free.
    """
    if is_regular(model):
        return None
    moving = np.array([_moving([float(x) for x in pivots(model, q)]) for q in _samples(model, samples)])
    always = np.flatnonzero(~moving.any(axis=0))
    return joint_of(model, int(always[-1])) if len(always) else None


def joint_of(model: Model, velocity: int) -> str:
    """The name of the joint that a component of v belongs to."""
    return next(j.name for j in model.joints if j.master is None and j.v.start <= velocity < j.v.stop)


def is_regular(model: Model) -> bool:
    """Whether M is regular in every configuration, because each joint moves a body with inertia of its own.

    With all joints behind it free, a joint moves at least the inertia of its own body. Where that is nothing, as with
    the massless links between the axes of a gimbal, M may be singular in some configurations and not in others.
    """
    known: bool | None = model.__dict__.get("_is_regular")  # asked for twice by every function that divides by M
    if known is None:
        known = model.__dict__["_is_regular"] = _is_regular(model)
    return known


def _is_regular(model: Model) -> bool:
    (q,) = _samples(model, 1)  # the inertia that a joint moves has the same order of magnitude at any q
    moved = [abs(float(m + r)) for m, r in zip(composite.diagonal(model, q), armature(model), strict=True)]
    # Per body: what counts is that none is far lighter than the others, not that a long chain has many of them.
    return all(
        _own_inertia(model, j.index) * behind > _SURELY * max(moved[j.v])
        for j, behind in zip(model.joints, _bodies_behind(model), strict=True)
        if j.master is None and j.motion.nv
    )


def _bodies_behind(model: Model) -> list[int]:
    """How many bodies each joint moves."""
    count = [1] * len(model.joints)
    for joint in reversed(model.joints):
        if joint.parent != WORLD_BODY:
            count[joint.parent] += count[joint.index]
    return count


def _own_inertia(model: Model, index: int) -> float:
    """The least inertia that a joint moves in its own body, over the directions of its motion, with the armature."""
    joint, inertia = model.joints[index], model.bodies[index].inertia
    tensor, com = np.array(inertia.tensor), np.array(inertia.com)
    if not joint.motion.constant_subspace:  # in any direction
        return float(np.linalg.eigvalsh(tensor)[0]) if inertia.mass else 0.0
    turns = np.array([s.primary.vector for s in joint.motion.subspace(joint.motion.neutral())], dtype=float)
    moves = np.array([s.dual.vector for s in joint.motion.subspace(joint.motion.neutral())], dtype=float)
    center = moves + np.cross(turns, com)
    energy = turns @ tensor @ turns.T + inertia.mass * center @ center.T + np.diag(joint.armature)
    return float(np.linalg.eigvalsh(energy)[0])


def pivots(model: Model, q: Scalars) -> list[Scalar]:
    """1/D of M = Lᵀ D L, the diagonal of M and :func:`moved_inertia`, concatenated (3 nv)."""
    matrix = _form(model, q)
    return [*factored(matrix)[1], *(row[k] for k, row in enumerate(matrix)), *moved_inertia(model, q)]


def moved_inertia(model: Model, q: Scalars) -> list[Scalar]:
    """Per velocity (nv) the inertia that it moves, about every axis through its joint and along every line.

    Armature is included. It is the scale for an entry of M: of a heavy body on its axis a joint may move nothing but
    rounding errors, while all of a light body far from the heavy ones is moved.
    """
    bodies = composite.composites(model, [joint.transform(q) for joint in model.joints])
    result: list[Scalar] = list(armature(model))
    for joint, body in zip(model.joints, bodies, strict=True):
        trace = body.tensor.xx + body.tensor.yy + body.tensor.zz
        for k, s in joint.columns(joint.motion.subspace(joint.coordinates(q))):
            result[k] = result[k] + (dot3(s.primary, s.primary) * trace + dot3(s.dual, s.dual) * body.mass)
    return result


def vanishing(pivots: Scalars) -> Scalar:
    """Which component of v moves no inertia, −1 where all do, from :func:`pivots` (3 nv)."""
    found: Scalar = -1.0
    for k, moves in enumerate(_moving(pivots)):
        # Elimination goes from the last to the first; what follows a vanishing pivot is noise.
        found = select(moves, found, float(k))
    return found


def vanishing_rows(pivots: np.ndarray) -> np.ndarray:
    """The same for every state (...), from pivots (..., 3 nv)."""
    with np.errstate(all="ignore"):
        return np.asarray(vanishing(unstack(pivots, pivots.shape[-1])))


def _moving(pivots: Scalars) -> list[Any]:
    """Conditions: that no pivot vanishes beside the entry of M that it came from, or beside the moved inertia."""
    n = len(pivots) // 3
    inverse, diagonal, moved = ([_size(x) for x in pivots[k : k + n]] for k in (0, n, 2 * n))
    scales = [(d, m * _ROUNDING) for d, m in zip(diagonal, moved, strict=True)]
    # NaN moves nothing.
    return [less(i * select(less(d, m), m, d), 1.0 / _TOLERANCE) for i, (d, m) in zip(inverse, scales, strict=True)]


def _size(x: Scalar) -> Scalar:
    return select(less(x, 0.0), -x, x)


def _samples(model: Model, count: int) -> list[list[float]]:
    rng = np.random.default_rng(0)
    free = [j for j in model.joints if j.master is None]
    return [[c for j in free for c in j.motion.random(rng, j.lower, j.upper)] for _ in range(count)]
