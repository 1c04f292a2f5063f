"""Every function of every robot is the same on NumPy, by the code for one state and by SIMD code.

Compiling is most of the work here. Machine code is kept between runs in pytest's cache folder under the hash of the
text that it was compiled from, so that only new text is compiled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import catalog_cases
import llvmlite.binding as llvm
import numpy as np
import pytest
from catalog_cases import INVERTED, NAMES
from compile_tools import MACHINE
from robot_data import urdf_file
from trees import MOVING, random_robot

import dqdyn as dq
from dqdyn.algebra.values import Pose
from dqdyn.compile.codegen.batch_call_path import BatchCallEmitter
from dqdyn.compile.codegen.call_path import CallEmitter
from dqdyn.compile.codegen.ir import module
from dqdyn.compile.codegen.kernels import batch_kernel, scalar_kernel
from dqdyn.compile.codegen.stages import NEXT_MODULE
from dqdyn.compile.runtime import native
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.program import Program

ROWS = 11
LONGEST = 16_000  # instructions and outputs; the longest functions of the humanoid take half a minute to compile
_FIRST = ("universal", "spherical", "planar", *2 * ["revolute"])
_SECOND = ("free", "cylindrical", "helical", "prismatic")
_OTHERS = tuple(kind for kind in MOVING if kind not in (*_FIRST, *_SECOND))
# name: robot, frames for the options frame, frame1 and frame2
ROBOTS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "arm7": (dq.robots.arm7, "", ""),
    "humanoid": (dq.robots.humanoid, "left_foot", "head"),
    "tree 1": (lambda: random_robot(3, 5, _FIRST, mimics=1), "tool", "link_2"),
    "tree 2": (lambda: random_robot(4, 4 + len(_OTHERS), (*_SECOND, *_OTHERS)), "tool", "link_2"),
    "urdf": (lambda: dq.load(urdf_file("ur5_robot")), "wrist_3_link", "forearm_link"),
}
CASES = [(robot, name) for robot in ROBOTS for name in NAMES]


@cache
def robot_of(name: str) -> Any:
    return ROBOTS[name][0]()


def function_of(robot_name: str, name: str) -> Function:
    """The function bound to frames of the robot."""
    robot = robot_of(robot_name)
    return robot._functions.get(*catalog_cases.bound(robot, name, options_of(robot_name, name)))


def options_of(robot_name: str, name: str) -> dict[str, Any]:
    """What the function takes of frames of the robot."""
    robot, (_, first, second) = robot_of(robot_name), ROBOTS[robot_name]
    first, second = first or robot.joints[-1].name, second or robot.joints[2].name
    options: dict[str, Any] = {"frame": first, "frame1": first, "frame2": second, "expressed": "world"}
    options["wrench_frames"] = (second, first)
    return catalog_cases.options_of(name, options)


def exists(robot_name: str, name: str) -> bool:
    """Whether the robot has the function."""
    return catalog_cases.exists(robot_of(robot_name), name, options_of(robot_name, name))


def inputs_of(robot: Any, function: Function, rng: np.random.Generator) -> list[np.ndarray]:
    """States and primitives of shape (ROWS, size)."""
    result = []
    for name, size in function.program.inputs:
        if name.startswith("q"):
            values = np.array([robot.random_configuration(rng) for _ in range(ROWS)])
        else:
            values = rng.normal(size=(ROWS, size))
        if name in ("line", "plane"):
            values[:, :3] /= np.linalg.norm(values[:, :3], axis=1, keepdims=True)
        if name == "goal":
            turns = values[:, :4] / np.linalg.norm(values[:, :4], axis=1, keepdims=True)
            values = Pose(rotation=turns, translation=values[:, 4:7]).vec8()
        result.append(values[:, 0] if name == "dt" else values)
    return result


@pytest.fixture(autouse=True)
def kept_code(monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> None:
    """Code named by its text instead of its program."""
    folder = Path(pytestconfig.cache.mkdir("compiled"))
    folder.chmod(0o700)
    monkeypatch.setenv("DQDYN_CACHE", "1")
    monkeypatch.setenv("DQDYN_CACHE_DIR", str(folder))
    original = native.Library

    def named_by_text(ir: native.Emit, _: str, width: int, executor: None) -> native.Library:
        parts: list[str] = []
        text = NEXT_MODULE.join([ir(parts.append), *parts])
        return original(text, hashlib.sha256(text.encode()).hexdigest(), width, executor)

    monkeypatch.setattr(native, "Library", named_by_text)


@pytest.mark.parametrize(("robot_name", "name"), CASES)
def test_three_ways_agree(robot_name: str, name: str) -> None:
    if not exists(robot_name, name):
        return
    function = function_of(robot_name, name)
    program = function.program
    if length(program) > LONGEST:
        pytest.skip("compared on smaller robots")
    inputs = inputs_of(robot_of(robot_name), function, np.random.default_rng(3))
    plain = Function(program, function.convert, native=False)(*inputs)
    many = function(*inputs)
    one = np.array([function.fast(*(_state(a, row) for a in inputs)) for row in range(ROWS)])
    assert function.native is not None or not program.outputs
    assert plain.shape == many.shape == one.shape == (ROWS, *program.shape)
    assert np.isfinite(plain).all()
    if plain.size:
        scale = np.abs(plain).max() * (1e3 if name in INVERTED else 1.0)
        assert np.abs(many - plain).max() <= 1e-12 * scale
        assert np.abs(one - plain).max() <= 1e-12 * scale


def length(program: Program) -> int:
    return len(program.instructions) + len(program.outputs)


def _state(a: np.ndarray, row: int) -> Any:
    return float(a[row]) if a.ndim == 1 else a[row]


@pytest.mark.parametrize(
    ("robot_name", "name"),
    [("arm7", name) for name in NAMES] + [("tree 2", name) for name in ("integrate", "difference", "absolute_pose")],
)
def test_emitted_text_is_sound(robot_name: str, name: str) -> None:
    function = function_of(robot_name, name)
    program, made = function.program, function.native
    if made is None:
        pytest.skip("no outputs")
    choices = (program, MACHINE.width, made.units, made.numbers)
    call = CallEmitter(*choices).text() + BatchCallEmitter(*choices).text()
    texts = [call + scalar_kernel(program, MACHINE.fma, True, width=width) for width in (1, 8)]
    texts.append(scalar_kernel(program, False, False))
    texts += [batch_kernel(program, width, fma, True) for width, fma in ((2, False), (4, True), (8, True))]
    for text in texts:
        with llvm.parse_assembly(module(text, 0)) as parsed:
            parsed.verify()


def test_trees_have_every_kind_of_joint() -> None:
    joints = [*robot_of("tree 1").joints, *robot_of("tree 2").joints]
    assert {joint.kind for joint in joints} == set(MOVING)
    assert any(joint.is_mimic for joint in joints)


@pytest.mark.parametrize("name", NAMES)
def test_no_function_is_skipped_everywhere(name: str) -> None:
    robots = [robot for robot in ROBOTS if robot != "humanoid" and exists(robot, name)]
    lengths = [length(function_of(robot, name).program) for robot in robots]
    assert sum(n <= LONGEST for n in lengths) >= 3
