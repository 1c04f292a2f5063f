"""Where a reference moves: configurations of a robot, poses, rotations, points or numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from dqdyn.algebra.any_pose import FORMS, as_pose, is_foreign_pose
from dqdyn.algebra.checks import UNIT_TOLERANCE, require_unit
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position
from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.algebra.value import Value
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import Error, StateError, unknown_name
from dqdyn.geometry.primitives import Point
from dqdyn.model.joints.free import Free
from dqdyn.model.joints.joint_kind import JointKind
from dqdyn.model.joints.spherical import Spherical
from dqdyn.model.model import Model
from dqdyn.references.chart import Components, as_it_is, as_vec8, chart_motion, compiled_chart, compiled_difference
from dqdyn.references.chart import is_flat as is_flat_kind
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state

Values = Literal["pose", "rotation", "point", "number"]
SpaceLike = Robot | Values
"""A robot for its configurations, or what else moves: "pose", "rotation", "point" or "number"."""


class Motion(NamedTuple):
    """Where a reference is and how it moves, each (..., n) or a list of scalars."""

    components: Any
    """q (nq); vec8 for a pose."""
    rate: Any
    """The time derivative of the components."""
    second: Any
    """The second time derivative of the components."""
    velocity: Any
    """v (nv); the body twist for a pose."""
    acceleration: Any
    """The time derivative of v (nv)."""


@dataclass(frozen=True)
class Part:
    """A joint whose coordinates are not plain numbers."""

    name: str
    kind: JointKind
    q: slice
    v: slice


@dataclass(frozen=True, eq=False)
class Space:
    """A manifold with coordinates (nq) and velocities (nv); ``parts`` are the joints that hold quaternions."""

    name: str
    nq: int
    nv: int
    parts: tuple[Part, ...]
    axes: tuple[str, ...]
    """Names of the velocities (nv), for messages."""
    flat: tuple[tuple[int, int], ...]
    """(coordinate, velocity) of the plain angles and lengths."""
    components: Components = as_it_is
    model: Model | None = None

    @classmethod
    def of(cls, given: Any) -> Space:
        """The space of what a user names; an error for anything but a robot and the known names."""
        if isinstance(given, Space):
            return given
        if isinstance(given, Robot):
            return _of_model(given.model)
        if isinstance(given, str):
            if given not in _VALUES:
                raise unknown_name("space of a reference", given, _VALUES)
            return _VALUES[given]
        known = ", ".join(repr(name) for name in _VALUES)
        raise Error(f"a reference is made for a Robot or for one of {known}; found {given!r}.", found=given)

    @property
    def size(self) -> int:
        """Of the components."""
        return 8 if self.components is as_vec8 else self.nq

    def points(self, given: Any, least: int = 2) -> Array:
        """Way points (N, nq) as users give them, quaternions with the sign that is nearer to the point before."""
        if isinstance(given, Pose) and len(given.shape) == 1:
            given = [given[k] for k in range(given.shape[0])]
        if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, np.ndarray)):
            raise StateError(f"way points are a list of at least {least}; found {given!r}.", argument="points")
        if len(given) < least:
            raise StateError(f"at least {least} way points are needed; found {len(given)}.", argument="points")
        points = np.array([self.point(p, f"way point {k}") for k, p in enumerate(given)])
        for part in self.parts:
            if part.kind.quaternion is None:
                continue
            r = points[:, part.q]  # a view
            for k in range(1, len(points)):
                if r[k - 1, part.kind.quaternion] @ r[k, part.kind.quaternion] < 0.0:
                    r[k, part.kind.quaternion] *= -1.0
        return points

    def point(self, given: Any, what: str) -> Array:
        """One point (nq) of the space."""
        if self.model is not None:
            q = as_state(self.model, "q", given)
            if q.dtype == object or q.shape != (self.nq,):
                raise StateError(f"{what} of {self.name} has shape ({self.nq},); found {q.shape}.", argument="points")
            return q
        return self._value(given, what)

    def _value(self, given: Any, what: str) -> Array:
        array = self._numbers(given, what)
        if not np.isfinite(array).all():
            raise StateError(f"{what} must be finite; found {array}.", argument="points")
        if self.parts and abs(math.hypot(*array[:4]) - 1.0) > UNIT_TOLERANCE:
            norm = math.hypot(*array[:4])
            raise StateError(f"the rotation of {what} has norm {norm:.9g}: divide it by that.", argument="points")
        return array

    def _numbers(self, given: Any, what: str) -> Array:
        """The coordinates of a value, or of numbers in its place."""
        if self.name in ("pose", "rotation") and is_foreign_pose(given):
            given = as_pose(given)
        if isinstance(given, Pose) and given.shape == ():
            parts = {"pose": (*given.rotation, *given.translation), "rotation": given.rotation}
            return np.array({**parts, "point": given.translation}.get(self.name, ()))
        if isinstance(given, Point) and self.name == "point":
            given = given.dq.primary.vector
        elif isinstance(given, Value):
            raise StateError(f"{what} is a {self.name}; found {given!r}.", argument="points", found=given)
        given = given.components if isinstance(given, DQ) else given
        array = np.atleast_1d(real_array(given, what, StateError, argument="points"))
        if array.shape != (self.size,):
            wanted = FORMS if self.name == "pose" else f"a {self.name} of {self.size} components"
            raise StateError(f"{what} is {wanted}; found shape {array.shape}.", argument="points")
        if self.name != "pose":
            return array
        if np.isfinite(array).all():
            require_unit(DQ.of8(array.tolist()), what)
        return np.array([*array[:4], *position(DQ.of8(array.tolist())).vector])

    def difference(self, q0: Array, q1: Array) -> Array:
        """The way (..., nv) from q0 to q1 (..., nq)."""
        way = np.zeros((*q0.shape[:-1], self.nv))
        for q, v in self.flat:
            way[..., v] = q1[..., q] - q0[..., q]
        for part in self.parts:
            way[..., part.v] = compiled_difference(part.kind)(q0[..., part.q].copy(), q1[..., part.q].copy())
        return way

    def motion(self, base: Array, w: Array, rate: Array, second: Array) -> Motion:
        """Along base ⊞ w (..., nq) for w with its rates (..., nv); all have the same leading shape."""
        if not self.parts:
            return Motion(base + w, rate, second, rate, second)
        if self.components is as_vec8:
            return Motion(*_split(self.parts[0], self.components, base, w, rate, second))
        found = Motion(base.copy(), np.zeros_like(base), np.zeros_like(base), rate.copy(), second.copy())
        q, v = self._q, self._v
        found.components[..., q] += w[..., v]
        found.rate[..., q], found.second[..., q] = rate[..., v], second[..., v]
        for part in self.parts:
            *shown, v_part, a_part = _split(part, self.components, base, w, rate, second)
            for whole, own in zip(found[:3], shown, strict=True):
                whole[..., part.q] = own
            found.velocity[..., part.v], found.acceleration[..., part.v] = v_part, a_part
        return found

    @property
    def _q(self) -> list[int]:
        return [q for q, _ in self.flat]

    @property
    def _v(self) -> list[int]:
        return [v for _, v in self.flat]

    def motion_over(self, base: Scalars, w: Scalars, rate: Scalars, second: Scalars) -> Motion:
        """The same over any scalar, q as it is."""
        q: list[Scalar] = list(base)
        v, a = list(rate), list(second)
        for i, k in self.flat:
            q[i] = base[i] + w[k]
        for part in self.parts:
            along = (base[part.q], w[part.v], rate[part.v], second[part.v])
            q[part.q], _, _, v[part.v], a[part.v] = chart_motion(part.kind, as_it_is, *along)
        return Motion(self.components(q), None, None, v, a)


def _split(part: Part, components: Components, base: Array, w: Array, rate: Array, second: Array) -> list[Array]:
    """The results of a compiled chart, apart."""
    arguments = (np.ascontiguousarray(x) for x in (base[..., part.q], w[..., part.v], rate[..., part.v]))
    row = compiled_chart(part.kind, components)(*arguments, np.ascontiguousarray(second[..., part.v]))
    nv = part.kind.nv
    size = (row.shape[-1] - 2 * nv) // 3
    return np.split(row, [size, 2 * size, 3 * size, 3 * size + nv], axis=-1)


def _of_model(model: Model) -> Space:
    parts, flat, axes = [], [], []
    for joint in model.joints:
        if joint.is_mimic or not joint.motion.nv:
            continue
        labels = [label for label, _ in joint.motion.columns("v")]
        axes += [f"{joint.name}.{label}" if label else joint.name for label in labels]
        if is_flat_kind(joint.motion):
            flat += list(zip(range(model.nq)[joint.q], range(model.nv)[joint.v], strict=True))
        else:
            parts.append(Part(joint.name, joint.motion, joint.q, joint.v))
    return Space(repr(model.name), model.nq, model.nv, tuple(parts), tuple(axes), tuple(flat), as_it_is, model)


_TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
_VALUES: dict[str, Space] = {
    "pose": Space("pose", 7, 6, (Part("pose", Free(), slice(0, 7), slice(0, 6)),), _TWIST, (), as_vec8),
    "rotation": Space("rotation", 4, 3, (Part("rotation", Spherical(), slice(0, 4), slice(0, 3)),), _TWIST[:3], ()),
    "point": Space("point", 3, 3, (), ("x", "y", "z"), ((0, 0), (1, 1), (2, 2))),
    "number": Space("number", 1, 1, (), ("number",), ((0, 0),)),
}
