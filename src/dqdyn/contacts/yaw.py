"""Bounds on the moment about the normal: rows ±τ_n + … ≤ 0 of the contact wrench cone."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.axes import polygon
from dqdyn.contacts.unknowns import F1, F2, FN, T1, T2, TN, pyramid
from dqdyn.errors import Error, missing_extra

if TYPE_CHECKING:
    from dqdyn.contacts.contact import Contact

SAME = 1e-10
"""How far a generator may be from a facet that it lies on, of sizes about 1."""

MOST_GENERATORS = 144
"""Corners times pyramid edges whose rows are enumerated; 144 give some 4000 rows, where corner forces serve better."""


def yaw_rows(contact: Contact) -> Array:
    """Rows (r, 6) on a wrench with ±1 at τ_n; torsional friction adds what it can to both bounds."""
    if contact.kind == "point" or not contact.friction:
        rows = np.eye(6)[[TN, TN]] * [[1.0], [-1.0]]
    elif contact.edges == 4 and (half := half_sides(contact)) is not None:
        rows = rectangle_rows(*half, contact.friction * np.cos(np.pi / 4))
    else:
        rows = enumerated_rows(contact)
    rows[:, FN] -= contact.torsional_friction
    return rows


def half_sides(contact: Contact) -> tuple[float, float] | None:
    """Half length and half width of a rectangle with sides along t1 and t2; None for other faces and edges."""
    corners = polygon(contact)
    x, y = np.abs(corners).max(axis=0)
    inside = {(bool(a > 0.0), bool(b > 0.0)) for a, b in corners}
    is_rectangle = len(corners) == len(inside) == 4 and np.allclose(np.abs(corners), [x, y], rtol=SAME, atol=0.0)
    return (float(x), float(y)) if is_rectangle else None


def rectangle_rows(x: float, y: float, mu: float) -> Array:
    """The closed form for |x| ≤ X, |y| ≤ Y and |f_1|, |f_2| ≤ μ f_n at every corner.

    |Y f_1 + μ τ_1| + |X f_2 + μ τ_2| ≤ μ (X + Y) f_n − τ_n, and the same with −τ_n and −μ τ_1, −μ τ_2 on the left:
    the formula of Caron, Pham and Nakamura, "Stability of surface contacts for humanoid robots: closed-form formulae
    of the contact wrench cone for rectangular support areas" (2015).
    """
    rows = np.zeros((8, 6))
    for row, (sign, a, b) in zip(rows, product((1.0, -1.0), repeat=3), strict=True):
        row[[F1, F2, FN]] = a * y, b * x, -mu * (x + y)
        row[[T1, T2, TN]] = a * sign * mu, b * sign * mu, sign
    return rows


def enumerated_rows(contact: Contact) -> Array:
    """The facets that bound τ_n, found on the slice f_n = 1 of the cone, which is the hull of the generators."""
    corners, forces, mu = polygon(contact), pyramid(contact), contact.friction
    if len(corners) * len(forces) > MOST_GENERATORS:
        many = f"the contact {contact.name!r} has {len(corners)} corners with {len(forces)} pyramid edges each"
        remedy = "take fewer of them, or cone='corners'"
        raise Error(f"{many}, too many for rows on its wrench: {remedy}.", contact=contact.name)
    axes = slice(2 if contact.kind == "face" else 1)
    half, length = np.abs(corners).max(axis=0)[axes], np.abs(corners).max()
    # Points [t, p, t × p] of the hull, each coordinate divided by its size.
    pairs = [(c, t) for c in corners for t in forces]
    points = np.array([[*t / mu, *c[axes] / half, (c[0] * t[1] - c[1] * t[0]) / (mu * length)] for c, t in pairs])
    rows = []
    for facet in _facets(points, contact.name):
        if abs(facet[-2]) > SAME:
            t1, t2, *p, z, offset = facet / abs(facet[-2])
            px, py = [*(p / half * mu * length), 0.0][:2]
            # Times f_n, with the place of the pressure p f_n = (−τ_t2, τ_t1).
            rows.append([t1 * length, t2 * length, offset * mu * length, py, -px, z])
    return np.array(rows)


def _facets(points: Array, name: str) -> list[Array]:
    """[normal, offset] with normal · point + offset ≤ 0 for each facet of a hull; equal facets come once.

    Qhull cuts facets into simplices; those of one facet touch the same points, by which the plane is found anew.
    """
    hull_of, failure = _qhull()
    problem = Error(f"the wrench cone of the contact {name!r} cannot be enumerated: use cone='corners'.", contact=name)
    try:
        planes = hull_of(points).equations
    except failure:
        raise problem from None
    size = points.shape[1]
    found: dict[bytes, Array] = {}
    for plane in planes:
        on = np.abs(points @ plane[:-1] + plane[-1]) < SAME
        if on.tobytes() in found:
            continue
        center = points[on].mean(axis=0)
        _, sizes, axes = np.linalg.svd(points[on] - center)
        if np.count_nonzero(sizes > SAME) != size - 1:  # merged or split by rounding: a row would be missing
            raise problem
        normal = axes[-1] if axes[-1] @ plane[:-1] > 0.0 else -axes[-1]
        found[on.tobytes()] = np.array([*normal, -normal @ center])
    return list(found.values())


def _qhull() -> tuple[Any, type[Exception]]:
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:
        purpose = "The wrench cone of an edge or of a face that is not a rectangle with pyramids of 4 edges"
        raise missing_extra("scipy", "control", purpose) from None
    return ConvexHull, QhullError
