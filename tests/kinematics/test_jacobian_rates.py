"""Jacobians are derivatives of poses, primitives, centers of mass and two hands, along the motion of random trees."""

from __future__ import annotations

import numpy as np
import pytest
from trees import (
    TREES,
    assert_close,
    moving_state,
    random_robot,
    random_state,
    random_v,
    rate,
    rate_along,
    run,
    tree,
)

from dqdyn.algebra.adjoint import Ad, Adsharp
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.hamilton import hamiplus8
from dqdyn.algebra.parts import conj_sharp
from dqdyn.algebra.poses import position
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure
from dqdyn.algebra.rates import pose_rate
from dqdyn.robot import Robot
from dqdyn.robot.catalog import CATALOG

LOCAL = {
    "point": (0.3, -0.2, 0.5),
    "line": (0.6, 0.0, 0.8, *np.cross([0.3, -0.2, 0.5], [0.6, 0.0, 0.8])),
    "plane": (0.0, 0.6, -0.8, 0.4),
}
TOOL, HANDS = {"frame": "tool"}, {"frame1": "tool", "frame2": "camera"}

# Jacobian: the function whose rate it gives, frames, and what comes last
JACOBIANS: dict[str, tuple[str, dict[str, str], tuple[tuple[float, ...], ...]]] = {
    "pose_jacobian": ("pose", TOOL, ()),
    "rotation_jacobian": ("pose", TOOL, ()),
    "translation_jacobian": ("point_on", TOOL, ((0.0, 0.0, 0.0),)),
    "point_jacobian": ("point_on", TOOL, (LOCAL["point"],)),
    "line_jacobian": ("line_on", TOOL, (LOCAL["line"],)),
    "plane_jacobian": ("plane_on", TOOL, (LOCAL["plane"],)),
    "center_of_mass_jacobian": ("center_of_mass", {}, ()),
    "relative_pose_jacobian": ("relative_pose", HANDS, ()),
    "absolute_pose_jacobian": ("absolute_pose", HANDS, ()),
}
CASES = [(name, function) for name in TREES for function in JACOBIANS]


