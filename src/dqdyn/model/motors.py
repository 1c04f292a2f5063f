"""What drives an axis of a joint."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from dqdyn.algebra.real import real_number
from dqdyn.errors import ModelError


@dataclass(frozen=True)
class Motor:
    """The motor of one axis of a joint, as it acts on that axis: behind its gear.

    ``effort`` (N m or N) and ``velocity`` (rad/s or m/s) are the largest at the joint; infinity leaves them to the
    limits of the joint. ``gear`` is how often the motor turns per turn of the joint, negative where it turns the other
    way: the motor itself gives τ/gear at gear·v. The inertia of its rotor is part of the joint's ``armature``, as
    gear² times that of the rotor.
    """

    effort: float = math.inf
    velocity: float = math.inf
    gear: float = 1.0
    name: str = field(default="", compare=False)  # of no effect

    def __post_init__(self) -> None:
        for what in ("effort", "velocity", "gear"):
            number = real_number(getattr(self, what), f"the {what} of a motor", ModelError)
            object.__setattr__(self, what, number)
            if what != "gear" and not number >= 0.0:
                raise ModelError(f"the {what} of a motor is 0 or more, or infinite; found {number}.", found=number)
        if not math.isfinite(self.gear) or self.gear == 0.0:
            raise ModelError(f"the gear of a motor is finite and not 0; found {self.gear}.", found=self.gear)
        if not isinstance(self.name, str):
            raise ModelError(f"the name of a motor is a text; found {self.name!r}.", found=self.name)

    def within(self, effort: float, velocity: float) -> Motor:
        """The motor on an axis that has these limits."""
        effort, velocity = (max(limit, 0.0) for limit in (effort, velocity))  # negative ones were warned of
        return replace(self, effort=min(self.effort, effort), velocity=min(self.velocity, velocity))


def said_by(joint: str) -> str:
    """How a user says that a joint has a motor on all of its axes, for messages."""
    return f"robot.with_motors({{{joint!r}: dq.Motor()}})"


AxisMotors: TypeAlias = tuple[Motor | None, ...]
"""One entry per axis; None where it has no motor."""
