"""Arrays on disk: Zarr arrays in folders, opened once per process, read and written by rows."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.errors import Error, StateError


def folder_of(given: Any, what: str) -> Path:
    """The folder of a Zarr array: a path, or an array that is in one."""
    if isinstance(given, (str, Path)):
        if "://" in str(given):
            raise Error(f"{what} is a folder that all workers can reach; found the address {str(given)!r}.")
        return Path(given).absolute()
    root = getattr(getattr(given, "store", None), "root", None)
    if root is None:
        raise Error(f"{what} is the path of a Zarr array in a folder; found {type(given).__name__}.", argument=what)
    return Path(root, getattr(given, "path", "")).absolute()


def opened(folder: Path, what: str) -> Any:
    """The Zarr array in a folder, to read."""
    import zarr

    try:
        return zarr.open_array(str(folder), mode="r")
    except (FileNotFoundError, ValueError, TypeError, KeyError):  # of an absent, a foreign and a damaged folder
        raise Error(f"{what} is a Zarr array; there is none in {str(folder)!r}.", argument=what) from None


def kept_open(folder: str, mode: str = "r") -> Any:
    """The Zarr array in a folder, opened once by a process for all its chunks, and again if it was made anew."""
    made = (os.stat(file) for file in (f"{folder}/zarr.json", f"{folder}/.zarray") if os.path.exists(file))
    facts = next(made, None)
    return _opened(folder, mode, None if facts is None else (facts.st_ino, facts.st_mtime_ns))


@lru_cache(maxsize=64)
def _opened(folder: str, mode: str, made: tuple[int, int] | None) -> Any:
    import zarr

    return zarr.open_array(folder, mode=mode)


def created(folder: Path, shape: tuple[int, ...], chunk: tuple[int, ...], dtype: Any, compressed: bool) -> None:
    """A new array in a folder. Chunks that were never written read as NaN, or 0 for whole numbers."""
    import zarr

    fill = np.nan if np.dtype(dtype).kind == "f" else 0
    zarr.create_array(
        str(folder),
        shape=shape,
        chunks=tuple(max(1, size) for size in chunk),
        dtype=dtype,
        fill_value=fill,
        compressors="auto" if compressed else None,
        config={"write_empty_chunks": True},
    )


def require_rows(array: Any, what: str, size: int | None) -> int:
    """How many rows an array has, each of ``size`` numbers, or of one that stands alone for None."""
    expected = "(N,)" if size is None else f"(N, {size})"
    if array.ndim != (1 if size is None else 2) or (size is not None and array.shape[1] != size):
        raise StateError(f"{what} has the shape {expected}; found {array.shape}.", argument=what, found=array.shape)
    if np.dtype(array.dtype).kind not in "fiub":
        raise StateError(f"{what} must be real numbers; found the type {array.dtype}.", argument=what)
    return int(array.shape[0])
