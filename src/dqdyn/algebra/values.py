"""Poses, twists and wrenches as values with meaning, for users; algorithms work on ``DQ``."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.checks import UNIT_TOLERANCE, require_unit
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose, position, rotation_matrix
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.real import real_array, scalar_array
from dqdyn.algebra.scalar import is_scalar, stack, unstack
from dqdyn.errors import Error

V = TypeVar("V", bound="Value")


class Value:
    """A frozen value backed by a dual quaternion ``dq``; batches have a leading shape."""

    __array_ufunc__ = None  # so that array * value asks the value
    __slots__ = ("_dq", "_vec8")
    _vec8: np.ndarray | None  # vec8 where the value came as an array; the dual quaternion is made when it is asked for
    _dq: DQ | None

    @classmethod
    def of(cls: type[V], dq: DQ) -> V:
        """The value of a dual quaternion, unchecked."""
        new = object.__new__(cls)
        new._dq, new._vec8 = dq, None
        return new

    @classmethod
    def of_array(cls: type[V], vec8: np.ndarray) -> V:
        """The value of coefficients of shape (..., 8), unchecked."""
        new = object.__new__(cls)
        new._dq, new._vec8 = None, vec8
        return new

    @property
    def dq(self) -> DQ:
        """The dual quaternion behind the value."""
        if self._dq is None:
            assert self._vec8 is not None
            parts = unstack(self._vec8, 8)
            self._dq = DQ.of(Quaternion(*parts[:4]), Quaternion(*parts[4:]))
        return self._dq

    @dq.setter
    def dq(self, dq: DQ) -> None:
        self._dq, self._vec8 = dq, None

    def vec8(self) -> np.ndarray:
        """Coefficients, shape (..., 8)."""
        return self.dq.vec8() if self._vec8 is None else self._vec8.copy()

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading shape of the batch; () for one value."""
        return self.dq.shape

    def __getitem__(self: V, index: Any) -> V:
        """Part of a batch."""
        if not self.shape:
            raise Error(f"One {type(self).__name__} has no elements to index; only batches have.")
        shape = self.shape  # components that do not vary are kept as one number
        return type(self).of(DQ(np.stack([np.broadcast_to(c, shape)[index] for c in self.dq.components], axis=-1)))

    def __eq__(self, other: object) -> bool:
        return self.dq == other.dq if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.dq)

    def __reduce__(self) -> Any:
        return type(self).of, (self.dq,)


def vector(value: Any, size: int, what: str) -> list[Any]:
    """Components of an array-like of shape (..., size), checked: size, NaN and infinity."""
    array = scalar_array(value, what)
    if array.ndim == 0 or array.shape[-1] != size or (array.dtype == object and array.ndim > 1):
        raise Error(f"{what} has {size} components; found shape {array.shape}.", expected=size, found=array.shape)
    if array.dtype != object and not np.isfinite(array).all():
        raise Error(f"{what} must be finite; found {array}.", found=array)
    return unstack(array, size)


def only_one(what: str, whole: Any, *parts: Any) -> None:
    """An :class:`Error` where both the whole and some of its parts are given."""
    if whole is not None and any(part is not None for part in parts):
        raise Error(f"A {what} is given by all its coefficients or by its parts, not by both.")


def one_batch(what: str, *parts: list[Any]) -> None:
    """An :class:`Error` where the parts are batches of shapes that do not fit together."""
    shapes = [np.shape(part[0]) if isinstance(part[0], np.ndarray) else () for part in parts]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise Error(f"The parts of a {what} are batches of different shapes {shapes}.", found=shapes) from error


class Pose(Value):
    """The pose x = r + ½ε p r of a frame: ``Pose(rotation=[w, x, y, z], translation=[x, y, z])`` or ``Pose(vec8)``.

    ``a * b`` chains poses; ``x * thing`` moves a point, line, plane, twist or wrench from frame b to a for x = x_ab.
    """

    __slots__ = ()

    def __init__(self, dq: Any = None, *, rotation: Any = None, translation: Any = None) -> None:
        only_one("pose", dq, rotation, translation)
        if dq is None:
            r = vector((1.0, 0.0, 0.0, 0.0) if rotation is None else rotation, 4, "A rotation (w, x, y, z)")
            p = vector((0.0, 0.0, 0.0) if translation is None else translation, 3, "A translation")
            one_batch("pose", r, p)
            self.dq = pose(Quaternion(*r), pure(*p))
        elif isinstance(dq, DQ):
            self.dq = dq
        else:
            parts = vector(dq, 8, "A pose (vec8)")
            self.dq = DQ.of(Quaternion(*parts[:4]), Quaternion(*parts[4:]))
        require_unit(self.dq, "A pose")

    @property
    def rotation(self) -> np.ndarray:
        """Unit quaternion (w, x, y, z), shape (..., 4)."""
        return stack(self.dq.primary.components, batch=self.shape)

    @property
    def translation(self) -> np.ndarray:
        """Position of the frame's origin in m, shape (..., 3)."""
        return stack(position(self.dq).vector, batch=self.shape)

    @property
    def rotation_matrix(self) -> np.ndarray:
        """Shape (..., 3, 3)."""
        return np.array(np.broadcast_to(rotation_matrix(self.dq), (*self.shape, 3, 3)))

    @property
    def matrix(self) -> np.ndarray:
        """Homogeneous transformation, shape (..., 4, 4)."""
        result = np.zeros((*self.shape, 4, 4))
        result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = self.rotation_matrix, self.translation, 1.0
        return result

    @classmethod
    def from_matrix(cls, matrix: Any) -> Pose:
        """The pose of a homogeneous transformation (4, 4) or a rotation matrix (3, 3); numbers, not a batch."""
        m = real_array(matrix, "A transformation matrix")
        if m.shape not in ((3, 3), (4, 4)):
            raise Error(f"A rotation is (3, 3) and a transformation (4, 4); found shape {m.shape}.", found=m.shape)
        r = m[:3, :3]
        if not np.allclose(r @ r.T, np.eye(3), rtol=0.0, atol=UNIT_TOLERANCE) or np.linalg.det(r) < 0:
            raise Error("The 3×3 part is not a rotation matrix: it must be orthogonal with determinant 1.", found=r)
        if m.shape == (4, 4) and not np.allclose(m[3], (0.0, 0.0, 0.0, 1.0), rtol=0.0, atol=UNIT_TOLERANCE):
            raise Error(f"The last row of a transformation is (0, 0, 0, 1); found {m[3]}: is it transposed?", found=m)
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


