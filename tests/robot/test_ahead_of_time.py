"""Functions compiled ahead: what is asked for is ready, on all cores or from the cache; errors name the function."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import tree

import dqdyn as dq
from dqdyn.compile.runtime import compiler, live_code
from dqdyn.compile.runtime.compiler import Compilation
from dqdyn.compile.runtime.function import Function
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.options import FRAMES


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DQDYN_CACHE", "1")
    monkeypatch.setenv("DQDYN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(live_code, "_STARTED", float("inf"))
    live_code.sources.cache_clear()


def test_what_is_asked_for_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, plain = dq.robots.arm6(), dq.robots.arm6()
    wanted = ["inverse_dynamics", "pose:tool", ("twist_jacobian", {"frame": "tool", "expressed": "world"})]
    done = robot.compile(wanted, batches=True)
    assert [f.name for f in done.functions] == ["inverse_dynamics", "pose:tool", "twist_jacobian:tool"]
    assert all(f.operations > 0 and f.tracing > 0.0 and f.llvm > 0.0 and not f.from_cache for f in done.functions)
    assert done.batches
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, robot.nv))
    many = rng.normal(size=(5, robot.nv))
    expected = plain.inverse_dynamics(q, v, a), plain.inverse_dynamics(many, v, a), plain.pose("tool", q).vec8()

    def fail(*_: Any) -> Any:
        raise AssertionError("compiled already")

    monkeypatch.setattr(CompiledFunctions, "compile", fail)
    monkeypatch.setattr(compiler, "_compiled", fail)
    np.testing.assert_array_equal(robot.inverse_dynamics(q, v, a), expected[0])
    np.testing.assert_array_equal(robot.inverse_dynamics(many, v, a), expected[1])
    np.testing.assert_array_equal(robot.pose("tool", q).vec8(), expected[2])


@pytest.mark.skipif(sys.platform == "win32", reason="the cache of this test has the owners of POSIX")
def test_the_next_robot_comes_from_the_cache() -> None:
    wanted = ["mass_matrix", "relative_pose:tool,world"]
    first = dq.robots.arm6().compile(wanted)
    again = dq.robots.arm6().compile(wanted)
    assert [f.from_cache for f in first.functions] == [False, False]
    assert [(f.from_cache, f.llvm) for f in again.functions] == [(True, 0.0), (True, 0.0)]
    assert [f.operations for f in first.functions] == [f.operations for f in again.functions]
    text = str(again)
    assert repr(again) == text
    assert "relative_pose:tool,world" in text
    assert text.count("cache") == 2
    assert text.endswith(f"2 functions of 'arm6' for single states in {again.seconds:.2f} s.")


def test_all_functions_without_a_frame_are_the_default() -> None:
    robot = dq.robots.two_link()
    functions = robot._functions.variables.functions
    done = robot.compile(progress=False)
    expected = [name for name, f in functions.items() if not any(frame in f.options for frame in FRAMES)]
    assert sorted(f.function for f in done.functions) == sorted(expected)
    assert not any(f.problem for f in done.functions)


def test_functions_that_a_robot_cannot_have_are_left_out_or_named() -> None:
    massless = dq.from_dh([[0.0, 0.1, 0.2, 0.3], [0.0, 0.1, 0.2, 0.3]])
    done = massless.compile()
    without = {f.function for f in done.functions if f.problem}
    assert {"forward_dynamics", "forward_dynamics_derivatives"} <= without
    assert "poses" not in without
    assert "Without forward_dynamics: " in str(done)
    with pytest.raises(dq.ModelError, match="forward_dynamics"):
        massless.compile(["forward_dynamics"])


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("inverse_dynamics", r"robot.compile takes a list of functions, as .*; found 'inverse_dynamics'\."),
        (3, r"robot.compile takes a list .*; found 3\."),
        (["mass_matricks"], r"There is no function named 'mass_matricks': did you mean 'mass_matrix'"),
        (["pose"], r"pose needs the option 'frame'"),
        (["pose:tol"], r"There is no frame of 'arm6' named 'tol': did you mean 'tool'"),
        (["mass_matrix:tool"], r"mass_matrix takes no frame; found 'mass_matrix:tool'\."),
        (["relative_pose:tool"], r"relative_pose takes 2 frames, as relative_pose:left,right; found"),
        ([("pose",)], r"A function is a name, or a pair"),
    ],
)
def test_bad_requests_name_the_function(wanted: Any, sentence: str) -> None:
    with pytest.raises(dq.Error, match=sentence):
        dq.robots.arm6().compile(wanted)


def test_without_native_code_functions_are_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DQDYN_NATIVE", "0")
    (row,) = dq.robots.two_link().compile(["mass_matrix"], batches=True).functions
    assert row.operations > 0
    assert row.llvm == 0.0


def test_other_variables_compile_ahead() -> None:
    robot = tree("free base").in_coordinates("quaternion")
    (row,) = robot.compile(["mass_matrix"]).functions
    assert row.operations == robot.count("mass_matrix").total


def test_an_interrupt_leaves_a_robot_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, calls = dq.robots.arm6(), []
    original = CompiledFunctions.program

    def interrupted(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*given)

    with monkeypatch.context() as patch:
        patch.setattr(CompiledFunctions, "program", interrupted)
        with pytest.raises(KeyboardInterrupt):
            robot.compile(["inverse_dynamics", "mass_matrix", "gravity_forces"])
    q = robot.neutral()
    np.testing.assert_allclose(robot.inverse_dynamics(q, 0 * q, 0 * q), robot.gravity_forces(q), atol=1e-12)
    assert not isinstance(robot.function("mass_matrix"), Function)


def test_modules_are_compiled_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two modules meet inside LLVM's call, which takes no lock."""
    meeting = threading.Barrier(2, timeout=60)
    original = compiler._emitted

    def both(*given: Any) -> bytes:
        meeting.wait()
        return original(*given)

    monkeypatch.setattr(compiler, "cores", lambda: 2)
    monkeypatch.setattr(compiler, "_emitted", both)
    from dqdyn.compile.runtime.native import machine

    modules = [f"define double @f{k}(double %x) {{ ret double %x }}" for k in range(2)]
    compilation = Compilation(machine(), machine().features)
    compilation.add(modules[1])
    objects = compilation.objects(modules[0])
    assert len(objects) == 2
    assert all(objects)


