"""What a constraint is: rows A(q, t) v = b(q, t), their rates A a = b, and a residual where positions are bound too.

Everything is written over any scalar, so that constrained dynamics is traced and compiled as all else is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar
from dqdyn.errors import ModelError
from dqdyn.kinematics.tree import frame_pose
from dqdyn.model.description import Loop
from dqdyn.model.model import Model, TreeJoint

Row = list[Scalar]
Rows = tuple[list[Row], list[Scalar]]
"""A by rows of nv entries, and b."""


class Constraint:
    """A frozen, hashable, picklable value with a name; subclasses are dataclasses, one short file per kind.

    ``name`` stands in reports and errors. ``timed`` says that the time t enters. ``holonomic`` says that there is a
    residual: it has one entry per row, vanishes where the constraint holds, and its rate is A v − b, exactly or where
    it vanishes (the kind says which).
    """

    name: str
    holonomic: ClassVar[bool] = True
    timed: bool = False
    moves: ClassVar[bool] = False  # whether b of A v = b may differ from 0, so that rest may be impossible

    def rows(self, model: Model) -> int:
        """How many rows A has."""
        raise NotImplementedError

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> list[Scalar] | None:
        """What must vanish at q, in m or rad; None for a nonholonomic constraint."""
        raise NotImplementedError

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        """A and b of A(q, t) v = b(q, t)."""
        raise NotImplementedError

    def acceleration(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        """A and b of A a = b: the rate of :meth:`velocity`, so b is ḃ − Ȧ v."""
        raise NotImplementedError

    def check(self, model: Model) -> None:
        """An error where the constraint names something that the robot does not have."""

    def loop(self) -> Loop | None:
        """The constraint as part of a description, which files hold; None where they cannot."""
        return None

    def of_base(self, base: str) -> bool:
        """Whether a robot on that base has the constraint by itself."""
        return False

    def _named(self, name: str) -> None:
        """Take a default name."""
        if not self.name:
            object.__setattr__(self, "name", name)


@dataclass(frozen=True)
class Place:
    """Where the robot is, for functions that users write: ``at.q``, ``at.t``, ``at.pose("tool")``, ``at.joint("hip")``.

    All entries are scalars of some kind: use ``+ - *`` and :mod:`dqdyn.algebra.scalar`, and no branch on a value.
    """

    model: Model
    q: Sequence[Scalar]
    t: Scalar = 0.0

    def pose(self, frame: str) -> DQ:
        """x_0f of a frame, a unit dual quaternion."""
        return frame_pose(self.model, self.model.frame(frame), self.q)

    def joint(self, name: str) -> list[Scalar]:
        """The coordinates of a joint."""
        return self.model.joint(name).coordinates(self.q)


def row(model: Model, entries: dict[int, Scalar]) -> Row:
    """A row of A from its entries by index into v."""
    return [entries.get(k, 0.0) for k in range(model.nv)]


def joint_with_one_axis(model: Model, name: str, constraint: str) -> TreeJoint:
    """The joint of that name, which has one coordinate of its own or mimics one that has."""
    joint = model.joint(name)
    if joint.motion.nv != 1:
        raise ModelError(
            f"the constraint {constraint!r} needs joints with one coordinate; joint {name!r} is {joint.kind}.",
            constraint=constraint,
            joint=name,
        )
    return joint
