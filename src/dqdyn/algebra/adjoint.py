"""The adjoint map Ad(x) y = x y x*, which takes twists, wrenches and lines from frame to frame."""

from __future__ import annotations

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.open_pose import OpenPose
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import ZERO, Quaternion, combine, cross3, dot3, pure, rotation_columns
from dqdyn.algebra.quaternion import Columns as Columns


class Adjoint:
    """Ad(x) as a map, by the images of the basis: A_P [Farias, eq. (34)] and the translation.

    ``Adjoint(x)(y) = x y x*`` for unit x and pure y [Farias, eq. (33)] [Farias, eq. (36)]; the matrices of (34) are
    computed once. The term A_D y = p × (A_P y) of [Farias, eq. (35)] is applied as a cross product, which is cheaper.
    Maps chain as poses do: ``Adjoint(x) @ Adjoint(y)`` is ``Adjoint(x * y)``.
    """

    __slots__ = ("columns", "p")
    columns: Columns
    p: Quaternion

    def __init__(self, x: DQ) -> None:
        self.columns = x.columns if isinstance(x, OpenPose) else rotation_columns(x.primary)
        self.p = position(x)

    @classmethod
    def of(cls, columns: Columns, p: Quaternion = ZERO) -> Adjoint:
        """The map of a rotation, by the images of i, j, k, and a translation."""
        new = object.__new__(cls)
        new.columns, new.p = columns, p
        return new

    def rotate(self, v: Quaternion) -> Quaternion:
        """A_P v: the rotation alone."""
        return combine(self.columns, v)

    def rotate_back(self, v: Quaternion) -> Quaternion:
        """A_P of x* on v: the inverse rotation."""
        a, b, c = self.columns
        return pure(dot3(a, v), dot3(b, v), dot3(c, v))

    def __call__(self, y: DQ) -> DQ:
        a = self.rotate(y.primary)
        return DQ.of(a, self.rotate(y.dual) + cross3(self.p, a))

    def back(self, y: DQ) -> DQ:
        """Ad(x*) y, the inverse map."""
        return DQ.of(self.rotate_back(y.primary), self.rotate_back(y.dual - cross3(self.p, y.primary)))

    def __matmul__(self, other: Adjoint) -> Adjoint:
        a, b, c = other.columns
        return Adjoint.of((self.rotate(a), self.rotate(b), self.rotate(c)), self.p + self.rotate(other.p))

    def inverse(self) -> Adjoint:
        """Ad(x*)."""
        a, b, c = self.columns
        rows = pure(a.x, b.x, c.x), pure(a.y, b.y, c.y), pure(a.z, b.z, c.z)
        return Adjoint.of(rows, -self.rotate_back(self.p))


class Factored:
    """Ad(x y) for a constant x and a moving y, applied one after the other.

    The same map as ``Adjoint(x) @ Adjoint(y)``; cheaper where it is applied few times and both factors have zeros.
    """

    __slots__ = ("first", "p", "second")

    def __init__(self, first: Adjoint, second: Adjoint) -> None:
        self.first, self.second = first, second
        self.p = first.p + first.rotate(second.p)

    def rotate(self, v: Quaternion) -> Quaternion:
        """The rotation alone."""
        return self.first.rotate(self.second.rotate(v))

    def rotate_back(self, v: Quaternion) -> Quaternion:
        """The inverse rotation alone."""
        return self.second.rotate_back(self.first.rotate_back(v))

    def __call__(self, y: DQ) -> DQ:
        return self.first(self.second(y))

    def back(self, y: DQ) -> DQ:
        """The inverse map."""
        return self.second.back(self.first.back(y))


def A_D(x: DQ, v: DQ) -> DQ:
    """A_D(x) v = 2 Im(x_P v x_D*) [Farias, eq. (35)]; the third column there is with k, not j."""
    return DQ.of((x.primary * v.primary * x.dual.conj()) * 2.0).Im()


def A_P(x: DQ, v: DQ) -> DQ:
    """A_P(x) v = x_P v x_P* [Farias, eq. (34)]."""
    return DQ.of(combine(rotation_columns(x.primary), v.primary))


def Ad(x: DQ, y: DQ) -> DQ:
    """x y x*: takes pure y from frame b to frame a by the pose x_ab [Silva, eq. (3)] [Farias, eq. (33)]."""
    return x * y * x.conj()


def Adsharp(x: DQ, y: DQ) -> DQ:
    """x♯ y x*: takes the plane y from frame b to frame a by the pose x_ab."""
    return x.sharp() * y * x.conj()
