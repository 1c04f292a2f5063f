"""Functions of a robot in other languages, with what is known about it in their heads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dqdyn.compile.export.labels import Labels
from dqdyn.compile.export.languages import export as export_program
from dqdyn.compile.export.languages import options_of
from dqdyn.compile.export.names import identifier
from dqdyn.errors import unknown_name
from dqdyn.model.model import Frame, Model, TreeJoint
from dqdyn.robot.bound import DEFAULTS, Bindings
from dqdyn.robot.catalog import Quantity, quantities

UNITS = {"q": ("rad", "m"), "v": ("rad/s", "m/s"), "a": ("rad/s^2", "m/s^2"), "tau": ("N m", "N")}
"""Units of angular and of linear components."""
OTHERS = {
    "dt": "time, s",
    "t": "time, s",
    "point": "position in the frame, m",
    "line": "direction and moment in the frame, unit vector and m",
    "plane": "normal and distance in the frame, unit vector and m",
}


def export(bindings: Bindings, language: str, name: str, options: dict[str, Any]) -> Any:
    """The function ``name`` in a language; options are those of the function and those of the exporter."""
    of_language = options_of(language)
    found = quantities(bindings.model).get(name)
    if found is not None:
        known = (*found.options, *of_language)
        for key in options:
            if key not in known:
                raise unknown_name(f"option of {name} or of its export to {language}", key, known)
    of_function = {key: value for key, value in options.items() if key not in of_language}
    quantity, values = bindings.resolve(name, of_function)
    settings = {key: options[key] for key in of_language if key in options}
    if "symbol" in of_language:
        settings.setdefault("symbol", symbol(bindings.model, quantity, values))
    program = bindings.function(name, of_function).program
    return export_program(language, program, labels(bindings.model, quantity, values), **settings)


def symbol(model: Model, quantity: Quantity, values: tuple[Any, ...]) -> str:
    """A name such as ``arm7_pose_tool``, different for different frames and choices."""
    words = [model.name, quantity.name]
    for option, value in zip(quantity.options, values, strict=True):
        if option not in DEFAULTS or value != DEFAULTS[option]:
            words.append(_said(value))
    return identifier(" ".join(words))


def labels(model: Model, quantity: Quantity, values: tuple[Any, ...]) -> Labels:
    """What the function computes, of which robot, and what its inputs are."""
    chosen = ", ".join(f"{option} {_said(value)!r}" for option, value in zip(quantity.options, values, strict=True))
    title = f"{quantity.name} of {model.name!r}" + (f" for {chosen}" if chosen else "")
    inputs = {name: list(_components(model, name)) for name in quantity.inputs}
    if "wrenches" in inputs:
        frames = values[quantity.options.index("wrench_frames")]
        inputs["wrenches"] = [
            f"wrenches[{6 * i}..{6 * i + 5}] {frame}: force in N, torque in N m" for i, frame in enumerate(frames)
        ]
    return Labels(title, quantity.summary, inputs)


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(_said(v) for v in value)
    return value.name if isinstance(value, Frame) else str(value)


def _components(model: Model, name: str) -> Iterator[str]:
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
    size = 0
    for i, turns in enumerate(motion.angular):
        size += 1
        if i + 1 == len(motion.angular) or motion.angular[i + 1] != turns:
            yield size, angular if turns else linear
            size = 0
