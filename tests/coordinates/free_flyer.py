"""Robots of example-robot-data on a free base, here and in Pinocchio, and its answers in any coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio
from robot_data import short_name, urdf_files

from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot

ROBOTS = (
    "a1/a1",
    "anymal_b_simple/anymal",
    "anymal_c_simple/anymal",
    "b1/b1-z1",
    "bolt/bolt",
    "borinot/borinot_flying_arm_2",
    "g1/g1_29dof_rev_1_0",
    "go2/go2",
    "hyq/hyq_no_sensors",
    "icub/icub_reduced",
    "panda/panda",
    "simple_humanoid/simple_humanoid",
    "solo/solo12",
    "talos/talos_reduced",
    "ur/ur5_robot",
)
_FILES = {short_name(path): str(path) for path in urdf_files()}


@cache
def robot(name: str) -> Robot:
    """Without friction, since Pinocchio's dynamics have none."""
    return Robot(build(read_urdf(_FILES[name]), base="free", mimic=False, quiet=True)).without_friction()


@cache
def peer(name: str, root: str = "free-flyer") -> pinocchio.Model:
    """Pinocchio's model on a free-flyer, or on a translation with Euler angles zyx."""
    joint: Any = pinocchio.JointModelFreeFlyer()
    if root == "zyx":
        joint = pinocchio.JointModelComposite(pinocchio.JointModelTranslation())
        joint.addJoint(pinocchio.JointModelSphericalZYX())
    return pinocchio.buildModelFromUrdf(_FILES[name], joint)


class FreeFlyer:
    """Pinocchio's free-flyer at a random state, its base written by our coordinates with NumPy alone."""

    def __init__(self, name: str, seed: int) -> None:
        self.robot, self.model = robot(name), peer(name)
        self.layout: Layout = self.robot.to_pinocchio(self.model)
        self.data = self.model.createData()
        rng = np.random.default_rng(seed)
        self.own_q, self.v = self.robot.random_configuration(rng), rng.normal(size=self.robot.nv)
        self.tau = rng.normal(size=self.robot.nv) * 10.0
        self.pin_q, self.pin_v = self.layout.q(self.own_q), self.layout.v(self.own_q, self.v)
        self.pin_tau = self.layout.tau(self.own_q, self.tau)

    def acceleration(self, forces: Any = None) -> np.ndarray:
        """Pinocchio's, by aba."""
        extra = () if forces is None else (forces,)
        return pinocchio.aba(self.model, self.data, self.pin_q, self.pin_v, self.pin_tau, *extra).copy()

    def curve(self, a: np.ndarray, write: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[float], Any]:
        """t → coordinates on a motion with velocity v and acceleration a at t = 0, moved by Pinocchio.

        ``write(R, p)`` makes the base's coordinates of its rotation and position.
        """
        joints = [self.robot.joints[i] for i in range(1, len(self.robot.joints))]

        def at(t: float) -> np.ndarray:
            q = pinocchio.integrate(self.model, self.pin_q, self.pin_v * t + 0.5 * t * t * a)
            R = pinocchio.Quaternion(q[6], q[3], q[4], q[5]).toRotationMatrix()
            own = self.layout.q_from(q)
            turned = [own[j.q] for j in joints if not j.is_mimic]
            return np.concatenate([write(R, q[:3]), *turned])

        return at


def second_derivative(function: Callable[[float], np.ndarray], h: float = 2e-2) -> np.ndarray:
    """d²/dt² at 0 by central differences of order 8."""
    weights = (8 / 5, -1 / 5, 8 / 315, -1 / 560)
    result = -205 / 72 * function(0.0)
    for k, w in enumerate(weights, 1):
        result = result + w * (function(k * h) + function(-k * h))
    return result / h**2


def continuous(function: Callable[[float], np.ndarray], signed: int) -> Callable[[float], np.ndarray]:
    """The value nearest to that at 0: ``signed`` entries come in two signs, or three angles in full turns."""
    start = function(0.0)

    def at(t: float) -> np.ndarray:
        value = function(t).copy()
        if not signed:
            value[:3] += 2.0 * np.pi * np.round((start[:3] - value[:3]) / (2.0 * np.pi))
        elif value[:signed] @ start[:signed] < 0.0:
            value[:signed] *= -1.0
        return value

    return at
