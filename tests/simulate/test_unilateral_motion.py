"""Lift-off, impact and slip against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from touching_bodies import FEET, FOOT, G, ball, base_of, block, corners_of, feet, raised, tripod

import dqdyn as dq
from dqdyn import contacts
from dqdyn.robot import Robot
from dqdyn.simulate import RoundContact, Trajectory

SIZE = (0.3, 0.2, 0.1)


def on_slope(angle: float, friction: float, duration: float) -> Trajectory:
    """A block on a slope that falls along x; the slope is level, and gravity inclined."""
    robot = block(SIZE).with_gravity([G * np.sin(angle), 0.0, -G * np.cos(angle)])
    contact = base_of(SIZE, friction)
    return dq.simulate(robot, None, duration, 1e-3, q0=raised(robot, 0.05), contacts=[contact], ground=0.0)


@pytest.mark.parametrize("friction", [0.3, 0.6])
def test_block_sticks_below_the_friction_angle(friction: float) -> None:
    angle = np.arctan(friction) - 0.01
    run = on_slope(angle, friction, 0.2)
    assert np.abs(run.v).max() < 1e-8
    assert (run.extra["mode/base"] == 1).all()
    tangential, normal = -2.0 * G * np.sin(angle), 2.0 * G * np.cos(angle)
    # The force meets the line of gravity: its moment about the base's middle is that of the lever of 5 cm.
    expected = [tangential, 0.0, normal, 0.0, 0.05 * tangential, 0.0]
    np.testing.assert_allclose(run.extra["wrench/base"][5], expected, atol=1e-5)


@pytest.mark.parametrize("friction", [0.0, 0.3, 0.6])
def test_block_slides_above_it(friction: float) -> None:
    angle = np.arctan(friction) + 0.2
    run = on_slope(angle, friction, 0.2)
    acceleration = G * (np.sin(angle) - friction * np.cos(angle))
    np.testing.assert_allclose(run.v[:, 3], acceleration * run.time, atol=1e-8)
    assert np.abs(run.v[:, [0, 1, 2, 4, 5]]).max() < 1e-8
    assert np.abs(run.extra["gap/base"]).max() < 1e-9  # a convexified model would lift off by h μ |u|
    assert (run.extra["mode/base"] == 2).all()
    np.testing.assert_allclose(run.a[1:, 3], acceleration, rtol=1e-6)


@pytest.mark.parametrize("width", [0.1, 0.2, 0.3])
def test_rocking_block_loses_the_energy_of_housner(width: float) -> None:
    """A block that rocks from one edge onto the other keeps its angular momentum about the other.

    About the edge that it meets it is m (d² cos 2α + k²) ω before and m (d² + k²) ω′ after the impact, with the half
    diagonal d, k² = d²/3 of a homogeneous rectangle and tan α = width/height: ω′/ω = 1 − ³⁄₂ sin² α.
    """
    height, tilt = 0.4, 0.05
    robot = block((width, 0.3, height), 3.0)
    sides = [(s * width / 2, n) for s, n in ((-1, "left"), (1, "right"))]
    edges = [
        contacts.edge("block", [[x, -0.15, -height / 2], [x, 0.15, -height / 2]], friction=2.0, name=n)
        for x, n in sides
    ]
    q0 = robot.neutral()
    q0[0], q0[2] = np.cos(tilt / 2), -np.sin(tilt / 2)
    q0[4:] = -robot.pose("block", q0).rotation_matrix @ [-width / 2, 0.0, -height / 2]
    run = dq.simulate(robot, None, 0.125, 2.5e-4, q0=q0, contacts=edges, ground=0.0)
    rate, i = run.v[:, 1], int(np.argmax(run.extra["mode/right"][:, 0] > 0))
    assert (run.extra["mode/left"][1:i] == 1).all()
    assert (run.extra["mode/left"][i + 2 :] == 0).all()
    after = rate[i + 2] - 2.0 * (rate[i + 3] - rate[i + 2])  # the impact takes two steps
    ratio = (1.0 - 1.5 * np.sin(np.arctan2(width, height)) ** 2) ** 2
    assert abs((after / rate[i]) ** 2 - ratio) < 2e-3
    assert run.status == "finished"


def test_ball_slides_then_rolls() -> None:
    """Friction takes 2/7 of the speed of a solid sphere within 2 v₀/(7 μ g)."""
    robot, speed, friction = ball(), 2.0, 0.3
    v0 = [0.0, 0.0, 0.0, speed, 0.0, 0.0]
    contact = RoundContact("ball", 0.1, friction=friction)
    run = dq.simulate(robot, None, 0.3, 1e-3, q0=raised(robot, 0.1), v0=v0, contacts=[contact], ground=0.0)
    twist = robot.twist("ball", run.q, run.v, expressed="aligned").vec6()
    rolls = int(np.argmax(run.extra["mode/ball"][:, 0] == 1))
    assert abs(run.time[rolls] - 2.0 * speed / (7.0 * friction * G)) < 2e-3
    np.testing.assert_allclose(twist[:rolls, 3], speed - friction * G * run.time[:rolls], atol=1e-6)
    expected = [0.0, 5 / 7 * speed / 0.1, 0.0, 5 / 7 * speed, 0.0, 0.0]
    np.testing.assert_allclose(twist[rolls + 1 :] - expected, 0.0, atol=1e-6)
    np.testing.assert_allclose(run.extra["wrench/ball"][10], [-friction * 1.5 * G, 0, 1.5 * G, 0, 0, 0], atol=1e-5)


@pytest.mark.long
def test_spinning_ball_stops_by_torsional_friction() -> None:
    robot, torsion, spin = ball(), 0.01, 3.0
    contact = RoundContact("ball", 0.1, friction=0.5, torsional_friction=torsion)
    v0 = [0.0, 0.0, spin, 0.0, 0.0, 0.0]
    run = dq.simulate(robot, None, 0.2, 1e-3, q0=raised(robot, 0.1), v0=v0, contacts=[contact], ground=0.0)
    braking = torsion * 1.5 * G / (0.4 * 1.5 * 0.1**2)
    np.testing.assert_allclose(run.v[:, 2], np.maximum(spin - braking * run.time, 0.0), atol=1e-5)
    assert abs(run.extra["wrench/ball"][10, 5] + torsion * 1.5 * G) < 1e-5


def reference_slide(duration: float, friction: float, v0: np.ndarray, steps: int = 1000) -> np.ndarray:
    """[x, y, φ, ẋ, ẏ, φ̇] of the tripod in the plane, by Runge-Kutta on its three determined normal forces."""
    points = np.array(FEET) - [0.0, 0.0, FOOT]
    mass, spin_inertia = 2.0, tripod().model.bodies[0].inertia.tensor[2][2]

    def rate(y: np.ndarray) -> np.ndarray:
        c, s = np.cos(y[2]), np.sin(y[2])
        r = points @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T
        speed = y[3:5] + y[5] * np.column_stack([-r[:, 1], r[:, 0]])
        along = speed / np.linalg.norm(speed, axis=1, keepdims=True)
        force = np.column_stack([-friction * along, np.ones(3)])  # per newton of normal force
        moment = np.cross(r, force)
        normal = np.linalg.solve([np.ones(3), moment[:, 0], moment[:, 1]], [mass * G, 0.0, 0.0])
        assert (normal > 0.0).all()
        return np.array([*y[3:], *(normal @ force)[:2] / mass, (normal @ moment)[2] / spin_inertia])

    y, h = np.array([0.0, 0.0, 0.0, *v0]), duration / steps
    for _ in range(steps):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    return y


@pytest.mark.parametrize("friction", [0.3, 0.6])
def test_sliding_and_spinning_converge_to_the_equation_of_motion(friction: float) -> None:
    robot = tripod()
    expected = reference_slide(0.15, friction, np.array([1.5, 0.3, 4.0]))
    errors = []
    for dt in (2e-3, 1e-3):
        v0 = [0.0, 0.0, 4.0, 1.5, 0.3, 0.0]
        run = dq.simulate(robot, None, 0.15, dt, q0=raised(robot, 0.07), v0=v0, contacts=[*_with(friction)], ground=0.0)
        q, v = run.q[-1], robot.twist("tripod", run.q[-1], run.v[-1], expressed="aligned").vec6()
        found = [q[4], q[5], 2.0 * np.arctan2(q[3], q[0]), v[3], v[4], v[2]]
        errors.append(np.array(found) - expected)
    assert np.abs(errors[1]).max() < 3e-3
    np.testing.assert_allclose(errors[0][:3] / errors[1][:3], 2.0, atol=0.1)  # first order


def _with(friction: float) -> list[RoundContact]:
    return [RoundContact("tripod", FOOT, foot.center, friction, name=foot.name) for foot in feet()]


def test_momentum_changes_by_weight_and_contact_forces() -> None:
    """A tumbling block: its momentum changes by the forces that the run reports, in the world and in its axes."""
    robot, rng = block(SIZE), np.random.default_rng(1)
    q0 = robot.random_configuration(rng)
    q0[4:] = [0.0, 0.0, 0.25]
    v0 = [1.0, -2.0, 3.0, 0.5, 0.2, -0.3]
    run = dq.simulate(robot, None, 0.3, 1e-3, q0=q0, v0=v0, contacts=corners_of(SIZE), ground=0.0)
    names = [key for key in run.extra if key.startswith("wrench/")]
    force = sum(run.extra[name][:, :3] for name in names) + [0.0, 0.0, -2.0 * G]
    linear = 2.0 * robot.twist("block", run.q, run.v, expressed="aligned").vec6()[:, 3:]
    np.testing.assert_allclose(np.diff(linear, axis=0), 1e-3 * force[:-1], atol=1e-9)
    np.testing.assert_allclose(run.extra["contact_forces"][:, 3:], _in_body(run, force - [0, 0, -2 * G]), atol=1e-9)
    assert run.extra["contacts"].max() >= 1
    assert min(run.extra[f"gap/corner {i}"].min() for i in range(8)) > -1e-4


def _in_body(run: Trajectory, force: np.ndarray) -> np.ndarray:
    rotation = run.robot.pose("block", run.q).rotation_matrix
    return np.einsum("nji,nj->ni", rotation, force)


@pytest.mark.long
def test_contacts_only_take_energy() -> None:
    """Between impacts a flying body keeps its energy to the order of the step; contacts never add to it."""
    robot, rng = block(SIZE), np.random.default_rng(2)
    q0 = robot.random_configuration(rng)
    q0[4:] = [0.0, 0.0, 0.25]
    run = dq.simulate(robot, None, 1.0, 5e-4, q0=q0, contacts=corners_of(SIZE), ground=0.0)
    gained = np.diff(run.energy)
    work = 5e-4**2 * 2.0 * G**2  # what semi-implicit Euler adds in a step of free fall
    assert gained.max() < 2.0 * work + 1e-6
    assert run.energy[-1] < 0.5 * run.energy[0]
    assert run.status == "finished"


def falling_chain() -> tuple[Robot, list[contacts.Contact], np.ndarray]:
    robot = Robot.from_description(dq.robots.chain(4).description, base="free")
    ends = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]
    touching = [contacts.edge(f"link{i}", ends, friction=0.5) for i in range(1, 5)]
    q0 = robot.neutral()
    q0[6] = 0.3
    q0[7:] = [0.4, -0.5, 0.3, 0.6]
    return robot, touching, q0


@pytest.mark.long
def test_chain_falls_and_does_not_bounce() -> None:
    robot, touching, q0 = falling_chain()
    run = dq.simulate(robot, None, 0.6, 1e-3, q0=q0, contacts=touching, ground=0.0)
    gaps = np.array([run.extra[f"gap/link{i}"] for i in range(1, 5)])
    assert run.status == "finished"
    assert gaps.min() > -2e-4
    first = int(np.argmax(run.extra["contacts"] > 0))
    expected = np.sqrt(2.0 * gaps[:, 0].min() / G)
    assert abs(run.time[first] - expected) < 3e-3
    # Inelastic: the corner that met the ground does not leave it at once.
    link, corner = np.unravel_index(gaps[:, first + 1].argmin(), gaps[:, first + 1].shape)
    assert np.abs(gaps[link, first + 1 : first + 6, corner]).max() < 1e-4
    assert run.energy[-1] < run.energy[0]
    assert np.diff(run.energy)[first:].max() < 1e-3


def test_pulled_block_lifts_off() -> None:
    """A force above the weight: no adhesion."""
    robot = block(SIZE)
    pulls = np.zeros((200, 6))
    pulls[:100, 2], pulls[100:, 2] = 0.5 * 2.0 * G, 1.5 * 2.0 * G
    run = dq.simulate(
        robot,
        None,
        0.2,
        1e-3,
        q0=raised(robot, 0.05),
        contacts=[base_of(SIZE, 0.5)],
        ground=0.0,
        wrenches={"block": pulls},
        expressed="aligned",
    )
    assert abs(run.extra["normal_force/block"][50] - 0.5 * 2.0 * G) < 1e-5
    assert not run.extra["normal_force/block"][101:].any()
    np.testing.assert_allclose(run.v[100:, 5], 0.5 * G * (run.time[100:] - 0.1), atol=1e-7)


def test_arm_stops_at_its_limits() -> None:
    """A pendulum falls on its end stop, and stays there."""
    link = dq.Link("rod", dq.Inertia(1.0, (0.5, 0.0, 0.0), np.diag([0.0, 1 / 12, 1 / 12])))
    joint = dq.Joint("hinge", "revolute", "base", "rod", axis=(0.0, 1.0, 0.0), lower=-1.0, upper=0.8)
    robot = Robot.from_description(dq.Description("pendulum", (dq.Link("base"), link), (joint,)))
    run = dq.simulate(robot, None, 1.0, 1e-3, integrator="time-stepping", limits=True)
    hit = int(np.argmax(run.q[:, 0] > 0.8 - 1e-9))
    assert 100 < hit < 900
    np.testing.assert_allclose(run.q[hit:, 0], 0.8, atol=1e-8)
    assert np.abs(run.v[hit + 1 :]).max() < 1e-6
    # The stop carries what a motor would have to.
    np.testing.assert_allclose(run.extra["contact_forces"][-1], robot.gravity_forces([0.8]), atol=1e-5)
