"""The cost tables of [Farias, section 6]: what the paper prints beside what its own steps cost on counters.

Storage is the number of floats of the operands, as the paper defines it. Negations and the rearranging of components
cost nothing; sines and cosines are left out, as the paper leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add, mul
from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.hamilton import T4, T8, h_plus
from dqdyn.algebra.products import cross, dot, geodesic
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3
from dqdyn.algebra.scalar import Scalar
from dqdyn.analysis.costs.operands import KINDS, Operands, count_step, require_joints
from dqdyn.dynamics.formulations.literal import farias as steps


@dataclass(frozen=True)
class Cost:
    """Floats of the operands, multiplications and divisions, additions and subtractions [Farias, eq. (79)]."""

    storage: int
    mul: int
    add: int

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.storage + other.storage, self.mul + other.mul, self.add + other.add)

    def times(self, n: int) -> Cost:
        """n times the same."""
        return Cost(self.storage * n, self.mul * n, self.add * n)


@dataclass(frozen=True)
class Row:
    """One line of a table: the paper's cost (None where it has no such line), ours, and why they differ if they do."""

    name: str
    printed: Cost | None
    counted: Cost
    reason: str = ""


_CROSS = "a cross product is 6 and 3; three of those and a sum are table 3's 18 and 12"
_SANDWICH = "r p r* is two products of quaternions; by the images of the basis it is 18 and 21"
_INNER = "printed is the double geodesic product; the inner product is a dual number, 9 and 7"
_HAMILTON = "three linear maps of 16 and 12 and a sum of 4; the operands are two dual quaternions"
_ONE_POSE = "the operand is one pose of 8 floats"
_ADJOINT = (
    "(36) is three 3×3 products of 9 and 6 and a sum of 3; the six columns of A_P, A_D are pure, 18 floats, not 24"
)
_RUNNING = "a product has two poses for operands, the print counts one"
_PARAMETERS = "the paper gives no steps: three products of dual quaternions; each has two poses for operands"
_AS_ABOVE = "as in the lines above"
_EXPONENTIAL = (
    "in Algorithm 1 where the table has (39): the same product, and exp(a Δθ/2) with 7 and 1 beside sin and cos"
)
_WHOLE = "table 4 with (36) as counted, and with (38) for (39)"


def farias_table_2() -> list[Row]:
    """Operations of quaternions [Farias, table 2]."""
    return [
        _row("addition", (8, 0, 4), add, "quaternion", "quaternion"),
        _row("multiplication by scalar", (5, 4, 0), mul, "scalar", "quaternion"),
        _row("multiplication", (8, 16, 12), mul, "quaternion", "quaternion"),
        _row("cross product", (6, 9, 5), cross3, "vector", "vector", reason=_CROSS),
        _row("inner product", (6, 3, 2), dot3, "vector", "vector"),
        _row("linear map T4 (20)", (20, 16, 12), _t4, "images 4", "quaternion"),
        _row("Hamilton operator (23)", (8, 16, 12), lambda a, b: _t4(_h4(a), b), "quaternion", "quaternion"),
        _row("adjoint", (7, 20, 28), lambda r, p: r * p * r.conj(), "quaternion", "vector", reason=_SANDWICH),
    ]


def farias_table_3() -> list[Row]:
    """Operations of dual quaternions [Farias, table 3]."""
    return [
        _row("addition", (16, 0, 8), add, "dual", "dual"),
        _row("multiplication by scalar", (9, 8, 0), mul, "scalar", "dual"),
        _row("multiplication", (16, 48, 40), mul, "dual", "dual"),
        _row("cross product (6)", (12, 18, 12), cross, "pure", "pure"),
        _row("inner product", (12, 6, 5), dot, "pure", "pure", reason=_INNER),
        _row("double geodesic product (7)", (12, 6, 5), geodesic, "pure", "pure"),
        _row("linear map T8", (72, 64, 56), T8, "images 8", "dual"),
        _row("Hamilton operator (24)", (28, 48, 48), _hamilton8, "dual", "dual", reason=_HAMILTON),
        _row("construction of A_P, A_D", (12, 108, 72), steps.adjoint_maps, "dual", reason=_ONE_POSE),
        _row("adjoint (36)", (30, 27, 30), steps.adjoint_by_maps, "maps", "pure", reason=_ADJOINT),
    ]


