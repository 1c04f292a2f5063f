"""The manipulator on two driven wheels and a caster: in MuJoCo on contacts alone, and as the nonholonomic model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.analysis.validation.plants import DAMPING, STEP, STIFFNESS, Plant, Swing
from dqdyn.arrays import Array
from dqdyn.constraints.kinds.rolling import Rolling
from dqdyn.model.description import Description, Joint, Link, Shape, placement
from dqdyn.robot import Robot
from dqdyn.robots.arms import arm6_limb
from dqdyn.robots.parts import STEEL, Limb, Part, ball, block, link, rod
from dqdyn.simulate.mujoco_plant import engine_model

WHEEL_RADIUS, WHEEL_DISTANCE, WHEEL_MASS = 0.15, 0.6, 6.0
CASTER_RADIUS, CASTER_PLACE = 0.05, (-0.6, 0.0, 0.05)
WHEELS = (("left_wheel", 0.5 * WHEEL_DISTANCE), ("right_wheel", -0.5 * WHEEL_DISTANCE))
DRIVE, CASTER = "drive", "caster"
ARM_PLACE = (-0.2, 0.0, 0.45)

ENGINE_STEP = 2e-4  # s
CONTACT_TIME = 2e-3  # s in which a contact recovers
CONTACT_HARDNESS = 0.9999  # MuJoCo's impedance: 1 would be a rigid contact
FRICTION = 1.0


def _wheel(y: float, z: float) -> Part:
    return rod(WHEEL_MASS, WHEEL_RADIUS, (0.0, y - 0.03, z), (0.0, y + 0.03, z), STEEL)


def _body() -> tuple[Part, Part]:
    """The box behind the axle, so that one caster carries it, and the caster, a ball that glides."""
    return block(106.0, (0.8, 0.5, 0.35), (-0.25, 0.0, 0.275)), ball(2.0, CASTER_RADIUS, CASTER_PLACE)


def _arm() -> tuple[Limb, Joint]:
    limb = arm6_limb("arm_")
    # Only the wheels and the caster may touch the ground.
    links = tuple(replace(item, collisions=()) for item in limb.links)
    return replace(limb, links=links), Joint("mount", "fixed", "platform", "arm_base", origin=placement(ARM_PLACE))


def vehicle_model() -> Robot:
    """x, y, φ of the point between the wheels and six joints, under the rolling constraint; 188.5 kg.

    The wheels are part of the platform. Their spin, θ̇ = (u ∓ φ̇ d/2)/r at the forward speed u, weighs as an inertia of
    the coordinates: 2J/r² along x and y (what acts across the wheels is taken up by the constraint), J d²/2r² about z.
    """
    limb, mount = _arm()
    spin = _wheel(0.0, 0.0).inertia.tensor[1][1] / WHEEL_RADIUS**2
    rotor = (2.0 * spin, 2.0 * spin, 0.5 * WHEEL_DISTANCE**2 * spin)
    platform = link("platform", *_body(), *(_wheel(y, WHEEL_RADIUS) for _, y in WHEELS))
    drive = Joint(DRIVE, "planar", "world", "platform", armature=rotor)
    links, joints = (Link("world"), platform, *limb.links), (drive, mount, *limb.joints)
    tree = Robot.from_description(Description("vehicle", links, joints, limb.frames))
    return tree.with_constraints(Rolling(DRIVE, WHEEL_RADIUS, WHEEL_DISTANCE), stabilisation=False)


def vehicle_on_wheels() -> Robot:
    """The same vehicle with a free platform and wheels that turn: 14 degrees of freedom, held by nothing.

    Wheels touch at one point each: their contact shape is a ball of their radius.
    """
    limb, mount = _arm()
    foot = Shape("sphere", (CASTER_RADIUS,), placement(CASTER_PLACE), name=CASTER)
    platform = replace(link("platform", *_body()), collisions=(foot,))
    wheels, axles = [], []
    for name, y in WHEELS:
        tyre = Shape("sphere", (WHEEL_RADIUS,), name=name)
        wheels.append(replace(link(name, _wheel(0.0, 0.0)), collisions=(tyre,)))
        at = placement((0.0, y, WHEEL_RADIUS))
        axles.append(Joint(f"{name}_axle", "revolute", "platform", name, origin=at, axis=(0.0, 1.0, 0.0)))
    links, joints = (platform, *wheels, *limb.links), (*axles, mount, *limb.joints)
    return Robot.from_description(Description("vehicle_on_wheels", links, joints, limb.frames, base="free"))


class Vehicle(Plant):
    """Torques of the left and the right wheel and of the arm move it; only the engine's contacts hold it."""

    settling = 0.5
    substeps = round(STEP / ENGINE_STEP)

    def build_engine(self) -> Any:
        import mujoco

        self.bare = self.robot.without_constraints()
        model = engine_model(vehicle_on_wheels(), ENGINE_STEP, ground=0.0, limits=False, method=self.method)
        model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        model.opt.tolerance = 1e-12
        for name in (*(wheel for wheel, _ in WHEELS), CASTER):
            geom = model.geom(name)
            geom.priority = 1  # its own contact parameters, not a mixture with those of the ground
            geom.condim = 1 if name == CASTER else 3  # the caster glides
            geom.friction[0] = FRICTION
            geom.solref[:] = CONTACT_TIME, 1.0
            geom.solimp[:2] = CONTACT_HARDNESS
        arm = [model.joint(joint.name) for joint in self.robot.joints if joint.name != DRIVE]
        axles = [model.joint(f"{name}_axle") for name, _ in WHEELS]
        self.arm_q, self.arm_v = (np.array([getattr(j, at)[0] for j in arm]) for at in ("qposadr", "dofadr"))
        self.axle_q, self.axle_v = (np.array([getattr(j, at)[0] for j in axles]) for at in ("qposadr", "dofadr"))
        return model

    def start(self) -> Any:
        import mujoco

        data = mujoco.MjData(self.engine)
        data.qpos[self.arm_q] = self.motion.center[2:]
        return data

    def read(self, data: Any) -> tuple[Array, Array]:
        """The platform's place and heading in the plane; its free joint comes first in the engine."""
        w, x, y, z = data.qpos[3:7]
        heading = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        vertical = np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])
        turn = vertical @ data.qvel[3:6]  # MuJoCo's ω of a free body is in its own axes
        q = np.concatenate([data.qpos[:2], [heading], data.qpos[self.arm_q]])
        return q, np.concatenate([data.qvel[:2], [turn], data.qvel[self.arm_v]])

    def torques(self, t: float, q: Array, v: Array, data: Any) -> Array:
        """Computed torque for the way of the wheels, the heading and the arm."""
        p, rate, a = self.motion.at(t)
        c, s, forward = np.cos(q[2]), np.sin(q[2]), np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1]
        way = WHEEL_RADIUS * data.qpos[self.axle_q].mean()
        place, speed = np.concatenate([[way], q[2:]]), np.concatenate([[forward], v[2:]])
        wanted = a + STIFFNESS * (p - place) + DAMPING * (rate - speed)
        across = forward * v[2]  # what turning adds to the acceleration, across the wheels
        base = [c * wanted[0] - s * across, s * wanted[0] + c * across]
        force = self.bare.inverse_dynamics(q, v, np.concatenate([base, wanted[1:]]))
        half, turning = 0.5 * (c * force[0] + s * force[1]), force[2] / WHEEL_DISTANCE
        wheels = WHEEL_RADIUS * np.array([half - turning, half + turning])
        return np.concatenate([wheels, force[3:]])

    def push(self, data: Any, torques: Array) -> None:
        data.qfrc_applied[self.axle_v] = torques[:2]
        data.qfrc_applied[self.arm_v] = torques[2:]

    def forces(self, q: Array, torques: Array) -> Array:
        left, right, phi = torques[..., 0], torques[..., 1], q[..., 2]
        forward, turning = (left + right) / WHEEL_RADIUS, (right - left) * 0.5 * WHEEL_DISTANCE / WHEEL_RADIUS
        base = np.stack([forward * np.cos(phi), forward * np.sin(phi), turning], axis=-1)
        return np.concatenate([base, torques[..., 2:]], axis=-1)

    def slip(self, data: Any, q: Array, v: Array) -> Array:
        """Of the axle sideways, and of the left and the right wheel in its plane, in m/s."""
        c, s = np.cos(q[2]), np.sin(q[2])
        forward, sideways = c * v[0] + s * v[1], c * v[1] - s * v[0]
        hubs = forward + 0.5 * WHEEL_DISTANCE * v[2] * np.array([-1.0, 1.0])
        return np.concatenate([[sideways], hubs - WHEEL_RADIUS * data.qvel[self.axle_v]])


def nonholonomic() -> Plant:
    """Two driven wheels, a caster and a six-axis arm."""
    center = np.array([0.0, 0.0, 0.0, -0.2, 0.3, 0.0, 0.4, 0.0])  # way of the wheels, heading, arm
    amplitude = np.array([0.3, 1.0, 0.4, 0.15, 0.15, 0.4, 0.3, 0.5])
    frequency = np.array([0.2, 0.17, 0.3, 0.33, 0.37, 0.41, 0.45, 0.5])
    title = "8-DOF nonholonomic mobile manipulator"
    return Vehicle("nonholonomic", title, vehicle_model(), Swing(center, amplitude, frequency), "arm_forearm")
