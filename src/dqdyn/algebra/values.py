"""Poses, twists and wrenches as values with meaning, for users; algorithms work on ``DQ``."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import (
    UNIT_TOLERANCE,
    Adjoint,
    is_unit,
    pose,
    position,
    rotation_matrix,
)
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import stack, unstack
from dqdyn.errors import Error

V = TypeVar("V", bound="Value")


class Value:
    """A frozen value backed by a dual quaternion ``dq``; batches have a leading shape."""

    __slots__ = ("dq",)
    dq: DQ
    _size: ClassVar[int] = 8

    @classmethod
    def of(cls: type[V], dq: DQ) -> V:
        """The value of a dual quaternion, unchecked."""
        new = object.__new__(cls)
        new.dq = dq
        return new

    def vec8(self) -> np.ndarray:
        """Coefficients, shape (..., 8)."""
        return self.dq.vec8()

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading shape of the batch; () for one value."""
        return np.broadcast_shapes(*(np.shape(c) for c in self.dq.components))

    def __getitem__(self: V, index: Any) -> V:
        """Part of a batch."""
        if not self.shape:
            raise Error(f"One {type(self).__name__} has no elements to index; only batches have.")
        return type(self).of(DQ(self.vec8()[index]))

    def __eq__(self, other: object) -> bool:
        return self.dq == other.dq if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.dq)

    def __reduce__(self) -> Any:
        return type(self).of, (self.dq,)


def vector(value: Any, size: int, what: str) -> list[Any]:
    """Components of an array-like of shape (..., size), checked: size, NaN and infinity."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.asarray(value, dtype=object)
    if array.ndim == 0 or array.shape[-1] != size:
        raise Error(f"{what} has {size} components; found shape {array.shape}.", expected=size, found=array.shape)
    if array.dtype != object and not np.isfinite(array).all():
        raise Error(f"{what} must be finite; found {array}.", found=array)
    return unstack(array, size)


class Pose(Value):
    """The pose x = r + ½ε p r of a frame: ``Pose(rotation=[w, x, y, z], translation=[x, y, z])`` or ``Pose(vec8)``.

    ``a * b`` chains poses; ``x * thing`` moves a point, line, plane, twist or wrench from frame b to a for x = x_ab.
    """

    __slots__ = ()

    def __init__(
        self,
        dq: Any = None,
        *,
        rotation: Any = (1.0, 0.0, 0.0, 0.0),
        translation: Any = (0.0, 0.0, 0.0),
    ) -> None:
        if dq is None:
            r = Quaternion(*vector(rotation, 4, "A rotation (w, x, y, z)"))
            self.dq = pose(r, pure(*vector(translation, 3, "A translation")))
        else:
            self.dq = dq if isinstance(dq, DQ) else DQ(vector(dq, 8, "A pose (vec8)"))
        if not is_unit(self.dq, UNIT_TOLERANCE):
            raise Error(
                f"A pose needs a unit dual quaternion, found {self.dq!r}: use dqdyn.normalize first.",
                found=self.dq,
            )

    @property
    def rotation(self) -> np.ndarray:
        """Unit quaternion (w, x, y, z), shape (..., 4)."""
        return self.dq.vec4()

    @property
    def translation(self) -> np.ndarray:
        """Position of the frame's origin in m, shape (..., 3)."""
        return stack(position(self.dq).vector)

    @property
    def rotation_matrix(self) -> np.ndarray:
        """Shape (..., 3, 3)."""
        return rotation_matrix(self.dq)

    @property
    def matrix(self) -> np.ndarray:
        """Homogeneous transformation, shape (..., 4, 4)."""
        result = np.zeros((*self.shape, 4, 4))
        result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = self.rotation_matrix, self.translation, 1.0
        return result

    @classmethod
    def from_matrix(cls, matrix: Any) -> Pose:
        """The pose of a homogeneous transformation (4, 4) or a rotation matrix (3, 3); numbers, not a batch."""
        m = np.asarray(matrix, dtype=float)
        if m.shape not in ((3, 3), (4, 4)):
            raise Error(f"A rotation is (3, 3) and a transformation (4, 4); found shape {m.shape}.", found=m.shape)
        r = m[:3, :3]
        if not np.allclose(r @ r.T, np.eye(3), atol=UNIT_TOLERANCE) or np.linalg.det(r) < 0:
            raise Error("The 3×3 part is not a rotation matrix: it must be orthogonal with determinant 1.")
        translation = m[:3, 3] if m.shape == (4, 4) else np.zeros(3)
        return cls(rotation=quaternion_from_matrix(r), translation=translation)

    def inverse(self) -> Pose:
        """x_ba of x_ab."""
        return Pose.of(self.dq.conj())

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Pose):
            return Pose.of(self.dq * other.dq)
        moved = getattr(other, "moved_by", None)
        return moved(self) if moved else NotImplemented

    def __repr__(self) -> str:
        return f"Pose(rotation={self.rotation.round(6).tolist()}, translation={self.translation.round(6).tolist()})"