def farias_table_4() -> list[Row]:
    """Steps of the algorithm for one joint, by screws and by Denavit-Hartenberg parameters [Farias, table 4].

    The last line is not in the table: it is the step that Algorithm 1 has where the table has (39).
    """
    chain = _row("(39)", (8, 48, 40), mul, "dual", "dual", reason=_RUNNING)
    by_parameters = Row("(39), D-H", Cost(24, 144, 120), chain.counted.times(3), _PARAMETERS)
    accelerated = ("axes", "list 1", "maps", "pure", "pure", "list 1")
    common = [
        _row("(34), (35)", (12, 108, 72), steps.adjoint_maps, "dual", reason=_ONE_POSE),
        _row("(40)", (37, 33, 36), steps.twist, "axes", "list 1", "maps", "pure", reason=_ADJOINT),
        _row("(44)", (44, 57, 54), steps.twist_rate, *accelerated, reason=_ADJOINT),
        _row("(45)", (22, 42, 30), steps.resultant, "scalar", "columns", "pure", "pure"),
        _row("(46)", (36, 27, 36), steps.transmitted, "pure", "maps", "pure", reason=_ADJOINT),
        _row("(48)", (12, 6, 5), steps.force, "pure", "pure"),
    ]
    return [
        chain,
        *common,
        Row("total", Cost(171, 321, 273), _sum([chain, *common]), _AS_ABOVE),
        by_parameters,
        Row("total, D-H", Cost(187, 417, 353), _sum([by_parameters, *common]), _AS_ABOVE),
        Row("(38)", None, _count(_screw_pose, "dual", "pure", "scalar", "scalar"), _EXPONENTIAL),
    ]


def farias_total(n: int) -> Row:
    """The whole of Algorithm 1 for n joints, run at once, against n times the total of [Farias, table 4]."""
    require_joints(n)
    c = Operands()
    links = []
    for k in range(n):
        axis = c("pure")
        motion = steps.exponential(axis, *c(2))
        links.append(steps.ScrewLink(k - 1, c("dual"), motion, [(k, axis)], [], c("scalar"), c("columns")))
    steps.algorithm_1(links, c(n), c(n), c("pure"), {n - 1: (c("maps"), c("pure"))})
    rows = {row.name: row.counted for row in farias_table_4()}
    storage = rows["total"].storage - rows["(39)"].storage + rows["(38)"].storage
    printed = Cost(171, 321, 273).times(n)
    return Row(f"total, n = {n}", printed, Cost(storage * n, c.tally.mul + c.tally.div, c.tally.add), _WHOLE)


# --- counting ---------------------------------------------------------------------------------------------------------


def _count(step: Callable[..., Any], *kinds: str) -> Cost:
    tally = count_step(step, *kinds)
    return Cost(sum(KINDS[kind][0] for kind in kinds), tally.mul + tally.div, tally.add)


def _row(name: str, printed: tuple[int, int, int], step: Callable[..., Any], *kinds: str, reason: str = "") -> Row:
    return Row(name, Cost(*printed), _count(step, *kinds), reason)


def _sum(rows: Sequence[Row]) -> Cost:
    return sum((row.counted for row in rows), Cost(0, 0, 0))


def _screw_pose(home: DQ, axis: DQ, angle: Scalar, home_angle: Scalar) -> DQ:
    return steps.joint_pose(home, steps.exponential(axis, angle, home_angle))


def _t4(images: tuple[DQ, ...], q: Quaternion) -> Quaternion:
    return T4(images, DQ.of(q)).primary


def _h4(a: Quaternion) -> tuple[DQ, ...]:
    return h_plus(DQ.of(a))


def _hamilton8(a: DQ, b: DQ) -> DQ:
    """h⁺(a) b as [Farias, eq. (24)] writes it: three maps of quaternions."""
    primary, dual = _h4(a.primary), _h4(a.dual)
    return DQ.of(_t4(primary, b.primary), _t4(primary, b.dual) + _t4(dual, b.primary))
