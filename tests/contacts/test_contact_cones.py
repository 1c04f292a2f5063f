"""The rows of wrench cones against linear programs over the forces at the corners."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contact_draws import corner_wrenches, edge, greatest_step, greatest_step_of_rows, inner_unknowns, polygon
from scipy.optimize import nnls
from seeds import generator

from dqdyn import contacts
from dqdyn.contacts import Contact
from dqdyn.contacts.yaw import enumerated_rows, half_sides, rectangle_rows

SIDE = (0.6, 0.8, 0.0)


def cases() -> dict[str, Contact]:
    rng = generator("contact cones")
    size = {"half_length": 0.11, "half_width": 0.06}
    found = {
        "rectangle": contacts.face("foot", **size, friction=0.7),
        "rectangle, torsional": contacts.face("foot", **size, friction=0.4, torsional_friction=0.02),
        "rectangle, 6 edges": contacts.face("foot", **size, edges=6),
        "frictionless": contacts.face("foot", **size, friction=0.0),
        "frictionless, torsional": contacts.face("foot", **size, friction=0.0, torsional_friction=0.03),
        "sliding": contacts.face("foot", **size, mode="sliding", directions=SIDE),
        "sliding without friction": contacts.face("foot", **size, friction=0.0, mode="sliding", directions=SIDE),
        "sliding triangle": contacts.face("foot", polygon(rng, 3), mode="sliding", directions=(SIDE, (0, 1, 0))),
        "frictionless point": contacts.point("foot", friction=0.0),
        "sliding point": contacts.point("foot", torsional_friction=0.1, mode="sliding", directions=SIDE),
        "frictionless edge": edge(rng, friction=0.0),
        "sliding edge": edge(rng, mode="sliding", directions=SIDE),
    }
    for count in (3, 4, 5, 8):
        found[f"edge, {count} edges"] = edge(rng, edges=count)
        found[f"edge, {count} edges, torsional"] = edge(rng, edges=count, torsional_friction=0.02)
        found[f"point, {count} edges"] = contacts.point("foot", edges=count)
        found[f"point, {count} edges, torsional"] = contacts.point("foot", edges=count, torsional_friction=0.05)
    for corners in range(3, 9):
        for count in range(3, 9):
            torsional = 0.01 * ((corners + count) % 2)
            found[f"{corners} corners, {count} edges"] = contacts.face(
                "foot", polygon(rng, corners), edges=count, friction=rng.uniform(0.2, 1.2), torsional_friction=torsional
            )
    return found


CASES = cases()


@pytest.mark.parametrize("case", CASES)
def test_rows_end_where_corner_forces_end(case: str) -> None:
    """Along random rays from inside, the first row is met where no forces in the pyramids make the wrench any more."""
    contact, rng = CASES[case], generator(case)
    wrenches, _ = corner_wrenches(contact)
    scale = np.abs(np.linalg.pinv(contact.wrench_basis) @ wrenches).max(axis=1) * 300.0
    ended = 0
    for _ in range(25):
        start, step = inner_unknowns(contact, rng), rng.normal(size=contact.size) * scale
        by_rows = greatest_step_of_rows(contact, start, step)
        by_forces = greatest_step(wrenches, contact.wrench(start), contact.wrench(step))
        assert by_rows == pytest.approx(by_forces, rel=1e-6, abs=1e-8)
        ended += np.isfinite(by_rows)
    assert ended > 5


@pytest.mark.parametrize("case", CASES)
def test_every_row_is_needed_and_names_are_unique(case: str) -> None:
    """A wrench just across the middle of a facet breaks the row of that facet and no other."""
    contact = CASES[case]
    rows = contact.cone_rows
    assert len(set(rows.names)) == len(rows)
    assert all(name.startswith("foot: ") for name in rows.names)
    edges = np.linalg.pinv(contact.wrench_basis) @ corner_wrenches(contact)[0]
    inside = edges.mean(axis=1)
    for row in rows.matrix:
        on = np.abs(row @ edges) < 1e-9 * np.abs(row).max()
        middle = edges[:, on].mean(axis=1) if on.any() else np.zeros(contact.size)
        across = middle + 1e-9 * (middle - inside)  # facets may be almost coplanar
        broken = rows.matrix @ across > 1e-14
        assert broken.sum() == 1
        assert row @ across > 0.0


@pytest.mark.parametrize("case", CASES)
def test_pyramids_are_inside_round_cones(case: str) -> None:
    """What the rows allow is made by forces in round cones, and the same forces give the wrench back."""
    contact, rng = CASES[case], generator(case + " inner")
    wrenches, forces = corner_wrenches(contact)
    for _ in range(10):
        wrench = contact.wrench(inner_unknowns(contact, rng))
        weights, rest = nnls(wrenches, wrench)
        assert rest < 1e-8
        at_corners = (weights[:, None] * forces).reshape(len(contact.corners), -1, 3).sum(axis=1)
        tangential = np.linalg.norm(at_corners[:, :2], axis=1)
        assert (tangential <= contact.friction * at_corners[:, 2] + 1e-9).all()
        assert contact.holds(wrench)
        if not contact.torsional_friction:
            assert contact.wrench_of_forces(at_corners) == pytest.approx(wrench, abs=1e-8)


def test_round_cone_is_met_at_the_edges_only() -> None:
    for edges in (3, 4, 5, 8, 12):
        contact = contacts.point("foot", edges=edges, friction=0.5)
        angles = np.linspace(0.0, 2.0 * np.pi, 24 * edges, endpoint=False)
        reach = []
        for angle in angles:
            reach.append(
                greatest_step_of_rows(contact, np.array([0, 0, 1.0]), np.array([np.cos(angle), np.sin(angle), 0]))
            )
        assert max(reach) == pytest.approx(0.5)
        assert min(reach) == pytest.approx(0.5 * np.cos(np.pi / edges))
        assert min(reach) == pytest.approx(reach[0])  # across the side that faces +x


def test_four_edges_bound_each_tangential_force() -> None:
    rows = contacts.point("foot", friction=0.6).cone_rows
    assert rows.names == tuple(f"foot: friction {side}" for side in ("+x", "+y", "−x", "−y"))
    mu = 0.6 / np.sqrt(2.0)
    assert rows.matrix == pytest.approx(np.array([[1, 0, -mu], [0, 1, -mu], [-1, 0, -mu], [0, -1, -mu]]))
    assert rows.units == ("N",) * 4
    assert not rows.right.any()


def test_closed_form_is_the_enumeration() -> None:
    rng = generator("rectangles")
    for _ in range(5):
        x, y, mu = rng.uniform(0.02, 0.2, 3)
        contact = contacts.face("foot", half_length=x, half_width=y, friction=mu, center=rng.normal(size=3))
        assert half_sides(contact) == pytest.approx((x, y))
        closed, enumerated = rectangle_rows(x, y, mu / np.sqrt(2.0)), enumerated_rows(contact)
        order = [np.lexsort(np.round(rows, 9).T) for rows in (closed, enumerated)]
        assert closed[order[0]] == pytest.approx(enumerated[order[1]], abs=1e-12)


def test_rectangles_need_their_sides_along_the_axes() -> None:
    """A turned square, a trapezoid and a kite have 4 corners as well; their rows must not be a rectangle's."""
    square = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [-0.1, 0.0, 0.0], [0.0, -0.1, 0.0]])
    for corners in (
        square,
        square * [1.0, 0.5, 0.0],
        [[0.1, 0.1, 0], [-0.1, 0.1, 0], [-0.05, -0.1, 0], [0.05, -0.1, 0]],
    ):
        assert half_sides(contacts.face("foot", corners)) is None
    assert half_sides(
        contacts.face("foot", [[0.3, 0.2, 0], [0.1, 0.1, 0], [0.1, 0.2, 0], [0.3, 0.1, 0]])
    ) == pytest.approx((0.1, 0.05))


