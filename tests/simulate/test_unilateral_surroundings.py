"""Surfaces of a scene, constraints of the robot and contacts between its own bodies in one step."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import distance, orders, start_of
from touching_bodies import G, base_of, block, corners_of, raised
from trees import tree

import dqdyn as dq
from dqdyn import contacts, scenes
from dqdyn.robot import Robot
from dqdyn.simulate import RoundContact
from dqdyn.simulate.unilateral.distance import DISTANCES

SIZE = (0.3, 0.2, 0.1)
SHAPES = {"plane": (), "sphere": (0.4,), "box": (0.6, 0.4, 0.9), "cylinder": (0.3, 0.8)}


def surface_points(shape: str, size: tuple[float, ...], rng: np.random.Generator) -> np.ndarray:
    """Points on the surface of a shape, dense, drawn without its distance function."""
    n = 60_000
    if shape == "sphere":
        x = rng.normal(size=(n, 3))
        return size[0] * x / np.linalg.norm(x, axis=1, keepdims=True)
    if shape == "box":
        x = rng.uniform(-0.5, 0.5, (n, 3))
        x[np.arange(n), rng.integers(0, 3, n)] = rng.choice([-0.5, 0.5], n)
        return x * size
    if shape == "cylinder":
        angle, side = rng.uniform(0, 2 * np.pi, n), rng.random(n) < 0.5
        r = np.where(side, size[0], size[0] * np.sqrt(rng.random(n)))
        z = np.where(side, rng.uniform(-0.5, 0.5, n), rng.choice([-0.5, 0.5], n)) * size[1]
        return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
    return np.column_stack([rng.uniform(-1.5, 1.5, (n, 2)), np.zeros(n)])


@pytest.mark.parametrize("shape", SHAPES)
def test_distance_is_that_to_the_nearest_point(shape: str) -> None:
    rng, size = np.random.default_rng(1), SHAPES[shape]
    dense, points = surface_points(shape, size, rng), rng.uniform(-0.6, 0.6, (60, 3))
    gaps, normals = DISTANCES[shape](size, points)
    nearest = np.array([np.linalg.norm(dense - p, axis=1).min() for p in points])
    np.testing.assert_allclose(np.abs(gaps), nearest, atol=2e-2)
    assert (np.abs(gaps) <= nearest + 1e-12).all()
    assert {True, False} == set((gaps < 0.0).tolist())
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
    ahead, behind = (DISTANCES[shape](size, points + s * 1e-6 * normals)[0] for s in (1, -1))
    np.testing.assert_allclose((ahead - behind) / 2e-6, 1.0, atol=1e-5)  # the normal is the gradient


@pytest.mark.long
def test_block_lands_on_stairs_and_walls_hold_it() -> None:
    robot = block(SIZE)
    scene = dq.Scene(
        [scenes.ground(), *scenes.stairs(2, 0.1, 0.5, friction=0.0), scenes.wall((1.0, 0, 0.2), (-1, 0, 0))]
    )
    q0, v0 = raised(robot, 0.27), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    q0[4] = 0.7
    run = dq.simulate(robot, None, 0.4, 1e-3, q0=q0, v0=v0, contacts=corners_of(SIZE), scene=scene)
    assert run.status == "finished"
    assert run.q[:, 6].min() > 0.25 - 1e-6  # upon the second step
    assert abs(run.q[-1, 4] + 0.15 - 1.0) < 1e-6  # stopped by the wall
    assert np.abs(run.v[-1]).max() < 1e-6


def test_conveyor_carries_a_block() -> None:
    """A driven body of a scene: friction accelerates to its speed, then the block rests on it."""
    robot, speed, friction = block(SIZE), 0.5, 0.4
    belt = scenes.box((4.0, 1.0, 0.1), lambda t: (speed * t, 0.0, -0.05), name="belt", friction=friction)
    run = dq.simulate(
        robot, None, 0.3, 1e-3, q0=raised(robot, 0.05), contacts=[base_of(SIZE, 0.9)], scene=dq.Scene([belt])
    )
    np.testing.assert_allclose(run.v[:, 3], np.minimum(friction * G * run.time, speed), atol=1e-6)
    slipping = run.time < speed / (friction * G) - 2e-3
    assert (run.extra["mode/base"][slipping] == 2).all()
    assert (run.extra["mode/base"][-1] == 1).all()


def test_rising_floor_lifts_and_turning_floor_turns() -> None:
    robot = block(SIZE)

    def at(t: float) -> dq.Pose:
        angle = 0.4 * t
        return dq.Pose(
            rotation=(np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)), translation=(0.0, 0.0, 0.3 * t - 0.05)
        )

    floor = scenes.box((1.0, 1.0, 0.1), at, name="floor", friction=0.9)
    run = dq.simulate(
        robot, None, 0.1, 1e-3, q0=raised(robot, 0.05), contacts=[base_of(SIZE, 0.9)], scene=dq.Scene([floor])
    )
    twist = robot.twist("block", run.q, run.v, expressed="aligned").vec6()[-1]
    np.testing.assert_allclose(twist, [0.0, 0.0, 0.4, 0.0, 0.0, 0.3], atol=1e-4)
    assert np.abs(run.extra["gap/base"]).max() < 1e-7


def test_turning_table_turns_a_ball_by_torsional_friction() -> None:
    radius = 0.1
    link = dq.Link("ball", dq.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3) * 0.4 * radius**2))
    robot = Robot.from_description(dq.Description("ball", (link,), (), (), "free"))

    def at(t: float) -> dq.Pose:
        return dq.Pose(rotation=(np.cos(t), 0.0, 0.0, np.sin(t)), translation=(0.0, 0.0, -0.05))  # 2 rad/s

    table = scenes.box((1.0, 1.0, 0.1), at, name="table", torsional_friction=0.02)
    run = dq.simulate(
        robot,
        None,
        0.1,
        1e-3,
        q0=raised(robot, radius),
        contacts=[RoundContact("ball", radius)],
        scene=dq.Scene([table]),
    )
    rate = 0.02 * G / (0.4 * radius**2)
    np.testing.assert_allclose(run.v[:, 2], np.minimum(rate * run.time, 2.0), atol=1e-4)


def test_loop_and_contact_are_kept_together() -> None:
    """A four-bar whose coupler falls on the ground."""
    bar = dq.robots.four_bar().with_constraints(stabilisation="projection")
    q0, v0 = bar.project(bar.neutral())
    frame = bar.model.bodies[1].name
    low = min(bar.point(frame, q0, p).position[2] for p in ((0, 0, 0), (0.1, 0, 0)))
    contact = contacts.edge(frame, [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], friction=0.4, name="coupler")
    run = dq.simulate(bar, None, 0.5, 1e-3, q0=q0, v0=v0, contacts=[contact], ground=low - 0.02)
    assert run.status == "finished"
    assert np.abs(run.residual).max() < 1e-7
    assert run.extra["gap/coupler"].min() > -1e-4
    assert (run.extra["mode/coupler"][-1] > 0).any()
    assert np.abs(run.v[-1]).max() < 1e-3


@pytest.mark.long
def test_free_motion_is_that_of_the_other_integrators() -> None:
    """Far from the ground, with a loop: first order towards the same motion."""
    bar = dq.robots.four_bar().with_constraints(stabilisation="projection")
    q0, v0 = bar.project(bar.neutral())
    contact = contacts.point(bar.model.bodies[1].name)
    exact = dq.simulate(bar, None, 0.2, 1e-3, q0=q0, v0=v0).q[-1]
    errors = [
        np.abs(dq.simulate(bar, None, 0.2, dt, q0=q0, v0=v0, contacts=contact, ground=-9.0).q[-1] - exact).max()
        for dt in (2e-3, 1e-3)
    ]
    assert errors[1] < 5e-3
    assert abs(errors[0] / errors[1] - 2.0) < 0.15


def gripped() -> tuple[Robot, list[contacts.Contact]]:
    """Two fingers on slides that press a free cube between them: a contact within the robot, on both sides."""
    cube, finger = dq.Inertia(0.2, (0, 0, 0), np.eye(3) * 1e-4), dq.Inertia(0.5, (0, 0, 0), np.eye(3) * 1e-3)
    links = (dq.Link("world_link"), dq.Link("left", finger), dq.Link("right", finger), dq.Link("cube", cube))
    slides = tuple(
        dq.Joint(f"{n}_slide", "prismatic", "world_link", n, axis=(1.0, 0.0, 0.0)) for n in ("left", "right")
    )
    free = dq.Joint("cube_joint", "free", "world_link", "cube")
    robot = Robot.from_description(dq.Description("gripper", links, (*slides, free)))
    sides = [
        contacts.face(
            "cube", half_length=0.02, half_width=0.02, center=(-s * 0.02, 0, 0), normal=(s, 0, 0), friction=0.5,
            partner=n, name=f"on {n}",
        )
        for s, n in ((1, "left"), (-1, "right"))
    ]  # fmt: skip
    return robot, sides


@pytest.mark.parametrize(("squeeze", "held"), [(4.0, True), (1.0, False)])
def test_fingers_hold_a_cube_by_friction(squeeze: float, held: bool) -> None:
    """2 μ F against 0.2 kg: 4 N hold it, 1 N do not, and it then falls with g − 2 μ F/m."""
    robot, sides = gripped()
    run = dq.simulate(robot, [squeeze, -squeeze, 0, 0, 0, 0, 0, 0], 0.2, 1e-3, contacts=sides)
    fall = 0.0 if held else -(G - 2 * 0.5 * squeeze / 0.2)
    np.testing.assert_allclose(run.v[:, 7], fall * run.time, atol=1e-5)
    # The contact frame of a face of the cube has its normal along x of the cube.
    wrench = run.extra["wrench/on left"][10]
    assert abs(wrench[2] - squeeze) < 1e-4
    assert abs(np.linalg.norm(wrench[:2]) - (0.1 * G if held else 0.5 * squeeze)) < 1e-4
    total = sum(run.extra[f"contact_force/{n}"][10] for n in ("left", "right", "cube"))
    np.testing.assert_allclose(total, 0.0, atol=1e-9)


def test_controller_observes_its_contacts() -> None:
    seen: list[float] = []

    class Watching:
        def observe(self, observation: object) -> None:
            seen.append(observation.normal_force("block"))  # type: ignore[attr-defined]

        def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            q[:], v[:] = np.nan, np.nan  # its own copies
            return np.zeros(6)

    robot = block(SIZE)
    run = dq.simulate(robot, Watching(), 0.02, 1e-3, q0=raised(robot, 0.051), contacts=[base_of(SIZE, 0.5)], ground=0.0)
    np.testing.assert_allclose(seen[1:], run.extra["normal_force/block"][:-1], atol=1e-9)
    assert seen[0] == 0.0
    assert run.extra["normal_force/block"].max() > 2.0 * G


@pytest.mark.long
@pytest.mark.parametrize("name", ["every kind, mimic", "free base", "planar base", "moving subspaces"])
def test_random_trees_fly_as_by_other_integrators(name: str) -> None:
    """All joint kinds, far from the ground: first order towards the motion of Runge-Kutta."""
    robot = tree(name)
    q0, v0 = start_of(robot, seed=3, speed=0.5)
    contact = contacts.point(robot.model.bodies[-1].name)
    exact = dq.simulate(robot, None, 0.1, 2.5e-4, q0=q0, v0=v0).q[-1]
    ends = [dq.simulate(robot, None, 0.1, h, q0=q0, v0=v0, contacts=contact, ground=-99.0).q[-1] for h in (1e-3, 5e-4)]
    assert abs(orders([distance(robot, end, exact) for end in ends])[0] - 1.0) < 0.1


def test_rolling_wheels_and_a_wall() -> None:
    """A differential drive runs into a wall: it stops there, and its wheels do not slide sideways."""
    robot = dq.robots.mobile_bimanual()
    base = robot.model.bodies[0].name
    bumper = contacts.edge(base, [[0.2, -0.1, 0.1], [0.2, 0.1, 0.1]], name="bumper", friction=0.3)
    scene = dq.Scene([scenes.wall((0.25, 0.0, 0.0), (-1, 0, 0))])
    v0 = np.zeros(robot.nv)
    v0[0] = 1.0
    run = dq.simulate(robot, None, 0.1, 1e-3, v0=v0, contacts=[bumper], scene=scene)
    assert run.extra["gap/bumper"].min() > -1e-5
    assert (run.extra["mode/bumper"][-1] > 0).any() or run.v[-1, 0] <= 1e-9
    assert np.abs(run.residual).max() < 1e-9
    assert run.q[:, 0].max() == pytest.approx(0.05, abs=1e-4)
