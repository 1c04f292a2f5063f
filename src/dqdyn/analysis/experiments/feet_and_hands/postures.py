"""Static postures, from standing to a handstand: what the sequence of motions goes through.

Bouyarmane's postures come from a planner of stances. Here each is the one next to a wish, in joint angles, that has its
soles and palms on their places and its center of mass where it is asked to be, within joint limits. It is found by
Newton steps, each a quadratic program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dqdyn import control as ct
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.values import Pose
from dqdyn.analysis.experiments.feet_and_hands.setting import FEET, HANDS, PLACES, on_ground
from dqdyn.arrays import Array
from dqdyn.control.tasks.target import pose_error
from dqdyn.errors import Error
from dqdyn.robot import Robot

ROOM = 0.04
"""rad that postures keep from the limits of the joints."""
LOW = 0.03
"""m above its place at which a limb stops before it is set down."""
_STEP = 0.3  # of the largest change of a coordinate in one step: Newton steps are small ones
_PART = 0.1  # m or rad of what is missed that one step makes good
_MET, _SETTLED, _TRIES = 1e-9, 1e-5, 100
_WEIGHTS = {"hip_roll": 3.0, "hip_yaw": 3.0, "torso_yaw": 3.0, "knee": 3.0, "elbow": 3.0, "wrist_pitch": 3.0}
_OF_BASE = (1.0, 1.0, 1.0, 1e-4, 1e-4, 1e-4)  # its orientation is part of the wish, its place is not


@dataclass(frozen=True)
class Wish:
    """A posture to be: angles in rad by joint, of both sides where none is named, and where things have to be.

    ``pitch`` of the pelvis in rad, from upright forwards, then ``roll`` about x. ``heights`` in m of limbs above their
    places; limbs that are not named are where the angles leave them. ``center``: (x, y) of the center of mass in m.
    """

    pitch: float
    angles: Mapping[str, float]
    heights: Mapping[str, float]
    center: tuple[float, float]
    roll: float = 0.0


_ON_FEET = dict.fromkeys(FEET, 0.0)
_ON_HANDS = dict.fromkeys(HANDS, 0.0)
_PALMS = PLACES["left_hand"][0]
_UPRIGHT = {
    "hip_pitch": -0.25,
    "knee": 0.6,
    "ankle_pitch": -0.35,
    "shoulder_pitch": 0.2,
    "shoulder_roll": -0.15,
    "elbow": -0.4,
}
_FOLDED = {"hip_pitch": -2.2, "knee": 0.3, "ankle_pitch": 0.1, "shoulder_pitch": -1.75, "elbow": -0.15}
_LEANING = {
    "hip_pitch": -2.1,
    "knee": 0.4,
    "ankle_pitch": -0.4,
    "shoulder_pitch": -1.3,
    "elbow": -0.6,
    "wrist_pitch": -1.75,
}
_ONE_LEG_UP = {**_LEANING, "right_hip_pitch": -0.3, "right_knee": 0.3, "right_ankle_pitch": 0.4}
_SCISSORS = {
    "left_hip_pitch": -1.7,
    "right_hip_pitch": 0.3,
    "left_knee": 0.6,
    "right_knee": 0.3,
    "left_ankle_pitch": 0.0,
    "right_ankle_pitch": 0.4,
    "shoulder_pitch": -2.2,
    "elbow": -0.4,
    "wrist_pitch": -1.75,
}
_STRAIGHT = {
    "hip_pitch": 0.0,
    "knee": 0.1,
    "ankle_pitch": 0.4,
    "shoulder_pitch": -3.05,
    "elbow": -0.15,
    "wrist_pitch": -1.6,
}

_SIDEWAYS = {
    "left_hip_roll": 0.47,
    "right_hip_roll": -0.47,
    "hip_pitch": -0.12,
    "knee": 0.1,
    "ankle_pitch": 0.4,
    "left_shoulder_pitch": -2.7,
    "right_shoulder_pitch": -2.0,
    "shoulder_roll": 0.1,
    "left_upper_arm_yaw": 0.38,
    "right_upper_arm_yaw": -0.36,
    "left_elbow": -0.06,
    "right_elbow": -1.25,
    "left_forearm_yaw": 0.3,
    "right_forearm_yaw": 0.15,
    "left_wrist_pitch": -1.8,
    "right_wrist_pitch": -1.3,
    "left_wrist_roll": -0.5,
}

WISHES = {
    "standing": Wish(0.0, _UPRIGHT, _ON_FEET, (0.0, 0.0)),
    "over the right foot": Wish(0.0, _UPRIGHT, _ON_FEET, (0.0, -0.095)),
    "on the right foot": Wish(
        0.0,
        {**_UPRIGHT, "left_hip_pitch": -1.2, "left_knee": 1.5, "left_ankle_pitch": -0.2},
        {"right_foot": 0.0},
        (0.0, -0.1),
    ),
    "left foot low": Wish(0.0, _UPRIGHT, {"right_foot": 0.0, "left_foot": LOW}, (0.0, -0.1)),
    "bent": Wish(1.85, {**_FOLDED, "wrist_pitch": -1.5}, _ON_FEET | dict.fromkeys(HANDS, LOW), (0.05, 0.0)),
    "on feet and hands": Wish(1.9, {**_FOLDED, "wrist_pitch": -1.5}, _ON_FEET | _ON_HANDS, (0.07, 0.0)),
    "leaning": Wish(2.2, _LEANING, _ON_FEET | _ON_HANDS, (_PALMS - 0.02, 0.0)),
    "one leg up": Wish(2.2, _ONE_LEG_UP, {"left_foot": 0.0} | _ON_HANDS, (_PALMS - 0.02, 0.0)),
    "left leg low": Wish(2.2, _ONE_LEG_UP, {"left_foot": LOW} | _ON_HANDS, (_PALMS - 0.02, 0.0)),
    "right leg low": Wish(2.2, _LEANING, {"left_foot": 0.0, "right_foot": LOW} | _ON_HANDS, (_PALMS - 0.02, 0.0)),
    "scissors": Wish(2.8, _SCISSORS, _ON_HANDS, (_PALMS, 0.0)),
    "handstand": Wish(3.2, _STRAIGHT, _ON_HANDS, (_PALMS, 0.0)),
    "over the right hand": Wish(3.2, _SIDEWAYS, _ON_HANDS, (_PALMS, -0.215), roll=-0.3),
    "on the right hand": Wish(
        3.2, {**_SIDEWAYS, "left_elbow": -0.3}, {"right_hand": 0.0, "left_hand": 0.05}, (_PALMS, -0.225), roll=-0.3
    ),
}


@dataclass(frozen=True, eq=False)
class Posture:
    """A configuration q (nq,) with the center of mass (3,) in m and the poses of all limbs there."""

    name: str
    q: Array
    center: Array
    limbs: Mapping[str, Pose] = field(repr=False)


def postures(robot: Robot) -> dict[str, Posture]:
    """All of the sequence, by name."""
    found = {name: balanced(robot, wish, name) for name, wish in WISHES.items()}
    return {
        name: Posture(name, q, np.asarray(robot.center_of_mass(q)), {limb: robot.pose(limb, q) for limb in PLACES})
        for name, q in found.items()
    }


def balanced(robot: Robot, wish: Wish, name: str = "posture") -> Array:
    """q (nq,) next to a wish, with limbs and center of mass where they are asked to be."""
    wished = _wished(robot, wish)
    weights = np.diag([*_OF_BASE, *(_weight(joint.name) for joint in robot.joints[1:])])
    bounds = robot.limits.lower[7:] + ROOM, robot.limits.upper[7:] - ROOM
    q, missed = wished, math.inf
    for _ in range(_TRIES):
        error, jacobian = _conditions(robot, q, wish)
        missed = float(np.abs(error).max())
        # a part of the way where it is long, so that a step within bounds exists
        part = min(1.0, _PART / max(missed, 1e-12))
        room = np.minimum(bounds[1] - q[7:], _STEP), np.minimum(q[7:] - bounds[0], _STEP)
        rows, zero = np.eye(robot.nv)[6:], weights @ robot.difference(wished, q)
        change = ct.solve_quadratic_program(
            weights, zero, np.vstack([rows, -rows]), np.concatenate(room), jacobian, -part * error
        )
        if missed < _MET and np.abs(change).max() < _SETTLED:
            return q
        q = robot.integrate(q, change, 1.0)
    raise Error(f"no posture {name!r} was found: it misses a place by {missed:.3g} m or rad.", name=name)


def _wished(robot: Robot, wish: Wish) -> Array:
    """The wish as a configuration, with one of its limbs at its place."""
    q = robot.neutral()
    pitch, roll = wish.pitch / 2.0, wish.roll / 2.0
    turned = Quaternion(math.cos(roll), math.sin(roll), 0.0, 0.0) * Quaternion(
        math.cos(pitch), 0.0, math.sin(pitch), 0.0
    )
    q[:4] = turned.components
    for joint in robot.joints[1:]:
        name = joint.name
        q[joint.q] = wish.angles.get(name, wish.angles.get(_without_side(name), 0.0))
    q[7:] = np.clip(q[7:], robot.limits.lower[7:] + ROOM, robot.limits.upper[7:] - ROOM)
    limb, height = next(iter(wish.heights.items()))
    q[4:7] += on_ground(limb, height).translation - robot.pose(limb, q).translation
    return q


def _conditions(robot: Robot, q: Array, wish: Wish) -> tuple[Array, Array]:
    """What limbs and center of mass miss, in rad and m, and the Jacobian of that."""
    center = np.asarray(robot.center_of_mass(q))
    errors, jacobians = [center[:2] - wish.center], [np.asarray(robot.center_of_mass_jacobian(q))[:2]]
    for limb, height in wish.heights.items():
        pose, target = robot.pose(limb, q), on_ground(limb, height)
        twist = np.asarray(robot.twist_jacobian(limb, q))
        errors.append(np.array(pose_error(pose.vec8().tolist(), target.vec8().tolist(), "log")))
        jacobians += [twist[:3], target.rotation_matrix.T @ pose.rotation_matrix @ twist[3:]]
    return np.concatenate(errors), np.vstack(jacobians)


def _without_side(joint: str) -> str:
    return joint.removeprefix("left_").removeprefix("right_")


def _weight(joint: str) -> float:
    return _WEIGHTS.get(_without_side(joint), 1.0)
