"""The cost tables of [Quiroz, section 5.5]: what the thesis prints beside what its own steps cost on counters.

Sines and cosines are left out, as the thesis leaves them out; a change of sign in a conjugate and in S(c) counts as a
multiplication, as it does there.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from dqdyn.algebra.counter import Counted, Tally
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.analysis.costs import printed as printed_costs
from dqdyn.analysis.costs.formula import Formula, Line, Operations, fitted, polynomial
from dqdyn.analysis.costs.silva_steps_count import newton_euler_operations
from dqdyn.dynamics.formulations.literal import quiroz as steps
from dqdyn.dynamics.formulations.literal.quiroz import Matrix

NOT_GIVEN = "the thesis takes the number from Adorno (2011) without steps; ours carry a twist from joint to joint"
OTHERS = "an algorithm of another author, whose steps are not given"
SILVA = "no breakdown is given; ours are the printed steps (19)–(30), which stay below the claimed upper bound"
REBUILT = (
    "Adorno's steps are not given; forward kinematics, then axis, column and running pose per joint give his number"
)
AS_PRINTED = "with C(J̇_x) as printed"
_SIZES = [{"m": m, "p": p, "r": r} for m in (1, 2, 3) for p in (1, 2, 4) for r in (1, 3)]


class _Counting:
    """Operands that count into one tally."""

    def __init__(self) -> None:
        self.tally = Tally()

    def scalar(self) -> Counted:
        return Counted(self.tally)

    def quaternion(self) -> Quaternion:
        return Quaternion(*(self.scalar() for _ in range(4)))

    def dual(self) -> DQ:
        return DQ.of(self.quaternion(), self.quaternion())

    def matrix(self, rows: int, columns: int) -> Matrix:
        return [[self.scalar() for _ in range(columns)] for _ in range(rows)]

    def vector(self, n: int) -> list[Any]:
        return [self.scalar() for _ in range(n)]

    def dh(self, n: int) -> tuple[list[steps.DHRow], list[Any], DQ]:
        return [steps.DHRow(*self.vector(3)) for _ in range(n)], self.vector(n), self.dual()


def _count(run: Callable[[_Counting], Any]) -> Tally:
    counting = _Counting()
    run(counting)
    return counting.tally


def _constant(run: Callable[[_Counting], Any]) -> Operations:
    tally = _count(run)
    return Operations.parse(str(tally.mul), str(tally.add))


def _by(variable: str, degree: int, run: Callable[[_Counting, int], Any]) -> Operations:
    return polynomial(lambda k: _count(lambda c: run(c, k)), variable, degree)


def _lines(
    printed: dict[str, tuple[str, str]], counted: dict[str, Operations], reasons: dict[str, str] | None = None
) -> list[Line]:
    given = reasons or {}
    return [
        Line(name, Operations.parse(*texts), counted.get(name), given.get(name, "")) for name, texts in printed.items()
    ]


@cache
def quiroz_table_5_1() -> tuple[Line, ...]:
    """Elementary operations [Quiroz, table 5.1]."""
    sized = lambda run, *terms: fitted(lambda m, p, r: _count(lambda c: run(c, m, p, r)), terms, _SIZES)
    counted = {
        "quaternions, C(λa)": _constant(lambda c: c.scalar() * c.quaternion()),
        "quaternions, C(Ad(a) b)": _constant(lambda c: steps.adjoint(c.quaternion(), c.quaternion())),
        "dual quaternions, C(λa)": _constant(lambda c: c.scalar() * c.dual()),
        "dual quaternions, C(Ad(a) b)": _constant(lambda c: steps.adjoint(c.dual(), c.dual())),
        "C(λA), A m×p": sized(lambda c, m, p, r: steps.scaled(c.scalar(), c.matrix(m, p)), "mp", "m", "p", ""),
        "C(A + B), m×p": sized(lambda c, m, p, r: steps.plus(c.matrix(m, p), c.matrix(m, p)), "mp", "m", "p", ""),
        "C(AB), m×p and p×r": sized(
            lambda c, m, p, r: steps.product(c.matrix(m, p), c.matrix(p, r)), "mpr", "mr", "mp", "pr", ""
        ),
        "C(S(c))": _constant(lambda c: steps.skew(c.vector(3))),
        "C(S(ω, Ψ)), (5.13)": _constant(lambda c: steps.gyroscopic(c.vector(3), c.matrix(3, 3), c.scalar())),
    }
    return tuple(_lines(printed_costs.QUIROZ_5_1, counted))


@cache
def quiroz_table_5_2() -> tuple[Line, ...]:
    """Jacobians of the centers of mass and their rates [Quiroz, table 5.2].

    Those of a body are [Quiroz, eq. (5.60)] and [Quiroz, eq. (5.62)], those of all the sums [Quiroz, eq. (5.63)] and
    [Quiroz, eq. (5.64)]. Lines that contain J̇_x take its printed cost, since the thesis does not give its steps.
    """
    of_pose = _by("i", 1, lambda c, i: steps.pose_jacobian(*c.dh(i)))
    of_rate = _by("i", 1, lambda c, i: steps.pose_jacobian_rate(c.dual(), [c.dual() for _ in range(i)], c.vector(i)))
    twist = _by("i", 1, lambda c, i: steps.product(steps.twist_rows(c.dual()), c.matrix(8, i)))
    twist_rate = _by("i", 1, lambda c, i: _twist_rate(c, i))
    adorno = Operations.parse(*printed_costs.QUIROZ_5_2["C(J̇_x) of body i"])
    counted = {
        "C(J_x) of body i": of_pose,
        "C(J̇_x) of body i": of_rate,
        "C(J_ξ) of body i": of_pose + twist,
        "C(J̇_ξ) of body i": adorno + twist_rate,
    }
    counted["C(J_ξ) of all bodies"] = _summed(counted["C(J_ξ) of body i"])
    counted["C(J̇_ξ) of all bodies"] = _summed(counted["C(J̇_ξ) of body i"])
    reasons = {"C(J_x) of body i": REBUILT, "C(J̇_x) of body i": NOT_GIVEN}
    reasons |= {"C(J̇_ξ) of body i": AS_PRINTED, "C(J̇_ξ) of all bodies": AS_PRINTED}
    return tuple(_lines(printed_costs.QUIROZ_5_2, counted, reasons))


@cache
def quiroz_table_5_3() -> tuple[Line, ...]:
    """The matrices of the equations of motion [Quiroz, table 5.3], sums as in [Quiroz, eq. (5.69)]."""
    counted = {
        "C(M_i)": _by("i", 2, lambda c, i: steps.mass_part(c.matrix(6, i), c.matrix(6, 6))),
        "C(C_i)": _by("i", 2, _coriolis_part),
        "C(g_i)": _by("i", 1, lambda c, i: steps.gravity_part(c.matrix(6, i), c.quaternion(), c.quaternion())),
        "C(M_GP)": _by("n", 3, lambda c, n: _mass(c, n)),
        "C(C_GP)": _by("n", 3, lambda c, n: _coriolis(c, n)),
        "C(g_GP)": _by("n", 2, lambda c, n: _gravity(c, n)),
    }
    return tuple(_lines(printed_costs.QUIROZ_5_3, counted))


@cache
def quiroz_table_5_4() -> tuple[Line, ...]:
    """Whole algorithms for a serial robot of n joints [Quiroz, table 5.4] [Quiroz, section 5.5.1].

    The last line is not in the table: Gauss's principle with our J̇_x.
    """
    jacobians = {line.name: line.counted for line in quiroz_table_5_2()}
    matrices = {line.name: line.counted for line in quiroz_table_5_3()}
    whole = _by(
        "n", 2, lambda c, n: steps.forces(c.matrix(n, n), c.matrix(n, n), c.vector(n), c.vector(n), c.vector(n))
    )
    for part in (matrices["C(M_GP)"], matrices["C(C_GP)"], matrices["C(g_GP)"], jacobians["C(J_ξ) of all bodies"]):
        assert part is not None
        whole = whole + part
    rate, own_rate = jacobians["C(J̇_ξ) of all bodies"], jacobians["C(J̇_x) of body i"]
    assert rate is not None
    assert own_rate is not None
    ours = whole + _summed(own_rate + _by("i", 1, lambda c, i: _twist_rate(c, i)))
    counted = {"Gauss's principle": whole + rate, "dual-quaternion Newton-Euler": newton_euler_operations()}
    others = ("classic Euler-Lagrange (Hollerbach)", "classic Newton-Euler (Balafoutis)")
    reasons = dict.fromkeys(others, OTHERS) | {"dual-quaternion Newton-Euler": SILVA}
    reasons |= {"Gauss's principle": AS_PRINTED}
    return (
        *_lines(printed_costs.QUIROZ_5_4, counted, reasons),
        Line("Gauss's principle, with our J̇_x", None, ours, NOT_GIVEN),
    )


def _summed(of_body: Operations) -> Operations:
    """Σ over the bodies i = 1, …, n of a cost that is linear in i."""
    return Operations(*(_summed_formula(f) for f in (of_body.mul, of_body.add)))


def _summed_formula(of_body: Formula) -> Formula:
    terms = dict(of_body.terms)
    slope, constant = (terms.get(key, Fraction(0)) for key in ("i", ""))
    half = slope / 2
    return Formula.of({"nn": half, "n": half + constant})


# --- operands of the steps --------------------------------------------------------------------------------------------


def _twist_rate(c: _Counting, i: int) -> None:
    """What (5.62) has beside J̇_x: 2x is there from J_ξ, 2ẋ is new."""
    rate_rows = steps.twist_rows(c.dual())
    steps.twist_jacobian_rate(rate_rows, c.matrix(8, i), c.matrix(6, 8), c.matrix(8, i))


def _coriolis_part(c: _Counting, i: int) -> Matrix:
    s = steps.gyroscopic(c.vector(3), c.matrix(3, 3), c.scalar())
    return steps.coriolis_part(c.matrix(6, i), c.matrix(6, i), c.matrix(6, 6), s)


def _mass(c: _Counting, n: int) -> None:
    steps.padded_sum([steps.mass_part(c.matrix(6, i), c.matrix(6, 6)) for i in range(1, n + 1)], c.scalar())


def _coriolis(c: _Counting, n: int) -> None:
    steps.padded_sum([_coriolis_part(c, i) for i in range(1, n + 1)], c.scalar())


def _gravity(c: _Counting, n: int) -> None:
    weight = pure(*c.vector(3))
    parts = [steps.gravity_part(c.matrix(6, i), c.quaternion(), weight) for i in range(1, n + 1)]
    steps.padded_sum([[[g] for g in part] for part in parts], c.scalar())
