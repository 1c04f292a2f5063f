"""Robots in MuJoCo, each with the model that is to be validated: what Silva, section 5, runs in V-REP."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.loading import from_dh
from dqdyn.model import inertia
from dqdyn.model.description import placement
from dqdyn.robot import Robot
from dqdyn.simulate.mujoco_plant import engine_model

STEP = 1e-3
"""s from one torque to the next, and of the engine where it has no contacts."""

STIFFNESS, DAMPING = 100.0, 20.0
"""1/s² and 1/s, of the errors under computed torque."""

JOINTS = 50
LINK_MASS, LINK_RADIUS, LINK_LENGTH = 0.25, 0.02, 0.1


@dataclass(frozen=True, eq=False)
class Swing:
    """Every coordinate swings by p + A sin³(2πft); ``amplitude`` in rad or m and ``frequency`` in Hz, each (n,).

    The cube has two harmonics, f and 3f, and its first two derivatives vanish at t = 0: nothing jumps at the start.
    """

    center: Array
    amplitude: Array
    frequency: Array

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration (n,) at the time t in s; at rest in the center before t = 0."""
        w = 2.0 * np.pi * self.frequency
        angle, size = w * max(t, 0.0), 0.75 * self.amplitude
        p = self.center + self.amplitude * np.sin(angle) ** 3
        v = size * w * (np.cos(angle) - np.cos(3.0 * angle))
        return p, v, size * w * w * (3.0 * np.sin(3.0 * angle) - np.sin(angle))


class Plant:
    """A robot whose coordinates are those of the engine; the vehicle on wheels is another kind.

    ``robot`` is the model. Torques come from the model's inverse dynamics, with feedback, so that the motion stays
    near ``motion``; the engine alone decides what they do. ``control`` names the body of the negative control.
    """

    method = "Euler"
    settling = 0.0  # s at rest before the motion begins
    substeps = 1  # of the engine from one torque to the next

    def __init__(self, key: str, title: str, robot: Robot, motion: Swing, control: str) -> None:
        self.key, self.title, self.robot, self.motion, self.control = key, title, robot, motion, control
        self.engine = self.build_engine()

    def build_engine(self) -> Any:
        """A ``mujoco.MjModel``."""
        model = engine_model(self.robot, STEP, limits=False, method=self.method)
        self.layout = self.robot.to_mujoco(model)
        return model

    def start(self) -> Any:
        """``mujoco.MjData`` at rest where the motion begins."""
        import mujoco

        data = mujoco.MjData(self.engine)
        data.qpos[:] = self.layout.q(self.motion.center)
        return data

    def read(self, data: Any) -> tuple[Array, Array]:
        """q and v of the model, as the engine has them now."""
        q = self.layout.q_from(data.qpos)
        return q, self.layout.v_from(q, data.qvel)

    def torques(self, t: float, q: Array, v: Array, data: Any) -> Array:
        """What the motors do (actuators,): computed torque along the motion."""
        p, rate, a = self.motion.at(t)
        return self.robot.inverse_dynamics(q, v, a + STIFFNESS * (p - q) + DAMPING * (rate - v))

    def push(self, data: Any, torques: Array) -> None:
        """Hand the torques to the engine."""
        data.qfrc_applied[:] = self.layout.tau(data.qpos, torques)

    def forces(self, q: Array, torques: Array) -> Array:
        """The torques (..., actuators) as generalized forces of the model (..., nv)."""
        return torques

    def slip(self, data: Any, q: Array, v: Array) -> Array:
        """Velocities in m/s that rolling forbids: none here."""
        return np.zeros(0)


def arm_table() -> Array:
    """Denavit-Hartenberg parameters θ, d, a, α of the arm with 50 joints, (50, 4); each axis is across the last."""
    alpha = np.where(np.arange(JOINTS) % 2 == 0, 0.5 * pi, -0.5 * pi)
    alpha[-1] = 0.0
    return np.stack([np.zeros(JOINTS), np.zeros(JOINTS), np.full(JOINTS, LINK_LENGTH), alpha], axis=1)


def arm_link() -> inertia.Inertia:
    """Of every link of that arm, in its DH frame at the far end: a cylinder along x."""
    return inertia.cylinder(LINK_MASS, LINK_RADIUS, LINK_LENGTH, "x", (-0.5 * LINK_LENGTH, 0.0, 0.0))


ARM_BASE = placement((0.0, 0.0, 0.0), (-0.5 * pi, 0.0, 0.0))
"""Of DH frame 0: its z axis lies along the world's y."""


def serial_arm() -> Plant:
    """A fixed arm of 50 links, 5 m long and 12.5 kg."""
    links = [arm_link()] * JOINTS
    robot = from_dh(arm_table(), inertias=links, base=ARM_BASE.components, name="serial_arm")
    k = np.arange(JOINTS)
    motion = Swing(np.zeros(JOINTS), np.where(k % 4 < 2, 0.15, -0.15), 0.2 + 0.4 * (k * 17 % JOINTS) / JOINTS)
    return Plant("arm", "50-DOF serial manipulator", robot, motion, "link25")


def holonomic() -> Plant:
    """The built-in manipulator on a platform that is free in the plane."""
    from dqdyn import robots

    center = np.array([0.0, 0.0, 0.0, 0.0, -0.2, 0.3, 0.0, 0.4, 0.0])
    amplitude = np.array([0.4, 0.3, 0.8, 0.5, 0.3, 0.3, 0.5, 0.4, 0.6])
    frequency = np.array([0.2, 0.23, 0.26, 0.3, 0.33, 0.37, 0.41, 0.45, 0.5])
    motion = Swing(center, amplitude, frequency)
    title = "9-DOF holonomic mobile manipulator"
    return Plant("holonomic", title, robots.holonomic_manipulator(), motion, "arm_forearm")
