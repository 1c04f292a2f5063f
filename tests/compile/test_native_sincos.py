"""Sine and cosine of the emitted code against mpmath, for every vector width, with and without fused multiply-add."""

from __future__ import annotations

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from compile_tools import FUSED, WIDTHS, Kernel, batch_code, program_of, scalar_code, ulps
from mpmath import libmp

from dqdyn.compile.codegen.sincos import LARGEST
from dqdyn.compile.runtime.function import Function

PROGRAM = program_of([("input", (0, 0), 0.0), ("sin", (0,), 0.0), ("cos", (0,), 0.0)], [1, 2], [1], name="sincos")
KERNELS = [(width, fma) for fma in FUSED for width in (1, *WIDTHS)]
SMALL = 1e5  # rad
ALLOWED = 2.0  # ulp
# The C library that the interpreter uses reduces huge arguments with this error, which counts where a sine is near 0.
LIBRARY = 1e-28


def worst_arguments() -> list[float]:
    """Per binade the doubles nearest to multiples of π/2, from the continued fraction of 2ᵉ·2/π."""
    found = []
    with mpmath.workprec(400):
        for exponent in range(-54, -2):
            rest = mpmath.ldexp(2 / mpmath.pi, exponent)
            before, multiple = 1, 0
            while multiple < 2**53:
                whole = int(mpmath.floor(rest))
                before, multiple = multiple, whole * multiple + before
                rest = 1 / (rest - whole)
                if 2**40 < multiple < 2**53:
                    found.append(math.ldexp(multiple, exponent))
    return found


def multiples(rng: np.random.Generator, largest: float, parts: int, count: int) -> np.ndarray:
    """Doubles nearest to k·π/parts for k of all sizes."""
    k = np.unique(np.exp(rng.uniform(0.0, math.log(largest * parts / math.pi), count)).astype(np.int64))
    with mpmath.workprec(200):
        return np.array([float(int(i) * mpmath.pi / parts) for i in k])


def log_uniform(rng: np.random.Generator, low: float, high: float, count: int) -> np.ndarray:
    return np.exp(rng.uniform(math.log(low), math.log(high), count)) * rng.choice([-1.0, 1.0], count)


@cache
def samples(name: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    if name == "small":
        near = multiples(rng, SMALL, 2, 500)
        near = np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)])
        quarter = multiples(rng, SMALL, 4, 500)
        tiny = np.ldexp(1.0, np.arange(-1074, -1, 9))
        parts = [near, -near, quarter, -quarter, tiny, -tiny, np.array([0.0, -0.0, 2.2250738585072014e-308, 5e-324])]
        parts += [rng.uniform(-7, 7, 5000), log_uniform(rng, 1e-20, SMALL, 3000), rng.uniform(-SMALL, SMALL, 1500)]
        xs, largest = np.concatenate(parts), SMALL
    else:
        worst = np.array(worst_arguments())
        quarter = multiples(rng, 1e15, 4, 1500)
        quarter += rng.uniform(-0.2, 0.2, len(quarter))
        xs = np.concatenate([worst, -worst, quarter, log_uniform(rng, SMALL, 1e15, 1500), [1e14, -1e14, 1e15, -1e15]])
        largest = 1e15
    return xs[np.abs(xs) <= largest]


def exact(xs: np.ndarray) -> np.ndarray:
    """Rows sin, its rest, cos, its rest: sums of two doubles with more than 100 right bits."""
    result = np.empty((4, len(xs)))
    for i, x in enumerate(xs):
        number = libmp.from_float(float(x))
        cosine, sine = libmp.mpf_cos_sin(number, 1300 if abs(x) > 1e16 else 200)
        for row, value in ((0, sine), (2, cosine)):
            result[row, i] = libmp.to_float(value)
            result[row + 1, i] = libmp.to_float(libmp.mpf_sub(value, libmp.from_float(result[row, i]), 60))
    return result


@cache
def reference(name: str) -> np.ndarray:
    return exact(samples(name))


@cache
def kernel(width: int, fma: bool) -> Kernel:
    return scalar_code(PROGRAM, fma, True) if width == 1 else batch_code(PROGRAM, width, fma, True)


