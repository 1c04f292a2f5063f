"""Programs on disk: a hit is what a trace would give, and nothing that could differ is ever a hit."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import TREES, tree

import dqdyn as dq
from dqdyn.compile.runtime import cache, live_code, stored_program
from dqdyn.compile.runtime.stored_program import StoredProgram, header_of
from dqdyn.compile.trace.program import Program
from dqdyn.dynamics import methods
from dqdyn.dynamics.fast import recursive
from dqdyn.dynamics.formulations import newton_euler
from dqdyn.robot import program_store
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.robot import Robot

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are those of POSIX")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DQDYN_CACHE", "1")
    monkeypatch.setenv("DQDYN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(live_code, "_STARTED", float("inf"))  # sources may be edited while tests run
    live_code.sources.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the functions that are traced from now on."""
    names: list[str] = []
    original = CompiledFunctions.program

    def program(self: CompiledFunctions, function: Any, options: Any) -> Program:
        names.append(function.name)
        return original(self, function, options)

    # Where the store looks for foreign code, this patch would be one.
    monkeypatch.setattr(
        program_store,
        "_TRACED",
        tuple(p for p in program_store._TRACED if p[:7] != "robot/c" and p != "robot/program_store"),
    )
    monkeypatch.setattr(CompiledFunctions, "program", program)
    return names


def fresh(robot: Robot) -> Robot:
    """The same robot, which nobody has asked for a function."""
    return pickle.loads(pickle.dumps(robot))


@pytest.mark.parametrize("name", TREES[:3])
def test_a_hit_is_the_program_that_was_traced(name: str, traced: list[str]) -> None:
    robot = tree(name)
    frame = list(robot.frames)[-1]
    two = {"frame1": frame, "frame2": "world"}
    for function, options in (("inverse_dynamics", {}), ("relative_pose_jacobian", two), ("integrate", {})):
        first = fresh(robot).program(function, **options)
        del traced[:]
        again = fresh(robot).program(function, **options)
        assert traced == []
        assert isinstance(again, StoredProgram)
        assert "instructions" not in again.__dict__  # nobody has asked for them
        assert (again.inputs, again.shape, again.counts, again.size) == (
            first.inputs,
            first.shape,
            first.counts,
            len(first.outputs),
        )
        assert again == first
        assert hash(again) == hash(first)
        assert (again.instructions, again.outputs) == (first.instructions, first.outputs)
        assert (str(again), repr(again)) == (str(first), repr(first))
        assert type(pickle.loads(pickle.dumps(again))) is Program
        assert pickle.loads(pickle.dumps(again)) == first


def test_functions_from_the_cache_compute_the_same(traced: list[str]) -> None:
    robot, rng = dq.robots.arm6(), np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, robot.nv))
    many = rng.normal(size=(9, robot.nv))
    expected = robot.inverse_dynamics(q, v, a), robot.inverse_dynamics(many, v, a)
    del traced[:]
    other = fresh(robot)
    np.testing.assert_array_equal(other.inverse_dynamics(q, v, a), expected[0])
    np.testing.assert_array_equal(other.inverse_dynamics(many, v, a), expected[1])
    assert traced == []