def quaternion_from_matrix(r: np.ndarray) -> list[float]:
    """(w, x, y, z) of a rotation matrix, w ≥ 0 up to rounding, by its largest component (Shepperd's method)."""
    t = np.trace(r)
    squares = np.array([1 + t, *(1 + 2 * r[i, i] - t for i in range(3))])
    k = int(np.argmax(squares))
    s = 2 * np.sqrt(squares[k])
    x, y, z = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    xy, xz, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    big = s / 4
    q = [
        (big, x / s, y / s, z / s),
        (x / s, big, xy / s, xz / s),
        (y / s, xy / s, big, yz / s),
        (z / s, xz / s, yz / s, big),
    ][k]
    sign = -1.0 if q[0] < 0 else 1.0
    return [sign * float(c) for c in q]


class _Screw(Value):
    """Shared by twists and wrenches: a pure dual quaternion moved by Ad."""

    __slots__ = ()

    def vec6(self) -> np.ndarray:
        """Shape (..., 6)."""
        return self.dq.vec6()

    def moved_by(self: V, x: Pose) -> V:
        return type(self).of(Adjoint(x.dq)(self.dq))

    def __add__(self: V, other: V) -> V:
        return type(self).of(self.dq + other.dq)

    def __sub__(self: V, other: V) -> V:
        return type(self).of(self.dq - other.dq)

    def __neg__(self: V) -> V:
        return type(self).of(-self.dq)

    def __mul__(self: V, scalar: Any) -> V:
        return type(self).of(self.dq * scalar)

    __rmul__ = __mul__


class Twist(_Screw):
    """ω + εv [Silva, eq. (5)] of a body: ``Twist(angular=..., linear=...)`` or ``Twist(vec6)`` with vec6 = [ω, v].

    A twist has a body, a reference frame and a frame of expression; moving it by a pose changes the last.
    """

    __slots__ = ()

    def __init__(self, vec6: Any = None, *, angular: Any = (0.0,) * 3, linear: Any = (0.0,) * 3) -> None:
        parts = (
            vector(vec6, 6, "A twist [ω, v]")
            if vec6 is not None
            else vector(angular, 3, "An angular velocity") + vector(linear, 3, "A linear velocity")
        )
        self.dq = DQ.of(pure(*parts[:3]), pure(*parts[3:]))

    @property
    def angular(self) -> np.ndarray:
        """ω in rad/s, shape (..., 3)."""
        return stack(self.dq.primary.vector)

    @property
    def linear(self) -> np.ndarray:
        """v in m/s, shape (..., 3)."""
        return stack(self.dq.dual.vector)

    def power(self, wrench: Wrench) -> Any:
        """⟨ω, τ⟩ + ⟨v, f⟩ in W; both must be expressed in the same frame. The result does not depend on which."""
        return (self.angular * wrench.torque).sum(-1) + (self.linear * wrench.force).sum(-1)

    def __repr__(self) -> str:
        return f"Twist(angular={self.angular.tolist()}, linear={self.linear.tolist()})"


class Wrench(_Screw):
    """f + ετ: ``Wrench(force=..., torque=...)`` or ``Wrench(vec6)`` with vec6 = [f, τ]."""

    __slots__ = ()

    def __init__(self, vec6: Any = None, *, force: Any = (0.0,) * 3, torque: Any = (0.0,) * 3) -> None:
        parts = (
            vector(vec6, 6, "A wrench [f, τ]")
            if vec6 is not None
            else vector(force, 3, "A force") + vector(torque, 3, "A torque")
        )
        self.dq = DQ.of(pure(*parts[:3]), pure(*parts[3:]))

    @property
    def force(self) -> np.ndarray:
        """f in N, shape (..., 3)."""
        return stack(self.dq.primary.vector)

    @property
    def torque(self) -> np.ndarray:
        """τ in N m, shape (..., 3)."""
        return stack(self.dq.dual.vector)

    def __repr__(self) -> str:
        return f"Wrench(force={self.force.tolist()}, torque={self.torque.tolist()})"
