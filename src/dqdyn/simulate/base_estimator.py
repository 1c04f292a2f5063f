"""Where a floating base is and how it moves, from joint angles, an inertial sensor and contacts that hold still.

A complementary filter. The sensor predicts: the gyroscope turns the base, the accelerometer moves it. Contacts correct:
a corner that touched down at a place a is there until it lifts off, so that the pose is off by what moves the corners
r = R b(q) of the base back to their places, and a corner that rests tells the velocity,

    (δp, δθ) = argmin Σ |a − p − r − δp − δθ × r|²,        v = −(ω × r + R ḃ),

of which a step of h takes the part 1 − exp(−h/T). Where the corners that touch lie on one line, the turn about it is
left to the sensor: what the accelerometer feels is taken for gravity, while it is about as large. The corrections of
the orientation also teach the bias of the gyroscope. While contacts hold, pose and velocity do not drift; each change
of contacts leaves the error it was made with, for the next place is found from the last. With one point the heading
drifts with the gyroscope.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import exp
from dqdyn.algebra.quaternion import Quaternion, cross3, pure, quaternion_from_matrix, rotation_columns
from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray
from dqdyn.contacts.contact import Contact
from dqdyn.errors import Error, StateError, unknown_name
from dqdyn.model.joints.free import Free
from dqdyn.model.model import WORLD_BODY
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state
from dqdyn.simulate.problem import positive, shown
from dqdyn.simulate.unilateral.frame_motion import FrameMotion, crossed
from dqdyn.simulate.unilateral.round_contact import RoundContact

SLIPPED = 0.02
"""m by which a corner may leave its place before its contact is said to have slipped, and gets a new place."""
_LEVEL = 0.1
"""Part of gravity by which the accelerometer may feel more or less and still be taken for it."""


@dataclass(frozen=True)
class Estimate:
    """q (nq,) and v (nv,) of the robot with the estimated base, and ``status``.

    ``status`` is "good"; "held: …" where the sensors gave no numbers, so that nothing changed; "free: …" where nothing
    touches, so that position and velocity follow the accelerometer alone and drift; "slipped: …" where a contact left
    its place. ``bias`` (3,) in rad/s is that of the gyroscope, in the axes of the base.
    """

    q: Array
    v: Array
    status: str
    bias: Array


class BaseEstimator:
    """Estimates the base of a robot whose first joint is free, step by step of ``dt`` s.

    ``contacts``: where the robot may touch; which of them do is told to :meth:`update`. ``imu``: the frame of the
    inertial sensor, on the base. Time constants in s, with which corrections act: ``pose_time`` and ``velocity_time``
    those of the contacts, ``tilt_time`` that of gravity in the accelerometer, ``bias_time`` that of the bias.
    """

    def __init__(
        self,
        robot: Robot,
        contacts: Sequence[Contact],
        imu: str,
        dt: float,
        *,
        pose_time: float = 0.05,
        velocity_time: float = 0.02,
        tilt_time: float = 2.0,
        bias_time: float = 5.0,
    ) -> None:
        if not isinstance(robot, Robot):
            raise Error(f"BaseEstimator takes a robot first, as dq.load gives it; found {shown(robot)}.")
        first = robot.model.joints[0] if robot.model.joints else None
        if first is None or not isinstance(first.motion, Free) or first.parent != WORLD_BODY:
            raise Error(f"{robot.name!r} has no free base to estimate: load it with base='free'.", robot=robot.name)
        listed = [contacts] if isinstance(contacts, (Contact, RoundContact)) else contacts
        self.contacts = _checked(robot, listed)
        if robot.model.frame(imu).body != 0:
            base = robot.model.bodies[0].name
            raise Error(f"the inertial sensor is on the base {base!r}; {imu!r} is a frame of another body.", frame=imu)
        self.robot, self.imu, self.dt = robot, imu, positive("dt", dt)
        times = {"pose_time": pose_time, "velocity_time": velocity_time, "tilt_time": tilt_time, "bias_time": bias_time}
        parts = [1.0 - math.exp(-self.dt / positive(name, value)) for name, value in times.items()]
        self._pose_part, self._velocity_part, self._tilt_part, self._bias_part = parts
        self._gravity = -np.asarray(robot.model.gravity, dtype=float)
        self._frames = {name: FrameMotion(robot, name) for name in {c.frame for c in self.contacts.values()}}
        sensor = FrameMotion(robot, imu)
        sensor.move(self._with_base(robot.neutral()[7:], np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)))
        self._sensor, self._arm = sensor.rotation, sensor.position
        self._sensor_rotation = Quaternion(*quaternion_from_matrix(sensor.rotation))
        self.reset(robot.neutral())

    def reset(self, q: RealArray, v: RealArray | None = None) -> None:
        """Start from a known configuration q (nq,), and velocity v (nv,), at rest unless given."""
        model = self.robot.model
        at = as_state(model, "q", q)
        speed = np.zeros(model.nv) if v is None else as_state(model, "v", v)
        for name, array in (("q", at), ("v", speed)):
            if array.ndim != 1:
                raise StateError(f"the estimator starts from one {name}; found shape {array.shape}.", argument=name)
        self._rotation = Quaternion(*at[:4].tolist())
        self._position = np.array(at[4:7])
        self._velocity = _matrix(self._rotation) @ speed[3:6]
        self._bias, self._oriented = np.zeros(3), False
        self._places: dict[str, Array] = {}
        self.estimate = Estimate(np.array(at), np.array(speed), "good", np.zeros(3))

    def update(
        self,
        q: RealArray,
        v: RealArray,
        gyroscope: RealArray,
        accelerometer: RealArray,
        touching: Mapping[str, bool] | None = None,
        *,
        orientation: RealArray | None = None,
    ) -> Estimate:
        """The estimate one step later.

        ``q`` (nq − 7,) and ``v`` (nv − 6,) are those of the joints; ``gyroscope`` (3,) in rad/s and ``accelerometer``
        (3,) in m/s² (gravity included: upwards at rest) in the axes of the sensor. ``touching``: contact → whether it
        touches; all of them unless given. ``orientation``: the sensor's in the world, (w, x, y, z), where it has one.
        """
        model, sizes = self.robot.model, {"gyroscope": 3, "accelerometer": 3, "orientation": 4}
        sizes |= {"q": model.nq - 7, "v": model.nv - 6}
        given = {"q": q, "v": v, "gyroscope": gyroscope, "accelerometer": accelerometer}
        given |= {} if orientation is None else {"orientation": orientation}
        readings = {name: _sized(name, value, sizes[name]) for name, value in given.items()}
        now = self._touching(touching)
        unfit = [name for name, value in readings.items() if not np.isfinite(value).all()]
        if not unfit and orientation is not None and abs(np.linalg.norm(readings["orientation"]) - 1.0) > 1e-3:
            unfit = ["orientation"]
        if unfit:
            status = f"held: {unfit[0]} is not finite or not of unit length, so the last estimate stands."
            self.estimate = Estimate(self.estimate.q, self.estimate.v, status, self.estimate.bias)
            return self.estimate
        omega = self._predict(readings)
        status = self._correct(readings["q"], readings["v"], omega, now)
        if orientation is None and not self._oriented:
            self._level(readings["accelerometer"])
        return self._answer(readings["q"], readings["v"], omega, status)

    def _predict(self, readings: Mapping[str, Array]) -> Array:
        """Move by the inertial sensor; the angular velocity (3,) of the base, in its axes."""
        h, omega = self.dt, self._sensor @ readings["gyroscope"] - self._bias
        before = _matrix(self._rotation)
        if "orientation" in readings:
            self._rotation = Quaternion(*readings["orientation"].tolist()) * self._sensor_rotation.conj()
        else:
            self._turn(before @ (h * omega))
        measured = self._sensor @ readings["accelerometer"]
        # The base's origin, not the sensor: less the centripetal acceleration of the arm between them.
        centripetal = _cross(omega, _cross(omega, self._arm))
        acceleration = _matrix(self._rotation) @ (measured - centripetal) - self._gravity
        self._position = self._position + h * self._velocity + 0.5 * h * h * acceleration
        self._velocity = self._velocity + h * acceleration
        return omega

    def _level(self, accelerometer: Array) -> None:
        """Turn towards gravity as the accelerometer feels it."""
        felt, wanted = _matrix(self._rotation) @ (self._sensor @ accelerometer), self._gravity
        if abs(np.linalg.norm(felt) - np.linalg.norm(wanted)) < _LEVEL * np.linalg.norm(wanted):
            self._learn(self._tilt_part * _cross(felt, wanted) / float(wanted @ wanted))

    def _correct(self, q: Array, v: Array, omega: Array, now: list[str]) -> str:
        """Bring the corners that touch to their places, and let them rest."""
        still = self._with_base(q, np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))
        for frame in self._frames.values():
            frame.move(still)
        turn, status, self._oriented = _matrix(self._rotation), "good", False
        self._places = {name: place for name, place in self._places.items() if name in now}
        if not now:
            return "free: nothing touches, so position and velocity drift with the accelerometer."
        arms, rates, places = [], [], []
        for name in now:
            local, moving = self._corners(name, v)
            here = self._position + local @ turn.T
            if name in self._places and np.linalg.norm(self._places[name] - here, axis=1).max() > SLIPPED:
                status = f"slipped: the contact {name!r} left its place by more than {SLIPPED:g} m."
                del self._places[name]
            places.append(self._places.setdefault(name, here))
            arms.append(local @ turn.T)
            rates.append(moving @ turn.T)
        arm, rate, place = np.concatenate(arms), np.concatenate(rates), np.concatenate(places)
        shift, angle, self._oriented = _fitted(arm, place - self._position - arm)
        self._position = self._position + self._pose_part * shift
        self._learn(self._pose_part * angle)
        resting = -_cross(turn @ omega, arm.mean(axis=0)) - rate.mean(axis=0)
        self._velocity = self._velocity + self._velocity_part * (resting - self._velocity)
        return status

    def _learn(self, angle: Array) -> None:
        """Turn by a small correction (3,) in world axes, part of which the gyroscope's bias has caused."""
        self._bias = self._bias - self._bias_part * (_matrix(self._rotation).T @ angle) / self.dt
        self._turn(angle)

    def _turn(self, angle: Array) -> None:
        r = exp(DQ.of(pure(*(0.5 * angle).tolist()))).primary * self._rotation
        self._rotation = r * (1.0 / math.sqrt(sum(c * c for c in r.components)))

    def _corners(self, name: str, v: Array) -> tuple[Array, Array]:
        """Corners (k, 3) of a contact and their velocities by the joints, in the axes of the base."""
        contact = self.contacts[name]
        frame = self._frames[contact.frame]
        arms = np.array(contact.corners) @ frame.rotation.T
        return frame.position + arms, frame.jacobians(arms)[:, :, 6:] @ v

    def _touching(self, touching: Any) -> list[str]:
        if touching is None:
            return list(self.contacts)
        if not isinstance(touching, Mapping):
            raise StateError(f"touching maps contacts to True or False; found {shown(touching)}.", argument="touching")
        for name, holds in touching.items():
            if name not in self.contacts:
                raise unknown_name("contact of the estimator", name, self.contacts)
            if not isinstance(holds, (bool, np.bool_)):
                wanted = f"touching[{name!r}] is True or False"
                raise StateError(f"{wanted}; found {shown(holds)}.", argument="touching")
        return [name for name in self.contacts if touching.get(name, False)]

    def _with_base(self, q: Array, rotation: Array, position: Array) -> Array:
        return np.concatenate([rotation, position, q])

    def _answer(self, q: Array, v: Array, omega: Array, status: str) -> Estimate:
        rotation = np.array(self._rotation.components)
        velocity = _matrix(self._rotation).T @ self._velocity
        state = self._with_base(q, rotation, self._position)
        self.estimate = Estimate(state, np.concatenate([omega, velocity, v]), status, self._bias.copy())
        return self.estimate


