"""What a contact may be made of; each fault is one sentence with its remedy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.checks import UNIT_TOLERANCE
from dqdyn.algebra.real import real_array, real_number
from dqdyn.arrays import Array
from dqdyn.contacts.axes import contact_axes
from dqdyn.errors import Error, unknown_name
from dqdyn.model.inertia import Vector

MODES = ("fixed", "sliding", "off")
CONES = ("wrench", "corners")
MOST_EDGES = 64
"""Of a friction pyramid; more of them would cost rows and bring less than 0.2 % of friction."""

FLAT = 1e-5
"""m by which corners of a face may be apart along its normal, which rounding in a file explains."""

THIN = 1e-6
"""Width of a face, and of a corner over the line of its neighbours, relative to the face, below which it is a line."""


def text(value: Any, what: str, default: str = "") -> str:
    """A text, or the default for an empty one; without a default it must not be empty."""
    if not isinstance(value, str) or not (value or default):
        raise Error(f"{what} is a text such as 'left_sole'; found {value!r}.", found=value)
    return value or default


def choice(value: Any, what: str, known: Sequence[str]) -> str:
    """One of the known words."""
    if not isinstance(value, str) or value not in known:
        raise unknown_name(what, value, known)
    return value


def not_negative(value: Any, what: str, unit: str, contact: str, *, infinite: bool = False) -> float:
    """A number ≥ 0, finite unless said."""
    number = real_number(value, f"the {what} of the contact {contact!r}", contact=contact)
    if not number >= 0.0 or (math.isinf(number) and not infinite):
        allowed = "a number that is not negative" if infinite else "a finite number that is not negative"
        raise Error(
            f"the {what} of the contact {contact!r} is {allowed}{unit}; found {number}.", contact=contact, found=number
        )
    return number


def positive(value: Any, what: str, contact: str) -> float:
    """A finite length above 0."""
    number = not_negative(value, what, " in m", contact)
    if not number:
        raise Error(f"the {what} of the contact {contact!r} must be above 0 m.", contact=contact, found=number)
    return number


def vectors(values: Any, what: str, contact: str) -> tuple[Vector, ...]:
    """Finite vectors of three components; one vector alone is a list of one."""
    said = f"the {what} of the contact {contact!r}"
    array = real_array(values if isinstance(values, np.ndarray) else _listed(values, said), said, contact=contact)
    array = array.reshape(1, 3) if array.shape == (3,) else array.reshape(0, 3) if not array.size else array
    if array.ndim != 2 or array.shape[1] != 3:
        raise Error(f"{said}: 3 numbers make a vector; found shape {array.shape}.", contact=contact, found=values)
    if not np.isfinite(array).all():
        raise Error(f"{said} must be finite; found {array.tolist()}.", contact=contact, found=values)
    return tuple((float(x), float(y), float(z)) for x, y, z in array)


def _listed(values: Any, said: str) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise Error(f"{said}: 3 numbers make a vector; found {values!r}.", found=values) from None


def one_vector(value: Any, what: str, contact: str) -> Vector:
    """One finite vector."""
    found = vectors(value, what, contact)
    if len(found) != 1:
        said = f"the {what} of the contact {contact!r} is one vector of 3 numbers"
        raise Error(f"{said}; found {len(found)}.", contact=contact, found=value)
    return found[0]


def unit_vector(value: Any, what: str, contact: str) -> Vector:
    """A vector of length 1."""
    found = one_vector(value, what, contact)
    said = f"the {what} of the contact {contact!r}"
    length = math.hypot(*found)
    if abs(length - 1.0) > UNIT_TOLERANCE:
        remedy = "divide it by its norm" if length else "give a vector that is not zero"
        raise Error(f"{said} must have length 1, found {length:.9g}: {remedy}.", contact=contact, found=length)
    return found


def face_corners(corners: tuple[Vector, ...], normal: Vector, contact: str) -> None:
    """An error unless the corners are those of a convex polygon in a plane across the normal, in any order."""
    offsets = np.array(corners) - np.mean(corners, axis=0)
    size = float(np.abs(offsets).max())
    said = f"the face of the contact {contact!r}"
    if size == 0.0 or np.linalg.svd(offsets, compute_uv=False)[1] < THIN * size:
        remedy = "use contacts.edge with its two ends, or contacts.point"
        raise Error(f"the corners of {said} lie on one line: {remedy}.", contact=contact)
    axes = contact_axes(normal)
    heights = offsets @ axes[:, 2]
    low, high = int(heights.argmin()), int(heights.argmax())
    if (apart := float(heights[high] - heights[low])) > FLAT:
        problem = f"corner {high + 1} of {said} is {apart:.3g} m beyond corner {low + 1} along its normal"
        remedy = "bring them into one plane, or turn the normal"
        raise Error(f"{problem}: {remedy}.", contact=contact, corner=high + 1, found=apart)
    flat = offsets @ axes[:, :2]
    order = np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))
    turned = _turns(flat[order])
    worst = int(turned.argmin())
    if turned[worst] < THIN * size:
        corner = int(order[worst]) + 1
        problem = f"corner {corner} of {said} does not stick out of the polygon of the others"
        raise Error(f"{problem}: leave it out, for a plane touches the convex hull.", contact=contact, corner=corner)


def _turns(corners: Array) -> Array:
    """How far each corner lies outside of the line between its neighbours, in m, for corners by angle."""
    before, after = np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0)
    along, arm = after - before, corners - before
    lengths = np.maximum(np.linalg.norm(along, axis=1), 1e-300)
    return np.asarray((arm[:, 0] * along[:, 1] - arm[:, 1] * along[:, 0]) / lengths)


def edge_corners(corners: tuple[Vector, ...], contact: str) -> None:
    """An error where both ends are one point."""
    if math.dist(*corners) == 0.0:
        said = f"the ends of the edge of the contact {contact!r} are the same point"
        raise Error(f"{said}: move one of them, or use contacts.point.", contact=contact)


def sliding_directions(directions: tuple[Vector, ...], across: Vector, mode: str, contact: str) -> None:
    """An error unless there are one or two directions across the normal, and only where the contact slides."""
    said = f"the contact {contact!r}"
    if mode != "sliding":
        if directions:
            problem = f"{said} has directions of sliding but the mode {mode!r}"
            raise Error(f"{problem}: leave them out, or take the mode 'sliding'.", contact=contact)
        return
    if len(directions) not in (1, 2):
        expected = f"{said} slides along 1 or 2 directions; found {len(directions)}"
        raise Error(f"{expected}: give directions=((1, 0, 0),) or the like.", contact=contact, found=len(directions))
    for direction in directions:
        unit_vector(direction, "direction of sliding", contact)
        sine = float(np.dot(direction, across))
        if abs(sine) > UNIT_TOLERANCE:
            angle = math.degrees(math.asin(min(1.0, abs(sine))))
            problem = f"a direction of sliding of {said} is {angle:.3g}° off the plane across the normal"
            raise Error(f"{problem}: take its part along the normal away.", contact=contact, found=angle)
    if len(directions) == 2 and np.linalg.norm(np.cross(*directions)) < THIN:
        raise Error(f"both directions of sliding of {said} are along one line: leave one out.", contact=contact)
