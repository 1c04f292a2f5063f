"""The controller that keeps a robot on its feet: the divergent component of motion first, then the trunk, then posture.

Feedback on the divergent component asks for a zero-moment point that may be outside of the soles. The cones of the
contacts keep the real one inside; what is missing comes from angular momentum: the trunk and the arms give way, since
their weights are smaller (the hip strategy).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqdyn import control as ct
from dqdyn.analysis.standing.setting import Standing
from dqdyn.contacts import Contact
from dqdyn.control.whole_body.controller import WholeBodyController

DIVERGENT, HEIGHT, TRUNK, POSTURE, MOMENTUM, FORCES = 1e4, 10.0, 0.3, 0.1, 1e-3, 1e-4
"""Weights of the tasks, for errors in m/s, m/s², rad/s², N m and N."""


def balance_tasks(standing: Standing, target: Any = None, *, height: Any = None, posture: Any = None) -> list[ct.Task]:
    """Center of mass over ``target`` (x, y) in m, a constant or a function of time; by default where it is at q0.

    ``posture`` (nq,), a constant or measured: by default q0.
    """
    robot, q0, center = standing.robot, standing.q0, standing.center
    at = center[:2] if target is None else target
    level = float(center[2]) if height is None else height
    return [
        ct.DivergentComponentTask(at, height=float(center[2]), gain=5.0, weight=DIVERGENT),
        ct.FunctionTask(lambda c: c.components[3] - level, ct.CenterOfMass(), gain=3.0, weight=HEIGHT, name="height"),
        ct.RotationTask(standing.pelvis, robot.pose(standing.pelvis, q0), gain=4.0, weight=TRUNK),
        ct.RotationTask(standing.chest, robot.pose(standing.chest, q0), gain=4.0, weight=TRUNK),
        ct.MomentumTask(part="angular", gain=5.0, weight=MOMENTUM),
        ct.PostureTask(q0 if posture is None else posture, gain=3.0, weight=POSTURE),
        # Feet that push against each other move nothing: without a price they do so, now hard, now not at all.
        ct.ForceRegularisation(components=("f_t1", "f_t2", "tau_t1", "tau_t2", "tau_n"), weight=FORCES),
    ]


def balance(
    standing: Standing,
    target: Any = None,
    more: Sequence[ct.Task] = (),
    *,
    contacts: Sequence[Contact] | None = None,
) -> WholeBodyController:
    """Balance on ``contacts``, by default on both feet, and ``more`` tasks; within joint limits and motors' torques."""
    on = standing.supports if contacts is None else contacts
    # A joint may be quick up to 0.05 s before its limit: a push does not wait.
    limits = ct.JointLimits(gain=20.0)
    return ct.whole_body_controller(standing.robot, [*balance_tasks(standing, target), *more], [limits], contacts=on)
