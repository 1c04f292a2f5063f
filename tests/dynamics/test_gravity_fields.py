"""``robot.with_gravity(field)``: every function of the robot is in the field, or says that it cannot be."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import assert_close, random_robot, random_state, rate_along, run

import dqdyn as dq
from dqdyn.coordinates.equation_of_motion import EquationOfMotion
from dqdyn.dynamics.formulations import lagrange
from dqdyn.dynamics.gravity.fields import Central, Potential, Uniform
from dqdyn.dynamics.joint_forces import armature, velocity_forces
from dqdyn.dynamics.methods import FORWARD, INVERSE
from dqdyn.errors import Error, FormatError, ModelWarning
from dqdyn.robot import Robot

NEAR = Central(8.0, center=(0.5, -1.0, -2.0))  # so near that the extent of bodies, and who is where, matter
NOTHING = (0.0, 0.0, 0.0)
G = (0.3, -0.2, -9.81)


@dataclass(frozen=True)
class Same:
    """Uniform gravity as a field of the user's own, by its potential."""

    g: tuple[float, float, float]

    def energy(self, inertia: Any, seen: Any) -> Any:
        return Potential(self._height).energy(inertia, seen)

    def wrench(self, inertia: Any, seen: Any) -> Any:
        return Potential(self._height).wrench(inertia, seen)

    def _height(self, p: list[Any]) -> Any:
        return -(p[0] * self.g[0] + p[1] * self.g[1] + p[2] * self.g[2])


@cache
def tree(name: str) -> Robot:
    """Small robots with damping, friction and armature."""
    if name == "balls":
        return random_robot(31, 3, ("spherical", "revolute", "prismatic"))
    return random_robot(32, 2, ("revolute", "universal"), base="free") if name == "free base" else dq.robots.arm7()


@pytest.mark.parametrize("name", ["balls", "free base", "arm7"])
def test_dynamics_are_those_under_the_wrenches_of_the_field(name: str) -> None:
    """Every formulation on plain numbers; machine code and batches for those that "auto" takes."""
    one = tree(name)
    field, empty = one.with_gravity(NEAR), one.with_gravity(NOTHING)
    q, v, a = random_state(one, np.random.default_rng(1), (3,))
    pulls = one.gravity_wrenches(NEAR, q)
    tau = empty.inverse_dynamics(q, v, a, pulls)
    assert np.abs(tau - empty.inverse_dynamics(q, v, a)).max() > 0.1
    for method in INVERSE:
        assert_close(run(field, "inverse_dynamics", q, v, a, method=method), tau, 1e-10)
    for method in FORWARD:
        assert_close(run(field, "forward_dynamics", q, v, tau, method=method), a, 1e-8)
    assert_close(field.inverse_dynamics(q, v, a), tau, 1e-10)
    assert_close(field.inverse_dynamics(q[1], v[1], a[1], method="kane"), tau[1], 1e-10)
    assert_close(field.forward_dynamics(q, v, tau), a, 1e-8)
    still = np.zeros(one.nv)
    assert_close(field.bias_forces(q, v), empty.inverse_dynamics(q, v, still, pulls), 1e-10)
    assert_close(field.gravity_forces(q), empty.inverse_dynamics(q, still, still, pulls), 1e-10)
    more = {"tool" if "tool" in one.frames else one.bodies[-1].name: np.arange(6.0)}
    push = empty.inverse_dynamics(q, v, a, more) - empty.inverse_dynamics(q, v, a)
    assert_close(field.inverse_dynamics(q, v, a, more), tau + push, 1e-10)
    assert_close(field.forward_dynamics(q, v, tau + push, more), a, 1e-8)
    assert_close(field.joint_wrenches(q, v, a), empty.joint_wrenches(q, v, a, pulls), 1e-10)
    assert_close(field.mass_matrix(q), empty.mass_matrix(q), 1e-12)
    assert_close(field.coriolis_matrix(q, v), empty.coriolis_matrix(q, v), 1e-12)
    slope = [field.gauss_function(q, v, a + e, tau) - field.gauss_function(q, v, a - e, tau) for e in np.eye(one.nv)]
    assert_close(np.array(slope), np.zeros((one.nv, 3)), 1e-8)


@pytest.mark.parametrize("name", ["balls", "free base"])
def test_forces_are_the_gradient_of_the_energy(name: str) -> None:
    field = tree(name).with_gravity(NEAR)
    q = field.random_configuration(2)
    energy = lambda x: run(field, "potential_energy", x)
    slopes = [rate_along(energy, field, q, e)[0] for e in np.eye(field.nv)]
    assert_close(field.gravity_forces(q), np.array(slopes), 1e-9)
    assert_close(field.energy(q, np.zeros(field.nv)), field.potential_energy(q), 1e-12)


