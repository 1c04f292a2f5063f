"""The Talos on both feet, its center of mass swaying: the states that whole-body controllers are timed on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dqdyn as dq
from benchmarks.robots import TALOS, example_robots

FEET = ("left_sole_link", "right_sole_link")
WAIST = "base_link"
HALF_LENGTH, HALF_WIDTH = 0.1, 0.06  # m, of the part of a sole that may carry
FRICTION = 0.7
SWAY, FREQUENCY, STEP = 0.02, 0.5, 1e-3  # m to the left and right, Hz, s
TURN = 2.0 * np.pi * FREQUENCY  # rad/s
STATES = round(1.0 / (FREQUENCY * STEP))
"""One period."""
LEG = {"leg_{}_3_joint": -0.411354, "leg_{}_4_joint": 0.859395, "leg_{}_5_joint": -0.448041, "leg_{}_6_joint": 0.0}
ARM = {"arm_{}_1_joint": 0.25847, "arm_{}_2_joint": 0.173046}
"""Mirrored on the right."""
ELBOW = {"arm_{}_4_joint": -0.525366, "arm_{}_7_joint": 0.1}
HEIGHT = 1.01927  # m, of the waist
_HARD, _SOFT, _POSTURE, _PULL = 1e3, 10.0, 0.1, 20.0  # weights of the inverse kinematics; 1/s back to what is held


@dataclass(frozen=True, eq=False)
class Sway:
    """States (STATES, …) of one period, STEP apart, the last one next to the first; the posture they sway about."""

    q: np.ndarray
    v: np.ndarray
    posture: np.ndarray
    center: np.ndarray
    feet: tuple[np.ndarray, ...]
    """Homogeneous poses (4, 4)."""

    @property
    def times(self) -> np.ndarray:
        return np.arange(len(self.q)) * STEP


def talos() -> Any:
    """The reduced Talos on a free base, without the friction of its joints, which the peers do not know."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        return dq.load(example_robots() / TALOS, base="free").without_friction()


def half_sitting(robot: Any) -> np.ndarray:
    """Knees bent, the waist upright; the feet are flat up to what the inverse kinematics of :func:`sway` removes."""
    q, where = robot.neutral(), {joint.name: joint.q for joint in robot.joints}
    q[robot.joints[0].q] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, HEIGHT]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        angles = {**LEG, **ELBOW, **{name: sign * angle for name, angle in ARM.items()}}
        for name, angle in angles.items():
            q[where[name.format(side)]] = angle
    return q


def center_of_mass(center: np.ndarray, t: Any, sin: Any = np.sin) -> list[Any]:
    """Where the center of mass should be at time t."""
    return [center[0], center[1] + SWAY * sin(TURN * t), center[2]]


def center_velocity(t: float) -> np.ndarray:
    """In m/s."""
    return np.array([0.0, SWAY * TURN * np.cos(TURN * t), 0.0])


def center_acceleration(t: float) -> np.ndarray:
    """In m/s²."""
    return np.array([0.0, -SWAY * TURN**2 * np.sin(TURN * t), 0.0])


def sway(robot: Any) -> Sway:
    """The motion by inverse kinematics: the feet stand, the center of mass follows, the rest stays near its posture."""
    posture = half_sitting(robot)
    at = [robot.pose(foot, posture) for foot in FEET]
    feet = [np.r_[pose.translation[:2], 0.0] for pose in at]
    center = np.asarray(robot.center_of_mass(posture), dtype=float)
    center[:2] = np.mean(feet, axis=0)[:2]
    q, states, rates = posture, [], []
    for k in range(-STATES, STATES):  # one period to settle
        v = _rates(robot, q, posture, feet, np.array(center_of_mass(center, k * STEP)), center_velocity(k * STEP))
        if k >= 0:
            states.append(q)
            rates.append(v)
        q = robot.integrate(q, v, STEP)
    return Sway(np.array(states), np.array(rates), posture, center, tuple(_level(p) for p in feet))


def _rates(robot: Any, q: Any, posture: Any, feet: Any, center: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """v (nv,) of the least weighted squares."""
    rows, right = [], []
    for foot, place in zip(FEET, feet, strict=True):
        pose = robot.pose(foot, q)
        R = np.asarray(pose.rotation_matrix)
        rows.append(_HARD * robot.twist_jacobian(foot, q, expressed="body"))
        right.append(_HARD * _PULL * np.r_[_turn(R), R.T @ (place - pose.translation)])
    rows.append(_SOFT * robot.center_of_mass_jacobian(q))
    right.append(_SOFT * (velocity + _PULL * (center - robot.center_of_mass(q))))
    rows.append(_POSTURE * np.eye(robot.nv))
    right.append(_POSTURE * robot.difference(q, posture))
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(right))[0]


def _turn(R: np.ndarray) -> np.ndarray:
    """The small rotation, in body axes, that makes a frame level and point ahead."""
    return -0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])


def _level(place: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = place
    return pose


def without_shapes(folder: Path) -> Path:
    """The robot's file without meshes, which not every peer finds, in a folder."""
    from defusedxml import ElementTree

    tree = ElementTree.parse(example_robots() / TALOS)
    for link in tree.getroot().iter("link"):
        for shape in [child for child in link if child.tag in ("visual", "collision")]:
            link.remove(shape)
    path = folder / "talos_reduced.urdf"
    tree.write(path)
    return path
