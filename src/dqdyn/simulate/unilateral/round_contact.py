"""A ball of a robot that touches: a wheel of a toy, a round foot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dqdyn.algebra.real import real_array, real_number
from dqdyn.errors import Error
from dqdyn.model.description import WORLD
from dqdyn.model.inertia import ORIGIN, Vector


@dataclass(frozen=True)
class RoundContact:
    """A ball of ``radius`` m about ``center`` (m, axes of ``frame``) that rolls and slides on what it meets.

    Beside the contacts of :mod:`dqdyn.contacts`, whose points are fixed to the body, ``dq.simulate`` takes these: the
    point that touches wanders over the ball. ``friction`` μ; ``torsional_friction`` in m; ``name``: that of the frame
    unless given. It meets the world, not other bodies of the robot.
    """

    frame: str
    radius: float
    center: Vector = ORIGIN
    friction: float = 0.7
    torsional_friction: float = 0.0
    name: str = ""

    partner: ClassVar[str] = WORLD
    mode: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str) or not isinstance(self.name, str):
            raise Error(f"the frame and the name of a round contact are texts; found {self.frame!r}, {self.name!r}.")
        name = self.name or self.frame
        center = real_array(self.center, f"the center of the contact {name!r}", Error, contact=name)
        if center.shape != (3,):
            raise Error(f"the center of the contact {name!r} has 3 numbers; found shape {center.shape}.", contact=name)
        self._set("name", name)
        self._set("center", tuple(_finite(x, "center in m", name) for x in center))
        self._set("radius", _finite(self.radius, "radius in m", name))
        if self.radius <= 0.0:
            raise Error(f"the radius of the contact {name!r} is above 0 m; found {self.radius:g}.", contact=name)
        for field in ("friction", "torsional_friction"):
            value = _finite(getattr(self, field), field.replace("_", " "), name)
            if value < 0.0:
                what = f"the {field.replace('_', ' ')} of the contact {name!r}"
                raise Error(f"{what} is at least 0; found {value:g}.", contact=name)
            self._set(field, value)

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)


def _finite(value: Any, what: str, name: str) -> float:
    number = real_number(value, f"the {what} of the contact {name!r}", contact=name)
    if not abs(number) < float("inf"):
        raise Error(f"the {what} of the contact {name!r} is finite; found {number}.", contact=name)
    return float(number)
