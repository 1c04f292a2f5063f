"""The output of a sweep on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.arrays import Array
from dqdyn.scale import zarr_arrays
from dqdyn.scale.journal import Journal, checksum
from dqdyn.scale.runs import KEPT, Plan, Some

if TYPE_CHECKING:
    from dqdyn.scale.batches import Job


class Store:
    """The output of a sweep: a Zarr group of measures and of trajectories, and a journal beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.journal = folder, Journal(folder / "journal")

    def create(self, job: Job, plan: Plan) -> None:
        """Empty arrays for all runs, where there are none yet."""
        import zarr

        widths = {"q": plan.robot.nq, "v": plan.robot.nv, "tau": plan.robot.nv}
        shapes: dict[str, tuple[int, ...]] = {f"measures/{name}": (size,) for name, size in plan.sizes.items()}
        shapes |= {f"trajectories/{name}": (plan.samples, widths[name]) for name in KEPT if plan.samples}
        for name, shape in shapes.items():
            if not (self.folder / name / "zarr.json").exists():
                whole = (job.cells[0] * job.cells[1], job.runs, *shape)
                zarr_arrays.created(self.folder / name, whole, (1, job.rows, *shape), "f8", True)
        for group in {"", *(name.partition("/")[0] for name in shapes)}:
            zarr.open_group(str(self.folder / group), mode="a")

    def write(self, task: int, cell: int, runs: range, some: Some) -> None:
        """Store a batch of runs, and then note that it is complete."""
        sums = {}
        for kind, arrays in (("measures", some.measures), ("trajectories", some.trajectories)):
            for name, array in arrays.items():
                target = zarr_arrays.kept_open(str(self.folder / kind / name), "r+")
                target[cell, runs.start : runs.stop] = array
                sums[f"{kind}/{name}"] = checksum(array)
        failures = {str(runs.start + k): text for k, text in some.failures.items()}
        self.journal.complete(task, {"runs": len(runs), "failures": failures, "crc32c": sums})

    def measure(self, name: str) -> Array:
        """All values of a measure, (cells, runs, k)."""
        return np.asarray(zarr_arrays.opened(self.folder / "measures" / name, name)[:])
