"""The contact problem of one step, posed for those contacts that would otherwise sink in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.simulate.unilateral.coulomb import OPEN, ContactProblem, Whole, modes, solve
from dqdyn.simulate.unilateral.elimination import Mobility

_MOVES = 1e-9
"""Part of the largest mobility below which impulses cannot move a contact: it is left out."""
_ADDITIONS = 50
Key = tuple[int, int]
"""Corner and surface; of an end stop −1 and its number."""


@dataclass(frozen=True)
class UnilateralRows:
    """All contacts that may close in a step, n of them: u = ``rows`` (n, 3, nv) v + ``offset`` (n, 3), [t1, t2, n].

    The offset of the normal has gap/h. The spin about the normal is ``spin`` (n, nv) v + ``spin_offset`` (n,).
    """

    keys: list[Key]
    rows: Array
    offset: Array
    friction: Array
    torsion: Array
    spin: Array
    spin_offset: Array

    def normal_speed(self, v: Array) -> Array:
        """u_n + gap/h (n,), which must not be negative."""
        return np.asarray(self.rows[:, 2] @ v + self.offset[:, 2])


@dataclass(frozen=True)
class Impact:
    """The velocity after the step, impulses p (n, 3) and spin (n,) in the contacts' axes, modes, and Jᵀp (nv).

    ``error`` in m/s: how far Coulomb's law is missed; ``converged``: whether that is rounding.
    """

    v: Array
    p: Array
    spin: Array
    modes: Whole
    generalized: Array
    error: float
    converged: bool

    def pressing(self, keys: list[Key]) -> dict[Key, Array]:
        """[p, spin] (4,) of the contacts that press, from which the next step starts."""
        return {keys[i]: np.array([*self.p[i], self.spin[i]]) for i in np.flatnonzero(self.p[:, 2] > 0.0)}


def impact(rows: UnilateralRows, mobility: Mobility, free: Array, last: dict[Key, Array]) -> Impact:
    """Contacts join until none sinks in: an impulse at one may push another.

    ``free`` is the velocity (nv) without contacts, ``last`` what pressed in the step before.
    """
    count = len(rows.keys)
    result = Impact(free, np.zeros((count, 3)), np.zeros(count), np.full(count, OPEN), np.zeros_like(free), 0.0, True)
    pressed = np.array([key in last for key in rows.keys], dtype=np.bool_)
    wanted = pressed | (rows.normal_speed(free) < 0.0)
    able = np.ones(count, dtype=np.bool_)
    for _ in range(_ADDITIONS):
        active = np.flatnonzero(wanted & able)
        able[active] = _movable(rows, mobility, active)
        active = np.flatnonzero(wanted & able)
        if not len(active):
            break
        result = _solved(rows, mobility, free, last, active)
        speed = rows.normal_speed(result.v)
        sinking = able & ~wanted & (speed < -1e-9 * max(1.0, float(np.abs(speed).max())))
        if not sinking.any():
            break
        wanted = wanted | sinking
    return result


def _movable(rows: UnilateralRows, mobility: Mobility, active: Whole) -> Array:
    """Which of the active contacts an impulse along their normal can move."""
    normals = rows.rows[active, 2]
    own = (normals * mobility.response(normals).T).sum(axis=1)
    return np.asarray(own > _MOVES * own.max(initial=0.0))


def _solved(rows: UnilateralRows, mobility: Mobility, free: Array, last: dict[Key, Array], active: Whole) -> Impact:
    """The impulses of the active contacts, as if there were no others."""
    count, nv = len(rows.keys), len(free)
    spinning = np.flatnonzero(rows.torsion[active] > 0.0)
    turning = active[spinning]
    jacobian = np.concatenate([rows.rows[active].reshape(-1, nv), rows.spin[turning]])
    offset = np.concatenate([rows.offset[active].ravel(), rows.spin_offset[turning]])
    response = mobility.response(jacobian)
    w = jacobian @ response
    b = jacobian @ free + offset
    problem = ContactProblem(0.5 * (w + w.T), b, rows.friction[active], spinning, rows.torsion[turning])
    guess = np.array([last.get(rows.keys[i], np.zeros(4)) for i in active])
    found = solve(problem, np.concatenate([guess[:, :3].ravel(), guess[spinning, 3]]))
    impulses = np.concatenate([found.p.ravel(), found.spin])
    p, spin, kinds = np.zeros((count, 3)), np.zeros(count), np.full(count, OPEN)
    u = (w @ impulses + b)[: 3 * len(active)].reshape(-1, 3)
    p[active], spin[turning], kinds[active] = found.p, found.spin, modes(problem, found.p, u)
    return Impact(free + response @ impulses, p, spin, kinds, jacobian.T @ impulses, found.error, found.converged)
