"""Odd values for every argument of simulate, and damaged files: each gives one sentence of ours."""

from __future__ import annotations

import io
import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.simulate import ControlLaw

ODD: list[Any] = [
    float("nan"),
    float("inf"),
    -float("inf"),
    0,
    -1,
    -0.0,
    1e200,
    5e-324,
    10**400,
    1j,
    "x",
    b"x",
    None,
    True,
    [],
    {},
    [1],
    [1, [2]],
    np.zeros(0),
    np.zeros((3, 2)),
    np.zeros((1, 1, 1)),
    np.array([None, None]),
    np.array([1 + 2j, 0]),
    [1e200, 0],
    [1e308, 1e308],
    [float("nan"), 0],
    Decimal("0.1"),
    object(),
    slice(1),
    np.datetime64("2020-01-01"),
]
ARGUMENTS = [
    *("controller", "duration", "dt", "q0", "v0", "start", "integrator", "plant", "wrenches", "expressed", "every"),
    *("events", "rtol", "atol", "threads", "progress", "substeps", "ground", "limits", "method", "bogus"),
]
WAYS: dict[str, dict[str, Any]] = {
    "fixed step": {},
    "adaptive": {"integrator": "adaptive"},
    "mujoco": {"plant": "mujoco"},
    "controller": {"controller": lambda t, q, v: [0.0, 0.0]},
    "batch": {"q0": np.zeros((2, 2))},
}


def one_sentence(call: Any) -> None:
    """A result or an error of ours in one line of readable length; whatever else is raised fails the test."""
    text = ""
    try:
        call()
    except dq.Error as error:
        text = str(error)
    assert "\n" not in text
    assert len(text) < 400


def huge(value: Any) -> bool:
    """Numbers that no float holds: the door of all states tells them."""
    return value == 10**400 if isinstance(value, int) else False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_odd_values_of_arguments(way: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it runs
    robot = dq.robots.two_link()
    for value in ODD:
        if huge(value) and name in ("q0", "v0", "threads"):
            continue
        if name == "threads" and isinstance(value, (list, np.ndarray)):
            continue
        options = {"duration": 0.002, "dt": 1e-3, **WAYS[way], name: value}
        if name == "duration" and isinstance(value, (float, Decimal, bool)) and 0 < value < 1e3:
            options["dt"] = float(value)
        one_sentence(lambda options=options: dq.simulate(robot, **options))


class Answering:
    """A controller that gives and records odd things."""

    def __init__(self, level: Any = "torque", answer: Any = (0.0, 0.0), record: Any = None) -> None:
        self.level, self.answer, self.recorded = level, answer, record

    def step(self, t: float, q: np.ndarray, v: np.ndarray) -> Any:
        return self.answer

    def record(self) -> Any:
        return self.recorded


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_odd_answers_of_functions(value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    robot = dq.robots.two_link()

    def run(controller: Any = None, **options: Any) -> Any:
        return lambda: dq.simulate(robot, controller, 0.002, 1e-3, **options)

    one_sentence(run(Answering(answer=value, record={})))
    one_sentence(run(Answering("velocity", value, {})))
    one_sentence(run(Answering(value, record={})))
    one_sentence(run(Answering(record=value)))
    one_sentence(run(Answering(record={"x": value})))
    one_sentence(run(ControlLaw(lambda t, q, v: value)))
    one_sentence(run(ControlLaw(lambda t, q, v: [value, value]), plant="mujoco"))
    one_sentence(lambda: ControlLaw(value))
    one_sentence(run(integrator="adaptive", events=[value]))
    one_sentence(run(integrator="adaptive", events=[lambda t, q, v: value]))
    one_sentence(run(wrenches={"tool": value}))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"v0": [1e200, 0.0]},
            r"v0 of joint 'joint1' is 1e\+200 rad/s or m/s: .* speeds below 1e\+08",
        ),
        ({"v0": [[0.0, 0.0], [0.0, -1e9]]}, "v0 of joint 'joint2' is -1e\\+09"),
        ({"duration": 1e200}, "more steps than can be counted"),
        ({"duration": 1e12}, "the samples need .* GB, and this machine has .* GB: sample less often by a larger every"),
        ({"start": "now"}, "start is a finite time in s; found 'now'"),
        ({"integrator": ["rkmk4"]}, "no integrator named"),
        ({"plant": "mujoco", "grund": 0.0}, "no option of plant='mujoco' named 'grund': did you mean 'ground'"),
        ({"plant": "mujoco", "ground": "low"}, "ground is a finite height in m; found 'low'"),
        (
            {"controller": ControlLaw(lambda t, q, v: [0.0])},
            r"a control law gives 2 scalars, .*; found \[0",
        ),
        ({"controller": Answering("velocity", [0.0, 1e200], {})}, "commands joint 'joint2' to exceed 1e\\+08"),
        ({"controller": Answering(record=3)}, r"record\(\) gives a dictionary; found 3"),
        ({"events": len}, "events is a list of functions"),
    ],
)
def test_what_is_said(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(dq.Error, match=sentence):
        dq.simulate(dq.robots.two_link(), **options)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_forces_without_bound_end_adaptive_steps() -> None:
    with pytest.warns(dq.simulate.SimulationWarning, match="diverged at t = .* s: no step is small enough"):
        run = dq.simulate(dq.robots.two_link(), [1e200, 0.0], 0.01, integrator="adaptive")
    assert len(run) == 1


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, np.ndarray]]:
    run = dq.simulate(dq.robots.two_link(), Answering(record={"x": 1.0}), 0.01, wrenches={"tool": [0.0] * 6})
    path = run.save(tmp_path_factory.mktemp("saved") / "run.npz")
    with np.load(path) as file:
        return path.read_bytes(), dict(file)


