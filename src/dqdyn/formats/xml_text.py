"""Numbers, poses and names as XML text."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position
from dqdyn.errors import FormatError
from dqdyn.model.inertia import Vector, as_vector


def numbers(values: float | Iterable[float]) -> str:
    """Numbers separated by blanks, with as many digits as it takes to read the same floats back."""
    return " ".join(repr(float(v)) for v in (values if isinstance(values, Iterable) else (values,)))


def name_text(name: str, file_format: str) -> str:
    """A name that XML can hold."""
    if not name.isprintable():
        problem = f"the name {name!r}, which has unprintable characters: rename it."
        raise FormatError(f"{file_format} cannot hold {problem}", element=name)
    return name


def element(parent: ET.Element, tag: str, **attributes: str | None) -> ET.Element:
    """A new element inside ``parent``; attributes that are None are left out, a trailing ``_`` of a key is cut."""
    return ET.SubElement(parent, tag, {k.rstrip("_"): v for k, v in attributes.items() if v is not None})


def document(root: ET.Element) -> str:
    """The whole file."""
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def xyz(x: DQ) -> Vector:
    """Translation of a pose in m."""
    return as_vector(position(x).vector)


def roll_pitch_yaw(x: DQ) -> Vector:
    """Angles in rad about fixed x, y, z of the rotation of a pose, exact to rounding also where the pitch is ±90°.

    For the quaternion, w ± y and x ∓ z are cos and sin of (roll ∓ yaw)/2, times cos(pitch/2) ± sin(pitch/2). Where one
    of these factors vanishes, the angle found with it is arbitrary and has no effect.
    """
    r = x.primary
    plus, minus = math.hypot(r.w + r.y, r.x - r.z), math.hypot(r.w - r.y, r.x + r.z)
    half_difference, half_sum = math.atan2(r.x - r.z, r.w + r.y), math.atan2(r.x + r.z, r.w - r.y)
    pitch = 2.0 * math.atan2(plus, minus) - math.pi / 2.0
    return _wrapped(half_sum + half_difference), pitch, _wrapped(half_sum - half_difference)


def _wrapped(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi) if abs(angle) > math.pi else angle
