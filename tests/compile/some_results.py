"""A handful of results of a robot, for one state and for batches, to compare processes by."""

from __future__ import annotations

import numpy as np

import dqdyn as dq


def results() -> list[float]:
    """Poses, Jacobians, twists, configurations and centers of mass of an arm on a free base."""
    robot = dq.robots.arm7(base="free")
    rng = np.random.default_rng(0)
    q = np.array([robot.random_configuration(rng) for _ in range(5)])
    v = rng.normal(size=(5, robot.nv))
    frame = robot.joints[-1].name
    found = [robot.pose(frame, q[0]).vec8(), robot.twist_jacobian(frame, q), robot.twist(frame, q, v).vec6()]
    found += [robot.integrate(q, v, 0.1), robot.center_of_mass(q), robot.pose_jacobian(frame, q[0])]
    found += [robot.function("difference")(q[0], q[1]), robot.function("twist", frame=frame)(q[0], v[0])]
    return [float(x) for part in found for x in np.ravel(part)]
