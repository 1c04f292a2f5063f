"""Torques of chosen joints that give an acceleration which the constraints admit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqdyn.arrays import Array, Reals, Times
from dqdyn.constraints.methods import torques
from dqdyn.errors import StateError
from dqdyn.robot.base import RobotBase
from dqdyn.robot.state import as_state

_CONSISTENT = 1e-6  # of A a − b, relative to its terms


def least_torques(
    robot: RobotBase, q: Reals, v: Reals, a: Reals, need: Array, actuated: str | Sequence[str], t: Times
) -> Array:
    """The smallest τ of the actuated joints with τ + Aᵀλ = ``need``; errors where a or the motors do not allow it."""
    from dqdyn.robot.constrained import ConstrainedMethods

    assert isinstance(robot, ConstrainedMethods)
    model = robot.model
    if need.dtype == object:
        raise StateError("the smallest torques of actuated joints need numbers: give none of q, v, a by symbols.")
    acceleration = as_state(model, "a", a)
    matrix, bias = robot.constraint_matrix(q, None, t), robot.constraint_bias(q, v, t)
    if model.constraints:
        asked = (matrix @ acceleration[..., None])[..., 0]
        off = np.abs(asked - bias)
        scale = 1.0 + np.abs(matrix).max(-1) * np.abs(acceleration).max(-1, keepdims=True) + np.abs(bias)
        if (off > _CONSISTENT * scale).any():
            k = int(np.argmax((off / scale).reshape(-1, off.shape[-1]).max(axis=0)))
            size = float(off.reshape(-1, off.shape[-1])[:, k].max())
            name, remedy = robot.constraint_rows[k], "give one with A a = b, such as forward_dynamics gives"
            problem = f"the acceleration does not obey the constraint {name!r} of {model.name!r}: A a − b is {size:.3g}"
            raise StateError(f"{problem}; {remedy}.", argument="a", constraint=name, residual=size)
    batch = np.broadcast_shapes(need.shape[:-1], matrix.shape[:-2])
    need = np.broadcast_to(need, (*batch, model.nv))
    matrix = np.broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
    chosen = _velocities(robot, actuated)
    tau, left = torques.least_torques(need, matrix, np.array(chosen, dtype=int))
    if (left > torques.TOLERANCE).any():
        worst = float(left.max())
        who = "motors" if isinstance(actuated, str) and actuated == "motors" else "actuated joints"
        remedy = "give it more by robot.with_motors" if who == "motors" else "actuate more joints"
        problem = f"the {who} of {model.name!r} cannot give this acceleration: {worst:.3g} of the needed forces"
        raise StateError(f"{problem} remains; {remedy}.", argument="actuated", residual=worst)
    return tau


def _velocities(robot: RobotBase, actuated: str | Sequence[str]) -> list[int]:
    if isinstance(actuated, str) and actuated in ("motors", "all"):
        return [k for k, motor in enumerate(robot.model.motors) if motor is not None or actuated == "all"]
    if isinstance(actuated, str):
        actuated = [actuated]
    if not isinstance(actuated, Sequence):
        text = f"actuated is 'motors', 'all' or names of joints; found {actuated!r}."
        raise StateError(text, argument="actuated")
    return sorted({k for name in actuated for k in range(*robot.model.joint(name).v.indices(robot.model.nv))})
