"""Names of the last release: documented modules stay, the others warn and lead to the new place."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.moved import DEPRECATED, DOCUMENTED

ROBOT = dq.robots.two_link()


@pytest.mark.parametrize("old", DOCUMENTED)
def test_documented_modules_keep_their_names(old: str) -> None:
    module = importlib.import_module(old)
    assert module is importlib.import_module(DOCUMENTED[old])
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__ == DOCUMENTED[old]


@pytest.mark.parametrize("old", DEPRECATED)
def test_moved_modules_warn(old: str) -> None:
    """In a fresh process, for a module is imported once."""
    code = f"import {old} as module; print(module.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == DEPRECATED[old]
    strict = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120)
    assert f"DeprecationWarning: {old} is now {DEPRECATED[old]}" in strict.stderr


def test_modules_that_never_were_are_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("dqdyn.compile.nowhere")


def test_wrenches_were_a_function_of_their_own() -> None:
    q, w = np.zeros(2), np.arange(6.0)
    new = ROBOT.function("inverse_dynamics", wrench_frames=["tool"])(q, q, q, w)
    with pytest.deprecated_call(match="'inverse_dynamics_with_wrenches' is 'inverse_dynamics' with options"):
        old = ROBOT.function("inverse_dynamics_with_wrenches", wrench_frames=["tool"])
    np.testing.assert_array_equal(old(q, q, q, w), new)
    np.testing.assert_array_equal(ROBOT.inverse_dynamics(q, q, q, {"tool": w}), new)


def test_time_was_a_function_of_its_own() -> None:
    driven = dq.robots.four_bar()
    q = driven.neutral()
    with pytest.deprecated_call(match="'forward_dynamics_at' is 'forward_dynamics' with options"):
        old = driven.function("forward_dynamics_at")
    v = np.zeros(driven.nv)
    np.testing.assert_array_equal(old(q, v, v, 0.0), driven.forward_dynamics(q, v, v))