@pytest.mark.parametrize("name", ["balls", "free base"])
def test_derivatives(name: str) -> None:
    """∂/∂q contains how the pull changes; held to differences of order 8."""
    field = tree(name).with_gravity(NEAR)
    q, v, a = random_state(field, np.random.default_rng(3))
    tau, units = field.inverse_dynamics(q, v, a), np.eye(field.nv)
    d_dq, d_dv, d_da = field.inverse_dynamics_derivatives(q, v, a)
    moved = [rate_along(lambda x: run(field, "inverse_dynamics", x, v, a), field, q, e) for e in units]
    assert_close(d_dq, np.array(moved).T, 1e-8)
    pulled, empty = (f.inverse_dynamics_derivatives(q, v, a)[0] for f in (field, field.with_gravity(NOTHING)))
    assert np.abs(pulled - empty).max() > 0.1
    assert_close(d_da, field.mass_matrix(q), 1e-11)
    f_dq, f_dv, f_dtau = field.forward_dynamics_derivatives(q, v, tau)
    assert_close(d_da @ f_dq, -d_dq, 1e-9)
    assert_close(d_da @ f_dv, -d_dv, 1e-9)
    assert_close(d_da @ f_dtau, units, 1e-10)
    moved = [rate_along(lambda x: run(field, "forward_dynamics", x, v, tau), field, q, e) for e in units]
    assert_close(f_dq, np.array(moved).T, 1e-6)


def test_a_uniform_field_is_uniform_gravity() -> None:
    one = tree("balls")
    plain, own = one.with_gravity(G), one.with_gravity(Same(G))
    assert one.with_gravity(Uniform(G)) == plain
    assert one.with_gravity(Uniform(G)).gravity.tolist() == list(G)
    q, v, a = random_state(one, np.random.default_rng(4), (5,))
    tau = plain.inverse_dynamics(q, v, a)
    for name, inputs in (("inverse_dynamics", (q, v, a)), ("bias_forces", (q, v)), ("gravity_forces", (q,))):
        assert_close(getattr(own, name)(*inputs), getattr(plain, name)(*inputs), 1e-12)
    assert_close(own.potential_energy(q), plain.potential_energy(q), 1e-12)
    assert_close(own.forward_dynamics(q, v, tau), a, 1e-9)
    for derivatives in (
        lambda f: f.inverse_dynamics_derivatives(q, v, a),
        lambda f: f.forward_dynamics_derivatives(q, v, tau),
    ):
        for mine, other in zip(derivatives(own), derivatives(plain), strict=True):
            assert_close(mine, other, 1e-8)
    assert_close(own.gauss_function(q, v, a, tau), plain.gauss_function(q, v, a, tau), 1e-9)


@pytest.mark.parametrize("integrator", ["rkmk4", "variational"])
def test_simulation_in_a_field_keeps_its_energy(integrator: str) -> None:
    """A body with arms in an orbit, which tumbles: the gradient turns it."""
    one = random_robot(33, 2, ("revolute", "universal"), base="free").without_friction().with_gravity(Central(50.0))
    q, v = one.neutral(), np.zeros(one.nv)
    q[4:7] = 4.0, 0.0, 0.0
    v[:6] = 0.4, 0.2, -0.3, 0.0, np.sqrt(50.0 / 4.0), 0.0
    found = dq.simulate(one, duration=1.0, dt=1e-3, q0=q, v0=v, integrator=integrator)
    energy = one.energy(found.q, found.v)
    kinetic, potential = one.kinetic_energy(found.q, found.v), one.potential_energy(found.q)
    assert np.ptp(kinetic) > 1.0
    assert np.ptp(energy) < (1e-10 if integrator == "rkmk4" else 1e-7) * np.abs(potential).max()
    away = dq.simulate(one.with_gravity(NOTHING), duration=1.0, dt=1e-3, q0=q, v0=v)
    assert np.abs(away.q[-1] - found.q[-1]).max() > 0.1


def test_constraints_coordinates_and_speeds() -> None:
    cart = dq.robots.nonholonomic_manipulator()
    q, v, tau = random_state(cart, np.random.default_rng(5))
    q, v = cart.project(q, v)
    field, empty, pulls = cart.with_gravity(NEAR), cart.with_gravity(NOTHING), cart.gravity_wrenches(NEAR, q)
    expected = empty.forward_dynamics(q, v, tau, pulls)
    assert np.abs(expected - empty.forward_dynamics(q, v, tau)).max() > 0.1
    for method in ("kkt", "udwadia-kalaba", "kane"):
        assert_close(run(field, "forward_dynamics", q, v, tau, method=method), expected, 1e-8)
    assert_close(field.forward_dynamics(q, v, tau), expected, 1e-8)
    multipliers, A = field.constraint_multipliers(q, v, tau), field.constraint_matrix(q)
    rest = field.mass_matrix(q) @ expected + field.bias_forces(q, v) - tau
    assert_close(A.T @ multipliers, rest, 1e-7)
    one = tree("balls")
    field = one.with_gravity(NEAR)
    own_q, v, a = random_state(one, np.random.default_rng(6))
    other = field.in_coordinates("quaternion")
    x, xd, xdd = other.from_minimal(own_q, v, a)
    assert_close(other.minimal_forces(x, other.inverse_dynamics(x, xd, xdd)), field.inverse_dynamics(own_q, v, a), 1e-9)
    identity = field.in_speeds(lambda q: np.eye(field.nv))
    assert_close(identity.inverse_dynamics(own_q, v, a), field.inverse_dynamics(own_q, v, a), 1e-10)
    assert_close(
        lagrange.inverse_dynamics(field.model, *(list(x) for x in (own_q, v, a))),
        field.without_friction().inverse_dynamics(own_q, v, a) - rotors(field, v, a),
        1e-10,
    )


