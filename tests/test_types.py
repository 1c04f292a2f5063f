"""What a type checker says of the public interface: mistakes of users are errors, and correct code is none."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import dqdyn as dq

mypy = pytest.importorskip("mypy.api")
SOURCE = str(Path(dq.__file__).parent.parent)
HEAD = """import numpy as np
import dqdyn as dq
from dqdyn import control as ct
robot = dq.robots.arm7()
q = robot.neutral()
"""
WRONG = {
    "a word for an array": 'robot.pose("tool", "nonsense")',
    "words for an array": 'robot.pose("tool", ["a", "b"])',
    "an unknown method": 'robot.inverse_dynamics(q, q, q, method="newton")',
    "an unknown expression": 'robot.twist_jacobian("tool", q, expressed="there")',
    "an unknown base": 'robot.with_base("flying")',
    "a number for a frame": "robot.pose(3, q)",
    "a complex number": "robot.mass_matrix([1j] * 7)",
    "a result that is no array": "x: str = robot.mass_matrix(q)",
}
RIGHT = """
robot.pose("tool", [0.0] * 7)
robot.pose("tool", [0, 1, 2, 3, 4, 5, 6])
robot.pose("tool", np.zeros((3, 7), dtype=np.float32))
robot.inverse_dynamics(q, q, [[0.0] * 7, [1] * 7], {"tool": [0, 0, 1, 0, 0, 0]}, method="gauss-literal")
robot.integrate(q, q, 0.1)
robot.with_payload("tool", 1.0, com=(0, 0, 0.1)).with_gravity([0, 0, -1.62])
f = robot.function("twist_jacobian", frame="tool", expressed="world")
f(q)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What mypy says of each line, all in one run."""
    folder = tmp_path_factory.mktemp("typed")
    texts = {**{f"wrong{i}": HEAD + line for i, line in enumerate(WRONG.values())}, "right": HEAD + RIGHT}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text + "\n", encoding="utf-8")
    options = ["--strict", "--follow-imports=silent", "--no-error-summary", f"--cache-dir={folder / 'cache'}"]
    pytest.MonkeyPatch().setenv("MYPYPATH", SOURCE)
    said, problem, _ = mypy.run([*options, *(str(folder / f"{name}.py") for name in texts)])
    assert not problem
    return {name: "\n".join(line for line in said.splitlines() if f"{name}.py" in line) for name in texts}


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_type_errors(answers: dict[str, str], what: str) -> None:
    assert "error:" in answers[f"wrong{list(WRONG).index(what)}"]


def test_correct_code_has_no_type_errors(answers: dict[str, str]) -> None:
    assert answers["right"] == ""


FOREIGN = {("to_pinocchio", "model"), ("to_mujoco", "model")}
"""Arguments that are objects of packages which may not be installed."""


def test_no_parameter_of_a_robot_is_any() -> None:
    bare = []
    for name, member in inspect.getmembers(dq.Robot, callable):
        if name.startswith("_"):
            continue
        for parameter in inspect.signature(member).parameters.values():
            if parameter.annotation in (Any, "Any") and (name, parameter.name) not in FOREIGN:
                bare.append(f"{name}({parameter.name})")
    assert bare == []
