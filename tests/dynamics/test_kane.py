"""Kane's equations: partial velocities, quasi-velocities, constraints, and SymPy's KanesMethod."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import sympy as sp
from formulation_tools import (
    ROBOTS,
    array,
    bias,
    check_batch,
    check_inverse_dynamics,
    check_no_moving_joint,
    configuration_rate,
    model_state,
    random_wrenches,
)
from sympy.physics import mechanics as me
from trees import TREES, assert_close

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.parts import vec6
from dqdyn.algebra.scalar import cos, sin
from dqdyn.dynamics.fast import composite
from dqdyn.dynamics.formulations import kane, newton_euler
from dqdyn.dynamics.formulations.mass_centers import centers
from dqdyn.dynamics.formulations.speeds import speeds_from, velocities
from dqdyn.errors import StateError
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.model.inertia import Inertia, as_tensor
from dqdyn.model.model import Model
from dqdyn.robot import Robot


@pytest.mark.equation("Parsa", "30")
@pytest.mark.equation("Silva", "section 4.4")
@pytest.mark.equation("Silva", "54")
@pytest.mark.equation("Quiroz", "5.30")
@pytest.mark.equation("Parsa", "32")
@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics(name: str) -> None:
    check_inverse_dynamics(kane, name)


@pytest.mark.equation("Silva", "55")
@pytest.mark.equation("Silva", "56")
@pytest.mark.equation("Quiroz", "5.33")
@pytest.mark.equation("Quiroz", "5.34")
@pytest.mark.equation("Parsa", "33")
def test_law_of_motion_is_the_rate_of_momentum() -> None:
    """Turned into world axes, force and torque are the rates of linear and angular momentum."""
    model, q, v, a = model_state("every kind")

    def momenta(x: Sequence[Any]) -> list[Any]:
        result: list[Any] = []
        for c in centers(model, x[: model.nq], x[model.nq :]):
            h = c.momentum(c.twist)
            result += [*c.seen.rotate(h.primary).vector, *c.seen.rotate(h.dual).vector]
        return result

    rates = np.reshape(derivative(momenta, [*q, *v], [*configuration_rate(model, q, v), *a]), (-1, 6))
    for c, rate in zip(centers(model, q, v), rates, strict=True):
        wrench = kane.law_of_motion(c, c.rate(v, a))
        assert_close([*c.seen.rotate(wrench.primary).vector, *c.seen.rotate(wrench.dual).vector], rate)
        assert_close(vec6(wrench), vec6(c.momentum(c.rate(v, a)) + c.gyroscopic(c.twist)))


@pytest.mark.equation("Silva", "57")
@pytest.mark.equation("Silva", "58")
@pytest.mark.equation("Quiroz", "5.35")
@pytest.mark.equation("Quiroz", "5.37")
@pytest.mark.equation("Quiroz", "5.38")
@pytest.mark.equation("Parsa", "43")
@pytest.mark.equation("Parsa", "45")
@pytest.mark.parametrize("name", TREES)
def test_inertia_and_active_forces(name: str) -> None:
    model, q, v, a = model_state(name)
    still = [0.0] * model.nv
    found, partial = centers(model, q, v), kane.partial_velocities(model, q)
    inertial = kane.generalized_inertia_forces(found, partial, v, a, model.nv)
    g = bias(model, q, still)
    assert_close(inertial, array(composite.mass_matrix(model, q)) @ np.array(a) + bias(model, q, v) - g, 1e-11)
    wrenches = random_wrenches(model, 3)
    held = array(newton_euler.inverse_dynamics(model, q, still, still, wrenches))
    assert_close(kane.generalized_active_forces(model, found, partial, wrenches, model.nv), -held, 1e-11)


# --- quasi-velocities -------------------------------------------------------------------------------------------------


def mixing(model: Model, seed: int) -> Any:
    """A Y(q) that depends on q and mixes velocities of all joints; never near singular, and no pivot is safe."""
    rng = np.random.default_rng(seed)
    order, weights = rng.permutation(model.nv), rng.uniform(-0.1, 0.1, size=(model.nv, model.nv))

    def y(q: Sequence[Any]) -> list[list[Any]]:
        return [
            [sin(q[(r + c) % model.nq]) * float(weights[r, c]) + float(c == order[r]) for c in range(model.nv)]
            for r in range(model.nv)
        ]

    return y


@pytest.mark.equation("Parsa", "8")
@pytest.mark.equation("Parsa", "11")
@pytest.mark.equation("Parsa", "44")
@pytest.mark.parametrize("name", ["every kind", "free base", "moving subspaces", "two_link"])
def test_quasi_velocities(name: str) -> None:
    model, q, v, a = model_state(name)
    y = mixing(model, 1)
    flat = lambda x: [e for row in y(x) for e in row]
    y_now = array(y(q))
    y_rate = np.reshape(derivative(flat, q, configuration_rate(model, q, v)), y_now.shape)
    u, u_rate = y_now @ v, y_now @ a + y_rate @ v
    speeds, wrenches = speeds_from(y), random_wrenches(model, 2)
    assert_close(array(speeds(q)) @ y_now, np.eye(model.nv), 1e-13)
    found_v, found_a = velocities(speeds, model, q, u.tolist(), u_rate.tolist())
    assert_close(found_v, v, 1e-12)
    assert_close(found_a, a, 1e-11)
    found = kane.inverse_dynamics(model, q, u.tolist(), u_rate.tolist(), wrenches, speeds)
    expected = array(newton_euler.inverse_dynamics(model, q, v, a, wrenches))
    assert_close(y_now.T @ np.array(found), expected, 1e-10)
    partial = kane.partial_velocities(model, q, speeds)
    for c, columns in zip(centers(model, q, v), partial, strict=True):
        assert_close(sum(vec6(columns[r]) * u[r] for r in columns), vec6(c.twist), 1e-12)


def test_inverse_of_an_awkward_matrix() -> None:
    """Zero diagonal, large and small rows: elimination without pivots would divide by zero."""
    y = [[0.0, 0.0, 1e3], [1e-2, 1.0, 0.0], [0.0, 2.0, 5.0]]
    assert_close(array(speeds_from(lambda q: y)([])) @ np.array(y), np.eye(3), 1e-11)


def test_inverse_of_a_matrix_near_a_singular_one() -> None:
    """Hilbert's of order 6, condition 1.5e7: one pass of orthogonalisation would lose half of the digits again."""
    y = [[1.0 / (r + c + 1) for c in range(6)] for r in range(6)]
    assert_close(array(speeds_from(lambda q: y)([])) @ np.array(y), np.eye(6), 1e-8)


