"""Arctangents in LLVM IR on vectors, within 2 ulp: one call of the C library per state would take longer than all else.

With m = min(|y|, |x|) and M = max(|y|, |x|), the angle u of the first eighth has tan u = m/M, or, beyond π/8,
u = π/4 + atan((m − M)/(m + M)), so that the argument of the polynomial is at most tan(π/8). Octants are put together as
k π/4 ± u with k up to 4, for which the products with the high part of π/4 are exact.
"""

from __future__ import annotations

import math

from dqdyn.compile.codegen.ir import Emitter

# (atan(√z)/√z − 1)/z on [0, tan²(π/8)], interpolated at Chebyshev's points; off by 7e-18 of the angle at most.
_ARCTANGENT = (
    -0.3333333333333333,
    0.1999999999999552,
    -0.14285714284666534,
    0.11111111015255669,
    -0.09090904578095735,
    0.07692183190171728,
    -0.06664511438164644,
    0.05858148832731273,
    -0.05085449318930035,
    0.039231646190551486,
    -0.019176872294336067,
)
_QUARTER = (0.7853981633974483, 3.061616997868383e-17)  # π/4 in two parts; the first ends in three zero bits
_TAN_EIGHTH = math.tan(math.pi / 8.0)
_HUGE, _SMALLER = 1e300, 1e-10  # sums of larger numbers could overflow


def emit_atan2(b: Emitter, y: str, x: str) -> str:
    """The angle of the point (x, y) in ±π, with the signs of zeros, infinity and NaN as the C library has them."""
    f = b.binary
    a, c = b.intrinsic("fabs", y), b.intrinsic("fabs", x)
    steep = f("fcmp ogt", a, c)
    low, high = b.select(steep, c, a), b.select(steep, a, c)
    endless = f("fcmp oeq", low, b.const(math.inf))  # both: the angle is that of (±1, ±1)
    low, high = (b.select(endless, b.const(1.0), value) for value in (low, high))
    scale = b.select(f("fcmp ogt", high, b.const(_HUGE)), b.const(_SMALLER), b.const(1.0))
    low, high = f("fmul", low, scale), f("fmul", high, scale)
    beyond = f("fcmp ogt", low, f("fmul", high, b.const(_TAN_EIGHTH)))
    over = b.select(beyond, f("fsub", low, high), low)
    under = b.select(beyond, f("fadd", low, high), high)
    under = b.select(f("fcmp oeq", under, b.const(0.0)), b.const(1.0), under)
    t = f("fdiv", over, under)
    z = f("fmul", t, t)
    polynomial = b.const(_ARCTANGENT[-1])
    for coefficient in reversed(_ARCTANGENT[:-1]):
        polynomial = _multiply_add(b, polynomial, z, b.const(coefficient))
    u = f("fadd", t, f("fmul", t, f("fmul", z, polynomial)))
    quarters = b.select(beyond, b.const(1.0), b.const(0.0))
    backwards = f("icmp slt", _bits(b, x), b.const_int(0), b.integer)
    for turned, all_quarters in ((steep, 2.0), (backwards, 4.0)):
        quarters = b.select(turned, f("fsub", b.const(all_quarters), quarters), quarters)
        u = b.select(turned, b.op(f"fneg {b.real} {u}"), u)
    first, second = (f("fmul", quarters, b.const(part)) for part in _QUARTER)
    angle = f("fadd", first, f("fadd", second, u))
    sign = f("and", _bits(b, y), b.const_int(-(2**63)), b.integer)
    signed = b.op(f"bitcast {b.integer} {f('or', _bits(b, b.intrinsic('fabs', angle)), sign, b.integer)} to {b.real}")
    return b.select(f("fcmp uno", x, y), b.const(math.nan), signed)


def _bits(b: Emitter, value: str) -> str:
    return b.op(f"bitcast {b.real} {value} to {b.integer}")


def _multiply_add(b: Emitter, x: str, y: str, z: str) -> str:
    return b.intrinsic("fma", x, y, z) if b.fma else b.binary("fadd", b.binary("fmul", x, y), z)
