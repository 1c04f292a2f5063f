"""Poses whose numbers are inputs: rotation and translation are kept apart, for nothing of them folds away."""

from __future__ import annotations

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import ZERO, Columns, Quaternion, combine, rotation_columns


class OpenPose(DQ):
    """A translation, a rotation, and a translation in the axes after it, of any scalars.

    As a dual quaternion it is the pose of all three. Algorithms that ask for the rotation's columns or for the
    translations get them as they were given, without products that undo each other.
    """

    __slots__ = ("after", "before", "columns")
    before: Quaternion
    after: Quaternion
    columns: Columns

    def __init__(self, r: Quaternion, before: Quaternion, after: Quaternion = ZERO, columns: Columns | None = None):
        self.columns = rotation_columns(r) if columns is None else columns
        self.before, self.after = before, after
        self.primary = r
        self.dual = self.position * r * 0.5

    @property
    def position(self) -> Quaternion:
        """The whole translation, in the axes of the reference frame."""
        return self.before if self.after is ZERO else self.before + combine(self.columns, self.after)
