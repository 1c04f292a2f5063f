"""Values out of URDF elements: strict numbers, required attributes, and notes on unsupported content."""

from __future__ import annotations

import math
import sys

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.errors import LoadError
from dqdyn.formats.safe_xml import Document, Element
from dqdyn.model.check import LARGEST
from dqdyn.model.description import placement
from dqdyn.model.inertia import Vector

QUATERNION_TOLERANCE = 1e-3
"""A quaternion may miss length one by this much, because files hold few digits; it is normalised."""

# What each element may hold, and what may stand there although dynamics has no use for it: simulation, rendering,
# controllers, calibration. Anything else is noted, since it may be a misspelled name.
ELEMENTS = {
    "robot": "link joint material transmission",
    "link": "inertial visual collision",
    "joint": "origin parent child axis limit dynamics mimic",
    "inertial": "origin mass inertia",
    "visual": "origin geometry material",
    "collision": "origin geometry",
    "geometry": "box cylinder sphere capsule mesh",
    "material": "color texture",
}
IGNORED_ELEMENTS = {
    "robot": "gazebo sensor ros2_control",
    "link": "collision_checking contact gazebo gravity kinematic self_filter sensor surface",
    "joint": "calibration gazebo safety_controller",
    "visual": "gazebo",
    "collision": "contact_coefficients gazebo material verbose",
}
ATTRIBUTES = {
    "robot": "name",
    "link": "name",
    "joint": "name type",
    "origin": "xyz rpy quat_xyzw",
    "parent": "link",
    "child": "link",
    "axis": "xyz",
    "limit": "lower upper velocity effort",
    "dynamics": "damping friction",
    "mimic": "joint multiplier offset",
    "mass": "value",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "visual": "name",
    "collision": "name",
    "box": "size",
    "cylinder": "radius length",
    "sphere": "radius",
    "capsule": "radius length",
    "mesh": "filename scale",
    "material": "name",
    "color": "rgba",
    "texture": "filename",
}
IGNORED_ATTRIBUTES = {
    "robot": "version",
    "link": "type",
    "joint": "dont_collapse",
    "limit": "acceleration command_effort current deceleration gear_velocity jerk",
    "dynamics": "D K mu_coulomb mu_viscous",
    "geometry": "name",
    "visual": "group",
    "collision": "group",
}


def _merged(*tables: dict[str, str]) -> dict[str, frozenset[str]]:
    tags = {tag for table in tables for tag in table}
    return {tag: frozenset(name for table in tables for name in table.get(tag, "").split()) for tag in tags}


_KNOWN_ELEMENTS = _merged(ELEMENTS, IGNORED_ELEMENTS)
_KNOWN_ATTRIBUTES = _merged(ATTRIBUTES, IGNORED_ATTRIBUTES)
_NONE: frozenset[str] = frozenset()


def ignored_content(root: Element) -> tuple[str, ...]:
    """What URDF has for simulators, renderers and controllers, and what is not known, which a description has not."""
    found: dict[str, int] = {}
    pending = [root]
    while pending:
        element = pending.pop()
        for name in element.attributes:
            if name not in (*ATTRIBUTES.get(element.tag, "").split(), "version") and not name.startswith("xmlns"):
                key = f"the attribute {name!r} of <{element.tag}>"
                found[key] = found.get(key, 0) + 1
        for child in element.children:
            if child.tag not in ELEMENTS.get(element.tag, "").split() or child.tag == "texture":
                key = f"<{child.tag}> in <{element.tag}>"
                found[key] = found.get(key, 0) + 1
            elif child.tag != "transmission":
                pending.append(child)
    return tuple(key if count == 1 else f"{key}, {count} times" for key, count in sorted(found.items()))


