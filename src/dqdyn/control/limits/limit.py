"""What limits share: values per coordinate, given or the robot's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.control.core.command_bound import Constraint
from dqdyn.control.core.task import fair, positive, second_order
from dqdyn.errors import Error
from dqdyn.model.model import Model, TreeJoint

FREE = 1e19  # a limit from which on there is none


def coordinates(model: Model) -> list[tuple[str, int, int]]:
    """(name, index into q, index into v) of every coordinate whose rate is a velocity: all but those of quaternions."""
    result = []
    for joint in model.joints:
        if joint.master is None and joint.motion.quaternion is None:
            for i in range(joint.motion.nq):
                name = joint.name if joint.motion.nq == 1 else f"{joint.name}[{i}]"
                result.append((name, joint.q.start + i, joint.v.start + i))
    return result


def axes(model: Model) -> list[str]:
    """A name per component of v."""
    names = [""] * model.nv
    for joint in model.joints:
        if joint.master is None:
            for i in range(joint.motion.nv):
                names[joint.v.start + i] = joint.name if joint.motion.nv == 1 else f"{joint.name}[{i}]"
    return names


def own(model: Model, what: str) -> np.ndarray:
    """The robot's own limits "lower", "upper", "velocity" or "effort", per coordinate.

    Those of position and velocity leave room for the joints that follow another, ratio · q + offset of it.
    """
    joints: list[TreeJoint] = [joint for joint in model.joints if not joint.is_mimic]
    found = np.array([c for joint in joints for c in getattr(joint, what)])
    for joint in model.joints:
        master = joint.master
        if master is None or what == "effort" or master.ratio == 0.0:
            continue
        if what == "velocity":
            k = joint.v.start
            found[k] = min(found[k], joint.velocity[0] / abs(master.ratio))
            continue
        k, ends = joint.q.start, [(end[0] - master.offset) / master.ratio for end in (joint.lower, joint.upper)]
        found[k] = max(found[k], min(ends)) if what == "lower" else min(found[k], max(ends))
    return found


def number(value: float, what: str, least: float = -np.inf) -> float:
    """The number, if it is a finite one from ``least`` on."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not least <= value < np.inf
    ):
        wanted = "a number" if least == -np.inf else f"a number from {least:g}"
        raise Error(f"{what} must be {wanted}; found {value!r}.", found=value)
    return fair(value, what)


class Limit(Constraint):
    """Values per coordinate: given, or the robot's own."""

    gain: float
    pair: tuple[float, float]

    def _set(self, name: str, gain: float, gains: Any, relaxable: bool | None) -> None:
        self.name, self.gain, self.relaxable = name, positive(gain, f"gain of {name}"), relaxable
        self.auto = isinstance(gains, str) and gains == "auto"
        if isinstance(gains, str) and not self.auto:
            raise Error(f"gains of {name} are 'auto' or a pair (η_d, η_p); found {gains!r}.", found=gains)
        self.pair = second_order(gain, None if self.auto else gains, name)

    def automatic(self) -> bool:
        return self.auto

    def _values(self, given: Any, own: np.ndarray, what: str) -> np.ndarray:
        values = own if given is None else real_array(given, what)
        if values.ndim > 1 or (values.ndim == 1 and len(values) != len(own)) or np.isnan(values).any():
            raise Error(f"{what} are one number or {len(own)}; found {given!r}.", expected=len(own), found=given)
        return np.broadcast_to(values, own.shape)
