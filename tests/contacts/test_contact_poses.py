"""Contact frames on robots: poses over any scalar, gaps, and the support polygon."""

from __future__ import annotations

import numpy as np
import pytest
from seeds import generator

import dqdyn as dq
from dqdyn import contacts
from dqdyn.algebra.jet import derivative
from dqdyn.arrays import Array
from dqdyn.contacts import Contact
from dqdyn.contacts.support_polygon import SupportPolygon, convex_hull
from dqdyn.kinematics.configuration import configuration_rate

ROBOT = dq.robots.humanoid()
MODEL = ROBOT.model
ENDS = ((0.1, 0.05, 0.0), (0.1, -0.04, 0.01))
TILTED = tuple(np.array([0.2, -0.3, 0.9]) / np.linalg.norm([0.2, -0.3, 0.9]))
CASES = {
    "face": contacts.face("left_foot", half_length=0.1, half_width=0.05, center=(0.02, 0.0, 0.01)),
    "tilted face": contacts.face("left_hand", half_length=0.1, half_width=0.05, normal=TILTED),
    "face along x": contacts.face("left_hand", half_length=0.1, half_width=0.05, normal=(-1, 0, 0)),
    "point": contacts.point("right_hand", (0.1, 0.0, 0.2), normal=TILTED),
    "point on a body": contacts.point("right_hand", (0.1, 0.0, 0.2), normal=TILTED, partner="left_hand"),
    "edge": contacts.edge("left_foot", ENDS),
    "edge on a body": contacts.edge("right_hand", ENDS, partner="left_hand", normal=TILTED),
}


def configuration(name: str) -> Array:
    return ROBOT.random_configuration(generator(name))


def moved(x: dq.Pose, points: object) -> Array:
    return np.asarray(x.translation + np.asarray(points) @ x.rotation_matrix.T)


@pytest.mark.parametrize("case", CASES)
def test_contact_frames_follow_their_definition(case: str) -> None:
    contact, q = CASES[case], configuration(case)
    x = dq.Pose(contact.pose(ROBOT, q))
    body = ROBOT.pose(contact.frame, q)
    corners = moved(body, contact.corners)
    assert x.translation == pytest.approx(corners.mean(axis=0))
    assert [c.vector for c in contact.corner_positions(ROBOT, q)] == pytest.approx(corners)
    reference = body if contact.kind == "face" else ROBOT.pose(contact.partner, q)
    t1, t2, n = x.rotation_matrix.T
    assert n == pytest.approx(reference.rotation_matrix @ contact.normal)
    assert np.cross(n, t1) == pytest.approx(t2)
    axis = reference.rotation_matrix @ ([0, 1, 0] if case == "face along x" else [1, 0, 0])
    along = corners[1] - corners[0] if contact.kind == "edge" else axis
    across = along - (along @ n) * n
    assert t1 == pytest.approx(across / np.linalg.norm(across))
    if contact.kind == "face":
        flat = np.column_stack([contact.polygon, np.zeros(len(corners))])
        assert moved(x, flat) == pytest.approx(corners)


def test_edges_lie_on_their_axis() -> None:
    """Where the edge is across the normal, its ends are at ± half its length."""
    q = configuration("edge across")
    first, second = moved(ROBOT.pose("left_foot", q), ENDS)
    normal = np.cross(second - first, [0.3, 0.1, 0.8])
    contact = contacts.edge("left_foot", ENDS, normal=normal / np.linalg.norm(normal))
    half = np.linalg.norm(second - first) / 2.0
    assert contact.polygon == pytest.approx(np.array([[-half, 0.0], [half, 0.0]]))
    x = dq.Pose(contact.pose(ROBOT, q))
    assert moved(x, [[-half, 0.0, 0.0], [half, 0.0, 0.0]]) == pytest.approx(np.array([first, second]))


@pytest.mark.parametrize("case", CASES)
def test_poses_over_jets_and_batches(case: str) -> None:
    contact, rng = CASES[case], generator(case + " scalars")
    q, v = configuration(case), rng.normal(size=ROBOT.nv)
    rate = configuration_rate(MODEL, q, v)
    by_jets = derivative(lambda x: list(contact.pose(MODEL, x).components), list(q), rate)
    step = 1e-6
    ahead, behind = (contact.pose(MODEL, list(ROBOT.integrate(q, v, s))).vec8() for s in (step, -step))
    assert np.array(by_jets, dtype=float) == pytest.approx((ahead - behind) / (2.0 * step), abs=1e-7)
    batch = np.array([q, ROBOT.integrate(q, v, 0.1), ROBOT.neutral()])
    both = contact.pose(MODEL, list(batch.T)).vec8()
    assert both == pytest.approx(np.array([contact.pose(MODEL, row).vec8() for row in batch]))


