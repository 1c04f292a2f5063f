"""Pushes at the pelvis of a humanoid in MuJoCo, in eight directions: how large an impulse it survives without a step.

``PYTHONPATH=tests python tests/control/pushes.py [humanoid | talos]`` prints the survived impulse as a part of
m ω₀² d T/(1 − e^(−ω₀T)), the bound of the linear pendulum: d is the distance of the center of mass, at rest, to the
edge of the support in that direction, T the duration of the push. Survived: 5 s later the center of mass moves below
0.05 m/s, nothing but the feet has touched the ground, and the feet moved by less than 2 cm.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np
from robot_data import urdf_file
from standing import humanoid

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.contacts import Contact, SupportPolygon, face, support_polygon
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.model.description import Description, Shape, placement
from dqdyn.robot import Robot
from dqdyn.simulate.mujoco_plant import engine_model

DT, BEFORE, PUSH, AFTER = 1e-3, 0.3, 0.1, 5.0  # s: step, rest before the push, its duration, time to recover
SLOW, MOVED = 0.05, 0.02  # m/s of the center of mass and m of the feet at the end
FALLEN = 0.6  # of the height of the center of mass at the start
GROUND = 0


@dataclass
class Standing:
    """A robot that stands, its controller, and the engine with the ground."""

    robot: Robot
    q: np.ndarray
    feet: tuple[Contact, ...]
    pelvis: str

    def __post_init__(self) -> None:
        self.center = np.asarray(self.robot.center_of_mass(self.q))
        self.support: SupportPolygon = support_polygon(self.robot, self.q, self.feet)
        self.controller = self._controller()
        self.model = engine_model(self.robot, DT, ground=0.0)
        # The robot touches the ground alone: arms may pass through the body, as nothing here keeps them apart.
        self.model.geom_contype[1:] = 0
        self.layout, self.data = self.robot.to_mujoco(self.model), mujoco.MjData(self.model)
        self.body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, self.pelvis)
        self.soles = self._soles()

    def _soles(self) -> set[int]:
        """The engine's bodies that touch the ground at the start: the feet."""
        data = mujoco.MjData(self.model)
        data.qpos[:] = self.layout.q(self.q)
        data.qpos[2] -= 1e-3
        mujoco.mj_forward(self.model, data)
        return {int(body) for contact in data.contact for body in self.model.geom_bodyid[list(contact.geom)]} - {0}

    def _controller(self) -> WholeBodyController:
        """Balance first, then height, upright pelvis, posture, and small angular momentum."""
        height = float(self.center[2])
        return ct.whole_body_controller(
            self.robot,
            [
                ct.DivergentComponentTask(self.center[:2], height=height, gain=5.0, weight=100.0, support=self.support),
                ct.FunctionTask(
                    lambda p: p.primary.z - height, [ct.CenterOfMass()], gain=5.0, weight=30.0, name="height"
                ),
                ct.RotationTask(self.pelvis, self.robot.pose(self.pelvis, self.q), gain=6.0, weight=5.0),
                ct.PostureTask(self.q, gain=5.0, weight=1.0),
                ct.MomentumTask(part="angular", gain=3.0, weight=0.3),
                ct.ForceRegularisation(components=("f_t1", "f_t2"), weight=1e-6),
                # Without these the load jumps between the feet when a lifted one comes down.
                *(ct.CenterOfPressureTask(foot, weight=1e-4) for foot in self.feet),
                ct.LoadSharingTask(weight=1e-6),
            ],
            contacts=self.feet,
        )

    def bound(self, direction: np.ndarray) -> float:
        """m ω₀² d T/(1 − e^(−ω₀T)) in N s."""
        near, far = 0.0, 2.0
        for _ in range(50):
            middle = 0.5 * (near + far)
            inside = self.support.contains(self.center[:2] + middle * direction)
            near, far = (middle, far) if inside else (near, middle)
        omega = np.sqrt(9.81 / self.center[2])
        return float(self.robot.model.mass * omega**2 * near * PUSH / (1.0 - np.exp(-omega * PUSH)))

    def survives(self, direction: np.ndarray, impulse: float) -> tuple[bool, str]:
        """Whether it stands after an impulse in N s, and why not."""
        data, layout, controller = self.data, self.layout, self.controller
        controller.reset()
        mujoco.mj_resetData(self.model, data)
        data.qpos[:] = layout.q(self.q)
        force = np.array([*direction, 0.0]) * impulse / PUSH
        for k in range(round((BEFORE + PUSH + AFTER) / DT)):
            t = k * DT
            q, v = self._state()
            data.qfrc_applied[:] = layout.tau(q, controller(t, q, v))
            data.xfrc_applied[self.body, :3] = force if BEFORE <= t < BEFORE + PUSH else 0.0
            mujoco.mj_step(self.model, data)
            if k % 20 == 0:
                other = self._touching() - self.soles
                if other:
                    return False, f"{self.model.body(other.pop()).name} touched the ground at {t:.2f} s"
                if self.robot.center_of_mass(q)[2] < FALLEN * self.center[2]:
                    return False, f"fell at {t:.2f} s"
        return self._rests(*self._state())

    def _state(self) -> tuple[np.ndarray, np.ndarray]:
        q = self.layout.q_from(self.data.qpos)
        return q, self.layout.v_from(q, self.data.qvel)

    def _touching(self) -> set[int]:
        on_ground = (contact.geom for contact in self.data.contact if GROUND in contact.geom)
        return {int(self.model.geom_bodyid[g]) for pair in on_ground for g in pair if g != GROUND}

    def _rests(self, q: Any, v: Any) -> tuple[bool, str]:
        speed = float(np.linalg.norm(self.robot.center_of_mass_velocity(q, v)))
        frames = [foot.frame for foot in self.feet]
        places = ([self.robot.pose(frame, at).translation for frame in frames] for at in (q, self.q))
        moved = max(float(np.linalg.norm(a - b)) for a, b in zip(*places, strict=True))
        return speed < SLOW and moved < MOVED, f"{speed:.3f} m/s, feet moved {1e3 * moved:.1f} mm"