@pytest.mark.equation("Parsa", "10")
@pytest.mark.equation("Parsa", "9")
@pytest.mark.equation("Parsa", "42")
@pytest.mark.equation("Parsa", "46")
def test_reduced_equations_of_a_base_that_does_not_slip() -> None:
    """u = (forward speed, turning rate, joints): the motion is that of the equations with multipliers."""
    model, q, _, _ = model_state("holonomic_manipulator")
    nv, rng = model.nv, np.random.default_rng(4)
    assert model.joints[0].kind == "planar"

    def b(x: Sequence[Any]) -> list[list[Any]]:
        rows: list[list[Any]] = [[0.0] * (nv - 1) for _ in range(nv)]
        rows[0][0], rows[1][0] = cos(x[2]), sin(x[2])
        for k in range(2, nv):
            rows[k][k - 1] = 1.0
        return rows

    u, tau = rng.normal(size=nv - 1), rng.normal(size=nv)
    phi, columns = q[2], array(b(q))
    v = columns @ u
    a_row = np.zeros(nv)
    a_row[:2] = -np.sin(phi), np.cos(phi)
    assert_close(a_row @ columns, np.zeros(nv - 1))
    m, h = array(composite.mass_matrix(model, q)), bias(model, q, v.tolist())
    turning = -v[2] * (np.cos(phi) * v[0] + np.sin(phi) * v[1])  # Ȧ v
    kkt = np.block([[m, a_row[:, None]], [a_row[None, :], np.zeros((1, 1))]])
    a = np.linalg.solve(kkt, np.concatenate([tau - h, [-turning]]))[:nv]
    forward_rate = np.cos(phi) * a[0] + np.sin(phi) * a[1]
    u_rate = np.concatenate([[forward_rate], a[2:]])
    found = kane.inverse_dynamics(model, q, u.tolist(), u_rate.tolist(), None, b)
    assert len(found) == nv - 1
    assert_close(found, columns.T @ tau, 1e-10)


