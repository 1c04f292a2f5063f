"""Former names of computed torque, for one release: it is :func:`dqdyn.control.computed_torque`."""

from __future__ import annotations

import warnings
from typing import Any

from dqdyn.references.computed_torque import ComputedTorque as _ComputedTorque


def __getattr__(name: str) -> Any:
    if name not in ("ComputedTorque", "computed_torque"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = "dqdyn.control.computed_torque(robot, target, gains=(kd, kp))"
    text = f"{__name__}.{name} is now {new}; the class itself is dqdyn.references.ComputedTorque."
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    return _ComputedTorque
