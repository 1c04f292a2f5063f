"""Inertias as MuJoCo takes them: principal moments that no rounding makes impossible."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.errors import FormatError
from dqdyn.formats.xml_text import element, numbers
from dqdyn.model.description import Description, Link
from dqdyn.model.inertia import Inertia

SMALLEST = 1e-15
"""MuJoCo's least mass and moment of a moving body, in kg and kg m²."""

ROUNDING = 1e-12
"""Moments may miss the triangle inequality by this part of the largest one: no more than rounding of decompositions."""


def has_mass(inertia: Inertia) -> bool:
    """Whether MuJoCo accepts the inertia as that of a moving body."""
    return inertia.mass > SMALLEST and bool(np.all(inertia.principal_moments() > SMALLEST))


def accepted(inertia: Inertia) -> bool:
    """Whether MuJoCo accepts the moments: none negative, none larger than the sum of the other two."""
    a, b, c = inertia.principal_moments()
    allowed = max(ROUNDING * c, SMALLEST)
    return bool(a >= -allowed and a + b >= c - allowed)


def settled(description: Description) -> dict[str, Inertia]:
    """The inertia to write for each link.

    Links fixed to one another move as one body. Where MuJoCo refuses the inertia of one of them, or none of them has
    both mass and inertia, the link nearest to the root carries the inertia of all.
    """
    result = {link.name: link.inertia for link in description.links}
    for group in _welded(description):
        inertias = [link.inertia for link, _ in group]
        if all(map(accepted, inertias)) and (any(map(has_mass, inertias)) or not any(i.mass for i in inertias)):
            continue
        total = Inertia()
        for link, x in group:
            if not link.inertia.is_zero:
                total = total + (link.inertia if x == IDENTITY else link.inertia.moved_by(x))
            result[link.name] = Inertia()
        carrier = group[0][0]
        if not accepted(total):
            guilty = next((link for link, _ in group if not accepted(link.inertia)), carrier)
            moments = ", ".join(f"{m:.6g}" for m in guilty.inertia.principal_moments())
            refused = f"MuJoCo refuses its principal moments {moments} kg m²"
            remedy = "correct them, none may be negative or larger than the sum of the other two"
            problem = f"MJCF cannot hold the inertia of the link {guilty.name!r}, because {refused}: {remedy}."
            raise FormatError(problem, element=guilty.name)
        result[carrier.name] = total
    return result


def _welded(description: Description) -> list[list[tuple[Link, DQ]]]:
    """Links that move as one, each with its pose in the first of them."""
    links = {link.name: link for link in description.links}
    on_link = description.joints_by_parent()
    welded = {joint.child for joint in description.joints if joint.kind == "fixed"}
    groups = [[(link, IDENTITY)] for link in description.links if link.name not in welded]
    for group in groups:
        for above, x in group:  # grows while it is walked
            fixed = (joint for joint in on_link.get(above.name, ()) if joint.kind == "fixed")
            group += [(links[joint.child], x * joint.origin * joint.child_origin) for joint in fixed]
    return groups


def write_inertial(body: ET.Element, inertia: Inertia) -> None:
    """``<inertial>``; nothing where there is no inertia."""
    if inertia.is_zero:
        return
    moments, quaternion = _principal(np.array(inertia.tensor))
    pos, quat, mass = numbers(inertia.com), numbers(quaternion), numbers(inertia.mass)
    element(body, "inertial", pos=pos, quat=quat, mass=mass, diaginertia=numbers(moments))


def _principal(tensor: np.ndarray) -> tuple[list[float], list[float]]:
    """Principal moments, exactly within MuJoCo's bounds, and the rotation (w, x, y, z) to their axes."""
    if np.array_equal(tensor, np.diag(np.diag(tensor))):
        moments, quaternion = np.diag(tensor).copy(), [1.0, 0.0, 0.0, 0.0]
    else:
        moments, axes = np.linalg.eigh(tensor)
        quaternion = quaternion_of(axes if np.linalg.det(axes) > 0.0 else -axes)
    moments = np.maximum(moments, 0.0)
    largest = int(np.argmax(moments))
    a, b = np.delete(moments, largest)
    moments[largest] = min(moments[largest], a + b)
    return [float(m) for m in moments], quaternion


def quaternion_of(rotation: np.ndarray) -> list[float]:
    """(w, x, y, z) of a rotation matrix, from the largest of the four components."""
    r = rotation
    trace = np.trace(r)
    squares = np.array([trace, *(2.0 * r[i, i] - trace for i in range(3))])  # 4c² − 1 of each component c
    k = int(np.argmax(squares))
    skew = [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]
    if k == 0:
        q = np.array([1.0 + trace, *skew])
    else:
        i = k - 1
        q = np.array([skew[i], *(r[i, j] + r[j, i] for j in range(3))])
        q[k] = 1.0 + squares[k]
    return [float(c) for c in q / np.linalg.norm(q)]
