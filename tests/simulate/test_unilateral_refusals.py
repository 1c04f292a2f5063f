"""What a simulation with contacts does not take, by a sentence each; and what it says when it went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from touching_bodies import ball, base_of, block, raised

import dqdyn as dq
from dqdyn import contacts, scenes
from dqdyn.simulate import RoundContact, SimulationWarning
from dqdyn.simulate.integrators import Variational
from dqdyn.simulate.unilateral import coulomb, plant

SIZE = (0.3, 0.2, 0.1)
BASE = base_of(SIZE, 0.5)
SPRUNG = scenes.ball(0.1, (1.0, 0.0, 0.1), mass=1.0)


class Velocities:
    level = "velocity"

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(6)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"contacts": [BASE]}, "nothing to meet: give ground"),
        ({"contacts": [BASE], "scene": dq.Scene([])}, "nothing to meet"),
        ({"contacts": [BASE], "scene": "ground"}, "scene is a dq.Scene"),
        ({"contacts": [BASE], "scene": dq.Scene([SPRUNG])}, "'ball' of the scene has a mass: use plant='mujoco'"),
        ({"contacts": [BASE], "scene": dq.Scene([scenes.ground(restitution=0.5)])}, "'ground' of the scene bounces"),
        ({"contacts": [BASE], "scene": dq.Scene([scenes.ground(rolling_friction=0.1)])}, "has rolling friction"),
        ({"contacts": [BASE], "ground": np.nan}, "ground is a finite height"),
        ({"contacts": [BASE], "ground": "low"}, "ground is a finite height"),
        ({"contacts": [BASE], "ground": 0.0, "height": 1.0}, "option of a simulation with contacts named 'height'"),
        ({"contacts": [BASE], "ground": 0.0, "limits": "yes"}, "limits is True .joints stop there., False or None"),
        ({"contacts": [BASE], "ground": 0.0, "integrator": "rkmk4"}, "leave out integrator"),
        ({"contacts": [BASE], "ground": 0.0, "integrator": np.zeros(3)}, "leave out integrator"),
        ({"contacts": [BASE], "ground": 0.0, "integrator": Variational()}, "found 'variational'"),
        ({"contacts": [BASE], "ground": 0.0, "integrator": "adaptive"}, "leave out integrator"),
        ({"contacts": [BASE], "ground": 0.0, "plant": "mujoco"}, "follow from the shapes"),
        ({"integrator": "time-stepping", "plant": "mujoco"}, "follow from the shapes"),
        ({"contacts": [BASE], "ground": 0.0, "events": [lambda t, q, v: 1.0]}, "events are not found with contacts"),
        ({"contacts": [BASE], "ground": 0.0, "controller": Velocities()}, "gives velocities"),
        ({"contacts": [BASE], "ground": 0.06}, "'base' is 0.06 m inside 'ground' at the start"),
        ({"contacts": [BASE], "ground": 0.0, "q0": np.tile(raised(ball(), 0.05), (2, 1))}, "one state at a time"),
        ({"contacts": [BASE, BASE], "ground": 0.0}, "two contacts are named 'base'"),
        ({"contacts": [BASE.with_mode("off")], "ground": 0.0}, "every contact is 'off'"),
        ({"integrator": "time-stepping"}, "there are no contacts"),
        ({"contacts": ["block"], "ground": 0.0}, "contacts are values of"),
        ({"contacts": "block", "ground": 0.0}, "contacts are values of"),
        ({"contacts": 3.0, "ground": 0.0}, "contacts are values of"),
        ({"contacts": [contacts.point("foot")], "ground": 0.0}, "foot"),
        ({"contacts": [RoundContact("foot", 0.1)], "ground": 0.0}, "foot"),
        ({"ground": 0.0}, "no option 'ground' without contacts"),
    ],
)
def test_simulation_refuses(options: dict[str, Any], says: str) -> None:
    robot = block(SIZE)
    given: dict[str, Any] = {"controller": None, "duration": 0.01, "q0": raised(robot, 0.05)} | options
    with pytest.raises(dq.Error, match=says):
        dq.simulate(robot, **given)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"radius": 0.0}, "radius of the contact 'ball' is above 0"),
        ({"radius": np.nan}, "radius"),
        ({"radius": None}, "radius"),
        ({"radius": "wide"}, "radius"),
        ({"friction": -0.1}, "friction of the contact 'ball' is at least 0"),
        ({"torsional_friction": np.inf}, "torsional friction"),
        ({"center": (0.0, 0.0)}, "center of the contact 'ball' has 3 numbers"),
        ({"center": (0.0, 0.0, np.nan)}, "center"),
        ({"center": None}, "center"),
        ({"frame": 3}, "are texts"),
        ({"name": None}, "are texts"),
    ],
)
def test_round_contact_refuses(change: dict[str, Any], says: str) -> None:
    with pytest.raises(dq.Error, match=says):
        RoundContact(**({"frame": "ball", "radius": 0.1} | change))


def test_joint_beyond_its_limit_is_refused() -> None:
    link = dq.Link("rod", dq.Inertia(1.0, (0.5, 0.0, 0.0), np.eye(3)))
    joint = dq.Joint("hinge", "revolute", "base", "rod", lower=-1.0, upper=1.0)
    robot = dq.Robot.from_description(dq.Description("pendulum", (dq.Link("base"), link), (joint,)))
    with pytest.raises(dq.StateError, match=r"'hinge' is 0\.2 rad or m beyond its limit"):
        dq.simulate(robot, None, 0.1, q0=[1.2], integrator="time-stepping", limits=True)


def test_contact_that_cannot_move_is_left_out() -> None:
    """A point on the axis of a joint, in the ground: no impulse there moves anything."""
    robot = dq.robots.two_link()
    still = contacts.point(robot.model.bodies[0].name, (0.0, 0.0, 0.0), name="pivot")
    run = dq.simulate(robot, None, 0.05, 1e-3, q0=[0.3, 0.2], contacts=[still], ground=0.0)
    free = dq.simulate(robot, None, 0.05, 1e-3, q0=[0.3, 0.2], integrator="semi-implicit-euler")
    np.testing.assert_allclose(run.q, free.q, atol=1e-12)


def test_a_contact_that_sinks_in_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that turns while it slides: its corners sink in by rounding, which is more than is allowed here."""
    monkeypatch.setattr(plant, "SUNK", 1e-12)
    robot, v0 = block(SIZE), [0.0, 0.0, 30.0, 5.0, 0.0, 0.0]
    with pytest.warns(SimulationWarning, match="'base' sank .* into 'ground'"):
        run = dq.simulate(robot, None, 0.1, 5e-3, q0=raised(robot, 0.05), v0=v0, contacts=BASE, ground=0.0)
    assert run.status.startswith("doubtful")


