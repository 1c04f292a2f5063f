"""What compiled methods jump to, and what Python remembers of them, where tables, classes and functions change."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.compile.runtime import python_abi
from dqdyn.compile.runtime.method import MethodBase
from dqdyn.compile.runtime.method_table import MethodTable

pytestmark = pytest.mark.skipif(not python_abi.layout_is_known(), reason="the layout of this interpreter is not known")


def odd_function(*inputs: Any, **options: Any) -> Any:
    return inputs, options


@pytest.mark.parametrize(
    ("function", "wanted"), [(len, 7), (odd_function, "call"), (np.sum, 0.0), (functools.partial(odd_function), "call")]
)
def test_functions_that_are_not_emitted_are_called_as_python_calls_them(function: Any, wanted: Any) -> None:
    """Addresses of code are taken from built-in functions of one signature only."""
    robot, q = dq.robots.arm7(), np.zeros(7)
    robot.mass_matrix(q)
    object.__setattr__(robot, "_direct", changed := MethodTable())
    changed["mass_matrix"] = {"auto": function}
    for _ in range(3):
        if wanted == "call":
            assert robot.mass_matrix(q) == ((q,), {})
            assert robot.mass_matrix(q, check=False) == ((q,), {"check": False})
        else:
            assert robot.mass_matrix(q) == wanted


def test_patches_hold_from_the_next_call_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python remembers where it found a method, and notices that it is another one."""
    robot, q = dq.robots.arm7(), np.zeros(7)

    def sizes() -> list[int]:
        return [np.size(robot.mass_matrix(q)) for _ in range(50)]

    assert set(sizes()) == {49}
    with monkeypatch.context() as patch:
        patch.setattr(dq.Robot, "mass_matrix", lambda robot, q: q)
        assert set(sizes()) == {7}
    assert set(sizes()) == {49}


def test_the_class_of_methods_cannot_change(monkeypatch: pytest.MonkeyPatch) -> None:
    kind: Any = type(dq.Robot.mass_matrix)
    if not kind.__flags__ & 1 << 8:
        pytest.skip("this interpreter does not let classes be frozen")
    for one in (kind, MethodBase):
        with pytest.raises(TypeError, match="immutable type"):
            one.other = 1
    if sys.version_info < (3, 14):

        class Free:
            """A class that can change."""

        monkeypatch.setattr(python_abi, "TYPE_FLAGS", python_abi.TYPE_FLAGS + 8)
        assert not python_abi.freeze(Free)
        Free.other = 1  # type: ignore[attr-defined]
