"""Each choice of coordinates against Pinocchio's free-flyer on real robots."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio
import pytest
from coordinate_cases import chosen, plain
from free_flyer import ROBOTS, FreeFlyer, continuous, peer, robot, second_derivative
from trees import assert_close, rate

from dqdyn.algebra.quaternion import quaternion_from_matrix

Write = Callable[[np.ndarray, np.ndarray], np.ndarray]


def euler_zyx(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.r_[np.arctan2(R[1, 0], R[0, 0]), np.arcsin(-R[2, 0]), np.arctan2(R[2, 1], R[2, 2]), p]


def euler_zxz(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.r_[np.arctan2(R[0, 2], -R[1, 2]), np.arccos(R[2, 2]), np.arctan2(R[2, 0], R[2, 1]), p]


def quaternion(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.r_[quaternion_from_matrix(R), p]


def rotation_matrix(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.r_[R.ravel(), p]


def dual_quaternion(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    w, *v = quaternion_from_matrix(R)
    return np.r_[w, v, -0.5 * p @ v, 0.5 * (w * p + np.cross(p, v))]


WRITERS: dict[str, Write] = {
    "euler-zyx": euler_zyx,
    "euler-zxz": euler_zxz,
    "quaternion": quaternion,
    "rotation-matrix": rotation_matrix,
    "dual-quaternion": dual_quaternion,
}
SIGNED = {"quaternion": 4, "dual-quaternion": 8}
"""Coordinates that come in two signs, and how many of them there are."""


@pytest.mark.parametrize("choice", WRITERS)
@pytest.mark.parametrize("name", ROBOTS)
def test_dynamics_equal_those_of_the_free_flyer(name: str, choice: str) -> None:
    flyer = FreeFlyer(name, seed=sum(map(ord, name + choice)))
    ours = chosen(robot(name), choice)
    a = flyer.acceleration()
    motion = continuous(flyer.curve(np.zeros(flyer.model.nv), WRITERS[choice]), SIGNED.get(choice, 0))
    q = motion(0.0)
    qd = plain(ours, "rate", q, flyer.v)
    B = plain(ours, "rate_matrix", q)
    assert_close(rate(motion), qd, 1e-7)
    # Forward dynamics, both ways: the acceleration is Pinocchio's.
    tau = plain(ours, "forces", q, flyer.tau)
    own_a = flyer.layout.a_from(flyer.own_q, flyer.v, a)
    for method in ("minimal", "kkt"):
        both = plain(ours, "forward_dynamics", q, qd, tau, method=method)
        found = plain(ours, "acceleration", q, qd, both[: ours.nq])
        # As seen by M: accelerations of light fingers are large, and so are their errors.
        M = flyer.layout.mass_matrix_from(flyer.own_q, full(flyer))
        assert_close(M @ (found - own_a), np.zeros(ours.nv), 1e-8, scale=float(np.abs(flyer.tau).max()))
    # M, forces and bias.
    qdd = plain(ours, "second_rate", q, qd, flyer.v, own_a)
    assert_close(B.T @ plain(ours, "mass_matrix", q) @ B, M, 1e-10)
    expected = flyer.layout.tau_from(flyer.own_q, pinocchio.rnea(flyer.model, flyer.data, flyer.pin_q, flyer.pin_v, a))
    assert_close(B.T @ plain(ours, "inverse_dynamics", q, qd, qdd), expected, 1e-9)
    gravity = pinocchio.computeGeneralizedGravity(flyer.model, flyer.data, flyer.pin_q)
    assert_close(B.T @ plain(ours, "gravity_forces", q), flyer.layout.tau_from(flyer.own_q, gravity), 1e-10)


def full(flyer: FreeFlyer) -> np.ndarray:
    upper = np.triu(pinocchio.crba(flyer.model, flyer.data, flyer.pin_q))
    return upper + np.triu(upper, 1).T


@pytest.mark.parametrize("choice", WRITERS)
@pytest.mark.parametrize("name", ROBOTS[:4])
def test_accelerations_are_second_derivatives_of_its_motion(name: str, choice: str) -> None:
    """No map of ours between: Pinocchio's motion, written by NumPy, differentiated twice."""
    flyer = FreeFlyer(name, seed=5)
    ours = chosen(robot(name), choice)
    a = np.random.default_rng(6).normal(size=flyer.model.nv)
    motion = continuous(flyer.curve(a, WRITERS[choice]), SIGNED.get(choice, 0))
    q, own_a = motion(0.0), flyer.layout.a_from(flyer.own_q, flyer.v, a)
    qd = plain(ours, "rate", q, flyer.v)
    assert_close(plain(ours, "second_rate", q, qd, flyer.v, own_a), second_derivative(motion), 1e-6)


