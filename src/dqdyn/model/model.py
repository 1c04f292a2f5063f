"""A robot as algorithms use it: a frozen, indexed, validated tree of moving bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from dqdyn.algebra.adjoint import Adjoint, Factored
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.open_pose import OpenPose
from dqdyn.algebra.quaternion import ZERO, Quaternion, cross3, pure
from dqdyn.algebra.real import in_words
from dqdyn.algebra.scalar import Scalar, Scalars, is_known_zero
from dqdyn.algebra.tensor import legs
from dqdyn.caching import cached_property
from dqdyn.errors import UnknownNameError, unknown_name
from dqdyn.model.description import PER_AXIS, WORLD, Description
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.inertia import Inertia, Vector
from dqdyn.model.joints import JointKind
from dqdyn.model.motors import AxisMotors

WORLD_BODY = -1


@dataclass(frozen=True)
class Master:
    """Where a mimic joint takes its motion from: ``ratio · q + offset`` of the joint with that index."""

    joint: int
    ratio: float
    offset: float


@dataclass(frozen=True)
class TreeJoint:
    """Joint i moves body i: x_parent,i = ``placement`` · ``motion.pose(q)``.

    ``q`` and ``v`` are slices of the robot's vectors; a mimic joint has those of its master. Per-axis data are tuples;
    the motors of a mimic joint are empty, for they act on its master.
    """

    index: int
    name: str
    motion: JointKind
    parent: int
    placement: DQ
    q: slice
    v: slice
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    armature: tuple[float, ...]
    stiffness: tuple[float, ...]
    rest: tuple[float, ...]
    motors: AxisMotors
    master: Master | None = None
    offset: float = 0.0  # added to the coordinate of a joint with one; see :mod:`dqdyn.model.canonical`

    @cached_property
    def placement_adjoint(self) -> Adjoint:
        """Ad of the placement, its entries rounded to 0 and ±1 where they miss them by rounding only."""
        return constant_adjoint(self.placement)

    @cached_property
    def placement_inverse(self) -> Adjoint:
        """Ad of the inverse placement."""
        return self.placement_adjoint.inverse()

    def adjoint(self, q: Scalars) -> Adjoint:
        """Ad(x_parent,i) of body i in its parent, from the robot's q."""
        return self.placement_adjoint @ self.motion.adjoint(self.coordinates(q))

    @cached_property
    def placement_to_axis(self) -> tuple[Adjoint, Quaternion]:
        """The placement up to a point of the joint's axis, and from there along the axis, in the axes of the joint.

        In Denavit-Hartenberg frames both translations have one component, and together they would have three.
        """
        whole = self.placement_adjoint
        if isinstance(self.placement, OpenPose):
            return Adjoint.of(whole.columns, self.placement.before), self.placement.after
        along, rest = legs(whole)
        axis = getattr(self.motion, "axis", None)
        if axis is None or along == ZERO or cross3(pure(*axis), along) != ZERO:
            return whole, ZERO
        return Adjoint.of(whole.columns, rest), along

    def transform(self, q: Scalars) -> Factored:
        """The same map as :meth:`adjoint`, with placement and motion kept apart."""
        place, along = self.placement_to_axis
        moving = self.motion.adjoint(self.coordinates(q))
        return Factored(place, moving if along is ZERO else Adjoint.of(moving.columns, along + moving.p))

    @property
    def is_open(self) -> bool:
        """Whether the placement is an input rather than a constant."""
        return isinstance(self.placement, OpenPose)

    def between(self, before: DQ, *after: DQ) -> TreeJoint:
        """The joint between other frames of the same bodies: its placement with constant poses on both sides."""
        if all(x == IDENTITY for x in (before, *after)):
            return self
        placement = before * self.placement
        for x in after:
            placement = placement * x
        if self.is_open:
            ad = constant_adjoint(before) @ self.placement_adjoint
            for x in after:
                ad = ad @ constant_adjoint(x)
            placement = OpenPose(placement.primary, ad.p, columns=ad.columns)
        return replace(self, placement=placement)

    @property
    def kind(self) -> str:
        """Name of the joint's kind, e.g. ``"revolute"``."""
        return self.motion.name

    @property
    def is_mimic(self) -> bool:
        return self.master is not None

    def coordinates(self, q: Scalars) -> list[Scalar]:
        """The joint's own coordinates out of the robot's q."""
        own = self.displacements(q)
        return own if is_known_zero(self.offset) else [own[0] + self.offset]

    def displacements(self, q: Scalars) -> list[Scalar]:
        """The joint's coordinates as its description counts them, whatever frames the model is in."""
        own = list(q[self.q])
        return own if self.master is None else [own[0] * self.master.ratio + self.master.offset]

    def rates(self, v: Scalars) -> list[Scalar]:
        """The joint's own velocities (or accelerations) out of the robot's."""
        own = list(v[self.v])
        return own if self.master is None else [own[0] * self.master.ratio]

    def columns(self, subspace: Sequence[DQ]) -> list[tuple[int, DQ]]:
        """(index into v, motion per unit of that v) for each axis."""
        if self.master is not None:
            return [(self.v.start, subspace[0] * self.master.ratio)]
        return list(zip(range(self.v.start, self.v.stop), subspace, strict=True))


