"""Converters between our coordinates and those of Pinocchio and MuJoCo.

Velocities are related by v' = T(q) v. Everything else follows from T: a' = T a + Ṫ v, τ = Tᵀτ', M = TᵀM'T, J = J'T.
Where a mimic joint has a coordinate in the other library, T is tall and the way back takes the master's share.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import rotation_matrix
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import unstack
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import FormatError, StateError, unknown_name
from dqdyn.model.model import Model, TreeJoint
from dqdyn.model.split import single_axes


@dataclass(frozen=True)
class Block:
    """One joint in the other library: conversion of its coordinates and its part of T and Ṫ."""

    joint: TreeJoint
    q: slice
    v: slice
    to: Callable[[Array], Array]
    back: Callable[[Array], Array]
    t: Callable[[Array], Array]
    t_rate: Callable[[Array, Array], Array] | None = None


class Layout:
    """Our vectors in the order and parameters of another library, and back. Shapes (..., n)."""

    def __init__(self, model: Model, blocks: list[Block], nq: int, nv: int, name: str, rows: list[int]) -> None:
        self.model, self.blocks, self.nq, self.nv, self.name, self._rows = model, blocks, nq, nv, name, rows

    def q(self, q: RealArray) -> Array:
        """Our q (nq) as the other library's."""
        q = self._sized(q, self.model.nq, "q")
        result = np.zeros((*q.shape[:-1], self.nq))
        for block in self.blocks:
            result[..., block.q] = block.to(_own_q(block.joint, q))
        return result

    def q_from(self, other: RealArray) -> Array:
        """The other library's q as ours; of mimic joints the master decides."""
        other = self._sized(other, self.nq, "q")
        result = np.zeros((*other.shape[:-1], self.model.nq))
        for block in self.blocks:
            if block.joint.master is None:
                result[..., block.joint.q] = block.back(other[..., block.q])
        return result

    def transform(self, q: RealArray) -> Array:
        """T (..., nv', nv) with v' = T v."""
        return self._assemble(self._sized(q, self.model.nq, "q"), None)

    def transform_rate(self, q: RealArray, v: RealArray) -> Array:
        """Ṫ (..., nv', nv) along v."""
        return self._assemble(self._sized(q, self.model.nq, "q"), self._sized(v, self.model.nv, "v"))

    def v(self, q: RealArray, v: RealArray) -> Array:
        """Our velocity as the other library's: T v."""
        return _apply(self.transform(q), self._sized(v, self.model.nv, "v"))

    def v_from(self, q: RealArray, other: RealArray) -> Array:
        """The other library's velocity as ours; q is ours."""
        return _apply(self._inverse(q), self._sized(other, self.nv, "v"))

    def a(self, q: RealArray, v: RealArray, a: RealArray) -> Array:
        """Our acceleration as the other library's: T a + Ṫ v."""
        return _apply(self.transform(q), self._sized(a, self.model.nv, "a")) + self._drift(q, v)

    def a_from(self, q: RealArray, v: RealArray, other: RealArray) -> Array:
        """The other library's acceleration as ours; q and v are ours."""
        return _apply(self._inverse(q), self._sized(other, self.nv, "a") - self._drift(q, v))

    def tau(self, q: RealArray, tau: RealArray) -> Array:
        """Our generalized forces as the other library's; mimic joints that have a coordinate there get none."""
        return _apply(_transposed(self._inverse(q)), self._sized(tau, self.model.nv, "tau"))

    def tau_from(self, q: RealArray, other: RealArray) -> Array:
        """The other library's generalized forces as ours: Tᵀτ'."""
        return _apply(_transposed(self.transform(q)), self._sized(other, self.nv, "tau"))

    def mass_matrix_from(self, q: RealArray, other: RealArray) -> Array:
        """The other library's full mass matrix as ours: TᵀM'T."""
        t = self.transform(q)
        return _transposed(t) @ self._matrix(other, self.nv, "mass matrix") @ t

    def jacobian_from(self, q: RealArray, other: RealArray) -> Array:
        """The other library's 6-row Jacobian as ours, rows [ω, v]: J'T.

        Pinocchio's rows [v, ω] are put in our order. For MuJoCo stack ``jacr`` over ``jacp`` ("aligned").
        """
        return self._matrix(other, 6, "Jacobian")[..., self._rows, :] @ self.transform(q)

    def _drift(self, q: RealArray, v: RealArray) -> Array:
        """Ṫ v."""
        return _apply(self.transform_rate(q, v), self._sized(v, self.model.nv, "v"))

    def _assemble(self, q: Array, v: Array | None) -> Array:
        batch = q.shape[:-1] if v is None else np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        result = np.zeros((*batch, self.nv, self.model.nv))
        for block in self.blocks:
            joint, own = block.joint, _own_q(block.joint, q)
            ratio = joint.master.ratio if joint.master else 1.0
            if v is None:
                result[..., block.v, joint.v] += ratio * block.t(own)
            elif block.t_rate is not None:
                result[..., block.v, joint.v] += block.t_rate(own, v[..., joint.v])
        return result

    def _inverse(self, q: RealArray) -> Array:
        t = self.transform(q)
        if self.nv == self.model.nv:
            return _inverted(t)
        own = [i for block in self.blocks if block.joint.master is None for i in range(block.v.start, block.v.stop)]
        result = np.zeros((*t.shape[:-2], self.model.nv, self.nv))
        result[..., :, own] = _inverted(t[..., own, :])
        return result

    def _sized(self, value: RealArray, size: int, name: str) -> Array:
        array = real_array(value, name, StateError, argument=name)
        if array.ndim == 0 or array.shape[-1] != size:
            raise StateError(f"{name} has {size} components here; found shape {array.shape}.", expected=size)
        return array

    def _matrix(self, value: RealArray, rows: int, name: str) -> Array:
        array, expected = real_array(value, name, StateError, argument=name), (rows, self.nv)
        if array.shape[-2:] != expected:
            shapes = f"has the shape (..., {rows}, {self.nv}) here; found {array.shape}"
            raise StateError(f"a {name} of {self.name} {shapes}.", expected=expected, found=array.shape)
        return array


