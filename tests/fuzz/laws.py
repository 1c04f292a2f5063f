"""What holds for every robot that was accepted, whatever file it came from; on plain numbers, without the compiler."""

from __future__ import annotations

import numpy as np
from trees import random_state, run

from dqdyn.algebra.poses import position
from dqdyn.errors import Error
from dqdyn.robot import Robot

LONGEST = 1e3  # m, kg or kg m²
LARGEST = 1e6
"""Beyond this, entries of M are so far apart that rounding decides; such robots are not judged by their numbers."""


def is_ordinary(m: np.ndarray) -> bool:
    """Whether M is of a size and a condition at which a law can be tested in doubles."""
    if not np.isfinite(m).all() or not m.size or np.abs(m).max() > LARGEST:
        return False
    values = np.linalg.eigvalsh((m + m.T) / 2.0)
    return bool(values[0] > 1e-6 * values[-1] and values[0] > 1e-9)


def is_robot_sized(robot: Robot) -> bool:
    """Whether lengths and inertias leave digits: with an offset of 1e4 m, two ways to compute M differ by 1e-8."""
    places = [position(joint.placement).vector for joint in robot.joints]
    places += [position(frame.placement).vector for frame in robot.frames.values()]
    places += [body.inertia.com for body in robot.bodies]
    places += [row for body in robot.bodies for row in (*body.inertia.tensor, (body.inertia.mass,))]
    return all(abs(c) < LONGEST for place in places for c in place)


def off_unit(robot: Robot) -> float:
    """How far poses of the description are from unit ones; files hold few digits, and poses are used as they are."""
    poses = [x.vec8() for joint in robot.description.joints for x in (joint.origin, joint.child_origin)]
    return max((max(abs(x[:4] @ x[:4] - 1.0), 2.0 * abs(x[:4] @ x[4:])) for x in map(np.asarray, poses)), default=0.0)


def check_laws(robot: Robot, seed: int = 1) -> str:
    """M symmetric, and forward ∘ inverse dynamics the identity; what was looked at."""
    if robot.nv == 0 or robot.nv > 12:
        return "accepted"
    if not is_robot_sized(robot):
        return "accepted, extreme"
    q, v, a = random_state(robot, np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        m = run(robot, "mass_matrix", q)
        if not is_ordinary(m):
            return "accepted, extreme"
        assert np.abs(m - m.T).max() <= 1e-9 * np.abs(m).max(), "M is not symmetric"
        tau = run(robot, "inverse_dynamics", q, v, a)
        by_m = m @ a + run(robot, "bias_forces", q, v)
        scale = max(1.0, np.abs(tau).max(), np.abs(m).max())
        off = off_unit(robot) * scale
        assert np.abs(tau - by_m).max() <= 1e-8 * scale + off, "inverse dynamics is not M a + bias"
        if robot.model.constraints:
            return "accepted"
        try:
            again = run(robot, "forward_dynamics", q, v, tau)
        except Error:
            return "accepted"
        least = np.linalg.eigvalsh(m)[0]
        allowed = 1e-6 * max(1.0, np.abs(a).max(), scale / least * 1e-8) + off / least
        assert np.abs(again - a).max() <= allowed, "forward dynamics of inverse dynamics is another acceleration"
    return "accepted, laws hold"
