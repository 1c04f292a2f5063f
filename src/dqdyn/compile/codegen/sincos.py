"""Sine and cosine in LLVM IR, without a branch and for vectors of any width.

Cody-Waite reduction by π/2 in three parts: with a fused multiply-add, or with Dekker's exact product where the machine
has none. The multiple k comes from adding 1.5·2⁵², whose low bits are then the quadrant. Accurate up to |x| = 10¹⁵:
there the rounding of 2/π puts k off by 0.04, and the polynomials reach that far beyond π/4. Callers track the largest
argument by :func:`emit_largest` and leave states beyond the limit to the interpreter. NaN and infinity give NaN.
The coefficients are those of tools/minimax.py.
"""

from __future__ import annotations

from dqdyn.compile.codegen.ir import Emitter

LARGEST = 1e15
_SIN = (
    -0.1666666666666658,
    0.008333333333309878,
    -0.00019841269820145013,
    2.7557310475486726e-06,
    -2.5050276056221277e-08,
    1.5870089638125197e-10,
)
_COS = (
    0.0416666666666665,
    -0.0013888888888857172,
    2.480158727927585e-05,
    -2.7557311519445764e-07,
    2.0875354160569436e-09,
    -1.1341356671848544e-11,
)
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
_TWO_OVER_PI = 0.6366197723675814
_MAGIC = 6755399441055744.0  # 1.5 · 2⁵²
_SPLIT = 134217729.0  # 2²⁷ + 1, halves a double exactly


def emit_sincos(b: Emitter, x: str) -> tuple[str, str]:
    """(sin x, cos x): names of the values."""
    k, bits = _nearest_multiple(b, x)
    r = _reduced(b, x, k)
    z = b.binary("fmul", r, r)
    sine = _multiply_add(b, b.binary("fmul", r, z), _polynomial(b, _SIN, z), r)
    cosine = _polynomial(b, (1.0, -0.5, *_COS), z)
    # Odd quadrants exchange the two; the second bit of k (of k + 1) is the sign of the sine (of the cosine).
    odd = b.binary("icmp ne", b.binary("and", bits, b.const_int(1), b.integer), b.const_int(0), b.integer)
    sin, cos = b.select(odd, cosine, sine), b.select(odd, sine, cosine)
    moved = b.binary("shl", bits, b.const_int(62), b.integer)
    following = b.binary("add", moved, b.const_int(2**62), b.integer)
    return _signed(b, sin, moved), _signed(b, cos, following)


def emit_largest(b: Emitter, x: str, before: str) -> str:
    """The larger of |x| and ``before``; a NaN is not large."""
    size = b.intrinsic("fabs", x)
    return b.select(b.binary("fcmp ogt", size, before), size, before)


def _nearest_multiple(b: Emitter, x: str) -> tuple[str, str]:
    """k, the whole number next to x · 2/π as a double, and bits that end in those of k."""
    t = _multiply_add(b, x, b.const(_TWO_OVER_PI), b.const(_MAGIC))
    k = b.binary("fsub", t, b.const(_MAGIC))
    if not b.fma:  # the rounded product may be off by 0.06 more: correct k by the rest
        high = _high_half(b, k)
        rest = _minus_product(b, x, k, high, b.binary("fsub", k, high), _HALF_PI[0])
        more = _multiply_add(b, rest, b.const(_TWO_OVER_PI), b.const(_MAGIC))
        k = b.binary("fadd", k, b.binary("fsub", more, b.const(_MAGIC)))
        t = b.binary("fadd", k, b.const(_MAGIC))
    return k, b.op(f"bitcast {b.real} {t} to {b.integer}")


def _signed(b: Emitter, value: str, bits: str) -> str:
    """A value with its sign changed where the highest bit is set."""
    sign = b.binary("and", bits, b.const_int(-(2**63)), b.integer)  # with the xor one instruction of AVX-512
    flipped = b.binary("xor", b.op(f"bitcast {b.real} {value} to {b.integer}"), sign, b.integer)
    return b.op(f"bitcast {b.integer} {flipped} to {b.real}")


def _polynomial(b: Emitter, coefficients: tuple[float, ...], z: str) -> str:
    result = b.const(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = _multiply_add(b, result, z, b.const(c))
    return result


def _multiply_add(b: Emitter, x: str, y: str, z: str) -> str:
    return b.intrinsic("fma", x, y, z) if b.fma else b.binary("fadd", b.binary("fmul", x, y), z)


def _reduced(b: Emitter, x: str, k: str) -> str:
    """x − k π/2, correctly rounded after each of the three parts."""
    r = x
    if b.fma:
        back = b.op(f"fneg {b.real} {k}")
        for part in _HALF_PI:
            r = _multiply_add(b, back, b.const(part), r)
        return r
    high = _high_half(b, k)
    low = b.binary("fsub", k, high)
    for part in _HALF_PI:
        r = _minus_product(b, r, k, high, low, part)
    return r


def _high_half(b: Emitter, k: str) -> str:
    scaled = b.binary("fmul", k, b.const(_SPLIT))
    return b.binary("fsub", scaled, b.binary("fsub", scaled, k))


def _minus_product(b: Emitter, x: str, k: str, high: str, low: str, c: float) -> str:
    """x − k c with the rounding errors of product and difference added back (Dekker, Knuth)."""
    f = b.binary
    c_high = _SPLIT * c - (_SPLIT * c - c)
    ch, cl = b.const(c_high), b.const(c - c_high)
    product = f("fmul", k, b.const(c))
    error = f("fsub", f("fmul", high, ch), product)
    error = f("fadd", f("fadd", error, f("fmul", high, cl)), f("fmul", low, ch))
    error = f("fadd", error, f("fmul", low, cl))
    s = f("fsub", x, product)
    gone = f("fsub", s, x)
    lost = f("fsub", f("fsub", x, f("fsub", s, gone)), f("fadd", product, gone))
    return f("fadd", s, f("fsub", lost, error))
