"""Bad constraints and bad states are refused with one sentence that names the thing and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from constraint_robots import ROBOTS, TIMED, RandomPfaffian, robot_of, state

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.algebra.scalar import Scalar
from dqdyn.constraints import Place
from dqdyn.constraints.conformity import require_rate, require_sizes
from dqdyn.constraints.kinds.frame_constraint import Closure, Components, FrameConstraint
from dqdyn.constraints.relative_motion import RelativeMotion, relative_pose
from dqdyn.formats.json.document import write_json
from dqdyn.model.model import Model


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
        (lambda: dq.robots.arm6().with_constraints("pin"), "takes constraints from dqdyn.constraints"),  # type: ignore[arg-type]
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


@pytest.mark.long
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


@dataclass(frozen=True)
class Own(kinds.Constraint):
    """A kind as users write them, whose parts a test may spoil: the first joint does not turn."""

    name: str = "own"
    count: int = 1
    rows_given: int = 1
    index: int = 0
    columns: int = 6
    angle: float = 0.0

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> list[Scalar]:
        return [q[0] - self.angle]

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Any:
        row = [1.0 if k == self.index else 0.0 for k in range(self.columns)]
        return [row] * self.rows_given, [0.0] * self.rows_given


@dataclass(frozen=True)
class Unfinished(kinds.Constraint):
    name: str = "own"
    count = 1


@dataclass(frozen=True)
class WithoutResidual(Own):
    residual = kinds.Constraint.residual


class Nameless(kinds.Constraint):
    count = 1


@dataclass(frozen=True)
class OneFrame(FrameConstraint):
    name: str = "own"
    holonomic = False
    count = 2

    def components(self, relative: RelativeMotion) -> Components:
        return lambda twist: twist.dual.vector


@dataclass(frozen=True)
class InPlane(Closure):
    """The second origin stays in the plane z = 0 of the first frame."""

    name: str = ""
    count = 1

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> list[Scalar]:
        return [relative_pose(model, *self.pair, q)[1].vector[2]]

    def components(self, relative: RelativeMotion) -> Components:
        return lambda twist: [twist.dual.vector[2]]


@dataclass(frozen=True)
class TooManyComponents(InPlane):
    def components(self, relative: RelativeMotion) -> Components:
        return lambda twist: twist.dual.vector


@dataclass(frozen=True)
class NoComponents(InPlane):
    components = FrameConstraint.components


@dataclass(frozen=True)
class OwnPoint(kinds.PointClosure):
    """Of a kind that files hold, but another class: it would not come back as itself."""


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (Unfinished(), "the constraint 'own' does not fit 'arm6': the class Unfinished must define 'velocity'"),
        (WithoutResidual(), "WithoutResidual must define 'residual', or set holonomic = False"),
        (Nameless(), "the constraint class Nameless must define 'name'"),
        (OneFrame(), "the class OneFrame must define 'pair'"),
        (NoComponents("world", "tool"), "the class NoComponents must define 'components'"),
        (Own(count=2), "its count is 2; found 1 rows in A"),
        (Own(count=2, rows_given=2), "its count is 2; found 1 entries in its residual"),
        (Own(columns=5), "its rows of A must have 6 entries"),
        (TooManyComponents("world", "tool"), "its count is 1; found 3 components"),
        (Own(index=1), "the rate of its residual is not A v − b in row 0"),
        (Own(index=1, angle=0.1), "contradict each other: .* the rate of its residual is not A v − b in row 0"),
    ],
    ids=lambda x: None if isinstance(x, str) else type(x).__name__,
)
def test_kinds_of_users_are_checked(constraint: Any, message: str) -> None:
    with pytest.raises(dq.ModelError, match=message):
        dq.robots.arm6().with_constraints(constraint)


@pytest.mark.parametrize("name", [*ROBOTS, *TIMED])
def test_own_kinds_keep_the_contract(name: str) -> None:
    """The checks that users' kinds pass hold for the kinds of the package too."""
    robot = robot_of(name)
    rng = np.random.default_rng(1)
    on, _, _ = state(robot)
    for c in robot.constraints:
        require_sizes(c, robot.model, robot.random_configuration(rng).tolist())
        require_rate(c, robot.model, on.tolist(), rng.normal(size=robot.nv).tolist())


@pytest.mark.parametrize("make", [InPlane, OwnPoint])
def test_closures_of_users_work_but_cannot_be_written(make: Any) -> None:
    robot = dq.robots.arm6().with_constraints(make("world", "tool"), check=False)
    assert robot.constraint_matrix(robot.neutral()).shape == (len(robot.constraint_rows), 6)
    assert robot.description.loops == ()
    with pytest.raises(dq.FormatError, match=robot.constraints[0].name):
        write_json(robot.model)
