"""Laws of constraints: rows are what they stand for, the acceleration obeys them, and their forces do no work."""

from __future__ import annotations

import numpy as np

from dqdyn.constraints.forward import CONSTRAINED_FORWARD
from dqdyn.constraints.undetermined import mass_is_singular
from dqdyn.errors import Error

from .case import Case
from .numbers import along, by_differences, evaluate

NOW = [0.0]


def rows(case: Case) -> None:
    """A is the derivative of the residuals, which vanish here; b of A a = b is −Ȧ v."""
    robot = case.robot
    q, v, _ = case.state
    if not robot.constraints:
        return
    A = evaluate(robot, "constraint_matrix", q, NOW)
    size = _row_size(case, A)
    held = [row for c in robot.constraints for row in [c.holonomic] * c.rows(robot.model)]
    residual = evaluate(robot, "constraint_residual", q, NOW)
    case.check("constraints hold", residual, 0 * residual, 100.0 * case.eps * case.reach**2)
    slope = by_differences(lambda x: evaluate(robot, "constraint_residual", x, NOW), robot, q).T
    case.check("A is a gradient", A[held], slope, 1e-9 * size[held] * case.reach)
    rate = evaluate(robot, "configuration_rate", q, v)[None]
    A_rate = along(lambda x: evaluate(robot, "constraint_matrix", x, NOW), q, rate)[0]
    fast = case.eps * 10.0 * size * case.reach * (1.0 + case.speed + case.turning)
    case.check("Ȧ", evaluate(robot, "constraint_matrix_rate", q, v, NOW), A_rate, fast)
    b = evaluate(robot, "constraint_bias", q, v, NOW)
    case.check("b = −Ȧ v", b, -A_rate @ v, fast @ np.abs(v) * (1.0 + case.speed))
    case.check("A v", evaluate(robot, "constraint_velocity", q, v, NOW), A @ v, case.eps * 10.0 * size @ np.abs(v))


def motion(case: Case) -> None:
    """By every method A a = b, and M a − τ + bias lies in the range of Aᵀ; admissible motions get no power from it."""
    robot, world = case.robot, case.world
    q, v, _ = case.state
    if not robot.constraints:
        return
    if not case.solvable:
        return
    A, b = evaluate(robot, "constraint_matrix", q, NOW), evaluate(robot, "constraint_bias", q, v, NOW)
    size = _row_size(case, A)
    _, s, vt = np.linalg.svd(A)
    scale = np.linalg.norm(size, axis=None)
    rank = int((s > 1e-7 * scale).sum())
    if ((s > 1e-14 * scale) & (s <= 1e-7 * scale)).any() or _is_nearly_dependent(case, A):
        return  # neither independent nor dependent: whatever is done, little of it can be known
    tangent = vt[rank:]
    least = np.linalg.lstsq(A, b, rcond=1e-9)[0]
    off = float(np.abs(A @ least - b).max())
    speed = (1.0 + np.abs(v) @ np.ones(len(v))) * (1.0 + case.speed + case.turning) * case.reach
    if off > 1e-9 * size.max() * speed:
        return  # a singular configuration, which has no acceleration at all
    bias = evaluate(robot, "inverse_dynamics", q, v, np.zeros(robot.nv))
    tau = np.random.default_rng(world.seed).normal(size=robot.nv)
    ratio = _ratio(case, A, rank)
    for method in CONSTRAINED_FORWARD:
        growth = ratio**2 if method == "kkt" else ratio  # A M⁻¹ Aᵀ has the square of the condition
        a = evaluate(robot, "forward_dynamics", q, v, tau, method=method)
        known = case.eps * growth * (size @ np.abs(a) + np.abs(b) + size.max() * speed)
        case.check(f"A a = b, {method}", A @ a, b, 10.0 * known + 10.0 * off)
        imbalance = case.mass @ a + bias - tau
        forces = case.force_size + case.mass_size @ np.abs(a) + np.abs(tau) + np.abs(imbalance)
        case.check(
            f"free motion, {method}",
            tangent @ imbalance,
            np.zeros(len(tangent)),
            10.0 * case.eps * growth * (np.abs(tangent) @ forces),
        )
    growth = ratio**2
    lam = evaluate(robot, "constraint_multipliers", q, v, tau, NOW)
    a = evaluate(robot, "forward_dynamics", q, v, tau, method="kkt")
    found = case.mass @ a + bias - tau
    allowed = (
        10.0
        * case.eps
        * growth
        * (case.force_size + case.mass_size @ np.abs(a) + np.abs(tau) + np.abs(A.T) @ np.abs(lam))
    )
    case.check("multipliers", A.T @ lam, found, allowed)
    case.check("constraint forces", evaluate(robot, "constraint_forces", q, v, tau, NOW), A.T @ lam, allowed)


def _is_nearly_dependent(case: Case, A: np.ndarray) -> bool:
    """Whether what is left of a row, less its share of those before it, is around the 1e-6 of it that decide."""
    normals: list[np.ndarray] = []
    for row in A / np.sqrt(np.diag(case.mass)):
        left = row - sum((normal * (normal @ row) for normal in normals), np.zeros(len(row)))
        share = np.linalg.norm(left) / max(np.linalg.norm(row), 1e-300)
        if 1e-9 < share < 1e-4:
            return True
        if share >= 1e-4:
            normals.append(left / np.linalg.norm(left))
    return False


def _row_size(case: Case, A: np.ndarray) -> np.ndarray:
    """Size of the sums in each row of A."""
    columns = np.max(case.levers[0] + case.levers[1], axis=0, initial=0.0) + 1.0
    return np.broadcast_to(columns, A.shape) + np.abs(A)


def _ratio(case: Case, A: np.ndarray, rank: int) -> float:
    """The condition of the independent rows in the metric of M, by which rounding errors grow.

    Rows are taken in their order: a short one before a long one that depends on it decides for both, and what is
    rounding in its b counts as often as it is shorter.
    """
    rows = A / np.sqrt(np.diag(case.mass))
    s, lengths = np.linalg.svd(rows, compute_uv=False), np.linalg.norm(rows, axis=1)
    if not rank:
        return 1.0
    return float(s[0] / s[rank - 1] * lengths.max() / lengths[lengths > 1e-12 * lengths.max()].min())


def undetermined(case: Case) -> None:
    """Where M is singular everywhere, constraints may still determine the motion, or dqdyn says that they do not."""
    if not case.robot.constraints or not mass_is_singular(case.robot.model):
        return
    try:
        case.robot._functions.variables.inertia.require_inertia()
    except Error as problem:
        case.refuse("constrained forward dynamics", problem)


LAWS = (rows, motion, undetermined)