def test_wrong_shapes_are_named() -> None:
    model, q, v, a = model_state("two_link")
    with pytest.raises(StateError, match="2 rows") as caught:
        kane.inverse_dynamics(model, q, v, a, None, lambda x: [[1.0]])
    assert caught.value.expected == 2
    with pytest.raises(StateError, match="rows of lengths"):
        kane.partial_velocities(model, q, lambda x: [[1.0, 0.0], [1.0]])
    with pytest.raises(StateError, match="1 components"):
        kane.inverse_dynamics(model, q, v, a, None, lambda x: [[1.0], [2.0]])


# --- SymPy's KanesMethod ----------------------------------------------------------------------------------------------

# All numbers are sums of powers of two, so that they are exact as floats and as rationals.
G, M1, M2, L1, C1, C2 = 9.75, 1.5, 0.75, 0.5, 0.25, 0.375
TENSORS = ((0.125, 0.25, 0.25), (0.0625, 0.125, 0.1875))


def body(mass: float, x: float, moments: Sequence[float]) -> Inertia:
    return Inertia(mass, (x, 0.0, 0.0), as_tensor(np.diag(moments)))


def two_link_arm() -> Model:
    """Revolute joints about −y, links along x: positive angles raise them."""
    links = (Link("base"), Link("first", body(M1, C1, TENSORS[0])), Link("second", body(M2, C2, TENSORS[1])))
    joints = (
        Joint("q1", "revolute", "base", "first", axis=(0.0, -1.0, 0.0)),
        Joint("q2", "revolute", "first", "second", placement((L1, 0.0, 0.0)), axis=(0.0, -1.0, 0.0)),
    )
    return Robot.from_description(Description("arm", links, joints)).with_gravity((0.0, 0.0, -G)).model


def cart_pole() -> Model:
    """A cart along x, and a pole along its own x that turns about −y."""
    links = (Link("base"), Link("cart", body(M1, C1, TENSORS[0])), Link("pole", body(M2, C2, TENSORS[1])))
    joints = (
        Joint("q1", "prismatic", "base", "cart", axis=(1.0, 0.0, 0.0)),
        Joint("q2", "revolute", "cart", "pole", placement((L1, 0.0, 0.0)), axis=(0.0, -1.0, 0.0)),
    )
    return Robot.from_description(Description("cart", links, joints)).with_gravity((0.0, 0.0, -G)).model


Q, U = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")


