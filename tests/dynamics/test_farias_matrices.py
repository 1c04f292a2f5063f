"""Frames at the centers of mass, and the matrices A, C, Q and L on them."""

from __future__ import annotations

import numpy as np
import pytest
from trees import TREES, assert_close, random_state, run, tree

import dqdyn as dq
from dqdyn.algebra.adjoint import Ad, Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import screw_exp
from dqdyn.algebra.hamilton import T8, h8_minus, h8_plus
from dqdyn.algebra.matrix import DQMatrix
from dqdyn.algebra.parts import swap
from dqdyn.algebra.poses import pose, translator
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.kinematics.center_frames import CenterFrames
from dqdyn.kinematics.center_matrices import CenterMatrices, scalars
from dqdyn.kinematics.tree import poses
from dqdyn.model.model import WORLD_BODY, Model
from dqdyn.robot import Robot


def center_poses(model: Model, q: list[float]) -> dict[int, DQ]:
    """Poses of the frames F_i in the world, which is F_0."""
    found = poses(model, q)
    return {i: x if i == WORLD_BODY else x * translator(model.bodies[i].inertia.center) for i, x in found.items()}


def random_vector(n: int, m: int | None = None, seed: int = 0) -> DQMatrix:
    rng = np.random.default_rng(seed)
    if m is None:
        return DQMatrix([DQ(rng.normal(size=6)) for _ in range(n)])
    return DQMatrix([[DQ(rng.normal(size=6)) for _ in range(m)] for _ in range(n)])


def numbers(matrix: DQMatrix) -> np.ndarray:
    return np.array([element.vec8() for element in matrix.elements.flat])


def state_of(robot: Robot) -> tuple[list[float], list[float]]:
    q, v, _ = random_state(robot, np.random.default_rng(3))
    return q.tolist(), v.tolist()


@pytest.mark.equation("Farias", "section 5.1")
@pytest.mark.equation("Farias", "38")
@pytest.mark.equation("Farias", "42")
@pytest.mark.parametrize("name", ["one axis", "one joint"])
def test_a_joint_moves_along_its_screw(name: str) -> None:
    """x = δ exp(a Δθ/2) with δ and a from the world at home, and its rate ½ x a θ̇."""
    model = tree(name).model
    q, _ = state_of(tree(name))
    home, now = center_poses(model, [0.0] * model.nq), center_poses(model, q)
    at, at_home = CenterFrames(model, q), CenterFrames(model, [0.0] * model.nq)
    compared = 0
    for joint in model.joints:
        if joint.is_mimic:  # its home is not at zero of its master
            continue
        i, p, angle = joint.index, joint.parent, q[joint.q.start]
        in_world = Ad(home[i], at_home.axes[i][0][1])  # s, which (38) brings to F_i
        delta, a = home[p].conj() * home[i], Ad(home[i].conj(), in_world)
        x = delta * screw_exp(a * (angle / 2))
        assert_close(Adjoint(x)(DQ(range(1, 7))).vec8(), at.relative[i](DQ(range(1, 7))).vec8())
        assert_close(a.vec8(), at.axes[i][0][1].vec8())
        if not any(other.is_mimic for other in model.joints):
            assert_close((now[p].conj() * now[i]).vec8(), x.vec8())
        h = 1e-4
        moved = [delta * screw_exp(a * ((angle + s * h) / 2)) for s in (1, -1)]
        assert_close((moved[0] - moved[1]).vec8() / (2 * h), (x * a * 0.5).vec8(), 1e-7)
        compared += 1
    assert compared


@pytest.mark.parametrize("name", TREES)
def test_relative_maps_are_those_of_the_poses(name: str) -> None:
    model = tree(name).model
    q, _ = state_of(tree(name))
    at, x = CenterFrames(model, q), center_poses(model, q)
    y = DQ(range(1, 7))
    for joint in model.joints:
        relative = x[joint.parent].conj() * x[joint.index]
        assert_close(at.relative[joint.index](y).vec8(), Ad(relative, y).vec8())
        assert_close(at.relative[joint.index].back(y).vec8(), Ad(relative.conj(), y).vec8())