def snapped(c: Scalar) -> Scalar:
    """0, 1 or −1 where c misses it by less than 1e-13: rounding of cos 90°, which would cost operations."""
    if not isinstance(c, float):  # a symbol, of a pose that is an input
        return c
    for target in (0.0, 1.0, -1.0):
        if abs(c - target) < 1e-13:
            return target
    return c


def constant_adjoint(x: DQ) -> Adjoint:
    """Ad(x) of a constant pose with snapped entries."""
    ad = Adjoint(x)
    a, b, c = (pure(*(snapped(e) for e in column.vector)) for column in ad.columns)
    return Adjoint.of((a, b, c), pure(*(snapped(e) for e in ad.p.vector)))


@dataclass(frozen=True)
class Body:
    """A moving rigid body with everything that is fixed to it; inertia in the frame of its joint's child side."""

    name: str
    inertia: Inertia


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a body (−1: the world) at ``placement`` = x_body,frame."""

    name: str
    body: int
    placement: DQ
    kind: str = "link"

    @cached_property
    def adjoint(self) -> Adjoint:
        """Ad(x_body,frame), snapped."""
        return constant_adjoint(self.placement)


WORLD_FRAME = Frame(WORLD, WORLD_BODY, IDENTITY, "world")
"""The world at rest. Looking it up by name may return a link with that name instead."""


@dataclass(frozen=True)
class Model:
    """Joints, bodies and frames by index. Body i hangs on joint i, whose parent body is ``joints[i].parent``.

    ``constraints`` are hashable values of :mod:`dqdyn.constraints`, which a robot adds; the tree has none.
    """

    name: str
    nq: int
    nv: int
    joints: tuple[TreeJoint, ...]
    bodies: tuple[Body, ...]
    frames: Mapping[str, Frame]
    gravity: Vector | FieldGravity
    fixed_inertia: Inertia  # of all bodies fixed to the world, in world axes
    description: Description = field(repr=False)
    base: str = "fixed"
    mimic: bool = True
    warnings: tuple[str, ...] = ()
    constraints: tuple[Any, ...] = ()
    stabilisation: Any = None  # how simulations keep to the constraints

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
        return {**state, "frames": dict(self.frames)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        object.__setattr__(self, "frames", MappingProxyType(state["frames"]))

    def __eq__(self, other: object) -> bool:
        """Equality of what determines motion; descriptions (visuals, file names) do not count."""
        if not isinstance(other, Model):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        joints = tuple(
            (j.name, j.motion, j.parent, j.placement, j.q.start, j.v.start, j.master, j.motors)
            + tuple(getattr(j, field) for field in PER_AXIS)
            for j in self.joints
        )
        return joints, self.bodies, tuple(self.frames.values()), self.gravity, self.constraints, self.stabilisation

    def frame(self, name: str | Frame) -> Frame:
        """The frame of that name, or an error with close matches."""
        if isinstance(name, Frame):
            return name
        if not isinstance(name, str):
            wanted = f"a frame of {self.name!r} is given by its name, a text, before other arguments"
            raise UnknownNameError(f"{wanted}; found {in_words(name)}.", name=name, matches=[])
        if name not in self.frames:
            raise unknown_name(f"frame of {self.name!r}", name, self.frames)
        return self.frames[name]

    def with_frames(self, names: Sequence[str]) -> Model:
        """The model with these named frames alone, or with all if it has constraints, which refer to frames."""
        if self.constraints:
            return self
        kept: dict[tuple[str, ...], Model] = self.__dict__.setdefault("_with_frames", {})
        key = tuple(names)
        if key not in kept:  # one model for all functions of a robot, and one of what is computed from it
            kept[key] = replace(self, frames={name: self.frames[name] for name in names})
        return kept[key]

    def joint(self, name: str) -> TreeJoint:
        """The moving joint of that name, or an error with close matches."""
        for joint in self.joints:
            if isinstance(name, str) and joint.name == name:
                return joint
        raise unknown_name(f"moving joint of {self.name!r}", name, [j.name for j in self.joints])

    def path(self, body: int) -> list[int]:
        """Bodies from the root to ``body``, which comes last; empty for the world."""
        result: list[int] = []
        while body != WORLD_BODY:
            result.append(body)
            body = self.joints[body].parent
        return result[::-1]

    @cached_property
    def motors(self) -> AxisMotors:
        """The motor of each velocity axis (nv); None where it has none."""
        return tuple(motor for joint in self.joints for motor in joint.motors)

    @property
    def mass(self) -> float:
        """Total mass of the moving bodies in kg."""
        return sum(body.inertia.mass for body in self.bodies)
