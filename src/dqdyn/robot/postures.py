"""Named postures of a robot: as configurations, and given by users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import ModelError
from dqdyn.model.description import Description, Posture
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


def configurations(robot: Robot) -> dict[str, Array]:
    """q (nq,) of every posture; joints that it does not name are neutral."""
    return {posture.name: _configuration(robot, posture) for posture in robot.description.postures}


def _configuration(robot: Robot, posture: Posture) -> Array:
    q, named = robot.neutral(), dict(zip(posture.joints, posture.values, strict=True))
    for joint in robot.joints:
        if not joint.is_mimic and len(named.get(joint.name, ())) == joint.motion.nq:
            q[joint.q] = named[joint.name]
    return q


def with_postures(robot: Robot, postures: Mapping[str, Any]) -> Description:
    """The description with these postures; None takes one away."""
    if not isinstance(postures, Mapping):
        raise ModelError(f"with_postures takes a dictionary from names to q; found {postures!r}.", found=postures)
    known = {posture.name: posture for posture in robot.description.postures}
    for name, q in postures.items():
        if not isinstance(name, str) or not name:
            raise ModelError(f"a posture has a text as its name; found {name!r}.", found=name)
        if q is None:
            known.pop(name, None)
            continue
        known[name] = _posture(robot, name, np.array(as_state(robot.model, "q", q), dtype=float))
    return robot.description.with_changes(postures=tuple(known.values()))


def _posture(robot: Robot, name: str, q: Array) -> Posture:
    if q.ndim != 1:
        raise ModelError(f"the posture {name!r} is one q of shape ({robot.nq},); found {q.shape}.", name=name)
    own = [joint for joint in robot.joints if not joint.is_mimic]
    return Posture(name, tuple(j.name for j in own), tuple(tuple(q[j.q].tolist()) for j in own))
