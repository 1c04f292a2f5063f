"""Closed loops and contacts against Pinocchio's constraint dynamics and against MuJoCo's connect and weld."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from constraint_robots import robot_of, standing, state, welded
from pinocchio_tools import pinocchio_model
from trees import assert_close

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.algebra.dual import IDENTITY
from dqdyn.formats.mjcf.writer import write_mjcf
from dqdyn.model.inertia import Inertia
from dqdyn.robot import Robot
from dqdyn.robots.platform import HEIGHT

# --- Pinocchio ----------------------------------------------------------------------------------------------------


def held(model: pin.Model, first: str | None, second: str, rows: int) -> pin.RigidConstraintModel:
    """A constraint of three or six rows between two frames, or between a frame and the world."""
    kind = {3: pin.ContactType.CONTACT_3D, 6: pin.ContactType.CONTACT_6D}[rows]
    frame = model.frames[model.getFrameId(second)]
    if first is None:
        return pin.RigidConstraintModel(kind, model, frame.parentJoint, frame.placement)
    other = model.frames[model.getFrameId(first)]
    ends = (other.parentJoint, other.placement, frame.parentJoint, frame.placement)
    return pin.RigidConstraintModel(kind, model, *ends, pin.ReferenceFrame.LOCAL)


def pinocchio_acceleration(
    robot: Robot, constraints: list[tuple[str | None, str, int]], q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> tuple[np.ndarray, list[Any]]:
    """Its acceleration as ours, and its forces."""
    model = pinocchio_model(robot.without_constraints())
    model.gravity.linear = robot.gravity
    layout, data = robot.to_pinocchio(model), model.createData()
    models = pin.StdVec_RigidConstraintModel([held(model, *c) for c in constraints])
    datas = pin.StdVec_RigidConstraintData([m.createData() for m in models])
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-9, 200)  # its damping is taken away by the iterations
    found = pin.constraintDynamics(
        model, data, layout.q(q), layout.v(q, v), layout.tau(q, tau), models, datas, settings
    )
    return layout.a_from(q, v, found.copy()), [d.contact_force.vector.copy() for d in datas]


PAIRS: dict[str, list[tuple[str | None, str, int]]] = {
    "four-bar": [("coupler_end", "rocker_end", 3)],
    "five-bar": [("left_distal_end", "right_distal_end", 3)],
    "stewart platform": [(f"anchor_{i}", f"tip_{i}", 3) for i in range(1, 7)],
    "weld": [(None, "tool", 6)],
    "contacts": [(None, "left_foot", 6), (None, "right_foot", 3)],
}


@pytest.mark.parametrize("name", PAIRS)
def test_accelerations_are_pinocchios(name: str) -> None:
    robot = robot_of(name)
    # The other methods of the large robots are compiled, and held against this one, in test_three_ways.
    methods = ("auto",) if robot.nv > 20 else ("auto", "udwadia-kalaba", "kane")
    for seed in range(4):
        q, v, tau = state(robot, seed)
        expected, _ = pinocchio_acceleration(robot, PAIRS[name], q, v, tau)
        for method in methods:
            assert_close(robot.forward_dynamics(q, v, tau, method=method), expected, 1e-6)


def test_contact_forces_are_pinocchios() -> None:
    """Multipliers of contacts are the wrench on the robot in the frame's axes."""
    robot = standing()
    q, v, tau = state(robot, 1)
    _, (left, right) = pinocchio_acceleration(robot, PAIRS["contacts"], q, v, tau)
    lam = robot.constraint_multipliers(q, v, tau)
    assert_close(lam[:6], np.concatenate([left[3:], left[:3]]), 1e-6)
    assert_close(lam[6:], right[:3], 1e-6)


# --- MuJoCo -------------------------------------------------------------------------------------------------------


def mujoco_model(robot: Robot, equality: str) -> mujoco.MjModel:
    """The bare tree with equality constraints between its sites; the world is a site too."""
    text = write_mjcf(robot.without_constraints().model)
    world = text.index("<worldbody>") + len("<worldbody>")
    text = text[:world] + '<site name="origin"/>' + text[world:]
    closing = text.index("</mujoco>")
    return mujoco.MjModel.from_xml_string(text[:closing] + f"<equality>{equality}</equality>" + text[closing:])


