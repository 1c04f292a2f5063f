"""Parameters as inputs: one function gives what robots give that were built with these parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trees import random_q, random_robot

import dqdyn as dq
from dqdyn.compile.runtime.checked_call import CheckedCall

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
        (["masses"], "There is no parameter of inverse_dynamics named 'masses'"),
        (["inertia", "mass"], "'inertia' and 'mass' say the same of 'two_link' in two ways: choose one"),
        (["dh"], "'two_link' was not made by dq.from_dh, so it has no 'dh' as input: use 'joint_poses'"),
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
    heavy = inertia.copy()
    heavy[14] = 99.0  # one moment that the other two cannot add up to
    no_body = r"no distribution of mass has the inertia of body '\w+'"
    with pytest.raises(dq.Error, match=no_body + ": its moments .* pass check=False"):
        f(q, heavy)
    with pytest.raises(dq.Error, match=no_body + " in row 1"):
        f(np.zeros((2, 2)), np.array([inertia, heavy]))
    assert np.isfinite(f(q, heavy, check=False)).all()
    inertia[10] = -1.0
    with pytest.raises(dq.Error, match=r"the mass of body '\w+' is -1 kg: masses are 0 or more"):
        f(q, inertia)
    with pytest.raises(dq.Error, match="fast form only"):
        robot.function("mass_matrix", method="gauss", parameters=["inertia"])
    with pytest.raises(dq.Error, match="constraints"):
        dq.robots.four_bar().function("inverse_dynamics", parameters=["inertia"])
    with pytest.raises(dq.Error, match="no option"):
        robot.function("integrate", parameters=["inertia"])


def test_inertias_of_no_body_are_refused() -> None:
    """Those whose second moments about the center of mass are negative along some axis, and no others."""
    robot, rng = dq.robots.two_link(), np.random.default_rng(0)
    f, outcomes = robot.function("mass_matrix", parameters=["inertia"]), []
    for k in range(60):
        m, com, turn = rng.uniform(0.1, 5.0), 0.3 * rng.normal(size=3), np.linalg.qr(rng.normal(size=(3, 3)))[0]
        along = {0: np.zeros(3), 1: np.array([0.1, 0.0, 0.0])}.get(k, 0.05 + 0.05 * rng.normal(size=3))
        second = turn @ np.diag(along) @ turn.T + m * np.outer(com, com)  # a point, a rod, and others
        tensor = np.trace(second) * np.eye(3) - second
        body = [m, *(m * com), *(tensor[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))]
        try:
            f(np.zeros(2), np.array([*body, 1.0, *[0.0] * 9]))  # a point at the origin is a body too
            outcomes.append(True)
        except dq.Error:
            outcomes.append(False)
        assert outcomes[-1] == bool(along.min() >= 0.0)
    assert {*outcomes} == {True, False}
    with pytest.raises(dq.Error, match="no distribution of mass"):
        f(np.zeros(2), np.array([1.0, 0.5, *[0.0] * 18]))  # a center of mass away from the origin, no tensor about it


def test_singular_mass_matrices_are_refused() -> None:
    """As without parameters: a joint that moves no inertia at a state, or at any."""
    robot = dq.robots.two_link()
    f = robot.function("forward_dynamics", parameters=["inertia", "gravity"])
    own = robot.parameters()
    state = np.zeros(2), np.zeros(2), np.ones(2)
    expected = robot.forward_dynamics(*state)
    assert np.allclose(f(*state, *own.values()), expected)
    light = own["inertia"].copy()
    light[10:] = 0.0
    with pytest.raises(dq.Error, match="forward dynamics of 'two_link' is impossible at this q: joint 'joint2'"):
        f(*state, light, own["gravity"])
    many = [np.tile(x, (3, 1)) for x in state]
    with pytest.raises(dq.Error, match=r"impossible at the q of state 2: joint 'joint2'"):
        f(*many, np.array([own["inertia"], own["inertia"], light]), np.tile(own["gravity"], (3, 1)))
    assert not np.isfinite(f(*state, light, own["gravity"], check=False)).all()
    # Armature makes up for it, and without it as an input too.
    g = robot.function("forward_dynamics", parameters=["inertia", "armature"])
    assert np.isfinite(g(*state, light, np.full(2, 0.1))).all()
    with pytest.raises(dq.Error, match="joint 'joint2'"):
        g(*state, light, np.zeros(2))
    h = robot.function("forward_dynamics", parameters=["armature"])
    assert np.allclose(h(*state, np.zeros(2)), expected)


def test_inertias_are_checked_where_they_change() -> None:
    """Single calls with the same inertias go to machine code at once; others are checked, in place changes too."""
    robot = dq.robots.arm7()
    f = robot.function("mass_matrix", parameters=["inertia"])
    inertia, q = robot.parameters(["inertia"])["inertia"], np.zeros(7)
    assert f.__self__.program.name == "mass_matrix"
    if not isinstance(f, CheckedCall):
        pytest.skip("without machine code every call is checked")
    verify, calls = f.__self__.verify, []
    f.__self__.verify = lambda inputs: (calls.append(1), verify(inputs))[0]
    try:
        for _ in range(3):
            assert np.array_equal(f(q, inertia), f(q, inertia.copy()))
        assert len(calls) <= 1
        assert np.allclose(f(q, inertia=2.0 * inertia), 2.0 * f(q, inertia))
        assert np.allclose(f(q, list(inertia)), f(q, inertia))
        inertia[0] = -1.0
        with pytest.raises(dq.Error, match="masses are 0 or more"):
            f(q, inertia)
        f(q, inertia, check=False)
        with pytest.raises(dq.Error, match="masses are 0 or more"):
            f(q, inertia)
    finally:
        f.__self__.verify = verify
