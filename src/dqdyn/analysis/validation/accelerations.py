"""Accelerations of a model at given states and forces, by each of the methods that Silva compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.poses import rotation_matrix
from dqdyn.analysis.peers import SerialArm, robotics_toolbox
from dqdyn.analysis.validation.plants import ARM_BASE, Plant, arm_link, arm_table
from dqdyn.arrays import Array
from dqdyn.constraints.methods import udwadia_kalaba
from dqdyn.dynamics.formulations import gauss
from dqdyn.dynamics.methods import CORIOLIS, MASS_MATRIX
from dqdyn.robot import Robot

Inverse = Callable[[Array, Array, Array], Array]
Method = Callable[[Robot, Array, Array, Array], Array]


def by_gauss(robot: Robot, q: Array, v: Array, tau: Array) -> Array:
    """M⁻¹(τ − C v − g) by Gauss's principle [Quiroz, eq. (6.6)], or with constraints [Quiroz, eq. (6.7)].

    The formulas run on arrays, all samples at once; for 50 joints that is quicker than compiling them.
    """
    columns, rates, n = list(q.T), list(v.T), len(q)
    mass = _matrices(MASS_MATRIX["gauss"](robot.model, columns), n)
    coriolis = _matrices(CORIOLIS["gauss"](robot.model, columns, rates), n)
    gravity = _matrices([gauss.gravity_forces(robot.model, columns)], n)[:, 0]
    force = tau - np.einsum("nij,nj->ni", coriolis, v) - gravity
    if not robot.constraints:
        return _solved(mass, force)
    a, b = robot.constraint_matrix(q), robot.constraint_bias(q, v)
    return np.stack(udwadia_kalaba.acceleration(_entries(mass), _entries(force), _entries(a), _entries(b)), axis=-1)


def by_newton_euler(robot: Robot, q: Array, v: Array, tau: Array) -> Array:
    """The accelerations for which the recursion of Newton and Euler gives τ; for robots without constraints."""
    return _inverted(lambda q, v, a: robot.inverse_dynamics(q, v, a, method="newton-euler"), q, v, tau)


def by_toolbox(robot: Robot, q: Array, v: Array, tau: Array) -> Array:
    """The same for the arm with 50 joints, by the Robotics Toolbox from the same table of Denavit and Hartenberg."""
    link, gravity = arm_link(), np.array(rotation_matrix(ARM_BASE)).T @ [0.0, 0.0, -9.81]  # in DH frame 0
    body = (link.mass, link.com, link.tensor)
    toolbox = robotics_toolbox(SerialArm(arm_table(), [body] * len(arm_table()), gravity))

    def inverse(q: Array, v: Array, a: Array) -> Array:
        shape = np.broadcast_shapes(q.shape, v.shape, a.shape)
        rows = (np.broadcast_to(x, shape).reshape(-1, shape[-1]) for x in (q, v, a))
        return np.reshape(toolbox.torques(*rows), shape)

    return _inverted(inverse, q, v, tau)


def applicable(plant: Plant) -> tuple[str, ...]:
    """The methods of Silva's table that can model the plant, by the paper's names."""
    if plant.robot.constraints:
        return ("dqGP",)  # Newton-Euler takes no constraints
    return ("dqGP", "dqNE", "rtNE") if plant.key == "arm" else ("dqGP", "dqNE")


def _inverted(inverse: Inverse, q: Array, v: Array, tau: Array) -> Array:
    """Forward dynamics out of inverse dynamics alone: columns of M are the forces for unit accelerations."""
    rest = np.zeros_like(v)
    bias, static = inverse(q, v, rest), inverse(q, rest, rest)
    unit = np.broadcast_to(np.eye(v.shape[1]), (*v.shape, v.shape[1]))
    columns = inverse(np.repeat(q[:, None], v.shape[1], axis=1), np.zeros_like(unit), unit) - static[:, None]
    return _solved(columns, tau - bias)  # M is symmetric: rows are columns


def _solved(mass: Array, force: Array) -> Array:
    return np.asarray(np.linalg.solve(mass, force[..., None])[..., 0])


def _matrices(rows: Sequence[Sequence[Any]], n: int) -> Array:
    """Entries that are arrays over the samples, or constants, as (n, rows, columns)."""
    entries = [[np.broadcast_to(entry, n) for entry in row] for row in rows]
    return np.ascontiguousarray(np.moveaxis(np.array(entries, dtype=float), -1, 0))


def _entries(samples: Array) -> Any:
    """The inverse of :func:`_matrices`, also for vectors: lists with an array over the samples per entry."""
    return [_entries(part) for part in samples.swapaxes(0, 1)] if samples.ndim > 2 else list(samples.T)


METHODS: dict[str, Method] = {"dqGP": by_gauss, "dqNE": by_newton_euler, "rtNE": by_toolbox}
"""``method(robot, q, v, τ)`` by the paper's names."""
