"""Manipulability against determinants of Pinocchio's Jacobians and closed forms, its gradient against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
import pytest
from trees import TREES, tree

import dqdyn as dq
from dqdyn.errors import Error

ARM = dq.robots.arm7()


def test_volumes_are_those_of_pinocchio(tmp_path: Any) -> None:
    ARM.write(tmp_path / "arm7.urdf")
    model = pinocchio.buildModelFromUrdf(str(tmp_path / "arm7.urdf"))
    data, q = model.createData(), ARM.random_configuration(1)
    theirs = pinocchio.computeFrameJacobian(model, data, q, model.getFrameId("tool"), pinocchio.LOCAL)
    assert ARM.manipulability("tool", q) == pytest.approx(np.sqrt(np.linalg.det(theirs @ theirs.T)))
    linear = np.sqrt(np.linalg.det(theirs[:3] @ theirs[:3].T))
    assert ARM.manipulability("tool", q, mask=[0, 0, 0, 1, 1, 1]) == pytest.approx(linear)
    sizes = np.linalg.svd(theirs, compute_uv=False)
    assert ARM.manipulability("tool", q, measure="smallest") == pytest.approx(sizes[-1])
    assert ARM.manipulability("tool", q, measure="isotropy") == pytest.approx(sizes[-1] / sizes[0])
    for expressed in ("world", "aligned"):
        assert ARM.manipulability("tool", q, expressed=expressed) == pytest.approx(ARM.manipulability("tool", q))


def test_a_plane_arm() -> None:
    """w = l₁ l₂ |sin q₂|, and its gradient (0, l₁ l₂ cos q₂)."""
    arm = dq.from_dh([[0, 0, 0.5, 0], [0, 0, 0.4, 0]])
    angles = np.linspace(0.1, 3.0, 7)
    q = np.stack([np.full(7, 0.3), angles], axis=-1)
    mask = [0, 0, 0, 1, 1, 0]
    assert np.allclose(arm.manipulability("tool", q, mask=mask, expressed="aligned"), 0.2 * np.sin(angles))
    gradient = arm.manipulability_gradient("tool", q, mask=mask, expressed="aligned")
    assert np.allclose(gradient, np.stack([0 * angles, 0.2 * np.cos(angles)], axis=-1))


@pytest.mark.parametrize("mask", [None, [0, 0, 0, 1, 1, 1], [1, 0, 1, 0, 0, 1]], ids=str)
@pytest.mark.parametrize("name", TREES)
def test_the_gradient(name: str, mask: Any) -> None:
    robot = tree(name)
    frame = max(robot.frames, key=lambda f: len(robot.model.path(robot.frames[f].body)))
    rng = np.random.default_rng(2)
    q = np.array([robot.random_configuration(rng) for _ in range(3)])
    axes = np.linalg.matrix_rank(robot.twist_jacobian(frame, q[0])[np.array(mask or [1] * 6, bool)])
    if axes < sum(mask or [1] * 6):
        with pytest.raises(Error, match=r"is 0 everywhere|singular"):
            robot.manipulability_gradient(frame, q, mask=mask)
        return
    gradient = robot.manipulability_gradient(frame, q, mask=mask)
    v, h = rng.normal(size=(3, robot.nv)), 1e-6
    ahead, behind = (robot.manipulability(frame, robot.integrate(q, v, t), mask=mask) for t in (h, -h))
    size = max(1.0, float(np.abs(ahead).max()))
    assert np.allclose((gradient * v).sum(-1), (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-6 * size)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda q: ARM.manipulability("tool", q, measure="best"), "no measure of manipulability named 'best'"),
        (lambda q: ARM.manipulability("tool", q, mask=[1, 1, 1]), "the mask of manipulability has six entries"),
        (lambda q: ARM.manipulability("tool", q, mask=[0] * 6), "not all 0"),
        (lambda q: ARM.manipulability("tool", q, mask=None, expressed="here"), "no expression named 'here'"),
        (lambda q: ARM.manipulability("link3", q), "3 axes of 'arm7' move it, and 6 directions count; give a mask"),
        (lambda q: ARM.manipulability("base", q), "0 axes of 'arm7' move it, .* choose a frame that moves"),
        (lambda q: ARM.manipulability(q, "tool"), "before other arguments"),
        (lambda q: ARM.manipulability("tool", q[:3]), "7 components"),
        (lambda q: ARM.manipulability("tool", None), "must be real numbers"),
        (lambda q: ARM.manipulability_gradient("tool", np.stack([q, 0 * q])), "singular at the q of state 1"),
    ],
)
def test_refusals(call: Any, sentence: str) -> None:
    with pytest.raises(Error, match=sentence):
        call(ARM.random_configuration(3))


def test_singular_rows_are_nan_where_unchecked() -> None:
    q = np.stack([ARM.random_configuration(3), np.zeros(7)])
    gradient = ARM.manipulability_gradient("tool", q, check=False)
    assert np.isfinite(gradient[0]).all()
    assert np.isnan(gradient[1]).all()
    assert ARM.manipulability("tool", q)[1] == pytest.approx(0.0, abs=1e-12)
