"""Runs say when joints or forces leave their limits, and clip forces where asked."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robot_data import robots_folder, urdf_file

import dqdyn as dq
from dqdyn.algebra.scalar import less, select
from dqdyn.robot import Robot
from dqdyn.robot.named_states import columns
from dqdyn.simulate import ControlLaw, LimitWarning, SimulationError, SimulationWarning

START = np.array([0.3, 1.0, 0.2, -0.5, 0.1, 0.2, 0.3])


def quiet(robot: Robot, controller: Any = None, *rest: float, **options: Any) -> dq.Trajectory:
    """The run without warnings of limits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LimitWarning)
        return dq.simulate(robot, controller, *rest, **options)


def quiet_all(*given: Any, **options: Any) -> dq.Trajectory:
    """The run without any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)
        return dq.simulate(*given, **options)


def test_a_joint_beyond_its_range_is_told() -> None:
    robot = dq.robots.arm7()
    with pytest.warns(
        LimitWarning, match=r"beyond limits: the position of joint '\w+' was \S+ rad at t = .*limits=True"
    ):
        run = dq.simulate(robot, None, 1.5, 1e-3, q0=START)
    assert run.finished
    assert run.status != "finished"
    over = np.maximum(run.q - robot.limits.upper, robot.limits.lower - run.q)
    positions = {row["joint"]: row for row in run.about["beyond"] if row["kind"] == "position"}
    assert set(positions) == {robot.joints[k].name for k in np.flatnonzero((over > 1e-3).any(axis=0))}
    worst = max(positions.values(), key=lambda row: abs(row["value"] - row["limit"]))
    k = [joint.name for joint in robot.joints].index(worst["joint"])
    assert abs(worst["value"] - worst["limit"]) == pytest.approx(over.max())
    assert worst["time"] == run.time[(over[:, k] > 1e-3).argmax()]
    assert worst["samples"] == (over[:, k] > 1e-3).sum()
    speeds = {row["joint"] for row in run.about["beyond"] if row["kind"] == "velocity"}
    assert speeds == {
        robot.joints[i].name for i in np.flatnonzero((np.abs(run.v) > 1.001 * robot.limits.velocity).any(0))
    }


def test_a_panda_that_falls_says_that_it_left_its_joints() -> None:
    """From its file: within 2 s a joint is beyond −7.5 rad, and no range of it reaches beyond −3.1 rad."""
    robot = dq.load(urdf_file("panda/panda"), package_paths=[robots_folder().parent])
    fallen = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.8, 0.0, 0.02])
    with pytest.warns(LimitWarning, match=r"finished beyond limits: the position of joint 'panda_joint\d' was"):
        run = dq.simulate(robot, None, 2.0, q0=fallen)
    assert run.finished
    assert run.q.min() < -7.5 < -3.1 < robot.limits.lower.min()
    told = {(row["kind"], row["joint"]): row for row in run.about["beyond"]}
    names = [name for name, _ in columns(robot.model, "q")]
    over = np.maximum(run.q - robot.limits.upper, robot.limits.lower - run.q)
    assert {name for kind, name in told if kind == "position"} == {
        n for n, x in zip(names, over.T, strict=True) if x.max() > 1e-3
    }
    for (kind, name), row in told.items():
        worst = over[:, names.index(name)].argmax()
        assert kind != "position" or (row["value"], row["worst"]) == (run.q[worst, names.index(name)], run.time[worst])
    assert "limits=True adds end stops" in run.status
    held = quiet(robot, None, 2.0, q0=fallen, limits=True)
    assert not [row for row in held.about.get("beyond", ()) if row["kind"] == "position"]
    assert (held.q <= robot.limits.upper + 1e-9).all()
    assert (held.q >= robot.limits.lower - 1e-9).all()


@pytest.mark.parametrize("integrator", ["rkmk4", "adaptive", "time-stepping"])
def test_every_integrator_tells(integrator: str) -> None:
    robot = dq.robots.arm7()
    options: dict[str, Any] = {}
    if integrator == "time-stepping":
        options = {"contacts": dq.contacts.point("tool"), "ground": -5.0}
        options["contacts"] = dq.contacts.point(list(robot.frames)[-1])
    run = quiet(robot, None, 1.5, 5e-3, q0=START, integrator=integrator, **options)
    assert run.status.startswith("finished beyond limits: the position of joint")


@pytest.mark.parametrize("bounds", [(-0.1, np.inf), (-np.inf, 0.1)])
def test_a_range_with_one_end_is_left_there_only(bounds: tuple[float, float]) -> None:
    given = dq.robots.two_link().description
    joints = (replace(given.joints[0], lower=bounds[0], upper=bounds[1]), *given.joints[1:])
    robot = Robot.from_description(replace(given, joints=joints)).with_gravity([0.0, 0.0, 0.0])
    ways = [quiet(robot, np.zeros(2), 0.3, q0=[0.0, 0.0], v0=[v, 0.0]) for v in (-1.0, 1.0)]
    left = [run.status.startswith("finished beyond") for run in ways]
    assert left == [np.isfinite(bounds[0]), np.isfinite(bounds[1])]


def test_nothing_is_said_where_nothing_is_left_or_asked_for() -> None:
    robot = dq.robots.arm7()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        still = dq.simulate(robot, lambda t, q, v: robot.gravity_forces(q), 0.05, q0=START)
        unsaid = dq.simulate(robot, None, 1.5, q0=START, limits=False)
        strong = dq.simulate(robot, np.full(7, 500.0), 0.002, q0=START, limits=False, efforts="ignore")
    for run in (still, unsaid, strong):
        assert run.status == "finished"
        assert "beyond" not in run.about


def test_the_run_of_a_batch_is_named(tmp_path: Path) -> None:
    robot = dq.robots.arm7()
    with pytest.warns(LimitWarning, match="of run 1 was"):
        run = dq.simulate(robot, None, 1.0, q0=np.array([0.0 * START, START]))
    assert {row["run"] for row in run.about["beyond"]} == {1}
    assert dq.Trajectory.load(run.save(tmp_path / "run.npz")) == run


@pytest.mark.parametrize("integrator", ["rkmk4", "adaptive"])
def test_each_run_of_a_batch_tells_what_it_would_tell_alone(integrator: Any, tmp_path: Path) -> None:
    robot = dq.robots.arm7()
    starts, time = np.array([0.0 * START, START, 0.5 * START]), 0.35
    tau = np.array([200.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for force, efforts in ((None, "report"), (tau, "report"), (tau, "clip")):
        options: dict[str, Any] = {"efforts": efforts, "integrator": integrator}
        many = quiet(robot, force, time, 5e-3, q0=starts, **options)
        loaded = dq.Trajectory.load(many.save(tmp_path / "run.npz"))
        for i, start in enumerate(starts):
            one, member = quiet(robot, force, time, 5e-3, q0=start, **options), many.member(i)
            assert (member.status, member.finished) == (one.status, one.finished) == (many.statuses[i], True)
            for name in ("beyond", "clipped"):
                assert member.about.get(name) == one.about.get(name)
            assert loaded.member(i) == member == many.member(i - 3)
        assert many.status.endswith("; statuses has that of each run.") == ("beyond" in many.about)
    single = quiet(robot, None, time, 5e-3, q0=START)
    assert single.statuses == (single.status,)


def test_runs_of_a_batch_that_diverge_or_are_doubtful_are_told_apart() -> None:
    robot = dq.robots.two_link()
    starts = np.array([[0.3, 0.2], [0.0, 0.0], [0.3, 0.2]])
    speeds = np.array([[0.0, 0.0], [4e3, -4e3], [0.0, 0.0]])
    with pytest.warns(SimulationWarning, match="diverged: runs 1 left all bounds"):
        run = dq.simulate(robot, None, 1.0, 0.01, q0=starts, v0=speeds, integrator="semi-implicit-euler")
    alone = [
        quiet_all(robot, None, 1.0, 0.01, q0=q, v0=v, integrator="semi-implicit-euler")
        for q, v in zip(starts, speeds, strict=True)
    ]
    assert [text.split(":")[0].split(" ")[0] for text in run.statuses] == ["finished", "diverged", "finished"]
    assert run.statuses == tuple(one.status for one in alone)
    slow = quiet_all(robot, None, 4.0, 0.05, q0=[[-1.5, 0.0], [1.4, 0.2]], integrator="semi-implicit-euler")
    each = [quiet_all(robot, None, 4.0, 0.05, q0=q, integrator="semi-implicit-euler") for q in slow.q[0]]
    assert slow.statuses == tuple(one.status for one in each)
    assert slow.statuses[0] == "finished"
    assert slow.statuses[1].startswith("doubtful: the energy is off by")


def test_a_batch_that_ends_early_says_so_of_each_run() -> None:
    class Refuses:
        level = "torque"

        def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.full(2, np.nan if t > 0.05 else 0.0)

    with pytest.raises(SimulationError) as caught:
        dq.simulate(dq.robots.two_link(), Refuses(), 0.1, 0.01, q0=[[0.1, 0.2]])
    run = caught.value.trajectory
    assert run.statuses == (run.status,)
    assert run.status.startswith("stopped: ")


def test_a_force_beyond_its_motor_is_told() -> None:
    robot = dq.robots.arm7()
    with pytest.warns(LimitWarning, match=r"the effort of joint 'joint6' was 70 N m .*limit 40.*efforts='clip'"):
        run = dq.simulate(
            robot, lambda t, q, v: np.where(np.arange(7) == 5, 70.0 * (t > 0.0045), 0.0), 0.01, limits=False
        )
    (row,) = run.about["beyond"]
    assert (row["kind"], row["joint"], row["time"], row["samples"]) == ("effort", "joint6", 0.005, 6)


def test_efforts_of_velocities_that_are_followed_exactly_are_no_commands() -> None:
    class Fast:
        level = "velocity"

        def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.full(7, 1.9 * np.sin(1e3 * t))

    assert quiet(dq.robots.arm7(), Fast(), 0.01).status == "finished"


def strong(t: Any, q: Any, v: Any) -> list[Any]:
    return [300.0 * (k - 3) - 2.0 * v[k] for k in range(7)]


@pytest.mark.parametrize("options", [{}, {"integrator": "adaptive"}, {"plant": "mujoco"}], ids=str)
def test_clipped_forces_are_those_of_a_clipped_controller(options: dict[str, Any]) -> None:
    robot = dq.robots.arm7()
    most = robot.limits.effort

    def clipped(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.clip(strong(t, q, v), -most, most)

    shared = {"q0": START, "limits": False, **options}
    run = quiet(robot, lambda t, q, v: np.array(strong(t, q, v)), 0.02, efforts="clip", **shared)
    same = quiet(robot, clipped, 0.02, **shared)
    assert np.array_equal(run.q, same.q)
    assert np.array_equal(run.tau, same.tau)
    assert {row["joint"] for row in run.about["clipped"]} == {f"joint{k + 1}" for k in range(7) if k != 3}
    law = quiet(robot, ControlLaw(strong), 0.02, efforts="clip", **shared)
    assert (np.abs(law.tau) <= most).all()
    assert np.array_equal(np.abs(law.tau).max(axis=0) == most, np.arange(7) != 3)
    bounded = ControlLaw(lambda t, q, v: [_clipped(x, m) for x, m in zip(strong(t, q, v), most.tolist(), strict=True)])
    assert np.abs(law.q - quiet(robot, bounded, 0.02, **shared).q).max() < 1e-9


def _clipped(x: Any, most: float) -> Any:
    below = select(less(x, most), x, most)
    return select(less(-most, below), below, -most)


def test_forces_given_as_numbers_and_batches_are_clipped() -> None:
    robot = dq.robots.arm7()
    tau = np.linspace(-400.0, 400.0, 7 * 5).reshape(5, 7)
    bounded = np.clip(tau, -robot.limits.effort, robot.limits.effort)
    run, same = (
        quiet(robot, x, 5e-3, 1e-3, efforts=how, limits=False) for x, how in ((tau, "clip"), (bounded, "report"))
    )
    assert np.array_equal(run.q, same.q)
    many = quiet(robot, tau[0], 5e-3, 1e-3, q0=np.zeros((3, 7)), efforts="clip", limits=False)
    assert np.array_equal(many.tau[0, 2], bounded[0])
    by_acceleration = type("Push", (), {"level": "acceleration", "step": lambda self, t, q, v: np.full(7, 1e4)})()
    assert (np.abs(quiet(robot, by_acceleration, 0.01, efforts="clip").tau) <= robot.limits.effort).all()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"limits": "yes"}, "limits is True .joints stop there., False or None; found 'yes'"),
        ({"limits": np.nan}, "limits is True"),
        ({"efforts": "clp"}, "'clip'"),
        ({"efforts": None}, "efforts"),
        ({"efforts": True}, "efforts"),
        ({"stiction": 1}, "stiction is True or False; found 1"),
        ({"limits": True, "integrator": "adaptive"}, "limits=True acts at the end of fixed steps"),
        ({"stiction": True, "integrator": "adaptive"}, "stiction=True acts at the end of fixed steps"),
        (
            {"q0": [0, 0, 0, 2.5, 0, 0, 0], "limits": True},
            "joint 'joint4' is 0.2 rad or m beyond its limit at the start",
        ),
    ],
)
def test_odd_options_are_rejected(options: dict[str, Any], says: str) -> None:
    with pytest.raises(dq.Error, match=says):
        dq.simulate(dq.robots.arm7(), None, 0.01, **options)


# --- steps that are too large for stiff joints ------------------------------------------------------------------------


def gains(kp: float, kd: float) -> Any:
    return lambda t, q, v: [-kp * a - kd * b for a, b in zip(q, v, strict=True)]


@pytest.mark.parametrize("how", ["held", "law", "springs"])
@pytest.mark.parametrize("integrator", ["rkmk4", "semi-implicit-euler"])
def test_the_suggested_step_is_stable_and_near_the_largest(how: str, integrator: str) -> None:
    robot, controller = dq.robots.two_link(), gains(2e4, 300.0)
    asked: Any = {
        "held": lambda t, q, v: np.array(controller(t, q, v)),
        "law": ControlLaw(controller),
        "springs": None,
    }[how]
    if how == "springs":
        robot = robot.with_springs({joint.name: 1e5 for joint in robot.joints})
    options: dict[str, Any] = {"q0": [0.3, 0.2], "integrator": integrator, "limits": False, "efforts": "ignore"}
    with pytest.warns(
        SimulationWarning, match=r"the step of 0\.02 s is too large: .*joint 'joint\d' with a rate"
    ) as told:
        dq.simulate(robot, asked, 1.0, 0.02, **options)
    text = str(told[0].message)
    assert ("the controller, asked once per step" in text) == (how == "held")
    assert "integrator='implicit'" in text
    step = float(text.split("take dt = ")[1].split(" s ")[0])
    assert 1e-5 < step < 0.02
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # it need not be accurate
        stable, unstable = (dq.simulate(robot, asked, 400 * h, h, **options) for h in (step, 5.0 * step))
    assert not stable.status.startswith("diverged")
    assert np.abs(unstable.v).max() > 20.0 * np.abs(stable.v).max()


def test_a_step_too_large_for_the_motion_itself_is_not_called_stiff() -> None:
    with pytest.warns(SimulationWarning, match=r"too large: take a smaller step or another integrator"):
        dq.simulate(dq.robots.two_link(), None, 60.0, 0.2, q0=[0.3, 0.2], integrator="semi-implicit-euler")


def test_stops_of_the_engine_that_give_way_are_not_advised() -> None:
    """MuJoCo's stops are soft: an arm that falls on one leaves its range for a moment."""
    pytest.importorskip("mujoco")
    run = quiet(dq.robots.arm7(), None, 0.6, q0=START, plant="mujoco")
    assert {row["kind"] for row in run.about["beyond"]} == {"position", "velocity"}
    assert run.status.endswith("; the end stops gave way.")
    assert "limits=True" not in run.status