def kanes_method(revolute_first: bool, absolute: bool = False) -> list[sp.Expr]:
    """−(F_r + F_r*): the forces at the joints, with bodies, points and frames set up by SymPy.

    With ``absolute``, the second speed is the angular velocity of the second body in the world.
    """
    exact = sp.Rational
    world, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(world, 0)
    first = world.orientnew("A", "Axis", [Q[0] if revolute_first else 0, -world.y])
    first.set_ang_vel(world, -U[0] * world.y if revolute_first else 0 * world.y)
    second = first.orientnew("B", "Axis", [Q[1], -first.y])
    second.set_ang_vel(first, -(U[1] - U[0] if absolute else U[1]) * first.y)
    base = origin
    if not revolute_first:
        base = origin.locatenew("S", Q[0] * world.x)
        base.set_vel(world, U[0] * world.x)
    center1 = base.locatenew("C1", exact(C1) * first.x)
    center1.v2pt_theory(base, world, first)
    hinge = base.locatenew("H", exact(L1) * first.x)
    hinge.v2pt_theory(base, world, first)
    center2 = hinge.locatenew("C2", exact(C2) * second.x)
    center2.v2pt_theory(hinge, world, second)
    bodies, loads = [], []
    for frame, center, mass, moments in ((first, center1, M1, TENSORS[0]), (second, center2, M2, TENSORS[1])):
        inertia = me.inertia(frame, *(exact(i) for i in moments))
        bodies.append(me.RigidBody(f"body{mass}", center, frame, exact(mass), (inertia, center)))
        loads.append((center, -exact(mass) * exact(G) * world.z))
    rates = [U[0], U[1] - U[0] if absolute else U[1]]
    method = me.KanesMethod(world, q_ind=Q, u_ind=U, kd_eqs=[q.diff() - u for q, u in zip(Q, rates, strict=True)])
    active, inertial = method.kanes_equations(bodies, loads)
    return [-e for e in active + inertial]


@pytest.mark.parametrize(("built", "revolute_first"), [(two_link_arm, True), (cart_pole, False)])
def test_equal_to_sympys_kanes_method(built: Callable[[], Model], revolute_first: bool) -> None:
    """Exactly: at rational velocities, accelerations and half-angle tangents the difference is the number zero."""
    q, v, a = sp.symbols("p1:3"), sp.symbols("v1:3"), sp.symbols("a1:3")
    ours = [sp.sympify(e) for e in kane.inverse_dynamics(built(), list(q), list(v), list(a))]
    assert all(e.free_symbols >= {a[1], q[1]} for e in ours)
    rates = {u.diff(): ai for u, ai in zip(U, a, strict=True)}
    names = {**dict(zip(Q, q, strict=True)), **dict(zip(U, v, strict=True))}
    theirs = [sp.expand_trig(e.subs(rates).subs(names)) for e in kanes_method(revolute_first)]
    rng = np.random.default_rng(7)
    for _ in range(3):
        values: dict[sp.Expr, sp.Rational] = {}
        for x in (*v, *a):
            values[x] = sp.Rational(int(rng.integers(-9, 10)), int(rng.integers(1, 9)))
        for x in q:
            t = sp.Rational(int(rng.integers(1, 9)), int(rng.integers(1, 9)))
            values[sp.sin(x)], values[sp.cos(x)] = 2 * t / (1 + t**2), (1 - t**2) / (1 + t**2)
        at = lambda e, values=values: rational(e).xreplace(values)
        for mine, other in zip(ours, theirs, strict=True):
            assert at(mine).is_Rational
            assert at(mine) - at(other) == 0
            assert at(mine) != 0


def test_robot_in_speeds_equals_sympys_kanes_method() -> None:
    """Forces on the angular velocities of both links in the world, and the mass matrix among these."""
    theirs, rates = kanes_method(True, absolute=True), [u.diff() for u in U]
    forces = sp.lambdify([*Q, *U, *rates], theirs)
    mass = sp.lambdify([*Q], [[e.diff(r) for r in rates] for e in theirs])
    arm = Robot(two_link_arm()).in_speeds(Y=lambda q: [[1.0, 0.0], [1.0, 1.0]])
    states = np.random.default_rng(8).normal(size=(5, 3, 2))
    found = arm.inverse_dynamics(*np.moveaxis(states, 1, 0))
    for state, row in zip(states, found, strict=True):
        assert_close(row, forces(*state.ravel()), 1e-13)
        assert_close(arm.mass_matrix(state[0]), mass(*state[0]), 1e-13)
        assert_close(arm.forward_dynamics(state[0], state[1], row), state[2], 1e-11)


def rational(e: sp.Expr) -> sp.Expr:
    return e.xreplace({f: sp.Rational(float(f)) for f in e.atoms(sp.Float)})


def test_batch() -> None:
    check_batch(kane)


def test_no_moving_joint() -> None:
    check_no_moving_joint(kane)
