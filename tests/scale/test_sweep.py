"""Sweeps of simulations: every run reproducible from its seed, failures kept and named, results stored and resumed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.scale import Failure, Sweep, batched, each_run, suggested_chunks
from dqdyn.scale.axes import generator
from dqdyn.scale.journal import Journal

ROBOT = dq.robots.two_link()
SHORT: dict[str, Any] = {"duration": 0.02, "dt": 2e-3, "workers": 0}


def swept(controllers: Any = None, **options: Any) -> Sweep:
    return dq.sweep(ROBOT, controllers, **{**SHORT, **options})


def test_runs_are_those_of_simulate() -> None:
    q = np.array([[0.1, 0.2], [0.3, -0.4], [1.0, 0.0]])
    heavy = ROBOT.with_gravity([0.0, 0.0, -20.0])
    tau = np.array([0.5, -0.2])
    found = swept({"free": None, "pushed": tau}, states=q, parameters={"plain": ROBOT, "heavy": heavy}, seeds=2)
    assert (found.runs, found.failed) == (24, 0)
    assert found.measures["q"].shape == (2, 2, 3, 2, 2)
    assert found.measures["energy"].shape == (2, 2, 3, 2)
    for p, robot in enumerate((ROBOT, heavy)):
        for c, control in enumerate((None, tau)):
            for s in range(3):
                alone = dq.simulate(robot, control, 0.02, 2e-3, q0=q[s])
                np.testing.assert_allclose(found.measures["q"][p, c, s, 0], alone.q[-1], rtol=1e-12, atol=1e-14)
                np.testing.assert_allclose(found.measures["energy"][p, c, s, 1], alone.energy[-1], rtol=1e-12)


def test_a_run_follows_from_its_seed_alone() -> None:
    few, many = swept(states="random", seeds=3), swept(states="random", seeds=11, batch=4)
    np.testing.assert_array_equal(few.measures["q"][0, 0, 0], many.measures["q"][0, 0, 0, :3])
    np.testing.assert_array_equal(many.run(seed=7).q[-1], many.measures["q"][0, 0, 0, 7])
    other = swept(states="random", seeds=3, seed=1)
    assert not np.array_equal(few.measures["q"], other.measures["q"])
    spawned = np.random.SeedSequence(4).spawn(9)[6].spawn(3)[1]
    assert generator(4, 6, "parameters").random() == np.random.default_rng(spawned).random()


def test_controllers_and_parameters_meet_the_same_draws() -> None:
    drawn: dict[str, list[float]] = {"a": [], "b": []}

    def make(name: str) -> Any:
        def draw(robot: dq.Robot, q0: np.ndarray, v0: np.ndarray, rng: np.random.Generator) -> Any:
            drawn[name].append(rng.random())
            return lambda t, q, v: [0.0, 0.0] if q.shape == (2,) else None

        return each_run(draw)

    found = swept({"a": make("a"), "b": make("b")}, states="random", seeds=4)
    assert found.failed == 0
    assert drawn["a"] == drawn["b"]
    assert len(set(drawn["a"])) == 4
    np.testing.assert_array_equal(found.measures["q"][0, 0], found.measures["q"][0, 1])


def test_parameters_may_be_drawn() -> None:
    frame = list(ROBOT.frames)[-1]

    def payload(robot: dq.Robot, rng: np.random.Generator) -> dq.Robot:
        return robot.with_payload(frame, rng.uniform(0.5, 2.0))

    found = swept(parameters={"drawn": payload}, states=np.array([0.3, 0.2]), seeds=3)
    assert found.failed == 0
    assert len(np.unique(found.measures["q"][0, 0, 0, :, 0])) == 3
    np.testing.assert_array_equal(found.run("drawn", seed=2).q[-1], found.measures["q"][0, 0, 0, 2])


def test_runs_that_fail_are_kept_counted_and_named_by_seed() -> None:
    def state(rng: np.random.Generator) -> Any:
        q = rng.normal(size=2)
        return np.where(q > 1.0, np.nan, q), np.zeros(2)

    found = swept({"free": None}, states=state, seeds=20)
    bad = [n for n in range(20) if (generator(0, n, "states").normal(size=2) > 1.0).any()]
    assert 0 < len(bad) < 20
    assert [failure.seed for failure in found.failures] == bad
    assert found.failed == len(bad) == found.failed_by("controllers")["free"]
    assert np.isnan(found.measures["energy"][0, 0, 0, bad]).all()
    assert np.isfinite(np.delete(found.measures["energy"], bad, axis=3)).all()
    assert np.isfinite(found.mean("energy")).all()
    assert "StateError: q[" in found.failures[0].status
    assert str(found.failures[0]).startswith(f"seed {bad[0]} (parameters 'as given', controller 'free', state 0): ")


def test_controllers_that_fail_and_steps_that_are_too_large() -> None:
    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if q[0] > 0.5:
            raise RuntimeError("too far")
        return np.zeros_like(v)

    def of_many(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if (q[:, 0] > 0.5).any():
            raise RuntimeError("too far")
        return np.zeros_like(v)

    q = np.array([[0.1, 0.0], [0.2, 0.0], [0.7, 0.0], [0.3, 0.1], [0.0, 0.0]])
    found = swept({"one": control, "many": batched(of_many)}, states=q)
    assert found.failures == tuple(Failure("as given", name, 2, 0, "RuntimeError: too far") for name in ("one", "many"))
    np.testing.assert_array_equal(found.measures["q"][0, 0], found.measures["q"][0, 1])
    fast = swept(states=(np.array([[0.1, 0.0], [0.7, 0.0]]), np.array([[0.0, 0.0], [9e7, 0.0]])), duration=0.1, dt=0.05)
    assert [failure.state for failure in fast.failures] == [1]
    assert fast.failures[0].status.startswith(("diverged", "doubtful"))


def test_controllers_see_one_run_unless_they_ask_for_more() -> None:
    """As many runs as joints, or as steps: shapes alone could not tell a batch from one run."""
    q = np.array([[0.1, 0.2], [-0.4, 0.3]])
    found = swept({"pd": lambda t, q, v: [-5.0 * q[0] - v[0], -2.0 * q[1]]}, states=q)
    for s in range(2):
        alone = dq.simulate(ROBOT, lambda t, q, v: [-5.0 * q[0] - v[0], -2.0 * q[1]], 0.02, 2e-3, q0=q[s])
        np.testing.assert_allclose(found.measures["q"][0, 0, s, 0], alone.q[-1], rtol=1e-12, atol=1e-14)
    tau = np.random.default_rng(0).normal(size=(10, 2))
    states = np.random.default_rng(1).normal(size=(10, 2))
    found = swept({"given": tau}, states=states)
    for s in range(10):
        alone = dq.simulate(ROBOT, tau, 0.02, 2e-3, q0=states[s])
        np.testing.assert_allclose(found.measures["q"][0, 0, s, 0], alone.q[-1], rtol=1e-12, atol=1e-14)
    with pytest.raises(dq.Error, match="batched takes a function"):
        batched(3)


def test_reductions() -> None:
    found = swept(
        states="random", seeds=50, measures={"x": lambda run: run.q[-1, :, 0], "ones": lambda run: run.v[-1] * 0 + 1}
    )
    x = found.measures["x"]
    assert x.shape == (1, 1, 1, 50)
    np.testing.assert_allclose(found.mean("x"), x.mean(axis=(2, 3)))
    np.testing.assert_allclose(found.deviation("x"), x.std(axis=(2, 3)))
    np.testing.assert_allclose(found.quantiles("x", [0.25]), np.quantile(x, [0.25], axis=(2, 3)))
    assert found.quantiles("ones", over="seeds").shape == (3, 1, 1, 1, 2)
    assert "1 parameters × 1 controllers × 1 states × 50 seeds = 50 runs, 0 failed" in repr(found)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seeds": 0}, "seeds is how many there are"),
        ({"seed": -1}, "seed is a whole number"),
        ({"states": "all"}, '"random" or a function'),
        ({"states": [[0.1, 0.2, 0.3]]}, "has 2 components"),
        ({"states": [[0.1, np.nan]]}, "is nan at row 0"),
        ({"states": (np.zeros((3, 2)), np.zeros((2, 2)))}, "equally many rows"),
        ({"parameters": {}}, "parameters is empty"),
        ({"parameters": {"x": 3}}, "parameters are robots or functions"),
        ({"parameters": {"x": lambda robot: 3}}, "parameters 'x' give a robot"),
        ({"parameters": {"x": dq.robots.arm7()}}, "keep the joints"),
        (
            {"parameters": {"light": lambda r: r.with_payload(list(r.frames)[-1], -1.0)}},
            "parameters 'light': .*negative mass",
        ),
        ({"measures": {"x": 3}}, "the measure 'x' is a function"),
        ({"measures": {"x": lambda run: run.time}}, "the measure 'x' gives one row for each of 3 runs"),
        ({"trajectories": True}, "whole trajectories go to an output"),
        ({"dt": 1.0}, "longer than the duration"),
        ({"every": 0}, "every is how many steps"),
        ({"batch": 0}, "batch is how many runs"),
        ({"integrator": "rk5"}, "no integrator named 'rk5'"),
        ({"nothing": 1}, "no option 'nothing'"),
        ({"controllers": {}}, "controllers is empty"),
    ],
)
def test_what_cannot_be_swept_is_one_sentence(options: dict[str, Any], says: str) -> None:
    with pytest.raises(dq.Error, match=says):
        swept(**options)


def test_names_of_results_are_checked() -> None:
    found = swept()
    for call in (
        lambda: found.mean("x"),
        lambda: found.mean("q", over="time"),
        lambda: found.failed_by("x"),
        lambda: found.run("x"),
    ):
        with pytest.raises(dq.UnknownNameError):
            call()
    with pytest.raises(dq.Error, match="kept no trajectories"):
        found.trajectories()
    with pytest.raises(dq.Error, match="each_run takes a function"):
        each_run(3)  # type: ignore[arg-type]


def test_chunks_fit_cache_and_memory() -> None:
    rows = suggested_chunks(ROBOT, "inverse_dynamics", 10**9)
    size = 8 * (3 * 2 + 2)
    assert rows % 1024 == 0
    assert rows * size <= 32 * 2**20
    assert suggested_chunks(ROBOT, "inverse_dynamics", 10**9, memory=1e6) * size * 4 <= 1e6
    assert suggested_chunks(ROBOT, "inverse_dynamics", 1000, workers=4) == 250
    assert suggested_chunks(ROBOT, "mass_matrix", 5) == 5
    for wrong, says in (
        ({"states": 0}, "states is a whole"),
        ({"memory": 10}, "do not fit"),
        ({"memory": -1}, "memory must"),
    ):
        with pytest.raises(dq.Error, match=says):
            suggested_chunks(ROBOT, "inverse_dynamics", **{"states": 10, **wrong})


def test_sweeps_are_stored_and_resumed(tmp_path: Path) -> None:
    pytest.importorskip("zarr", reason="outputs of sweeps need the package zarr, which is missing")
    output = tmp_path / "sweep.zarr"
    given: dict[str, Any] = {"states": "random", "seeds": 10, "batch": 3, "every": 5}
    kept: dict[str, Any] = {**given, "output": output, "trajectories": True}
    found, plain = swept(**kept), swept(**given)
    np.testing.assert_array_equal(found.measures["q"], plain.measures["q"])
    stored = found.trajectories()
    assert stored["q"].shape == (1, 10, 3, 2)
    run = found.run(seed=4)
    np.testing.assert_array_equal(stored["q"][0, 4], run.q)
    np.testing.assert_array_equal(stored["tau"][0, 4], run.tau)
    journal = Journal(output / "journal")
    assert journal.done() == {0, 1, 2, 3}
    times = {part: os.stat(journal._file(part)).st_mtime_ns for part in journal.done()}
    journal.forget(2)
    again = swept(**kept)
    np.testing.assert_array_equal(again.measures["q"], plain.measures["q"])
    assert {part for part in times if os.stat(journal._file(part)).st_mtime_ns != times[part]} == {2}
    with pytest.raises(dq.Error, match="exists: resume it, or choose another output"):
        swept(**kept, resume=False)
    with pytest.raises(dq.Error, match="was begun with another seed "):
        swept(**{**kept, "seed": 3})


@pytest.mark.long
def test_sweeps_run_on_processes_with_the_same_bits() -> None:
    pytest.importorskip("distributed", reason="processes need the package distributed, which is missing")
    given: dict[str, Any] = {"states": "random", "seeds": 10, "batch": 3}
    there = dq.sweep(ROBOT, duration=0.02, dt=2e-3, workers=1, **given)
    np.testing.assert_array_equal(there.measures["q"], swept(**given).measures["q"])
