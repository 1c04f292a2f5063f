"""``method=`` takes a function: formulations that users wrote, compiled and counted as those by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trees import assert_close, random_robot, random_state

import dqdyn as dq
from dqdyn.algebra.scalar import sin
from dqdyn.control import computed_torque
from dqdyn.dynamics import methods
from dqdyn.dynamics.formulations import closed_form, gauss, kane, lagrange, newton_euler
from dqdyn.dynamics.gravity import Central

ARM = dq.robots.arm6()
STATE = np.random.default_rng(5).normal(size=(3, ARM.nv))


def copied(model: Any, q: Any, v: Any, a: Any, wrenches: Any = None) -> Any:
    """A formulation under another name, as a user's copy."""
    return newton_euler.inverse_dynamics(model, q, v, a, wrenches)


@pytest.mark.parametrize("seed", range(3))
def test_a_copy_of_a_formulation_gives_what_it_gives(seed: int) -> None:
    """With all joint kinds, armature, damping, friction and wrenches: what joints add is added as for all others."""
    robot = random_robot(seed, joints=5)
    q, v, a = random_state(robot, np.random.default_rng(seed))
    wrenches = {"tool": np.arange(6.0)}
    expected = robot.inverse_dynamics(q, v, a, wrenches)
    for own in (copied, kane.inverse_dynamics, lagrange.inverse_dynamics):
        assert_close(robot.inverse_dynamics(q, v, a, wrenches, method=own), expected)
    assert_close(robot.mass_matrix(q, closed_form.mass_matrix), robot.mass_matrix(q))
    assert_close(robot.coriolis_matrix(q, v, gauss.coriolis_matrix), robot.coriolis_matrix(q, v, "gauss"))
    of_bodies = np.array(copied(robot.model, *map(list, (q, v, a))), dtype=float)
    assert np.abs(robot.inverse_dynamics(q, v, a, method=copied) - of_bodies).max() > 0.1


def test_a_gravity_field_comes_as_wrenches() -> None:
    earth = ARM.with_gravity(Central(3.986e14, center=(0.0, 0.0, -6.378e6)))
    expected = earth.inverse_dynamics(*STATE, method="newton-euler")
    assert_close(earth.inverse_dynamics(*STATE, method=copied), expected)


def test_counts_are_those_of_the_formulation() -> None:
    own = ARM.count("inverse_dynamics", simplify=False, method=copied)
    assert own == ARM.count("inverse_dynamics", simplify=False, method="newton-euler")

    def slower(model: Any, q: Any, v: Any, a: Any) -> Any:
        return [t + 0.001 * sin(x) for t, x in zip(copied(model, q, v, a), v, strict=True)]

    changed, plain = (ARM.count("inverse_dynamics", method=method) for method in (slower, copied))
    assert changed.sincos - plain.sincos == changed.mul - plain.mul == changed.add - plain.add == ARM.nv
    tau = ARM.inverse_dynamics(*STATE, method=slower)
    np.testing.assert_allclose(tau, ARM.inverse_dynamics(*STATE) + 0.001 * np.sin(STATE[1]), atol=1e-11)


def test_a_changed_equation_runs_in_the_frames_of_the_robot() -> None:
    """It need not hold in others: here the x component of each body's placement."""

    def of_frames(model: Any, q: Any, v: Any, a: Any) -> Any:
        return [joint.transform(q).p.vector[0] for joint in model.joints]

    expected = np.array(of_frames(ARM.model, *map(list, STATE)), dtype=float)
    assert np.abs(expected).max() > 0.05
    np.testing.assert_allclose(ARM.inverse_dynamics(*STATE, method=of_frames), expected, atol=1e-14)


REFUSED: dict[str, tuple[Any, str]] = {
    "too short": (
        lambda m, q, v, a: [0.0],
        r"must give scalars of shape \(6,\) for 'arm6'; found a list of 1: scalars",
    ),
    "a number": (lambda m, q, v, a: 3.0, r"found float\.$"),
    "nothing": (lambda m, q, v, a: None, r"found NoneType\.$"),
    "no scalars": (lambda m, q, v, a: [None] * 6, r"found a list of 6: NoneType\.$"),
    "a matrix": (lambda m, q, v, a: [[0.0] * 6] * 6, r"found a list of 6: a list of 6: scalars\.$"),
    "inputs": (lambda m, q, v: [0.0], r"fails on 'arm6' with TypeError: .*takes 3 positional arguments.*any scalar"),
    "a branch": (lambda m, q, v, a: [a[0] if v[0] > 0 else 0.0], r"with TypeError: .*without branches on values\.$"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_functions_that_cannot_serve_are_refused_in_a_sentence(fault: str) -> None:
    function, text = REFUSED[fault]
    with pytest.raises(dq.Error, match=text) as caught:
        ARM.inverse_dynamics(*STATE, method=function)
    assert caught.value.method is function


def test_their_own_errors_pass() -> None:
    def of_chains_only(model: Any, q: Any, v: Any, a: Any) -> Any:
        raise dq.ModelError("for chains only.")

    with pytest.raises(dq.ModelError, match=r"^for chains only\.$"):
        ARM.inverse_dynamics(*STATE, method=of_chains_only)


def test_where_methods_have_names_alone() -> None:
    with pytest.raises(
        dq.Error, match=r"method of forward_dynamics is a name, such as 'composite-body'; found <function"
    ):
        ARM.forward_dynamics(*STATE, method=copied)
    with pytest.raises(
        dq.Error, match=r"method of inverse_dynamics is a name or a function, such as 'recursive'; found 3"
    ):
        ARM.inverse_dynamics(*STATE, method=3)
    assert methods.FORWARD.completed is None


def test_exports_and_controllers_take_it() -> None:
    assert "arm6_inverse_dynamics_copied(" in ARM.export("c", "inverse_dynamics", method=copied, header=True)
    q, v, _ = STATE
    law, usual = (computed_torque(ARM, np.zeros(6), method=method) for method in (copied, "auto"))
    np.testing.assert_allclose(law(0.0, q, v), usual(0.0, q, v), rtol=1e-9)
