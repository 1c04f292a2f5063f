"""The cost tables of [Quiroz, section 5.5] and [Silva, section 5.3]: what they print beside what their steps cost.

Sines and cosines are left out, as the thesis leaves them out; a change of sign in a conjugate and in S(c) counts as a
multiplication, as it does there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import mul
from typing import Any

from dqdyn.algebra.counter import Tally
from dqdyn.analysis.costs.formula import CostLine, Operations, fitted, polynomial
from dqdyn.analysis.costs.operands import Kind, Operands, count, count_step
from dqdyn.dynamics.arguments import Matrix
from dqdyn.dynamics.formulations.literal import matrices, silva
from dqdyn.dynamics.formulations.literal import quiroz as steps
from dqdyn.dynamics.formulations.literal import quiroz_jacobians as jacobians
from dqdyn.dynamics.formulations.literal.products import adjoint

NOT_GIVEN = "the thesis takes the number from Adorno (2011) without steps; ours carry a twist from joint to joint"
OTHERS = "an algorithm of another author, whose steps are not given"
SILVA = "no breakdown is given; ours are the printed steps (19)–(30), which stay below the claimed upper bound"
REBUILT = (
    "Adorno's steps are not given; forward kinematics, then axis, column and running pose per joint give his number"
)
AS_PRINTED = "with C(J̇_x) as printed"
GAUSS, NEWTON_EULER = "Gauss's principle", "dual-quaternion Newton-Euler"
CLASSIC_LAGRANGE, CLASSIC_NEWTON_EULER = "classic Euler-Lagrange (Hollerbach)", "classic Newton-Euler (Balafoutis)"


@cache
def quiroz_table_5_1() -> tuple[CostLine, ...]:
    """Elementary operations [Quiroz, table 5.1]."""
    return (
        _line("quaternions, C(λa)", ("4", "0"), _constant(mul, "scalar", "quaternion")),
        _line("quaternions, C(Ad(a) b)", ("35", "24"), _constant(adjoint, "quaternion", "quaternion")),
        _line("dual quaternions, C(λa)", ("8", "0"), _constant(mul, "scalar", "dual")),
        _line("dual quaternions, C(Ad(a) b)", ("102", "80"), _constant(adjoint, "dual", "dual")),
        _line("C(λA), A m×p", ("mp", "0"), _sized(matrices.scaled, "scalar", "mp")),
        _line("C(A + B), m×p", ("0", "mp"), _sized(matrices.plus, "mp", "mp")),
        _line("C(AB), m×p and p×r", ("mpr", "mpr − mr"), _sized(matrices.product, "mp", "pr")),
        _line("C(S(c))", ("3", "0"), _constant(matrices.skew, 3)),
        _line("C(S(ω, Ψ)), (5.13)", ("18", "6"), _constant(steps.gyroscopic, 3, (3, 3), "scalar")),
    )


@cache
def quiroz_table_5_2() -> tuple[CostLine, ...]:
    """Jacobians of the centers of mass and their rates [Quiroz, table 5.2].

    Those of a body are [Quiroz, eq. (5.60)] and [Quiroz, eq. (5.62)], those of all the sums [Quiroz, eq. (5.63)] and
    [Quiroz, eq. (5.64)]. Lines that contain J̇_x take its printed cost, since the thesis does not give its steps.
    """
    adorno = Operations.parse("312i", "268i − 8")
    joint = jacobians.DHJoint
    pose = _by("i", 1, lambda c, i: jacobians.pose_jacobian([joint(k, *c(4)) for k in range(i)], c("dual")))
    ours = _by("i", 1, lambda c, i: jacobians.pose_jacobian_rate(c("dual"), [[(k, c("dual"))] for k in range(i)], c(i)))
    twist = pose + _by("i", 1, lambda c, i: matrices.product(jacobians.twist_rows(c("dual")), c((8, i))))
    rate = adorno + _twist_rate()
    return (
        _line("C(J_x) of body i", ("189i − 48", "142i − 40"), pose, REBUILT),
        CostLine("C(J̇_x) of body i", adorno, ours, NOT_GIVEN),
        _line("C(J_ξ) of body i", ("237i − 40", "184i − 40"), twist),
        _line("C(J̇_ξ) of body i", ("408i + 8", "358i − 8"), rate, AS_PRINTED),
        _line("C(J_ξ) of all bodies", ("118.5n² + 78.5n", "92n² + 52n"), twist.summed()),
        _line("C(J̇_ξ) of all bodies", ("204n² + 212n", "179n² + 171n"), rate.summed(), AS_PRINTED),
    )


@cache
def quiroz_table_5_3() -> tuple[CostLine, ...]:
    """The matrices of the equations of motion [Quiroz, table 5.3], sums as in [Quiroz, eq. (5.69)]."""
    return (
        _line("C(M_i)", ("6i² + 36i", "5i² + 30i"), _by("i", 2, _mass_part)),
        _line("C(C_i)", ("6i² + 72i + 18", "5i² + 66i + 6"), _by("i", 2, _coriolis_part)),
        _line("C(g_i)", ("3i + 35", "2i + 24"), _by("i", 1, _gravity_part)),
        _line("C(M_GP)", ("2n³ + 21n² + 19n", "8/3 n³ + 33/2 n² + 95/6 n"), _of_all(_mass_part)),
        _line("C(C_GP)", ("2n³ + 39n² + 55n", "8/3 n³ + 69/2 n² + 239/6 n"), _of_all(_coriolis_part)),
        _line("C(g_GP)", ("1.5n² + 36.5n", "2n² + 24n"), _of_all(_gravity_part, square=False)),
    )


@cache
def quiroz_table_5_4() -> tuple[CostLine, ...]:
    """Whole algorithms for a serial robot of n joints [Quiroz, table 5.4] [Quiroz, section 5.5.1].

    The last line is not in the table: Gauss's principle with our J̇_x.
    """
    costs = {line.name: line.counted for line in (*quiroz_table_5_2(), *quiroz_table_5_3()) if line.counted is not None}
    whole = _by("n", 2, lambda c, n: steps.forces(c((n, n)), c((n, n)), c((n, 1)), c(n), c(n)))
    for part in ("C(M_GP)", "C(C_GP)", "C(g_GP)", "C(J_ξ) of all bodies"):
        whole = whole + costs[part]
    printed = whole + costs["C(J̇_ξ) of all bodies"]
    ours = whole + (costs["C(J̇_x) of body i"] + _twist_rate()).summed()
    return (
        _line(GAUSS, ("4n³ + 386n² + 401n", "16/3 n³ + 326n² + 908/3 n"), printed, AS_PRINTED),
        _line(CLASSIC_LAGRANGE, ("412n − 277", "320n − 201"), None, OTHERS),
        _line(NEWTON_EULER, ("882n − 48", "724n − 40"), _by("n", 1, _newton_euler), SILVA),
        _line(CLASSIC_NEWTON_EULER, ("150n − 48", "131n − 48"), None, OTHERS),
        CostLine(f"{GAUSS}, with our J̇_x", None, ours, NOT_GIVEN),
    )


@cache
def silva_table_3() -> tuple[CostLine, ...]:
    """Whole algorithms for a serial robot of n joints [Silva, table 3]: four lines of the thesis, in another order."""
    lines = {line.name: line for line in quiroz_table_5_4()}
    return tuple(lines[name] for name in (NEWTON_EULER, CLASSIC_NEWTON_EULER, GAUSS, CLASSIC_LAGRANGE))


# --- formulas ---------------------------------------------------------------------------------------------------------


def _line(name: str, printed: tuple[str, str], counted: Operations | None, reason: str = "") -> CostLine:
    return CostLine(name, Operations.parse(*printed), counted, reason)


def _constant(step: Callable[..., Any], *kinds: Kind) -> Operations:
    tally = count_step(step, *kinds)
    return Operations.parse(str(tally.mul), str(tally.add))


def _sized(step: Callable[..., Any], *kinds: str) -> Operations:
    """By the sizes m, p, r of matrices: "mp" is one of m rows and p columns."""

    def tally(**size: int) -> Tally:
        return count_step(step, *((size[k[0]], size[k[1]]) if len(k) == 2 else k for k in kinds))

    sizes = [{"m": m, "p": p, "r": r} for m in (1, 2, 3) for p in (1, 2, 4) for r in (1, 3)]
    return fitted(tally, ("mpr", "mp", "mr", "pr", "m", "p", ""), sizes)


def _by(variable: str, degree: int, run: Callable[[Operands, int], Any]) -> Operations:
    """By the size that the run is given beside its operands."""
    return polynomial(lambda size: count(lambda c: run(c, size)), variable, degree)


# --- steps on operands ------------------------------------------------------------------------------------------------


def _twist_rate() -> Operations:
    """What (5.62) has beside J̇_x: 2x is known from J_ξ, 2ẋ is new."""
    matrix = jacobians.twist_jacobian_rate
    return _by("i", 1, lambda c, i: matrix(jacobians.twist_rows(c("dual")), c((8, i)), c((6, 8)), c((8, i))))


def _mass_part(c: Operands, i: int) -> Matrix:
    return steps.mass_part(c((6, i)), c((6, 6)))


def _coriolis_part(c: Operands, i: int) -> Matrix:
    s = steps.gyroscopic(c(3), c((3, 3)), c("scalar"))
    return steps.coriolis_part(c((6, i)), c((6, i)), c((6, 6)), s)


def _gravity_part(c: Operands, i: int) -> Matrix:
    return steps.gravity_part(c((6, i)), c("quaternion"), c("vector"))


def _of_all(part: Callable[[Operands, int], Matrix], square: bool = True) -> Operations:
    """The parts of all bodies and their padded sum."""

    def run(c: Operands, n: int) -> Matrix:
        places = [(range(i), range(i) if square else [0]) for i in range(1, n + 1)]
        parts = [(*place, part(c, len(place[0]))) for place in places]
        return steps.padded_sum(parts, n, n if square else 1, c("scalar"))

    return _by("n", 3 if square else 2, run)


def _newton_euler(c: Operands, n: int) -> None:
    links = [
        silva.SilvaLink(k - 1, c("dual"), c("dual"), c("pure"), c("pure"), [(k, c("pure"))], c("scalar"), c("columns"))
        for k in range(n)
    ]
    silva.newton_euler(links, c("vector"), (c("dual"), c("pure")), {n - 1: (c("dual"), c("pure"))})