def _fitted(arms: Array, off: Array) -> tuple[Array, Array, bool]:
    """δp and δθ (3,) that move corners by ``off`` (k, 3), least squares, and whether all turns are seen by them."""
    middle = arms.mean(axis=0)
    rows = crossed(arms - middle).transpose(0, 2, 1)  # δθ × r = [r]×ᵀ δθ
    angle, _, rank, _ = np.linalg.lstsq(rows.reshape(-1, 3), (off - off.mean(axis=0)).ravel(), rcond=1e-6)
    return np.asarray(off.mean(axis=0) - _cross(angle, middle)), np.asarray(angle), bool(rank == 3)


def _checked(robot: Robot, contacts: Any) -> dict[str, Contact]:
    try:
        listed = list(contacts)
    except TypeError:
        listed = [contacts]
    for contact in listed:
        if not isinstance(contact, Contact):
            raise Error(f"contacts are values of dqdyn.contacts; found {shown(contact)}.", argument="contacts")
        contact.check(robot.model)
        if contact.partner != "world":
            raise Error(
                f"the contact {contact.name!r} is not with the world, so it holds no base.", contact=contact.name
            )
    names = [contact.name for contact in listed]
    if not listed or len(set(names)) < len(names):
        raise Error("the estimator needs one contact or more, each with a name of its own.", argument="contacts")
    return dict(zip(names, listed, strict=True))


def _sized(name: str, value: Any, size: int) -> Array:
    array = real_array(value, name, StateError, argument=name)
    if array.shape != (size,):
        raise StateError(
            f"{name} has {size} numbers here; found shape {array.shape}.", argument=name, found=array.shape
        )
    return array


def _cross(a: Array, b: Array) -> Array:
    """a × b of (3,), without the checks of NumPy, which take longer than the products."""
    return np.array(cross3(pure(*a.tolist()), pure(*b.tolist())).vector)


def _matrix(r: Quaternion) -> Array:
    return np.array([column.vector for column in rotation_columns(r)]).T
