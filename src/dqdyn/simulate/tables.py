"""Trajectories as tables of pandas."""

from __future__ import annotations

from typing import Any

from dqdyn.errors import StateError, missing_extra
from dqdyn.robot.named_states import columns as columns
from dqdyn.simulate.trajectory import Trajectory

_WRENCH = [("fx", "N"), ("fy", "N"), ("fz", "N"), ("tx", "N m"), ("ty", "N m"), ("tz", "N m")]


def to_pandas(trajectory: Trajectory) -> Any:
    """One row per sample; a controller's records are left out unless they are numbers or vectors."""
    try:
        import pandas
    except ImportError:
        raise missing_extra("pandas", "pandas", "Trajectory.to_pandas") from None
    if trajectory.batch:
        raise StateError("a table holds one run: take trajectory.member(i) of the batch first.", argument="batch")
    model = trajectory.robot.model
    data: dict[str, Any] = {}
    for kind in ("q", "v", "a", "tau"):
        for k, (name, unit) in enumerate(columns(model, kind)):
            data[f"{kind} {name} [{unit}]"] = getattr(trajectory, kind)[:, k]
    for frame, wrench in trajectory.wrenches.items():
        data |= {f"wrench {frame} {name} [{unit}]": wrench[:, k] for k, (name, unit) in enumerate(_WRENCH)}
    data |= {"kinetic [J]": trajectory.kinetic, "potential [J]": trajectory.potential}
    data |= {f"residual {k}": values for k, values in enumerate(trajectory.residual.T)}
    for name, values in trajectory.extra.items():
        if values.ndim == 1:
            data[name] = values
        elif values.ndim == 2:
            data |= {f"{name} {k}": column for k, column in enumerate(values.T)}
    return pandas.DataFrame(data, index=pandas.Index(trajectory.time, name="time [s]"))
