"""Where LLVM is absent or fails, everything works on NumPy, with one warning; DQDYN_NATIVE=0 asks for that."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_functions import expected, mixed_program, wave
from some_results import results

import dqdyn as dq
from dqdyn.compile.codegen import kernels
from dqdyn.compile.runtime import compiler, native, python_abi
from dqdyn.compile.runtime.function import Function
from dqdyn.errors import CompileWarning

X, Y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
MANY_X, MANY_Y = np.tile(X, (20, 1)), np.tile(Y, (20, 1))


def check(function: Function) -> None:
    """One state, batches, keywords, out, threads."""
    f = function.fast
    np.testing.assert_array_equal(f(X, Y), expected(X, Y))
    np.testing.assert_array_equal(f(MANY_X, y=MANY_Y, threads=3), expected(MANY_X, MANY_Y))
    out = np.empty((2, 3))
    assert f(X, Y, out=out) is out
    np.testing.assert_array_equal(out, expected(X, Y))
    with pytest.raises(dq.Error):
        f(Y, X)


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("broken on purpose")


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "no compiler": lambda patch: patch.setattr(compiler, "_compiled", fail),
    "no machine": lambda patch: patch.setattr(native, "machine", fail),
    "no library": lambda patch: patch.setattr(native, "Library", fail),
    "bad text": lambda patch: patch.setattr(kernels, "scalar_kernel", lambda *_, **__: "define nonsense"),
    "no symbol": lambda patch: patch.setattr(native.Library, "address", fail),
    "no built-in": lambda patch: patch.setattr(python_abi, "python_function", fail),
    "not in memory": lambda patch: patch.setattr("llvmlite.binding.create_mcjit_compiler", fail),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_lead_to_numpy_with_one_warning(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    function = Function(mixed_program())
    with pytest.warns(CompileWarning, match="(?s)native code is unavailable .*functions run on NumPy") as caught:
        check(function)
    assert len(caught) == 1
    assert function.native is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(Function(mixed_program(), contract=False))


def test_a_fault_of_the_batch_code_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "batch_kernel", fail)
    function = Function(mixed_program(), contract=False)
    f = function.fast
    np.testing.assert_array_equal(f(X, Y), expected(X, Y))
    with pytest.warns(CompileWarning):
        np.testing.assert_array_equal(f(MANY_X, MANY_Y), expected(MANY_X, MANY_Y))
    np.testing.assert_array_equal(f(MANY_X, MANY_Y), expected(MANY_X, MANY_Y))
    np.testing.assert_array_equal(f(X, Y), expected(X, Y))  # the built-in stays


def test_a_warning_that_is_an_error_does_not_break_later_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_compiled", fail)
    function = Function(mixed_program())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CompileWarning):
            function(X, Y)
        check(function)


def test_switched_off_by_argument_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "Library", fail)  # nobody may ask
    function = Function(mixed_program(), native=False)
    assert function.fast is function
    check(function)
    monkeypatch.setenv("DQDYN_NATIVE", "0")
    check(Function(mixed_program()))
    robot = dq.robots.arm7()
    assert robot.pose_jacobian(robot.joints[-1].name, robot.neutral()).shape == (8, 7)


def test_huge_numbers_and_nan_without_native_code() -> None:
    function = wave(False)
    x = np.array([1e300, np.nan, np.inf, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = function(x)
        many = function(np.tile(x, (3, 1)))
    np.testing.assert_array_equal(np.isnan(found[:, 0]), [False, True, True, False])
    np.testing.assert_array_equal(many, np.tile(found, (3, 1, 1)))


WITHOUT_LLVM = """
import sys, warnings
sys.modules["llvmlite"] = None
sys.modules["llvmlite.binding"] = None
sys.path.insert(0, sys.argv[1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from some_results import results
    numbers = results()
print([w.category.__name__ for w in caught], "install llvmlite" in str(caught[0].message))
print(" ".join(x.hex() for x in numbers))
"""


def test_without_llvmlite_everything_works_with_one_warning() -> None:
    environment = {k: v for k, v in os.environ.items() if k != "DQDYN_NATIVE"}
    command = [sys.executable, "-c", WITHOUT_LLVM, str(Path(__file__).parent)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    names, numbers = done.stdout.splitlines()
    assert names == "['CompileWarning'] True"
    found = [float.fromhex(x) for x in numbers.split()]
    np.testing.assert_allclose(found, results(), rtol=1e-12, atol=1e-13)


def test_switched_off_no_compiler_is_imported() -> None:
    code = (
        "import sys, dqdyn as dq; r = dq.robots.arm7(); r.center_of_mass(r.neutral()); "
        "print('llvmlite' in sys.modules, 'dqdyn.compile.runtime.native' in sys.modules)"
    )
    environment = {**os.environ, "DQDYN_NATIVE": "0"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() == "False False"
