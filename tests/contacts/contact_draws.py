"""Contacts drawn at random, and their wrench cones by linear programs over corner forces."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from dqdyn import contacts
from dqdyn.arrays import Array
from dqdyn.contacts import Contact


def polygon(rng: np.random.Generator, count: int) -> Array:
    """Corners (count, 3) of a convex polygon with z = 0, about 20 cm wide, in no special place."""
    angles = 2.0 * np.pi * (np.arange(count) + rng.uniform(-0.35, 0.35, count)) / count + rng.uniform(0.0, 6.0)
    width, center = rng.uniform(0.03, 0.15, 2), rng.uniform(-0.2, 0.2, 2)
    flat = center + width * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.column_stack([flat, np.zeros(count)])


def corner_wrenches(contact: Contact) -> tuple[Array, Array]:
    """Wrenches (6, g) of the pyramid edges at the corners, and the forces (g, 3), from the definition.

    For faces and points whose frame is the contact's but for its origin, and for edges.
    """
    corners = np.array(contact.corners) - np.mean(contact.corners, axis=0)
    if contact.kind == "edge":
        corners = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]) * np.linalg.norm(corners[0])
    if contact.mode == "sliding":
        forces = np.array([[*(-contact.friction * np.array(contact.directions[0][:2])), 1.0]])
    else:
        angles = np.pi / contact.edges + 2.0 * np.pi * np.arange(contact.edges) / contact.edges
        forces = np.column_stack(
            [contact.friction * np.cos(angles), contact.friction * np.sin(angles), np.ones(contact.edges)]
        )
    spins = (-1.0, 1.0) if contact.torsional_friction and contact.mode == "fixed" else (0.0,)
    columns, at = [], []
    for corner in corners:
        for force in forces:
            for spin in spins:
                moment = np.cross(corner, force) + [0.0, 0.0, spin * contact.torsional_friction]
                columns.append([*force, *moment])
                at.append(force)
    return np.array(columns).T, np.array(at)


def greatest_step(wrenches: Array, start: Array, step: Array) -> float:
    """The greatest s for which start + s step is a sum of the wrenches with weights ≥ 0."""
    size = np.abs(wrenches).max(axis=1)
    used = size > 0.0
    equal = np.column_stack([wrenches[used], -step[used]]) / size[used, None]
    cost = np.zeros(wrenches.shape[1] + 1)
    cost[-1] = -1.0
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(cost, A_eq=equal, b_eq=start[used] / size[used], method="highs", options=options)
    return np.inf if found.status == 3 else float(found.x[-1])


def greatest_step_of_rows(contact: Contact, start: Array, step: Array) -> float:
    """The same by the rows of the cone, for φ."""
    rows = contact.cone_rows
    slack, rate = rows.right - rows.matrix @ start, rows.matrix @ step
    assert (slack >= -1e-12).all()
    return float((slack[rate > 0.0] / rate[rate > 0.0]).min(initial=np.inf))


def inner_unknowns(contact: Contact, rng: np.random.Generator) -> Array:
    """φ (k,) somewhere inside the cone, near its border as often as not, with about 300 N."""
    weights = rng.uniform(size=contact.generators.shape[1]) ** rng.integers(1, 9)
    wrench = contact.generators @ (300.0 * weights / weights.sum())
    return np.linalg.pinv(contact.wrench_basis) @ wrench


def edge(rng: np.random.Generator, **options: object) -> Contact:
    """An edge across no axis."""
    ends = rng.uniform(-0.1, 0.1, (2, 3))
    ends[:, 2] = ends[0, 2]
    return contacts.edge("foot", ends, **options)  # type: ignore[arg-type]
