"""Whether a contact touches: from measured forces, or from its height above the ground."""

from __future__ import annotations

import math
from typing import Any, Protocol

from dqdyn.algebra.real import real_number
from dqdyn.arrays import RealArray
from dqdyn.contacts.contact import Contact, model_of
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.settings import number, positive
from dqdyn.control.features.components import is_finite
from dqdyn.control.whole_body.ground import Ground, as_ground, gaps
from dqdyn.errors import StateError
from dqdyn.robot.state import as_state


class Forces(Protocol):
    """What a plant measures, such as an observation of MuJoCo."""

    def normal_force(self, frame: str) -> float:
        """N with which the body that carries a frame is pressed."""


class TouchDown:
    """A function (t, q) → bool: whether a contact of a robot touches.

    ``force`` in N: it does where the body is pressed by at least that much, as :meth:`observe` was told last.
    ``ground``, a height z in m, a :class:`~dqdyn.Plane` or a scene: it does where no corner is more than ``height`` in
    m above. With both, either of them is enough. ``lasting`` in s: it must have done so for that long, since feet
    bounce. ::

        landed = ct.TouchDown(robot, foot, force=20.0)
        …
        landed.observe(observation)
        if landed(t, q):
            controller.switch("both feet")
    """

    def __init__(
        self,
        robot: Any,
        contact: Contact,
        *,
        force: float | None = None,
        ground: Ground | None = None,
        height: float = 2e-3,
        lasting: float = 0.0,
    ) -> None:
        self.model, self.contact = model_of(robot), contact
        if not isinstance(contact, Contact):
            raise refused("TouchDown is of a dqdyn.contacts.Contact", contact)
        contact.check(self.model)
        if force is None and ground is None:
            raise ControlError(f"TouchDown of {contact.name!r} needs a force in N or the ground: give one of them.")
        self.force = None if force is None else positive(force, "force of TouchDown in N")
        self.ground = None if ground is None else as_ground(ground)
        self.height = number(height, "the height of TouchDown in m", 0.0)
        self.lasting = number(lasting, "lasting of TouchDown in s", 0.0)
        self.reset()

    def reset(self) -> None:
        """Forget what was measured."""
        self.normal_force = 0.0
        self._since: float | None = None

    def observe(self, observation: Forces) -> None:
        """Take the forces that a plant measures; NaN of a sensor counts as no force."""
        measure = getattr(observation, "normal_force", None)
        if not callable(measure):
            raise refused("TouchDown observes what has normal_force(frame), such as an Observation", observation)
        self.normal_force = real_number(measure(self.contact.frame), f"the normal force of {self.contact.frame!r}")

    def gap(self, q: RealArray, t: float = 0.0) -> float:
        """m of the highest corner above the ground at q (nq,); NaN where q is."""
        if self.ground is None:
            raise ControlError(f"TouchDown of {self.contact.name!r} knows no ground: give it as ground=….")
        at = as_state(self.model, "q", q, check=False)
        return max(gaps(self.model, self.contact, at, self.ground, t)) if is_finite(at) else math.nan

    def __call__(self, t: float, q: RealArray) -> bool:
        """Whether it touches at time t (s) and q (nq,)."""
        t = real_number(t, "the time t of TouchDown", StateError, argument="t")
        touches = self.force is not None and self.normal_force >= self.force
        touches = touches or (self.ground is not None and self.gap(q, t) <= self.height)
        if not touches:
            self._since = None
            return False
        if self._since is None or t < self._since:
            self._since = t
        return t - self._since >= self.lasting - 1e-12