def rotors(one: Robot, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """What armature adds to the forces."""
    model = one.without_friction().model
    return np.array(armature(model)) * a + np.array(velocity_forces(model, list(v)))


def test_changes_keep_the_field_and_values_know_it() -> None:
    one = tree("arm7")
    field = one.with_gravity(NEAR)
    assert field.gravity == NEAR
    assert repr(field) == repr(one)[:-1] + f", gravity={NEAR!r})"
    last = field.joints[-1].name
    for changed in (
        field.lock({last: 0.1}),
        field.with_payload(last, 1.0),
        field.with_base("free"),
        field.without_friction(),
        field.add_frame("here", last, np.eye(4)),
        field.without_constraints(),
    ):
        assert changed.gravity == NEAR
    for again in (pickle.loads(pickle.dumps(field)), copy.copy(field), copy.deepcopy(field)):
        assert again == field
        assert hash(again) == hash(field)
        assert again.gravity == NEAR
    assert field == one.with_gravity(Central(8.0, center=(0.5, -1.0, -2.0)))
    assert field != one
    assert field != one.with_gravity(Central(9.0, center=(0.5, -1.0, -2.0)))
    assert field.with_gravity(one.gravity) == one
    assert one.with_gravity(field.gravity) == field


def test_files_refuse_a_field_or_say_that_they_leave_it_out(tmp_path: Path) -> None:
    field = dq.robots.two_link().with_gravity(NEAR)
    for ending, name in (("json", "JSON"), ("xml", "MJCF")):
        with pytest.raises(FormatError, match=rf"{name} cannot hold the gravity field Central\(mu=8.0"):
            field.write(tmp_path / f"robot.{ending}")
        assert not (tmp_path / f"robot.{ending}").exists()
    with pytest.raises(FormatError, match="MJCF"):
        dq.simulate(field, duration=0.1, plant="mujoco")
    with pytest.warns(ModelWarning, match=r"left out: gravity Central\(mu=8.0"):
        field.write(tmp_path / "robot.urdf", lossy=True)
    path = field.with_gravity(G).write(tmp_path / "robot.json")
    assert json.loads(path.read_text(encoding="utf-8"))["gravity"] == list(G)


def test_what_knows_no_field_is_refused() -> None:
    field = tree("balls").with_gravity(NEAR)
    q, v, a = random_state(field, np.random.default_rng(7))
    with pytest.raises(Error, match=r"gravity as three numbers in m/s², and the robot is in the field Central"):
        field.torque_regressor(q, v, a)
    other = field.in_coordinates("quaternion")
    x = other.from_minimal(q)
    with pytest.raises(Error, match="three numbers"):
        EquationOfMotion(other._tree, list(x), [0.0] * other.nq).weight()


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def energy(self, inertia: Any, seen: Any) -> float:
        return 0.0

    wrench = Central(1.0).wrench


NO_FIELDS: dict[str, tuple[Any, str]] = {
    "a class": (Central, "methods energy and wrench"),
    "half": (type("Half", (), {"wrench": lambda *x: None})(), "methods energy and wrench"),
    "numpy": (Potential(lambda p: np.sin(p[0])), "cannot be used: TypeError"),
    "branch": (Potential(lambda p: p[0] if p[0] > 0.0 else 0.0), "cannot be used: TypeError.*instead of if"),
    "unhashable": (Unhashable(), "cannot be used: TypeError.*make it hashable"),
    "a word": ("down", "gravity must be real numbers"),
}


@pytest.mark.parametrize("name", NO_FIELDS)
def test_what_is_no_field_is_refused(name: str) -> None:
    given, text = NO_FIELDS[name]
    with pytest.raises(Error, match=text):
        dq.robots.two_link().with_gravity(given)


def test_a_robot_whose_joints_are_all_locked_may_be_in_a_field() -> None:
    """Nothing moves, so there is nothing to pull: no energy and no forces."""
    held = dq.robots.two_link().lock({joint.name: 0.3 for joint in dq.robots.two_link().joints}).with_gravity(NEAR)
    assert run(held, "potential_energy", np.zeros(0))[0] == 0.0
    assert held.gravity_forces(np.zeros(0)).shape == (0,)
