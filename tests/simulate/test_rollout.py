"""Native loops against the interpreter, in every layout: one state, ragged batches, inputs per step, threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dqdyn.algebra.scalar import cos, sin
from dqdyn.compile.codegen.rollout import Rollout
from dqdyn.compile.runtime.rollout_runner import Runner
from dqdyn.compile.trace.tracer import trace


def spring(state: Any, u: Any, c: Any, time: Any) -> tuple[list[Any], tuple[int, ...]]:
    """A nonlinear step of three components; the parameter scales it."""
    x, y, z = state
    t, dt = time
    return [x + y * dt * c[0], y - sin(x) * dt + u[0] * dt, z + cos(t) * dt + u[1]], (3,)


def swap(state: Any, u: Any, c: Any, time: Any) -> tuple[list[Any], tuple[int, ...]]:
    x, y, z = state
    return [x, y * c[0], z], (3,)


INPUTS = [("state", 3), ("input", 2), ("parameters", 1), ("time", 2)]
PROGRAMS = [trace(f.__name__, INPUTS, f) for f in (spring, swap)]
SCHEDULES = {"one": [(0, (1.0,))], "two": [(0, (1.0,)), (1, (0.5,))], "three": [(0, (1.0,)), (1, (2.0,)), (0, (0.5,))]}


def pair(schedule: str, kept: int = 3) -> tuple[Rollout, Rollout]:
    return tuple(Rollout(PROGRAMS, SCHEDULES[schedule], kept, native=native) for native in (True, False))  # type: ignore[return-value]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 33])
@pytest.mark.parametrize("per_step", [False, True])
def test_native_is_the_interpreter(schedule: str, count: int, per_step: bool) -> None:
    rng = np.random.default_rng(count)
    states = rng.normal(size=(count, 3))
    inputs = rng.normal(size=(12 if per_step else 1, count, 2))
    found = []
    for rollout in pair(schedule):
        runner = Runner(rollout, states, 0.5, 0.01, every=3, batch=count > 1)
        first = runner.run(inputs[:6] if per_step else inputs, 6)
        second = runner.run(inputs[6:] if per_step else inputs, 6, threads=2)
        assert first.shape == second.shape == (2, count, 3)
        found.append((first, second, runner.states))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(found[0][1][-1], found[0][2])


def test_single_steps_are_the_loop() -> None:
    for rollout in pair("three"):
        looped = Runner(rollout, np.ones((1, 3)), 0.0, 0.1, batch=False)
        stepped = Runner(rollout, np.ones((1, 3)), 0.0, 0.1, batch=False)
        inputs = np.random.default_rng(1).normal(size=(5, 1, 2))
        rows = looped.run(inputs, 5)
        for k in range(5):
            np.testing.assert_array_equal(stepped.step(inputs[k]), rows[k])


def test_states_of_a_batch_are_those_of_single_runs() -> None:
    rollout = pair("two")[0]
    rng = np.random.default_rng(2)
    states, inputs = rng.normal(size=(11, 3)), rng.normal(size=(20, 11, 2))
    batch = Runner(rollout, states, 0.0, 0.05).run(inputs, 20)
    for i in range(11):
        one = Runner(rollout, states[i : i + 1], 0.0, 0.05, batch=False).run(inputs[:, i : i + 1], 20)
        np.testing.assert_allclose(batch[:, i], one[:, 0], rtol=1e-14, atol=1e-15)


def test_only_the_kept_components_are_recorded() -> None:
    rollout = pair("one", kept=2)[0]
    runner = Runner(rollout, np.ones((3, 3)), 0.0, 0.1)
    rows = runner.run(np.zeros((1, 1, 2)), 4)
    assert rows.shape == (4, 3, 2)
    np.testing.assert_array_equal(rows[-1], runner.states[:, :2])


def test_one_bad_lane_leaves_the_others() -> None:
    rollout = pair("one")[0]
    states = np.ones((9, 3))
    states[4, 0] = np.nan
    states[6, 0] = 1e200  # too large for the compiled sine, which says so
    runner = Runner(rollout, states, 0.0, 0.1)
    runner.run(np.zeros((1, 1, 2)), 3)
    good = [i for i in range(9) if i not in (4, 6)]
    assert np.isnan(runner.states[4, 0])
    assert np.isfinite(runner.states[good]).all()
    assert (runner.states[good] == runner.states[0]).all()
    assert runner.flags


def test_without_llvm_the_interpreter_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from dqdyn.compile.codegen import rollout as module

    warned = []
    monkeypatch.setattr(module, "warn_once", warned.append)
    monkeypatch.setattr(Rollout, "_compiled", lambda self, width: (_ for _ in ()).throw(OSError("no LLVM")))
    broken = Rollout(PROGRAMS, SCHEDULES["one"], 3, native=True)
    rows = Runner(broken, np.ones((2, 3)), 0.0, 0.1).run(np.zeros((1, 1, 2)), 3)
    expected = Runner(pair("one")[1], np.ones((2, 3)), 0.0, 0.1).run(np.zeros((1, 1, 2)), 3)
    np.testing.assert_array_equal(rows, expected)
    assert "no LLVM" in warned[0]


def test_the_same_step_is_compiled_once() -> None:
    import dqdyn as dq
    from dqdyn.simulate.integrators import RKMK4, SemiImplicitEuler, Variational
    from dqdyn.simulate.system import System

    robot = dq.robots.two_link()

    def law(t: Any, q: Any, v: Any) -> list[Any]:
        return [0.0, 0.0]

    first = RKMK4().rollout(System(robot))
    assert RKMK4().rollout(System(dq.robots.two_link())) is first
    others = [
        SemiImplicitEuler().rollout(System(robot)),
        RKMK4().rollout(System(robot, ("tool",))),
        RKMK4().rollout(System(robot, law=law)),
        RKMK4().rollout(System(robot.with_gravity([0.0, 0.0, -1.0]))),
        Variational(3).rollout(System(robot)),
        Variational(4).rollout(System(robot)),
    ]
    assert len({id(rollout) for rollout in (first, *others)}) == 7
