"""State machines by velocity: every transition of the multi-contact strategy, also those that fail, on a planar arm.

The arm tries to touch a ball with its tip, which a wall stops: in each attempt the wall stands farther away, as balance
does in the thesis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from trees import random_robot

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.compile.runtime import native

g = ct.guards
ARM = dq.robots.two_link()
Q0 = np.array([2.0, -2.4])
WALLS = {"1 try": 0.7, "2 contact and try": 1.0, "3 maximise and try": 1.3, "4 slide and try": 1.6}
NAMES = tuple(WALLS)
DONE, FAILED = "5 done", "6 failed"
HEIGHT = 0.4


def strategy(time_limit: float = 20.0, on_time_limit: bool = False) -> tuple[ct.StateMachine, ct.Measured]:
    """The six states of fig. 4.13 and table 6.3: four attempts, each with more room than the one before."""
    ball = ct.Measured([0.5, 0.0, HEIGHT])
    states = []
    for name, after in zip(NAMES, (*NAMES[1:], FAILED), strict=True):
        touch = ct.TranslationTask("tool", ball, gain=4.0, name="ball")
        wall = ct.KeepAbove("tool", dq.Plane([-1.0, 0.0, 0.0], distance=-WALLS[name]), gain=5.0, name="wall")
        ways = [ct.Transition(DONE, g.reached("ball", 0.04)), ct.Transition(after, g.stalled("ball"))]
        late = after if on_time_limit else ""
        states.append(ct.State(name, touch, wall, (), ways, time_limit=time_limit, on_time_limit=late))
    states += [ct.State(DONE, ends="done"), ct.State(FAILED, ends="failed")]
    return ct.StateMachine(ARM, states, start=NAMES[0], damping=0.05), ball


@pytest.fixture(scope="module")
def made() -> tuple[ct.StateMachine, ct.Measured]:
    return strategy()


def run(machine: ct.StateMachine, duration: float = 12.0) -> dq.Trajectory:
    return dq.simulate(ARM, machine, duration, 0.01, q0=Q0)


def visited(machine: ct.StateMachine) -> list[str]:
    return [event.to for event in machine.log]


@pytest.mark.equation("Quiroz", "fig. 4.13")
@pytest.mark.equation("Quiroz", "table 6.3")
@pytest.mark.parametrize("attempts", [3, 0, 1, 2, 4], ids=["slide", "try", "contact", "maximise", "fail"])
def test_each_attempt_of_the_strategy_succeeds_or_leads_to_the_next(
    made: tuple[ct.StateMachine, ct.Measured], attempts: int
) -> None:
    """The ball lies behind the walls of so many attempts."""
    machine, ball = made
    x = [*WALLS.values(), 1.8][attempts] - 0.1
    ball.update([x, 0.0, HEIGHT])
    found = run(machine)
    if attempts < 4:
        assert visited(machine) == [*NAMES[: attempts + 1], DONE]
        assert machine.ended == "done"
        assert [event.kind for event in machine.log] == ["start", *["failure"] * attempts, "success"]
        tip = ARM.pose("tool", found.q[-1]).translation
        assert np.linalg.norm(tip - [x, 0.0, HEIGHT]) <= 0.04
    else:
        assert visited(machine) == [*NAMES, FAILED]
        assert machine.ended == "failed"
        assert machine.log[-1].guard == "'ball' has stalled"
    tips = ARM.pose("tool", found.q).translation
    for i, name in enumerate(NAMES):
        inside = found.extra["state"] == i
        assert (tips[inside, 0] <= WALLS[name] + 1e-6).all()
    # errors by name, NaN where a final state has none; and the robot is at rest there
    ended = found.extra["state"] > 3.5
    assert np.isnan(found.extra["error: ball"][ended]).all()
    assert np.isfinite(found.extra["error: ball"][~ended]).all()
    assert not found.v[-1].any()


def test_a_stall_is_noticed_within_a_second(made: tuple[ct.StateMachine, ct.Measured]) -> None:
    """Between when the tip last moved by more than 0.5 % of its distance in the window and the transition."""
    machine, ball = made
    ball.update([1.7, 0.0, HEIGHT])
    found = run(machine)
    assert [event.kind for event in machine.log] == ["start", *["failure"] * 4]
    size = np.linalg.norm(found.extra["error: ball"], axis=1)
    for first, second in zip(machine.log, machine.log[1:], strict=False):
        inside = (found.time > first.t) & (found.time <= second.t)
        t, e = found.time[inside], size[inside]
        fell = [
            k
            for k in range(len(e))
            if e[k] <= (1.0 - 0.005) * e[: k + 1].max(initial=0.0, where=t[: k + 1] > t[k] - 0.8)
        ]
        assert second.t - t[fell[-1]] < 1.0
        assert e[-1] > 0.04


def test_every_time_limit_names_its_guards_and_leads_on() -> None:
    machine, ball = strategy(time_limit=0.85, on_time_limit=True)
    ball.update([1.9, 0.0, HEIGHT])
    run(machine, 5.0)
    assert visited(machine) == [*NAMES, FAILED]
    for k, event in enumerate(machine.log[1:], 1):
        assert event.kind == "time limit"
        assert event.pending == ("'ball' is within 0.04", "'ball' has stalled")
        assert event.t == pytest.approx(0.85 * k, abs=1e-9)
        for guard in event.pending:
            assert guard in event.guard
    assert machine.ended == "failed"


def test_the_log_says_which_bounds_held_a_task_back(made: tuple[ct.StateMachine, ct.Measured]) -> None:
    machine, ball = made
    ball.update([0.9, 0.0, HEIGHT])
    run(machine, 6.0)
    assert [event.at_bounds for event in machine.log] == [(), ("wall",), ()]
    assert "'ball' has stalled, at the bounds of 'wall' [errors: ball 0.2" in str(machine.log[1])


def test_the_area_of_a_polygon_that_grows_stalls_at_full_reach() -> None:
    """A triangle of two fixed points and the tip: its area grows with the reach, up to 2 m."""
    area = ct.SupportAreaTask([ct.point("tool"), [0.0, -0.3, 0.0], [0.0, 0.3, 0.0]], gain=-0.5, name="area")
    ways = ct.Transition("end", g.stalled("area"))
    ends = [ct.State("end", ends="done"), ct.State("failed", ends="failed")]
    machine = ct.StateMachine(ARM, [ct.State("grow", area, (), (), ways, 9.0), *ends], start="grow", damping=0.1)
    found = dq.simulate(ARM, machine, 8.0, 0.01, q0=np.array([1.2, -2.0]))
    assert machine.ended == "done"
    reach = ARM.pose("tool", found.q).translation[:, 0]
    assert reach[0] < 1.1
    assert reach[-1] > 1.95
    full = found.time[np.argmax(reach > 0.995 * reach[-1])]
    assert full < machine.log[-1].t < full + 1.0


def test_a_time_limit_leads_to_the_failing_state_unless_told() -> None:
    machine, ball = strategy(time_limit=0.85)
    ball.update([1.9, 0.0, HEIGHT])
    run(machine, 2.0)
    assert visited(machine) == [NAMES[0], FAILED]
    assert "time limit of 0.85 s" in str(machine.log[-1])


def test_nothing_is_compiled_in_the_loop(
    made: tuple[ct.StateMachine, ct.Measured], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_compiler(*_: Any, **__: Any) -> None:
        raise AssertionError("compiled in the loop")

    machine, _ = strategy()  # none of its states has run yet
    made[1].update([1.7, 0.0, HEIGHT])
    run(made[0], 0.02)  # the simulation itself is compiled
    monkeypatch.setattr(native.Library, "__init__", no_compiler)
    found = run(machine)
    assert machine.ended == "done" or machine.ended == "failed"
    assert len(found) > 100


def test_runs_are_repeatable_and_reset_forgets(made: tuple[ct.StateMachine, ct.Measured]) -> None:
    machine, ball = made
    ball.update([1.2, 0.0, HEIGHT])
    first, log = run(machine, 3.0), machine.log
    assert len(log) > 1
    assert run(machine, 3.0) == first
    assert machine.log == log
    machine.reset()
    assert (machine.state, machine.log, machine.ended, machine.elapsed) == (NAMES[0], (), "", 0.0)
    machine(1.0, Q0)
    with pytest.raises(dq.Error, match="reset"):
        machine(0.5, Q0)


def test_states_of_the_same_parts_share_a_program() -> None:
    touch, limit = ct.TranslationTask("tool", [0.5, 0.0, 0.4], name="ball"), ct.VelocityLimits(1.0)
    other = ct.TranslationTask("tool", [0.7, 0.0, 0.4], name="ball")
    machine = ct.StateMachine(
        ARM,
        [
            ct.State("a", [touch], [limit], (), [ct.Transition("b", g.after(0.1))], 1.0),
            ct.State("b", touch, limit, (), [ct.Transition("c", g.after(0.1))], 1.0),
            ct.State("c", other, limit, (), [ct.Transition("d", g.after(0.1))], 1.0),
            ct.State("d", touch, limit, (), [ct.Transition("end", g.after(0.1))], 1.0, options={"damping": 0.1}),
            ct.State("end", ends="done"),
            ct.State("failed", ends="failed"),
        ],
        start="a",
    )
    a, b, c, d = (machine.programs[name] for name in "abcd")
    assert a is b
    assert len({id(p) for p in (a, c, d)}) == 3


def pair(first: dict[str, Any], second: dict[str, Any], **options: Any) -> ct.StateMachine:
    """From one state to another after 0.1 s, then on until the end."""
    return ct.StateMachine(
        ARM,
        [
            ct.State("first", transitions=ct.Transition("second", g.after(0.1)), time_limit=9.0, **first),
            ct.State("second", transitions=ct.Transition("end", g.after(8.0)), time_limit=9.0, **second),
            ct.State("end", ends="done"),
            ct.State("failed", ends="failed"),
        ],
        start="first",
        **options,
    )


def test_limits_of_change_hold_across_a_transition() -> None:
    """From full speed in one direction to a target in the other, the commands change no faster than allowed."""
    limits = [ct.VelocityLimits(2.0), ct.AccelerationLimits(4.0, dt=0.01)]
    there, back = np.array([9.0, 0.0]), np.array([-9.0, 0.0])
    machine = pair(
        {"tasks": ct.PostureTask(there, gain=5.0), "constraints": limits},
        {"tasks": ct.PostureTask(back, gain=5.0), "constraints": limits},
    )
    found = dq.simulate(ARM, machine, 0.5, 0.01, q0=np.zeros(2))
    assert visited(machine) == ["first", "second"]
    assert np.abs(np.diff(found.v, axis=0)).max() <= 4.0 * 0.01 + 1e-9
    assert found.v[:, 0].max() > 0.3
    assert found.v[-1, 0] < -0.3


def test_a_final_state_without_tasks_brakes_within_the_limits() -> None:
    limits = [ct.AccelerationLimits(4.0, dt=0.01)]
    task = ct.PostureTask([9.0, 0.0], gain=5.0)
    ways = ct.Transition("end", g.after(0.2))
    states = [ct.State("go", task, limits, (), ways, 1.0), ct.State("end", ends="done"), ct.State("no", ends="failed")]
    states[0] = ct.State("go", task, limits, (), [ways, ct.Transition("no", g.after(0.5))], 1.0)
    machine = ct.StateMachine(ARM, states, start="go")
    found = dq.simulate(ARM, machine, 0.6, 0.01, q0=np.zeros(2))
    assert np.abs(np.diff(found.v, axis=0)).max() <= 4.0 * 0.01 + 1e-9
    assert found.v.max() > 0.5
    assert not found.v[-1].any()
    assert machine.report.motion == "still"


def test_a_final_state_with_tasks_goes_on() -> None:
    states = [
        ct.State("go", ct.PostureTask([1.0, 0.0]), (), (), ct.Transition("end", g.after(0.1)), 1.0),
        ct.State("end", ct.PostureTask([0.5, 0.5], gain=5.0, name="rest"), ends="done"),
        ct.State("failed", ends="failed"),
    ]
    machine = ct.StateMachine(ARM, states, start="go")
    found = dq.simulate(ARM, machine, 3.0, 0.01, q0=np.zeros(2))
    np.testing.assert_allclose(found.q[-1], [0.5, 0.5], atol=1e-5)
    assert machine.ended == "done"
    assert list(machine.errors) == ["rest"]


@pytest.mark.parametrize("level", ["acceleration", "torque"])
def test_inequalities_stay_active_across_a_transition(level: str) -> None:
    """The tip runs at the wall; at the transition the wall that both states have keeps its gains, without a warning."""
    wall = ct.KeepAbove("tool", dq.Plane([-1.0, 0.0, 0.0], distance=-1.2), gain=4.0, name="wall")
    floor = ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=-0.5), name="floor")
    far = ct.Measured([1.0, 0.0, 0.3])
    machine = pair(
        {"tasks": ct.TranslationTask("tool", far, gain=3.0), "constraints": wall},
        {"tasks": ct.TranslationTask("tool", far, gain=2.0), "constraints": [floor, wall]},
        level=level,
    )
    far.update([1.9, 0.0, 0.3])
    found = dq.simulate(ARM, machine, 2.0, 0.005, q0=Q0, v0=np.array([-0.5, 0.5]))
    assert visited(machine) == ["first", "second"]
    assert (ARM.pose("tool", found.q).translation[:, 0] <= 1.2 + 1e-6).all()
    first, second = (machine.programs[name].controller for name in ("first", "second"))
    before = {a.name: a for a in first.activations}["wall"]
    after = {a.name: a for a in second.activations}
    assert after["wall"] == before
    assert after["floor"].t == pytest.approx(0.105)


def test_a_constraint_that_comes_violated_is_told() -> None:
    wall = ct.KeepAbove("tool", dq.Plane([-1.0, 0.0, 0.0], distance=0.5), name="wall")  # x < −0.5
    task = ct.RestTask()
    machine = pair({"tasks": task}, {"tasks": task, "constraints": wall})
    with pytest.warns(ct.ControlWarning, match=r"'wall' is violated from t = 0.11 s on"):
        run(machine, 0.2)


def test_the_first_guard_in_the_list_wins_and_each_is_asked_once() -> None:
    asked: list[tuple[str, float]] = []

    def asks(name: str) -> Any:
        def guard(moment: ct.Moment) -> bool:
            asked.append((name, moment.t))
            return moment.t > 0.045

        return guard

    states = [
        ct.State("go", ct.PostureTask(Q0), (), (), [ct.Transition("b", asks("b")), ct.Transition("a", asks("a"))], 1.0),
        ct.State("a", ends="done"),
        ct.State("b", ct.PostureTask(Q0), (), (), ct.Transition("a", asks("c")), 1.0),
        ct.State("failed", ends="failed"),
    ]
    machine = ct.StateMachine(ARM, states, start="go")
    asked.clear()
    run(machine, 0.1)
    assert visited(machine) == ["go", "b", "a"]
    steps = [round(t, 3) for _, t in asked]
    assert [name for name, _ in asked] == ["b", "a"] * 6 + [
        "c"
    ]  # the next state's guard is first asked at its own step
    assert steps == sorted(steps)
    assert machine.log[1].t == pytest.approx(0.05)
    assert machine.log[2].t == pytest.approx(0.06)


def test_a_machine_calls_enter_once_and_during_before_each_step() -> None:
    calls: list[tuple[str, float, float, str]] = []
    target = ct.Measured(Q0)

    def note(what: str) -> Any:
        return lambda moment: calls.append((what, moment.t, moment.elapsed, moment.state))

    def moves(moment: ct.Moment) -> None:
        target.update(Q0 + 0.1)
        assert np.isnan(moment.error("goal")).all()  # no step of this state yet

    state = {"tasks": ct.PostureTask(target, gain=5.0, name="goal")}
    other = {"tasks": ct.PostureTask(target, gain=4.0, name="goal"), "enter": moves}
    machine = pair({**state, "enter": note("enter"), "during": note("during")}, other)
    found = run(machine, 3.0)
    assert calls[0] == ("enter", 0.0, 0.0, "first")
    assert [c[0] for c in calls[1:]] == ["during"] * 11
    assert [c[2] for c in calls[1:]] == pytest.approx([0.01 * k for k in range(11)])
    np.testing.assert_allclose(found.q[-1], Q0 + 0.1, atol=1e-5)


def test_guards_combine_and_say_so() -> None:
    def asked(guard: Any, errors: list[float]) -> list[bool]:
        task = ct.PostureTask(np.zeros(2), name="goal")
        machine = ct.StateMachine(
            ARM,
            [
                ct.State("go", task, (), (), [ct.Transition("end", guard)], 100.0),
                ct.State("end", ends="done"),
                ct.State("failed", ends="failed"),
            ],
            start="go",
        )
        answers = []
        for k, size in enumerate(errors):
            machine(0.1 * k, np.array([size, 0.0]))
            answers.append(bool(machine.ended))
            if machine.ended:
                break
        return answers

    near, late = g.reached("goal", 0.5), g.after(0.25)
    both, either = g.all_of(near, late), g.any_of(near, late)
    assert asked(near, [1.0, 0.6, 0.4]) == [False, False, True]
    assert asked(g.reached("goal", 0.5, during=0.2), [0.4, 1.0, 0.4, 0.4, 0.4]) == [False] * 4 + [True]
    assert asked(g.reached("goal", [0.5, 0.1]), [0.6, 0.4]) == [False, True]
    assert asked(both, [0.4, 0.4, 0.4, 0.4]) == [False] * 3 + [True]
    assert asked(both, [1.0, 1.0, 1.0, 1.0, 0.1]) == [False] * 4 + [True]
    assert asked(either, [1.0, 1.0, 1.0, 1.0]) == [False] * 3 + [True]
    assert asked(either, [1.0, 0.1]) == [False, True]
    assert asked(g.is_not(near), [0.1, 1.0]) == [False, True]
    assert asked(g.when(lambda m: m.error_norm("goal") < 0.5, "it is near"), [1.0, 0.1]) == [False, True]
    assert both.words == "'goal' is within 0.5 and after 0.25 s"
    assert g.any_of(both, g.stalled("goal")).words == "('goal' is within 0.5 and after 0.25 s) or 'goal' has stalled"
    assert g.is_not(near).words == "not ('goal' is within 0.5)"
    assert (near.kind, g.stalled("goal").kind, g.is_not(near).kind, late.kind) == ("success", "failure", "failure", "")
    assert g.at_rest(during=0.1).words == "no joint is faster than 0.001 for 0.1 s"


def test_errors_of_a_state_that_cannot_be_evaluated_fire_nothing() -> None:
    machine = pair({"tasks": ct.PostureTask(Q0, name="goal")}, {"tasks": ct.PostureTask(Q0)}, infeasible="hold")
    machine(0.0, Q0)
    assert machine.errors["goal"].tolist() == [0.0, 0.0]
    machine(0.01, [math.nan, 0.0])
    assert np.isnan(machine.errors["goal"]).all()
    assert machine.report.status == "held"


@pytest.mark.parametrize("level", ["velocity", "acceleration", "torque"])
@pytest.mark.parametrize("choice", ["quaternion", "euler-zyx"])
def test_a_machine_of_a_robot_in_coordinates_does_the_same(level: str, choice: str) -> None:
    """A chain with a spherical joint: same states, times and motion as with its own q and v."""
    own = random_robot(32, 3, ("spherical", "revolute"))
    target = own.integrate(own.neutral(), 0.2 * np.ones(own.nv))
    states = [
        ct.State(
            "go",
            ct.PostureTask(target, gain=4.0, name="goal"),
            (),
            (),
            [ct.Transition("on", g.reached("goal", 0.1))],
            3.0,
        ),
        ct.State(
            "on",
            ct.PostureTask(target, gain=8.0, name="goal"),
            (),
            (),
            [ct.Transition("end", g.reached("goal", 0.01))],
            3.0,
        ),
        ct.State("end", ends="done"),
        ct.State("failed", ends="failed"),
    ]
    runs, logs = [], []
    for robot in (own, own.in_coordinates(choice)):
        machine = ct.StateMachine(robot, states, start="go", level=level)
        runs.append(dq.simulate(robot, machine, 1.2, 0.01))
        logs.append([(event.to, event.t) for event in machine.log])
        assert machine.ended == "done"
    assert logs[0] == logs[1]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-8)
    if choice == "quaternion":
        machine.reset()
        machine(0.0, np.full(robot.nq, math.nan), np.zeros(robot.nq))
        assert machine.report.status == "held"
