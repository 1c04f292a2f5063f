"""The robots of the validation: engine and model are the same robot, and no constraint of ours is in the engine."""

from __future__ import annotations

import numpy as np
import pytest

from dqdyn.analysis import peers
from dqdyn.analysis.validation import accelerations, vehicle
from dqdyn.analysis.validation.comparison import PLANTS
from dqdyn.analysis.validation.plants import Plant, Swing, serial_arm
from dqdyn.constraints.kinds.rolling import RollingWheels
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.robot import Robot
from dqdyn.robots.parts import link

mujoco = pytest.importorskip("mujoco")


def test_swing() -> None:
    swing = Swing(np.array([0.5, -1.0]), np.array([0.3, 0.2]), np.array([0.7, 1.1]))
    for part in swing.at(0.0)[1:]:
        np.testing.assert_allclose(part, 0.0, atol=1e-14)
    np.testing.assert_array_equal(swing.at(-1.0)[0], swing.center)
    h = 1e-4
    for t in (0.1, 0.77):
        (before, slow, _), (p, v, a), (after, fast, _) = (swing.at(t + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose((after - before) / (2 * h), v, atol=1e-6)
        np.testing.assert_allclose((fast - slow) / (2 * h), a, atol=1e-4)
        np.testing.assert_allclose(np.abs(p - swing.center) <= np.abs(swing.amplitude), True)


@pytest.mark.parametrize("name", PLANTS)
def test_only_contacts_hold(name: str) -> None:
    plant = PLANTS[name]()
    assert plant.engine.neq == 0  # no equality constraints: no welds, no loops, no mimic joints
    assert (plant.engine.jnt_stiffness == 0).all()
    assert (plant.engine.dof_damping == 0).all()
    assert (plant.engine.dof_frictionloss == 0).all()
    assert plant.robot.nv == {"arm": 50, "holonomic": 9, "nonholonomic": 9}[name]
    assert len(plant.robot.constraints) == (name == "nonholonomic")
    moving = plant.engine.body_mass.sum()
    assert moving == pytest.approx(sum(link.inertia.mass for link in plant.robot.model.description.links))


def test_vehicle_falls_where_nothing_touches() -> None:
    """The free platform has no joint to the world: lifted, it falls freely."""
    plant = vehicle.nonholonomic()
    data = plant.start()
    data.qpos[2] += 1.0
    for _ in range(100):
        mujoco.mj_step(plant.engine, data)
    assert data.ncon == 0
    assert data.qvel[2] == pytest.approx(-9.81 * 100 * vehicle.ENGINE_STEP, rel=1e-6)


def test_spin_of_the_wheels_is_an_inertia_of_the_base() -> None:
    """The model with nine coordinates moves as the one with the angles of its wheels and three rows of constraints."""
    model = vehicle.vehicle_model()
    limb, mount = vehicle._arm()
    wheels, axles = [], []
    for name, y in vehicle.WHEELS:
        wheels.append(link(name, vehicle._wheel(0.0, 0.0)))
        at = placement((0.0, y, vehicle.WHEEL_RADIUS))
        axles.append(Joint(f"{name}_axle", "revolute", "platform", name, origin=at, axis=(0.0, 1.0, 0.0)))
    drive = Joint(vehicle.DRIVE, "planar", "world", "platform")
    links = (Link("world"), link("platform", *vehicle._body()), *wheels, *limb.links)
    tree = Robot.from_description(Description("turning", links, (drive, *axles, mount, *limb.joints), limb.frames))
    rolling = RollingWheels(
        "left_wheel_axle", "right_wheel_axle", vehicle.WHEEL_RADIUS, vehicle.WHEEL_DISTANCE, "drive"
    )
    turning = tree.with_constraints(rolling, stabilisation=False)
    rng = np.random.default_rng(5)
    q, torques = rng.uniform(-1.0, 1.0, 9), rng.uniform(-20.0, 20.0, 8)
    ahead, turn, arm = 0.7, -0.9, rng.uniform(-1.0, 1.0, 6)
    base = np.array([ahead * np.cos(q[2]), ahead * np.sin(q[2]), turn])
    spin = (ahead + 0.5 * vehicle.WHEEL_DISTANCE * turn * np.array([-1.0, 1.0])) / vehicle.WHEEL_RADIUS
    plant = vehicle.nonholonomic()
    ours = model.forward_dynamics(q, np.concatenate([base, arm]), plant.forces(q, torques))
    full_q = np.concatenate([q[:3], [0.3, -2.0], q[3:]])
    full_v, full_tau = np.concatenate([base, spin, arm]), np.concatenate([np.zeros(3), torques])
    theirs = turning.forward_dynamics(full_q, full_v, full_tau)
    np.testing.assert_allclose(ours, np.delete(theirs, [3, 4]), atol=1e-9 * np.abs(theirs).max())


def test_reading_the_heading() -> None:
    plant = vehicle.nonholonomic()
    data = plant.start()
    data.qpos[:3], data.qpos[3:7] = (1.0, 2.0, 0.0), (np.cos(0.6), 0.0, 0.0, np.sin(0.6))
    data.qvel[:6] = 0.1, 0.2, 0.0, 0.0, 0.0, 0.7
    q, v = plant.read(data)
    np.testing.assert_allclose(q[:3], [1.0, 2.0, 1.2], atol=1e-12)
    np.testing.assert_allclose(v[:3], [0.1, 0.2, 0.7], atol=1e-12)
    np.testing.assert_array_equal(q[3:], plant.motion.center[2:])


def test_slip_of_wheels_that_do_not_turn() -> None:
    plant = vehicle.nonholonomic()
    data = plant.start()
    data.qvel[:6] = 0.5, 0.2, 0.0, 0.0, 0.0, 1.0
    q, v = plant.read(data)
    np.testing.assert_allclose(plant.slip(data, q, v), [0.2, 0.2, 0.8])
    data.qvel[plant.axle_v] = np.array([0.2, 0.8]) / vehicle.WHEEL_RADIUS
    np.testing.assert_allclose(plant.slip(data, q, v), [0.2, 0.0, 0.0], atol=1e-15)


def states(plant: Plant, n: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    q = 0.5 * rng.normal(size=(n, plant.robot.nq))
    v, tau = rng.normal(size=(n, plant.robot.nv)), 5.0 * rng.normal(size=(n, plant.robot.nv))
    if plant.robot.constraints:
        q, v = plant.robot.project(q, v)
    return q, v, tau


@pytest.mark.equation("Quiroz", "6.6")
@pytest.mark.equation("Quiroz", "6.7")
@pytest.mark.parametrize("name", ["holonomic", "nonholonomic"])
def test_accelerations_are_those_of_forward_dynamics(name: str) -> None:
    plant = PLANTS[name]()
    q, v, tau = states(plant)
    expected = plant.robot.forward_dynamics(q, v, tau)
    size = np.abs(expected).max()
    np.testing.assert_allclose(accelerations.by_gauss(plant.robot, q, v, tau), expected, atol=1e-10 * size)
    if name == "holonomic":
        np.testing.assert_allclose(accelerations.by_newton_euler(plant.robot, q, v, tau), expected, atol=1e-10 * size)


def test_toolbox_has_the_same_arm() -> None:
    if not peers.toolbox_is_here():
        pytest.skip("the Robotics Toolbox is not installed")
    plant = serial_arm()
    q, v, tau = states(plant)
    theirs = accelerations.by_toolbox(plant.robot, q, 0.1 * v, tau)
    ours = accelerations.by_newton_euler(plant.robot, q, 0.1 * v, tau)
    np.testing.assert_allclose(ours, theirs, atol=1e-8 * np.abs(ours).max())


def test_methods_that_apply() -> None:
    arm = serial_arm()
    assert accelerations.applicable(arm) == ("dqGP", "dqNE", "rtNE")
    assert accelerations.applicable(PLANTS["nonholonomic"]()) == ("dqGP",)
