"""Laws of motion: forward dynamics undoes inverse dynamics by every method; derivatives are those of the functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.dynamics.methods import FORWARD, INVERSE_DERIVATIVES

from .case import Case
from .numbers import along, bound, directions, evaluate, on_arrays


def forward(case: Case) -> None:
    """The acceleration comes back, by every method that has a place for this robot."""
    if not case.solvable:
        return
    robot, world = case.world.free, case.world
    q, v, a = case.state
    for method in FORWARD:
        if method == "articulated-body" and world.has_mimics:
            continue
        if world.frames:
            given: tuple[Any, ...] = (q, v, case.tau, world.wrenches)
            found = evaluate(robot, "forward_dynamics", *given, method=method, **world.under)
        else:
            found = evaluate(robot, "forward_dynamics", q, v, case.tau, method=method)
        case.check(f"forward dynamics, {method}", found, a, case.acceleration_error)
        form = bound(FORWARD[method], case.reduced, (robot.nv,))
        case.check(
            f"forward dynamics, {method}, regrouped", on_arrays(form, q, v, case.plain), a, case.acceleration_error
        )


def inverse_derivatives(case: Case) -> None:
    """∂τ/∂q and ∂τ/∂v by complex steps through another formulation; the forms for speed are the same."""
    robot = case.world.free
    q, v, a = case.state
    if not robot.nv:
        return
    state = (q, v, a)
    of = lambda *x: evaluate(robot, "inverse_dynamics", *x, method="screw")
    expected = (
        along(lambda x: of(x, v, a), q, directions(robot, q)).T,
        along(lambda x: of(q, x, a), v, np.eye(robot.nv)).T,
        case.mass,
    )
    in_bodies = INVERSE_DERIVATIVES["in-bodies"](case.reduced, *(list(x) for x in state))
    for d_dq, d_dv, d_da in (
        evaluate(robot, "inverse_dynamics_derivatives", *state),
        [np.array(part, dtype=float) for part in in_bodies],
    ):
        case.check("∂τ/∂q", d_dq, expected[0], 4.0 * case.eps * (case.force_size[:, None] + 0 * d_dq))
        joints = np.diag(case.damping) + case.rotor * (case.turning + case.speed + np.abs(v).max())
        case.check("∂τ/∂v", d_dv, expected[1], 4.0 * case.eps * (case.coriolis_size + joints))
        case.check("∂τ/∂a", d_da, expected[2], case.eps * case.mass_size)


def forward_derivatives(case: Case) -> None:
    """M times derivatives of the acceleration are minus those of the forces, at the acceleration that τ gives."""
    robot = case.world.free
    q, v, _ = case.state
    if not robot.nv or not case.solvable:
        return
    d_dq, d_dv, d_dtau = evaluate(robot, "forward_dynamics_derivatives", q, v, case.plain)
    at = evaluate(robot, "forward_dynamics", q, v, case.plain)
    t_dq, t_dv, _ = evaluate(robot, "inverse_dynamics_derivatives", q, v, at)
    eps, M, size = case.eps, case.mass, case.mass_size
    change = size @ case.acceleration_error  # of the forces, where the acceleration was solved for
    growth = size @ np.abs(np.linalg.inv(M)) @ size  # of what was lost in M
    for law, found, expected, own in (
        ("∂a/∂q", d_dq, -t_dq, eps * case.force_size[:, None] + change[:, None]),
        ("∂a/∂v", d_dv, -t_dv, eps * (case.coriolis_size + np.diag(case.damping))),
        ("∂a/∂τ", d_dtau, np.eye(robot.nv), eps * np.eye(robot.nv)),
    ):
        case.check(law, M @ found, expected, 4.0 * (own + eps * growth @ np.abs(found)))


LAWS = (forward, inverse_derivatives, forward_derivatives)
