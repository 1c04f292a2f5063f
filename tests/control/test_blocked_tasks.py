"""What holds a task back, by velocity, acceleration and torque; and joints that come to rest where it is blocked."""

from __future__ import annotations

import numpy as np
import pytest
from control_tools import accelerate

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.answers import DAMPING, HIGHER, OTHER_TASKS

Q = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
REST = np.zeros(7)
SWING = 0.5 * np.array([1.0, -1.0, 0.5, 0.3, -0.5, 0.2, 0.1])
MAKERS = {
    "velocity": ct.velocity_controller,
    "acceleration": ct.acceleration_controller,
    "torque": ct.torque_controller,
}


def arm7() -> dq.Robot:
    return dq.robots.arm7()


def hand() -> np.ndarray:
    return np.asarray(arm7().pose("tool", Q).translation)


def floor(gain: float = 3.0) -> ct.KeepAbove:
    return ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=hand()[2] - 1e-4), gain=gain, name="floor")


def down(**options: object) -> ct.Task:
    return ct.TranslationTask("tool", hand() - [0.0, 0.0, 0.3], **options)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:The target of")
@pytest.mark.parametrize("level", MAKERS)
def test_the_floor_blocks_a_task_at_every_level(level: str) -> None:
    controller = MAKERS[level](arm7(), [down()], [floor(), ct.VelocityLimits(100.0)])
    controller(0.0, Q, REST)
    (blocked,) = controller.blocked
    assert next(iter(blocked.shares)) == "floor"
    assert blocked.shares["floor"] > 0.99
    assert blocked.missing == pytest.approx(blocked.wanted, rel=1e-2)
    assert controller.stall.startswith("'translation of tool' misses ")
    assert "'floor' (100 %)" in controller.stall
    (bound,) = [one for one in controller.active if one.name == "floor"]
    per = "s" if level == "velocity" else "s²"
    assert bound.unit == f"unit of its h per {per}"
    assert bound.level == 1


@pytest.mark.parametrize("level", MAKERS)
@pytest.mark.parametrize("solver", ["daqp", "piqp"])
def test_multipliers_are_slopes_of_the_cost(level: str, solver: str) -> None:
    """The multiplier of a limit, against what the optimal cost ½‖J u + r‖² + ½λ²‖u‖² falls by as it widens."""
    eps, limit = 1e-5, 0.05 if level == "velocity" else 0.2

    def cost(size: float) -> tuple[float, ct.Controller]:
        limits = ct.VelocityLimits(size) if level == "velocity" else ct.AccelerationLimits(size)
        controller = MAKERS[level](arm7(), [down()], [limits], solver=solver)  # type: ignore[arg-type]
        controller(0.0, Q, REST)
        views, u = controller.composition.views, controller.unknowns
        residual = views["J0"] @ u + views["task_constants"]
        return float(0.5 * residual @ residual + 0.5e-6 * u @ u), controller

    (wide, _), (narrow, _), (_, at) = cost(limit + eps), cost(limit - eps), cost(limit)
    assert sum(one.multiplier for one in at.active) == pytest.approx((narrow - wide) / (2.0 * eps), rel=1e-3)
    assert {one.unit for one in at.active} == {"rad/s" if level == "velocity" else "rad/s²"}


@pytest.mark.parametrize("level", MAKERS)
def test_a_task_that_is_met_is_not_blocked(level: str) -> None:
    controller = MAKERS[level](arm7(), [down()], [ct.VelocityLimits(100.0)])
    controller(0.0, Q, REST)
    assert controller.blocked == ()
    assert controller.stall == ""


@pytest.mark.parametrize("level", MAKERS)
def test_before_the_first_step_nothing_is_known(level: str) -> None:
    controller = MAKERS[level](arm7(), [down()])
    assert controller.stall == ""
    assert controller.active == ()


@pytest.mark.parametrize("level", MAKERS)
def test_a_stretched_arm_is_held_back_by_itself(level: str) -> None:
    """Straight up, a target above: the Jacobian has no motion along the arm."""
    robot, q = arm7(), np.zeros(7)
    above = np.asarray(robot.pose("tool", q).translation) + [0.0, 0.0, 1.0]
    controller = MAKERS[level](robot, [ct.TranslationTask("tool", above)])
    controller(0.0, q, REST)
    assert "a singularity, or a target out of reach" in controller.stall


@pytest.mark.parametrize("level", MAKERS)
def test_tasks_that_contradict_each_other_hold_each_other_back(level: str) -> None:
    up = ct.TranslationTask("tool", hand() + [0.0, 0.0, 0.3], name="up")
    controller = MAKERS[level](arm7(), [down(), up])
    controller(0.0, Q, REST)
    assert {one.task for one in controller.blocked} == {"translation of tool", "up"}
    assert all(next(iter(one.shares)) == OTHER_TASKS for one in controller.blocked)


