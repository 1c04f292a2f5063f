"""How each field of a description is written in JSON, and the checks when it is read."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.errors import FormatError, LoadError, ModelError, one_line
from dqdyn.model import description as parts
from dqdyn.model.inertia import Inertia
from dqdyn.model.motors import Motor


@dataclass(frozen=True)
class JsonPlace:
    """Where a value stands, for messages: the file and the way through it, such as ``joints[3].axis``."""

    file: str
    path: str = ""

    def __truediv__(self, step: str | int) -> JsonPlace:
        if isinstance(step, int):
            return JsonPlace(self.file, f"{self.path}[{step}]")
        return JsonPlace(self.file, f"{self.path}.{step}" if self.path else step)

    def unwritable(self, shown: Any, remedy: str) -> FormatError:
        """The error for a value that JSON cannot hold."""
        return FormatError(f"JSON cannot hold {self.path} = {shown} of {self.file!r}: {remedy}.", element=self.path)

    def error(self, problem: str, **data: Any) -> LoadError:
        """The error of the whole file; the message goes on after its name."""
        return LoadError(f"{self.file}{problem}", file=self.file, **data)

    def wrong(self, expected: str, found: Any) -> LoadError:
        shown = one_line(reprlib.repr(found), 60)  # which follows nested lists only so far
        what = self.path or "the robot"
        return self.error(f": {what} must be {expected}; found {shown}.", element=what, found=found)


class JsonField:
    """How one value is written and read; the base holds what JSON has as it is."""

    def write(self, value: Any, place: JsonPlace) -> Any:
        return value

    def read(self, value: Any, place: JsonPlace) -> Any:
        raise NotImplementedError


class TextField(JsonField):
    """Any text that UTF-8 can hold."""

    def write(self, value: Any, place: JsonPlace) -> str:
        if _has_surrogate(str(value)):
            raise place.unwritable(repr(value), "remove the lone surrogate")
        return str(value)

    def read(self, value: Any, place: JsonPlace) -> str:
        if not isinstance(value, str) or _has_surrogate(value):
            raise place.wrong("a text", value)
        return value


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)


class Choice(TextField):
    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known

    def read(self, value: Any, place: JsonPlace) -> str:
        if value not in self.known:
            raise place.wrong(f"one of {', '.join(self.known)}", value)
        return str(value)


class FilePath(TextField):
    def read(self, value: Any, place: JsonPlace) -> Any:
        return Path(super().read(value, place))


class NumberField(JsonField):
    """A finite float."""

    def write(self, value: Any, place: JsonPlace) -> Any:
        if not math.isfinite(value):
            raise place.unwritable(value, "make it finite")
        return float(value)

    def read(self, value: Any, place: JsonPlace) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise place.wrong("a number", value)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise place.wrong("a finite number", value)
        return number


class FlagField(JsonField):
    """true or false."""

    def write(self, value: Any, place: JsonPlace) -> Any:
        return bool(value)

    def read(self, value: Any, place: JsonPlace) -> bool:
        if not isinstance(value, bool):
            raise place.wrong("true or false", value)
        return value


class LimitField(NumberField):
    """A float or an infinity."""

    def write(self, value: Any, place: JsonPlace) -> Any:
        if math.isinf(value):
            return "Infinity" if value > 0.0 else "-Infinity"
        return super().write(value, place)

    def read(self, value: Any, place: JsonPlace) -> float:
        if value in ("Infinity", "-Infinity"):
            return float(value)
        return super().read(value, place)


class ListField(JsonField):
    """A tuple of like values, of one of the given sizes where there are any."""

    def __init__(self, item: JsonField, *sizes: int) -> None:
        self.item, self.sizes = item, sizes

    def write(self, value: Any, place: JsonPlace) -> Any:
        return [self.item.write(v, place / i) for i, v in enumerate(value)]

    def read(self, value: Any, place: JsonPlace) -> Any:
        if not isinstance(value, list) or (self.sizes and len(value) not in self.sizes):
            raise place.wrong(f"a list of {' or '.join(map(str, self.sizes))}" if self.sizes else "a list", value)
        return tuple(self.item.read(v, place / i) for i, v in enumerate(value))


class PoseField(ListField):
    """The 8 coefficients of a dual quaternion."""

    def __init__(self) -> None:
        super().__init__(NumberField(), 8)

    def write(self, value: Any, place: JsonPlace) -> Any:
        return super().write(value.components, place)

    def read(self, value: Any, place: JsonPlace) -> DQ:
        return DQ(list(super().read(value, place)))


class OptionalField(JsonField):
    """A value or null."""

    def __init__(self, item: JsonField) -> None:
        self.item = item

    def write(self, value: Any, place: JsonPlace) -> Any:
        return None if value is None else self.item.write(value, place)

    def read(self, value: Any, place: JsonPlace) -> Any:
        return None if value is None else self.item.read(value, place)


class PerAxisField(JsonField):
    """One number for all axes of a joint, or a list with one for each."""

    def __init__(self, item: JsonField) -> None:
        self.one, self.many = item, ListField(item)

    def write(self, value: Any, place: JsonPlace) -> Any:
        return (self.many if isinstance(value, (tuple, list)) else self.one).write(value, place)

    def read(self, value: Any, place: JsonPlace) -> Any:
        return (self.many if isinstance(value, list) else self.one).read(value, place)


class RecordField(JsonField):
    """An object with exactly the fields of a dataclass; those of ``later`` may be missing in files of earlier days."""

    def __init__(self, kind: type, later: tuple[str, ...] = (), /, **items: JsonField) -> None:
        assert set(items) == {f.name for f in fields(kind)}, kind
        self.kind, self.items, self.later = kind, items, later

    def write(self, value: Any, place: JsonPlace) -> Any:
        return {name: item.write(getattr(value, name), place / name) for name, item in self.items.items()}

    def read(self, value: Any, place: JsonPlace) -> Any:
        if not isinstance(value, dict):
            raise place.wrong("an object", value)
        for name in self.items:
            if name not in value and name not in self.later:
                raise place.wrong(f"an object with the field {name!r}", sorted(value))
        for name in value:
            if name not in self.items:
                raise place.wrong(f"an object without the unknown field {name!r}", sorted(value))
        given = {name: item.read(value[name], place / name) for name, item in self.items.items() if name in value}
        try:
            return self.kind(**given)
        except ModelError as problem:
            what = place.path or "the robot"
            raise place.error(f": {what} is not usable: {problem}", element=what, found=value) from None


_NUMBER, _TEXT, _POSE, _FLAG = NumberField(), TextField(), PoseField(), FlagField()
_VECTOR = ListField(_NUMBER, 3)
_LIMIT, _CONSTANT = OptionalField(PerAxisField(LimitField())), PerAxisField(_NUMBER)
_INERTIA = RecordField(Inertia, mass=_NUMBER, com=_VECTOR, tensor=ListField(_VECTOR, 3))
_SHAPE = RecordField(
    parts.Shape,
    kind=_TEXT,
    size=ListField(_NUMBER),
    origin=_POSE,
    name=OptionalField(_TEXT),
    mesh=OptionalField(_TEXT),
    path=OptionalField(FilePath()),
    color=OptionalField(ListField(_NUMBER, 4)),
    material=OptionalField(_TEXT),
)
_LINK = RecordField(parts.Link, name=_TEXT, inertia=_INERTIA, visuals=ListField(_SHAPE), collisions=ListField(_SHAPE))
_MOTORS = OptionalField(
    ListField(
        OptionalField(RecordField(Motor, effort=LimitField(), velocity=LimitField(), gear=_NUMBER, name=_TEXT)),
    )
)
_JOINT = RecordField(
    parts.Joint,
    ("motors", "stiffness", "rest"),
    **dict.fromkeys(("name", "kind", "parent", "child"), _TEXT),
    origin=_POSE,
    **dict.fromkeys(("axis", "second_axis"), _VECTOR),
    pitch=_NUMBER,
    child_origin=_POSE,
    **dict.fromkeys(parts.LIMITS, _LIMIT),
    **dict.fromkeys((*parts.DYNAMICS, "rest"), _CONSTANT),
    mimic=OptionalField(RecordField(parts.Mimic, joint=_TEXT, ratio=_NUMBER, offset=_NUMBER)),
    motors=_MOTORS,
)
DESCRIPTION = RecordField(
    parts.Description,
    ("loops", "stabilisation", "base_motors", "postures", "groups", "disabled_pairs", "losses", "dh"),
    name=_TEXT,
    base=Choice(parts.BASES),
    drive=RecordField(parts.Drive, wheel_radius=_NUMBER, wheel_distance=_NUMBER),
    gravity=_VECTOR,
    links=ListField(_LINK),
    joints=ListField(_JOINT),
    frames=ListField(RecordField(parts.NamedFrame, name=_TEXT, link=_TEXT, origin=_POSE)),
    source=OptionalField(_TEXT),
    notes=ListField(_TEXT),
    loops=ListField(
        RecordField(parts.Loop, name=_TEXT, kind=_TEXT, between=ListField(_TEXT), values=ListField(_NUMBER))
    ),
    stabilisation=OptionalField(ListField(_NUMBER, 0, 1)),
    base_motors=_MOTORS,
    postures=ListField(
        RecordField(parts.Posture, name=_TEXT, joints=ListField(_TEXT), values=ListField(ListField(_NUMBER)))
    ),
    groups=ListField(RecordField(parts.Group, name=_TEXT, joints=ListField(_TEXT), links=ListField(_TEXT))),
    disabled_pairs=ListField(ListField(_TEXT, 2)),
    losses=ListField(_TEXT),
    dh=OptionalField(RecordField(parts.DHTable, rows=ListField(ListField(_NUMBER, 4)), modified=_FLAG)),
)
