"""Random elements, the strata of poses, and comparisons for the tests of the algebra."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure

# Rotation angles and lengths of translations: every angle meets every length, for faults hide where one is tiny and
# the other is large.
ANGLES = {
    "zero": 0.0,
    "1e-12": 1e-12,
    "1e-8": 1e-8,
    "1e-4": 1e-4,
    "generic": 2.1,
    "near pi": math.pi - 1e-6,
    "pi": math.pi,
    "near 2pi": 2 * math.pi - 1e-4,
}
LENGTHS = {"zero": 0.0, "1e-12": 1e-12, "1": 1.0, "1e6": 1e6}
STRATA = [(a, p) for a in ANGLES.values() for p in LENGTHS.values()]
STRATA_NAMES = [f"angle {a}, length {p}" for a in ANGLES for p in LENGTHS]


def unit3(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def unit4(rng: np.random.Generator, *batch: int) -> np.ndarray:
    q = rng.normal(size=(*batch, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def random_dq(rng: np.random.Generator) -> DQ:
    return DQ(rng.normal(size=8))


def random_pure(rng: np.random.Generator) -> DQ:
    return DQ(rng.normal(size=6))


def stratum_pose(rng: np.random.Generator, angle: float, length: float) -> DQ:
    """A pose with the given rotation angle and length of translation, both directions random and independent."""
    n = unit3(rng) * math.sin(angle / 2)
    return pose(Quaternion(math.cos(angle / 2), *map(float, n)), pure(*map(float, unit3(rng) * length)))


def random_pose(rng: np.random.Generator) -> DQ:
    """Away from the singular angles 0 and 2π, which the strata visit."""
    return stratum_pose(rng, rng.uniform(0.3, 2 * math.pi - 0.3), rng.exponential())


def size(x: DQ) -> float:
    return float(np.linalg.norm(x.vec8()))


def assert_close(found: Any, expected: Any, tolerance: float = 1e-12, scale: float = 1.0) -> None:
    """Every coefficient within ``tolerance`` of ``max(1, scale, largest expected coefficient)``."""
    found, expected = (a.vec8() if isinstance(a, DQ) else np.asarray(a, dtype=float) for a in (found, expected))
    assert found.shape == expected.shape
    size = max(1.0, scale, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)
