"""Small robots that stand, the humanoid with bent knees, and how they move where the contacts hold."""

from __future__ import annotations

from functools import cache

import numpy as np

import dqdyn as dq
from dqdyn import contacts as touch
from dqdyn.algebra.poses import position, rotation_matrix
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.model import inertia
from dqdyn.model.description import Description, Joint, Link, NamedFrame, placement
from dqdyn.robot import Robot

FEET = ("leg_1", "leg_2", "leg_3", "leg_4")


@cache
def pole() -> tuple[Robot, np.ndarray, tuple[touch.Contact, ...]]:
    """A body on one leg that gets longer, with an ankle of two axes over a sole: an inverted pendulum with a foot."""
    links = (
        Link("body", inertia.box(20.0, (0.3, 0.2, 0.4))),
        Link("shank", inertia.box(2.0, (0.05, 0.05, 0.3))),
        Link("ankle", inertia.box(0.5, (0.05, 0.05, 0.05))),
        Link("sole", inertia.box(1.0, (0.24, 0.12, 0.04))),
    )
    joints = (
        Joint("leg", "prismatic", "body", "shank", placement((0.0, 0.0, -0.5)), axis=(0.0, 0.0, 1.0)),
        Joint("roll", "revolute", "shank", "ankle", placement((0.0, 0.0, -0.2)), axis=(1.0, 0.0, 0.0)),
        Joint("pitch", "revolute", "ankle", "sole", placement((0.0, 0.0, -0.05)), axis=(0.0, 1.0, 0.0)),
    )
    frames = (NamedFrame("foot", "sole", placement((0.02, 0.0, -0.05))),)
    robot = Robot.from_description(Description("pole", links, joints, frames, "free"))
    q = robot.neutral()
    q[6] = 0.8
    return robot, q, (touch.face("foot", half_length=0.12, half_width=0.06, friction=0.8),)


@cache
def table() -> tuple[Robot, np.ndarray, tuple[touch.Contact, ...]]:
    """A slab on four legs that get longer, each with a point on the ground: one more than statics can tell."""
    links = [Link("slab", inertia.box(10.0, (1.0, 0.6, 0.1)))]
    joints, frames = [], []
    for k, (x, y) in enumerate(((0.5, 0.3), (-0.5, 0.3), (-0.5, -0.3), (0.5, -0.3)), 1):
        links.append(Link(f"post_{k}", inertia.box(1.0, (0.05, 0.05, 0.4), (0.0, 0.0, -0.2))))
        joints.append(
            Joint(f"lift_{k}", "prismatic", "slab", f"post_{k}", placement((x, y, 0.0)), axis=(0.0, 0.0, 1.0))
        )
        frames.append(NamedFrame(f"leg_{k}", f"post_{k}", placement((0.0, 0.0, -0.4))))
    robot = Robot.from_description(Description("table", tuple(links), tuple(joints), tuple(frames), "free"))
    q = robot.neutral()
    q[6] = 0.4
    return robot, q, tuple(touch.point(foot, friction=0.6) for foot in FEET)


@cache
def resting_table() -> tuple[Robot, np.ndarray, tuple[touch.Contact, ...]]:
    """The table on one sole and three smooth points: no contact depends on the others, at no state."""
    robot, q, _ = table()
    smooth = [touch.point(foot, friction=0.0) for foot in FEET]
    sole = touch.face(FEET[1], half_length=0.06, half_width=0.05, friction=0.6)
    return robot, q, (smooth[0], sole, *smooth[2:])


@cache
def humanoid() -> tuple[Robot, np.ndarray, tuple[touch.Contact, ...]]:
    """With bent knees on both feet."""
    robot = dq.robots.humanoid()
    q, start = robot.neutral(), {joint.name: joint.q.start for joint in robot.joints}
    for side in ("left", "right"):
        for name, angle in (("hip_pitch", -0.4), ("knee", 0.8), ("ankle_pitch", -0.4)):
            q[start[f"{side}_{name}"]] = angle
    q[6] -= robot.pose("left_foot", q).translation[2]
    feet = (f"{side}_foot" for side in ("left", "right"))
    return robot, q, tuple(touch.face(foot, half_length=0.1, half_width=0.05, friction=0.6) for foot in feet)


def external_wrench(
    robot: Robot, q: np.ndarray, contacts: tuple[touch.Contact, ...], wrenches: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Force of contacts and weight in N, and their moment about the center of mass in N m, in world axes."""
    center, force, moment = robot.center_of_mass(q), np.array([0.0, 0.0, -9.81 * robot.model.mass]), np.zeros(3)
    for contact in contacts:
        x, w = contact.pose(robot.model, q.tolist()), wrenches[contact.name]
        axes, p = np.array(rotation_matrix(x)), np.array(position(x).vector)
        force += axes @ w[:3]
        moment += np.cross(p - center, axes @ w[:3]) + axes @ w[3:]
    return force, moment


def stand(
    robot: Robot,
    controller: WholeBodyController,
    q: np.ndarray,
    v: np.ndarray,
    duration: float,
    dt: float = 2e-3,
    start: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) after following the accelerations of a controller, which contacts that hold give."""
    for k in range(round(duration / dt)):
        controller(start + k * dt, q, v)
        a = controller.accelerations
        q = robot.integrate(q, v + 0.5 * dt * a, dt)
        v = v + dt * a
    return q, v