def _apply(matrix: Array, vector: Array) -> Array:
    return (matrix @ vector[..., None])[..., 0]


def _inverted(matrix: Array) -> Array:
    return np.asarray(np.linalg.inv(matrix), dtype=float)


def _transposed(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2)


def _own_q(joint: TreeJoint, q: Array) -> Array:
    own = q[..., joint.q]
    return own if joint.master is None else own * joint.master.ratio + joint.master.offset


def _same(q: Array) -> Array:
    return q


def _pick(*order: int) -> Callable[[Array], Array]:
    return lambda q: q[..., list(order)]


def _constant(matrix: RealArray) -> Callable[[Array], Array]:
    array = np.asarray(matrix, dtype=float)
    return lambda q: array


def _rotation(q: Array) -> Array:
    return rotation_matrix(DQ.of(Quaternion(*unstack(q, 4))))


def _skew(w: Array) -> Array:
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(*x.shape, 3, 3)


# --- Pinocchio ------------------------------------------------------------------------------------------------------

_SWAP6 = np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), np.zeros((3, 3))]])


def _planar_t(q: Array) -> Array:
    """Pinocchio's planar velocity is in the body frame: R(φ)ᵀ(ẋ, ẏ)."""
    result = _similar(np.cos(q[..., 2]), np.sin(q[..., 2]))
    result[..., 2, 2] = 1.0
    return result


def _planar_t_rate(q: Array, v: Array) -> Array:
    return _similar(-np.sin(q[..., 2]) * v[..., 2], np.cos(q[..., 2]) * v[..., 2])


def _similar(c: Array, s: Array) -> Array:
    """Rows (c, s, 0), (−s, c, 0) and zeros."""
    zero = np.zeros_like(c)
    return np.stack([c, s, zero, -s, c, zero, zero, zero, zero], -1).reshape(*c.shape, 3, 3)


def _unit_circle(index: int) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    def to(q: Array) -> Array:
        angle = q[..., index : index + 1]
        return np.concatenate([q[..., :index], np.cos(angle), np.sin(angle)], -1)

    def back(other: Array) -> Array:
        angle = np.arctan2(other[..., index + 1 : index + 2], other[..., index : index + 1])
        return np.concatenate([other[..., :index], angle], -1)

    return to, back


def _pinocchio_block(joint: TreeJoint, q: slice, v: slice, shortname: str) -> Block:
    kind = joint.kind
    if kind == "revolute" and q.stop - q.start == 2:
        return Block(joint, q, v, *_unit_circle(0), _constant(np.eye(1)))
    if kind in ("revolute", "prismatic", "helical", "universal") and q.stop - q.start == joint.motion.nq:
        return Block(joint, q, v, _same, _same, _constant(np.eye(joint.motion.nv)))
    if kind == "spherical" and shortname.endswith("JointModelSpherical"):
        return Block(joint, q, v, _pick(1, 2, 3, 0), _pick(3, 0, 1, 2), _constant(np.eye(3)))
    if kind == "free" and q.stop - q.start == 7:
        return Block(joint, q, v, _pick(4, 5, 6, 1, 2, 3, 0), _pick(6, 3, 4, 5, 0, 1, 2), _constant(_SWAP6))
    if kind == "planar" and q.stop - q.start == 4:
        if joint.motion.axis == (0.0, 0.0, 1.0):  # type: ignore[attr-defined]
            return Block(joint, q, v, *_unit_circle(2), _planar_t, _planar_t_rate)
        problem = f"Pinocchio's planar joint moves in xy; the axis of {joint.name!r} is not z."
    else:
        problem = f"joint {joint.name!r} is {kind} here and {shortname} in Pinocchio: no conversion between them."
    raise FormatError(problem, joint=joint.name)


