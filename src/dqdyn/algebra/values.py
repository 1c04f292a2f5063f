"""Poses, twists and wrenches as values with meaning, for users; algorithms work on ``DQ``."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from dqdyn.algebra import exponential, ros_messages
from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.checks import require_unit
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.frame_names import Name, agree, known, require_names, same
from dqdyn.algebra.framed import Framed
from dqdyn.algebra.pose_forms import PoseForms, pose_of_parts
from dqdyn.algebra.quaternion import pure
from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, is_numeric, is_scalar, stack
from dqdyn.algebra.value import batch_shape, require_broadcast, vector
from dqdyn.arrays import Array, Reals, Times
from dqdyn.errors import Error

S = TypeVar("S", bound="Screw")


class Pose(PoseForms):
    """The pose x = r + ½ε p r of a frame: ``Pose(rotation=[w, x, y, z], translation=[x, y, z])`` or ``Pose(vec8)``.

    ``a * b`` chains poses; ``x * y`` moves a point, line, plane, twist or wrench y from frame b to a for x = x_ab.
    Where a pose names its frames, ``Pose(..., body="b", reference="a")``, both must fit.
    """

    __slots__ = ()

    def __init__(
        self,
        dq: DQ | Reals | None = None,
        *,
        rotation: Reals | None = None,
        translation: Reals | None = None,
        body: Name = None,
        reference: Name = None,
    ) -> None:
        _require_one_form("pose", dq, rotation, translation)
        if dq is None:
            dq = pose_of_parts(rotation, translation)
        elif not isinstance(dq, DQ):
            dq = DQ.of8(vector(dq, 8, "A pose (vec8)"))
        super().__init__(require_unit(dq, "A pose"), body, reference)

    def with_frames(self, *, body: Name = None, reference: Name = None) -> Pose:
        """The same pose under these names of its frames; a name that is left out is forgotten."""
        return Pose.of(self.dq, *require_names((body, reference)))

    def inverse(self) -> Pose:
        """x_ba of x_ab."""
        return Pose.of(self.dq.conj(), self.reference, self.body)

    def sclerp(self, goal: Pose, t: Times) -> Pose:
        """The pose at the share t of the screw motion from this pose (t = 0) to the goal (t = 1), the shorter way.

        t is one number or a batch that fits those of the poses; outside of [0, 1] the screw goes on. Both poses are in
        one reference frame; the body keeps its name where both have the same.
        """
        if not isinstance(goal, Pose):
            raise Error(f"sclerp leads to a Pose; found {goal!r}: dq.as_pose(value) makes one.", found=goal)
        if not agree(self.reference, goal.reference):
            raise Error(
                f"sclerp leads from one pose to another in the same frame; found poses in {self.reference!r} and in "
                f"{goal.reference!r}: bring one of them to the frame of the other.",
                expected=self.reference,
                found=goal.reference,
            )
        share = _share(t, self.shape, goal.shape)
        body = known(self.body, goal.body) if agree(self.body, goal.body) else None
        return Pose.of(exponential.sclerp(self.dq, goal.dq, share), body, known(self.reference, goal.reference))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Pose):
            if not agree(self.body, other.reference):
                raise Error(
                    f"A pose of {self.body!r} and a pose in {other.reference!r} cannot be chained: in x_ab * x_bc the "
                    "body of the first is the reference of the second; perhaps one of them is meant as its inverse().",
                    expected=self.body,
                    found=other.reference,
                )
            return Pose.of(self.dq * other.dq, other.body, self.reference)
        moved = getattr(other, "moved_by", None)
        return moved(self) if moved else NotImplemented

    def __repr__(self) -> str:
        return self._shown(rotation=self.rotation.round(6).tolist(), translation=self.translation.round(6).tolist())


class Screw(Framed):
    """Shared by twists and wrenches: a pure dual quaternion moved by Ad."""

    FRAMES = ("body", "reference", "expressed")
    PLACES = (1, 2, 3, 5, 6, 7)
    __slots__ = ()

    @property
    def _kind(self) -> str:
        return type(self).__name__.lower()

    @property
    def expressed(self) -> Name:
        """The frame of expression: the components are along its axes, the dual part is at its origin."""
        return self.frames[2]

    def vec6(self) -> Array:
        """Shape (..., 6)."""
        own = self._own(6)
        return self.dq.vec6() if own is None else own

    def with_frames(self: S, *, body: Name = None, reference: Name = None, expressed: Name = None) -> S:
        """The same components under these names of frames; a name that is left out is forgotten."""
        return type(self).of(self.dq, *require_names((body, reference, expressed)))

    def expressed_in(self: S, frame: str, x: Pose) -> S:
        """The same twist or wrench, expressed in another frame; x is the pose of one of the two in the other.

        Where x does not name its frames, it is taken as the pose of the present frame of expression in the new one.
        """
        for x_ab in (x, x.inverse()):
            if agree(x_ab.reference, frame) and agree(x_ab.body, self.expressed):
                return type(self).of(Adjoint(x_ab.dq)(self.dq), self.body, self.reference, frame)
        raise Error(
            f"Changing the frame from {self.expressed!r} to {frame!r} needs the pose of one in the other; found the "
            f"pose of {x.body!r} in {x.reference!r}.",
            expected=(self.expressed, frame),
            found=(x.body, x.reference),
        )

    def moved_by(self: S, x: Pose) -> S:
        """Ad(x_ab) y: the same twist or wrench, expressed in a instead of b."""
        if not agree(x.body, self.expressed):
            raise Error(
                f"A pose of {x.body!r} does not move a {self._kind} expressed in {self.expressed!r}: use the pose of "
                "the frame of expression.",
                expected=x.body,
                found=self.expressed,
            )
        return type(self).of(Adjoint(x.dq)(self.dq), self.body, self.reference, x.reference)

    def __add__(self: S, other: S) -> S:
        if type(other) is not type(self):
            return NotImplemented
        return type(self).of(self.dq + other.dq, *self._pair_of_sum(other), self._expression(other))

    def __sub__(self: S, other: S) -> S:
        if type(other) is not type(self):
            return NotImplemented
        return type(self).of(self.dq - other.dq, *self._pair_of_difference(other), self._expression(other))

    def __neg__(self: S) -> S:
        return type(self).of(-self.dq, *self.frames)

    def __mul__(self: S, scalar: Scalar) -> S:
        return type(self).of(self.dq * scalar, *self.frames) if is_scalar(scalar) else NotImplemented

    __rmul__ = __mul__

    def _expression(self, other: Screw) -> Name:
        """The frame in which both are expressed."""
        if agree(self.expressed, other.expressed):
            return known(self.expressed, other.expressed)
        raise Error(
            f"A {self._kind} expressed in {self.expressed!r} and a {other._kind} expressed in {other.expressed!r} "
            "cannot be combined: bring one of them to the frame of the other, with expressed_in(frame, pose).",
            expected=self.expressed,
            found=other.expressed,
        )

    def _pair_of_sum(self: S, other: S) -> tuple[Name, Name]:
        """Body and reference of the sum: those of both."""
        if agree(self.body, other.body) and agree(self.reference, other.reference):
            return known(self.body, other.body), known(self.reference, other.reference)
        raise Error(
            f"A {self._kind} of {self.body!r} against {self.reference!r} and one of {other.body!r} against "
            f"{other.reference!r} do not add: where frames are the same, name them alike with with_frames(...).",
            expected=self.frames,
            found=other.frames,
        )

    _pair_of_difference = _pair_of_sum


class Twist(Screw):
    """ω + εv [Silva, eq. (5)] of a body: ``Twist(angular=..., linear=...)`` or ``Twist(vec6)`` with vec6 = [ω, v].

    A twist has a body, a reference frame and a frame of expression, which it may name: ``Twist(..., body="tool",
    reference="world", expressed="tool")``. Moving it by a pose changes the last. Twists add where all three are the
    same, or along a chain of bodies: that of b against a plus that of c against b is that of c against a.
    """

    __slots__ = ()

    def __init__(
        self,
        vec6: Reals | None = None,
        *,
        angular: Reals | None = None,
        linear: Reals | None = None,
        body: Name = None,
        reference: Name = None,
        expressed: Name = None,
    ) -> None:
        dq = _screw("twist", vec6, (angular, "An angular velocity"), (linear, "A linear velocity"))
        super().__init__(dq, body, reference, expressed)

    @property
    def angular(self) -> Array:
        """ω in rad/s, shape (..., 3)."""
        return stack(self.dq.primary.vector, batch=self.shape)

    @property
    def linear(self) -> Array:
        """v in m/s, shape (..., 3)."""
        return stack(self.dq.dual.vector, batch=self.shape)

    def power(self, wrench: Wrench) -> Any:
        """⟨ω, τ⟩ + ⟨v, f⟩ in W; both must be expressed in the same frame. The result does not depend on which."""
        self._expression(wrench)
        return (self.angular * wrench.torque).sum(-1) + (self.linear * wrench.force).sum(-1)

    def _pair_of_sum(self, other: Twist) -> tuple[Name, Name]:
        """Also along a chain: ξ of b against a plus ξ of c against b is ξ of c against a."""
        if same(self.body, other.reference):
            return other.body, self.reference
        if same(other.body, self.reference):
            return self.body, other.reference
        return super()._pair_of_sum(other)

    def _pair_of_difference(self, other: Twist) -> tuple[Name, Name]:
        """Also of two bodies against one reference, and of one body against two."""
        if same(self.reference, other.reference) and not agree(self.body, other.body):
            return self.body, other.body
        if same(self.body, other.body) and not agree(self.reference, other.reference):
            return other.reference, self.reference
        return super()._pair_of_sum(other)

    def to_ros(self) -> ros_messages.Message:
        """One twist as a dictionary with the fields of ROS's ``geometry_msgs/Twist``: linear, angular."""
        self._require_one("a ROS message")
        return {"linear": ros_messages.fields("xyz", self.linear), "angular": ros_messages.fields("xyz", self.angular)}

    @classmethod
    def from_ros(cls, message: Any, *, body: Name = None, reference: Name = None, expressed: Name = None) -> Twist:
        """The twist of ROS's ``Twist`` or ``TwistStamped``, given as a dictionary or as the message itself."""
        linear, angular = ros_messages.pair(message, "twist", "linear", "angular")
        return cls(angular=angular, linear=linear, body=body, reference=reference, expressed=expressed)

    def __repr__(self) -> str:
        return self._shown(angular=self.angular.tolist(), linear=self.linear.tolist())