def mujoco_acceleration(robot: Robot, equality: str, q: np.ndarray, tau: np.ndarray, softness: float) -> np.ndarray:
    """At rest: MuJoCo has no J̇ v. Its constraints give way by the part ``softness`` of what they should hold."""
    impedance = 1.0 - softness
    theirs = mujoco_model(robot, equality.format(f'solimp="{impedance} {impedance} 0.001 0.5 2"'))
    layout, data = robot.to_mujoco(theirs), mujoco.MjData(theirs)
    theirs.opt.gravity = robot.gravity
    theirs.opt.iterations, theirs.opt.tolerance = 200, 0.0
    v = np.zeros(robot.nv)
    data.qpos[:], data.qfrc_applied[:] = layout.q(q), layout.tau(q, tau)
    mujoco.mj_forward(theirs, data)
    return layout.a_from(q, v, data.qacc.copy())


CONNECTED = {
    "four-bar": '<connect site1="coupler_end" site2="rocker_end" {0}/>',
    "five-bar": '<connect site1="left_distal_end" site2="right_distal_end" {0}/>',
    "stewart platform": "".join(f'<connect site1="anchor_{i}" site2="tip_{i}" {{0}}/>' for i in range(1, 7)),
    "welded base": '<weld site1="origin" site2="grip" {0}/>',
}


def platform_in_the_world() -> tuple[Robot, np.ndarray]:
    """The platform's free joint as MuJoCo can have it: between the world and the platform, its origin the world's."""
    d = dq.robots.stewart_platform().description
    links = tuple(replace(link, name="world", inertia=Inertia()) if link.name == "base" else link for link in d.links)
    joints = tuple(replace(joint, parent="world" if joint.parent == "base" else joint.parent) for joint in d.joints)
    joints = (replace(joints[0], origin=IDENTITY), *joints[1:])
    robot = Robot.from_description(d.with_changes(links=links, joints=joints))
    rng = np.random.default_rng(2)
    home = robot.neutral()
    home[6] = HEIGHT
    return robot, robot.project(robot.integrate(home, 0.1 * rng.normal(size=robot.nv), 1.0))[0]


def welded_base() -> tuple[Robot, np.ndarray]:
    """A free-floating arm whose base is welded to the world, away from its origin and turned."""
    tree = dq.robots.arm6(base="free")
    link = tree.bodies[0].name
    start = np.concatenate([[0.5, 0.5, -0.5, 0.5, 0.3, -0.2, 0.6], np.linspace(-0.6, 0.8, 6)])
    robot = tree.add_frame("grip", link, tree.pose(link, start).inverse())
    robot = robot.with_constraints(kinds.PoseClosure("world", "grip"))
    return robot, robot.project(start)[0]


def sample(name: str) -> tuple[Robot, np.ndarray]:
    if name == "stewart platform":
        return platform_in_the_world()
    return welded_base() if name == "welded base" else (robot_of(name), state(robot_of(name), 2)[0])


@pytest.mark.parametrize("name", CONNECTED)
def test_accelerations_are_mujocos(name: str) -> None:
    """The harder its constraints, the nearer: extrapolated to rigid ones, they agree."""
    robot, q = sample(name)
    tau = np.random.default_rng(3).normal(size=robot.nv)
    expected = robot.forward_dynamics(q, np.zeros(robot.nv), tau)
    soft, hard = (mujoco_acceleration(robot, CONNECTED[name], q, tau, s) for s in (2e-4, 1e-4))
    scale = np.abs(expected).max()
    assert np.abs(hard - expected).max() < 5e-3 * scale
    assert np.abs(hard - expected).max() < 0.7 * np.abs(soft - expected).max()
    assert np.abs(2.0 * hard - soft - expected).max() < 5e-4 * scale


def test_welded_base_moves_as_a_fixed_one() -> None:
    robot, q = welded_base()
    rng = np.random.default_rng(5)
    v, tau = np.concatenate([np.zeros(6), rng.normal(size=6)]), np.concatenate([np.zeros(6), rng.normal(size=6)])
    fixed = dq.robots.arm6()
    at = robot.pose(robot.bodies[0].name, q)
    turned = fixed.with_gravity(at.rotation_matrix.T @ np.array([0.0, 0.0, -9.81]))
    expected = turned.forward_dynamics(q[7:], v[6:], tau[6:])
    assert_close(robot.forward_dynamics(q, v, tau), np.concatenate([np.zeros(6), expected]), 1e-9)


def test_weld_is_welded() -> None:
    robot = welded()
    q, _, _ = state(robot)
    wanted = robot.constraints[0].pose  # type: ignore[attr-defined]
    assert abs(abs(np.dot(robot.pose("tool", q).vec8()[:4], wanted.vec8()[:4])) - 1.0) < 1e-12
    assert_close(robot.constraint_residual(q), np.zeros(6), 1e-9)
