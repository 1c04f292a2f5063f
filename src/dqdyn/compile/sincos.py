"""Sine and cosine in LLVM IR, without a branch and for vectors of any width.

Cody-Waite reduction by π/2 in three parts: with a fused multiply-add, or with Dekker's exact product where the machine
has none. The multiple k comes from adding 1.5·2⁵², whose low bits are then the quadrant. Right up to |x| = 10¹⁴, beyond
which the rounding of 2/π puts k off so far that the rest leaves the reach of the polynomials; larger arguments are
reported by a flag, and the caller computes those states by the interpreter. NaN and infinity give NaN.
The coefficients are those of tools/minimax.py.
"""

from __future__ import annotations

from typing import Protocol

LARGEST = 1e14
_SIN = (
    -0.16666666666666632,
    0.00833333333332234,
    -0.00019841269829746694,
    2.7557313669820993e-06,
    -2.5050754524920364e-08,
    1.5896580435634928e-10,
)
_COS = (
    0.0416666666666666,
    -0.0013888888888874025,
    2.480158728941763e-05,
    -2.755731433286978e-07,
    2.087572052388679e-09,
    -1.13595003851079e-11,
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


def emit_sincos(b: Builder, x: str) -> tuple[str, str, str]:
    """(sin x, cos x, flag): names of the values; the flag is true where |x| is too large."""
    t = _multiply_add(b, x, b.const(_TWO_OVER_PI), b.const(_MAGIC))
    bits = b.op(f"bitcast {b.real} {t} to {b.integer}")
    k = b.op(f"fsub {b.real} {t}, {b.const(_MAGIC)}")
    r = _reduced(b, x, k)
    z = b.op(f"fmul {b.real} {r}, {r}")
    sine = _multiply_add(b, b.op(f"fmul {b.real} {r}, {z}"), _polynomial(b, _SIN, z), r)
    head = _multiply_add(b, z, b.const(-0.5), b.const(1.0))
    cosine = _multiply_add(b, b.op(f"fmul {b.real} {z}, {z}"), _polynomial(b, _COS, z), head)
    # Odd quadrants exchange the two; the second bit of k (of k + 1) is the sign of the sine (of the cosine).
    odd = b.op(f"icmp ne {b.integer} {b.op(f'and {b.integer} {bits}, {b.const_int(1)}')}, {b.const_int(0)}")
    mask = _vector_of_bits(b)
    sin = b.op(f"select {mask} {odd}, {b.real} {cosine}, {b.real} {sine}")
    cos = b.op(f"select {mask} {odd}, {b.real} {sine}, {b.real} {cosine}")
    following = b.op(f"add {b.integer} {bits}, {b.const_int(1)}")
    size = b.op(f"call {b.real} @llvm.fabs.{_suffix(b)}({b.real} {x})")
    flag = b.op(f"fcmp ogt {b.real} {size}, {b.const(LARGEST)}")
    return _signed(b, sin, bits), _signed(b, cos, following), flag


def _signed(b: Builder, value: str, bits: str) -> str:
    sign = b.op(f"shl {b.integer} {b.op(f'and {b.integer} {bits}, {b.const_int(2)}')}, {b.const_int(62)}")
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
