"""Laws of kinematics: twists are rates of poses, Jacobians and their rates belong together, q is a manifold."""

from __future__ import annotations

import numpy as np

from .case import Case
from .numbers import along, evaluate


def frames(case: Case) -> None:
    """For the tool and the camera, in every axes."""
    robot = case.robot
    q, v, a = case.state
    rate = evaluate(robot, "configuration_rate", q, v)
    state, rates = np.concatenate([q, v]), np.concatenate([rate, a])
    columns = np.max(case.levers[0] + case.levers[1], axis=0, initial=0.0) + 1.0
    fast = case.speed + case.turning + columns @ np.abs(v)
    hard = fast * (1.0 + fast) + columns @ np.abs(a)
    lever = case.reach**2
    for frame in ("tool", "camera"):
        x_rate = along(lambda x, f=frame: evaluate(robot, "pose", x, frame=f), q, rate[None])[0]
        J = evaluate(robot, "pose_jacobian", q, frame=frame)
        case.check("pose Jacobian", J @ v, x_rate, 4.0 * case.eps * lever * fast)
        for expressed in ("body", "world", "aligned"):
            how = {"frame": frame, "expressed": expressed}
            twist = evaluate(robot, "twist", q, v, **how)
            J = evaluate(robot, "twist_jacobian", q, **how)
            J_rate = evaluate(robot, "twist_jacobian_derivative", q, v, **how)
            case.check(f"twist, {expressed}", J @ v, twist, 4.0 * case.eps * lever * fast)
            changing = along(lambda x, o=how: evaluate(robot, "twist_jacobian", x, **o), q, rate[None])[0]
            allowed = 4.0 * case.eps * lever * fast * columns
            case.check(f"Jacobian's rate, {expressed}", J_rate, changing, np.broadcast_to(allowed, J_rate.shape))
            speeding = along(
                lambda x, o=how: evaluate(robot, "twist", x[..., : robot.nq], x[..., robot.nq :], **o),
                state,
                rates[None],
            )[0]
            found = evaluate(robot, "twist_rate", q, v, a, **how)
            case.check(f"twist's rate, {expressed}", found, speeding, 4.0 * case.eps * lever * hard)
            case.check(f"J a + J̇ v, {expressed}", J @ a + J_rate @ v, found, 8.0 * case.eps * lever * hard)


def manifold(case: Case) -> None:
    """Going along v and asking for the difference gives v; q̇ is the rate of going."""
    robot = case.robot
    q, v, _ = case.state
    step = v / max(1.0, float(np.abs(v).max(initial=0.0)))
    there = evaluate(robot, "integrate", q, step, [1.0])
    back = evaluate(robot, "difference", q, there)
    case.check("difference", back, step, 100.0 * case.eps * (1.0 + float(np.abs(q).max(initial=0.0))))
    going = along(lambda t: evaluate(robot, "integrate", q, v, t), np.zeros(1), np.ones((1, 1)))[0]
    case.check(
        "rate of going",
        going,
        evaluate(robot, "configuration_rate", q, v),
        case.eps * (1.0 + np.abs(v).max(initial=0.0)),
    )


LAWS = (frames, manifold)