def refused(path: Path) -> str:
    with pytest.raises(dq.LoadError) as caught:
        dq.Trajectory.load(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    return str(caught.value)


@pytest.mark.parametrize("name", ["time", "q", "v", "a", "tau", "kinetic", "potential", "wrenches/tool", "extra/x"])
@pytest.mark.parametrize("change", ["shorter", "longer", "flat", "text", "deep"])
def test_arrays_that_do_not_belong_together(
    saved: tuple[bytes, dict[str, np.ndarray]], name: str, change: str, tmp_path: Path
) -> None:
    array = saved[1][name]
    other = {
        "shorter": array[:-1],
        "longer": np.concatenate([array, array[-1:]]),
        "flat": np.zeros(()),
        "text": np.full(array.shape, "a"),
        "deep": array[:, None, None],
    }[change]
    if name == "extra/x" and change in ("text", "deep"):
        pytest.skip("a controller may record texts, and any shape")
    np.savez(tmp_path / "run.npz", **{**saved[1], name: other})
    refused(tmp_path / "run.npz")


@pytest.mark.parametrize(
    "change",
    [
        {"facts": "[]"},
        {"facts": "{}"},
        {"facts": "3"},
        {"facts": "[" * 100_000},
        {"facts": {"status": 3}},
        {"facts": {"about": []}},
        {"facts": {"mimic": []}},
        {"facts": {"version": 99}},
        {"robot": "no robot"},
        {"robot": "{}"},
        {"robot": "null"},
    ],
    ids=str,
)
def test_heads_that_are_not_ours(saved: tuple[bytes, dict[str, np.ndarray]], change: Any, tmp_path: Path) -> None:
    ((name, value),) = change.items()
    text = value if isinstance(value, str) else json.dumps({**json.loads(str(saved[1]["facts"])), **value})
    np.savez(tmp_path / "run.npz", **{**saved[1], name: np.array(text)})
    if change == {"facts": {"mimic": []}}:  # false, as good as False
        dq.Trajectory.load(tmp_path / "run.npz")
    else:
        refused(tmp_path / "run.npz")


def test_damaged_bytes(saved: tuple[bytes, dict[str, np.ndarray]], tmp_path: Path) -> None:
    """Cut anywhere, a byte changed anywhere: the same trajectory, or a sentence."""
    content, rng, path = saved[0], np.random.default_rng(1), tmp_path / "run.npz"
    for _ in range(60):
        path.write_bytes(content[: rng.integers(len(content))])
        refused(path)
    for _ in range(200):
        changed = bytearray(content)
        changed[rng.integers(len(content))] = rng.integers(256)
        path.write_bytes(bytes(changed))
        one_sentence(lambda: dq.Trajectory.load(path))


def test_other_files(tmp_path: Path) -> None:
    refused(tmp_path)  # a folder
    refused(3)  # type: ignore[arg-type]
    refused("a\0b")  # type: ignore[arg-type]
    np.save(tmp_path / "array.npy", np.zeros(3))
    refused(tmp_path / "array.npy")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as file:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
        file.writestr("q.npy", header.getvalue())
    refused(tmp_path / "bomb.npz")
