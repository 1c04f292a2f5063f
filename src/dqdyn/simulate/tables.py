"""Trajectories as tables: of pandas, as CSV and as Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

from dqdyn.arrays import Array
from dqdyn.errors import StateError, missing_extra
from dqdyn.robot.named_states import columns as columns
from dqdyn.simulate.trajectory import Trajectory

TIME = "time [s]"
_WRENCH = [("fx", "N"), ("fy", "N"), ("fz", "N"), ("tx", "N m"), ("ty", "N m"), ("tz", "N m")]


def table(trajectory: Trajectory) -> dict[str, Array]:
    """Columns (n,) by name and unit; a controller's records are left out unless they are numbers or vectors."""
    if trajectory.batch:
        raise StateError("a table holds one run: take trajectory.member(i) of the batch first.", argument="batch")
    model = trajectory.robot.model
    data: dict[str, Array] = {}
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
    return data


def to_pandas(trajectory: Trajectory) -> Any:
    """One row per sample, indexed by time."""
    try:
        import pandas
    except ImportError:
        raise missing_extra("pandas", "pandas", "Trajectory.to_pandas") from None
    return pandas.DataFrame(table(trajectory), index=pandas.Index(trajectory.time, name=TIME))


def csv_bytes(trajectory: Trajectory) -> bytes:
    """A line of names, then a line per sample; numbers with as many digits as give them back exactly."""
    data = {TIME: trajectory.time, **table(trajectory)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(data)
    writer.writerows(zip(*(values.tolist() for values in data.values()), strict=True))
    return text.getvalue().encode()


def parquet_bytes(trajectory: Trajectory) -> bytes:
    """The same columns; the robot's name and the status stand in the schema's metadata."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise missing_extra("pyarrow", "parquet", "writing a Parquet file") from None
    about = {"robot": trajectory.robot.name, "status": trajectory.status}
    arrow = pyarrow.table({TIME: trajectory.time, **table(trajectory)})
    buffer = io.BytesIO()
    parquet.write_table(arrow.replace_schema_metadata(about), buffer)
    return buffer.getvalue()


TABLES: dict[str, Callable[[Trajectory], bytes]] = {".csv": csv_bytes, ".parquet": parquet_bytes}
"""Files that hold a table, by their ending."""
