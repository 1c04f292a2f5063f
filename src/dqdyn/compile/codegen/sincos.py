"""Sine and cosine in LLVM IR, without a branch and for vectors of any width.

Cody-Waite reduction by π/2 in three parts: with a fused multiply-add, or with Dekker's exact product where the machine
has none. The multiple k comes from adding 1.5·2⁵², whose low bits are then the quadrant. Right up to |x| = 10¹⁵: there
the rounding of 2/π puts k off by 0.04, and the polynomials reach that far beyond π/4. Whoever calls keeps the largest
argument by :func:`emit_largest` and computes states beyond the limit by the interpreter. NaN and infinity give NaN.
The coefficients are those of tools/minimax.py.
"""

from __future__ import annotations

from typing import Protocol

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


class Builder(Protocol):
    """What this module needs of the emitter: names in, names out; constants are floats or ints."""

    fma: bool
    real: str
    integer: str

    def op(self, text: str) -> str: ...
    def const(self, value: float) -> str: ...
    def const_int(self, value: int) -> str: ...


def emit_sincos(b: Builder, x: str) -> tuple[str, str]:
    """(sin x, cos x): names of the values."""
    k, bits = _nearest_multiple(b, x)
    r = _reduced(b, x, k)
    z = b.op(f"fmul {b.real} {r}, {r}")
    sine = _multiply_add(b, b.op(f"fmul {b.real} {r}, {z}"), _polynomial(b, _SIN, z), r)
    cosine = _polynomial(b, (1.0, -0.5, *_COS), z)
    # Odd quadrants exchange the two; the second bit of k (of k + 1) is the sign of the sine (of the cosine).
    odd = b.op(f"icmp ne {b.integer} {b.op(f'and {b.integer} {bits}, {b.const_int(1)}')}, {b.const_int(0)}")
    mask = _vector_of_bits(b)
    sin = b.op(f"select {mask} {odd}, {b.real} {cosine}, {b.real} {sine}")
    cos = b.op(f"select {mask} {odd}, {b.real} {sine}, {b.real} {cosine}")
    moved = b.op(f"shl {b.integer} {bits}, {b.const_int(62)}")
    following = b.op(f"add {b.integer} {moved}, {b.const_int(2**62)}")
    return _signed(b, sin, moved), _signed(b, cos, following)


def emit_largest(b: Builder, x: str, before: str) -> str:
    """The larger of |x| and ``before``; a NaN is not large."""
    size = b.op(f"call {b.real} @llvm.fabs.{_suffix(b)}({b.real} {x})")
    above = b.op(f"fcmp ogt {b.real} {size}, {before}")
    return b.op(f"select {_vector_of_bits(b)} {above}, {b.real} {size}, {b.real} {before}")


def _nearest_multiple(b: Builder, x: str) -> tuple[str, str]:
    """k, the whole number next to x · 2/π as a double, and bits that end in those of k."""
    t = _multiply_add(b, x, b.const(_TWO_OVER_PI), b.const(_MAGIC))
    k = b.op(f"fsub {b.real} {t}, {b.const(_MAGIC)}")
    if not b.fma:  # the rounded product may be off by 0.06 more: correct k by the rest
        high = _high_half(b, k)
        rest = _minus_product(b, x, k, high, b.op(f"fsub {b.real} {k}, {high}"), _HALF_PI[0])
        more = _multiply_add(b, rest, b.const(_TWO_OVER_PI), b.const(_MAGIC))
        k = b.op(f"fadd {b.real} {k}, {b.op(f'fsub {b.real} {more}, {b.const(_MAGIC)}')}")
        t = b.op(f"fadd {b.real} {k}, {b.const(_MAGIC)}")
    return k, b.op(f"bitcast {b.real} {t} to {b.integer}")


def _signed(b: Builder, value: str, bits: str) -> str:
    """A value with its sign changed where the highest bit is set."""
    sign = b.op(f"and {b.integer} {bits}, {b.const_int(-(2**63))}")  # with the xor one instruction of AVX-512
    flipped = b.op(f"xor {b.integer} {b.op(f'bitcast {b.real} {value} to {b.integer}')}, {sign}")
    return b.op(f"bitcast {b.integer} {flipped} to {b.real}")


def _polynomial(b: Builder, coefficients: tuple[float, ...], z: str) -> str:
    result = b.const(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = _multiply_add(b, result, z, b.const(c))
    return result


def _multiply_add(b: Builder, x: str, y: str, z: str) -> str:
    if b.fma:
        return b.op(f"call {b.real} @llvm.fma.{_suffix(b)}({b.real} {x}, {b.real} {y}, {b.real} {z})")
    return b.op(f"fadd {b.real} {b.op(f'fmul {b.real} {x}, {y}')}, {z}")


def _reduced(b: Builder, x: str, k: str) -> str:
    """x − k π/2, correctly rounded after each of the three parts."""
    r = x
    if b.fma:
        back = b.op(f"fneg {b.real} {k}")
        for part in _HALF_PI:
            r = _multiply_add(b, back, b.const(part), r)
        return r
    high = _high_half(b, k)
    low = b.op(f"fsub {b.real} {k}, {high}")
    for part in _HALF_PI:
        r = _minus_product(b, r, k, high, low, part)
    return r


def _high_half(b: Builder, k: str) -> str:
    scaled = b.op(f"fmul {b.real} {k}, {b.const(_SPLIT)}")
    return b.op(f"fsub {b.real} {scaled}, {b.op(f'fsub {b.real} {scaled}, {k}')}")


def _minus_product(b: Builder, x: str, k: str, high: str, low: str, c: float) -> str:
    """x − k c with the rounding errors of product and difference added back (Dekker, Knuth)."""

    def f(op: str, p: str, q: str) -> str:
        return b.op(f"{op} {b.real} {p}, {q}")

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


def _suffix(b: Builder) -> str:
    return "f64" if b.real == "double" else f"v{b.real[1:].partition(' ')[0]}f64"


def _vector_of_bits(b: Builder) -> str:
    return "i1" if b.real == "double" else b.real.replace("double", "i1")
