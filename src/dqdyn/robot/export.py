"""Functions of a robot in other languages, with what is known about it in their heads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from dqdyn.compile.export.c_library import CLibrary, c_library, library_name
from dqdyn.compile.export.labels import Labels
from dqdyn.compile.export.languages import export as export_program
from dqdyn.compile.export.languages import options_of
from dqdyn.compile.export.names import identifier
from dqdyn.errors import Error, unknown_name
from dqdyn.model.model import Frame, Model, TreeJoint
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.options import DEFAULTS, FRAMES, Options
from dqdyn.robot.robot_function import RobotFunction

_UNSAID = (*FRAMES, "packed")
"""Options that go without saying where they have their defaults."""
LibraryFunction = str | tuple[str, Mapping[str, Any]]
"""The name of a function, or its name and options."""
UNITS = {"q": ("rad", "m"), "v": ("rad/s", "m/s"), "a": ("rad/s^2", "m/s^2"), "tau": ("N m", "N")}
"""Units of angular and of linear components."""
OTHERS = {
    "dt": "time, s",
    "t": "time, s",
    "wrench": "force in N and torque in N m on the frame",
    "point": "position in the frame, m",
    "line": "direction and moment in the frame, unit vector and m",
    "plane": "normal and distance in the frame, unit vector and m",
}


def export(functions: CompiledFunctions, language: str, name: str, given: dict[str, Any]) -> Any:
    """The function ``name`` in a language; options are those of the function and those of the exporter."""
    of_language = options_of(language)
    entry = functions.variables.functions.get(name)
    if entry is not None:
        known = (*entry.options, *of_language)
        for key in given:
            if key not in known:
                raise unknown_name(f"option of {name} or of its export to {language}", key, known)
    of_function = {key: value for key, value in given.items() if key not in of_language}
    function, options = functions.named(name, of_function)
    settings = {key: given[key] for key in of_language if key in given}
    model = functions.variables.model
    if "symbol" in of_language:
        settings.setdefault("symbol", symbol(model, function, options))
    if "unit_quaternions" in of_language:
        names = function.all_inputs(options)
        settings.setdefault("unit_quaternions", functions.variables.unit_quaternions(names))
    program = functions.get(function, options).program
    told = labels(model, function, options, function.summary(functions.owner))
    return export_program(language, program, told, **settings)


def library(
    functions: CompiledFunctions,
    wanted: Iterable[LibraryFunction] | Mapping[str, LibraryFunction],
    name: str | None,
    precision: str,
) -> CLibrary:
    """Several functions as one C library."""
    model = functions.variables.model
    name = identifier(model.name) if name is None else library_name(name)
    programs, told = {}, {}
    for own, item in _listed(wanted):
        function, options = functions.named(*name_and_options(item))
        called = (
            identifier(" ".join([name, function.name, *chosen(function, options).values()])) if own is None else own
        )
        if called in programs:
            raise Error(f"Two functions of the C library are called {called!r}: pass a dict from names.", name=called)
        programs[called] = functions.get(function, options).program
        told[called] = labels(model, function, options, function.summary(functions.owner))
    return c_library(name, programs, told, precision)


def _listed(wanted: Any) -> list[tuple[str | None, Any]]:
    """(name in C or None, what is wanted) of a list or a dict of functions."""
    if isinstance(wanted, Mapping):
        return list(wanted.items())
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise Error(f"A C library takes a list or dict of functions, as ['inverse_dynamics']; found {wanted!r}.")
    return [(None, item) for item in wanted]


def name_and_options(item: Any) -> tuple[str, Mapping[str, Any]]:
    """Of a function that is wanted: ``"pose"`` or ``("pose", {"frame": "tool"})``."""
    if isinstance(item, str):
        return item, {}
    try:
        name, options = item
    except (TypeError, ValueError):
        name, options = None, None
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise Error(f"A function is a name, or a pair as ('pose', {{'frame': 'tool'}}); found {item!r}.", found=item)
    return name, options


def symbol(model: Model, function: RobotFunction, options: Options) -> str:
    """A name such as ``arm7_pose_tool``, different for different frames and choices."""
    return identifier(" ".join([model.name, function.name, *chosen(function, options).values()]))


def labels(model: Model, function: RobotFunction, options: Options, summary: str) -> Labels:
    """What the function computes, of which robot, and what its inputs are."""
    words = ", ".join(f"{name} {value!r}" for name, value in chosen(function, options, defaults=True).items())
    title = f"{function.name} of {model.name!r}" + (f" for {words}" if words else "")
    inputs = {name: list(components(model, name)) for name in function.all_inputs(options)}
    if "wrenches" in inputs:
        inputs["wrenches"] = [
            f"wrenches[{6 * i}..{6 * i + 5}] {frame}: force in N, torque in N m"
            for i, frame in enumerate(options.wrench_frames)
        ]
    return Labels(title, summary, inputs)


def chosen(function: RobotFunction, options: Options, defaults: bool = False) -> dict[str, str]:
    """The options of a function in words; those with their default value only where it matters which it is."""
    told = [name for name in function.options if name not in ("wrench_frames", "wrench_expressed", "time")]
    told += ["wrench_frames", "wrench_expressed"] if options.wrench_frames else []
    told += ["time"] if options.time else []
    return {
        name: name if name == "packed" else _said(value)
        for name in told
        if (value := getattr(options, name)) != getattr(DEFAULTS, name) or (defaults and name not in _UNSAID)
    }


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(_said(v) for v in value)
    if callable(value):  # a formulation that the user wrote
        return str(getattr(value, "__name__", type(value).__name__))
    return value.name if isinstance(value, Frame) else str(value)


def components(model: Model, name: str) -> Iterator[str]:
    """Lines such as ``q[0..3] ball, unit quaternion (w, x, y, z)``."""
    kind = "q" if name == "q1" else name
    if kind not in UNITS:
        if name in OTHERS:
            yield OTHERS[name]
        return
    for joint in model.joints:
        if joint.master is None:
            part = joint.q if kind == "q" else joint.v
            start = part.start
            for size, unit in _runs(joint, kind):
                index = str(start) if size == 1 else f"{start}..{start + size - 1}"
                yield f"{name}[{index}] {joint.name}, {unit}"
                start += size


def _runs(joint: TreeJoint, kind: str) -> Iterator[tuple[int, str]]:
    """(number of components, unit) of neighbours with the same unit."""
    motion = joint.motion
    angular, linear = UNITS[kind]
    if motion.quaternion is not None:  # spherical or free: the rotation stands first
        yield (4, "unit quaternion (w, x, y, z)") if kind == "q" else (3, angular)
        if motion.nv > 3:
            yield 3, linear
        return
    for turns, neighbours in groupby(motion.angular):
        yield len(list(neighbours)), angular if turns else linear