def test_gaps_are_heights_of_corners() -> None:
    q = configuration("gaps")
    foot = CASES["face"]
    heights = moved(ROBOT.pose("left_foot", q), foot.corners)[:, 2]
    assert foot.gaps(ROBOT, q) == pytest.approx(heights)
    assert foot.gaps(ROBOT, q, dq.Plane([0, 0, 1], distance=0.1)) == pytest.approx(heights - 0.1)
    held = CASES["point on a body"]
    point = moved(ROBOT.pose("right_hand", q), held.corners[0])
    palm = ROBOT.pose("left_hand", q)
    assert held.gaps(ROBOT, q) == pytest.approx([(point - palm.translation) @ palm.rotation_matrix[:, 2]])


def test_support_polygon_is_the_hull_of_the_feet() -> None:
    q = ROBOT.neutral()
    left, right = (contacts.face(f"{side}_foot", half_length=0.1, half_width=0.05) for side in ("left", "right"))
    hand = contacts.point("left_hand")
    y = ROBOT.pose("left_foot", q).translation[1]
    x = ROBOT.pose("left_foot", q).translation[0]
    found = contacts.support_polygon(
        ROBOT, q, [left, right, hand.with_mode("off"), contacts.point("head", partner="chest")]
    )
    expected = [[x - 0.1, -y - 0.05], [x + 0.1, -y - 0.05], [x + 0.1, y + 0.05], [x - 0.1, y + 0.05]]
    assert found.corners == pytest.approx(np.array(expected))
    assert found.distance([x, 0.0]) == pytest.approx(min(0.1, y + 0.05))
    assert found.distance([[x + 0.07, 0.0], [x + 0.13, 0.0]]) == pytest.approx([0.03, -0.03])
    assert found.distance([x + 0.13, y + 0.09]) == pytest.approx(-0.05)
    assert found.contains([x, y])
    assert not found.contains([x + 0.2, y])
    with pytest.raises(dq.Error, match=r"heights of the corners differ by .* m, more than"):
        contacts.support_polygon(ROBOT, q, [left, hand])


def test_support_of_points_and_edges() -> None:
    alone = SupportPolygon(convex_hull(np.array([[1.0, 2.0]])))
    assert alone.distance([1.0, 2.5]) == pytest.approx(-0.5)
    line = SupportPolygon(convex_hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]])))
    assert line.corners == pytest.approx(np.array([[0.0, 0.0], [2.0, 0.0]]))
    assert line.distance([[1.0, 0.3], [3.0, 0.0], [1.0, 0.0]]) == pytest.approx([-0.3, -1.0, 0.0])


def test_hulls_against_qhull() -> None:
    from scipy.spatial import ConvexHull

    rng = generator("hulls")
    for count in (3, 5, 20, 100):
        points = rng.normal(size=(count, 2))
        expected = points[ConvexHull(points).vertices]  # counter-clockwise in the plane
        found = convex_hull(points)
        first = int(np.argmin(np.abs(expected - found[0]).sum(axis=1)))
        assert found == pytest.approx(np.roll(expected, -first, axis=0))


def test_check_names_what_the_robot_lacks() -> None:
    def refused(contact: Contact, kind: type[dq.Error] = dq.Error) -> str:
        with pytest.raises(kind) as caught:
            contact.check(ROBOT)
        return str(caught.value)

    for contact in CASES.values():
        contact.check(ROBOT)
        contact.check(MODEL)
    assert "left_foot" in refused(contacts.point("leftfoot"), dq.UnknownNameError)
    assert "left_hand" in refused(contacts.point("head", partner="lefthand"), dq.UnknownNameError)
    assert "which are on one body" in refused(contacts.point("left_foot", partner="left_foot_link"))
    assert "which both rest in the world" in refused(contacts.point("world"))
    with pytest.raises(dq.Error, match="a contact is on a robot; found None"):
        CASES["point"].check(None)
