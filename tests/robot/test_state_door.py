"""What comes through the door: kinds of arrays, words for axes, and data of joints that no robot can have."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from typer.testing import CliRunner

import dqdyn as dq
from dqdyn.cli.app import app

Q = np.full(7, 0.3)
STATE = Q, 0.1 * Q, 2.0 * Q


@pytest.fixture
def robot(monkeypatch: pytest.MonkeyPatch) -> dq.Robot:
    monkeypatch.setenv("DQDYN_NATIVE", "0")
    return dq.robots.arm7()


def test_kinds_of_arrays(robot: dq.Robot) -> None:
    q, v, a = STATE
    expected = robot.inverse_dynamics(q, v, a)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(q)
    np.testing.assert_array_equal(robot.inverse_dynamics(matrix, v, a), expected[None])
    np.testing.assert_array_equal(robot.inverse_dynamics(np.ma.masked_array(q), v, a), expected)
    np.testing.assert_array_equal(robot.inverse_dynamics(casadi.DM(q), v, a), expected)


def test_masked_entries_are_refused(robot: dq.Robot) -> None:
    q, v, a = STATE
    hidden = np.ma.masked_array(q, mask=[1, *[0] * 6])
    with pytest.raises(dq.StateError, match="v of 'arm7' has masked entries"):
        robot.inverse_dynamics(q, hidden, a)
    with pytest.raises(dq.StateError, match="the wrench at frame 'tool' has masked entries"):
        robot.inverse_dynamics(q, v, a, {"tool": hidden[:6]})


def test_a_wrench_as_a_column_of_casadi(robot: dq.Robot) -> None:
    wrench = np.arange(1.0, 7.0)
    expected = robot.inverse_dynamics(*STATE, {"tool": wrench})
    np.testing.assert_array_equal(robot.inverse_dynamics(*STATE, {"tool": casadi.DM(wrench)}), expected)
    symbol = casadi.SX.sym("w", 6)
    found = casadi.Function("tau", [symbol], list(robot.inverse_dynamics(*STATE, {"tool": symbol})))
    np.testing.assert_allclose(np.array(found(wrench)).ravel(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "joint_wrenches"])
@pytest.mark.parametrize("wrenches", [None, {}])
def test_axes_are_known_ones_without_wrenches_too(
    robot: dq.Robot, name: str, wrenches: dict[str, object] | None
) -> None:
    with pytest.raises(dq.UnknownNameError, match="no expression named 'nonsense': known: body, aligned"):
        getattr(robot, name)(*STATE, wrenches, expressed="nonsense")


def test_actuated_joints_without_constraints(robot: dq.Robot) -> None:
    expected = robot.inverse_dynamics(*STATE)
    np.testing.assert_allclose(robot.inverse_dynamics(*STATE, actuated="all"), expected, rtol=1e-12)
    q, v, a = STATE
    batch = robot.inverse_dynamics(np.tile(q, (2, 3, 1)), v, a, actuated="all")
    np.testing.assert_allclose(batch, np.tile(expected, (2, 3, 1)), rtol=1e-12)
    assert robot.inverse_dynamics(np.zeros((0, 7)), v, a, actuated="all").shape == (0, 7)
    with pytest.raises(dq.StateError, match="cannot give this acceleration"):
        robot.inverse_dynamics(*STATE, actuated=["joint1"])
    with pytest.raises(dq.StateError, match="need numbers"):
        robot.inverse_dynamics(casadi.SX.sym("q", 7), v, a, actuated="all")


def test_out_of_actuated_joints(robot: dq.Robot) -> None:
    expected, out = robot.inverse_dynamics(*STATE), np.zeros(7)
    assert robot.inverse_dynamics(*STATE, actuated="all", out=out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    for wrong in (np.zeros(3), np.zeros((2, 7)), np.zeros(7, dtype=np.float32), [0.0] * 7):
        with pytest.raises(dq.StateError, match=r"out of inverse_dynamics must be a float64 array of shape \(7,\)"):
            robot.inverse_dynamics(*STATE, actuated="all", out=wrong)  # type: ignore[arg-type]
    out.setflags(write=False)
    with pytest.raises(dq.StateError, match="read-only"):
        robot.inverse_dynamics(*STATE, actuated="all", out=out)


@pytest.mark.parametrize("name", ["damping", "friction", "armature"])
@pytest.mark.parametrize(
    ("value", "words"), [(float("inf"), "the {0} inf, which is infinite or above"), ("x", "the {0} 'x': give numbers")]
)
def test_joint_data_must_be_finite_numbers(name: str, value: object, words: str) -> None:
    joint = dq.Joint("hinge", "revolute", "base", "a", **{name: value})  # type: ignore[arg-type]
    links = dq.Link("base"), dq.Link("a", dq.Inertia(1.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.1, 0.1])))
    with pytest.raises(dq.ModelError, match="joint 'hinge' has " + words.format(name)):
        dq.Robot.from_description(dq.Description("m", links, (joint,)))


def test_joint_wrenches_without_joints() -> None:
    robot = dq.Robot.from_description(dq.Description("stone", (dq.Link("base"),), ()))
    assert robot.joint_wrenches([], [], []).shape == (0, 6)


def test_the_shell_is_not_told_of_arguments_it_has_not() -> None:
    result = CliRunner().invoke(app, ["dynamics", "arm7", "--q", "nan,0,0,0,0,0,0"])
    assert isinstance(result.exception, dq.StateError)
    assert str(result.exception) == "--q 'nan,0,0,0,0,0,0' is not finite: give finite numbers."


@pytest.mark.parametrize("given", ["link2", 3, None])
def test_wrench_frames_are_a_list(given: object) -> None:
    with pytest.raises(dq.Error, match=r"wrench_frames is a list of frames, as in \['tool'\]; found"):
        dq.robots.arm7().function("inverse_dynamics", wrench_frames=given)
