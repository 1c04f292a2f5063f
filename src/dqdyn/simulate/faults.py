"""Errors and warnings of a run; errors carry the trajectory so far."""

from __future__ import annotations

from dqdyn.errors import Error, LibraryWarning
from dqdyn.simulate.trajectory import Trajectory


class SimulationError(Error):
    """A run stopped by its controller; carries ``time`` in s, ``joint`` where known, and ``trajectory`` so far."""


class SimulationWarning(LibraryWarning):
    """A run whose numbers cannot be trusted, such as a step that is too large."""


class LimitWarning(SimulationWarning):
    """A run in which a joint left its limits, or a force those of its motor; ``about["beyond"]`` has all of them."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; carries the ``trajectory`` so far."""

    def __init__(self, trajectory: Trajectory) -> None:
        super().__init__(f"interrupted at {trajectory.time[-1]:.6g} s; error.trajectory holds the run so far.")
        self.trajectory = trajectory
