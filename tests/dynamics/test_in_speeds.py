"""``robot.in_speeds``: Kane's equations in quasi-velocities, compiled, single and in batches, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from trees import assert_close, random_robot, random_state, rate_along

import dqdyn as dq
from dqdyn.algebra.quaternion import Quaternion, rotation_columns
from dqdyn.algebra.scalar import cos, divide, sin, sqrt
from dqdyn.constraints import Pfaffian
from dqdyn.errors import Error, ModelError, StateError, UnknownNameError
from dqdyn.model.description import Description, Joint, Link
from dqdyn.model.inertia import Inertia
from dqdyn.robot import Robot

Rows = Callable[[Sequence[Any]], list[list[Any]]]


@cache
def robot(name: str) -> Robot:
    """Small robots with damping, friction and armature; two of them have a q longer than v."""
    if name == "balls":
        return random_robot(21, 3, ("spherical", "revolute", "universal"))
    return random_robot(22, 2, ("revolute", "helical"), base="free") if name == "free base" else dq.robots.two_link()


def mixing(one: Robot, columns: int | None = None) -> Rows:
    """A matrix that depends on all of q, and mixes velocities of all joints; never near singular."""
    nv, nq = one.nv, one.nq
    rng = np.random.default_rng(1)
    order, weights = rng.permutation(nv), rng.uniform(-0.1, 0.1, size=(nv, nv))
    entry = lambda q, r, c: sin(q[(r + c) % nq]) * weights[r, c] + (c == order[r])
    return lambda q: [[entry(q, r, c) for c in range(columns or nv)] for r in range(nv)]


def matrix(rows: Rows, q: np.ndarray) -> np.ndarray:
    found = np.array([np.array(rows(list(x)), dtype=float) for x in q.reshape(-1, q.shape[-1])])
    return found.reshape(*q.shape[:-1], *found.shape[1:])


@pytest.mark.equation("Parsa", "8")
@pytest.mark.equation("Parsa", "11")
@pytest.mark.parametrize("by", ["B", "Y", "tall B"])
@pytest.mark.parametrize("name", ["two_link", "balls", "free base"])
def test_equations_are_those_of_the_robot_projected_on_b(name: str, by: str) -> None:
    one, batch = robot(name), (3, 1)
    rows = mixing(one, one.nv - 1 if by == "tall B" else None)
    speeds = one.in_speeds(Y=rows) if by == "Y" else one.in_speeds(rows)
    m, rng = speeds.m, np.random.default_rng(2)
    q, _, _ = random_state(one, rng, batch)
    u, u_rate = rng.normal(size=(*batch, m)), rng.normal(size=(*batch, m))
    B = np.linalg.inv(matrix(rows, q)) if by == "Y" else matrix(rows, q)
    times = lambda X, x: np.einsum("...ij,...j->...i", X, x)
    onto = lambda x: np.einsum("...ij,...i->...j", B, x)
    v = times(B, u)
    assert_close(speeds.matrix(q), B, 1e-12)
    assert_close(speeds.velocity(q, u), v, 1e-12)
    assert_close(speeds.speeds(q, v), u, 1e-11)
    b_rate = np.array([rate_along(speeds.matrix, one, *s) for s in zip(_flat(q), _flat(v), strict=True)])
    a = times(B, u_rate) + times(b_rate.reshape(B.shape), u)
    assert_close(speeds.acceleration(q, u, u_rate), a, 1e-9)
    a = speeds.acceleration(q, u, u_rate)
    frame = list(one.frames)[-1]
    wrenches = {frame: rng.normal(size=(*batch, 6))}
    tau = one.inverse_dynamics(q, v, a, wrenches)
    assert_close(speeds.inverse_dynamics(q, u, u_rate, wrenches), onto(tau), 1e-10)
    turned = speeds.inverse_dynamics(q, u, u_rate, wrenches, expressed="aligned")
    assert_close(turned, onto(one.inverse_dynamics(q, v, a, wrenches, expressed="aligned")), 1e-10)
    assert_close(speeds.inverse_dynamics(q, u, u_rate), onto(one.inverse_dynamics(q, v, a)), 1e-10)
    assert_close(speeds.forces(q, tau), onto(tau), 1e-12)
    M = np.swapaxes(B, -1, -2) @ one.mass_matrix(q) @ B
    assert_close(speeds.mass_matrix(q), M, 1e-11)
    bias = speeds.bias_forces(q, u)
    assert_close(bias, speeds.inverse_dynamics(q, u, np.zeros(m)), 1e-11)
    assert_close(times(M, u_rate) + bias, speeds.inverse_dynamics(q, u, u_rate), 1e-10)
    assert_close(speeds.forward_dynamics(q, u, speeds.forces(q, tau), wrenches), u_rate, 1e-8)
    assert_close(speeds.forward_dynamics(q, u, bias), np.zeros_like(u), 1e-8)
    for expressed in ("body", "aligned"):
        J = one.twist_jacobian(frame, q, expressed=expressed)
        assert_close(speeds.partial_velocities(q, frame, expressed=expressed), J @ B, 1e-11)
    assert speeds.partial_velocities(q).shape == (*batch, len(one.bodies), 6, m)
    for name, inputs in (("inverse_dynamics", (q, u, u_rate)), ("forward_dynamics", (q, u, u)), ("mass_matrix", (q,))):
        found = getattr(speeds, name)(*inputs)
        assert_close(getattr(speeds, name)(*(x[1, 0] for x in inputs)), found[1, 0], 1e-10)


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, x.shape[-1])


@pytest.mark.equation("Parsa", "44")
def test_partial_velocities_of_the_centers_of_mass() -> None:
    """Their squares, weighted by the inertias, are the mass matrix without armature."""
    one = robot("balls")
    speeds, q = one.in_speeds(mixing(one, 4)), one.random_configuration(3)
    found, total = speeds.partial_velocities(q), np.zeros((4, 4))
    for body, partial in zip(one.bodies, found, strict=True):
        total += (
            partial[:3].T @ np.array(body.inertia.tensor) @ partial[:3]
            + body.inertia.mass * partial[3:].T @ partial[3:]
        )
    rotors = np.diag([x for joint in one.joints for x in joint.armature])
    B = speeds.matrix(q)
    assert_close(speeds.mass_matrix(q), total + B.T @ rotors @ B, 1e-12)


@pytest.mark.equation("Parsa", "9")
@pytest.mark.equation("Parsa", "46")
def test_differential_drive_moves_as_under_its_constraint() -> None:
    """u: forward speed, turning rate and joints. The robot's own forward dynamics finds the motion by multipliers."""
    one = dq.robots.nonholonomic_manipulator()

    def b(q: Sequence[Any]) -> list[list[Any]]:
        forward = [[x, *[0.0] * (one.nv - 2)] for x in (cos(q[2]), sin(q[2]))]
        return forward + [[float(k == i) for k in range(one.nv - 1)] for i in range(1, one.nv - 1)]

    speeds, rng = one.in_speeds(b), np.random.default_rng(4)
    q = np.array([one.random_configuration(rng) for _ in range(3)])
    u, tau = rng.normal(size=(3, one.nv - 1)), rng.normal(size=(3, one.nv))
    v = speeds.velocity(q, u)
    u_rate = speeds.forward_dynamics(q, u, speeds.forces(q, tau))
    assert_close(speeds.acceleration(q, u, u_rate), one.forward_dynamics(q, v, tau), 1e-8)
    assert_close(speeds.speeds(q, v), u, 1e-12)
    aside = v[1] + [-np.sin(q[1, 2]), np.cos(q[1, 2]), *[0.0] * (one.nv - 2)]
    with pytest.raises(StateError, match=r"misses the nearest by .*: give a velocity") as caught:
        speeds.speeds(q[1], aside)
    assert caught.value.off == pytest.approx(np.abs([np.sin(q[1, 2]), np.cos(q[1, 2])]).max())
    with pytest.raises(StateError, match=r"breaks the constraint '.*' of .* at the q of state 0: give a B"):
        one.in_speeds(mixing(one, 3)).inverse_dynamics(q, u[:, :3], u[:, :3])
    free = one.without_constraints().in_speeds(mixing(one, 3))
    assert free.inverse_dynamics(q, u[:, :3], u[:, :3]).shape == (3, 3)


