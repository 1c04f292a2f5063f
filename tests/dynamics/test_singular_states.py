"""M may be singular in some configurations: forward dynamics says at which joint, instead of giving noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_robots import FILES
from trees import TREES, random_inertia, random_placement, random_state, tree
from typer.testing import CliRunner

import dqdyn as dq
from dqdyn import Description, Inertia, Joint, Link, ModelError, Robot
from dqdyn.cli.app import app
from dqdyn.dynamics.fast import composite
from dqdyn.dynamics.massless_joints import is_regular

BODY = Inertia(1.0, (0.1, 0.2, 0.3), ((0.1, 0, 0), (0, 0.12, 0), (0, 0, 0.15)))
NOTHING = Inertia()
POINT = Inertia(1.0, (0.0, 0.0, 0.3), ((0.0,) * 3,) * 3)
Z, X = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


def gimbal(middle: Inertia = NOTHING, armature: float = 0.0) -> Robot:
    """Yaw, roll and yaw again, as a wrist or a ball joint is often modelled, with links of no mass between them."""
    links = (Link("base"), Link("first", middle), Link("second", middle), Link("end", BODY))
    joints = (
        Joint("yaw", "revolute", "base", "first", axis=Z, armature=armature),
        Joint("roll", "revolute", "first", "second", axis=X, armature=armature),
        Joint("yaw again", "revolute", "second", "end", axis=Z),
    )
    return Robot.from_description(Description("gimbal", links, joints))


def spun_point() -> Robot:
    """A point mass on the end of a pendulum that can also spin about its vertical axis: no inertia while it hangs."""
    links = (Link("base"), Link("spinning"), Link("mass", POINT))
    joints = (
        Joint("spin", "revolute", "base", "spinning", axis=Z),
        Joint("swing", "revolute", "spinning", "mass", axis=X),
    )
    return Robot.from_description(Description("spun", links, joints))


CASES = {
    "gimbal": (gimbal, [0.3, 0.0, -0.2], [0.3, 0.4, -0.2], "yaw"),
    "gimbal, nearly": (gimbal, [0.3, 1e-7, -0.2], [0.3, 1e-3, -0.2], "yaw"),
    "point": (spun_point, [0.7, 0.0], [0.7, 0.1], "spin"),
}


@pytest.mark.parametrize("name", CASES)
def test_states_without_an_answer_are_refused_by_name(name: str) -> None:
    make, at, beside, joint = CASES[name]
    robot = make()
    z, tau = np.zeros(robot.nv), np.linspace(0.5, 1.0, robot.nv)
    assert np.linalg.cond(robot.mass_matrix(at)) > 1e9
    assert not is_regular(robot.model)
    calls: list[Any] = [
        lambda q, **o: robot.forward_dynamics(q, z, tau, **o),
        lambda q, **o: robot.forward_dynamics(q, z, tau, method="articulated-body", **o),
        lambda q, **o: robot.forward_dynamics(q, z, tau, method="composite-body", **o),
        lambda q, **o: robot.forward_dynamics(q, z, tau, {robot.bodies[-1].name: np.ones(6)}, **o),
        lambda q, **o: robot.function("forward_dynamics")(np.array(q), z, tau, **o),
        lambda q, **o: robot.forward_dynamics_derivatives(q, z, tau, **o)[2],
    ]
    for call in calls:
        with pytest.raises(ModelError, match=f"impossible at this q: joint '{joint}' moves no inertia there") as caught:
            call(at)
        assert caught.value.joint == joint
        with np.errstate(all="ignore"):
            call(at, check=False)  # whatever it is
        assert np.isfinite(call(beside)).all()
    np.testing.assert_allclose(robot.inverse_dynamics(beside, z, calls[0](beside)), tau, rtol=1e-7)
    robot.inverse_dynamics(at, z, z)


def test_the_state_of_a_batch_is_named_and_nothing_is_written() -> None:
    robot = gimbal()
    q = np.array([[0.3, 0.4, -0.2]] * 20)
    q[11, 1] = 0.0
    z, out = np.zeros((20, 3)), np.full((20, 3), 7.0)
    for batch, where in ((q, "11"), (q.reshape(4, 5, 3), r"\(2, 1\)")):
        with pytest.raises(ModelError, match=f"at the q of state {where}: joint 'yaw'"):
            robot.forward_dynamics(batch, z.reshape(batch.shape), z.reshape(batch.shape), out=out.reshape(batch.shape))
    assert (out == 7.0).all()
    q[11, 1] = 0.1
    np.testing.assert_allclose(robot.forward_dynamics(q, z, z, out=out)[11], robot.forward_dynamics(q[11], z[0], z[0]))
    assert robot.forward_dynamics(q[:0], z[:0], z[:0]).shape == (0, 3)


def test_bad_numbers_come_first() -> None:
    robot, z = gimbal(), np.zeros(3)
    with pytest.raises(dq.StateError, match=r"joint 'roll'.* is nan"):
        robot.forward_dynamics([0.0, np.nan, 0.0], z, z)
    with pytest.raises(dq.StateError, match=r"joint 'roll'.* is nan"):
        robot.forward_dynamics([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]], z, z)


def test_arrays_are_checked_in_machine_code() -> None:
    """Bound functions with arrays take the quick way; what it does not let pass gets the words of the function."""
    robot, z = gimbal(), np.zeros(3)
    f = robot.function("forward_dynamics")
    expected = robot.forward_dynamics([0.3, 0.4, -0.2], z, z, check=False)
    np.testing.assert_array_equal(f(np.array([0.3, 0.4, -0.2]), z, z), expected)
    out = np.full(3, 7.0)
    with pytest.raises(ModelError, match="joint 'yaw' moves no inertia there"):
        f(np.array([0.3, 0.0, -0.2]), z, z, out=out)
    with pytest.raises(dq.StateError, match=r"joint 'roll'.* is nan"):
        f(np.array([0.0, np.nan, 0.0]), z, z, out=out)
    with pytest.raises(dq.StateError, match="q"):
        f(np.zeros(4), z, z, out=out)
    assert (out == 7.0).all()
    batch = np.array([[0.3, 0.4, -0.2]] * 3)
    np.testing.assert_allclose(f(batch, z, z), [expected] * 3, rtol=1e-12)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_icub_stands_with_its_neck_straight(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two links of its neck have no mass, and the axes are dependent where it looks straight on."""
    monkeypatch.setenv("DQDYN_NATIVE", "0")  # compiling would take longer than all of it
    robot = dq.load(FILES["icub/icub"], base=base).without_friction()
    z = np.zeros(robot.nv)
    with pytest.raises(ModelError, match="joint 'neck_roll' moves no inertia there"):
        robot.forward_dynamics(robot.neutral(), z, z)
    a = robot.forward_dynamics(robot.random_configuration(np.random.default_rng(0)), z, z)
    assert np.isfinite(a).all()
    assert np.isfinite(robot.inverse_dynamics(robot.neutral(), z, z)).all()


