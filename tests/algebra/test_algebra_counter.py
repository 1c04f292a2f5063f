"""Counters: the costs of the algebra, counted by hand."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from algebra_cases import CASES

from dqdyn.algebra import scalar
from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.counter import Counted, Tally, counters
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, pure

FREE = [
    *("P", "D", "Re", "Im", "conj", "sharp", "conj_sharp", "swap", "vec3", "vec4", "vec6", "vec8"),
    *("hamiplus4", "haminus4", "hamiplus8", "haminus8", "h_plus", "h_minus", "h8_plus", "h8_minus", "crossmatrix4"),
    *("-DQ", "-quaternion", "quaternion.conj", "pure", "inertia_rows"),
]
BY_HAND: dict[str, dict[str, int]] = {
    **{name: {} for name in FREE},
    "quaternion + quaternion": {"add": 4},
    "quaternion - quaternion": {"add": 4},
    "quaternion * quaternion": {"mul": 16, "add": 12},
    "quaternion * scalar": {"mul": 4},
    "scalar * quaternion": {"mul": 4},
    "quaternion.norm_squared": {"mul": 4, "add": 3},
    "quaternion.norm": {"mul": 4, "add": 3, "sqrt": 1},
    "quaternion.inverse": {"mul": 8, "add": 3, "div": 1},
    "DQ + DQ": {"add": 8},
    "DQ - DQ": {"add": 8},
    "DQ * DQ": {"mul": 48, "add": 40},  # three products of quaternions and a sum
    "DQ * scalar": {"mul": 8},
    "scalar * DQ": {"mul": 8},
    "dot3": {"mul": 3, "add": 2},
    "cross3": {"mul": 6, "add": 3},
    "dot": {"mul": 9, "add": 7},
    "cross": {"mul": 18, "add": 12},  # three products of vectors and a sum
    "geodesic": {"mul": 6, "add": 5},
    "rotation_columns": {"mul": 9, "add": 15},  # three doublings, nine products, twelve sums
    "combine": {"mul": 9, "add": 6},
    "rotate": {"mul": 18, "add": 21},
    "position": {"mul": 15, "add": 9},
    "rotation_matrix": {"mul": 9, "add": 15},
    "Ad": {"mul": 96, "add": 80},  # two products of dual quaternions
    "Adsharp": {"mul": 96, "add": 80},
    "Adjoint": {"mul": 48, "add": 42},  # 24 and 24 to prepare, 24 and 18 to apply: half of the sandwich
    "Adjoint.rotate": {"mul": 33, "add": 30},
    "T4": {"mul": 16, "add": 12},
    "T8": {"mul": 64, "add": 56},
    "L3": {"mul": 9, "add": 6},
    "G": {"mul": 12, "add": 6},
    "translator": {"mul": 3},
    "world_twist": {"mul": 6, "add": 6},
    "pose_rate": {"mul": 56, "add": 40},
    "twist_of_rate": {"mul": 56, "add": 40},
    "adjoint_rate": {"mul": 210, "add": 180},
}


@pytest.mark.parametrize("name", BY_HAND)
def test_counts_by_hand(name: str) -> None:
    case = next(c for c in CASES if c.name == name)
    sizes = [len(a.coefficients(np.ones(a.parameters))) for a in case.arguments]
    tally = Tally()
    case.function(*(a.build(counters(n, tally)) for a, n in zip(case.arguments, sizes, strict=True)))
    assert tally == Tally(**BY_HAND[name])


def test_applying_a_prepared_adjoint() -> None:
    """Three 3×3 products cost 27 and 21; the cross product with the translation saves three of each."""
    tally = Tally()
    x = DQ(counters(8, tally))
    adjoint = Adjoint(x)
    assert (tally.mul, tally.add) == (24, 24)
    prepared = Tally(**asdict(tally))
    adjoint(DQ.of(pure(*counters(3, tally)), pure(*counters(3, tally))))
    assert (tally.mul - prepared.mul, tally.add - prepared.add) == (24, 18)


def test_every_operation_is_counted_once() -> None:
    tally = Tally()
    a, b = counters(2, tally)
    a + b, a - b, 1.0 + a, 1.0 - a, a - 1.0
    assert tally.add == 5
    a * b, 2.0 * a, a * 2.0
    assert tally.mul == 3
    a / b, 1.0 / a, scalar.divide(a, b), scalar.divide(1.0, b)
    assert tally.div == 4
    scalar.sqrt(a)
    scalar.sin(a)
    scalar.cos(a)
    assert (tally.sqrt, tally.sincos) == (1, 2)
    scalar.atan2(1.0, a)
    scalar.select(scalar.less(a, 0.0), 1.0, b)
    assert tally.other == 3
    assert tally.total == 5 + 3 + 4 + 1 + 2 + 3
    assert isinstance(-a, Counted)
    assert tally.total == 18
    assert repr(a) == f"Counted({tally})"


def test_counters_leave_other_types_alone() -> None:
    c = Counted(Tally())
    assert isinstance(c * Quaternion(1.0, 2.0, 3.0, 4.0), Quaternion)
    assert isinstance(c + DQ([1.0]), DQ)
    with pytest.raises(TypeError):
        c * "two"
