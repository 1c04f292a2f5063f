"""Robots in CasADi: every function gives what NumPy gives, with names, shapes and derivatives."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from catalog_cases import function_of
from compile_tools import program_of
from export_cases import ROBOTS, STATES, assert_same, case, matrix_shape, names_of

import dqdyn as dq
from dqdyn.compile.export.casadi import to_casadi
from dqdyn.errors import install_command

casadi = pytest.importorskip("casadi")


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_function_agrees_with_numpy(robot: str) -> None:
    for name in names_of(robot):
        one = case(robot, name)
        function = to_casadi(one.program)
        assert function.name() == function_of(name).name
        assert function.name_in() == [n for n, _ in one.program.inputs]
        assert function.name_out() == ["out"]
        assert function.size_out(0) == matrix_shape(one.program)
        found = [np.array(function(*(a[k] for a in one.inputs))) for k in range(STATES)]
        assert_same(np.array(found).reshape(one.expected.shape), one.expected, of=name)


def test_zeros_can_be_left_out_of_the_pattern() -> None:
    robot = dq.robots.arm7()
    q = robot.random_configuration(4)
    dense = robot.export("casadi", "twist_jacobian", frame="link3")
    sparse = robot.export("casadi", "twist_jacobian", frame="link3", sparse=True)
    assert dense.nnz_out(0) == 6 * 7
    assert sparse.nnz_out(0) <= 6 * 3
    assert np.array_equal(np.array(dense(q)), np.array(casadi.densify(sparse(q))))
    assert_same(np.array(sparse(q)), robot.twist_jacobian("link3", q))


def test_derivatives_by_casadi_are_those_of_the_library() -> None:
    robot = dq.robots.arm7()
    q, v = robot.random_configuration(5), np.linspace(-1, 1, 7)
    x = casadi.SX.sym("x", 7)
    pose = robot.export("casadi", "pose", frame="tool")
    jacobian = casadi.Function("J", [x], [casadi.jacobian(pose(x), x)])
    assert_same(np.array(jacobian(q)), robot.pose_jacobian("tool", q))
    matrix = robot.export("casadi", "twist_jacobian", frame="tool")
    rate = casadi.Function("R", [x], [casadi.reshape(casadi.jacobian(casadi.vec(matrix(x)), x) @ casadi.DM(v), 6, 7)])
    assert_same(np.array(rate(q)), robot.twist_jacobian_derivative("tool", q, v), 1e-11)


def test_selection_takes_one_side_only() -> None:
    """The other side may be no number: 1/x at x = 0 does not spoil what is selected."""
    code = [("input", (0, 0), 0.0), ("const", (), 0.0), ("const", (), 1.0), ("div", (2, 0), 0.0)]
    code += [("less", (1, 0), 0.0), ("select", (4, 3, 2), 0.0)]
    function = to_casadi(program_of(code, [5], [1]))
    assert [float(function(x)) for x in (0.0, -1.0, 4.0)] == [1.0, 1.0, 0.25]


def test_shapes_without_entries_or_axes() -> None:
    assert to_casadi(program_of([], [], [0], (6, 0))).size_out(0) == (6, 0)
    one = program_of([("input", (0, 1), 0.0)], [0], [2], ())
    assert float(to_casadi(one)([3.0, 4.0])) == 4.0
    cube = program_of([("input", (0, k), 0.0) for k in range(8)], range(8), [8], (2, 2, 2))
    assert np.array_equal(np.array(to_casadi(cube)(np.arange(8.0))), np.arange(8.0).reshape(4, 2))


def test_names() -> None:
    robot = dq.robots.arm7()
    assert robot.export("casadi", "pose", frame="tool").name() == "arm7_pose_tool"
    assert robot.export("casadi", "pose", frame="tool", symbol="hand").name() == "hand"
    for bad in ("a__b", "jac", "1"):
        with pytest.raises(dq.Error, match="cannot name an exported function"):
            robot.export("casadi", "pose", frame="tool", symbol=bad)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("casadi", "casadi"))):
        dq.robots.two_link().export("casadi", "center_of_mass")


def test_survives_saving(tmp_path: Any) -> None:
    robot = dq.robots.two_link()
    function = robot.export("casadi", "center_of_mass")
    function.save(str(tmp_path / "com.casadi"))
    again = casadi.Function.load(str(tmp_path / "com.casadi"))
    q = np.array([0.3, -0.4])
    assert_same(np.array(again(q)).reshape(-1), robot.center_of_mass(q))
