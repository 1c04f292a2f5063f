"""Robots keep their constraints: pickled, compared, edited, written; nothing bypasses or loses them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from constraint_robots import RandomPfaffian, robot_of, state
from trees import assert_close

import dqdyn as dq
from dqdyn import constraints as kinds

CLOSED = ["four-bar", "five-bar", "stewart platform", "nonholonomic manipulator", "weld", "hinge", "rod", "gears"]


@pytest.mark.parametrize("name", [*CLOSED, "slider"])
def test_json_holds_them(name: str, tmp_path: Path) -> None:
    robot = robot_of(name).with_constraints(stabilisation=kinds.Baumgarte(12.5))
    path = robot.write(tmp_path / "robot.json")
    again = dq.load(path)
    assert again.constraints == robot.constraints
    assert again.stabilisation == kinds.Baumgarte(12.5)
    assert again == robot
    assert again.model.stabilisation == robot.model.stabilisation
    bare = dq.load(path, constrained=False)
    assert bare.constraints == ()
    assert bare == robot.without_constraints()


def test_files_of_earlier_days_load(tmp_path: Path) -> None:
    """Before there were loops, JSON had no place for them."""
    path = dq.robots.arm6().write(tmp_path / "robot.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["loops"], data["stabilisation"]
    path.write_text(json.dumps(data), encoding="utf-8")
    assert dq.load(path) == dq.robots.arm6()


def test_bad_loops_in_files_are_named(tmp_path: Path) -> None:
    path = dq.robots.four_bar().write(tmp_path / "robot.json")
    text = path.read_text(encoding="utf-8")
    for old, new, message in (
        ('"point"', '"pnt"', "kind of loop named 'pnt': did you mean 'point'"),
        ('["coupler_end", "rocker_end"]', '["coupler_end"]', "lies between 2 frames and has 0 values; found 1 and 0"),
        ('["coupler_end", "rocker_end"]', '["coupler_end", "roker_end"]', "'pin' does not fit .* 'rocker_end'"),
    ):
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(dq.Error, match=message):
            dq.load(path)


def test_projection_is_written_too(tmp_path: Path) -> None:
    robot = dq.robots.four_bar().with_constraints(stabilisation="projection")
    assert dq.load(robot.write(tmp_path / "robot.json")).stabilisation == kinds.Projection()


@pytest.mark.parametrize("name", ["pfaffian", "sphere", "contacts", "knife edge", "wheels"])
def test_files_refuse_what_they_cannot_hold(name: str, tmp_path: Path) -> None:
    robot = robot_of(name)
    lost = next(c.name for c in robot.constraints if c.loop() is None)
    for ending in (".json", ".urdf", ".xml"):
        with pytest.raises(dq.FormatError, match=f"cannot hold the constraint '{lost}'") as caught:
            robot.write(tmp_path / f"robot{ending}")
        assert caught.value.element == lost
    robot.without_constraints().write(tmp_path / "robot.json")


def test_urdf_refuses_loops(tmp_path: Path) -> None:
    with pytest.raises(dq.FormatError, match="cannot hold the constraint 'pin'"):
        dq.robots.four_bar().write(tmp_path / "robot.urdf")
    with pytest.warns(dq.ModelWarning, match="left out: the constraint 'pin'"):
        dq.robots.four_bar().write(tmp_path / "robot.urdf", lossy=True)
    assert "pin" not in (tmp_path / "robot.urdf").read_text()


@pytest.mark.parametrize("name", [*CLOSED, "contacts", "pfaffian", "sphere", "knife edge", "wheels", "clock"])
def test_pickled_and_compared(name: str) -> None:
    robot = robot_of(name)
    again = pickle.loads(pickle.dumps(robot))
    assert again == robot
    assert hash(again) == hash(robot)
    assert again.constraints == robot.constraints
    assert robot != robot.without_constraints()
    assert robot.without_constraints() == robot.without_constraints().without_constraints()


def test_edits_keep_them() -> None:
    robot = dq.robots.four_bar().with_constraints(
        kinds.DistanceClosure("world", "tool", 0.4), stabilisation="baumgarte", check=False
    )
    for changed in (
        robot.with_payload("tool", 0.5),
        robot.with_gravity([0.0, 0.0, -1.6]),
        robot.without_friction(),
        robot.add_frame("eye", "tool", np.eye(4)),
        robot.lock({"crank_joint": 0.1}),
        robot.with_base("free"),
    ):
        assert changed.constraints == robot.constraints
        assert changed.stabilisation == robot.stabilisation
        assert changed.description.loops == robot.description.loops
    assert robot.with_base("differential").constraints[0].name == "rolling"
    assert robot.with_base("differential").with_base("fixed").constraints == robot.constraints
    first, second, *_ = (joint.name for joint in dq.robots.arm6().joints)
    geared = dq.robots.arm6().with_constraints(kinds.JointCoupling((first, second), (1.0, 1.0), name="gear"))
    with pytest.raises(dq.ModelError, match="'gear' does not fit") as caught:
        geared.lock({first: 0.0})
    assert caught.value.constraint == "gear"


def test_differential_base_is_constrained_and_can_be_bare() -> None:
    robot = dq.robots.nonholonomic_manipulator()
    assert [c.name for c in robot.constraints] == ["rolling"]
    for bare in (
        dq.robots.nonholonomic_manipulator(constrained=False),
        dq.load("nonholonomic_manipulator", constrained=False),
        robot.without_constraints(),
        dq.robots.nonholonomic_manipulator(base="planar"),
    ):
        assert bare.constraints == ()
        assert bare.base == "planar"
    arm = dq.robots.arm6(base="differential")
    assert [c.name for c in arm.constraints] == ["rolling"]
    q, v, tau = state(robot)
    free, held = robot.without_constraints().forward_dynamics(q, v, tau), robot.forward_dynamics(q, v, tau)
    assert np.abs(free - held).max() > 1e-3


def test_nothing_bypasses_them() -> None:
    """Method, shortcut, bound function, other methods, batches and threads obey alike."""
    robot = dq.robots.four_bar()
    q, v, tau = state(robot)
    expected = robot.forward_dynamics(q, v, tau, method="kane")
    for _ in range(4):  # the second call takes a shortcut
        assert_close(robot.forward_dynamics(q, v, tau), expected, 1e-9)
        assert_close(robot.forward_dynamics(q, v, tau, method="kkt"), expected, 1e-9)
    assert_close(robot.forward_dynamics(q, v, tau, check=False), expected, 1e-9)
    assert_close(robot.function("forward_dynamics")(q, v, tau), expected, 1e-9)
    assert_close(robot.function("forward_dynamics", method="kkt")(q, v, tau), expected, 1e-9)
    many = robot.function("forward_dynamics")(np.tile(q, (200, 1)), v, tau, threads=2)
    assert_close(many, np.tile(expected, (200, 1)), 1e-9)
    assert robot.count("forward_dynamics", simplify=False).total > robot.count("forward_dynamics").total
    assert "λ" in (robot.function("constraint_multipliers").__doc__ or "")
    with pytest.raises(dq.UnknownNameError):
        dq.robots.arm6().function("constraint_multipliers")


def test_exports_obey_them() -> None:
    robot = dq.robots.four_bar()
    text = robot.export("c", "forward_dynamics")
    assert "forward_dynamics" in text
    q, v, tau = state(robot)
    function = robot.export("casadi", "forward_dynamics")
    assert_close(np.array(function(q, v, tau)).ravel(), robot.forward_dynamics(q, v, tau), 1e-9)


def test_robots_without_constraints_have_empty_rows() -> None:
    robot = dq.robots.arm6()
    q = np.zeros((3, 6))
    assert robot.constraint_matrix(q).shape == (3, 0, 6)
    assert robot.constraint_bias(q, q).shape == robot.constraint_velocity(q, q).shape == (3, 0)
    assert robot.constraint_residual(q).shape == (3, 0)
    assert robot.constraint_multipliers(q, q, q).shape == (3, 0)
    assert robot.constraint_forces(q, q, q).shape == (3, 6)
    robot.require_consistent(q, q)
    report = robot.constraint_report(q[0])
    assert (report.rank, report.freedom, report.dependences) == (0, 6, ())


def test_constraints_compose() -> None:
    robot = dq.robots.bimanual()
    both = robot.with_constraints(kinds.DistanceClosure("left_hand", "right_hand", 0.4))
    both = both.with_constraints(kinds.Pfaffian(RandomPfaffian(9, 1, 16), 1, name="odd"))
    assert both.constraint_rows == ("distance left_hand-right_hand", "odd")
    q, v, tau = state(both)
    assert_close(both.forward_dynamics(q, v, tau, method="kane"), both.forward_dynamics(q, v, tau), 1e-8)


# --- inverse dynamics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "stewart platform", "nonholonomic manipulator"])
def test_inverse_dynamics_with_chosen_motors(name: str) -> None:
    """Their torques give the acceleration, and no smaller ones of the same motors do."""
    robot = robot_of(name)
    motors = {
        "four-bar": ["crank_joint"],
        "five-bar": ["left_proximal_joint", "right_proximal_joint"],
        "stewart platform": [f"leg_{i}" for i in range(1, 7)],
        "nonholonomic manipulator": "all",
    }[name]
    q, v, tau = state(robot)
    a = robot.forward_dynamics(q, v, tau)
    found = robot.inverse_dynamics(q, v, a, actuated=motors)
    assert_close(robot.forward_dynamics(q, v, found), a, 1e-7)
    if motors != "all":
        rest = [k for j in robot.joints if j.name not in motors for k in range(j.v.start, j.v.stop)]
        assert_close(found[rest], np.zeros(len(rest)), 0)
    everything = robot.inverse_dynamics(q, v, a, actuated="all")
    assert_close(robot.forward_dynamics(q, v, everything), a, 1e-7)
    assert np.linalg.norm(everything) <= np.linalg.norm(found) + 1e-9
    assert np.linalg.norm(everything) <= np.linalg.norm(robot.inverse_dynamics(q, v, a)) + 1e-9
    batch = robot.inverse_dynamics(np.tile(q, (3, 1)), v, a, actuated=motors)
    assert_close(batch, np.tile(found, (3, 1)), 1e-9)
    assert_close(robot.inverse_dynamics(q, v, a, actuated="motors"), found, 0)  # the robots say the same


def test_motors_that_do_not_reach_are_refused() -> None:
    robot = dq.robots.humanoid()
    state = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    with pytest.raises(dq.StateError, match=r"the motors of 'humanoid' cannot give .*: .*; give it more by") as caught:
        robot.inverse_dynamics(*state, actuated="motors")
    assert caught.value.residual > 0.1
    floating = robot.with_gravity([0.0, 0.0, 0.0])
    assert_close(floating.inverse_dynamics(*state, actuated="motors"), np.zeros(robot.nv), 0)


def test_what_cannot_be_actuated_is_refused() -> None:
    robot = dq.robots.five_bar()
    q, v, tau = state(robot)
    a = robot.forward_dynamics(q, v, tau)
    with pytest.raises(dq.StateError, match="cannot give this acceleration") as caught:
        robot.inverse_dynamics(q, v, a, actuated=["left_proximal_joint"])
    assert caught.value.residual > 1e-6
    with pytest.raises(dq.StateError, match="does not obey the constraint 'pin'") as caught:
        robot.inverse_dynamics(q, v, a + 1.0, actuated="all")
    assert caught.value.residual > 1e-3
    with pytest.raises(dq.UnknownNameError):
        robot.inverse_dynamics(q, v, a, actuated=["left_proximal"])
    with pytest.raises(dq.StateError, match="names of joints"):
        robot.inverse_dynamics(q, v, a, actuated=3)