@pytest.mark.parametrize(
    "make", [dq.robots.arm7, dq.robots.humanoid, lambda: gimbal(BODY), lambda: gimbal(armature=0.1)]
)
def test_robots_whose_bodies_have_inertia_need_no_look(make: Any) -> None:
    """Their function is machine code from the start."""
    robot = make()
    assert is_regular(robot.model)
    robot.require_regular(robot.neutral())
    assert type(robot.function("forward_dynamics")).__name__ == "builtin_function_or_method"


def test_simulations_do_not_start_there() -> None:
    robot = gimbal()
    for integrator in ("rkmk4", "adaptive"):
        with pytest.raises(ModelError, match="joint 'yaw' moves no inertia there"):
            dq.simulate(robot, None, 0.01, 1e-3, integrator=integrator)
    assert dq.simulate(robot, None, 0.01, 1e-3, q0=[0.0, 0.4, 0.0]).status == "finished"


def test_the_command_leaves_forward_dynamics_out(tmp_path: Path) -> None:
    path = str(gimbal().write(tmp_path / "gimbal.json"))
    for q, expected in ("0.3,0,0.1", False), ("0.3,0.4,0.1", True):
        result = CliRunner().invoke(app, ["dynamics", path, "--q", q, "--json"])
        assert result.exit_code == 0, result.output
        functions = {entry["function"] for entry in json.loads(result.stdout)["deviations"]}
        assert ("forward_dynamics" in functions) == expected


def heavy_and_light(masses: tuple[float, ...], seed: int) -> Robot:
    """A chain of links of these masses in kg; a negative one is a point on the axis of its joint, without inertia."""
    rng = np.random.default_rng(seed)
    links, joints = [Link("link_0")], []
    for i, mass in enumerate(masses):
        body = random_inertia(rng)
        tensor = np.array(body.tensor) * (mass / body.mass)
        inertia = Inertia(-mass) if mass < 0 else Inertia(mass, body.com, tensor)
        joints.append(Joint(f"j{i}", "revolute", f"link_{i}", f"link_{i + 1}", random_placement(rng)))
        links.append(Link(f"link_{i + 1}", inertia))
    return Robot.from_description(Description("heavy and light", tuple(links), tuple(joints)))


@pytest.mark.parametrize("seed", [6, 12, 29])
def test_a_light_link_beside_a_heavy_one_is_no_singularity(seed: int) -> None:
    robot = heavy_and_light((1e9, 1e-9, 1e9, 1e-9), seed)
    q, v, a = random_state(robot, np.random.default_rng(1))
    for method in ("composite-body", "articulated-body"):
        found = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a), method=method)
        np.testing.assert_allclose(found, a, rtol=1e-9)


@pytest.mark.parametrize("masses", [(1e9, 1e-9, -1e9), (1e9, 1e-9, -1e-9), (-1e-9,)])
def test_a_point_on_the_axis_moves_no_inertia_however_heavy(masses: tuple[float, ...]) -> None:
    robot = heavy_and_light(masses, 3)
    q, v, a = random_state(robot, np.random.default_rng(1))
    with pytest.raises(ModelError, match=f"joint 'j{len(masses) - 1}' moves no inertia"):
        robot.forward_dynamics(q, v, a)


@pytest.mark.parametrize("name", TREES)
def test_the_diagonal_alone_is_that_of_the_matrix(name: str) -> None:
    model = tree(name).model
    q = [float(c) for c in random_state(tree(name), np.random.default_rng(1))[0]]
    matrix = np.array(composite.mass_matrix(model, q), dtype=float)
    np.testing.assert_allclose(np.array(composite.diagonal(model, q), dtype=float), np.diag(matrix), rtol=1e-12)


def test_long_chains_are_regular_though_their_joints_move_much() -> None:
    for robot in (dq.robots.chain(300, seed=1), dq.robots.chain(300)):
        assert is_regular(robot.model)