class Wrench(Screw):
    """f + ετ: ``Wrench(force=..., torque=...)`` or ``Wrench(vec6)`` with vec6 = [f, τ].

    It may name the body on which it acts, the reference that exerts it and the frame of expression, as a twist does.
    Wrenches add where all three are the same.
    """

    __slots__ = ()

    def __init__(
        self,
        vec6: Reals | None = None,
        *,
        force: Reals | None = None,
        torque: Reals | None = None,
        body: Name = None,
        reference: Name = None,
        expressed: Name = None,
    ) -> None:
        dq = _screw("wrench", vec6, (force, "A force"), (torque, "A torque"))
        super().__init__(dq, body, reference, expressed)

    @property
    def force(self) -> Array:
        """f in N, shape (..., 3)."""
        return stack(self.dq.primary.vector, batch=self.shape)

    @property
    def torque(self) -> Array:
        """τ in N m, shape (..., 3)."""
        return stack(self.dq.dual.vector, batch=self.shape)

    def to_ros(self) -> ros_messages.Message:
        """One wrench as a dictionary with the fields of ROS's ``geometry_msgs/Wrench``: force, torque."""
        self._require_one("a ROS message")
        return {"force": ros_messages.fields("xyz", self.force), "torque": ros_messages.fields("xyz", self.torque)}

    @classmethod
    def from_ros(cls, message: Any, *, body: Name = None, reference: Name = None, expressed: Name = None) -> Wrench:
        """The wrench of ROS's ``Wrench`` or ``WrenchStamped``, given as a dictionary or as the message itself."""
        force, torque = ros_messages.pair(message, "wrench", "force", "torque")
        return cls(force=force, torque=torque, body=body, reference=reference, expressed=expressed)

    def __repr__(self) -> str:
        return self._shown(force=self.force.tolist(), torque=self.torque.tolist())


