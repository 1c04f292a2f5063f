"""Second derivatives of inverse dynamics against differences of first ones, on every kind of joint and real robots."""

from __future__ import annotations

import numpy as np
import pytest
from example_robots import robot as real_robot
from trees import JOINT_KINDS, TREES, assert_close, random_robot, random_state, rate, run, tree

import dqdyn as dq
from dqdyn.dynamics.gravity import Central
from dqdyn.errors import Error, StateError
from dqdyn.robot import Robot, second_order
from dqdyn.robot.options import DEFAULTS

PRODUCT = "inverse_dynamics_hessian_product"
REAL = [
    ("panda/panda", "fixed"),
    ("ur/ur5_robot", "free"),
    ("talos/talos_reduced", "free"),
    ("hyq/hyq_no_sensors", "free"),
]


def check_product(robot: Robot, seed: int, tolerance: float = 1e-8) -> None:
    """Along one direction: the rate of λᵀ∂τ/∂(q, v, a)."""
    rng = np.random.default_rng(seed)
    (q, v, a), (weights, dq_, dv, da) = random_state(robot, rng), rng.normal(size=(4, robot.nv)) * 0.5

    def gradient(t: float) -> np.ndarray:
        moved = run(robot, "integrate", q, dq_, t)
        return weights @ run(robot, "inverse_dynamics_derivatives", moved, v + t * dv, a + t * da)

    expected = rate(gradient)
    assert_close(run(robot, PRODUCT, q, v, a, weights, dq_, dv, da), expected, tolerance)
    function = robot._functions.variables.functions[PRODUCT]
    for form, model in function.algorithms(robot.model, DEFAULTS):  # as it is compiled
        entries, shape = function.evaluate(form, model, DEFAULTS, *map(list, (q, v, a, weights, dq_, dv, da)))
        assert_close(np.array(entries, dtype=float).reshape(shape), expected, tolerance)


@pytest.mark.parametrize("name", TREES)
def test_trees(name: str) -> None:
    check_product(tree(name), 1)


@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if kind != "fixed"])
def test_every_kind_before_and_behind_others(kind: str) -> None:
    for seed in (11, 12):
        check_product(random_robot(seed, 4, (kind, "revolute")), seed)


@pytest.mark.parametrize(("name", "base"), REAL)
def test_real_robots(name: str, base: str) -> None:
    check_product(real_robot(name, base), 2)


def differences(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    """All second derivatives by differences of :meth:`inverse_dynamics_derivatives`."""
    axes = np.eye(robot.nv)
    at = lambda x, w: run(robot, "inverse_dynamics_derivatives", x, w, a)
    by_q = [rate(lambda t, e=e: at(run(robot, "integrate", q, e, t), v)) for e in axes]  # [k][which, i, j]
    by_v = [rate(lambda t, e=e: at(q, v + t * e)) for e in axes]
    twice = np.moveaxis([m[0] for m in by_q], 0, -1)
    return [
        0.5 * (twice + np.swapaxes(twice, -1, -2)),
        np.moveaxis([m[1] for m in by_q], 0, 1),
        np.moveaxis([m[1] for m in by_v], 0, -1),
        np.moveaxis([m[2] for m in by_q], 0, 1),
    ]


@pytest.mark.parametrize("largest", [0, 100])
def test_tensors_and_hessians(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By products with all directions, and by one program: with a spherical, a universal and a mimic joint."""
    monkeypatch.setattr(second_order, "_LARGEST_PROGRAM", largest)
    kinds = ("spherical", "revolute", "revolute", "universal")
    robot, rng = random_robot(71, 4, kinds, mimics=1), np.random.default_rng(3)
    q, v, a = random_state(robot, rng)
    expected, weights = differences(robot, q, v, a), rng.normal(size=robot.nv)
    for found, tensor in zip(robot.inverse_dynamics_second_derivatives(q, v, a), expected, strict=True):
        assert_close(found, tensor, 1e-8)
    hessian = robot.inverse_dynamics_hessian(q, v, a, weights)
    for found, tensor in zip(hessian, expected, strict=True):
        assert_close(found, np.tensordot(weights, tensor, axes=1), 1e-8)
    assert_close(hessian[0], hessian[0].T, 1e-13)
    assert_close(hessian[2], hessian[2].T, 1e-13)
    # batches of states, and of weights for one state
    many = [np.stack([x, x]) for x in (q, v, a)]
    for one, both in zip(hessian, robot.inverse_dynamics_hessian(*many, weights), strict=True):
        assert_close(both, np.stack([one, one]), 1e-12)
    for one, both in zip(hessian, robot.inverse_dynamics_hessian(q, v, a, np.stack([weights, weights])), strict=True):
        assert_close(both, np.stack([one, one]), 1e-12)
    for one, both in zip(
        robot.inverse_dynamics_second_derivatives(q, v, a),
        robot.inverse_dynamics_second_derivatives(*many, check=False),
        strict=True,
    ):
        assert_close(both, np.stack([one, one]), 1e-12)


def test_hessian_is_that_along_integrate() -> None:
    """λᵀτ(integrate(q, t w)) has the second derivative wᵀ H w, on joints whose axes do not commute, too."""
    robot, rng = random_robot(72, 2, ("spherical", "revolute"), base="free"), np.random.default_rng(4)
    (q, v, a), (weights, w) = random_state(robot, rng), rng.normal(size=(2, robot.nv)) * 0.5
    force = lambda t: float(weights @ run(robot, "inverse_dynamics", run(robot, "integrate", q, w, t), v, a))
    curve = rate(lambda t: rate(lambda s: force(t + s)))
    found = robot.inverse_dynamics_hessian(q, v, a, weights)[0]
    assert_close(w @ found @ w, curve, 1e-6)


def test_trees_have_what_joints_contribute() -> None:
    """Damping is linear; armature of a joint that turns is not, and belongs to the second derivatives."""
    spherical = [joint for joint in tree("every kind").joints if joint.kind == "spherical"]
    assert any(any(joint.armature) for joint in spherical)


def test_what_is_refused() -> None:
    robot, z = dq.robots.two_link(), np.zeros(2)
    with pytest.raises(StateError, match=r"weights \(one per torque\) of 'two_link' has 2 components"):
        robot.inverse_dynamics_hessian(z, z, z, np.zeros(3))
    with pytest.raises(StateError, match=r"dq \(direction of q, in its tangent space\) of 'two_link' has 2"):
        robot.inverse_dynamics_hessian_product(z, z, z, z, np.zeros(3), z, z)
    with pytest.raises(StateError, match="finite"):
        robot.inverse_dynamics_second_derivatives(z, z * np.nan, z)
    field = robot.with_gravity(Central(100.0, (0.0, 0.0, -10.0)))
    with pytest.raises(Error, match="available for uniform gravity, and 'two_link' is in a field: use differences"):
        field.inverse_dynamics_hessian(z, z, z, z)
