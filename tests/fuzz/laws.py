"""What holds for every robot that was accepted, whatever file it came from; on plain numbers, without the compiler."""

from __future__ import annotations

import numpy as np
from trees import random_state, run

from dqdyn.algebra.functions import position
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
        assert np.abs(tau - by_m).max() <= 1e-8 * scale, "inverse dynamics is not M a + bias"
        if robot.model.constraints:
            return "accepted"
        try:
            again = run(robot, "forward_dynamics", q, v, tau)
        except Error:
            return "accepted"
        error = np.abs(again - a).max() / max(1.0, np.abs(a).max(), scale / np.linalg.eigvalsh(m)[0] * 1e-8)
        assert error <= 1e-6, "forward dynamics of inverse dynamics is another acceleration"
    return "accepted, laws hold"
