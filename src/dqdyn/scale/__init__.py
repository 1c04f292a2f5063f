"""Beyond one machine: Dask arrays, arrays on disk, and sweeps of simulations over many processes and machines."""

from __future__ import annotations

from dqdyn.scale.chunks import suggested_chunks
from dqdyn.scale.disk import DiskFullError
from dqdyn.scale.mapping import map_zarr
from dqdyn.scale.workers import WorkersLostError

__all__ = ["DiskFullError", "WorkersLostError", "map_zarr", "suggested_chunks"]
