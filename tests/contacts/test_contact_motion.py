"""Unknown forces and rows of motion: dual to each other, and what corners at rest or in slip ask."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from contact_draws import edge, polygon
from seeds import generator

from dqdyn import contacts
from dqdyn.arrays import Array
from dqdyn.contacts import Contact

AHEAD = (1.0, 0.0, 0.0)
SKEW = (0.6, 0.8, 0.0)
RNG = generator("contact motion")
FIXED = {
    "point": contacts.point("hand"),
    "point, torsional": contacts.point("hand", torsional_friction=0.1),
    "edge": edge(RNG),
    "face": contacts.face("hand", polygon(RNG, 5)),
    "rectangle": contacts.face("hand", half_length=0.1, half_width=0.05),
}


def power_rows(contact: Contact) -> Array:
    """Rows on a twist [ω, v] whose products with φ are the power."""
    return np.roll(contact.wrench_basis.T, 3, axis=1)


@pytest.mark.parametrize("case", FIXED)
def test_fixed_forces_have_no_power(case: str) -> None:
    contact = FIXED[case]
    assert contact.size == {"point": 3, "edge": 5, "face": 6}[contact.kind] + (case == "point, torsional")
    assert contact.motion_rows == pytest.approx(power_rows(contact))


def corner_velocities(contact: Contact, twist: Array) -> Array:
    """v + ω × r (c, 3) of the corners."""
    arms = np.column_stack([contact.polygon, np.zeros(len(contact.corners))])
    return np.asarray(twist[3:] + np.cross(twist[:3], arms))


def null_space(rows: Array) -> Array:
    _, sizes, axes = np.linalg.svd(rows)
    return np.asarray(axes[np.count_nonzero(sizes > 1e-12) :])


@pytest.mark.parametrize("case", FIXED)
def test_fixed_is_all_corners_at_rest(case: str) -> None:
    """The rows leave exactly the twists in which no corner moves (and no turning about the normal, where asked)."""
    contact = FIXED[case]
    corners = np.array([corner_velocities(contact, unit).ravel() for unit in np.eye(6)]).T
    if contact.torsional_friction:
        corners = np.vstack([corners, [0, 0, 1, 0, 0, 0]])
    assert np.linalg.matrix_rank(corners, tol=1e-9) == len(contact.motion_rows)
    for twist in null_space(contact.motion_rows):
        assert corners @ twist == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("directions", [(AHEAD,), (SKEW,), (SKEW, AHEAD)])
@pytest.mark.parametrize("case", FIXED)
def test_sliding_moves_all_corners_alike_along_its_directions(case: str, directions: tuple[tuple[float, ...]]) -> None:
    fixed = FIXED[case]
    contact = fixed.with_mode("sliding", directions)
    free = null_space(contact.motion_rows)
    held = {"point": 3, "edge": 5, "face": 6}[contact.kind]
    assert len(contact.motion_rows) == held - len(directions) == 6 - len(free)
    across = null_space(np.array(directions))
    for twist in free:
        velocities = corner_velocities(contact, twist)
        assert velocities @ across.T == pytest.approx(0.0, abs=1e-12)
        assert velocities == pytest.approx(np.broadcast_to(velocities[0], velocities.shape), abs=1e-12)
    for direction in directions:
        assert contact.motion_rows @ [0, 0, 0, *direction] == pytest.approx(0.0, abs=1e-12)
    assert fixed.with_mode("sliding", directions).with_mode("fixed") == fixed


@pytest.mark.parametrize("cone", ["wrench", "corners"])
@pytest.mark.parametrize("case", FIXED)
def test_sliding_friction_opposes_the_first_direction(case: str, cone: str) -> None:
    """Pressure at the corners and −μ f_n d at each: the same wrench from φ, and power −μ f_n |v|."""
    contact = replace(FIXED[case], cone=cone).with_mode("sliding", (SKEW, AHEAD))
    rng = generator(case + cone)
    assert contact.size == (len(contact.corners) if cone == "corners" else min(len(contact.corners), 3))
    for _ in range(5):
        pressures = rng.uniform(0.0, 100.0, len(contact.corners))
        forces = pressures[:, None] * [-0.7 * 0.6, -0.7 * 0.8, 1.0]
        wrench = contact.wrench_of_forces(forces)
        phi = np.linalg.lstsq(contact.wrench_basis, wrench, rcond=None)[0]
        assert contact.wrench(phi) == pytest.approx(wrench, abs=1e-9)
        assert contact.holds(wrench)
        assert not contact.holds(wrench + [1.0, 0, 0, 0, 0, 0])
        slip = np.array([0, 0, 0, *SKEW]) * 0.3
        assert np.roll(wrench, 3) @ slip == pytest.approx(-0.7 * pressures.sum() * 0.3)


def test_no_friction_leaves_its_unknowns_out() -> None:
    sizes = {"point": 1, "point, torsional": 2, "edge": 2, "face": 3, "rectangle": 3}
    for case, contact in FIXED.items():
        smooth = replace(contact, friction=0.0)
        assert smooth.size == sizes[case]
        assert not smooth.wrench_basis[:2].any()
        assert smooth.motion_rows == pytest.approx(contact.motion_rows)
        assert replace(smooth, cone="corners").size == len(contact.corners) * (2 if contact.torsional_friction else 1)


@pytest.mark.parametrize("case", FIXED)
def test_off_is_nothing(case: str) -> None:
    contact = FIXED[case].with_mode("off")
    assert contact.wrench_basis.shape == (6, 0)
    assert contact.motion_rows.shape == (0, 6)
    assert contact.cone_rows.matrix.shape == (0, 0)
    assert contact.wrench([]) == pytest.approx(np.zeros(6))
    assert contact.holds(np.zeros(6))
    assert not contact.holds([0, 0, 1, 0, 0, 0])
    assert contact.generators.shape == (6, 0)


def test_center_of_pressure_is_where_the_forces_are() -> None:
    contact, rng = FIXED["face"], generator("pressure")
    pressures = rng.uniform(0.0, 100.0, (7, 5))
    forces = np.stack([0.1 * pressures, -0.2 * pressures, pressures], axis=-1)
    places = contact.center_of_pressure(contact.wrench_of_forces(forces))
    assert places == pytest.approx(pressures @ contact.polygon / pressures.sum(axis=1, keepdims=True))
    assert np.isnan(contact.center_of_pressure(np.zeros(6))).all()
    assert np.isnan(contact.center_of_pressure([0, 0, -1.0, 0, 0, 0])).all()


def test_margins_by_name_and_unit() -> None:
    contact = contacts.face("sole", half_length=0.1, half_width=0.05, friction=0.6, greatest_normal_force=500.0)
    found = contact.margins([30.0, 0.0, 200.0, 4.0, 6.0, 0.0])  # the pressure at x = −3 cm, y = 2 cm
    mu = 0.6 / np.sqrt(2.0)
    assert found["sole: pressing"] == (200.0, "N")
    assert found["sole: greatest normal force"] == (300.0, "N")
    assert found["sole: friction +x"].value == pytest.approx(200.0 * mu - 30.0)
    assert found["sole: friction −y"].value == pytest.approx(200.0 * mu)
    assert found["sole: center of pressure +y"].value == pytest.approx((0.05 - 0.02) * 200.0)
    assert found["sole: center of pressure −x"].value == pytest.approx((0.1 - 0.03) * 200.0)
    assert found["sole: center of pressure +y"].unit == "N m"
    assert found["sole: center of pressure to the border"] == (pytest.approx(0.03), "m")
    assert str(found["sole: greatest normal force"]) == "300 N"
    yaw = [margin.value for name, margin in found.items() if name.startswith("sole: yaw +")]
    bound = mu * 0.15 * 200.0 - abs(0.05 * 30.0 + mu * 4.0) - abs(mu * 6.0)
    assert min(yaw) == pytest.approx(bound)
    outside = contact.margins([0.0, 0.0, 100.0, 0.0, 12.0, 0.0])
    assert outside["sole: center of pressure to the border"].value == pytest.approx(-0.02)
    assert not contact.holds([0.0, 0.0, 100.0, 0.0, 12.0, 0.0])
    assert "sole: center of pressure to the border" not in contact.margins(np.zeros(6))
    bent = edge(generator("bent")).margins([0.0, 0.0, 10.0, 0.5, 0.0, 0.0])
    assert bent["foot: moment that the contact can have"] == (pytest.approx(-0.5), "N m")


@pytest.mark.parametrize("case", FIXED)
def test_contacts_are_values(case: str) -> None:
    contact = FIXED[case]
    rows = contact.cone_rows
    again = pickle.loads(pickle.dumps(contact))
    assert again == contact
    assert hash(again) == hash(contact)
    assert (again.cone_rows.matrix == rows.matrix).all()
    assert contact.name == contact.frame == "hand" or contact.frame == "foot"
    for array in (again.wrench_basis, again.motion_rows, again.polygon, again.generators, rows.matrix, rows.right):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    assert replace(contact, name="left").cone_rows.names[0].startswith("left: ")
    assert eval(repr(contact), {"Contact": Contact, "inf": np.inf}) == contact