@pytest.mark.parametrize("unlocked", [True, False])
def test_long_programs_in_parts_compute_the_same(unlocked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A humanoid's program has parts; they agree with the interpreter, with and without llvmlite's lock."""
    if not unlocked:
        monkeypatch.setattr(compiler, "_unlocked_emit", lambda: None)
    robot, rng = dq.robots.chain(40, seed=2), np.random.default_rng(2)
    function = robot.function("inverse_dynamics")
    compiled = function.__self__  # type: ignore[attr-defined]
    assert len(compiled.native.single._objects) > 1
    inputs = rng.normal(size=(3, robot.nv))
    plain = Function(compiled.program, native=False)(*inputs)
    np.testing.assert_allclose(function(*inputs), plain, rtol=1e-11, atol=1e-11 * np.abs(plain).max())
    copies = compiled.native.single.addresses("scalar", 2)
    assert len(set(copies)) == min(2, os.cpu_count() or 1)
    huge = np.full(robot.nv, 1e300)  # beyond the range of our sines, in a part: the interpreter decides
    np.testing.assert_array_equal(
        function(huge, *inputs[1:]), Function(compiled.program, native=False)(huge, *inputs[1:])
    )


_FORK = """
import os, signal, threading
import dqdyn as dq
from dqdyn.compile.runtime import compiler

begun, emit = threading.Event(), compiler._emitted
def seen(*given):
    begun.set()
    return emit(*given)
compiler._emitted = seen
robot = dq.robots.chain(25, seed=3)
thread = threading.Thread(target=robot.compile, args=(["inverse_dynamics", "mass_matrix"],))
thread.start()
begun.wait()
child = os.fork()  # while LLVM runs on other threads
if child == 0:
    signal.alarm(100)
    dq.robots.arm6().compile(["inverse_dynamics", "gravity_forces"])
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
assert len(robot.compile(["inverse_dynamics"]).functions) == 1
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system with fork")
def test_a_child_forked_meanwhile_compiles_too() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", _FORK], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
