"""Parameters as inputs: one function gives what robots give that were built with these parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trees import random_q, random_robot

import dqdyn as dq

INPUTS = {
    "inverse_dynamics": "qva",
    "forward_dynamics": "qva",
    "mass_matrix": "q",
    "bias_forces": "qv",
    "gravity_forces": "q",
}
ALL = ["inertia", "gravity", "damping", "friction", "armature"]


def _state(robot: Any, letters: str, rng: np.random.Generator) -> list[np.ndarray]:
    return [random_q(robot, rng) if c == "q" else rng.normal(size=robot.nv) for c in letters]


def _changed(robot: Any, rng: np.random.Generator) -> Any:
    """The robot with loads on some frames and another gravity."""
    frames = [name for name in robot.frames if name != "world"]
    for name in rng.choice(frames, size=2):
        size = rng.uniform(0.1, 1.0, size=3)
        moments = [size[1] + size[2], size[0] + size[2], size[0] + size[1]]
        robot = robot.with_payload(str(name), float(rng.uniform(0.5, 3.0)), rng.normal(size=3), moments)
    return robot.with_gravity(rng.normal(size=3) * 5.0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", INPUTS)
def test_one_function_serves_changed_robots(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(seed)
    function = robot.function(name, parameters=["gravity", "inertia"])
    for _ in range(3):
        other = _changed(robot, rng)
        state = _state(robot, INPUTS[name], rng)
        expected = other.function(name)(*state)
        found = function(*state, *other.parameters().values())
        assert np.abs(found - expected).max() <= 1e-11 * (1.0 + np.abs(expected).max())


def test_joint_coefficients_and_batches() -> None:
    rng = np.random.default_rng(1)
    robot = dq.robots.arm7()
    f = robot.function("inverse_dynamics", parameters=ALL)
    own = robot.parameters(ALL)
    q, v, a = _state(robot, "qva", rng)
    damping, friction, armature = rng.uniform(0.1, 1.0, size=(3, 7))
    found = f(q, v, a, own["inertia"], own["gravity"], damping, friction, armature)
    expected = robot.inverse_dynamics(q, v, a) + damping * v + friction * np.sign(v) + armature * a
    bare = [own["damping"] * v, own["friction"] * np.sign(v), own["armature"] * a]
    assert np.allclose(found, expected - sum(bare), atol=1e-12)
    # A thousand different robots at once.
    scale = rng.uniform(0.5, 2.0, size=(1000, 1))
    inertia = own["inertia"] * scale
    gravity = np.zeros((1000, 3))
    rest = [np.zeros((1000, 7))] * 3
    many = f(np.tile(q, (1000, 1)), np.tile(v, (1000, 1)), np.tile(a, (1000, 1)), inertia, gravity, *rest)
    one = robot.with_gravity([0, 0, 0]).inverse_dynamics(q, v, a) - sum(bare)
    assert np.allclose(many, scale * one, atol=1e-11)


def test_parameters_cost_less_than_two_and_a_half_times() -> None:
    robot = dq.robots.arm7()
    plain = robot.count("inverse_dynamics").total
    assert robot.count("inverse_dynamics", parameters=ALL).total < 2.5 * plain
    assert "const double *inertia, const double *gravity" in robot.export(
        "c", "inverse_dynamics", parameters=["inertia", "gravity"], header=True
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("inertia", "parameters is a list"),
        (None, "parameters is a list"),
        (["mass"], "There is no parameter of inverse_dynamics named 'mass'"),
        ([3], "There is no parameter of inverse_dynamics named 3"),
    ],
)
def test_bad_names_are_refused(given: Any, words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        dq.robots.two_link().function("inverse_dynamics", parameters=given)


def test_bad_values_are_refused() -> None:
    robot = dq.robots.two_link()
    f = robot.function("mass_matrix", parameters=["inertia"])
    inertia = robot.parameters(["inertia"])["inertia"]
    q = np.zeros(2)
    with pytest.raises(dq.Error, match="has 20 components"):
        f(q, inertia[:-1])
    with pytest.raises(dq.Error, match="inertia"):
        f(q, np.full(20, np.nan))
    inertia[10] = -1.0
    with pytest.raises(dq.Error, match=r"the mass of body '\w+' is -1 kg: masses are 0 or more"):
        f(q, inertia)
    with pytest.raises(dq.Error, match="fast form only"):
        robot.function("mass_matrix", method="gauss", parameters=["inertia"])
    with pytest.raises(dq.Error, match="constraints"):
        dq.robots.four_bar().function("inverse_dynamics", parameters=["inertia"])
    with pytest.raises(dq.Error, match="no option"):
        robot.function("pose", frame="tool", parameters=["inertia"])