def soles(*frames: str) -> tuple[Contact, ...]:
    """Those of the built-in humanoid, 5 mm within the edges of its boxes."""
    return tuple(face(frame, half_length=0.105, half_width=0.05, friction=0.7) for frame in frames)


def survived_part(
    standing: Standing, direction: np.ndarray, least: float = 0.0, most: float = 2.0
) -> tuple[float, str]:
    """The largest part of the bound that is survived, to 1/32 of the range, and what ended the next larger one."""
    bound, why = standing.bound(direction), ""
    for _ in range(5):
        middle = 0.5 * (least + most)
        survives, said = standing.survives(direction, middle * bound)
        least, most, why = (middle, most, why) if survives else (least, middle, said)
    return least, why


def of_humanoid() -> Standing:
    robot, q, _ = humanoid()
    return Standing(robot, q, soles("left_foot", "right_foot"), "pelvis")


def of_talos() -> Standing:
    """The reduced Talos of example-robot-data, its knees bent, on flat soles, without the friction of its joints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        loaded = dq.load(urdf_file("talos/talos_reduced"), base="free").without_friction()
        robot = Robot.from_description(with_soles(loaded), base="free")
    q, where = robot.neutral(), {joint.name: joint.q.start for joint in robot.joints}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        angles = {"leg_{}_3": -0.411354, "leg_{}_4": 0.859395, "leg_{}_5": -0.448041, "arm_{}_4": -0.525366}
        angles |= {"arm_{}_1": sign * 0.25847, "arm_{}_2": sign * 0.173046}
        for name, angle in angles.items():
            q[where[f"{name.format(side)}_joint"]] = angle
    frames = ("left_sole_link", "right_sole_link")
    q[6] -= robot.pose(frames[0], q).translation[2]
    feet = tuple(face(frame, half_length=0.1, half_width=0.06, friction=0.7) for frame in frames)
    return Standing(robot, q, feet, "base_link")


def with_soles(robot: Robot) -> Description:
    """Boxes as feet and no other shapes: the engine touches a mesh at three points, which come and go."""
    poses = {side: robot.model.frame(f"{side}_sole_link").placement for side in ("left", "right")}
    boxes = {
        f"leg_{side}_6_link": Shape("box", (0.21, 0.13, 0.02), pose * placement((0.0, 0.0, 0.01)))
        for side, pose in poses.items()
    }
    links = (
        replace(link, collisions=(boxes[link.name],) if link.name in boxes else ()) for link in robot.description.links
    )
    return robot.description.with_changes(links=tuple(links))


ROBOTS = {"humanoid": of_humanoid, "talos": of_talos}


def main(name: str = "humanoid") -> None:
    standing = ROBOTS[name]()
    center = standing.center.round(3).tolist()
    print(f"{name}: {standing.robot.model.mass:.1f} kg, center of mass at {center} m", flush=True)
    print("without a push:", *standing.survives(np.zeros(2), 0.0), flush=True)
    for degrees in range(0, 360, 45):
        direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        part, why = survived_part(standing, direction, 0.0, 1.5)
        bound = standing.bound(direction)
        print(f"{degrees:4d}°  bound {bound:6.2f} N s  survived {part:.2f}   then: {why}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
