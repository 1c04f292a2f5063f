"""What a constraint is: rows A(q, t) v = b(q, t), their rates A a = b, and a residual where positions are bound too.

Everything is written over any scalar, so that constrained dynamics is traced and compiled like everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.errors import ModelError
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.kinematics.tree import frame_pose
from dqdyn.model.description import Loop
from dqdyn.model.model import Model

Row = list[Scalar]
Rows = tuple[list[Row], list[Scalar]]
"""A by rows of nv entries, and b."""


class Constraint:
    """A frozen, hashable, picklable value with a name; subclasses are dataclasses, one short file per kind.

    ``name`` appears in reports and errors. ``timed`` says that the time t enters. ``holonomic`` says that there is a
    residual: it has one entry per row, vanishes where the constraint holds, and its rate is A v − b, exactly or where
    it vanishes (the kind says which). ``count`` is the number of rows.
    """

    name: str
    count: int
    holonomic: ClassVar[bool] = True
    timed: bool = False
    moves: ClassVar[bool] = False  # whether b of A v = b may differ from 0, so that rest may be impossible

    def rows(self, model: Model) -> int:
        """Number of rows of A."""
        return self.count

    def residual(self, model: Model, q: Scalars, t: Scalar = 0.0) -> list[Scalar] | None:
        """What must vanish at q, in m or rad; None for a nonholonomic constraint."""
        if self.holonomic:
            raise undefined(self, "residual")
        return None

    def velocity(self, model: Model, q: Scalars, t: Scalar = 0.0) -> Rows:
        """A and b of A(q, t) v = b(q, t)."""
        raise undefined(self, "velocity")

    def acceleration(self, model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> Rows:
        """A and b of A a = b: the rate of :meth:`velocity`, so b is ḃ − Ȧ v; by jets unless a kind has a formula."""
        a, _ = self.velocity(model, q, t)
        a_rate, b_rate = rows_rate(lambda q, t: self.velocity(model, q, t), model, q, v, t)
        return a, [b - total(c * vk for c, vk in zip(r, v, strict=True)) for r, b in zip(a_rate, b_rate, strict=True)]

    def check(self, model: Model) -> None:
        """An error where the constraint names something that the robot does not have."""

    def loop(self) -> Loop | None:
        """The constraint as part of a description, which files hold; None where they cannot."""
        return None

    def of_base(self, base: str) -> bool:
        """Whether a robot on that base has the constraint by default."""
        return False

    def _error(self, problem: str, **data: Any) -> ModelError:
        """An error that carries the name of the constraint."""
        return ModelError(problem, constraint=self.name, **data)

    def _require_one_axis(self, model: Model, *names: str) -> None:
        """An error unless each joint of these names has one coordinate of its own or mimics one that has."""
        for joint in map(model.joint, names):
            if joint.motion.nv != 1:
                needs = f"the constraint {self.name!r} needs joints with one coordinate"
                raise self._error(f"{needs}; joint {joint.name!r} is {joint.kind}.", joint=joint.name)

    def _named(self, name: str) -> None:
        """Take a default name."""
        if not self.name:
            object.__setattr__(self, "name", name)


def undefined(constraint: Constraint, name: str) -> ModelError:
    """The error for a kind that does not define what it must."""
    hint = ", or set holonomic = False" if name == "residual" else ""
    return ModelError(f"the class {type(constraint).__name__} must define {name!r}{hint}.", constraint=constraint.name)


@dataclass(frozen=True)
class Place:
    """Where the robot is, for functions that users write: ``at.q``, ``at.t``, ``at.pose("tool")``, ``at.joint("hip")``.

    All entries are scalars of some kind: use ``+ - *`` and :mod:`dqdyn.algebra.scalar`, and do not branch on values.
    """

    model: Model
    q: Scalars
    t: Scalar = 0.0

    def pose(self, frame: str) -> DQ:
        """x_0f of a frame, a unit dual quaternion."""
        return frame_pose(self.model, self.model.frame(frame), self.q)

    def joint(self, name: str) -> list[Scalar]:
        """The coordinates of a joint."""
        return self.model.joint(name).coordinates(self.q)


def rows_rate(rows: Callable[[Scalars, Scalar], Rows], model: Model, q: Scalars, v: Scalars, t: Scalar) -> Rows:
    """Ȧ and ḃ of rows(q, t) along the motion, by jets."""

    def flat(x: list[Scalar]) -> list[Scalar]:
        a, b = rows(x[:-1], x[-1])
        return [*(c for r in a for c in r), *b]

    rates, n = derivative(flat, [*q, t], [*configuration_rate(model, q, v), 1.0]), model.nv
    count = len(rates) // (n + 1)
    return [rates[n * i : n * i + n] for i in range(count)], rates[n * count :]


def row(model: Model, entries: dict[int, Scalar]) -> Row:
    """A row of A from its entries by index into v."""
    return [entries.get(k, 0.0) for k in range(model.nv)]
