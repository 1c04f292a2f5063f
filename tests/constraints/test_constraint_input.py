"""Bad constraints and bad states are refused with one sentence that names the thing and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from constraint_robots import RandomPfaffian, robot_of, state

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.constraints import Place


def one(at: Place) -> Any:
    return [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], [1.0]


def two(at: Place) -> Any:
    return [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], [2.0]


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (kinds.PointClosure("tool", "tol"), "named 'tol': did you mean 'tool'"),
        (kinds.PoseClosure("wrld", "tool"), "named 'wrld': did you mean 'world'"),
        (kinds.AxisClosure("tool", "elsewhere"), "named 'elsewhere'"),
        (kinds.DistanceClosure("tool", "elsewhere", 1.0), "named 'elsewhere'"),
        (kinds.KnifeEdge("tol"), "did you mean 'tool'"),
        (kinds.PointContact("tol"), "did you mean 'tool'"),
        (kinds.FaceContact("tol"), "did you mean 'tool'"),
        (kinds.JointCoupling(("nobody",), (1.0,)), "named 'nobody'"),
        (kinds.Rolling(), "root_joint"),
        (kinds.Pfaffian(RandomPfaffian(0, 2, 5), 2), "must give 2 rows of 6 entries"),
        (kinds.Pfaffian(RandomPfaffian(0, 2, 6), 1), "must give 1 rows of 6"),
        (kinds.Holonomic(lambda at: [at.q[0], at.q[1]]), "must give 1 values; found 2"),
    ],
    ids=lambda x: x.name if isinstance(x, kinds.Constraint) else None,
)
def test_what_does_not_fit_the_robot(constraint: Any, message: str) -> None:
    with pytest.raises(
        dq.ModelError, match=f"the constraint '{constraint.name}' does not fit 'arm6': .*{message}"
    ) as e:
        dq.robots.arm6().with_constraints(constraint)
    assert e.value.constraint == constraint.name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kinds.DistanceClosure("a", "b", 0.0), "above 0 m"),
        (lambda: kinds.DistanceClosure("a", "b", float("nan")), "above 0 m"),
        (lambda: kinds.AxisClosure("a", "b", (0.0, 0.0, 0.0)), "must not be zero"),
        (lambda: kinds.KnifeEdge("a", (1.0, 2.0)), "3 components"),  # type: ignore[arg-type]
        (lambda: kinds.PoseClosure("a", "b", dq.DQ([2.0, 0, 0, 0, 0, 0, 0, 0])), "pose that a constraint holds"),
        (lambda: kinds.JointCoupling(("a", "b"), (1.0,)), "one ratio per joint"),
        (lambda: kinds.JointCoupling(("a",), (0.0,)), "not all zero"),
        (lambda: kinds.PointContact("a", mu=-0.1), "must not be negative"),
        (lambda: kinds.Baumgarte(-1.0), "not negative"),
        (lambda: dq.robots.arm6().with_constraints(stabilisation="glue"), "stabilisation is False"),
        (lambda: dq.robots.arm6().with_constraints("pin"), "a constraint is one of"),  # type: ignore[arg-type]
        (lambda: dq.robots.four_bar(crank=0.1, coupler=0.05, rocker=0.05), "cannot be assembled"),
        (lambda: dq.robots.five_bar(distal=-1.0), "above 0 m"),
    ],
)
def test_impossible_values(make: Any, message: str) -> None:
    with pytest.raises(dq.Error, match=message):
        make()


def test_two_of_one_name() -> None:
    robot = dq.robots.four_bar()
    with pytest.raises(dq.ModelError, match="two constraints of 'four_bar' are named 'pin'"):
        robot.with_constraints(*robot.constraints)


def test_joints_with_more_axes_cannot_be_coupled() -> None:
    robot = dq.robots.stewart_platform()
    with pytest.raises(dq.ModelError, match="needs joints with one coordinate; joint 'foot_1' is universal"):
        robot.with_constraints(kinds.JointCoupling(("foot_1", "leg_1"), (1.0, 1.0)))
    with pytest.raises(dq.ModelError, match="needs a planar joint"):
        robot.with_constraints(kinds.Rolling("leg_1"))


def test_contradicting_velocities_are_named() -> None:
    robot = dq.robots.arm6().with_constraints(kinds.Pfaffian(one, name="one"))
    with pytest.raises(dq.ModelError, match=r"contradict each other: .*'(one|two)' was off by") as caught:
        robot.with_constraints(kinds.Pfaffian(two, name="two"))
    assert caught.value.residual > 0.1
    both = robot.with_constraints(kinds.Pfaffian(two, name="two"), check=False)
    report = both.constraint_report(both.neutral())
    (found,) = report.contradictions
    assert (found.name, found.on) == ("two", ("one",))
    assert found.residual == pytest.approx(1.0)
    assert "row 1 of 'two' depends on 'one'; right-hand side off by 1" in str(report)


def test_contradicting_positions_are_named() -> None:
    """Two distances that no configuration has at once."""
    robot = dq.robots.arm6().with_constraints(kinds.DistanceClosure("world", "tool", 0.5, name="near"))
    with pytest.raises(dq.ModelError, match=r"contradict each other.*'(near|far)' was off by") as caught:
        robot.with_constraints(kinds.DistanceClosure("world", "tool", 0.9, name="far"))
    assert caught.value.constraint in ("near", "far")
    assert 0.01 < caught.value.residual < 1.0


def test_out_of_reach_is_named() -> None:
    with pytest.raises(dq.ModelError, match="'far' was off by"):
        dq.robots.arm6().with_constraints(kinds.DistanceClosure("world", "tool", 9.0, name="far"))


def test_inconsistent_states_are_told_how_to_project() -> None:
    robot = dq.robots.four_bar()
    q, v, _ = state(robot)
    robot.require_consistent(q, v)
    with pytest.raises(dq.StateError, match=r"'pin': q is off by .* m or rad; .*robot\.project\(q, v\)") as caught:
        robot.require_consistent(q + 0.1, v)
    assert caught.value.residual == pytest.approx(np.abs(robot.constraint_residual(q + 0.1)).max())
    assert (caught.value.constraint, caught.value.argument) == ("pin", "q")
    with pytest.raises(dq.StateError, match=r"'pin': v is off by .* m/s") as caught:
        robot.require_consistent(q, v + 1.0)
    assert caught.value.argument == "v"
    batch = np.tile(q, (3, 1))
    batch[1] += 0.1
    with pytest.raises(dq.StateError, match="'pin'"):
        robot.require_consistent(batch)


def test_wrong_shapes_numbers_and_quaternions() -> None:
    platform = dq.robots.stewart_platform()
    q, v, tau = state(platform)
    for call in (
        lambda: platform.forward_dynamics(q[:-1], v, tau),
        lambda: platform.constraint_matrix(q[:-1]),
        lambda: platform.constraint_bias(q, v[:-1]),
        lambda: platform.project(q[:-1]),
        lambda: platform.constraint_report(np.tile(q, (2, 1))),
        lambda: platform.constraint_forces(q, v, tau[:3]),
    ):
        with pytest.raises(dq.StateError, match=r"components|one state"):
            call()
    bad = q.copy()
    bad[platform.joint("platform_joint").q.start if hasattr(platform, "joint") else 0] *= 1.01
    for call in (
        lambda: platform.forward_dynamics(bad, v, tau),
        lambda: platform.constraint_residual(bad),
        lambda: platform.project(bad, v),
        lambda: platform.forward_dynamics(bad, v, tau, method="kane"),
    ):
        with pytest.raises(dq.StateError, match="norm"):
            call()
    with pytest.raises(dq.StateError, match="finite"):
        platform.forward_dynamics(q, v * np.nan, tau)
    with pytest.raises(dq.StateError, match="finite"):
        platform.forward_dynamics(q, v, tau * np.nan, method="udwadia-kalaba")


def test_methods() -> None:
    robot = dq.robots.four_bar()
    q, v, tau = state(robot)
    with pytest.raises(dq.Error, match="'articulated-body' ignores constraints: use 'kkt'"):
        robot.forward_dynamics(q, v, tau, method="articulated-body")
    with pytest.raises(dq.UnknownNameError, match="method of forward_dynamics under constraints"):
        robot.forward_dynamics(q, v, tau, method="kken")
    clock = robot_of("clock")
    with pytest.raises(dq.Error, match="needs the time, on which its constraint 'holonomic' depends: pass time=True"):
        clock.function("forward_dynamics")
    assert clock.function("forward_dynamics", time=True)(clock.neutral(), np.zeros(6), np.zeros(6), 0.1).shape == (6,)


def test_friction_data() -> None:
    foot = kinds.FaceContact("foot", mu=0.5, half_length=0.1, half_width=0.05)
    assert foot.holds([0.0, 0.0, 0.0, 1.0, 0.0, 10.0])
    assert not foot.holds([0.0, 0.0, 0.0, 6.0, 0.0, 10.0])  # slides
    assert not foot.holds([0.0, 0.0, 0.0, 0.0, 0.0, -1.0])  # pulls
    assert not foot.holds([0.0, 2.0, 0.0, 0.0, 0.0, 10.0])  # tips over its toes
    assert not foot.holds([0.6, 0.0, 0.0, 0.0, 0.0, 10.0])
    point = kinds.PointContact("foot", mu=0.5)
    assert point.holds([0.0, 4.9, 10.0])
    assert not point.holds([0.0, 5.1, 10.0])