@pytest.mark.parametrize("choice", WRITERS)
@pytest.mark.parametrize("name", ROBOTS[:3])
def test_contact_forces_at_points(name: str, choice: str) -> None:
    """A force in world axes at a point of the last link is a wrench on its joint in Pinocchio."""
    flyer = FreeFlyer(name, seed=8)
    ours = chosen(robot(name), choice)
    link = flyer.robot.bodies[-1].name
    point, f = np.array([0.05, -0.1, 0.2]), np.array([3.0, -40.0, 60.0])
    frame = flyer.model.frames[flyer.model.getFrameId(link, pinocchio.FrameType.BODY)]
    index, at = frame.parentJoint, frame.placement.act(point)
    pinocchio.forwardKinematics(flyer.model, flyer.data, flyer.pin_q)
    local = flyer.data.oMi[index].rotation.T @ f
    forces = pinocchio.StdVec_Force()
    for i in range(flyer.model.njoints):
        forces.append(pinocchio.Force(local, np.cross(at, local)) if i == index else pinocchio.Force.Zero())
    expected = flyer.layout.a_from(flyer.own_q, flyer.v, flyer.acceleration(forces))
    q = plain(ours, "from_minimal", flyer.own_q)
    qd, tau = plain(ours, "rate", q, flyer.v), plain(ours, "forces", q, flyer.tau)
    both = plain(ours, "forward_dynamics", q, qd, tau, f, contacts=((link, tuple(point)),))
    assert_close(plain(ours, "acceleration", q, qd, both[: ours.nq]), expected, 1e-8)


@pytest.mark.parametrize("name", ROBOTS)
def test_euler_angles_equal_its_own(name: str) -> None:
    """Translation with SphericalZYX: the same coordinates and rates, so M, bias and q̈ are equal without a map."""
    model, ours = peer(name, "zyx"), chosen(robot(name), "euler-zyx")
    data = model.createData()
    flyer = FreeFlyer(name, seed=9)
    q = plain(ours, "from_minimal", flyer.own_q)
    qd, tau = plain(ours, "rate", q, flyer.v), plain(ours, "forces", q, flyer.tau)
    base = [3, 4, 5, 0, 1, 2]  # ours: angles, then position
    order = np.argsort(np.r_[base, 6 + inner_order(flyer)])
    pin_q = np.r_[q[3:6], q[:3], flyer.pin_q[7:]]
    pin_v, pin_tau = qd[order], tau[order]
    upper = np.triu(pinocchio.crba(model, data, pin_q))
    M = upper + np.triu(upper, 1).T
    assert_close(plain(ours, "mass_matrix", q)[np.ix_(order, order)], M, 1e-10)
    bias = pinocchio.rnea(model, data, pin_q, pin_v, np.zeros(model.nv))
    assert_close(plain(ours, "bias_forces", q, qd)[order], bias, 1e-10)
    found = plain(ours, "forward_dynamics", q, qd, tau)[order]
    expected = pinocchio.aba(model, data, pin_q, pin_v, pin_tau)
    assert_close(M @ (found - expected), np.zeros(model.nv), 1e-8, scale=float(np.abs(tau).max()))


def inner_order(flyer: FreeFlyer) -> np.ndarray:
    """Per velocity of ours behind the base its place in Pinocchio's, from the layout's linear map."""
    T = flyer.layout.transform(flyer.own_q)[6:, 6:]
    assert set(np.unique(T)) <= {0.0, 1.0}
    return np.argmax(T, axis=0)
