"""Exponentials and logarithms near their singularities, against 50 digits: each part to 1e-12 of its own size."""

from __future__ import annotations

import math

import algebra_reference as ref
import numpy as np
import pytest
from algebra_reference import mp, relative_error
from algebra_tools import ANGLES, LENGTHS, unit3

from dqdyn.algebra import functions as f
from dqdyn.algebra.dual import DQ

# The series take over at a half-angle of 0.5 in the exponentials and at sin² = 0.1 in the logarithms.
SWITCHES = (1.0, 2 * math.asin(math.sqrt(0.1)))
NEAR_SWITCHES = [s + d for s in SWITCHES for d in (-1e-3, -1e-15, 0.0, 1e-15, 1e-3)]
NEAR_FULL_TURN = [2 * math.pi - d for d in (1e-2, 1e-6, 1e-8, 1e-10, 1e-13)]
CASES = [(a, p) for a in (*ANGLES.values(), *NEAR_SWITCHES, *NEAR_FULL_TURN, 1e-100, 1e-5) for p in LENGTHS.values()]
TOLERANCE = 1e-12


def draw(seed: int, length: float) -> tuple[ref.Vector, ref.Vector]:
    """A unit axis and a vector of the given length, to 50 digits."""
    rng = np.random.default_rng(seed)
    n = ref.unit(ref.vector(unit3(rng)))
    return n, [c * mp.mpf(length) for c in ref.unit(ref.vector(unit3(rng)))]


def rounded(coefficients: ref.Vector) -> DQ:
    return DQ([float(c) for c in coefficients])


@pytest.mark.parametrize(("angle", "length"), CASES)
def test_log(angle: float, length: float) -> None:
    n, p = draw(40, length)
    found = f.log(rounded(ref.pose(ref.rotation(n, mp.mpf(angle)), p)))
    assert relative_error(found.vec6()[:3], [c * mp.mpf(angle) / 2 for c in n]) < TOLERANCE
    assert relative_error(found.vec6()[3:], [c / 2 for c in p]) < TOLERANCE


@pytest.mark.parametrize(("angle", "length"), CASES)
def test_screw_log(angle: float, length: float) -> None:
    n, p = draw(41, length)
    found = f.screw_log(rounded(ref.pose(ref.rotation(n, mp.mpf(angle)), p)))
    expected = ref.screw_log(n, mp.mpf(angle), p)
    assert relative_error(found.vec6()[:3], expected[:3]) < TOLERANCE
    assert relative_error(found.vec6()[3:], expected[3:]) < TOLERANCE


@pytest.mark.parametrize(("angle", "length"), CASES)
def test_exp_and_screw_exp(angle: float, length: float) -> None:
    n, u = draw(42, length)
    half = [c * mp.mpf(angle) / 2 for c in n]
    g = rounded([mp.mpf(0), *half, mp.mpf(0), *(c / 2 for c in u)])
    # The rounded axis and angle are what the functions see, so the reference takes them too.
    half = ref.vector(g.vec3())
    seen = 2 * ref.norm(half)
    n = ref.unit(half) if seen else n
    u = [2 * c for c in ref.vector(g.vec6()[3:])]
    for found, expected in (
        (f.exp(g), ref.pose(ref.rotation(n, seen), u)),
        (f.screw_exp(g), ref.screw_exp(n, seen, u)),
    ):
        assert relative_error(found.vec8()[:4], expected[:4]) < TOLERANCE
        assert relative_error(found.vec8()[4:], expected[4:]) < TOLERANCE
        # A tiny angle must survive beside the cosine; near a full turn only the angle's last digit is known.
        known = 1.0 if angle < math.pi else float(abs(mp.sin(seen / 2)))
        assert relative_error(found.vec3(), expected[1:4]) * known < TOLERANCE


@pytest.mark.parametrize("angle", [*ANGLES.values(), *NEAR_FULL_TURN])
def test_angle_and_axis(angle: float) -> None:
    n, p = draw(43, 1.0)
    x = rounded(ref.pose(ref.rotation(n, mp.mpf(angle)), p))
    assert relative_error([f.rotation_angle(x)], [mp.mpf(angle)]) < 1e-15
    if angle:
        assert relative_error(f.rotation_axis(x).vec3(), n) < 1e-15


@pytest.mark.parametrize("length", LENGTHS.values())
@pytest.mark.parametrize("angle", ANGLES.values())
def test_translation(angle: float, length: float) -> None:
    n, p = draw(44, length)
    x = rounded(ref.pose(ref.rotation(n, mp.mpf(angle)), p))
    assert relative_error(f.translation(x).vec3(), p) < 1e-15