def pinocchio_layout(model: Model, other: Any) -> Layout:
    """The layout of a ``pinocchio.Model`` with the same joint names."""
    names = list(other.names)
    blocks = []
    for joint in _named_joints(model, names):
        if joint.name not in names:
            if joint.is_mimic:
                continue  # built with mimic=True there: no coordinate of its own
            raise unknown_name("joint in the Pinocchio model", joint.name, names)
        i = names.index(joint.name)
        q = slice(other.idx_qs[i], other.idx_qs[i] + other.nqs[i])
        v = slice(other.idx_vs[i], other.idx_vs[i] + other.nvs[i])
        if joint.is_mimic and "Mimic" in other.joints[i].shortname():
            continue
        blocks.append(_pinocchio_block(joint, q, v, other.joints[i].shortname()))
    return _complete(Layout(model, blocks, other.nq, other.nv, "Pinocchio", [3, 4, 5, 0, 1, 2]))


# --- MuJoCo ---------------------------------------------------------------------------------------------------------


def _free_t(q: Array) -> Array:
    """MuJoCo's free velocity: linear in world axes, angular in the body."""
    result = np.zeros((*q.shape[:-1], 6, 6))
    result[..., :3, 3:], result[..., 3:, :3] = _rotation(q[..., :4]), np.eye(3)
    return result


def _free_t_rate(q: Array, v: Array) -> Array:
    turning = _rotation(q[..., :4]) @ _skew(v[..., :3])
    result = np.zeros((*turning.shape[:-2], 6, 6))
    result[..., :3, 3:] = turning
    return result


MUJOCO_TYPES = {"free": 0, "spherical": 1, "prismatic": 2, "revolute": 3}
"""Numbers of MuJoCo's joint types, ``mjtJoint``, by our names."""


def mujoco_layout(model: Model, other: Any, foreign: Collection[str] = ()) -> Layout:
    """The layout of a ``mujoco.MjModel`` with the same joint names; a joint that MJCF splits has a suffix per axis.

    Joints named in ``foreign`` belong to other things; they come after those of the robot, which alone are converted.
    """
    index = {other.joint(i).name: i for i in range(other.njnt)}
    nq = min((int(other.jnt_qposadr[index[name]]) for name in foreign), default=other.nq)
    nv = min((int(other.jnt_dofadr[index[name]]) for name in foreign), default=other.nv)
    blocks = []
    for joint in _named_joints(model, index):
        if joint.name not in index:
            raise unknown_name("joint in the MuJoCo model", joint.name, index)
        i = index[joint.name]
        if int(other.jnt_type[i]) != MUJOCO_TYPES.get(joint.kind):
            problem = f"is {joint.kind} here and of another type in MuJoCo: no conversion."
            raise FormatError(f"joint {joint.name!r} {problem}", joint=joint.name)
        q = slice(int(other.jnt_qposadr[i]), int(other.jnt_qposadr[i]) + joint.motion.nq)
        v = slice(int(other.jnt_dofadr[i]), int(other.jnt_dofadr[i]) + joint.motion.nv)
        if joint.kind == "free":
            to, back = _pick(4, 5, 6, 0, 1, 2, 3), _pick(3, 4, 5, 6, 0, 1, 2)
            blocks.append(Block(joint, q, v, to, back, _free_t, _free_t_rate))
        else:
            blocks.append(Block(joint, q, v, _same, _same, _constant(np.eye(joint.motion.nv))))
    return _complete(Layout(model, blocks, nq, nv, "MuJoCo", [0, 1, 2, 3, 4, 5]))


def _named_joints(model: Model, names: Collection[str]) -> Iterator[TreeJoint]:
    """The joints of a model, those with several axes one by one where the other library does not have their name."""
    for joint in model.joints:
        yield from [joint] if joint.name in names else single_axes(joint)


def _complete(layout: Layout) -> Layout:
    """Every coordinate of the other library must be one of ours."""
    covered = sum(block.v.stop - block.v.start for block in layout.blocks)
    if covered != layout.nv:
        counted = f"{layout.nv} velocities, of which {covered} belong to joints of {layout.model.name!r}"
        message = f"the {layout.name} model has {counted}: load both from the same file with the same base."
        raise FormatError(message, expected=covered, found=layout.nv)
    return layout
