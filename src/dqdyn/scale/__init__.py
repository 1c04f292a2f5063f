"""Beyond one machine: Dask arrays, arrays on disk, and sweeps of simulations over many processes and machines."""

from __future__ import annotations

from dqdyn.scale.axes import batched, each_run
from dqdyn.scale.chunks import suggested_chunks
from dqdyn.scale.disk import DiskFullError
from dqdyn.scale.mapping import map_zarr
from dqdyn.scale.result import Failure, Sweep
from dqdyn.scale.sweeping import sweep
from dqdyn.scale.workers import WorkersLostError

__all__ = [
    "DiskFullError",
    "Failure",
    "Sweep",
    "WorkersLostError",
    "batched",
    "each_run",
    "map_zarr",
    "suggested_chunks",
    "sweep",
]
