"""Which parameters of a body merge into its parent's, by the kind of the joint between them.

An inertia u on a body may be handed on to its parent where it makes no difference which of the two carries it: the
joint's own motion gives it no momentum, u S = 0, and seen from the parent it is the same in every position of the
joint. For a revolute joint about z these are m, m c_z and I_xx + I_yy; for a prismatic one the whole tensor; for a
spherical one m; for a free joint nothing. The rule is solved for the joint itself, whatever its kind.
"""

from __future__ import annotations

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.arrays import Array
from dqdyn.identify.columns import PER_BODY, Columns
from dqdyn.identify.pseudo_inertia import carried, momentum
from dqdyn.model.model import WORLD_BODY, TreeJoint

_SAMPLES = 6  # positions of a joint, from which its rule is found
_NOTHING = 1e-9


def grouped(columns: Columns) -> tuple[Array, list[int]]:
    """The map G (p, p) from parameters to grouped ones, Y π = Y G π, and the columns that are left over."""
    robot = columns.robot
    p = len(columns.labels)
    result = np.eye(p)
    left = list(range(p))
    for joint in reversed(robot.joints):
        handed, pivots = handed_on(joint)
        if not pivots:
            continue
        own = slice(PER_BODY * joint.index, PER_BODY * (joint.index + 1))
        amounts = result[own][pivots]
        result[own] -= handed @ amounts
        result[own.start + np.array(pivots)] = 0.0  # what is left of them is rounding
        if joint.parent != WORLD_BODY:
            at = slice(PER_BODY * joint.parent, PER_BODY * (joint.parent + 1))
            neutral = joint.placement * joint.motion.pose(joint.motion.neutral())
            result[at] += carried(homogeneous(neutral)) @ handed @ amounts
        left = [k for k in left if k - own.start not in pivots]
    result[np.abs(result) < 1e-14] = 0.0
    return result, left


def handed_on(joint: TreeJoint) -> tuple[Array, list[int]]:
    """Inertias (10, k) that may be handed on through a joint, and the k parameters that measure them: m first."""
    rng = np.random.default_rng(0)
    motion, free = joint.motion, (float("-inf"),) * joint.motion.nq
    there = carried(homogeneous(motion.pose(motion.neutral())))
    rows = []
    for _ in range(_SAMPLES):
        q = motion.random(rng, free, tuple(-x for x in free))
        rows += [momentum(np.array([*s.primary.vector, *s.dual.vector], float)) for s in motion.subspace(q)]
        rows.append(carried(homogeneous(motion.pose(q))) - there)
    if not rows:
        return np.zeros((PER_BODY, 0)), []
    _, sizes, directions = np.linalg.svd(np.concatenate(rows))
    null = directions[int((sizes > _NOTHING * sizes[0]).sum()) :].T
    return _reduced(null)


# Parameters that are given to the parent if the rule leaves a choice, as in the literature: m, m c_z and I_yy first.
_ORDER = (0, 3, 2, 1, 6, 4, 9, 5, 7, 8)


def _reduced(null: Array) -> tuple[Array, list[int]]:
    """The same span, each direction with one entry 1 where the others have 0."""
    null = null.copy()
    pivots: list[int] = []
    for row in _ORDER:
        free = [c for c in range(null.shape[1]) if c >= len(pivots)]
        if not free:
            break
        best = max(free, key=lambda c: abs(null[row, c]))
        if abs(null[row, best]) < 1e-6:
            continue
        at = len(pivots)
        null[:, [at, best]] = null[:, [best, at]]
        null[:, at] /= null[row, at]
        for c in range(null.shape[1]):
            if c != at:
                null[:, c] -= null[:, at] * null[row, c]
        pivots.append(row)
    null[np.abs(null) < 1e-12] = 0.0
    return null, pivots


def homogeneous(x: DQ) -> Array:
    """The 4×4 matrix of a pose."""
    ad = Adjoint(x)
    result = np.eye(4)
    result[:3, :3] = np.array([c.vector for c in ad.columns], float).T
    result[:3, 3] = ad.p.vector
    return result