def test_a_solver_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coulomb, "_NEWTON", 0)
    monkeypatch.setattr(coulomb, "_PROXIMITIES", ())
    robot = block(SIZE)
    with pytest.warns(SimulationWarning, match="no impulses were found that keep Coulomb's law"):
        dq.simulate(robot, None, 0.01, 1e-3, q0=raised(robot, 0.05), contacts=[BASE], ground=0.0)


def test_forces_that_diverge_are_told() -> None:
    robot = block(SIZE)

    def explode(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return 1e6 * v + 1.0

    driven = robot.with_motors({robot.joints[0].name: 1e300})
    with pytest.warns(SimulationWarning, match="diverged after"):
        run = dq.simulate(driven, explode, 1.0, 1e-3, q0=raised(robot, 0.06), contacts=[BASE], ground=0.0)
    assert np.isfinite(run.v).all()
    assert len(run.extra["contacts"]) == len(run)


def test_a_controller_that_fails_keeps_the_run() -> None:
    robot = block(SIZE)

    def fails(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.full(6, np.nan if t > 0.0045 else 0.0)

    with pytest.raises(dq.simulate.SimulationError, match="nan") as caught:
        dq.simulate(robot, fails, 0.01, 1e-3, q0=raised(robot, 0.05), contacts=[BASE], ground=0.0)
    assert len(caught.value.trajectory) == 5
    assert caught.value.trajectory.extra["wrench/base"].shape == (5, 6)


def test_an_interrupted_run_is_kept() -> None:
    robot = block(SIZE)

    def interrupts(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.0045:
            raise KeyboardInterrupt
        return np.zeros(6)

    with pytest.raises(dq.simulate.Interrupted) as caught:
        dq.simulate(robot, interrupts, 0.01, 1e-3, q0=raised(robot, 0.05), contacts=[BASE], ground=0.0)
    assert len(caught.value.trajectory) == 5
    assert caught.value.trajectory.extra["wrench/base"].shape == (5, 6)


def test_sampling_and_files(tmp_path: Path) -> None:
    robot = block(SIZE)
    run = dq.simulate(robot, None, 0.02, 1e-3, q0=raised(robot, 0.05), contacts=BASE, ground=0.0, every=8)
    np.testing.assert_allclose(run.time, [0.0, 0.008, 0.016, 0.02])
    assert run.extra["corner_forces/base"].shape == (4, 4, 3)
    assert run.about["integrator"] == "time-stepping"
    assert dq.Trajectory.load(run.save(tmp_path / "run.npz")) == run
    law = dq.simulate.ControlLaw(lambda t, q, v: [0.0] * 6)
    same = dq.simulate(robot, law, 0.02, 1e-3, q0=raised(robot, 0.05), contacts=BASE, ground=0.0, every=8)
    assert np.array_equal(same.q, run.q)