def errors(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return np.maximum(ulps(found[:, 0], expected[0], expected[1]), ulps(found[:, 1], expected[2], expected[3]))


@pytest.mark.parametrize(("width", "fma"), KERNELS)
@pytest.mark.parametrize("name", ["small", "large"])
def test_within_two_ulp_up_to_the_largest(name: str, width: int, fma: bool) -> None:
    here = np.abs(samples(name)) <= LARGEST
    xs = samples(name)[here]
    found = np.full((len(xs), 2), np.nan)
    assert kernel(width, fma)([xs.reshape(-1, 1)], found) == 0
    worst = errors(found, reference(name)[:, here])
    assert worst.max() <= ALLOWED, (worst.max(), xs[worst.argmax()])


def test_samples_hit_the_hard_cases() -> None:
    assert LARGEST > 100 * SMALL
    small, large = reference("small"), reference("large")
    assert np.abs(large[[0, 2]]).min() < 1e-16  # almost a multiple of π/2
    assert np.abs(small[0][samples("small") != 0.0]).min() == 5e-324
    # π/4: the ends of the reduced range
    assert (np.abs(np.abs(large[0]) - np.abs(large[2])) < 0.4).sum() > 500


@pytest.mark.parametrize(("width", "fma"), KERNELS)
def test_zeros_and_subnormals_stay(width: int, fma: bool) -> None:
    xs = np.array([0.0, -0.0, 5e-324, -5e-324, 1e-310, -2.2250738585072014e-308])
    found = np.empty((len(xs), 2))
    kernel(width, fma)([xs.reshape(-1, 1)], found)
    np.testing.assert_array_equal(found[:, 0], xs)
    np.testing.assert_array_equal(found[:, 1], 1.0)


@pytest.mark.parametrize(("width", "fma"), KERNELS)
def test_flag_is_raised_beyond_the_largest_only(width: int, fma: bool) -> None:
    run = kernel(width, fma)
    out = np.empty((1, 2))
    for x in (LARGEST, -LARGEST, np.nan, 0.0, 1.0):
        assert run([np.array([[x]])], out) == 0, x
    for x in (np.nextafter(LARGEST, np.inf), -np.nextafter(LARGEST, np.inf), 1e300, -1e18, np.inf, -np.inf):
        assert run([np.array([[x]])], out) == 1, x


@pytest.mark.parametrize("rows", [1, 3, 8, 100])
def test_huge_arguments_are_right_through_the_interpreter(rows: int) -> None:
    rng = np.random.default_rng(rows)
    large = samples("large")
    xs = np.concatenate([large[np.abs(large) > LARGEST / 2], log_uniform(rng, 1e15, 1.7e308, 200)])
    xs = xs[: len(xs) // rows * rows]
    xs = rng.permutation(xs)[: 40 * rows]
    function = Function(PROGRAM)
    found = np.concatenate([np.reshape(function(part), (-1, 2)) for part in xs.reshape(-1, rows, 1)])
    expected = exact(xs)[[0, 2]].T
    assert (np.abs(found - expected) - ALLOWED * np.spacing(np.abs(expected))).max() <= LIBRARY


def test_one_huge_state_by_the_fast_path_and_by_keyword() -> None:
    f = Function(PROGRAM).fast
    x, out = np.array([1e18]), np.empty(2)
    expected = [math.sin(1e18), math.cos(1e18)]
    np.testing.assert_array_equal(f(x), expected)
    assert f(x, out=out) is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(f(x0=x), expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 33])
def test_nan_and_infinity_stay_in_their_lane(bad: float, rows: int) -> None:
    rng = np.random.default_rng(rows)
    xs = rng.uniform(-3, 3, (rows, 1))
    clean = Function(PROGRAM)(xs)
    for row in {0, rows // 2, rows - 1}:
        spoiled = xs.copy()
        spoiled[row] = bad
        found = Function(PROGRAM)(spoiled, check=False)
        assert np.isnan(found[row]).all()
        others = np.arange(rows) != row
        # Infinity sends the batch through the interpreter, whose last bit may differ.
        np.testing.assert_allclose(found[others], clean[others], rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize(("width", "fma"), KERNELS)
def test_nan_stays_in_its_lane_of_the_kernel(width: int, fma: bool) -> None:
    xs = np.linspace(-4, 4, 19).reshape(-1, 1)
    clean = np.empty((19, 2))
    kernel(width, fma)([xs], clean)
    for row in range(19):
        spoiled, found = xs.copy(), np.empty((19, 2))
        spoiled[row] = np.nan
        assert kernel(width, fma)([spoiled], found) == 0
        assert np.isnan(found[row]).all()
        np.testing.assert_array_equal(np.delete(found, row, 0), np.delete(clean, row, 0))
