"""Trajectories as one file: NumPy's .npz with the arrays, and the robot and settings as JSON text inside."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import FormatError, LoadError
from dqdyn.formats.json.document import read_json, write_json
from dqdyn.formats.whole_file import write_whole
from dqdyn.robot import Robot
from dqdyn.simulate.problem import memory
from dqdyn.simulate.tables import TABLES
from dqdyn.simulate.trajectory import MAPPINGS, PER_SAMPLE, Trajectory

FORMAT, VERSION = "dqdyn trajectory", 1
KINDS = "fiubU"
"""Kinds of arrays that a file holds: numbers, flags and texts."""


def save(trajectory: Trajectory, path: str | Path) -> Path:
    """Write the file; it appears whole or not at all."""
    path = checked_path(path)
    if path.suffix.lower() in TABLES:
        return write_whole(path, TABLES[path.suffix.lower()](trajectory))
    arrays: dict[str, Any] = trajectory.arrays()
    for name, array in arrays.items():
        if array.dtype.kind not in KINDS:
            raise FormatError(f"{name!r} holds objects, which a file cannot: record numbers.", element=name)
        if "\0" in name:
            raise FormatError(f"the name {name!r} has a NUL, at which a file cuts it off: rename it.", element=name)
    model = trajectory.robot.model
    facts: dict[str, Any] = {"format": FORMAT, "version": VERSION, "status": trajectory.status}
    facts |= {"mimic": model.mimic, "about": dict(trajectory.about)}
    arrays |= {"robot": np.array(write_json(model)), "facts": np.array(json.dumps(facts, ensure_ascii=False))}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return write_whole(path, buffer.getvalue())


def checked_path(path: str | Path) -> Path:
    """The path, if its ending is one that :func:`save` knows; an error otherwise."""
    if not isinstance(path, str | Path):
        raise FormatError(f"a trajectory is saved to a file: give its path; found {path!r}.", path=repr(path))
    path = Path(path)
    if path.suffix.lower() not in (".npz", *TABLES):
        known = f".npz, {' or '.join(TABLES)}, by the ending"
        raise FormatError(f"a trajectory is saved as {known}; found {path.name!r}.", path=str(path))
    return path


def load(path: str | Path) -> Trajectory:
    """Read a file of :func:`save`; nothing in it is executed."""
    try:
        path = Path(path)
        if path.suffix.lower() in TABLES:
            text = f"{str(path)!r} is a table for other programs, without the robot: load the .npz file of the run."
            raise LoadError(text, file=str(path))
        content = path.read_bytes()
    except FileNotFoundError:
        raise LoadError(f"No file {str(path)!r}: check the path.", file=str(path)) from None
    except (OSError, TypeError, ValueError) as problem:
        raise _unreadable(path, problem) from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if (size := sum(entry.file_size for entry in archive.infolist())) > memory():
                raise ValueError(f"it unfolds to {size / 1e9:.3g} GB")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name]) for name in file.files}
    except Exception as problem:  # NumPy and zipfile raise errors of many kinds on bytes that are not arrays
        raise _unreadable(path, problem) from None
    facts, robot = _head(arrays, path)
    _require_plain(arrays, robot, path)
    missing = [name for name in ("time", *PER_SAMPLE) if name not in arrays]
    if missing:
        raise LoadError(f"{str(path)!r} lacks the array {missing[0]!r}: save the trajectory again.", file=str(path))
    plain: dict[str, Any] = {name: arrays[name] for name in ("time", *PER_SAMPLE)}
    mappings: dict[str, Any] = {
        kind: {name.partition("/")[2]: a for name, a in arrays.items() if name.startswith(f"{kind}/")}
        for kind in MAPPINGS
    }
    try:
        return Trajectory(robot, **plain, **mappings, status=facts["status"], about=facts["about"])
    except Exception as problem:  # arrays whose shapes do not match, in many ways
        raise _foreign(path, _reason(problem)) from None


def _require_plain(arrays: dict[str, Array], robot: Robot, path: Path) -> None:
    """An error unless the file holds what :func:`save` writes: numbers and texts, finite times, wrenches at frames."""
    for name, array in arrays.items():
        kind, _, frame = name.partition("/")
        if array.dtype.kind not in KINDS:
            problem = f"{name!r} holds {array.dtype}"
        elif name == "time" and array.dtype.kind in "fiu" and not np.isfinite(array).all():
            problem = "'time' is not finite"
        elif kind == "wrenches" and frame not in robot.frames:
            problem = f"the robot has no frame {frame!r} for its wrenches"
        else:
            continue
        raise _foreign(path, problem)


def _foreign(path: Path, problem: str) -> LoadError:
    return LoadError(f"{str(path)!r} is not a trajectory of dqdyn ({problem}).", file=str(path))


def _unreadable(path: Any, problem: Exception) -> LoadError:
    return LoadError(f"{str(path)!r} cannot be read as a trajectory ({_reason(problem)}).", file=str(path))


def _reason(problem: Exception) -> str:
    """In one line, without the full stop."""
    text = " ".join(str(problem).split()).rstrip(".") or type(problem).__name__
    return text if len(text) < 200 else f"{text[:199]}…"


def _head(arrays: dict[str, Array], path: Path) -> tuple[dict[str, Any], Robot]:
    try:
        facts = json.loads(str(arrays["facts"]))
        if facts["format"] != FORMAT or facts["version"] != VERSION:
            raise ValueError(f"version {facts['version']}")
        if not isinstance(facts["status"], str) or not isinstance(facts["about"], dict):
            raise TypeError("its status is not text, or its settings are not a table")
        return facts, Robot.from_description(read_json(str(arrays["robot"])), mimic=facts["mimic"])
    except Exception as problem:  # text that is not JSON, or not ours, in many ways
        raise _foreign(path, _reason(problem)) from None
