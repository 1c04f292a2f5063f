"""Zones between bodies with a volume: distances, their rates, and loops that stay clear."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from seeds import generator

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import scenes
from dqdyn.algebra.scalar import sin
from dqdyn.errors import install_command

pytest.importorskip("coal")

Q = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
CUBE = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
CUBE += [[1, 5, 7], [1, 7, 3]]


def arm7() -> dq.Robot:
    return dq.robots.arm7()


def hand() -> dq.Pose:
    return arm7().pose("tool", Q)


def beside(x: float, y: float = 0.0, z: float = 0.0) -> dq.Pose:
    return dq.Pose(translation=hand().translation + np.array([x, y, z]))


def clearance(a: ct.Solid, b: ct.Solid, q: np.ndarray = Q) -> float:
    return float(ct.linearise(arm7(), ct.KeepClear(a, b))(0.0, q).value[0])


BALL = ct.Solid("tool", "sphere", 0.05)
OBSTACLES = {
    "sphere": (ct.Solid(beside(0.4), "sphere", 0.1), 0.25),
    "box": (ct.Solid(beside(0.4), "box", (0.2, 0.3, 0.5)), 0.25),
    "capsule": (ct.Solid(beside(0.4), "capsule", (0.1, 0.6)), 0.25),
    "capsule from above": (ct.Solid(beside(0.0, 0.0, 0.7), "capsule", (0.1, 0.6)), 0.25),
    "cylinder from above": (ct.Solid(beside(0.0, 0.0, 0.7), "cylinder", (0.1, 0.6)), 0.35),
    "ellipsoid": (ct.Solid(beside(0.4), "ellipsoid", (0.1, 0.2, 0.3)), 0.25),
    "hull": (ct.Solid(beside(0.4), "mesh", vertices=0.1 * CORNERS), 0.25),
    "triangles": (ct.Solid(beside(0.4), "mesh", vertices=0.1 * CORNERS, faces=CUBE), 0.25),
    "half-space": (ct.Solid(beside(0.0, 0.0, -0.3), "half-space"), 0.25),
    "inside": (ct.Solid(beside(0.08), "sphere", 0.1), -0.07),
}


@pytest.mark.parametrize("kind", OBSTACLES)
def test_distances_in_closed_form(kind: str) -> None:
    obstacle, expected = OBSTACLES[kind]
    assert clearance(BALL, obstacle) == pytest.approx(expected, abs=1e-6)
    assert clearance(obstacle, BALL) == pytest.approx(expected, abs=1e-6)


def test_a_shape_may_be_away_from_its_frame() -> None:
    """Both centers moved and turned by ``at``: the distance is that of two balls."""
    turn = dq.Pose(rotation=[np.cos(0.4), np.sin(0.4), 0.0, 0.0], translation=[0.1, -0.05, 0.2])
    a = ct.Solid("tool", "sphere", 0.05, turn)
    b = ct.Solid(beside(0.5), "sphere", 0.1, turn)
    apart = (hand() * turn).translation - (beside(0.5) * turn).translation
    assert clearance(a, b) == pytest.approx(np.linalg.norm(apart) - 0.15, abs=1e-6)


@pytest.mark.parametrize("kind", [kind for kind in OBSTACLES if kind != "triangles"])
def test_the_jacobian_is_the_slope_of_the_distance(kind: str) -> None:
    """Against central differences of the distance itself, at random configurations."""
    step = 1e-4 if kind == "ellipsoid" else 1e-5  # its distances are found to 1e-10 m
    draw, f = generator(f"solids {kind}"), ct.linearise(arm7(), ct.KeepClear(BALL, OBSTACLES[kind][0]))
    for _ in range(3):
        q = Q + 0.1 * draw.standard_normal(7)
        slopes = [(f(0.0, q + e).value[0] - f(0.0, q - e).value[0]) / (2.0 * step) for e in step * np.eye(7)]
        np.testing.assert_allclose(f(0.0, q).jacobian[0], slopes, atol=1e-4 if kind == "ellipsoid" else 2e-5)


def test_two_solids_of_the_robot() -> None:
    """Self-collision: the Jacobian has the motion of both."""
    a, b = ct.Solid("joint4", "capsule", (0.05, 0.1)), ct.Solid("tool", "capsule", (0.04, 0.1))
    f = ct.linearise(arm7(), ct.KeepClear(a, b))
    slopes = [(f(0.0, Q + e).value[0] - f(0.0, Q - e).value[0]) / 2e-5 for e in 1e-5 * np.eye(7)]
    np.testing.assert_allclose(f(0.0, Q).jacobian[0], slopes, atol=1e-5)


def test_an_obstacle_that_moves_has_a_residual() -> None:
    where = lambda t: dq.Pose(translation=[0.6 + 0.1 * sin(t), 0.0, 1.2])
    f = ct.linearise(arm7(), ct.KeepClear(BALL, ct.Solid(where, "box", (0.2, 0.2, 0.2))))
    slope = (f(0.5 + 1e-5, Q).value[0] - f(0.5 - 1e-5, Q).value[0]) / 2e-5
    assert f(0.5, Q).residual[0] == pytest.approx(slope, abs=1e-6)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The target of")
@pytest.mark.parametrize("level", ["velocity", "acceleration"])
@pytest.mark.parametrize("kind", ["sphere", "box", "capsule", "hull"])
def test_a_loop_stays_clear(level: str, kind: str) -> None:
    """The target lies inside the obstacle; the controller says what keeps it from there."""
    robot, obstacle = arm7(), OBSTACLES[kind][0]
    goal = ct.TranslationTask("tool", beside(0.35).translation, gain=2.0)
    zone = ct.KeepClear(BALL, obstacle, 0.02, gain=4.0, name="zone")
    make = ct.velocity_controller if level == "velocity" else ct.acceleration_controller
    controller = make(robot, [[goal], [ct.RestTask(gain=5.0)]], [zone])
    q, v, least = Q, np.zeros(7), np.inf
    distance = ct.linearise(robot, zone)
    for k in range(800):
        command = controller(0.005 * k, q, v)
        v = command if level == "velocity" else v + 0.005 * command
        q = robot.integrate(q, v, 0.005)
        least = min(least, float(distance(0.0, q).value[0]) if k % 80 == 0 else least, controller.distances["zone"])
    assert least > -1e-4
    assert controller.distances["zone"] < 2e-3
    assert "'zone' (100 %)" in controller.stall


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The target of")
@pytest.mark.parametrize("kind", ["capsule", "box"])
def test_sides_that_become_parallel_stay_clear(kind: str) -> None:
    """With a row for the nearest points alone, which jump from end to end, a capsule entered by 10 mm at any step."""
    robot, zone = arm7(), "zone"
    palm = ct.Solid("tool", kind, (0.04, 0.1) if kind == "capsule" else (0.08, 0.08, 0.18))
    crate = ct.Solid(beside(0.3), "box", (0.2, 0.4, 0.4))
    there = ct.TranslationTask("tool", beside(0.15).translation, gain=2.0)
    controller = ct.velocity_controller(robot, [there], [ct.KeepClear(palm, crate, 0.02, gain=5.0, name=zone)])
    q, least = Q, np.inf
    for k in range(300):
        q = robot.integrate(q, controller(0.01 * k, q), 0.01)
        least = min(least, controller.distances[zone])
    assert least > -1e-4


def test_targets_in_a_solid_are_told() -> None:
    with pytest.warns(ct.ControlWarning, match="lies in the zone that 'zone' forbids, by 0.18"):
        ct.velocity_controller(
            arm7(),
            [ct.PoseTask("tool", dq.Pose(rotation=hand().rotation, translation=beside(0.33).translation))],
            [ct.KeepClear(BALL, OBSTACLES["box"][0], 0.1, name="zone")],
        )


def test_every_pair_has_a_row() -> None:
    solids = [ct.Solid("tool", "sphere", 0.05, name="hand"), ct.Solid("joint4", "sphere", 0.05, name="elbow")]
    scene = scenes.Scene([scenes.ground(), scenes.box((0.2, 0.2, 0.2), [0.7, 0.0, 0.1], name="crate")])
    controller = ct.velocity_controller(arm7(), [ct.RestTask()], [ct.KeepClear(solids, scene, name="zone")])
    controller(0.0, Q)
    expected = {f"zone: {a} and {b}" for a in ("hand", "elbow") for b in ("ground", "crate")}
    assert expected <= set(controller.distances)
    assert controller.distances["zone: hand and ground"] == pytest.approx(hand().translation[2] - 0.05, abs=1e-6)


def test_collision_shapes_of_a_robot() -> None:
    robot = dq.robots.humanoid()
    found = ct.solids_of(robot)
    links = {link.name: len(link.collisions) for link in robot.model.description.links}
    assert len(found) == sum(links.values())
    assert all(solid.on in links for solid in found)


def test_a_mesh_from_a_file(tmp_path: Path) -> None:
    lines = [f"v {x} {y} {z}" for x, y, z in 0.1 * CORNERS] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in CUBE]
    (tmp_path / "cube.obj").write_text("\n".join(lines) + "\n")
    cube = ct.Solid(beside(0.4), "mesh", path=tmp_path / "cube.obj")
    assert clearance(BALL, cube) == pytest.approx(0.25, abs=1e-6)


def test_a_measured_obstacle_that_is_lost_holds_the_step() -> None:
    seen = ct.Measured(beside(0.4))
    box = ct.Solid(seen, "box", (0.2, 0.2, 0.2), name="crate")
    controller = ct.velocity_controller(arm7(), [ct.RestTask()], [ct.KeepClear(BALL, box, name="zone")])
    controller(0.0, Q)
    assert controller.report.status == "solved"
    seen.update(None)
    controller(0.1, Q)
    assert controller.report.status == "held"
    assert "the pose of crate" in controller.report.reason


def test_triangles_that_overlap_hold_the_step() -> None:
    inside = ct.Solid(beside(0.12), "mesh", vertices=0.1 * CORNERS, faces=CUBE)
    controller = ct.velocity_controller(arm7(), [ct.RestTask()], [ct.KeepClear(BALL, inside)])
    controller(0.0, Q)
    assert controller.report.status == "held"
    assert "overlap, and triangles have no inside: leave out faces for the hull" in controller.report.reason


WRONG = {
    "kind": (lambda: ct.Solid("tool", "spher", 0.1), "spher"),
    "kind none": (lambda: ct.Solid("tool", None, 0.1), "kind of solid"),
    "size": (lambda: ct.Solid("tool", "box", 0.1), "size of a box has 3 lengths above 0, in m; found 0.1"),
    "nan": (lambda: ct.Solid("tool", "sphere", float("nan")), "size of a sphere has 1 length above 0"),
    "negative": (lambda: ct.Solid("tool", "sphere", -1.0), "1 length above 0"),
    "at": (lambda: ct.Solid("tool", "sphere", 0.1, [0.0, 0.0, 0.0]), "at of a sphere is a dq.Pose"),
    "on": (lambda: ct.Solid(None, "sphere", 0.1), "pose of sphere"),
    "frame": (lambda: run(ct.Solid("tol", "sphere", 0.1), OBSTACLES["box"][0]), "tool"),
    "no mesh": (lambda: ct.Solid("tool", "mesh"), "a mesh has vertices"),
    "sphere mesh": (lambda: ct.Solid("tool", "sphere", 0.1, vertices=CORNERS), "a sphere has no vertices"),
    "flat": (lambda: run(BALL, ct.Solid(beside(1), "mesh", vertices=CORNERS[:4])), "has no convex hull"),
    "points": (lambda: ct.Solid("tool", "mesh", vertices=np.ones((3, 2))), "four or more finite points"),
    "faces": (lambda: ct.Solid("tool", "mesh", vertices=CORNERS, faces=[[0, 1, 8]]), "from 0 to 7"),
    "path": (lambda: run(BALL, ct.Solid(beside(1), "mesh", path="/none.stl")), "there is no mesh '/none.stl'"),
    "both outside": (lambda: run(OBSTACLES["box"][0], OBSTACLES["sphere"][0]), "both in the workspace"),
    "one frame": (lambda: run(BALL, ct.Solid("tool", "sphere", 0.1)), "on one frame, 'tool'"),
    "itself": (lambda: run(BALL, BALL), "needs two of them"),
    "words": (lambda: run("tool", BALL), "takes ct.Solid"),
    "none": (lambda: run(BALL, None), "takes ct.Solid"),
    "empty": (lambda: run(BALL, []), "needs two of them"),
    "distance": (lambda: run(BALL, OBSTACLES["box"][0], None), "distance of a zone between solids, in m must be"),
    "no robot": (lambda: ct.solids_of("arm7"), "solids_of takes a robot"),
    "link": (lambda: ct.solids_of(dq.robots.humanoid(), ["hed"]), "hed"),
}


def run(*arguments: object) -> None:
    ct.velocity_controller(arm7(), [ct.RestTask()], [ct.KeepClear(*arguments)])  # type: ignore[arg-type]


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input(case: str) -> None:
    make, text = WRONG[case]
    with pytest.raises(dq.Error, match=text):
        make()


def test_without_coal_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(dq.Error, match=re.escape(install_command("coal", "collision"))):
        ct.KeepClear(BALL, OBSTACLES["box"][0])
