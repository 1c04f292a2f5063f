"""Every public function of the algebra with makers of its arguments, so that one test runs all of them on one scalar.

An argument is made from free parameters: ``coefficients`` takes them to the numbers that the function sees (a unit
quaternion from any four numbers, for example), ``build`` takes those numbers, or symbols in their place, to the
argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra import (
    adjoint,
    checks,
    dual,
    exponential,
    exponential_jacobians,
    hamilton,
    inertia_maps,
    parts,
    pose_derivatives,
    poses,
    products,
    quaternion,
    rates,
    removable,
)
from dqdyn.algebra import functions as f
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import select

MODULES = (
    adjoint,
    checks,
    dual,
    exponential,
    exponential_jacobians,
    hamilton,
    inertia_maps,
    parts,
    pose_derivatives,
    poses,
    products,
    quaternion,
    rates,
    removable,
)


@dataclass(frozen=True)
class Argument:
    parameters: int
    build: Callable[[Sequence[Any]], Any]
    coefficients: Callable[[np.ndarray], np.ndarray] = lambda p: p


def _unit(p: np.ndarray) -> np.ndarray:
    return p / np.linalg.norm(p, axis=-1, keepdims=True)


def _hamilton(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    w = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, v], axis=-1)


def _pose(p: np.ndarray) -> np.ndarray:
    """vec8 from any four numbers for the rotation and three for the translation."""
    r = _unit(p[..., :4])
    t = np.concatenate([np.zeros_like(p[..., :1]), p[..., 4:]], axis=-1)
    return np.concatenate([r, _hamilton(t, r) / 2], axis=-1)


def _angle(p: np.ndarray) -> np.ndarray:
    """cos α and sin² α, with α far from the switches of the series."""
    a = 1.2 + 0.2 * np.sin(p)
    return np.concatenate([np.cos(a), np.sin(a) ** 2], axis=-1)


def _symmetric(c: Sequence[Any]) -> list[list[Any]]:
    xx, yy, zz, xy, xz, yz = c
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _dq(c: Sequence[Any]) -> DQ:
    return DQ.of(Quaternion(*c[:4]), Quaternion(*c[4:]))


def _pures(c: Sequence[Any]) -> tuple[Quaternion, Quaternion, Quaternion]:
    return pure(*c[:3]), pure(*c[3:6]), pure(*c[6:])


DQ_ = Argument(8, _dq)
POSE = Argument(7, _dq, _pose)
PURE = Argument(6, lambda c: DQ.of(pure(*c[:3]), pure(*c[3:])))
QUATERNION_DQ = Argument(4, lambda c: DQ.of(Quaternion(*c)))
UNIT_DQ = Argument(4, lambda c: DQ.of(Quaternion(*c)), _unit)
QUATERNION = Argument(4, lambda c: Quaternion(*c))
UNIT = Argument(4, lambda c: Quaternion(*c), _unit)
VECTOR = Argument(3, lambda c: pure(*c))
TRIPLE = Argument(3, tuple)
SCALAR = Argument(1, lambda c: c[0])
POSITIVE = Argument(1, lambda c: c[0], lambda p: 1.0 + p**2)
COSINE_AND_SQUARE = Argument(1, tuple, _angle)
TENSOR = Argument(6, _symmetric)
ROWS = Argument(6, lambda c: f.inertia_rows(_symmetric(c)))
COLUMNS = Argument(9, _pures)
IMAGES4 = Argument(16, lambda c: tuple(DQ.of(Quaternion(*c[4 * i : 4 * i + 4])) for i in range(4)))
IMAGES8 = Argument(64, lambda c: tuple(_dq(c[8 * i : 8 * i + 8]) for i in range(8)))

NUMBERS = frozenset({"numbers"})
FIRST = frozenset({(0, 0)})
ALL = frozenset({"numbers", "sympy", "casadi", "jet", "counted"})


@dataclass(frozen=True)
class Case:
    name: str
    function: Callable[..., Any]
    arguments: tuple[Argument, ...]
    scalars: frozenset[str] = ALL
    symbolic: frozenset[tuple[int, int]] | None = None
    """Which coefficients (argument, place) become symbols in SymPy; None for all, which can take it minutes."""


def _named(module: Any, names: str, *arguments: Argument, **options: Any) -> list[Case]:
    return [Case(name, getattr(module, name), arguments, **options) for name in names.split()]


CASES = [
    *_named(f, "P D Re Im conj sharp conj_sharp norm normalize inv vec3 vec4 vec6 vec8 swap", DQ_),
    *_named(f, "hamiplus8 haminus8 h8_plus h8_minus generalized_jacobian", DQ_),
    *_named(f, "hamiplus4 haminus4 h_plus h_minus crossmatrix4", QUATERNION_DQ),
    *_named(hamilton, "plus_rows minus_rows", QUATERNION),
    Case("matrix_of_rows", lambda t: hamilton.matrix_of_rows([[*t], [*t]]), (TRIPLE,)),
    *_named(f, "C4 C8 zero_twist"),
    *_named(dual, "as_dq", SCALAR),
    *_named(f, "cross dot geodesic", PURE, PURE),
    *_named(f, "dec_mult", POSE, POSE),
    *_named(f, "T4", IMAGES4, QUATERNION_DQ),
    *_named(f, "T8", IMAGES8, DQ_),
    *_named(f, "pose", UNIT, VECTOR),
    *_named(f, "translator", VECTOR),
    *_named(
        f, "position rotation translation tplus pinv rotation_angle rotation_axis rotation_matrix log screw_log", POSE
    ),
    *_named(f, "Q8", POSE, symbolic=FIRST),
    *_named(f, "Q4", UNIT_DQ, symbolic=FIRST),
    *_named(f, "A_D A_P Ad Adsharp", POSE, PURE),
    *_named(f, "exp screw_exp", PURE),
    *_named(f, "pow screw_pow", POSE, SCALAR, symbolic=FIRST | {(1, 0)}),
    *_named(f, "sclerp", POSE, POSE, SCALAR, symbolic=frozenset({(2, 0)})),
    *_named(f, "L3", ROWS, VECTOR),
    *_named(f, "G", SCALAR, ROWS, PURE),
    *_named(f, "inertia_rows", TENSOR),
    *_named(f, "isclose", DQ_, DQ_, scalars=NUMBERS),
    Case("Adjoint", lambda x, y: f.Adjoint(x)(y), (POSE, PURE)),
    Case("Adjoint.rotate", lambda x, v: f.Adjoint(x).rotate(v), (POSE, VECTOR)),
    *_named(checks, "is_unit", POSE, scalars=NUMBERS),
    *_named(
        checks, "is_line is_plane is_pure is_real is_quaternion is_real_number is_pure_quaternion", DQ_, scalars=NUMBERS
    ),
    Case("require_unit", lambda x: checks.require_unit(x, "a test"), (POSE,)),
    Case("require_pure", lambda x: checks.require_pure(x, "a test"), (PURE,)),
    *_named(quaternion, "real", SCALAR),
    *_named(quaternion, "dot4", QUATERNION, QUATERNION),
    *_named(quaternion, "pure", SCALAR, SCALAR, SCALAR),
    *_named(quaternion, "dot3 cross3", VECTOR, VECTOR),
    *_named(quaternion, "rotation_columns", UNIT),
    *_named(quaternion, "combine", COLUMNS, VECTOR),
    *_named(quaternion, "rotate", UNIT, VECTOR),
    *_named(removable, "cos_root sinc_root sinc_slope_root sine_gap_root sine_gap_slope_root", POSITIVE),
    *_named(removable, "cotangent_gap_root cotangent_gap_slope_root", POSITIVE),
    Case("carried_back", lambda x, y: exponential_jacobians.carried_back(x)(y), (PURE, PURE)),
    Case("right_jacobian", lambda x, y: exponential_jacobians.right_jacobian(x)(y), (PURE, PURE)),
    Case("right_jacobian_inverse", lambda x, y: exponential_jacobians.right_jacobian_inverse(x)(y), (PURE, PURE)),
    Case("angle_over_sine", lambda a: removable.angle_over_sine(*a), (COSINE_AND_SQUARE,)),
    Case("log_slope", lambda a: removable.log_slope(*a), (COSINE_AND_SQUARE,)),
    Case("is_full_turn", lambda c, s: select(removable.is_full_turn(c, s), s, c), (SCALAR, POSITIVE)),
    Case("both", lambda a, b: select(removable.both(a < b, b < 9.0), a, b), (SCALAR, SCALAR), NUMBERS),
    Case("unit_or", lambda v: removable.unit_or(v, (0.0, 0.0, 1.0)), (TRIPLE,)),
    *_named(removable, "safe_ratio", SCALAR, POSITIVE),
    *_named(rates, "pose_rate", PURE, POSE),
    *_named(rates, "twist_of_rate", POSE, DQ_),
    *_named(rates, "world_twist", VECTOR, VECTOR, VECTOR),
    *_named(rates, "adjoint_rate", POSE, PURE, PURE, PURE),
    *_named(rates, "pow_rate", POSE, DQ_, SCALAR, symbolic=FIRST | {(1, 3), (2, 0)}),
    Case("DQ + DQ", lambda a, b: a + b, (DQ_, DQ_)),
    Case("DQ - DQ", lambda a, b: a - b, (DQ_, DQ_)),
    Case("DQ * DQ", lambda a, b: a * b, (DQ_, DQ_)),
    Case("DQ / DQ", lambda a, b: a / b, (DQ_, DQ_)),
    Case("DQ * scalar", lambda a, s: a * s, (DQ_, SCALAR)),
    Case("scalar * DQ", lambda a, s: s * a, (DQ_, SCALAR)),
    Case("DQ / scalar", lambda a, s: a / s, (DQ_, POSITIVE)),
    Case("scalar / DQ", lambda a, s: s / a, (DQ_, SCALAR)),
    Case("DQ + scalar", lambda a, s: a + s, (DQ_, SCALAR)),
    Case("scalar - DQ", lambda a, s: s - a, (DQ_, SCALAR)),
    Case("-DQ", lambda a: -a, (DQ_,)),
    Case("DQ of a list", lambda a: DQ(list(a.components)), (DQ_,), ALL - {"numbers"}),
    Case("quaternion + quaternion", lambda a, b: a + b, (QUATERNION, QUATERNION)),
    Case("quaternion - quaternion", lambda a, b: a - b, (QUATERNION, QUATERNION)),
    Case("quaternion * quaternion", lambda a, b: a * b, (QUATERNION, QUATERNION)),
    Case("quaternion * scalar", lambda a, s: a * s, (QUATERNION, SCALAR)),
    Case("scalar * quaternion", lambda a, s: s * a, (QUATERNION, SCALAR)),
    Case("-quaternion", lambda a: -a, (QUATERNION,)),
    Case("quaternion.conj", lambda a: a.conj(), (QUATERNION,)),
    Case("quaternion.norm", lambda a: a.norm(), (QUATERNION,)),
    Case("quaternion.norm_squared", lambda a: a.norm_squared(), (QUATERNION,)),
    Case("quaternion.inverse", lambda a: a.inverse(), (QUATERNION,)),
]


def flatten(result: Any, batch: tuple[int, ...] = ()) -> list[Any]:
    """All scalars of a result, in order; those of a batched array have the batch's shape."""
    if isinstance(result, (DQ, Quaternion)):
        return list(result.components)
    if isinstance(result, (tuple, list)):
        return [c for part in result for c in flatten(part, batch)]
    if isinstance(result, np.ndarray) and result.shape != batch:
        if batch and result.shape[: len(batch)] == batch:
            trailing = result.reshape(*batch, -1)
            return [trailing[..., i] for i in range(trailing.shape[-1])]
        return list(result.flat)
    return [result]