def last(function: str, tail: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    """The primitive of a function that takes one."""
    return tail if CATALOG[function].inputs[-1] in LOCAL else ()


def test_every_jacobian_is_tested() -> None:
    listed = {name for name in CATALOG if name.endswith("_jacobian")}
    assert listed == set(JACOBIANS) | {"twist_jacobian"}
    assert {f"{name}_derivative" for name in listed} <= set(CATALOG)


@pytest.mark.equation("Silva", "4")
@pytest.mark.equation("Quiroz", "4.25")
@pytest.mark.parametrize(("name", "function"), CASES)
def test_jacobian_is_the_derivative(name: str, function: str) -> None:
    robot = tree(name)
    value, frames, tail = JACOBIANS[function]
    rng = np.random.default_rng(1)
    q, v, _ = random_state(robot, rng)
    jacobian = run(robot, function, q, *last(function, tail), **frames)
    moved = rate_along(lambda c: run(robot, value, c, *tail, **frames), robot, q, v)
    assert_close(jacobian @ v, moved[: len(jacobian)], 1e-10)


@pytest.mark.equation("Silva", "9")
@pytest.mark.parametrize(("name", "function"), CASES)
def test_jacobian_derivative_is_its_rate(name: str, function: str) -> None:
    robot = tree(name)
    _, frames, tail = JACOBIANS[function]
    q, v, a = random_state(robot, np.random.default_rng(2))
    tail = last(function, tail)
    jacobian = lambda c: run(robot, function, c, *tail, **frames)
    found = run(robot, f"{function}_derivative", q, v, *tail, **frames)
    assert_close(found, rate_along(jacobian, robot, q, v), 1e-10)
    # and with an acceleration: the second derivative of the value is J a + J̇ v
    moving = moving_state(robot, q, v, a)
    second = rate(lambda t: jacobian(moving(t)[0]) @ moving(t)[1])
    assert_close(jacobian(q) @ a + found @ v, second, 1e-10)


@pytest.mark.equation("Silva", "18")
@pytest.mark.equation("Silva", "20")
@pytest.mark.parametrize("expressed", ["body", "world", "aligned"])
@pytest.mark.parametrize("name", TREES)
def test_twist_jacobian_and_its_rate(name: str, expressed: str) -> None:
    robot = tree(name)
    q, v, a = random_state(robot, np.random.default_rng(3))
    options = {"frame": "tool", "expressed": expressed}
    jacobian = run(robot, "twist_jacobian", q, **options)
    x = DQ(run(robot, "pose", q, frame="tool"))
    x_rate = DQ(rate_along(lambda c: run(robot, "pose", c, frame="tool"), robot, q, v))
    twist = {
        "body": lambda: x.conj() * x_rate * 2.0,
        "world": lambda: x_rate * x.conj() * 2.0,
        # [ω, ṗ] in world axes
        "aligned": lambda: DQ.of(
            (x_rate * x.conj() * 2.0).primary,
            pure(*rate_along(lambda c: run(robot, "point_on", c, (0, 0, 0), frame="tool"), robot, q, v)),
        ),
    }[expressed]()
    assert_close(run(robot, "twist", q, v, **options), twist.vec6(), 1e-10)
    assert_close(jacobian @ v, twist.vec6(), 1e-10)
    rates = run(robot, "twist_jacobian_derivative", q, v, **options)
    assert_close(rates, rate_along(lambda c: run(robot, "twist_jacobian", c, **options), robot, q, v), 1e-10)
    moving = moving_state(robot, q, v, a)
    found = run(robot, "twist_rate", q, v, a, **options)
    assert_close(found, rate(lambda t: run(robot, "twist", *moving(t), **options)), 1e-10)
    assert_close(found, jacobian @ a + rates @ v, 1e-12)


@pytest.mark.parametrize("name", TREES)
def test_functions_agree_with_one_another(name: str) -> None:
    """Written out from pose and twist by the definitions of the algebra."""
    robot = tree(name)
    q, v, _ = random_state(robot, np.random.default_rng(4))
    x = DQ(run(robot, "pose", q, **TOOL))
    world = run(robot, "twist_jacobian", q, **TOOL, expressed="world")
    poses = np.array([pose_rate(DQ(c), x).vec8() for c in world.T]).T
    assert_close(run(robot, "pose_jacobian", q, **TOOL), poses, 1e-12)
    body = run(robot, "twist_jacobian", q, **TOOL)
    pure8 = np.zeros((8, robot.nv))
    pure8[[1, 2, 3, 5, 6, 7]] = body
    assert_close(poses, 0.5 * hamiplus8(x) @ pure8, 1e-12)
    aligned = run(robot, "twist_jacobian", q, **TOOL, expressed="aligned")
    assert_close(run(robot, "translation_jacobian", q, **TOOL), aligned[3:], 1e-12)
    assert_close(run(robot, "rotation_jacobian", q, **TOOL), poses[:4], 1e-12)
    velocity = run(robot, "center_of_mass_jacobian", q) @ v
    assert_close(run(robot, "center_of_mass_velocity", q, v), velocity, 1e-12)


@pytest.mark.equation("Quiroz", "4.24")
@pytest.mark.parametrize("name", TREES)
def test_primitives_move_with_their_frame(name: str) -> None:
    robot = tree(name)
    q = random_state(robot, np.random.default_rng(5))[0]
    x = DQ(run(robot, "pose", q, **TOOL))
    p = pure(*LOCAL["point"])
    moved = x * (DQ([1, 0, 0, 0, 0, *LOCAL["point"]])) * conj_sharp(x)  # 1 + εp, with x and its both conjugates
    assert_close(run(robot, "point_on", q, LOCAL["point"], **TOOL), moved.dual.vector, 1e-12)
    line = Ad(x, DQ(LOCAL["line"]))
    found = run(robot, "line_on", q, LOCAL["line"], **TOOL)
    assert_close(found, line.vec6(), 1e-12)
    l, m, on = found[:3], found[3:], np.array(moved.dual.vector)
    assert_close(np.cross(on, l), m, 1e-12)  # the point of the frame is on the line of the frame
    plane = DQ([0, *LOCAL["plane"], 0, 0, 0])
    expected = Adsharp(x, plane)
    found = run(robot, "plane_on", q, LOCAL["plane"], **TOOL)
    assert_close(found, [*expected.primary.vector, expected.dual.w], 1e-12)
    n, d = pure(*LOCAL["plane"][:3]), LOCAL["plane"][3]
    # The height of a point over a plane does not depend on where both are.
    assert float(found[:3] @ on - found[3]) == pytest.approx(dot3(p, n) - d, abs=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_momentum(name: str) -> None:
    """Linear momentum is mass times velocity of the center; angular momentum is summed body by body."""
    robot = tree(name)
    q, v, _ = random_state(robot, np.random.default_rng(6))
    found = run(robot, "centroidal_momentum", q, v)
    assert_close(run(robot, "centroidal_momentum_matrix", q) @ v, found, 1e-12)
    center = run(robot, "center_of_mass", q)
    moment, linear, angular = np.zeros(3), np.zeros(3), np.zeros(3)
    for joint, body in zip(robot.joints, robot.bodies, strict=True):
        frame = robot.frames[joint.name]
        at = run(robot, "point_on", q, body.inertia.com, frame=frame)
        speed = run(robot, "point_jacobian", q, body.inertia.com, frame=frame) @ v
        r = Quaternion(*run(robot, "pose", q, frame=frame)[:4])
        omega = run(robot, "twist", q, v, frame=frame)[:3]
        spin = Ad(DQ.of(r), DQ(np.array(body.inertia.tensor) @ omega)).vec3()
        moment += body.inertia.mass * at
        linear += body.inertia.mass * speed
        angular += spin + body.inertia.mass * np.cross(at - center, speed)
    assert_close(center, moment / robot.mass, 1e-12)
    assert_close(found, np.concatenate([linear, angular]), 1e-12)
    assert_close(found[:3], robot.mass * run(robot, "center_of_mass_velocity", q, v), 1e-12)


def test_momentum_of_a_free_body_that_nothing_pushes_is_conserved() -> None:
    """A check on the whole: the free fall without gravity of one body, by its equations of motion."""
    robot: Robot = random_robot(9, 0, (), base="free")
    inertia = robot.bodies[0].inertia
    tensor, c = np.array(inertia.tensor), np.array(inertia.com)
    rng = np.random.default_rng(7)
    q, v = robot.random_configuration(rng), random_v(robot, rng)

    def acceleration(w: np.ndarray) -> np.ndarray:
        """Of the origin, in the body: Euler for ω̇, and no acceleration of the center of mass."""
        omega, linear = w[:3], w[3:]
        turn = np.linalg.solve(tensor, -np.cross(omega, tensor @ omega))
        return np.concatenate([turn, -np.cross(omega, linear + np.cross(omega, c)) - np.cross(turn, c)])

    before, dt = run(robot, "centroidal_momentum", q, v), 1e-3
    for _ in range(200):
        middle = v + 0.5 * dt * acceleration(v)
        q, v = run(robot, "integrate", q, middle, dt), v + dt * acceleration(middle)
    assert_close(run(robot, "centroidal_momentum", q, v), before, 1e-6)


def test_world_fixed_frames_do_not_move() -> None:
    for name in TREES:
        robot = tree(name)
        q, v, a = random_state(robot, np.random.default_rng(8))
        for expressed in ("body", "world", "aligned"):
            options = {"frame": "world", "expressed": expressed}
            assert not run(robot, "twist_jacobian", q, **options).any()
            assert not run(robot, "twist_jacobian_derivative", q, v, **options).any()
            assert not run(robot, "twist_rate", q, v, a, **options).any()
        assert not run(robot, "pose_jacobian", q, frame="world").any()
        assert run(robot, "pose", q, frame="world").tolist() == [1, 0, 0, 0, 0, 0, 0, 0]


def test_rates_of_lines_and_planes_by_their_formulas() -> None:
    """l̇ = ξ × l, and ṅ = ω × n with ḋ = ⟨v, n⟩, for the world twist ξ = ω + εv."""
    robot = tree("every kind")
    q, v, _ = random_state(robot, np.random.default_rng(9))
    twist = DQ(run(robot, "twist", q, v, **TOOL, expressed="world"))
    line = DQ(run(robot, "line_on", q, LOCAL["line"], **TOOL))
    assert_close(run(robot, "line_jacobian", q, LOCAL["line"], **TOOL) @ v, cross(twist, line).vec6(), 1e-12)
    plane = run(robot, "plane_on", q, LOCAL["plane"], **TOOL)
    n = pure(*plane[:3])
    n_rate = [*cross3(twist.primary, n).vector, dot3(twist.dual, n)]
    assert_close(run(robot, "plane_jacobian", q, LOCAL["plane"], **TOOL) @ v, n_rate, 1e-12)
    p = position(DQ(run(robot, "pose", q, **TOOL)))
    p_rate = (twist.dual + cross3(twist.primary, p)).vector
    assert_close(run(robot, "translation_jacobian", q, **TOOL) @ v, p_rate, 1e-12)
