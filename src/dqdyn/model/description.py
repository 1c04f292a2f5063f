"""A robot as people write it: links and joints by name. Loaders make descriptions; :mod:`model` checks them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import cos, sin
from dqdyn.arrays import RealArray
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.inertia import ORIGIN, Inertia, Vector, as_vector
from dqdyn.model.motors import AxisMotors

GRAVITY: Vector = (0.0, 0.0, -9.81)
"""Gravitational acceleration in m/s², world axes."""

WORLD = "world"
ROOT_JOINT = "root_joint"
BASE_KINDS = {"fixed": "fixed", "free": "free", "planar": "planar", "differential": "planar"}
"""The joint kind of each base."""
BASES = tuple(BASE_KINDS)
LIMITS = ("lower", "upper", "velocity", "effort")
DYNAMICS = ("damping", "friction", "armature", "stiffness")
PER_AXIS = (*LIMITS, *DYNAMICS, "rest")
"""Fields of a joint that are one number for all of its axes, or one per axis; the first two are those of q."""


def placement(xyz: RealArray = ORIGIN, rpy: RealArray = ORIGIN, quaternion: RealArray | None = None) -> DQ:
    """A constant pose from a translation in m and roll-pitch-yaw in rad (about fixed x, y, z) or (w, x, y, z)."""
    if quaternion is not None:
        r = Quaternion(*real_array(quaternion, "a quaternion").tolist())
    else:
        roll, pitch, yaw = (a / 2.0 for a in as_vector(rpy))
        turn_x = Quaternion(cos(roll), sin(roll), 0.0, 0.0)
        turn_y = Quaternion(cos(pitch), 0.0, sin(pitch), 0.0)
        turn_z = Quaternion(cos(yaw), 0.0, 0.0, sin(yaw))
        r = turn_z * turn_y * turn_x
    return pose(r, pure(*as_vector(xyz)))


@dataclass(frozen=True)
class Shape:
    """What a link looks like (visual) or touches with (collision).

    ``kind`` and ``size`` in m: box (x, y, z); sphere (radius,); cylinder and capsule (radius, length along z);
    ellipsoid (half-axes); plane (); mesh (scale x, y, z) with ``mesh`` as written in the file and ``path`` where found.
    """

    kind: str
    size: tuple[float, ...] = ()
    origin: DQ = IDENTITY
    name: str | None = None
    mesh: str | None = None
    path: Path | None = None
    color: tuple[float, float, float, float] | None = None
    material: str | None = None


@dataclass(frozen=True)
class Link:
    """A rigid body with a name; its inertia is given in the link frame."""

    name: str
    inertia: Inertia = Inertia()
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Mimic:
    """The joint moves as ``ratio · q + offset`` of the joint named ``joint``."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint between two links. ``x_parent,child = origin · motion(q) · child_origin``.

    ``kind`` is one of ``dqdyn.model.joints.KINDS``. Limits, damping, friction, armature and springs are one number for
    all axes of the joint, or one per axis; None is no limit. A spring pulls by ``stiffness · (q − rest)`` towards its
    rest; joints with a quaternion have none. ``axis`` is a unit vector in the joint frame. ``motors`` has one
    entry per axis, () says that none has a motor; None leaves it to the kind: every axis, but none of a free or planar
    joint.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: DQ = IDENTITY
    axis: Vector = (0.0, 0.0, 1.0)
    second_axis: Vector = (1.0, 0.0, 0.0)  # fixed to the child side, e.g. of a universal joint
    pitch: float = 0.0  # e.g. of a helical joint, m/rad
    child_origin: DQ = IDENTITY
    lower: float | tuple[float, ...] | None = None  # rad or m
    upper: float | tuple[float, ...] | None = None
    velocity: float | tuple[float, ...] | None = None  # rad/s or m/s
    effort: float | tuple[float, ...] | None = None  # N m or N
    damping: float | tuple[float, ...] = 0.0  # N m s/rad or N s/m
    friction: float | tuple[float, ...] = 0.0  # Coulomb, N m or N
    armature: float | tuple[float, ...] = 0.0  # rotor inertia, kg m² or kg
    mimic: Mimic | None = None
    motors: AxisMotors | None = None
    stiffness: float | tuple[float, ...] = 0.0  # of a spring, N m/rad or N/m
    rest: float | tuple[float, ...] = 0.0  # where that spring is relaxed, rad or m


