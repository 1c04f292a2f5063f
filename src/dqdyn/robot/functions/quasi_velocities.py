"""Functions of a robot in quasi-velocities, and those that tell whether they have an answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.dynamics.arguments import Wrenches
from dqdyn.kinematics.frames import Expressed
from dqdyn.model.canonical import in_cheap_frames
from dqdyn.model.model import Frame, Model
from dqdyn.quasi_velocities.equations import QuasiVelocities
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import Candidates, Result, RobotFunction

Subject = QuasiVelocities


def _in_cheap_frames(algorithm: Callable[..., Any]) -> Callable[[Subject, Options], Candidates]:
    """``algorithm(speeds, model, *inputs)`` on the model in the frames that cost least."""
    return lambda s, options: [(partial(algorithm, s), in_cheap_frames(s.model))]


def _inverse(s: Subject, on: Model, q: Scalars, u: Scalars, u_rate: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    return s.inverse_dynamics(q, u, u_rate, wrenches, on)


def _forward(s: Subject, on: Model, q: Scalars, u: Scalars, forces: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    return s.forward_dynamics(q, u, forces, wrenches, on)


def _bias(s: Subject, on: Model, q: Scalars, u: Scalars) -> list[Scalar]:
    return s.inverse_dynamics(q, u, [0.0] * s.size, None, on)


def _mass(s: Subject, on: Model, q: Scalars) -> list[list[Scalar]]:
    return s.mass_matrix(q, on)


def _matrix(s: Subject, q: Scalars) -> Any:
    return s.b(q)


def _frame_velocities(s: Subject, q: Scalars, frame: Frame, expressed: Expressed) -> list[list[Scalar]]:
    """∂ξ/∂u (6×m) of a frame's twist."""
    return s.frame_velocities(frame, expressed, q)


def _fast(name: str, inputs: str, result: Result, algorithm: Any, options: str = "", **more: Any) -> RobotFunction:
    return _of(name, inputs, result, algorithm, options, candidates=_in_cheap_frames(algorithm), **more)


_of = RobotFunction.of
_WRENCHES = "wrench_frames wrench_expressed"
QUASI_VELOCITIES = RobotFunction.table(
    _of("matrix", "q", "matrix", _matrix),
    _of("velocity", "q u", "list", Subject.velocity),
    _of("acceleration", "q u u_rate", "list", Subject.acceleration),
    _of("speeds", "q v", "list", Subject.speeds, divides="B"),
    _of("forces", "q tau", "list", Subject.forces),
    _fast("mass_matrix", "q", "matrix", _mass),
    _fast("bias_forces", "q u", "list", _bias),
    _fast("inverse_dynamics", "q u u_rate", "list", _inverse, _WRENCHES),
    _fast("forward_dynamics", "q u forces", "list", _forward, _WRENCHES, divides="M"),
    _of("partial_velocities", "q", "matrices", Subject.partial_velocities),
    _of("frame_velocities", "q", "matrix", _frame_velocities, "frame expressed"),
)
CHECKS = RobotFunction.table(
    _of("independence", "q", "list", Subject.independence),
    _of("pivots", "q", "list", Subject.pivots),
    _of("drift", "q", "matrix", Subject.drift),
    _of("missed", "q v", "list", Subject.missed),
)
