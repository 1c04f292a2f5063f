"""MuJoCo as judge of our trajectories, and as plant for our controllers."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulated import distance, floating_chain, orders, start_of

import dqdyn as dq
from dqdyn.control import computed_torque
from dqdyn.errors import install_command
from dqdyn.references import between
from dqdyn.robot import Robot
from dqdyn.simulate import ControlLaw

ROBOTS = {
    "two_link": dq.robots.two_link,
    "arm7": dq.robots.arm7,
    "floating chain": floating_chain,
    "humanoid": dq.robots.humanoid,
    "holonomic_manipulator": dq.robots.holonomic_manipulator,
}


def mujoco_plant_model() -> Any:
    """A chain of two joints that floats, as MuJoCo has it."""
    from dqdyn.simulate.mujoco_plant import engine_model

    return engine_model(floating_chain(2), 1e-3)


@pytest.mark.parametrize("name", ROBOTS)
def test_unforced_motion_is_mujoco_s(name: str) -> None:
    robot, duration = ROBOTS[name](), 0.2
    q0, v0 = start_of(robot, speed=0.3)

    def end(n: int, **options: object) -> np.ndarray:
        return dq.simulate(robot, None, duration, duration / n, q0=q0, v0=v0, every=n, **options).q[-1]

    ours = end(1000)
    errors = [distance(robot, end(n, plant="mujoco", limits=False), ours) for n in (100, 200, 400)]
    assert np.abs(orders(errors) - 1.0).max() < 0.05
    assert distance(robot, end(400, plant="mujoco", limits=False, method="RK4"), ours) < 1e-8 < errors[-1]


def test_forced_motion_is_mujoco_s() -> None:
    robot, rng = dq.robots.arm7(), np.random.default_rng(4)
    tau, q0 = 2.0 * rng.normal(size=(200, 7)), robot.random_configuration(rng)
    ours = dq.simulate(robot, tau, 0.1, 5e-4, q0=q0)
    theirs = dq.simulate(robot, tau, 0.1, 5e-4, q0=q0, plant="mujoco", method="RK4", limits=False)
    assert distance(robot, ours.q[-1], theirs.q[-1]) < 1e-7
    np.testing.assert_array_equal(ours.tau, theirs.tau)
    np.testing.assert_allclose(ours.a, theirs.a, rtol=1e-4, atol=1e-3)


def test_wrenches_act_in_the_engine() -> None:
    """They hold during a step there and follow the frame in ours, so the difference is of first order."""
    robot, q0 = dq.robots.arm6(), np.full(6, 0.4)

    def end(steps: int, **options: object) -> np.ndarray:
        pushed = {"tool": [5.0, 2.0, -3.0, 0.1, 0.2, 0.3]}
        return dq.simulate(robot, None, 0.1, 0.1 / steps, q0=q0, wrenches=pushed, every=steps, **options).q[-1]

    ours = end(400)
    errors = [distance(robot, end(n, plant="mujoco", method="RK4", limits=False), ours) for n in (50, 100, 200)]
    assert np.abs(orders(errors) - 1.0).max() < 0.1
    assert errors[-1] < 1e-3 * distance(robot, ours, dq.simulate(robot, None, 0.1, 1e-3, q0=q0).q[-1])


def test_computed_torque_holds_the_engine() -> None:
    robot = dq.robots.arm6()
    start, end = np.zeros(6), np.array([0.4, -0.5, 0.6, 0.3, -0.2, 0.5])
    controller = computed_torque(robot, between(robot, start, end, 0.5), gains=(40.0, 400.0))
    run = dq.simulate(robot, controller, 1.0, 1e-3, q0=start, plant="mujoco")
    assert np.abs(run.q[-1] - end).max() < 1e-3
    assert run.extra["error"].shape == (1001, 6)
    law = dq.simulate(robot, controller.law(), 0.1, 1e-3, q0=start, plant="mujoco")
    np.testing.assert_allclose(law.q[-1], run.q[100], atol=1e-10)


def test_contacts_with_the_ground() -> None:
    robot = Robot.from_description(dq.robots.chain(1).description, base="free")
    q0 = robot.neutral()
    q0[6] = 0.3
    fall = {"q0": q0, "plant": "mujoco", "every": 10}
    run = dq.simulate(robot, [0.0] * 7, 1.5, 1e-3, ground=0.0, **fall)
    assert run.extra["contacts"][0] == 0
    assert run.extra["contacts"][-1] > 0
    weight = 9.81 * robot.model.mass
    assert run.extra["contact_forces"][-1] @ np.array([0, 0, 0, 0, 0, 1.0, 0]) == pytest.approx(weight, rel=1e-3)
    assert abs(run.v[-1]).max() < 1e-3
    free = dq.simulate(robot, None, 1.5, 1e-3, **fall)
    assert free.q[-1, 6] == pytest.approx(0.3 - 0.5 * 9.81 * 1.5**2, abs=0.05)


def test_samples_and_substeps() -> None:
    robot = dq.robots.two_link()
    run = dq.simulate(robot, None, 0.1, 0.01, q0=[0.2, 0.1], plant="mujoco", substeps=10, every=2)
    fine = dq.simulate(robot, None, 0.1, 0.001, q0=[0.2, 0.1], plant="mujoco", every=20)
    np.testing.assert_allclose(run.time, [0.0, 0.02, 0.04, 0.06, 0.08, 0.1], atol=1e-12)
    np.testing.assert_array_equal(run.q, fine.q)
    np.testing.assert_allclose(run.a[0], robot.forward_dynamics([0.2, 0.1], [0.0, 0.0], [0.0, 0.0]))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"substeps": 0}, "substeps is how many"),
        ({"method": "Heun"}, "MuJoCo's integrators are"),
        ({"q0": np.zeros((2, 2))}, "one state at a time"),
    ],
)
def test_bad_options(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(dq.Error, match=sentence):
        dq.simulate(dq.robots.two_link(), **{"plant": "mujoco", **options})


@pytest.mark.parametrize("method", ["Euler", "RK4", "implicit", "implicitfast"])
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_instability_that_the_engine_sees_is_told(
    method: str, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself the engine would start again from the neutral state, and the run would be "finished"."""
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it runs
    robot = Robot.from_description(dq.robots.arm7().description, base=base)
    robot = robot.with_motors([joint.name for joint in robot.joints])
    q0 = robot.neutral()
    q0[-7:] = 0.3
    driven = robot.actuated

    def damper(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.where(driven, -300.0 * v, 0.0)

    with pytest.warns(dq.simulate.SimulationWarning, match=r"diverged after t = 0\.\d+ s: .*joint '\w+'"):
        run = dq.simulate(robot, damper, 1.0, 1e-2, q0=q0, plant="mujoco", method=method, every=3)
    assert run.status.startswith("diverged after t = ")
    assert run.duration < 0.2
    assert np.isfinite(run.q).all()
    assert len(run.extra["contacts"]) == len(run.a) == len(run)
    assert not np.array_equal(run.q[-1], robot.neutral())


def test_a_bad_acceleration_at_the_last_sample_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the engine takes no step, so it has to be asked."""
    monkeypatch.chdir(tmp_path)
    tau = np.zeros((11, 2))

    def kick(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return tau[round(t / 1e-3)]

    tau[10, 1] = 1e12
    with pytest.warns(dq.simulate.SimulationWarning, match=r"after t = 0\.01 s: .*acceleration of joint 'joint[12]'"):
        run = dq.simulate(dq.robots.two_link(), kick, 0.01, 1e-3, plant="mujoco")
    assert len(run) == 11


def test_full_memory_makes_a_run_doubtful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contacts that the engine leaves out for want of memory."""
    from dqdyn.simulate import mujoco_plant

    monkeypatch.chdir(tmp_path)
    whole = mujoco_plant.write_mjcf

    def poor(model: Any) -> str:
        return whole(model).replace("<worldbody", '<size memory="2K"/><worldbody', 1)

    monkeypatch.setattr(mujoco_plant, "write_mjcf", poor)
    box = Robot.from_description(dq.robots.chain(1).description, base="free")
    with pytest.warns(dq.simulate.SimulationWarning, match=r"doubtful: MuJoCo warns at t = .* there are more con"):
        run = dq.simulate(box, None, 0.5, plant="mujoco", ground=-0.3, every=10)
    assert len(run) == 51


def test_warnings_name_the_joint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A component of the position or the velocity, before and after a free joint's."""
    monkeypatch.chdir(tmp_path)
    import mujoco

    from dqdyn.simulate.engine_warnings import first_warning

    model = mujoco_plant_model()
    for name, index, joint in (
        ("qpos", 0, "root_joint"),
        ("qpos", 6, "root_joint"),
        ("qpos", 7, "joint1"),
        ("qvel", 5, "root_joint"),
        ("qvel", 7, "joint2"),
    ):
        data = mujoco.MjData(model)
        assert first_warning(model, data) is None
        getattr(data, name)[index] = np.inf
        {"qpos": mujoco.mj_checkPos, "qvel": mujoco.mj_checkVel}[name](model, data)
        found = first_warning(model, data)
        assert found is not None
        assert (found.unstable, found.joint) == (True, joint)


def test_unknown_plants_and_constraints_are_refused() -> None:
    with pytest.raises(dq.Error, match="no plant named 'bullet'"):
        dq.simulate(dq.robots.two_link(), plant="bullet")
    with pytest.raises(dq.Error, match=r"no option 'ground' without contacts=.* or plant"):
        dq.simulate(dq.robots.two_link(), ground=0.0)
    robot = dq.robots.four_bar()
    with pytest.raises(dq.Error, match="does not simulate our constraints"):
        dq.simulate(robot, q0=robot.project(robot.neutral())[0], plant="mujoco")


def test_missing_engine_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("mujoco", "mjcf"))):
        dq.simulate(dq.robots.two_link(), plant="mujoco")


def test_a_law_runs_on_plain_numbers_there() -> None:
    seen = []

    def brake(t: float, q: list[float], v: list[float]) -> list[float]:
        seen.append(type(q[0]))
        return [-0.5 * x for x in v]

    run = dq.simulate(dq.robots.two_link(), ControlLaw(brake), 0.05, 1e-3, q0=[0.1, 0.2], plant="mujoco")
    assert float in seen
    np.testing.assert_allclose(run.tau, -0.5 * run.v)