def screw(what: str, vec6: Any, first: tuple[Any, str], second: tuple[Any, str]) -> DQ:
    """A pure dual quaternion from six components or from two vectors, each with its name; a missing one is 0."""
    only_one(what, vec6, first[0], second[0])
    if vec6 is not None:
        parts = vector(vec6, 6, f"A {what}")
        return DQ.of(pure(*parts[:3]), pure(*parts[3:]))
    a, b = (vector((0.0, 0.0, 0.0) if v is None else v, 3, name) for v, name in (first, second))
    one_batch(what, a, b)
    return DQ.of(pure(*a), pure(*b))


class _Screw(Value):
    """Shared by twists and wrenches: a pure dual quaternion moved by Ad."""

    __slots__ = ()

    def vec6(self) -> np.ndarray:
        """Shape (..., 6)."""
        return self.dq.vec6()

    def moved_by(self: V, x: Pose) -> V:
        return type(self).of(Adjoint(x.dq)(self.dq))

    def __add__(self: V, other: V) -> V:
        return type(self).of(self.dq + other.dq) if type(other) is type(self) else NotImplemented

    def __sub__(self: V, other: V) -> V:
        return type(self).of(self.dq - other.dq) if type(other) is type(self) else NotImplemented

    def __neg__(self: V) -> V:
        return type(self).of(-self.dq)

    def __mul__(self: V, scalar: Any) -> V:
        return type(self).of(self.dq * scalar) if is_scalar(scalar) else NotImplemented

    __rmul__ = __mul__


class Twist(_Screw):
    """ω + εv [Silva, eq. (5)] of a body: ``Twist(angular=..., linear=...)`` or ``Twist(vec6)`` with vec6 = [ω, v].

    A twist has a body, a reference frame and a frame of expression; moving it by a pose changes the last.
    """

    __slots__ = ()

    def __init__(self, vec6: Any = None, *, angular: Any = None, linear: Any = None) -> None:
        self.dq = screw("twist", vec6, (angular, "An angular velocity"), (linear, "A linear velocity"))

    @property
    def angular(self) -> np.ndarray:
        """ω in rad/s, shape (..., 3)."""
        return stack(self.dq.primary.vector, batch=self.shape)

    @property
    def linear(self) -> np.ndarray:
        """v in m/s, shape (..., 3)."""
        return stack(self.dq.dual.vector, batch=self.shape)

    def power(self, wrench: Wrench) -> Any:
        """⟨ω, τ⟩ + ⟨v, f⟩ in W; both must be expressed in the same frame. The result does not depend on which."""
        return (self.angular * wrench.torque).sum(-1) + (self.linear * wrench.force).sum(-1)

    def __repr__(self) -> str:
        return f"Twist(angular={self.angular.tolist()}, linear={self.linear.tolist()})"


class Wrench(_Screw):
    """f + ετ: ``Wrench(force=..., torque=...)`` or ``Wrench(vec6)`` with vec6 = [f, τ]."""

    __slots__ = ()

    def __init__(self, vec6: Any = None, *, force: Any = None, torque: Any = None) -> None:
        self.dq = screw("wrench", vec6, (force, "A force"), (torque, "A torque"))

    @property
    def force(self) -> np.ndarray:
        """f in N, shape (..., 3)."""
        return stack(self.dq.primary.vector, batch=self.shape)

    @property
    def torque(self) -> np.ndarray:
        """τ in N m, shape (..., 3)."""
        return stack(self.dq.dual.vector, batch=self.shape)

    def __repr__(self) -> str:
        return f"Wrench(force={self.force.tolist()}, torque={self.torque.tolist()})"
