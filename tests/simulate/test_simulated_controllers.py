"""Controllers: every way to give one, what is asked when, and what happens to bad ones and to Ctrl-C."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.cli import app
from dqdyn.progress import Progress
from dqdyn.simulate import ControlLaw, Interrupted, SimulationError, SimulationWarning

Q0 = [0.3, 0.2]
FIXED = ["semi-implicit-euler", "rkmk4", "variational"]


def brake(t: Any, q: Any, v: Any) -> list[Any]:
    return [-0.8 * v[0] + 0.1 * t, -0.5 * v[1]]


class Object:
    """A controller with a step and records."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        self.times.append(t)
        return np.array(brake(t, q, v))

    def record(self) -> dict[str, Any]:
        return {"calls": len(self.times), "pair": [self.times[-1], 1.0]}


@pytest.mark.parametrize("integrator", [*FIXED, "adaptive"])
def test_a_function_and_an_object_are_asked_once_per_step(integrator: str) -> None:
    robot, thing = dq.robots.two_link(), Object()
    run = dq.simulate(robot, thing, 0.05, 1e-3, q0=Q0, integrator=integrator)
    np.testing.assert_allclose(thing.times, run.time, atol=1e-12)
    np.testing.assert_allclose(run.tau, [brake(t, q, v) for t, q, v in zip(run.time, run.q, run.v, strict=True)])
    np.testing.assert_array_equal(run.extra["calls"], np.arange(1, 52))
    assert run.extra["pair"].shape == (51, 2)
    same = dq.simulate(robot, lambda t, q, v: brake(t, q, v), 0.05, 1e-3, q0=Q0, integrator=integrator)
    np.testing.assert_array_equal(same.q, run.q)