OTHERS: dict[str, Callable[[Robot], Any]] = {
    "mass": lambda r: r.with_payload("tool", 1e-12, (0.0, 0.0, 0.0)).program("inverse_dynamics"),
    "gravity": lambda r: r.with_gravity((0.0, 0.0, np.nextafter(-9.81, 0.0))).program("inverse_dynamics"),
    "method": lambda r: r.program("inverse_dynamics", method="recursive"),
    "wrenches": lambda r: r.program("inverse_dynamics", wrench_frames=["tool"]),
    "springs": lambda r: r.with_springs({r.joints[0].name: 3.0}).program("inverse_dynamics"),
    "function": lambda r: r.program("bias_forces"),
    "frames": lambda r: r.add_frame("late", "tool", dq.Pose(translation=[0, 0, 1])).program("inverse_dynamics"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_changes_the_trace_changes_the_key(what: str, traced: list[str]) -> None:
    robot = dq.robots.arm6()
    robot.program("inverse_dynamics")
    del traced[:]
    OTHERS[what](fresh(robot))
    assert len(traced) == 1


def test_frames_have_programs_of_their_own(traced: list[str]) -> None:
    robot = dq.robots.arm6()
    first, last = list(robot.frames)[1], list(robot.frames)[-1]
    for frame in (first, last):
        robot.program("relative_pose", frame1=frame, frame2="world")
        for height in (0.25, 0.5):
            moved = robot.add_frame("late", frame, dq.Pose(translation=[0.0, 0.0, height]))
            moved.program("relative_pose", frame1="late", frame2="world")
    assert len(traced) == 6


def test_what_is_quick_to_trace_is_not_kept(traced: list[str], cache_folder: Path) -> None:
    for _ in range(2):
        dq.robots.arm6().program("pose", frame="tool")
    assert len(traced) == 2
    assert not cache_folder.exists()


@pytest.mark.parametrize("version", ["another", None])
def test_other_sources_are_never_a_hit(
    version: str | None, traced: list[str], monkeypatch: pytest.MonkeyPatch, cache_folder: Path
) -> None:
    robot = dq.robots.arm6()
    robot.program("gravity_forces")
    before = len(list(cache_folder.iterdir()))
    monkeypatch.setattr(program_store, "sources", lambda packages: version)
    fresh(robot).program("gravity_forces")
    assert traced == ["gravity_forces"] * 2
    assert len(list(cache_folder.iterdir())) == before + (version is not None)


def test_sources_are_compared_by_content_and_age(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "package" / "algebra"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(live_code, "_PACKAGE", tmp_path / "package")

    def digest() -> str | None:
        live_code.sources.cache_clear()
        return live_code.sources(("algebra",))

    first = digest()
    (folder / "a.py").write_text("x = 2\n")
    assert digest() not in (first, None)
    (folder / "a.py").write_text("x = 1\n")
    assert digest() == first
    monkeypatch.setattr(live_code, "_STARTED", 0.0)  # all sources are newer than what is running
    assert digest() is None
    monkeypatch.setattr(live_code, "_PACKAGE", tmp_path / "nothing")
    assert digest() is None


_original = recursive.inverse_dynamics


def _twice(*given: Any, **named: Any) -> Any:
    return [2.0 * t for t in _original(*given, **named)]


class _Twice:
    def __call__(self, *given: Any) -> Any:
        return _twice(*given)


PATCHES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a function": lambda patch: patch.setattr(recursive, "inverse_dynamics", _twice),
    "an object": lambda patch: patch.setattr(recursive, "inverse_dynamics", _Twice()),
    "a function of dqdyn": lambda patch: patch.setattr(recursive, "inverse_dynamics", newton_euler.inverse_dynamics),
    "an entry of a table": lambda patch: patch.setitem(methods._INVERSE, "recursive", methods._INVERSE["newton-euler"]),
    "a constant": lambda patch: patch.setattr(methods, "_LONG", 3),
    "a method": lambda patch: patch.setattr(dq.Quaternion, "conj", lambda self: self),
    "code of a function": lambda patch: patch.setattr(recursive.inverse_dynamics, "__code__", _twice.__code__),
}


@pytest.mark.parametrize("what", PATCHES)
def test_patched_code_is_traced_and_never_kept(what: str, traced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    robot = dq.robots.arm6()
    expected = robot.program("inverse_dynamics")
    robot.program("mass_matrix")
    with monkeypatch.context() as patch:
        PATCHES[what](patch)
        del traced[:]
        try:
            changed = fresh(robot).program("inverse_dynamics")
        except (AttributeError, NameError):  # on another kind of inertia, or without its globals
            changed = None
        assert traced == ["inverse_dynamics"]
        if what == "a function":
            assert changed != expected
    del traced[:]
    assert fresh(robot).program("inverse_dynamics") == expected
    if what in ("a function", "an object", "a method", "code of a function"):  # not even stored
        assert traced == []


def test_formulations_and_classes_of_the_user_are_traced(traced: list[str], cache_folder: Path) -> None:
    def mine(model: Any, q: Any, v: Any, a: Any, wrenches: Any = None) -> Any:
        return newton_euler.inverse_dynamics(model, q, v, a, wrenches)

    robot = dq.robots.arm6()
    for _ in range(2):
        fresh(robot).program("inverse_dynamics", method=mine)
    assert traced == ["inverse_dynamics"] * 2
    assert not cache_folder.exists()
    with pytest.raises(program_store._UnnamedError):
        program_store.digest_of((1.0, mine))


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda entry: b"",
    "no header": lambda entry: b"\0" * 64,
    "a list": lambda entry: b"\2" + b"\0" * 7 + b"[]" + entry,
    "other keys": lambda entry: b"\2" + b"\0" * 7 + b"{}" + entry,
}


@pytest.mark.parametrize("what", SPOILT)
def test_entries_of_another_form_are_replaced(what: str, traced: list[str], cache_folder: Path) -> None:
    robot = dq.robots.two_link()
    expected = robot.program("mass_matrix")
    (entry,) = cache_folder.iterdir()
    cache.write(entry.stem, SPOILT[what](cache.read(entry.stem) or b""))
    assert fresh(robot).program("mass_matrix") == expected
    assert traced == ["mass_matrix"] * 2
    assert isinstance(fresh(robot).program("mass_matrix"), StoredProgram)


@pytest.mark.parametrize("cut", [0, 20, -8, None])
def test_a_damaged_body_is_traced_again(cut: int | None, traced: list[str], cache_folder: Path) -> None:
    robot = dq.robots.two_link()
    expected = robot.program("mass_matrix")
    (entry,) = cache_folder.iterdir()
    content = cache.read(entry.stem) or b""
    _, body = header_of(content)
    broken = bytes(body[:32]) + b"\xff" * (len(body) - 32) if cut is None else body[:cut]
    cache.write(entry.stem, content[: len(content) - len(body)] + broken)
    again = fresh(robot).program("mass_matrix")
    assert traced == ["mass_matrix"]
    assert again.instructions == expected.instructions
    assert traced == ["mass_matrix"] * 2


def test_a_folder_that_cannot_be_used_costs_a_trace(
    traced: list[str], cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache_folder.write_text("a file")
    robot = dq.robots.two_link()
    for _ in range(2):
        fresh(robot).program("mass_matrix")
    monkeypatch.setenv("DQDYN_CACHE", "0")
    fresh(robot).program("mass_matrix")
    assert traced == ["mass_matrix"] * 3


def test_every_operation_is_stored() -> None:
    operations = stored_program._OPERANDS
    instructions = [("const", (), -0.0), ("const", (), float("nan")), ("input", (0, 1), 0.0)]
    for op, operands in operations.items():
        if op not in ("const", "input"):
            instructions.append((op, tuple(range(operands)), 0.0))
    program = Program("all", (("x", 2),), tuple(instructions), (0, len(instructions) - 1), (2,))
    header, body = header_of(stored_program.packed(program))
    again = StoredProgram(header, body, lambda: pytest.fail("not damaged"))
    assert str(again) == str(program)
    assert again == program


def test_robots_of_other_tables_share_no_program_of_their_constants(traced: list[str]) -> None:
    """Both kinds of Denavit-Hartenberg tables, full of zeros, give the same model, but other meanings to numbers."""
    table, values = np.zeros((8, 4)), np.random.default_rng(0).normal(size=32)
    for _ in range(2):  # the second time the first would be found
        for modified in (False, True):
            robot = dq.from_dh(table, modified=modified)
            found = robot.function("poses", parameters=["dh"])(np.zeros(8), values)
            expected = dq.from_dh(values.reshape(8, 4), modified=modified).function("poses")(np.zeros(8))
            np.testing.assert_allclose(found, expected, atol=1e-12)