@pytest.mark.parametrize("case", ["rectangle", "5 corners, 5 edges", "edge, 5 edges, torsional", "sliding edge"])
def test_corner_forces_have_the_same_cone(case: str) -> None:
    contact, rng = CASES[case], generator(case + " corners")
    corners = replace(contact, cone="corners", greatest_normal_force=400.0)
    each = corners.size // len(contact.corners)
    assert corners.wrench_basis == pytest.approx(corner_wrenches(contact)[0])  # column by column
    assert len(corners.cone_rows) == corners.size + 1
    assert corners.cone_rows.names[-1] == "foot: greatest normal force"
    assert f"corner {len(contact.corners)}" in corners.cone_rows.names[-2]
    for _ in range(10):
        phi = rng.exponential(size=corners.size)
        assert (corners.cone_rows.matrix @ phi <= corners.cone_rows.right).all()
        assert contact.holds(corners.wrench(phi))
        assert corners.wrench(phi)[2] == pytest.approx(phi.sum())
    assert each == {"rectangle": 4, "5 corners, 5 edges": 5, "edge, 5 edges, torsional": 10, "sliding edge": 1}[case]


def test_greatest_normal_force_is_a_row() -> None:
    for cone in ("wrench", "corners"):
        contact = contacts.face("foot", half_length=0.1, half_width=0.05, greatest_normal_force=250.0, cone=cone)
        rows = contact.cone_rows
        phi = np.linalg.pinv(contact.wrench_basis) @ [0, 0, 251.0, 0, 0, 0]
        broken = rows.matrix @ phi > rows.right + 1e-9
        assert [name for name, b in zip(rows.names, broken, strict=True) if b] == ["foot: greatest normal force"]
        assert rows.units[-1] == "N"


def test_thin_faces_are_enumerated_as_well() -> None:
    rng = generator("thin faces")
    for thin in (1e-2, 1e-3):
        contact = contacts.face("foot", polygon(rng, 5) * [1.0, thin, 0.0], friction=0.5)
        wrenches, _ = corner_wrenches(contact)
        scale = np.abs(wrenches).max(axis=1) * 300.0
        for _ in range(10):
            start, step = inner_unknowns(contact, rng), rng.normal(size=6) * scale
            by_forces = greatest_step(wrenches, contact.wrench(start), step)
            assert greatest_step_of_rows(contact, start, step) == pytest.approx(by_forces, rel=1e-5, abs=1e-7)
