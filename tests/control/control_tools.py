"""Robots, moving obstacles and small loops for the tests of control."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from trees import rate, run

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.scalar import cos, sin
from dqdyn.control.core.kinematics import State
from dqdyn.control.core.term import Term
from dqdyn.robot import Robot


@cache
def arm() -> Robot:
    """The arm with six joints."""
    return dq.robots.arm6()


def seven() -> np.ndarray:
    """θ, d, a, α of a redundant arm, per column a joint."""
    return np.array(
        [
            [0.0, 0.1, 0.2, -0.3, 0.4, 0.0, 0.2],
            [0.3, 0.0, 0.1, 0.4, 0.0, 0.1, 0.0],
            [0.0, 0.4, 0.05, 0.0, 0.02, 0.0, 0.1],
            [1.57, 0.0, 1.2, -1.57, 1.57, 0.3, -0.8],
        ]
    )


# --- things that move, as functions of the algebra ------------------------------------------------------------------


def turning(t: Any, about: float = 0.0) -> list[Any]:
    """A unit direction that turns."""
    return [0.6 * cos(0.7 * t + about), 0.6 * sin(0.7 * t + about), 0.8]


def wandering(t: Any) -> list[Any]:
    """A position in m."""
    return [0.4 + 0.3 * sin(t), 0.2 - 0.1 * t * t, 0.5 + 0.2 * cos(2.0 * t)]


def moving_line(t: Any) -> list[Any]:
    l, p = turning(t), wandering(t)
    return [*l, p[1] * l[2] - p[2] * l[1], p[2] * l[0] - p[0] * l[2], p[0] * l[1] - p[1] * l[0]]


def moving_plane(t: Any) -> list[Any]:
    n, p = turning(t, 1.0), wandering(t)
    return [*n, n[0] * p[0] + n[1] * p[1] + n[2] * p[2]]


def moving_segment(t: Any) -> list[Any]:
    p, l = wandering(t), turning(t)
    return [*p, *(a + 0.5 * b for a, b in zip(p, l, strict=True))]


def moving_pose(t: Any) -> list[Any]:
    """r + ½ε p r with a rotation about z and then x."""
    a, p = 0.4 + 0.3 * t, wandering(t)
    r = [cos(a) * 0.8, cos(a) * 0.6, sin(a) * 0.6, sin(a) * 0.8]
    w, x, y, z = r
    px, py, pz = p
    dual = [
        -(px * x + py * y + pz * z),
        px * w + py * z - pz * y,
        py * w + pz * x - px * z,
        pz * w + px * y - py * x,
    ]
    return [*r, *(0.5 * c for c in dual)]


MOVING: dict[str, Callable[[Any], list[Any]]] = {
    "point": wandering,
    "line": moving_line,
    "plane": moving_plane,
    "segment": moving_segment,
    "pose": moving_pose,
    "rotation": lambda t: moving_pose(t)[:4],
    "number": lambda t: 0.3 + 0.1 * sin(t),
}


# --- laws -------------------------------------------------------------------------------------------------------------


def check_derivatives(
    robot: Robot,
    term: Term,
    q: np.ndarray,
    v: np.ndarray,
    *,
    t: float = 0.3,
    h: float = 1e-3,
    tolerance: float = 1e-7,
) -> None:
    """ẏ = J v + ζ and ÿ = drift + J v̇, each part alone and together, against central differences."""
    f = ct.linearise(robot, term)
    at = f(t, q, v)
    later = lambda s: run(robot, "integrate", q, v, s)
    scale = max(1.0, np.abs(at.jacobian).max(initial=0.0))
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * scale)
    close(at.jacobian @ v, rate(lambda s: f(t, later(s), v).value, h))
    close(at.residual, rate(lambda s: f(t + s, q, v).value, h))
    close(at.jacobian @ v + at.residual, rate(lambda s: f(t + s, later(s), v).value, h))
    close(at.jacobian_derivative, rate(lambda s: f(t + s, later(s), v).jacobian, h))
    close(at.residual_derivative, rate(lambda s: f(t + s, later(s), v).residual, h))
    close(at.drift, at.jacobian_derivative @ v + at.residual_derivative)


def rows_of(robot: Robot, task: Term, t: float, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Value, jacobian, residual and drift on plain numbers: no compiler."""
    bound, state = task.bound_to(robot.model), State(robot.model, q.tolist(), v.tolist())
    rows = bound.rows(state, [signal.at(t) for signal in bound.signals])
    return {name: np.array(getattr(rows, name)) for name in ("value", "jacobian", "residual", "rate", "drift")}


def follow(robot: Robot, controller: Any, q: np.ndarray, duration: float, dt: float) -> np.ndarray:
    """q after following a controller by velocity; explicit steps."""
    for k in range(round(duration / dt)):
        q = robot.integrate(q, controller(k * dt, q), dt)
    return q


def accelerate(
    robot: Robot, controller: Any, q: np.ndarray, v: np.ndarray, duration: float, dt: float, each: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) after following a controller by acceleration or torque, steps of constant acceleration."""
    for k in range(round(duration / dt)):
        u = controller(k * dt, q, v)
        a = u if controller.level == "acceleration" else robot.forward_dynamics(q, v, u)
        q = robot.integrate(q, v + 0.5 * dt * a, dt)
        v = v + dt * a
        if each is not None:
            each(k * dt, q, v)
    return q, v
