"""Options of a robot's functions: what is fixed when a function is bound, and so part of its program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from dqdyn.algebra.real import in_words, real_array
from dqdyn.dynamics import wrenches
from dqdyn.dynamics.choice import Form, Method
from dqdyn.errors import Error, UnknownNameError, unknown_name
from dqdyn.kinematics.frames import EXPRESSIONS
from dqdyn.model.model import Frame, Model

if TYPE_CHECKING:
    from dqdyn.robot.robot_function import RobotFunction

WrenchAxes = Literal["body", "aligned"]
"""Axes of a wrench at the origin of a frame: the frame's own, or the world's."""
AsPrinted = Literal["newton-euler-literal", "screw-literal", "gauss-literal"]
OfEnergies = Literal["gauss", "gibbs-appell", "kane", "lagrange"]
NamedInverse = Literal["auto", "newton-euler", "recursive", "screw", "matrix", "closed-form", OfEnergies, AsPrinted]
InverseMethod = NamedInverse | Form
ForwardMethod = Literal["auto", "composite-body", "articulated-body", "kkt", "udwadia-kalaba", "kane"]
NamedMassMatrix = Literal[
    "auto", "composite-body", "composite-body-root", "closed-form", "gauss", "gauss-literal", "lagrange"
]
MassMatrixMethod = NamedMassMatrix | Form
NamedCoriolis = Literal["auto", "christoffel", "christoffel-root", "gauss", "gauss-literal", "lagrange"]
CoriolisMethod = NamedCoriolis | Form

Contact = tuple[str, tuple[float, float, float]]
"""A frame and a point in its axes, in m."""
Option = str | Form | Frame | bool | Sequence[str] | Sequence[Contact] | None
"""What the value of an option may be."""


Base = Literal["fixed", "free", "planar", "differential"]
FrameName = str | Frame
"""A frame, or its name."""


class Options(NamedTuple):
    """The options of one bound function; each function takes some of them."""

    frame: FrameName | None = None
    frame1: FrameName | None = None
    frame2: FrameName | None = None
    expressed: str = "body"
    method: Method = "auto"
    wrench_frames: tuple[str, ...] = ()
    wrench_expressed: str = "body"
    time: bool = False
    contacts: tuple[Contact, ...] = ()
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    parameters: tuple[str, ...] = ()
    packed: bool = False


DEFAULTS = Options()
FRAMES = ("frame", "frame1", "frame2")
"""Options without a default."""
KEYS = (*FRAMES, "expressed", "method")
"""Options by which compiled methods look a function up."""
PASSED_ON = (*FRAMES, "expressed", "point")
"""Options that the algorithm itself takes."""


def read_options(model: Model, function: RobotFunction, given: Mapping[str, Option]) -> Options:
    """Options of a function as words, checked; frames become those of the model."""
    for name in given:
        if name not in function.options:
            raise unknown_name(f"option of {function.name}", name, function.options)
    return checked(model, function, Options(**given))  # type: ignore[arg-type]


def checked(model: Model, function: RobotFunction, options: Options) -> Options:
    """Options whose values are known, with frames of the model and methods by the name of their program."""
    for name, known in (("expressed", EXPRESSIONS), ("wrench_expressed", wrenches.EXPRESSIONS)):
        if not isinstance(getattr(options, name), str) or getattr(options, name) not in known:
            raise unknown_name("expression", getattr(options, name), known)
    given = (options.frame, options.frame1, options.frame2)
    for name, value in zip(FRAMES, given, strict=True):
        if name in function.options and value is None:
            raise Error(f"{function.name} needs the option {name!r}: pass {name}=...", option=name)
        if not (value is None or isinstance(value, (str, Frame))):
            raise _not_a_frame(model, function, name, value)
    frame, frame1, frame2 = (None if f is None else model.frame(f) for f in given)
    method = options.method if function.choice is None else function.choice(model).resolve(options.method)
    names = options.wrench_frames
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise Error(f"wrench_frames is a list of frames, as in ['tool']; found {names!r}.", option="wrench_frames")
    if options.time and not model.constraints:
        raise Error(
            f"{model.name!r} has no constraints, so {function.name} takes no time: leave out time=True.", option="time"
        )
    if not isinstance(options.packed, bool):
        raise Error(f"packed is True or False; found {options.packed!r}.", option="packed")
    on = tuple(model.frame(frame).name for frame in names)
    options = options._replace(frame=frame, frame1=frame1, frame2=frame2, method=method, wrench_frames=on)
    options = options._replace(parameters=_parameters(model, function, options))
    contacts = tuple(_contact(model, contact) for contact in options.contacts)
    options = options._replace(time=bool(options.time), packed=bool(options.packed))
    return options._replace(contacts=contacts, point=_point(options.point))


_IN_JOINT_FRAMES = ("joint_wrenches", "torque_regressor")


def _parameters(model: Model, function: RobotFunction, options: Options) -> tuple[str, ...]:
    """Names of the parameters that become inputs."""
    if options.parameters == ():
        return ()
    from dqdyn.dynamics.parameters import checked_names

    names = checked_names(model, options.parameters, function.name)
    if "dh" in names and function.name in _IN_JOINT_FRAMES:
        text = f"{function.name} is about the frames of the joints, which stand elsewhere with each 'dh'"
        raise Error(f"{text}: use 'joint_poses'.", option="parameters")
    if names and options.method != "auto":
        text = f"{function.name} takes parameters as inputs in its fast form only"
        raise Error(f"{text}: leave out method={options.method!r}.", option="method")
    return names


def _not_a_frame(model: Model, function: RobotFunction, option: str, value: object) -> UnknownNameError:
    """The error for an argument in the place of a frame, most likely q; it shows the order of arguments."""
    frames = [repr(name) for name in reversed(list(model.frames))]
    given = [frames[i % len(frames)] for i in range(sum(n in function.options for n in FRAMES))]
    call = f"robot.{function.method or function.name}({', '.join([*given, *function.inputs])})"
    return UnknownNameError(
        f"{function.method or function.name} takes the frame first, by its name, then {function.inputs[0]}, as in "
        f"{call}; found {in_words(value)} in place of the frame.",
        name=value,
        matches=[],
        option=option,
    )


def _contact(model: Model, contact: object) -> Contact:
    if isinstance(contact, str) or not isinstance(contact, Sequence) or len(contact) != 2:
        raise Error(
            f"a contact is (frame, point), as in ('left_foot', (0, 0, 0)); found {contact!r}.", option="contacts"
        )
    return model.frame(contact[0]).name, _point(contact[1])


def _point(point: object) -> tuple[float, float, float]:
    place = real_array(point, "the point of a contact or Jacobian", Error, option="point")
    if place.shape != (3,):
        raise Error(f"a point has three components, in m; found {point!r}.", option="point")
    x, y, z = place.tolist()
    return x, y, z