@pytest.mark.parametrize("integrator", [*FIXED, "adaptive"])
def test_torques_that_were_asked_for_are_those_that_can_be_given(integrator: str) -> None:
    robot = dq.robots.two_link()
    asked = dq.simulate(robot, brake, 0.05, 1e-3, q0=Q0, integrator=integrator)
    given = dq.simulate(robot, asked.tau[:-1], 0.05, 1e-3, q0=Q0, integrator=integrator)
    np.testing.assert_allclose(given.q, asked.q, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("integrator", [*FIXED, "adaptive"])
def test_a_compiled_law_is_what_the_function_tends_to(integrator: str) -> None:
    robot = dq.robots.two_link()
    options = {"q0": Q0, "integrator": integrator}
    law = dq.simulate(robot, ControlLaw(brake), 0.1, 1e-4, every=10, **options)
    np.testing.assert_allclose(law.tau, [brake(t, q, v) for t, q, v in zip(law.time, law.q, law.v, strict=True)])
    errors = [
        np.abs(dq.simulate(robot, brake, 0.1, dt, **options).q[-1] - law.q[-1]).max() for dt in (2e-3, 1e-3, 5e-4)
    ]
    assert errors[2] < 0.6 * errors[1] < 0.4 * errors[0] < 1e-3


def test_samples_lie_apart() -> None:
    robot, thing = dq.robots.two_link(), Object()
    run = dq.simulate(robot, thing, 0.05, 1e-3, q0=Q0, every=10)
    assert len(thing.times) == 51
    np.testing.assert_allclose(run.time, 0.01 * np.arange(6), atol=1e-12)
    assert run.extra["calls"].tolist() == [1, 11, 21, 31, 41, 51]
    full = dq.simulate(robot, Object(), 0.05, 1e-3, q0=Q0)
    np.testing.assert_array_equal(run.q, full.q[::10])
    np.testing.assert_array_equal(run.tau, full.tau[::10])


def test_a_controller_of_a_batch_sees_the_batch() -> None:
    robot = dq.robots.two_link()
    q0 = np.array([[0.1, 0.2], [0.5, -0.3], [1.0, 0.0]])
    run = dq.simulate(robot, lambda t, q, v: -0.5 * v, 0.05, 1e-3, q0=q0)
    one = dq.simulate(robot, lambda t, q, v: -0.5 * v, 0.05, 1e-3, q0=q0[1])
    np.testing.assert_allclose(run.member(1).q, one.q, rtol=1e-12, atol=1e-13)


def test_velocity_level() -> None:
    class Command:
        level = "velocity"

        def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.array([1.0, 2.0 * t])

    run = dq.simulate(dq.robots.two_link(), Command(), 1.0, 1e-2, q0=Q0)
    np.testing.assert_allclose(run.q[-1], [1.3, 0.2 + 1.0 - 0.01], atol=1e-12)
    np.testing.assert_allclose(run.a[5], [0.0, 2.0], atol=1e-9)
    np.testing.assert_allclose(run.tau[5], run.robot.inverse_dynamics(run.q[5], run.v[5], run.a[5]))
    assert run.about["integrator"] == "kinematic"


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plant", [None, "mujoco"])
@pytest.mark.parametrize("integrator", ["rkmk4", "adaptive"])
def test_nan_stops_the_run_and_keeps_it(integrator: str, plant: str | None) -> None:
    def bad(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        return [0.0, 0.0] if t < 0.0095 else [0.0, float("nan")]

    with pytest.raises(SimulationError, match=r"nan for joint 'joint2' at t = 0\.01 s") as caught:
        dq.simulate(dq.robots.two_link(), bad, 1.0, 1e-3, q0=Q0, integrator=integrator, plant=plant)
    error = caught.value
    assert error.joint == "joint2"
    assert error.time == pytest.approx(0.01)
    assert len(error.trajectory) >= 10
    assert np.isfinite(error.trajectory.q).all()
    assert np.isfinite(error.trajectory.a).all()
    assert error.trajectory.status.startswith("stopped: the controller returned nan")
    assert isinstance(error, dq.Error)


@pytest.mark.parametrize("plant", [None, "mujoco"])
@pytest.mark.parametrize("given", [[1.0], np.zeros((2, 2)), 3.0, "torque", None, [[1.0], [2.0, 3.0]]])
def test_the_wrong_size_stops_the_run(given: Any, plant: str | None) -> None:
    def bad(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        return [0.0, 0.0] if t < 0.0035 else given

    with pytest.raises(SimulationError, match=r"the controller returned .* at t = 0\.004 s") as caught:
        dq.simulate(dq.robots.two_link(), bad, 1.0, 1e-3, q0=Q0, plant=plant)
    assert len(caught.value.trajectory) == 4
    assert caught.value.time == pytest.approx(0.004)


def test_a_controller_that_fails_at_once_leaves_the_start() -> None:
    with pytest.raises(SimulationError) as caught:
        dq.simulate(dq.robots.two_link(), lambda t, q, v: [np.inf, 0.0], q0=Q0)
    assert len(caught.value.trajectory) == 1
    np.testing.assert_array_equal(caught.value.trajectory.q, [Q0])


def test_a_row_of_a_batch_is_named() -> None:
    def bad(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.where(np.arange(3)[:, None] == 1, np.nan, 0.0) * np.ones((3, 2))

    with pytest.raises(SimulationError, match="joint 'joint1' of run 1"):
        dq.simulate(dq.robots.two_link(), bad, q0=np.zeros((3, 2)))


def test_errors_inside_a_controller_say_when() -> None:
    def bad(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        if t > 0.0045:
            raise ZeroDivisionError("mine")
        return [0.0, 0.0]

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        dq.simulate(dq.robots.two_link(), bad, q0=Q0)
    assert any("t = 0.005 s" in note for note in caught.value.__notes__)


def test_a_controller_cannot_spoil_the_state() -> None:
    def bad(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        q[:] = 100.0
        return np.zeros(2)

    run = dq.simulate(dq.robots.two_link(), bad, 0.01, 1e-3, q0=Q0)
    assert np.abs(run.q).max() < 1.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dt": 0.0}, "dt must be a finite time above 0"),
        ({"dt": float("nan")}, "dt must be a finite time"),
        ({"dt": "fast"}, "dt must be a finite time above 0 s; found"),
        ({"duration": -1.0}, "duration must be"),
        ({"dt": 2.0}, "longer than the duration"),
        ({"every": 0}, "every is how many steps"),
        ({"integrator": "euler"}, "no integrator named 'euler'"),
        ({"q0": [0.0]}, "has 2 components"),
        ({"q0": [0.0, np.nan]}, "is nan"),
        ({"q0": np.zeros((2, 3, 2))}, r"one state or a batch"),
        ({"q0": np.zeros((2, 2)), "v0": np.zeros((3, 2))}, "different size"),
        ({"q0": np.zeros((0, 2))}, "empty batch"),
        ({"controller": np.zeros(3)}, "has shape"),
        ({"controller": np.zeros((7, 2))}, "has shape"),
        ({"controller": [np.inf, 0.0]}, "not finite"),
        ({"controller": "brake"}, "must be real numbers"),
        ({"wrenches": {"tip": [0] * 6}}, "no frame"),
        ({"wrenches": {"tool": [0] * 5}}, "has shape"),
        ({"wrenches": [1]}, "maps frames"),
        ({"events": [lambda t, q, v: 0.0]}, "events need the integrator 'adaptive'"),
        ({"integrator": "adaptive", "rtol": 0.0}, "rtol must be"),
        ({"integrator": "adaptive", "events": ["never"]}, "events is a list of functions"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(dq.Error, match=sentence):
        dq.simulate(dq.robots.two_link(), **options)


def test_a_robot_is_needed() -> None:
    with pytest.raises(dq.Error, match="takes a robot first"):
        dq.simulate("arm7")  # type: ignore[arg-type]


def test_levels_are_known() -> None:
    class Position:
        level = "position"

        def step(self, t: float, q: Any, v: Any) -> Any:
            return q

    with pytest.raises(dq.Error, match="level is 'torque', 'acceleration' or 'velocity'"):
        dq.simulate(dq.robots.two_link(), Position())


# --- steps that are too large -----------------------------------------------------------------------------------------


def test_divergence_is_told() -> None:
    with pytest.warns(SimulationWarning, match=r"the step of 0\.2 s is too large"):
        run = dq.simulate(dq.robots.two_link(), None, 60.0, 0.2, q0=Q0, integrator="semi-implicit-euler")
    assert run.status.startswith("diverged after t = ")
    assert len(run) < 301
    assert np.isfinite(run.q).all()


def test_a_stiff_controller_is_told() -> None:
    with pytest.warns(SimulationWarning, match=r"the step of 0\.01 s is too large"):
        run = dq.simulate(dq.robots.two_link(), lambda t, q, v: -2000.0 * v - 100.0 * q, 1.0, 0.01, q0=Q0)
    assert run.status.startswith("diverged")


def test_energy_from_nowhere_is_told() -> None:
    with pytest.warns(SimulationWarning, match=r"the energy is off by .* the step of 0\.02 s"):
        run = dq.simulate(dq.robots.two_link(), None, 1.0, 0.02, q0=Q0, integrator="semi-implicit-euler")
    assert run.status.startswith("doubtful")


def test_one_run_of_a_batch_that_diverges_leaves_the_others() -> None:
    robot = dq.robots.two_link()
    with pytest.warns(SimulationWarning, match="runs 1 left all bounds"):
        run = dq.simulate(
            robot, lambda t, q, v: [[0.0, 0.0], [-3000.0, 0.0], [0.0, 0.0]] * v, 1.0, 0.01, q0=[Q0] * 3, v0=[0.1, 0.1]
        )
    assert np.isfinite(run.q[:, [0, 2]]).all()
    assert np.isnan(run.q[-1, 1]).all()
    assert len(run) == 101


def test_drift_off_constraints_is_told() -> None:
    robot = dq.robots.four_bar()
    q0, _ = robot.project(robot.neutral())
    with pytest.warns(SimulationWarning, match="constraints are off"):
        dq.simulate(robot, None, 1.0, 1e-3, q0=q0, integrator="semi-implicit-euler")


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------


def interrupt_soon(delay: float) -> threading.Timer:
    timer = threading.Timer(delay, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("controller", [None, lambda t, q, v: -v])
def test_interrupt_keeps_the_run(controller: Any) -> None:
    robot = dq.robots.two_link()
    dq.simulate(robot, controller, 0.01, 1e-3, q0=Q0)  # compiled before the clock runs
    timer = interrupt_soon(0.3)
    with pytest.raises(Interrupted) as caught:
        dq.simulate(robot, controller, 1e5, 1e-3, q0=Q0, every=1000)
    timer.join()
    run = caught.value.trajectory
    assert isinstance(caught.value, KeyboardInterrupt)
    assert run.status == "interrupted"
    assert 1 < len(run) < 100_000
    assert run.time[-1] == pytest.approx(len(run) - 1)
    assert np.isfinite(run.energy).all()


@pytest.mark.usefixtures("ctrl_c")
def test_interrupted_command_leaves_a_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(self: Progress, done: int) -> None:
        if done > 2000:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "at", interrupt)
    path = tmp_path / "run.npz"
    words = ["simulate", "two_link", "--q", "0.3,0.2", "--duration", "1e5", "--every", "100", "--output", str(path)]
    assert app.run(words) == 130
    assert "interrupted" in capsys.readouterr().out
    run = dq.Trajectory.load(path)
    assert run.status == "interrupted"
    assert 20 < len(run) < 1_000_000


def test_a_controller_may_command_accelerations() -> None:
    """The torques that give the commanded acceleration are applied, so the motion is the commanded one."""
    robot = dq.robots.arm6().without_friction()
    wanted = np.array([0.5, -0.3, 0.2, 0.4, -0.1, 0.3])

    class Steady:
        level = "acceleration"

        def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return wanted

    q0 = robot.random_configuration(np.random.default_rng(2))
    run = dq.simulate(robot, Steady(), duration=0.2, dt=1e-3, q0=q0, v0=np.zeros(6))
    np.testing.assert_allclose(run.a[:-1], np.broadcast_to(wanted, run.a[:-1].shape), rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.q[-1], q0 + 0.5 * wanted * 0.2**2, rtol=0, atol=1e-4)
