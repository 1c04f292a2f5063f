"""The contact wrench cone as rows: friction, center of pressure, yaw, pressing, greatest normal force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.axes import polygon
from dqdyn.contacts.unknowns import F1, F2, FN, T1, T2, TN, generators, wrench_basis
from dqdyn.contacts.yaw import yaw_rows
from dqdyn.model.names import fresh_name

if TYPE_CHECKING:
    from dqdyn.contacts.contact import Contact

FORCE, MOMENT = "N", "N m"
Row = tuple[str, str, Array]
"""Name, unit, and coefficients (6,) on a wrench, which must not be positive."""

ON = 1e-9
"""How far a generator may be from a row that it lies on, relative to the sizes of both."""


@dataclass(frozen=True, eq=False)
class ConeRows:
    """``matrix`` (r, k) @ φ ≤ ``right`` (r,), with a name and a unit ("N" or "N m") per row."""

    matrix: Array
    right: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    def __post_init__(self) -> None:
        for array in (self.matrix, self.right):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.names)


def cone_rows(contact: Contact) -> ConeRows:
    """The rows on φ without those that follow from others."""
    basis = wrench_basis(contact)
    if contact.mode == "off":
        return ConeRows(np.zeros((0, 0)), np.zeros(0), (), ())
    if contact.cone == "corners":
        rows = _of_corners(contact)
    else:
        rows = [(name, unit, row @ basis) for name, unit, row in essential(contact, contact.bounds)]
    right = [0.0] * len(rows)
    if np.isfinite(contact.greatest_normal_force):
        rows.append(("greatest normal force", FORCE, basis[FN]))
        right.append(contact.greatest_normal_force)
    names = tuple(f"{contact.name}: {name}" for name, _, _ in rows)
    matrix = np.array([row for _, _, row in rows]) + 0.0  # no −0
    return ConeRows(matrix, np.array(right), names, tuple(unit for _, unit, _ in rows))


def _of_corners(contact: Contact) -> list[Row]:
    """One weight per generator, none of them negative."""
    count = generators(contact).shape[1]
    each = count // len(contact.corners)
    names = [f"corner {i // each + 1}, friction edge {i % each + 1}" for i in range(count)]
    if each == 1:
        names = [f"corner {i + 1} pressing" for i in range(count)]
    return [(name, FORCE, -row) for name, row in zip(names, np.eye(count), strict=True)]


def wrench_rows(contact: Contact) -> Iterator[Row]:
    """All rows that bound the wrench of a contact, some of which may follow from others."""
    yield "pressing", FORCE, -np.eye(6)[FN]
    if contact.mode == "fixed" and contact.friction:
        yield from _friction(contact)
    if contact.kind != "point":
        yield from _center_of_pressure(contact)
    if contact.mode == "fixed" and wrench_basis(contact)[TN].any():
        rows = yaw_rows(contact)
        for sign, bounding in (("+", rows[rows[:, TN] > 0.0]), ("−", rows[rows[:, TN] < 0.0])):
            for i, row in enumerate(bounding):
                yield f"yaw {sign}" + (f" {i + 1}" if len(bounding) > 1 else ""), MOMENT, row


def _friction(contact: Contact) -> Iterator[Row]:
    """Sides of the inner pyramid: a · f_t ≤ μ cos(π/n) f_n with unit vectors a."""
    for angle in 2.0 * np.pi * np.arange(contact.edges) / contact.edges:
        row = np.zeros(6)
        row[[F1, F2, FN]] = np.cos(angle), np.sin(angle), -contact.friction * np.cos(np.pi / contact.edges)
        row[np.abs(row) < 1e-15] = 0.0
        yield f"friction {direction_name(angle)}", FORCE, row


def _center_of_pressure(contact: Contact) -> Iterator[Row]:
    """a · p f_n ≤ d f_n for each side of the polygon: p = (−τ_t2, τ_t1)/f_n stays inside."""
    used: set[str] = set()
    for normal, distance in sides(polygon(contact)):
        row = np.zeros(6)
        row[[T2, T1, FN]] = -normal[0], normal[1], -distance
        name = f"center of pressure {direction_name(np.arctan2(normal[1], normal[0]))}"
        yield fresh_name(name, used), MOMENT, row  # of many sides two may round to one angle


def sides(corners: Array) -> list[tuple[Array, float]]:
    """Outward unit normal and distance from the origin of each side of a convex polygon, by angle.

    Two corners on t1 have the bounds of their edge.
    """
    if len(corners) == 2:
        half = float(corners[1, 0])
        return [(np.array([1.0, 0.0]), half), (np.array([-1.0, 0.0]), half)]
    ordered = corners[np.argsort(np.arctan2(corners[:, 1], corners[:, 0]))]
    along = np.roll(ordered, -1, axis=0) - ordered
    normals = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1, keepdims=True)
    normals[np.abs(normals) < 1e-15] = 0.0
    return [(n, float(n @ corner)) for n, corner in zip(normals, ordered, strict=True)]


def direction_name(angle: float) -> str:
    """+x, −y, … or the angle from t1 in degrees."""
    degrees = np.rad2deg(angle) % 360.0
    quarter = int(np.round(degrees / 90.0))
    is_axis = abs(degrees - 90.0 * quarter) < 1e-6
    return ("+x", "+y", "−x", "−y")[quarter % 4] if is_axis else f"at {degrees:.4g}°"


def essential(contact: Contact, rows: Iterable[Row]) -> list[Row]:
    """The rows that are facets of the cone: the generators on them span a hyperplane of φ."""
    basis = wrench_basis(contact)
    edges = np.linalg.pinv(basis) @ generators(contact)
    size = np.abs(edges).max(axis=1, keepdims=True)
    edges = edges / size  # so that newtons and newton metres compare

    def is_facet(row: Array) -> bool:
        scaled = row @ basis * size[:, 0]
        on = edges[:, np.abs(scaled @ edges) < ON * np.abs(scaled).max()]
        return bool(np.linalg.matrix_rank(on, tol=ON) >= len(edges) - 1) if on.size else len(edges) == 1

    return [(name, unit, row) for name, unit, row in rows if is_facet(row)]
