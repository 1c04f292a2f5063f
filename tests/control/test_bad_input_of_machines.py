"""Faults of state machines are told when they are built, in one sentence that names the state and the remedy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import contacts as touch
from dqdyn import control as ct

g = ct.guards
ARM = dq.robots.two_link()
DONE, FAILED = ct.State("done", ends="done"), ct.State("failed", ends="failed")


def ball(name: str = "ball") -> ct.Task:
    return ct.TranslationTask("tool", [1.0, 0.0, 0.5], name=name)


def state(name: str = "go", to: str = "done", when: Any = None, **options: Any) -> ct.State:
    way = ct.Transition(to, g.after(1.0) if when is None else when)
    return ct.State(**{"name": name, "tasks": ball(), "transitions": way, "time_limit": 2.0, **options})


def machine(*states: Any, start: Any = "go", **options: Any) -> ct.StateMachine:
    return ct.StateMachine(ARM, [*states], start=start, **options)


@pytest.mark.parametrize(
    ("states", "start", "words"),
    [
        ([state(), DONE, FAILED], None, "needs a start: give start=…, one of 'go', 'done', 'failed'"),
        ([state(), DONE, FAILED], "goo", "no state to start in named 'goo': did you mean 'go'"),
        ([state(), DONE, FAILED], "done", "'done' is final: a machine cannot start in it"),
        ([state(to="dne"), DONE, FAILED], "go", "no state in the transitions of 'go' named 'dne': did you mean 'done'"),
        ([state(), state(), DONE, FAILED], "go", "two states are named 'go'"),
        ([state(), state("alone"), DONE, FAILED], "go", "'alone' cannot be reached from 'go': add a transition to it"),
        ([state(), DONE], "go", "goes on its time limit is not clear, the machine has no failing state"),
        (
            [state(), DONE, FAILED, ct.State("no", ends="failed")],
            "go",
            "the machine has 2 failing states: give on_time_limit",
        ),
        ([state(on_time_limit="x"), DONE, FAILED], "go", "no state on the time limit of 'go' named 'x'"),
        ([state("go", "go", on_time_limit="go")], "go", "no final state can be reached from 'go'"),
        ([], "go", "a machine needs states"),
        (["go"], "go", "states of a machine are a list of ct.State; found 'go'"),
        (None, "go", "states of a machine are a list of ct.State; found None"),
    ],
)
def test_graphs_that_lead_nowhere(states: Any, start: Any, words: str) -> None:
    with pytest.raises(dq.Error, match="(?i)" + words.replace("…", ".")):
        ct.StateMachine(ARM, states, start=start)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"time_limit": None}, "'go' has no time limit: give time_limit"),
        ({"time_limit": math.inf}, "time limit of the state 'go'"),
        ({"time_limit": -1.0}, "time limit of the state 'go'"),
        ({"transitions": ()}, "'go' has no exit but its time limit: add a transition"),
        ({"transitions": ["done"]}, "transitions of the state 'go' are a list of ct.Transition; found 'done'"),
        ({"tasks": ()}, r"'go' has no tasks: ct.RestTask\(\)"),
        ({"tasks": 3}, "tasks of the state 'go' are Tasks"),
        ({"ends": "done"}, r"'go' is final \(done\): it has no transitions"),
        ({"ends": "done", "transitions": ()}, r"'go' is final \(done\): it has no time limit"),
        ({"ends": "finished"}, "no end of a state named 'finished'"),
        ({"name": ""}, "name of a state is a text"),
        ({"enter": 3}, "enter of the state 'go' is a function of a Moment"),
        ({"during": "x"}, "during of the state 'go' is a function"),
        ({"ramp": -0.1}, "ramp of the state 'go'"),
        ({"options": {"dampin": 0.1}}, "no option of the state 'go' named 'dampin': did you mean 'damping'"),
        ({"options": 3}, "options of the state 'go' are a dictionary"),
        ({"contacts": "foot"}, "contacts are a list"),
        ({"constraints": "x"}, "constraints are"),
        ({"reaches": 3}, "reaches of the state 'go' are tasks and inequalities"),
    ],
)
def test_states_that_are_incomplete(options: dict[str, Any], words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        machine(state(**options), DONE, FAILED)


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (True, "is always True: give a guard"),
        (False, "is always False: give a guard"),
        (lambda moment: True, "from 'go' to 'done' is always True: it reads nothing of the moment"),
        (lambda moment: False, "from 'go' to 'done' is always False"),
        (lambda moment: 1 + 1 == 2, "is always True"),
        (g.all_of(g.after(1.0), lambda moment: True), "is always True"),
        (g.is_not(lambda moment: False), "is always False"),
        (
            lambda moment: moment.elapsed >= 0.0,
            "is true at 200 random moments: it would end its state",
        ),
        (lambda moment: moment.error_norm("ball") >= 0.0, "is true at 200 random moments"),
        (lambda moment: abs(moment.q[0]) < 1e9, "is true at 200 random moments"),
        (g.after(2.0), "'after 2 s' of the state 'go' comes at its time limit of 2 s or later"),
        (g.stalled("ball", window=3.0), "never noticed in the state 'go': the window of 3 s is not shorter"),
        (g.reached("bal", 0.1), "no task of the state 'go' named 'bal': did you mean 'ball'"),
        (g.stalled("bal"), "no task of the state 'go' named 'bal'"),
        (g.reached("ball", [0.1, 0.1]), "tolerance of 'ball' has one number, or one per component of its error, 3"),
        (g.touching("foot", force=20.0), "no contact of the machine's states named 'foot'"),
        (g.touching(touch.point("foot"), force=20.0), "foot"),
        (3, "is one of ct.guards, or a function of a Moment; found 3"),
        (None, "found None"),
    ],
)
def test_guards_that_are_constant_or_unknown(when: Any, words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        machine(ct.State("go", ball(), (), (), [ct.Transition("done", when)], 2.0), DONE, FAILED)


def test_a_guard_that_seems_never_to_be_true_is_warned_of() -> None:
    with pytest.warns(ct.ControlWarning, match="is true at none of 200 random moments: it may be constant"):
        machine(state(when=lambda moment: moment.q[0] > 1e9), DONE, FAILED)


LIMIT, FLAGS = 0.5, {"landed": False}


@pytest.mark.parametrize(
    "when",
    [
        lambda moment: moment.elapsed > LIMIT,
        lambda moment: moment.t > 1.0 and moment.v[0] < 0.1,
        lambda moment: np.linalg.norm(moment.errors["ball"]) < LIMIT,
        lambda moment: moment.error("ball")[2] > 0.0,
        lambda moment: FLAGS["landed"],  # what it refers to may change
        lambda moment: moment.observed is not None and moment.observed.normal_force("tool") > 20.0,
        lambda moment: moment.controller.report.status == "held",  # there is no controller yet
        lambda moment: moment.errors["ball"][1] < moment.q[7],  # cannot be asked
    ],
)
@pytest.mark.filterwarnings("error")
def test_guards_that_vary_pass(when: Any) -> None:
    machine(state(when=when), DONE, FAILED)


def test_functions_with_a_memory_are_not_called_when_building() -> None:
    class Counter:
        calls = 0

        def __call__(self, moment: ct.Moment) -> bool:
            self.calls += 1
            return self.calls > 3

    counter = Counter()
    kept: list[float] = []
    machine(
        ct.State(
            "go",
            ball(),
            transitions=[
                ct.Transition("done", counter),
                ct.Transition("done", lambda moment: kept.append(moment.t) or len(kept) > 2),  # type: ignore[func-returns-value]
            ],
            time_limit=2.0,
        ),
        DONE,
        FAILED,
    )
    assert counter.calls == 0
    assert kept == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": "speed"}, "no level of state machines named 'speed'"),
        ({"level": None}, "no level of state machines named None"),
        ({"stall": 0.5}, "stall of a machine is a ct.Stall; found 0.5"),
        ({"progress": "yes"}, "progress is True, False or None"),
        ({"dampin": 0.1}, "no option of controllers by velocity named 'dampin': did you mean 'damping'"),
        ({"damping": -1.0}, "damping"),
        ({"contacts": []}, "no option of controllers by velocity named 'contacts'"),
    ],
)
def test_bad_options_of_the_machine(options: dict[str, Any], words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        machine(state(), DONE, FAILED, **options)


@pytest.mark.parametrize("robot", [None, "arm", 3.0])
def test_machines_are_of_robots(robot: Any) -> None:
    with pytest.raises(dq.Error, match="made for a Robot"):
        ct.StateMachine(robot, [state(), DONE, FAILED], start="go")


@pytest.fixture(scope="module")
def made() -> ct.StateMachine:
    return machine(state(), DONE, FAILED)


@pytest.mark.parametrize("t", [math.nan, math.inf, -math.inf])
def test_a_time_that_is_no_number_leaves_the_machine_where_it_is(made: ct.StateMachine, t: float) -> None:
    made.reset()
    made(0.0, np.zeros(2))
    made(t, np.zeros(2))
    assert made.report.status == "held"
    assert (made.state, len(made.log)) == ("go", 1)
    made(0.1, np.zeros(2))
    assert made.report.status == "solved"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("x", [0.0, 0.0]), "time t of a state machine"),
        ((0.0, [0.0]), "q"),
        ((0.0, None), "q"),
        ((0.0, [0.0, 0.0], [1.0]), "v"),
    ],
)
def test_bad_states_of_the_robot(made: ct.StateMachine, arguments: Any, words: str) -> None:
    made.reset()
    with pytest.raises(dq.Error, match=words):
        made(*arguments)


def test_only_measurements_are_observed(made: ct.StateMachine) -> None:
    made.observe(None)
    with pytest.raises(dq.Error, match=r"what has normal_force\(frame\)"):
        made.observe(3.0)  # type: ignore[arg-type]


def test_unknown_tasks_of_a_moment_are_told(made: ct.StateMachine) -> None:
    made.reset()
    with pytest.raises(dq.Error, match="no task of this state named 'bal'"):
        made.error("bal")


def test_a_level_by_torque_needs_v() -> None:
    by_torque = machine(state(), DONE, FAILED, level="torque")
    with pytest.raises(dq.Error, match="needs v"):
        by_torque(0.0, np.zeros(2))


@pytest.mark.parametrize("where", ["guard", "enter", "during"])
def test_what_functions_of_the_user_raise_says_where(where: str) -> None:
    def fails(moment: ct.Moment) -> bool:
        raise ZeroDivisionError("of the user")

    options: dict[str, Any] = {} if where == "guard" else {where: fails}
    made = machine(state(when=fails if where == "guard" else None, **options), DONE, FAILED)
    with pytest.raises(ZeroDivisionError) as raised:
        made(0.0, np.zeros(2))
    expected = f"raised by {where!r} of the state 'go' at t = 0 s"
    if where == "guard":
        expected = "raised by the guard of the transition from 'go' to 'done'"
    assert raised.value.__notes__[0] == expected
