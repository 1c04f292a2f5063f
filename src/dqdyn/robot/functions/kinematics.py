"""Configurations, frames, points, lines and planes on frames, two hands, and the center of mass."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dqdyn.algebra.values import Pose, Twist
from dqdyn.compile.codegen.results import ValueKind
from dqdyn.dynamics.choice import Formulations
from dqdyn.dynamics.deferred import Deferred
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.kinematics import attached, configuration, cooperative, frames, mass, pose_products
from dqdyn.kinematics import pose_error as errors
from dqdyn.kinematics.frame_forces import frame_forces
from dqdyn.kinematics.frame_poses import Poses
from dqdyn.model.description import WORLD
from dqdyn.model.model import Frame, Model
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import Result, RobotFunction, with_parameters

Algorithm = Callable[..., Any]


_of = RobotFunction.of


def _of_frame(
    name: str, inputs: str, result: Result, algorithm: Algorithm, options: str = "", **more: Any
) -> RobotFunction:
    """``algorithm(model, frame, *inputs, **options)``."""

    def of_frame(model: Model, *given: Any, frame: Frame, **chosen: Any) -> Any:
        return algorithm(model, frame, *given, **chosen)

    return _of(name, inputs, result, of_frame, f"frame {options}", **more)


def _with_rate(name: str, jacobian: Algorithm, derivative: Algorithm, options: str = "") -> list[RobotFunction]:
    """A Jacobian of a frame and its rate along v."""
    return [
        _of_frame(f"{name}_jacobian", "q", "matrix", jacobian, options),
        _of_frame(f"{name}_jacobian_derivative", "q v", "matrix", derivative, options),
    ]


def _pose(model: Model, options: Options) -> ValueKind:
    return ValueKind(Pose, (_name(options.frame), WORLD))


def _poses(model: Model, options: Options) -> ValueKind:
    return ValueKind(Poses, {name: row for row, name in enumerate(model.frames)}, ("_coefficients", "_made", "frames"))


def _pair_pose(name: str, model: Model, options: Options) -> ValueKind:
    """That of frame 1 in frame 2, or of what is half-way between them in the world."""
    relative = (_name(options.frame1), _name(options.frame2))
    return ValueKind(Pose, relative if name == "relative" else (None, WORLD))


def _twist(model: Model, options: Options) -> ValueKind:
    body = _name(options.frame)
    return ValueKind(Twist, (body, WORLD, frames.expression_frame(body, options.expressed)))


def _primitive(kind: str, model: Model, options: Options) -> ValueKind:
    return ValueKind({"point": Point, "line": Line, "plane": Plane}[kind])


def _name(frame: Frame | str | None) -> str:
    assert isinstance(frame, Frame), "checked before"
    return frame.name


def _rotation_rows(algorithm: Algorithm) -> Algorithm:
    return lambda *given: algorithm(*given)[:4]


def _at_origin(algorithm: Algorithm) -> Algorithm:
    return lambda model, frame, *inputs: algorithm("point", model, frame, (0.0, 0.0, 0.0), *inputs)


def _on_frame(kind: str) -> list[RobotFunction]:
    """A point, line or plane fixed to a frame: the last input, so that one program serves all of them."""

    def of(algorithm: Algorithm) -> Algorithm:
        return lambda model, frame, *inputs: algorithm(kind, model, frame, inputs[-1], *inputs[:-1])

    return [
        _of_frame(f"{kind}_on", f"q {kind}", "list", of(attached.value), method=kind, value=partial(_primitive, kind)),
        _of_frame(f"{kind}_jacobian", f"q {kind}", "matrix", of(attached.jacobian)),
        _of_frame(f"{kind}_jacobian_derivative", f"q v {kind}", "matrix", of(attached.jacobian_derivative)),
    ]


def _of_hands(name: str, pair: cooperative.Pair) -> list[RobotFunction]:
    """The relative or absolute pose of two frames, with its Jacobian and the rate of that along v."""

    def of(algorithm: Algorithm) -> Algorithm:
        of_pair = partial(algorithm, pair)
        return lambda model, *inputs, frame1, frame2: of_pair(model, frame1, frame2, *inputs)

    hands = "frame1 frame2"
    return [
        _of(f"{name}_pose", "q", "dq", of(cooperative.pair_pose), hands, value=partial(_pair_pose, name)),
        _of(f"{name}_pose_jacobian", "q", "matrix", of(cooperative.pair_jacobian), hands),
        _of(f"{name}_pose_jacobian_derivative", "q v", "matrix", of(cooperative.pair_jacobian_derivative), hands),
    ]


def _centroidal(name: str, inputs: str, result: Result) -> RobotFunction:
    """A function of composite bodies, on whichever model costs fewer operations."""
    form = Deferred("dynamics.fast.centroidal", name)
    choice = Formulations(name, {"composite-body": form}, "composite-body", partial(_CENTROIDAL, form))
    return _of(name, inputs, result, choice=lambda model: choice)


_CENTROIDAL = Deferred("dynamics.fast.centroidal", "candidates")
_OF_COORDINATES = ("integrate", "difference", "integrate_jacobians", "difference_jacobians", "configuration_rate")
KINEMATICS = with_parameters(
    _of("integrate", "q v dt", "list", configuration.integrate),
    _of("difference", "q q1", "list", configuration.difference),
    _of("integrate_jacobians", "q v dt", "matrices", configuration.integrate_jacobians, plain="parts"),
    _of("difference_jacobians", "q q1", "matrices", configuration.difference_jacobians, plain="parts"),
    _of("configuration_rate", "q v", "list", configuration.configuration_rate),
    _of_frame("pose", "q", "dq", frames.pose, value=_pose),
    _of("poses", "q", "matrix", pose_products.poses, value=_poses),
    _of_frame("pose_error", "q goal", "list", errors.pose_error),
    _of_frame("pose_error_matrix", "q goal", "matrix", errors.pose_error_matrix),
    _of_frame("twist", "q v", "twist", frames.twist, "expressed", value=_twist),
    _of_frame("twist_rate", "q v a", "twist", frames.twist_rate, "expressed", value=_twist),
    _of_frame("frame_forces", "q wrench", "list", frame_forces, "expressed"),
    *_with_rate("twist", frames.twist_jacobian, frames.twist_jacobian_derivative, "expressed"),
    *_with_rate("pose", frames.pose_jacobian, frames.pose_jacobian_derivative),
    *_with_rate("rotation", _rotation_rows(frames.pose_jacobian), _rotation_rows(frames.pose_jacobian_derivative)),
    *_with_rate("translation", _at_origin(attached.jacobian), _at_origin(attached.jacobian_derivative)),
    *_on_frame("point"),
    *_on_frame("line"),
    *_on_frame("plane"),
    *_of_hands("relative", cooperative.relative),
    *_of_hands("absolute", cooperative.absolute),
    _of("center_of_mass", "q", "vector", mass.center_of_mass),
    _of("center_of_mass_velocity", "q v", "vector", mass.center_of_mass_velocity),
    _of("center_of_mass_jacobian", "q", "matrix", mass.center_of_mass_jacobian),
    _of("center_of_mass_jacobian_derivative", "q v", "matrix", mass.center_of_mass_jacobian_derivative),
    _centroidal("centroidal_momentum", "q v", "twist"),
    _centroidal("centroidal_momentum_matrix", "q", "matrix"),
    _centroidal("centroidal_momentum_matrix_derivative", "q v", "matrix"),
    without=_OF_COORDINATES,
)