@pytest.mark.long
def test_angular_velocity_of_a_free_base_in_world_axes() -> None:
    """The first three u are ω in world axes, and the power of all forces stays what it is."""
    one = dq.robots.humanoid()

    def y(q: Sequence[Any]) -> list[list[Any]]:
        columns = rotation_columns(Quaternion(*q[:4]))
        turn = [[c.vector[i] for c in columns] + [0.0] * (one.nv - 3) for i in range(3)]
        return turn + [[float(k == i) for k in range(one.nv)] for i in range(3, one.nv)]

    speeds, rng = one.in_speeds(Y=y), np.random.default_rng(5)
    q, v = one.random_configuration(rng), rng.normal(size=one.nv)
    u = speeds.speeds(q, v)
    assert_close(u[:3], one.twist("pelvis", q, v, expressed="aligned").vec6()[:3], 1e-12)
    u_rate = rng.normal(size=one.nv)
    tau = one.inverse_dynamics(q, v, speeds.acceleration(q, u, u_rate))
    assert float(speeds.inverse_dynamics(q, u, u_rate) @ u) == pytest.approx(float(tau @ v), rel=1e-10)


def test_functions_out_and_check() -> None:
    one = robot("two_link")
    speeds = one.in_speeds(Y=lambda q: [[1, 0], [1, np.float64(1.0)]])
    q, u = np.array([[0.3, 0.4]] * 5), np.arange(10.0).reshape(5, 2)
    f = speeds.function("inverse_dynamics")
    expected, out = speeds.inverse_dynamics(q, u, u), np.empty((5, 2))
    assert_close(f(q, u, u), expected, 1e-14)
    assert_close(f(q[2], u[2], u[2]), expected[2], 1e-14)
    assert speeds.inverse_dynamics(q, u, u, out=out) is out
    assert_close(out, expected, 1e-14)
    pulled = speeds.function("forward_dynamics", wrench_frames=["tool"], wrench_expressed="aligned")
    w = np.arange(6.0)
    assert_close(
        pulled(q[0], u[0], u[1], w), speeds.forward_dynamics(q[0], u[0], u[1], {"tool": w}, expressed="aligned")
    )
    jacobian = speeds.function("partial_velocities", frame="tool", expressed="world")
    assert_close(jacobian(q), speeds.partial_velocities(q, "tool", expressed="world"), 1e-14)
    assert speeds.function("mass_matrix")(q).shape == (5, 2, 2)
    assert np.isnan(speeds.velocity([0.0, 0.0], [np.nan, 0.0], check=False)).all()
    assert repr(speeds) == "RobotInSpeeds('two_link', u = Y(q) v, m=2, nv=2)"


