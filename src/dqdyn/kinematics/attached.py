"""Points, lines and planes fixed to a frame of the robot, seen from the world: values, Jacobians, rates.

A primitive is given in its frame by raw components: a point (3), a line l + εm (6: l, m), a plane n + εd (4: n, d).
Jacobians have as many rows, so that ``ȧ = J v`` for the components a in the world.
"""

from __future__ import annotations

from collections.abc import Callable

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.kinematics.frames import Matrix, rows_of_columns
from dqdyn.kinematics.tree import WorldMotion
from dqdyn.model.model import Frame, Model

Components = tuple[Scalar, ...]


def moved_point(ad: Adjoint, local: Scalars) -> Components:
    """p + Ad(r) p_local."""
    return (ad.p + ad.rotate(pure(*local))).vector


def moved_line(ad: Adjoint, local: Scalars) -> Components:
    """Ad(x) l [Quiroz, eq. (4.24)]."""
    return ad(DQ.of6(local)).vector


def moved_plane(ad: Adjoint, local: Scalars) -> Components:
    """Ad♯(x) π: the normal turns, and d grows by ⟨p, n⟩."""
    n = ad.rotate(pure(*local[:3]))
    return *n.vector, local[3] + dot3(ad.p, n)


def point_rate(twist: DQ, a: Components) -> Components:
    """v + ω × p."""
    return (twist.dual + cross3(twist.primary, pure(*a))).vector


def line_rate(twist: DQ, a: Components) -> Components:
    """ξ × l."""
    return cross(twist, DQ.of6(a)).vector


def plane_rate(twist: DQ, a: Components) -> Components:
    """ṅ = ω × n, ḋ = ⟨v, n⟩."""
    n = pure(*a[:3])
    return *cross3(twist.primary, n).vector, dot3(twist.dual, n)


Rate = Callable[[DQ, Components], Components]
MOVED = {"point": moved_point, "line": moved_line, "plane": moved_plane}
RATE: dict[str, Rate] = {"point": point_rate, "line": line_rate, "plane": plane_rate}
SIZE = {"point": 3, "line": 6, "plane": 4}


def value(kind: str, model: Model, frame: Frame, local: Scalars, q: Scalars) -> Components:
    """World components of a primitive fixed to the frame."""
    motion = WorldMotion(model, q, None, model.path(frame.body))
    return MOVED[kind](motion.frame_adjoint(frame), local)


def jacobian(kind: str, model: Model, frame: Frame, local: Scalars, q: Scalars) -> Matrix:
    """J with ȧ = J v; for lines this is the line Jacobian [Quiroz, eq. (4.25)]."""
    motion = WorldMotion(model, q, None, model.path(frame.body))
    a = MOVED[kind](motion.frame_adjoint(frame), local)
    columns = {k: RATE[kind](s, a) for k, s in motion.path_columns(frame.body).items()}
    return rows_of_columns(model.nv, columns, SIZE[kind])


def jacobian_derivative(kind: str, model: Model, frame: Frame, local: Scalars, q: Scalars, v: Scalars) -> Matrix:
    """J̇ along v, so that ä = J a + J̇ v. The rate is linear in twist and value, hence the product rule."""
    motion = WorldMotion(model, q, v, model.path(frame.body))
    a = MOVED[kind](motion.frame_adjoint(frame), local)
    a_rate = RATE[kind](motion.twist[frame.body], a)
    columns, rates = motion.path_columns(frame.body), motion.path_columns(frame.body, rates=True)
    result = {
        k: tuple(b + c for b, c in zip(RATE[kind](rates[k], a), _linear(kind, columns[k], a_rate), strict=True))
        for k in columns
    }
    return rows_of_columns(model.nv, result, SIZE[kind])


def _linear(kind: str, twist: DQ, a_rate: Components) -> Components:
    """The part of the rate that is linear in the value, applied to the value's own rate."""
    if kind == "point":
        return cross3(twist.primary, pure(*a_rate)).vector
    return RATE[kind](twist, a_rate)
