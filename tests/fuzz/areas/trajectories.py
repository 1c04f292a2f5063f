"""Damaged files of trajectories: a refusal, or a trajectory whose arrays fit together and that can be saved again."""

from __future__ import annotations

import io
import json
import random
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from trees import random_robot

from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.simulate.trajectory import PER_SAMPLE, Trajectory

from ..cases import Area, Case
from ..mutate import ODD_TEXTS, as_bytes, as_text, damaged_bytes, damaged_text, damaged_value

KINDS = ("f8", "f4", ">f8", "i4", "u1", "c16", "U3", "S3", "?", "M8[s]", "O", "V8", "f8,f8")
NAMES = ("time", *PER_SAMPLE, "wrenches/tool", "extra/goal", "events/stop")
FILLS = (np.nan, np.inf, -1.0, 1e308)


@cache
def trajectories() -> tuple[Trajectory, ...]:
    """One of a small arm, one of a free body, one of a batch."""
    arm, free = random_robot(5, 2, ("revolute", "prismatic")), random_robot(6, 1, ("revolute",), base="free")
    return _trajectory(arm, ()), _trajectory(free, ()), _trajectory(arm, (2,))


def _trajectory(robot: Robot, batch: tuple[int, ...], n: int = 3) -> Trajectory:
    rng = np.random.default_rng(1)
    q = np.array([robot.random_configuration(rng) for _ in range(n * (2 if batch else 1))]).reshape(n, *batch, robot.nq)
    v, a, tau = (rng.normal(size=(n, *batch, robot.nv)) for _ in range(3))
    energy = rng.normal(size=(2, n, *batch))
    more = {
        "wrenches": {"tool": np.zeros((n, *batch, 6))},
        "extra": {"goal": np.ones(n)},
        "events": {"stop": np.ones(2)},
    }
    about = {"step": 1e-3, "method": "rkmk4"}
    return Trajectory(robot, np.arange(n) * 0.1, q, v, a, tau, *energy, np.zeros((n, *batch, 0)), **more, about=about)


@cache
def contents(which: int) -> dict[str, np.ndarray]:
    """The arrays of a saved file."""
    with tempfile.TemporaryDirectory() as folder:
        path = trajectories()[which].save(Path(folder) / "run.npz")
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}


class Fuzzed(Area):
    """A file with a few changes to its arrays, its texts or its bytes."""

    weight = 1.0

    def prepare(self) -> None:
        for i, _ in enumerate(trajectories()):
            contents(i)

    def make(self, rng: random.Random) -> Case:
        case: Case = {"which": rng.randrange(3), "changes": [_change(rng) for _ in range(rng.randint(1, 2))]}
        if rng.random() < 0.1:
            case["deflate"] = True
        if rng.random() < 0.2:
            case = {"bytes": as_text(damaged_bytes(rng, _file(case)))}
        return case

    def check(self, case: Case) -> str:
        data = as_bytes(case["bytes"]) if "bytes" in case else _file(case)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.npz"
            path.write_bytes(data)
            loaded = Trajectory.load(path)
            try:
                _use(loaded, Path(folder))
            except Error as error:
                raise AssertionError(f"accepted, but then refused: {error}") from None
            return "accepted"


def _change(rng: random.Random) -> list[Any]:
    name = rng.choice(NAMES)
    pick = rng.random()
    if pick < 0.15:
        return ["drop", name]
    if pick < 0.35:
        return ["shape", name, [rng.choice((0, 1, 2, 3, 4, 7)) for _ in range(rng.choice((0, 1, 2, 2, 3, 4)))]]
    if pick < 0.5:
        return ["kind", name, rng.choice(KINDS)]
    if pick < 0.6:
        return ["fill", name, rng.randrange(len(FILLS))]
    if pick < 0.7:
        odd = rng.choice(ODD_TEXTS)
        return ["rename", name, rng.choice((f"extra/{odd}", f"wrenches/{odd}", f"events/{odd}", odd, "robot", "facts"))]
    if pick < 0.75:
        return ["header", name, [rng.choice((10**6, 10**9, 10**13, 2**62, -1, 10**400)), rng.choice((1, 3))]]
    which = rng.choice(("facts", "robot"))
    text = str(contents(0)[which])
    if rng.random() < 0.7:
        return ["text", which, json.dumps(damaged_value(rng, json.loads(text)))]
    return ["text", which, damaged_text(rng, text)]


def _file(case: Case) -> bytes:
    """The file; always the same bytes, as NumPy's own have the time in them."""
    members = {name: _member(array) for name, array in contents(case.get("which", 0)).items()}
    for how, name, *rest in case.get("changes", ()):
        array = contents(case.get("which", 0)).get(name, np.zeros(3))
        if how == "drop":
            members.pop(name, None)
        elif how == "shape":
            members[name] = _member(np.zeros(rest[0]))
        elif how == "kind":
            members[name] = _member(_of_kind(array, rest[0]))
        elif how == "fill":
            members[name] = _member(np.full(array.shape, FILLS[rest[0]]))
        elif how == "rename" and name in members:
            members[rest[0]] = members.pop(name)
        elif how == "header":
            shape = f"({', '.join(map(str, rest[0]))},)"
            head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(501).encode() + b"\n"
            members[name] = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(64)
        elif how == "text":
            members[name] = _member(np.array(rest[0].encode(errors="replace").decode()))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if case.get("deflate") else zipfile.ZIP_STORED) as file:
        for name, member in members.items():
            file.writestr(zipfile.ZipInfo(f"{name}.npy"), member)
    return buffer.getvalue()


def _of_kind(array: np.ndarray, kind: str) -> np.ndarray:
    return np.zeros(array.shape, np.dtype(kind)) if kind != "O" else array.astype(object)


def _member(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def _use(run: Trajectory, folder: Path) -> None:
    """Everything that a user does with a trajectory."""
    n, robot = len(run.time), run.robot
    sizes = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "tau": robot.nv}
    for name in PER_SAMPLE:
        array = getattr(run, name)
        assert len(array) == n, f"{name} has another length than time"
        assert array.dtype.kind in "fiu", f"{name} is not of real numbers"
        assert array.shape[1 : 1 + len(run.batch)] == run.batch, f"{name} has another batch"
    for name, size in sizes.items():
        assert getattr(run, name).shape[-1] == size, f"{name} does not fit the robot"
    for frame, wrench in run.wrenches.items():
        assert frame in robot.frames, "wrenches at no frame"
        assert wrench.shape == (n, *run.batch, 6), "wrenches of another shape"
    repr(run), run.duration, run.energy, run.part(slice(None, None, 2))
    if run.batch:
        run.member(0)
    assert Trajectory.load(run.save(folder / "again.npz")) == run, "saved and loaded it is another trajectory"
