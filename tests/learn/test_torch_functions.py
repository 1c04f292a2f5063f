"""Robots in PyTorch: values, gradients to second order in both modes, vmap, dtypes and refusals."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from export_cases import assert_same, robot_named

import dqdyn as dq
from dqdyn.errors import install_command

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's own forward mode uses it


def draw(robot: dq.Robot, *lead: int, seed: int = 0, grad: bool = True) -> list[Any]:
    rng = np.random.default_rng(seed)
    count = int(np.prod(lead, dtype=int))
    q = np.array([robot.random_configuration(rng) for _ in range(count)]).reshape(*lead, robot.nq)
    return [torch.tensor(x, requires_grad=grad) for x in (q, *rng.normal(size=(2, *lead, robot.nv)))]


def test_values_and_memory() -> None:
    robot = dq.robots.arm7()
    function = dq.torch.function(robot, "inverse_dynamics", threads=2)
    states = draw(robot, 2, 3, grad=False)
    expected = robot.inverse_dynamics(*(x.numpy() for x in states))
    assert_same(function(*states), expected)
    strided = [torch.stack([x, x], dim=-1)[..., 0] for x in states]
    assert not strided[0].is_contiguous()
    assert_same(function(*strided), expected)
    assert_same(function(states[0], states[1][0, 0], states[2][:, :1]).numpy()[0, 0], expected[0, 0])


def test_gradients_of_first_and_second_order() -> None:
    robot = dq.robots.two_link()
    function = dq.torch.function(robot, "forward_dynamics")
    states = draw(robot, 2)
    assert torch.autograd.gradcheck(function, states, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, states)


@pytest.mark.parametrize("needed", [(0,), (2,), (0, 2), (1,)])
def test_gradients_of_any_subset(needed: tuple[int, ...]) -> None:
    robot = dq.robots.two_link()
    function = dq.torch.function(robot, "inverse_dynamics")
    states = draw(robot, 4, grad=False)
    for k in needed:
        states[k].requires_grad_()
    function(*states).sum().backward()
    derivatives = robot.inverse_dynamics_derivatives(*(x.detach().numpy() for x in states))
    for k, (state, derivative) in enumerate(zip(states, derivatives, strict=True)):
        assert (state.grad is not None) == (k in needed)
        if k in needed:
            assert_same(state.grad, derivative.sum(axis=-2), 1e-10)


def test_matrices_and_quaternions() -> None:
    robot = robot_named("ball")
    q, v, a = draw(robot)
    torques, matrix = dq.torch.function(robot, "inverse_dynamics"), dq.torch.function(robot, "mass_matrix")
    w = torch.linspace(-1.0, 1.0, robot.nv, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(torques(q, v, a) @ w, q)
    columns = robot.inverse_dynamics_derivatives(*(x.detach().numpy() for x in (q, v, a)))[0]
    along = robot.configuration_rate(np.tile(q.detach().numpy(), (robot.nv, 1)), np.eye(robot.nv))
    assert_same(along @ gradient.numpy(), columns.T @ w.numpy(), 1e-9)
    # aᵀ M(q) w is bilinear: its gradient in a is M w.
    (by_a,) = torch.autograd.grad(a @ matrix(q) @ w, a)
    assert_same(by_a, robot.mass_matrix(q.detach().numpy()) @ w.numpy())
    (by_q,) = torch.autograd.grad((matrix(q) * torch.outer(w, w)).sum(), q)
    step = 1e-6
    for k in range(robot.nv):
        near = [robot.mass_matrix(robot.integrate(q.detach().numpy(), s * np.eye(robot.nv)[k], step)) for s in (1, -1)]
        numeric = w.numpy() @ (near[0] - near[1]) @ w.numpy() / (2.0 * step)
        assert abs(along[k] @ by_q.numpy() - numeric) < 1e-7 * (1.0 + abs(numeric))


def test_parameters_have_gradients() -> None:
    """τ = Y π: the gradient with respect to the inertial parameters is the regressor's transpose times the weights."""
    robot = dq.robots.two_link()
    function = dq.torch.function(robot, "inverse_dynamics", parameters=["inertia"])
    q, v, a = draw(robot, grad=False)
    inertia = torch.tensor(robot.parameters(["inertia"])["inertia"], requires_grad=True)
    w = torch.tensor([0.3, -1.2], dtype=torch.float64)
    (gradient,) = torch.autograd.grad(function(q, v, a, inertia) @ w, inertia)
    regressor = robot.function("torque_regressor")(*(x.numpy() for x in (q, v, a)))
    assert_same(gradient, regressor.T @ w.numpy(), 1e-10)


def test_transformations() -> None:
    robot = dq.robots.two_link()
    function = dq.torch.function(robot, "inverse_dynamics")
    q, v, a = draw(robot, 5, grad=False)
    expected = robot.inverse_dynamics(q.numpy(), v[0].numpy(), a.numpy())
    assert_same(torch.func.vmap(function, (0, None, 0))(q, v[0], a), expected)
    derivatives = robot.inverse_dynamics_derivatives(q[0].numpy(), v[0].numpy(), a[0].numpy())
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        for found, analytic in zip(jacobian(function, (0, 1, 2))(q[0], v[0], a[0]), derivatives, strict=True):
            assert_same(found, analytic, 1e-10)
    per_row = torch.func.vmap(torch.func.grad(lambda q, v, a: function(q, v, a).sum()))(q, v, a)
    assert_same(per_row, robot.inverse_dynamics_derivatives(*(x.numpy() for x in (q, v, a)))[0].sum(axis=-2), 1e-10)


def test_single_precision_is_computed_in_double() -> None:
    robot = dq.robots.two_link()
    function = dq.torch.function(robot, "inverse_dynamics")
    states = [x.detach().float().requires_grad_() for x in draw(robot, 3)]
    found = function(*states)
    assert found.dtype == torch.float32
    exact = robot.inverse_dynamics(*(x.detach().double().numpy() for x in states))
    assert np.array_equal(found.detach().numpy(), exact.astype(np.float32))
    found.sum().backward()
    assert states[0].grad.dtype == torch.float32
    assert function(states[0], states[1].double(), states[2]).dtype == torch.float64


def test_refusals() -> None:
    robot = dq.robots.two_link()
    function = dq.torch.function(robot, "gravity_forces")
    with pytest.raises(dq.StateError, match=re.escape("q of gravity_forces has shape (2,) or (..., 2); found (3,)")):
        function(torch.zeros(3))
    with pytest.raises(dq.StateError, match="dtype float64 or float32"):
        function(torch.zeros(2, dtype=torch.int64))
    with pytest.raises(dq.StateError, match="must be a tensor; found list"):
        function([0.0, 0.0])
    with pytest.raises(dq.StateError, match="on the device 'meta'"):
        function(torch.zeros(2, device="meta"))
    with pytest.raises(dq.StateError, match="takes q; found 2"):
        function(torch.zeros(2), torch.zeros(2))
    with pytest.raises(dq.Error, match="needs a robot"):
        dq.torch.function("arm7", "gravity_forces")  # type: ignore[arg-type]


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("torch", "torch"))):
        dq.torch.function(dq.robots.two_link(), "inverse_dynamics")
