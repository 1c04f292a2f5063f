"""What a controller says about its last step."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from dqdyn.caching import cached_property
from dqdyn.control.qp.conflict import minimal_conflict
from dqdyn.control.qp.rows import NamedRows


@dataclass(frozen=True)
class StepReport:
    """``status``: "solved", "relaxed" (bounds gave way), "held" (there is no command to give) or "failed" (the same, as
    the solver found none though nothing is in conflict); ``reason`` in words.

    ``motion``: what the robot does where it is held or the solver failed, "braking" or "still". ``violation`` maps the
    names of constraints that gave way to by how much, in the unit of their right side.
    """

    t: float
    status: str = "solved"
    reason: str = ""
    violation: dict[str, float] = field(default_factory=dict)
    rows: NamedRows | None = field(default=None, repr=False)
    motion: str = ""

    @property
    def excused(self) -> Collection[str] | None:
        """Names of the constraints that the command did not have to obey; None stands for all."""
        return None if self.status in ("held", "failed") else self.violation

    @cached_property
    def conflict(self) -> tuple[str, ...]:
        """A minimal set of constraints in conflict, by name: without any one of them the rest can be obeyed."""
        return () if self.rows is None else minimal_conflict(self.rows)