def _require_one_form(what: str, whole: Any, *parts: Any) -> None:
    """An :class:`Error` where both the whole and some of its parts are given."""
    if whole is not None and any(part is not None for part in parts):
        raise Error(f"A {what} is given by all its coefficients or by its parts, not by both.")


def _screw(what: str, vec6: Reals | None, first: tuple[Reals | None, str], second: tuple[Reals | None, str]) -> DQ:
    """A pure dual quaternion from six components or from two vectors, each with its name; a missing one is 0."""
    _require_one_form(what, vec6, first[0], second[0])
    if vec6 is not None:
        return DQ.of6(vector(vec6, 6, f"A {what}"))
    a, b = (vector((0.0, 0.0, 0.0) if v is None else v, 3, name) for v, name in (first, second))
    require_broadcast(batch_shape(a[0]), batch_shape(b[0]))
    return DQ.of(pure(*a), pure(*b))


def _share(t: Any, *shapes: tuple[int, ...]) -> Any:
    """The share of a motion: finite numbers that fit batches of these shapes; symbols pass."""
    if is_scalar(t) and not is_numeric(t):
        return t
    share = real_array(t, "the share t of sclerp")
    if not np.isfinite(share).all():
        raise Error(f"the share t of sclerp must be finite; found {share}.", found=share)
    require_broadcast(*shapes, share.shape)
    return share if share.ndim else float(share)