@dataclass(frozen=True)
class NamedFrame:
    """An extra frame fixed to a link, such as a tool or a sensor."""

    name: str
    link: str
    origin: DQ = IDENTITY


@dataclass(frozen=True)
class Drive:
    """Data of a differential-drive base: wheel radius and distance of the wheels in m."""

    wheel_radius: float = 0.1
    wheel_distance: float = 0.4


@dataclass(frozen=True)
class Loop:
    """A closure that makes the tree a mechanism with loops; it becomes a constraint of the robot.

    ``kind`` is "point" (no values), "axis" (its direction and 1 or 0 for sliding), "pose" (vec8 of x_12) or "distance"
    (in m), each between two frames; or "coupling", between joints (a ratio per joint, then the offset).
    """

    name: str
    kind: str
    between: tuple[str, ...]
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Posture:
    """A configuration with a name: the coordinates of some joints, in the order of q of each; others are neutral."""

    name: str
    joints: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Group:
    """Joints, and links that belong to them, that a name stands for, such as an arm."""

    name: str
    joints: tuple[str, ...]
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class DHTable:
    """The Denavit-Hartenberg constants that a serial robot was made from: θ in rad, d in m, a in m, α in rad per joint.

    Standard rows stand behind their joint as ``Rz(θ) Tz(d) Tx(a) Rx(α)``, modified ones before it as
    ``Rx(α) Tx(a) Rz(θ) Tz(d)``.
    """

    rows: tuple[tuple[float, float, float, float], ...]
    modified: bool = False


@dataclass(frozen=True)
class Description:
    """Links and joints by name, in the order in which they were written."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...] = ()
    frames: tuple[NamedFrame, ...] = ()
    base: str = "fixed"
    drive: Drive = Drive()
    gravity: Vector | FieldGravity = GRAVITY
    source: str | None = None  # where it was read from, for messages
    notes: tuple[str, ...] = field(default=())  # doubts of the loader; become warnings of the model
    loops: tuple[Loop, ...] = ()
    stabilisation: tuple[float, ...] | None = None  # of constraints: (rate in 1/s,) is Baumgarte's, () is projection
    base_motors: AxisMotors | None = None  # of ``base``, as the motors of a joint; bases have none unless said here
    postures: tuple[Posture, ...] = ()
    groups: tuple[Group, ...] = ()
    disabled_pairs: tuple[tuple[str, str], ...] = ()  # links whose contact with each other does not count
    losses: tuple[str, ...] = ()  # what the file that it was read from has and a description has not
    dh: DHTable | None = None  # of a robot that was given by such a table

    @property
    def root(self) -> str:
        """Name of the link that no joint moves."""
        moved = {joint.child for joint in self.joints}
        return next(link.name for link in self.links if link.name not in moved)

    def base_joint(self, base: str) -> Joint:
        """The joint between the world and the root, on one of ``BASES``.

        It has the described motors if the described base is of the same kind, as a planar and a differential one are.
        """
        motors = self.base_motors if BASE_KINDS[base] == BASE_KINDS.get(self.base) else None
        return Joint(ROOT_JOINT, BASE_KINDS[base], WORLD, self.root, motors=motors)

    def joints_by_parent(self) -> dict[str, list[Joint]]:
        """The joints on each link that carries some, in their order."""
        result: dict[str, list[Joint]] = {}
        for joint in self.joints:
            result.setdefault(joint.parent, []).append(joint)
        return result

    def on_base(self, base: str) -> Description:
        """A copy on another base, with the motors that :meth:`base_joint` gives it."""
        return replace(self, base=base, base_motors=self.base_joint(base).motors)

    def with_changes(self, **changes: Any) -> Description:
        """A copy with some fields replaced."""
        return replace(self, **changes)