@pytest.mark.parametrize("level", MAKERS)
def test_a_lower_task_is_held_back_by_those_above(level: str) -> None:
    up = ct.TranslationTask("tool", hand() + [0.0, 0.0, 0.3], name="up")
    controller = MAKERS[level](arm7(), [[down()], [up]])
    controller(0.0, Q, REST)
    (lower,) = [one for one in controller.blocked if one.level == 2]
    assert lower.task == "up"
    assert next(iter(lower.shares)) == HIGHER
    assert lower.shares[HIGHER] > 0.99
    assert "'up'" not in controller.stall


def test_damping_is_named_where_it_holds_a_task_back() -> None:
    controller = ct.velocity_controller(arm7(), [down()], damping=1.0)
    controller(0.0, Q)
    assert next(iter(controller.blocked[0].shares)) == DAMPING


def rest_of(
    goal: np.ndarray, constraints: list[object], seconds: float = 12.0, k: float = 4.0
) -> tuple[np.ndarray, ct.Controller]:
    """v after a run that starts with a swing."""
    stop = [ct.StoppingBounds(k=k), *constraints]
    controller = ct.acceleration_controller(arm7(), [ct.TranslationTask("tool", goal, gain=2.0)], stop)  # type: ignore[list-item]
    _, v = accelerate(arm7(), controller, Q, SWING, seconds, 0.01)
    return v, controller


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The target of", "ignore:Lemma")
def test_joints_come_to_rest_where_a_task_is_blocked() -> None:
    """At the point of the floor next to the target, which is where the task gets without the bounds too."""
    table = dq.Plane([0.0, 0.0, 1.0], distance=hand()[2] - 0.18)
    goal = hand() + [0.1, 0.1, -0.4]
    v, controller = rest_of(goal, [ct.KeepAbove("tool", table, gain=3.0, name="table")])
    assert np.abs(v).max() < 1e-8
    np.testing.assert_allclose(controller.errors["translation of tool"], [0.0, 0.0, 0.22], atol=1e-4)
    assert "'table' (100 %)" in controller.stall
    assert "stopping" not in controller.stall


@pytest.mark.long
@pytest.mark.parametrize("k", [4.0, 2.0, 1.0])
def test_joints_come_to_rest_at_a_target_out_of_reach(k: float) -> None:
    """The arm is stretched out, next to a singularity, where accelerations without bound would work off any error."""
    v, controller = rest_of(np.array([3.0, 0.0, 1.0]), [], 30.0, k)
    assert np.abs(v).max() < 1e-5
    assert "stopping" not in controller.stall


@pytest.mark.long
def test_a_free_task_is_met_from_rest() -> None:
    """Where nothing blocks the task the bounds are the printed ones, and the robot starts and arrives."""
    goal = hand() + [0.1, 0.1, 0.0]
    v, controller = rest_of(goal, [])
    assert np.abs(v).max() < 1e-8
    assert np.abs(controller.errors["translation of tool"]).max() < 1e-8


def test_bounds_are_as_printed_where_nothing_blocks_the_task() -> None:
    """k(g − v) with g = ‖ẋ̃‖ + c‖x̃‖ and σ = 1, to λ²."""
    k, c, task = 4.0, 0.7, down()
    controller = ct.acceleration_controller(arm7(), [task], [ct.StoppingBounds(k, reach=c)])
    v = 0.3 * SWING
    controller(0.0, Q, v)
    rows = ct.linearise(arm7(), task)(0.0, Q, v)
    g = np.linalg.norm(rows.jacobian @ v) + c * np.linalg.norm(rows.value)
    np.testing.assert_allclose(controller.composition.views["upper"], k * (g - v), rtol=1e-3)
    np.testing.assert_allclose(controller.composition.views["lower"], -k * (g + v), rtol=1e-3)


def test_a_loop_that_diverges_is_stopped_and_told() -> None:
    """A target out of reach without limits: joints ran up to 1e267 rad/s near the singularity."""
    robot, hold = arm7(), arm7().pose("tool", Q)
    far = ct.PoseTask("tool", dq.Pose(rotation=hold.rotation, translation=[0.0, 0.0, 3.0]), gain=2.0)
    controller, told, fastest = ct.acceleration_controller(robot, [far]), "", 0.0
    q, v = Q, REST
    for k in range(600):
        v = v + 0.005 * controller(0.005 * k, q, v)
        q = robot.integrate(q, v, 0.005)
        fastest, told = max(fastest, float(np.abs(v).max())), told or controller.report.reason
    assert fastest < 1e5
    assert "rad in a step of 0.005 s, and the loop diverges: add VelocityLimits" in told
    limited = ct.acceleration_controller(robot, [far], [ct.VelocityLimits(2.0)])
    _, v = accelerate(robot, limited, Q, REST, 2.0, 0.005)
    assert np.abs(v).max() < 2.0 + 1e-6
    assert limited.report.status == "solved"


def test_a_loop_that_diverges_raises_if_asked_to() -> None:
    controller = ct.acceleration_controller(arm7(), [down()], infeasible="raise")
    controller(0.0, Q, REST)
    with pytest.raises(ct.ControlError, match=r"turns at 700 rad/s, 3\.5 rad in a step of 0\.005 s"):
        controller(0.005, Q, np.array([700.0, *REST[1:]]))
