"""Placements, axes and inertias of random worlds: general ones, and the special ones in which entries vanish.

Special values are where branches of algorithms are: exact zeros, unit vectors, coinciding axes, bodies without extent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from trees import random_placement, random_rotation, random_unit

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.model.inertia import Inertia, Vector, as_tensor, as_vector

Rng = np.random.Generator
COORDINATE_AXES = [as_vector(sign * row) for row in np.eye(3) for sign in (1.0, -1.0)]


def yes(rng: Rng, share: float = 0.5) -> bool:
    """True with that probability."""
    return bool(rng.uniform() < share)


def pick(rng: Rng, choices: Sequence[str], weights: Sequence[float]) -> str:
    """One of the names, by weight."""
    return str(rng.choice(list(choices), p=np.array(weights) / sum(weights)))


# --- directions and poses ---------------------------------------------------------------------------------------------


def axis(rng: Rng, kind: str) -> Vector:
    """A unit vector: "z", "coordinate" (±x, ±y, ±z), or "general"."""
    if kind == "z":
        return 0.0, 0.0, 1.0
    return COORDINATE_AXES[int(rng.integers(6))] if kind == "coordinate" else random_unit(rng)


def second_axis(rng: Rng, first: Vector, kind: str) -> Vector:
    """A unit vector across another one, or at an angle of 20° and more to it."""
    while True:
        found = np.array(axis(rng, "general" if kind == "z" else kind))
        across = np.cross(first, found)
        if np.linalg.norm(across) > 0.35:
            square = np.cross(across, first) if yes(rng) else found
            return as_vector(square / np.linalg.norm(square))


def rotation(rng: Rng, kind: str) -> Quaternion:
    """A unit quaternion: "none", "quarter" (turns of 90° about coordinate axes), "tiny" or "general"."""
    if kind == "none":
        return Quaternion(1.0, 0.0, 0.0, 0.0)
    if kind == "quarter":
        half = math.sqrt(0.5)
        turns = [(half, s * half) for s in (1.0, -1.0)] + [(0.0, 1.0)]
        c, s = turns[int(rng.integers(3))]
        vector = [0.0, 0.0, 0.0]
        vector[int(rng.integers(3))] = s
        return Quaternion(c, *vector)
    if kind == "tiny":
        half = 0.5 * 10.0 ** rng.uniform(-14.0, -3.0)
        x, y, z = random_unit(rng)
        return Quaternion(math.cos(half), x * math.sin(half), y * math.sin(half), z * math.sin(half))
    return random_rotation(rng)


def translation(rng: Rng, kind: str) -> Quaternion:
    """A vector in m: "zero", "coordinate" (along one axis) or "general"."""
    vector = rng.uniform(-0.5, 0.5, 3)
    if kind == "zero":
        vector = np.zeros(3)
    elif kind == "coordinate":
        vector = vector * (np.arange(3) == rng.integers(3))
    return pure(*as_vector(vector))


def placement(rng: Rng, turned: str, moved: str) -> DQ:
    """A pose of these kinds."""
    if turned == moved == "general":
        return random_placement(rng)
    return pose(rotation(rng, turned), translation(rng, moved))


# --- bodies -----------------------------------------------------------------------------------------------------------


def _cloud(rng: Rng, mass: float, size: float = 0.1) -> np.ndarray:
    """The tensor of a body that can exist: tr(Σ) − Σ of a cloud of masses with covariance Σ."""
    points = rng.normal(size=(3, 4)) * size
    covariance = points @ points.T * mass
    return np.trace(covariance) * np.eye(3) - covariance


def _general(rng: Rng, mass: float, along: np.ndarray) -> Inertia:
    return Inertia(mass, as_vector(rng.uniform(-0.3, 0.3, 3)), as_tensor(_cloud(rng, mass)))


def _principal(rng: Rng, mass: float, along: np.ndarray) -> Inertia:
    moments = np.linalg.eigvalsh(_cloud(rng, mass))
    return Inertia(mass, as_vector(translation(rng, "coordinate").vector), as_tensor(np.diag(moments)))


def _ball(rng: Rng, mass: float, along: np.ndarray) -> Inertia:
    return Inertia(mass, as_vector(np.zeros(3)), as_tensor(np.eye(3) * mass * rng.uniform(0.001, 0.1)))


def _on_axis(rng: Rng, mass: float, along: np.ndarray) -> Inertia:
    return Inertia(mass, as_vector(along * rng.uniform(-0.3, 0.3)), as_tensor(_cloud(rng, mass)))


def _point(rng: Rng, mass: float, along: np.ndarray) -> Inertia:
    return Inertia(mass, as_vector(rng.uniform(-0.3, 0.3, 3)))


def _rod(rng: Rng, mass: float, along: np.ndarray) -> Inertia:
    """Thin, along its axis: no inertia about it."""
    direction = np.array(random_unit(rng))
    tensor = mass * rng.uniform(0.001, 0.1) * (np.eye(3) - np.outer(direction, direction))
    return Inertia(mass, as_vector(rng.uniform(-0.3, 0.3, 3)), as_tensor(tensor))


def _nothing(rng: Rng, mass: float, along: np.ndarray) -> Inertia:
    return Inertia()


BODIES: dict[str, Callable[[Rng, float, np.ndarray], Inertia]] = {
    "general": _general,
    "principal": _principal,
    "ball": _ball,
    "on axis": _on_axis,
    "point": _point,
    "rod": _rod,
    "nothing": _nothing,
}


def inertia(rng: Rng, kind: str, spread: float, along: Vector) -> Inertia:
    """A body of that kind; masses spread over ``spread`` powers of ten about 1 kg; ``along`` is its joint's axis."""
    mass = float(10.0 ** rng.uniform(-0.5 * spread, 0.5 * spread))
    return BODIES[kind](rng, mass, np.array(along))