def identity(q: Sequence[Any]) -> list[list[float]]:
    return [[1.0, 0.0], [0.0, 1.0]]


def test_value() -> None:
    one = robot("two_link")
    speeds = one.in_speeds(identity)
    again = pickle.loads(pickle.dumps(speeds))
    assert again == speeds
    assert hash(again) == hash(speeds)
    assert speeds != one.in_speeds(Y=identity)
    assert speeds != one.with_gravity((0.0, 0.0, 0.0)).in_speeds(identity)
    assert_close(
        again.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 4.0]), one.inverse_dynamics([0.1, 0.2], [1, 2], [3, 4])
    )


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "takes one of B"),
    "both": ({"B": identity, "Y": identity}, "takes one of B"),
    "an array": ({"B": np.eye(2)}, r"function of q that gives the rows of v = B\(q\) u, .*found ndarray"),
    "a number": ({"Y": 1.0}, r"u = Y\(q\) v"),
    "one row": ({"B": lambda q: [[1.0]]}, r"2 rows \(nv of 'two_link'\).*lengths \[1\]"),
    "ragged": ({"B": lambda q: [[1.0], [1.0, 0.0]]}, r"lengths \[1, 2\]"),
    "no columns": ({"B": lambda q: [[], []]}, r"from 1 to 2; found rows of lengths \[0, 0\]"),
    "wide": ({"B": lambda q: [[1.0, 0.0, 0.0]] * 2}, "at most 2 columns"),
    "tall Y": ({"Y": lambda q: [[1.0], [2.0]]}, "2 rows of 2 entries, as it has to be inverted"),
    "flat": ({"B": lambda q: [1.0, 2.0]}, "cannot be traced"),
    "none": ({"B": lambda q: None}, "cannot be traced"),
    "words": ({"B": lambda q: [["a"], ["b"]]}, "cannot be traced"),
    "complex": ({"B": lambda q: [[1j], [1.0]]}, "cannot be traced"),
    "numpy": ({"B": lambda q: [[np.sin(q[0])], [1.0]]}, "cannot be traced.*dqdyn.algebra.scalar"),
    "linalg": ({"B": lambda q: np.linalg.inv(np.array([[q[0], 1.0], [1.0, q[1]]]))}, "cannot be traced"),
    "branch": ({"B": lambda q: [[1.0], [2.0]] if q[0] > 0.0 else [[1.0], [3.0]]}, "cannot be traced.*instead of if"),
    "no such q": ({"B": lambda q: [[q[2]], [1.0]]}, "whose q has 2 entries: IndexError"),
    "NaN": ({"B": lambda q: [[1.0, 0.0], [float("nan"), 1.0]]}, r"is nan at \[1\]\[0\]"),
    "dependent": ({"B": lambda q: [[1.0, 2.0], [2.0, 4.0]]}, "singular at this q: its column 1"),
    "zero Y": ({"Y": lambda q: [[0.0, 0.0], [0.0, 1.0]]}, "singular at this q: its column 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_matrix_is_refused(name: str) -> None:
    given, text = REFUSED[name]
    with pytest.raises(Error, match=text) as caught:
        robot("two_link").in_speeds(**given)
    assert str(caught.value).endswith(".")


def test_singular_states_are_named() -> None:
    one = robot("two_link")
    turning = one.in_speeds(Y=lambda q: [[sin(q[0]), 0.0], [0.0, 1.0]])
    q, u = np.array([[0.5, 0.0], [0.0, 0.0]]), np.ones((2, 2))
    assert turning.speeds(q, u)[1, 0] == 0.0  # Y itself is there
    for call in (turning.velocity, turning.bias_forces, turning.function("bias_forces")):
        with pytest.raises(
            StateError, match=r"Y\(q\) of 'two_link' is singular at the q of state 1: its column 0"
        ) as e:
            call(q, u)
        assert e.value.row == (1,)
    with pytest.raises(StateError, match="singular at this q"):
        turning.mass_matrix(q[1])
    by_b = one.in_speeds(lambda q: [[sin(q[0]), 0.0], [0.0, 1.0]])
    assert by_b.velocity(q[1], u[1])[0] == 0.0
    for call in (by_b.speeds, lambda q, u: by_b.forward_dynamics(q, u, u)):
        with pytest.raises(StateError, match=r"B\(q\) of 'two_link' is singular at this q"):
            call(q[1], u[1])
    pole = one.in_speeds(lambda q: [[divide(1.0, q[0])], [sqrt(q[1])]])
    for at in ([0.0, 1.0], [1.0, -1.0]):
        with pytest.raises(StateError, match="not finite at this q"):
            pole.velocity(at, [1.0])
    assert_close(pole.velocity([0.5, 4.0], [1.0]), [2.0, 2.0])


def test_robots_that_cannot() -> None:
    one = robot("two_link")
    moving = one.with_constraints(Pfaffian(lambda at: ([[1.0, 0.0]], [at.t]), timed=True, name="driven"))
    with pytest.raises(Error, match="'driven' of 'two_link' depends on the time"):
        moving.in_speeds(identity)
    drawn = one.with_constraints(Pfaffian(lambda at: ([[1.0, 0.0]], [0.5]), name="drawn"))
    with pytest.raises(StateError, match=r"breaks the constraint 'drawn'.*by 0\.5"):
        drawn.in_speeds(lambda q: [[0.0], [1.0]]).mass_matrix([0.0, 0.0])
    with pytest.raises(Error, match="no moving joint"):
        Robot.from_description(Description("stone", (Link("stone"),))).in_speeds(lambda q: [])
    point = Inertia(1.0, (1.0, 0.0, 0.0), ((0.0, 0.0, 0.0),) * 3)
    links = (Link("base"), Link("ring"), Link("ball", point))
    joints = (
        Joint("x", "revolute", "base", "ring", axis=(1.0, 0.0, 0.0)),
        Joint("z", "revolute", "ring", "ball", axis=(0.0, 0.0, 1.0)),
    )
    gimbal = Robot.from_description(Description("gimbal", links, joints)).in_speeds(identity)
    assert np.isfinite(gimbal.forward_dynamics([0.0, 0.7], [1.0, 1.0], [0.0, 0.0])).all()
    with pytest.raises(ModelError, match=r"impossible at this q: the quasi-velocity u\[0\] moves no inertia"):
        gimbal.forward_dynamics([0.3, 0.0], [1.0, 1.0], [0.0, 0.0])


def test_bad_states_and_names_are_told() -> None:
    speeds = robot("free base").in_speeds(mixing(robot("free base"), 3))
    q = speeds.robot.neutral()
    with pytest.raises(StateError, match=r"u of .* has 3 components"):
        speeds.velocity(q, np.zeros(4))
    with pytest.raises(StateError, match=r"u_rate\[1\] of .* is nan"):
        speeds.inverse_dynamics(q, np.zeros(3), [0.0, np.nan, 0.0])
    with pytest.raises(StateError, match="norm"):
        speeds.velocity(2.0 * q, np.zeros(3))
    for bad in ({"method": "x"}, {"frame": "tool"}):
        with pytest.raises(UnknownNameError):
            speeds.function("mass_matrix", **bad)
    with pytest.raises(UnknownNameError, match="'mas'"):
        speeds.function("mas")
    with pytest.raises(UnknownNameError, match="expression"):
        speeds.partial_velocities(q, "tool", expressed="sideways")
    with pytest.raises(UnknownNameError, match="expression"):
        speeds.function("inverse_dynamics", wrench_frames=["tool"], wrench_expressed="world")
    with pytest.raises(Error, match="list of frames"):
        speeds.function("inverse_dynamics", wrench_frames="tool")
