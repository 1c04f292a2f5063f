"""Infeasible problems and bad numbers: the policy acts as promised, and says what is in conflict."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from control_tools import accelerate
from scipy.optimize import linprog
from trees import tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.scalar import sqrt
from dqdyn.errors import Error

ARM = dq.robots.arm7()
Q0 = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
P0 = ARM.pose("tool", Q0).translation


def squeezed() -> list[object]:
    """Two walls that leave less than nothing, and things that have no part in the conflict."""
    above = ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=P0[2] + 0.1), gain=1.0, name="floor")
    below = ct.KeepAbove("tool", dq.Plane([0.0, 0.0, -1.0], distance=0.1 - P0[2]), gain=1.0, name="ceiling")
    wall = ct.KeepAbove("tool", dq.Plane([1.0, 0.0, 0.0], distance=-3.0), name="wall")
    return [wall, above, ct.JointLimits(), below, ct.VelocityLimits(2.0)]


def after_a_good_step(policy: str) -> tuple[ct.Controller, np.ndarray, ct.Measured]:
    """A controller that has made a step with a solution, and the floor that will rise."""
    floor = ct.Measured(dq.Plane([0.0, 0.0, 1.0], distance=P0[2] - 0.3))
    ceiling = dq.Plane([0.0, 0.0, -1.0], distance=-P0[2] - 0.1)
    zones = [ct.KeepAbove("tool", floor, name="floor"), ct.KeepAbove("tool", ceiling, name="ceiling"), ct.JointLimits()]
    c = ct.velocity_controller(ARM, [ct.TranslationTask("tool", P0 + 0.05)], zones, infeasible=policy)
    good = c(0.0, Q0)
    assert c.report.status == "solved"
    assert c.report.conflict == ()
    floor.update(dq.Plane([0.0, 0.0, 1.0], distance=P0[2] + 0.3))
    return c, good, floor


def test_raise_names_a_minimal_conflict() -> None:
    c, _, _ = after_a_good_step("raise")
    with pytest.raises(
        ct.InfeasibleError, match=r"At t = 0.1 s no command satisfies 'floor' and 'ceiling' together"
    ) as caught:
        c(0.1, Q0)
    assert set(caught.value.conflict) == {"floor", "ceiling"}


def test_hold_stops_the_robot() -> None:
    """Not for ever on with the last velocity, which knows nothing of the floor."""
    c, good, floor = after_a_good_step("hold")
    for k in range(3):
        np.testing.assert_array_equal(c(0.1 + k, Q0), 0.0)
        assert (c.report.status, c.report.motion) == ("held", "still")
        assert set(c.report.conflict) == {"floor", "ceiling"}
    floor.update(dq.Plane([0.0, 0.0, 1.0], distance=P0[2] - 0.3))
    np.testing.assert_allclose(c(4.0, Q0), good, atol=1e-9)
    assert c.report.status == "solved"


class Blind:
    """A solver that sees no room where bounds gave way by as little as possible; another one does."""

    def __init__(self, optimum: Callable[..., np.ndarray | None]) -> None:
        self.second_opinion = optimum

    def __call__(self, views: object) -> None:
        return None


def test_relax_asks_another_solver_where_little_room_is_left() -> None:
    c, _, _ = after_a_good_step("relax")
    seeing, _, _ = after_a_good_step("relax")
    c.optimum = Blind(c.optimum)
    np.testing.assert_allclose(c(0.1, Q0), seeing(0.1, Q0), atol=1e-9)
    assert c.report.status == seeing.report.status == "relaxed"
    assert c.report.violation == seeing.report.violation


def test_relax_gives_way_by_as_little_as_possible() -> None:
    """Both walls give way by the same, each row being as long as the other; the report tells by how much."""
    c, _, _ = after_a_good_step("relax")
    v = c(0.1, Q0)
    assert c.report.status == "relaxed"
    assert set(c.report.conflict) == set(c.report.violation) == {"floor", "ceiling"}
    rise = (ARM.translation_jacobian("tool", Q0) @ v)[2]
    # η h of the floor asks for ż ≥ 0.3, the ceiling for ż ≤ 0.1
    assert rise == pytest.approx(0.2, abs=1e-5)
    for amount in c.report.violation.values():
        assert amount == pytest.approx(0.1, abs=1e-5)


def test_relax_spares_what_must_not_give_way() -> None:
    floor = ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=P0[2] + 0.3), name="floor")
    ceiling = ct.KeepAbove("tool", dq.Plane([0.0, 0.0, -1.0], distance=-P0[2] - 0.1), name="ceiling", relaxable=False)
    c = ct.velocity_controller(ARM, [ct.RestTask()], [floor, ceiling])
    with pytest.warns(ct.ControlWarning, match="'floor' is violated at the start by 0.3"):
        v = c(0.0, Q0)
    assert (ARM.translation_jacobian("tool", Q0) @ v)[2] <= 0.1 + 1e-6
    assert set(c.report.violation) == {"floor"}
    ct_floor = ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=P0[2] + 0.3), name="floor", relaxable=False)
    c = ct.velocity_controller(ARM, [ct.RestTask()], [ct_floor, ceiling])
    with pytest.warns(ct.ControlWarning):
        np.testing.assert_array_equal(c(0.0, Q0), 0.0)
    assert c.report.status == "held"
    assert "must not give way" in c.report.reason


@pytest.mark.filterwarnings("ignore:.*violated at the start", "ignore:Lemma 4.1")
@pytest.mark.parametrize("level", ["velocity", "acceleration", "torque"])
def test_conflicts_of_controllers_are_minimal(level: str) -> None:
    """All rows of the named constraints together have no solution; without any one of them the rest have."""
    rng = np.random.default_rng(0)
    make = {
        "velocity": ct.velocity_controller,
        "acceleration": ct.acceleration_controller,
        "torque": ct.torque_controller,
    }
    found = 0
    for _ in range(12):
        zones = [
            ct.KeepOut("tool", dq.Point(P0 + rng.uniform(-0.3, 0.3, 3)), rng.uniform(0.2, 0.5), name=f"ball {i}")
            for i in range(4)
        ]
        limits = [ct.VelocityLimits(0.1)] if level == "velocity" else [ct.AccelerationLimits(0.3), ct.JointLimits()]
        if level == "torque":
            limits.append(ct.TorqueLimits())
        c = make[level](ARM, [ct.RestTask()], [*zones, *limits], infeasible="relax")
        c(0.0, Q0, 0.3 * rng.normal(size=7))
        conflict, rows = c.report.conflict, c.composition.rows()
        assert (c.report.status == "relaxed") == bool(conflict)
        if conflict:
            found += 1
            assert not _feasible(rows, set(conflict))
            for name in conflict:
                assert _feasible(rows, set(conflict) - {name})
    assert found >= 3


def _feasible(rows: object, names: set[str]) -> bool:
    chosen = [i for i, name in enumerate(rows.names) if name in names]  # type: ignore[attr-defined]
    a, b = rows.a[chosen], rows.b[chosen]  # type: ignore[attr-defined]
    return not chosen or linprog(np.zeros(7), a, b, bounds=[(None, None)] * 7).status == 0


# --- numbers that are none ------------------------------------------------------------------------------------------


def root_of_height(p: dq.DQ) -> object:
    """NaN below the floor."""
    return sqrt(p.primary.z - 1.0) - 0.5


def test_nan_of_a_users_function_is_named() -> None:
    task = ct.FunctionTask(root_of_height, [ct.point("tool")])
    c = ct.velocity_controller(ARM, [task], infeasible="raise")
    high = np.zeros(7)
    assert ARM.pose("tool", high).translation[2] > 1.0
    good = c(0.0, high)
    low = np.array([0.0, 1.5, 0.0, -1.5, 0.0, 1.0, 0.0])
    assert ARM.pose("tool", low).translation[2] < 1.0
    with pytest.raises(ct.ControlError, match="the task 'function root_of_height' gives nan"):
        c(0.1, low)
    for policy in ("hold", "relax"):
        c = ct.velocity_controller(ARM, [task], infeasible=policy)
        np.testing.assert_allclose(c(0.0, high), good)
        np.testing.assert_array_equal(c(0.1, low), 0.0)
        assert c.report.status == "held"
        assert "root_of_height" in c.report.reason


def test_nan_of_signals_and_states() -> None:
    ball = ct.Measured([0.5, 0.0, 0.5])
    zone = ct.KeepOut("tool", ball, 0.1, name="ball")
    c = ct.velocity_controller(ARM, [ct.TranslationTask("tool", P0 + 0.1)], [zone], infeasible="hold")
    good = c(0.0, Q0)
    ball.update([math.nan, 0.0, 0.5])
    np.testing.assert_array_equal(c(0.1, Q0), 0.0)
    assert c.report.reason == "the point in the workspace of 'ball' is not finite"
    ball.update([0.5, 0.0, 0.5])
    np.testing.assert_array_equal(c(0.1, Q0 * math.nan), 0.0)
    assert c.report.reason.startswith("q of the robot is not finite")
    np.testing.assert_allclose(c(0.2, Q0), good, atol=1e-9)


def test_first_step_held_brakes() -> None:
    """Before any solution: no velocity, an acceleration against the velocity, or the torque of that."""
    ball = ct.Measured([0.5, 0.0, 0.5])
    for make in (ct.velocity_controller, ct.acceleration_controller, ct.torque_controller):
        c = make(ARM, [ct.RestTask()], [ct.KeepOut("tool", ball, 0.1)], infeasible="hold")
        ball.update([math.nan, 0.0, 0.5])
        v = np.linspace(-0.2, 0.3, 7)
        expected = {"velocity": np.zeros(7), "acceleration": -10.0 * v}
        expected["torque"] = ARM.inverse_dynamics(Q0, v, -10.0 * v)
        np.testing.assert_allclose(c(0.0, Q0, v), expected[c.level], atol=1e-9)
        assert c.report.motion == ("still" if c.level == "velocity" else "braking")
        ball.update([0.5, 0.0, 0.5])


def test_infeasible_start_says_which_and_by_how_much() -> None:
    zones = [ct.KeepOut("tool", dq.Point(P0), 0.2, name="ball"), ct.JointLimits()]
    c = ct.velocity_controller(ARM, [ct.RestTask()], zones)
    with pytest.warns(ct.ControlWarning, match="'ball' is violated at the start by 0.04"):
        c(0.0, Q0)
    beyond = Q0.copy()
    beyond[3] = ARM.limits.lower[3] - 0.25
    c = ct.velocity_controller(ARM, [ct.RestTask()], [ct.JointLimits()])
    with pytest.warns(ct.ControlWarning, match="'joint limits: joint4 lower' is violated at the start by 0.25"):
        c(0.0, beyond)


def test_the_robot_comes_back_from_an_infeasible_start() -> None:
    p = P0 + [0.0, 0.0, 0.05]
    c = ct.acceleration_controller(ARM, [ct.RestTask()], [ct.KeepOut("tool", dq.Point(p), 0.15, gain=2.0)])
    with pytest.warns(ct.ControlWarning):
        q, _ = accelerate(ARM, c, Q0, np.zeros(7), 4.0, 5e-3)
    assert np.linalg.norm(ARM.pose("tool", q).translation - p) > 0.15 - 1e-3


def _runs_away(t: object) -> list[object]:
    return [3.0, 0.0, 1.0 / (1.0 - t)]  # type: ignore[operator]


_FAULTS = (ZeroDivisionError, KeyError, RuntimeError, IndexError, TypeError, OSError, TimeoutError, AttributeError)


def _fails(fault: type[Exception]) -> Callable[[float], list[float]]:
    def position(t: float) -> list[float]:
        if float(t) == 1.0:
            raise fault("camera lost")
        return [3.0, 0.0, 1.0]

    return position


@pytest.mark.parametrize(
    "position", [*map(_fails, _FAULTS), _runs_away], ids=[*(f.__name__ for f in _FAULTS), "traced"]
)
@pytest.mark.parametrize("policy", ["hold", "relax", "raise"])
def test_a_function_that_fails_while_the_loop_runs(policy: str, position: Callable[..., object]) -> None:
    """An obstacle that has no value at the moment is named; the robot stops, unless the loop is to raise."""
    camera, ball = ct.Moving(position, known=False), ct.Measured([2.0, 0.0, 0.0])
    zones = [ct.KeepOut("tool", ball, 0.1, name="ball"), ct.KeepOut("tool", camera, 0.1, name="camera")]
    c = ct.velocity_controller(ARM, [ct.TranslationTask("tool", P0 + 0.05)], zones, infeasible=policy)
    good = c(0.0, Q0)
    if policy == "raise":
        with pytest.raises(
            ct.ControlError,
            match=r"At t = 1 s the point in the workspace of 'camera' has no value: .*(camera lost|zero)",
        ):
            c(1.0, Q0)
        return
    np.testing.assert_array_equal(c(1.0, Q0), 0.0)
    assert c.report.status == "held"
    assert c.report.reason.startswith("the point in the workspace of 'camera'")
    assert c.report.reason.rstrip("'").endswith(("camera lost", "ZeroDivisionError: float division by zero"))
    ball.update([0.0, 1.0])
    np.testing.assert_array_equal(c(2.0, Q0), 0.0)
    assert "of 'ball' has no value: The point in the workspace has 3 components; found [0.0, 1.0]" in c.report.reason
    ball.update(None)  # not seen any more
    np.testing.assert_array_equal(c(2.0, Q0), 0.0)
    assert "of 'ball' has no value: The point in the workspace is not measured" in c.report.reason
    ball.update([2.0, 0.0, 0.0])
    np.testing.assert_allclose(c(2.0, Q0), good, atol=1e-9)
    assert c.report.status == "solved"


def test_a_function_that_fails_at_once() -> None:
    """Refused where it is given, with what it raised."""
    bad = lambda t: {}[1]
    for given in (bad, ct.Moving(bad, known=False), ct.Moving(bad, bad, bad)):
        with pytest.raises(Error, match=r"has no value at t = 0: KeyError: 1\."):
            ct.TranslationTask("tool", given)
        with pytest.raises(Error, match=r"has no value at t = 0: KeyError: 1\."):
            ct.KeepOut("tool", given, 0.1)
    with pytest.raises(Error, match="has no value at t = 0: ZeroDivisionError"):
        ct.TranslationTask("tool", lambda t: [1.0 / t, 0.0, 0.0])
    with pytest.raises(Error, match="is not measured: update it with a position"):
        ct.TranslationTask("tool", ct.Measured(None))


# --- primitives that are none ---------------------------------------------------------------------------------------


def test_planes_are_looked_at_while_the_loop_runs() -> None:
    """A normal that is not of length 1 gives wrong distances: held, with its length."""
    floor = ct.Measured(dq.Plane([0.0, 0.0, 1.0], distance=0.2))
    ceiling = ct.Moving(lambda t: [0.0, 0.0, -1.0 - max(0.0, float(t) - 1.0), -3.0], known=False)
    zones = [ct.KeepAbove("tool", floor, name="floor"), ct.KeepAbove("tool", ceiling, name="ceiling")]
    c = ct.velocity_controller(ARM, [ct.TranslationTask("tool", P0 + 0.05)], zones, infeasible="hold")
    c(0.0, Q0)
    floor.update([0.0, 0.0, 2.0, 0.4])
    np.testing.assert_array_equal(c(0.1, Q0), 0.0)
    assert c.report.reason.startswith("the plane in the workspace of 'floor' has no value")
    assert "has length 2: divide it by that length" in c.report.reason
    floor.update(dq.Plane([0.0, 0.0, 1.0], distance=0.2))
    c(1.0, Q0)
    assert c.report.status == "solved"
    c(2.0, Q0)
    assert c.report.status == "held"
    assert c.report.reason.startswith("the plane in the workspace of 'ceiling' has no value")


def test_functions_of_the_algebra_that_leave_the_unit_length() -> None:
    with pytest.raises(Error, match=r"The normal of the plane in the workspace at t = 0\.1 s has length 1\.1"):
        ct.KeepAbove("tool", lambda t: [0.0, 0.0, 1.0 + t, 0.1])
    ct.KeepAbove("tool", lambda t: [0.0, 0.0, 1.0, sqrt(0.05 - t)])  # NaN later on, which the loop will tell


def test_moments_and_dual_parts() -> None:
    with pytest.raises(
        Error, match=r"moment of .* not at right angles to its direction, their product is 1: give it by"
    ):
        ct.LineTask("tool", [1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    with pytest.raises(Error, match=r"dual part of .* not at right angles to its rotation, .*: give it by dq\.Pose"):
        ct.PoseTask("tool", [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


# --- states that are none -------------------------------------------------------------------------------------------

_MAKERS = pytest.mark.parametrize("make", [ct.velocity_controller, ct.acceleration_controller, ct.torque_controller])
_AS_GIVEN = pytest.mark.parametrize("as_given", [np.array, list])


@_MAKERS
@_AS_GIVEN
def test_states_that_are_not_finite(make: Callable[..., ct.Controller], as_given: Callable[..., object]) -> None:
    """Held, given as an array or as a list; at the first step without any torque, as none of rest is known."""
    c = make(ARM, [ct.RestTask()], [ct.JointLimits()])
    np.testing.assert_array_equal(c(0.0, as_given(Q0 * math.nan), as_given(np.zeros(7))), 0.0)
    assert c.report.status == "held"
    rest = c(0.1, Q0, np.zeros(7))
    assert c.report.status == "solved"
    for q, v, name in ((Q0, np.full(7, math.inf), "v"), (Q0 * math.nan, np.zeros(7), "q")):
        np.testing.assert_allclose(c(0.2, as_given(q), as_given(v)), rest, atol=1e-12)
        assert c.report.reason.startswith(f"{name} of the robot is not finite")


def test_states_that_run_away() -> None:
    """The squares of these numbers are infinite: no warning of NumPy, which would be an error here."""
    c = ct.velocity_controller(ARM, [ct.PostureTask(Q0)])
    c(0.0, np.full(7, 1e200))
    assert c.report.status == "solved"


@_AS_GIVEN
def test_quaternions_of_states(as_given: Callable[..., object]) -> None:
    robot = tree("free base")
    q = robot.neutral()
    c = ct.velocity_controller(robot, [ct.TranslationTask("tool", [0.1, 0.0, 0.0])], infeasible="hold")
    c(0.0, q)
    joint = next(j for j in robot.joints if j.motion.quaternion is not None)
    bad = q.copy()
    bad[joint.q][joint.motion.quaternion] *= 1.5
    np.testing.assert_array_equal(c(0.1, as_given(bad)), 0.0)
    assert c.report.reason == f"the quaternion of joint {joint.name!r} has norm 1.5: divide it by its norm"


@pytest.mark.parametrize("shape", [(1, 7), (5, 7)])
def test_a_controller_takes_one_state(shape: tuple[int, ...]) -> None:
    c = ct.acceleration_controller(ARM, [ct.RestTask()], [ct.JointLimits()])
    for q, v, name in ((np.zeros(shape), np.zeros(7), "q"), (np.zeros(7), np.zeros(shape), "v")):
        with pytest.raises(Error, match=rf"one state of numbers at a time: {name} of .* has shape \(7,\); found \("):
            c(0.0, q, v)
    with pytest.raises(Error, match="one state of numbers at a time"):
        dq.simulate(ARM, c, duration=0.01, dt=1e-3, q0=np.zeros(shape))


@_MAKERS
def test_commands_belong_to_the_caller(make: Callable[..., ct.Controller]) -> None:
    """What is done to them changes nothing that the controller keeps."""
    c = make(ARM, [ct.TranslationTask("tool", P0 + 0.1)], infeasible="hold")
    moving = np.full(7, 0.1)
    command, twin = c(0.0, Q0, moving), make(ARM, [ct.TranslationTask("tool", P0 + 0.1)], infeasible="hold")
    twin(0.0, Q0, moving)
    last = c._last.copy()
    command *= 0.0
    np.testing.assert_array_equal(c._last, last)
    for t in (0.1, 0.2):
        held, expected = (loop(t, Q0 * math.nan, moving * math.nan) for loop in (c, twin))
        np.testing.assert_array_equal(held, expected)
        held *= 7.0


# --- solvers that fail ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["hold", "relax", "raise"])
def test_a_solver_that_fails_is_no_conflict(policy: str) -> None:
    """Reported as what it is, since leaving constraints out would not help."""
    c = ct.velocity_controller(ARM, [ct.TranslationTask("tool", P0 + 0.05)], [ct.JointLimits()], infeasible=policy)
    c(0.0, Q0)
    c.optimum = lambda views: None
    if policy == "raise":
        with pytest.raises(ct.ControlError, match="solver found no command, though no constraints are in") as caught:
            c(0.1, Q0)
        assert not isinstance(caught.value, ct.InfeasibleError)
        return
    np.testing.assert_array_equal(c(0.1, Q0), 0.0)
    assert c.report.status == "failed"
    assert c.report.conflict == ()
    assert "though no constraints are in conflict" in c.report.reason
