"""MuJoCo's own warnings as sentences, with the joint where MuJoCo names one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_UNSTABLE = {"mjWARN_BADQPOS": "position", "mjWARN_BADQVEL": "velocity", "mjWARN_BADQACC": "acceleration"}
_DOUBTFUL = {
    "mjWARN_INERTIA": "the inertia matrix is close to singular at {joint}",
    "mjWARN_CONTACTFULL": "there are more contacts than its memory holds, so some are left out",
    "mjWARN_CNSTRFULL": "there are more constraints than its memory holds, so some are left out",
}


@dataclass(frozen=True)
class EngineWarning:
    """A warning of MuJoCo; ``unstable`` where its state cannot be used from here on. ``joint`` where it named one."""

    text: str
    unstable: bool
    joint: str | None = None


def first_warning(model: Any, data: Any) -> EngineWarning | None:
    """The gravest warning that MuJoCo has counted in ``data`` since it was made or reset, or None."""
    numbers = data.warning.number
    if not numbers.any():
        return None
    import mujoco

    kinds = mujoco.mjtWarning.__members__
    for name, quantity in _UNSTABLE.items():
        if numbers[kinds[name]]:
            joint = _joint(model, int(data.warning.lastinfo[kinds[name]]), name == "mjWARN_BADQPOS")
            return EngineWarning(f"the {quantity} of joint {joint!r} is NaN, infinite or huge", True, joint)
    for name, text in _DOUBTFUL.items():
        if name in kinds and numbers[kinds[name]]:
            where = _joint(model, int(data.warning.lastinfo[kinds[name]])) if "{joint}" in text else None
            return EngineWarning(text.format(joint=f"joint {where!r}"), False, where)
    other = next(name for name, number in kinds.items() if number < len(numbers) and numbers[number])
    return EngineWarning(f"it counted {other}", False)


def _joint(model: Any, index: int, in_positions: bool = False) -> str:
    """The name of the joint that has a component of the velocity, or of the position."""
    if in_positions:
        number = int(np.searchsorted(model.jnt_qposadr, index, side="right")) - 1
    else:
        number = int(model.dof_jntid[index])
    return model.joint(number).name or f"number {number}"
