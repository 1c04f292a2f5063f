"""What formulations take and give: lists over any scalar, and wrenches by body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar

Scalars = Sequence[Scalar]
"""Coordinates, velocities, accelerations or generalized forces of a robot, one scalar each."""
Matrix = list[list[Scalar]]
"""Rows of scalars."""
Wrenches = Mapping[int, DQ] | None
"""External wrenches f + ετ on the robot by body, in the frame of the body at its origin."""


def is_absent(entry: Scalar) -> bool:
    """Whether an entry is zero by structure, such as of joints on different branches: a plain 0.0 among any scalars."""
    return type(entry) is float and entry == 0.0