class Values:
    """Reads values of one document; ``owner`` names the link or joint in messages, e.g. ``link 'hand'``."""

    def __init__(self, document: Document) -> None:
        self.file = document.file
        self._doubts: dict[str, list[str]] = {}

    # --- messages -------------------------------------------------------------------------------------------------

    def error(self, element: Element, owner: str, message: str) -> LoadError:
        """The error at an element; ``message`` continues after the owner's name."""
        file, line = self.file, element.line
        return LoadError(f"{file}, line {line}: {owner} {message}", file=file, line=line, element=owner)

    def doubt(self, owner: str, message: str) -> None:
        """A note; owners with the same message share one."""
        self._doubts.setdefault(message, []).append(owner)

    def notes(self) -> tuple[str, ...]:
        """One sentence per kind of doubt."""
        result = []
        for message, owners in self._doubts.items():
            names = list(dict.fromkeys(owners))
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            result.append(f"{', '.join(names[:3])}{more}: {message}")
        return tuple(result)

    # --- elements and attributes ------------------------------------------------------------------------------------

    def known(self, element: Element, owner: str) -> Element:
        """The element, with a note on every attribute or element inside that URDF does not have."""
        tag = element.tag
        for name in element.attributes:
            if name not in _KNOWN_ATTRIBUTES.get(tag, _NONE) and not name.startswith("xmlns"):
                self.doubt(owner, f"the attribute {name!r} of <{tag}> is not known and ignored; check its spelling.")
        for child in element.children:
            if child.tag not in _KNOWN_ELEMENTS.get(tag, _NONE):
                self.doubt(owner, f"<{child.tag}> in <{tag}> is not known and ignored; check its name and place.")
        return element

    def optional(self, parent: Element, tag: str, owner: str) -> Element | None:
        """The only element of that tag inside ``parent``, or None."""
        inside = parent.all(tag)
        if len(inside) > 1:
            raise self.error(inside[1], owner, f"has {len(inside)} elements <{tag}> in its <{parent.tag}>: keep one.")
        return self.known(inside[0], owner) if inside else None

    def required(self, parent: Element, tag: str, owner: str) -> Element:
        """The only element of that tag inside ``parent``."""
        element = self.optional(parent, tag, owner)
        if element is None:
            raise self.error(parent, owner, f"lacks <{tag}> in its <{parent.tag}>: add it.")
        return element

    def text(self, element: Element, attribute: str, owner: str) -> str:
        """A required attribute."""
        value = element.attributes.get(attribute)
        if value is None:
            raise self.error(element, owner, f"lacks the attribute {attribute!r} in <{element.tag}>: add it.")
        return value

    # --- numbers ----------------------------------------------------------------------------------------------------

    def number(self, element: Element, attribute: str, owner: str, default: float | None = None) -> float:
        """One finite number; ``default`` where the attribute is missing, else it is required."""
        if default is not None and attribute not in element.attributes:
            return default
        return self._parsed(self.text(element, attribute, owner), element, attribute, owner)

    def limit(self, element: Element, attribute: str, owner: str) -> float | None:
        """A limit: any number or infinity; None where it is missing.

        The largest float stands for infinity, which the parser of ROS does not read, see ``UNLIMITED`` of the writer.
        """
        if attribute not in element.attributes:
            return None
        value = self._parsed(element.attributes[attribute], element, attribute, owner, largest=math.inf)
        return math.copysign(math.inf, value) if abs(value) == sys.float_info.max else value

    def numbers(self, element: Element, attribute: str, owner: str, size: int) -> tuple[float, ...]:
        """A required attribute of ``size`` finite numbers, separated by spaces."""
        text = self.text(element, attribute, owner)
        parts = text.split()
        if len(parts) != size:
            remedy = f"write {size} numbers with spaces between them"
            raise self.error(element, owner, f"has {attribute}={_short(text)} in <{element.tag}>: {remedy}.")
        return tuple(self._parsed(part, element, attribute, owner) for part in parts)

    def vector(self, element: Element, attribute: str, owner: str, default: Vector | None = None) -> Vector:
        """Three numbers; ``default`` where the attribute is missing, else it is required."""
        if default is not None and attribute not in element.attributes:
            return default
        x, y, z = self.numbers(element, attribute, owner, 3)
        return x, y, z

    def _parsed(self, text: str, element: Element, attribute: str, owner: str, largest: float = LARGEST) -> float:
        try:
            # float() also takes digits of other scripts and 1_000, which no other reader of URDF does.
            value = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            value = math.nan
        if abs(value) <= largest:
            return value
        remedy = "run xacro on the file first" if "${" in text else "write a finite number such as 0.5"
        if LARGEST < abs(value) < math.inf:
            remedy = f"nothing in a robot is larger than {LARGEST:g}"
        raise self.error(element, owner, f"has {attribute}={_short(text)} in <{element.tag}>: {remedy}.")

    # --- poses ------------------------------------------------------------------------------------------------------

    def origin(self, parent: Element, owner: str) -> DQ:
        """The pose of <origin> inside ``parent``; the identity if absent."""
        element = self.optional(parent, "origin", owner)
        if element is None or not element.attributes:
            return IDENTITY
        xyz = self.vector(element, "xyz", owner, (0.0, 0.0, 0.0))
        if "quat_xyzw" not in element.attributes:
            return placement(xyz, self.vector(element, "rpy", owner, (0.0, 0.0, 0.0)))
        if "rpy" in element.attributes:
            raise self.error(element, owner, "has both rpy and quat_xyzw in <origin>: keep one.")
        x, y, z, w = self.numbers(element, "quat_xyzw", owner, 4)
        size = math.hypot(x, y, z, w)
        if abs(size - 1.0) > QUATERNION_TOLERANCE:
            fault = f"has a quat_xyzw of length {size:.6g} in <origin>: divide it by its length."
            raise self.error(element, owner, fault)
        return placement(xyz, quaternion=(w / size, x / size, y / size, z / size))


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