@pytest.mark.equation("Farias", "57")
@pytest.mark.equation("Farias", "58")
def test_axes_of_a_serial_arm_are_diagonal() -> None:
    robot = dq.robots.arm7()
    q, v = state_of(robot)
    m = CenterMatrices(robot.model, q)
    W = m.L @ (m.A @ scalars(v))
    C = m.C(W, v)
    assert m.A.shape == C.shape == m.A_S.shape == (7, 7)
    world = center_poses(robot.model, q)
    for i in range(7):
        for k in range(7):
            if i != k:
                assert m.A[i, k] == C[i, k] == DQ([0.0])
        jacobian = run(robot, "twist_jacobian", q, frame=robot.joints[i].name, expressed="world")
        a = Ad(world[i].conj(), DQ(jacobian[:, i]))
        assert_close(m.A[i, i].vec8(), a.vec8())
        assert_close(m.A_S[i, i].vec8(), swap(a).vec8())
        assert_close(C[i, i].vec8(), cross(W[i], a).vec8())


@pytest.mark.parametrize("name", TREES)
def test_axes_of_a_tree(name: str) -> None:
    """A has the axes of a joint in its row; mimic joints share the column of their master."""
    robot = tree(name)
    m = CenterMatrices(robot.model, state_of(robot)[0])
    for joint in robot.joints:
        filled = [k for k in range(robot.nv) if np.any(m.A[joint.index, k].vec8())]
        assert filled == list(range(joint.v.start, joint.v.stop))


@pytest.mark.equation("Farias", "59")
@pytest.mark.equation("Farias", "60")
def test_the_adjoint_is_two_hamilton_operators() -> None:
    rng = np.random.default_rng(4)
    r, p = rng.normal(size=4), rng.normal(size=3)
    x, y = pose(Quaternion(*(r / np.linalg.norm(r))), Quaternion(0.0, *p)), DQ(rng.normal(size=6))
    expected = T8(h8_plus(x), T8(h8_minus(x.conj()), y))
    assert_close(expected.vec8(), Ad(x, y).vec8())
    assert_close(Adjoint(x)(y).vec8(), expected.vec8())


@pytest.mark.equation("Farias", "59")
@pytest.mark.equation("Farias", "60")
@pytest.mark.equation("Farias", "61")
@pytest.mark.equation("Farias", "62")
@pytest.mark.parametrize("name", TREES)
def test_propagation_inverts_one_minus_q(name: str) -> None:
    model = tree(name).model
    n = len(model.bodies)
    m = CenterMatrices(model, state_of(tree(name))[0])
    Q, L = m.L.Q(), m.L.matrix()
    assert set(Q.elements) == {(j.index, j.parent) for j in model.joints if j.parent != WORLD_BODY}
    assert set(L.elements) == {(i, j) for i in range(n) for j in model.path(i)}
    for y in (random_vector(n), random_vector(n, 2)):
        power, series = y, y
        for _ in range(n):  # I + Q + Q² + …, which ends: no path is longer than the tree
            power = Q @ power
            series = series + power
        assert not numbers(power).any()
        assert_close(numbers(m.L @ y), numbers(series))
        assert_close(numbers(m.L @ y), numbers(L @ y))
        assert_close(numbers(m.L @ y - Q @ (m.L @ y)), numbers(y))
        assert_close(numbers(m.L.star(y)), numbers(L.star() @ y))


@pytest.mark.equation("Farias", "62")
@pytest.mark.parametrize("name", TREES)
def test_elements_of_the_propagation_are_relative_poses(name: str) -> None:
    model = tree(name).model
    q, _ = state_of(tree(name))
    x, y = center_poses(model, q), DQ(range(1, 7))
    for (i, j), element in CenterMatrices(model, q).L.matrix().elements.items():
        assert_close(element(y).vec8(), Ad(x[i].conj() * x[j], y).vec8())


@pytest.mark.parametrize("name", TREES)
def test_power_is_the_same_on_both_sides(name: str) -> None:
    """The star makes L* the adjoint of L for power: ⟨F, L Y⟩ = ⟨L* F, Y⟩."""
    n = len(tree(name).bodies)
    m = CenterMatrices(tree(name).model, state_of(tree(name))[0])
    y, f = random_vector(n, seed=1), random_vector(n, seed=2)
    outward = (m.L @ y).map(swap).geodesic(f).sum()
    inward = m.L.star(f).map(swap).geodesic(y).sum()
    assert outward == pytest.approx(inward, rel=1e-10)


@pytest.mark.equation("Farias", "17")
@pytest.mark.equation("Farias", "64")
def test_forces_on_the_axes_of_a_serial_arm() -> None:
    """Where joints have one axis, A_S ⊛ F is element by element, and the sides commute."""
    robot = dq.robots.arm7()
    m = CenterMatrices(robot.model, state_of(robot)[0])
    diagonal, F = DQMatrix([m.A_S[i, i] for i in range(7)]), random_vector(7)
    assert_close(m.on_axes(F), diagonal.geodesic(F))
    assert_close(m.on_axes(F), F.geodesic(diagonal))
