"""Jacobians and residuals of every distance, with both things moving: finite differences, the papers, DQ Robotics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dqrobotics import DQ as Theirs
from dqrobotics.robot_modeling import DQ_Kinematics
from trees import assert_close, random_state, random_unit, rate, run, tree

from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment
from dqdyn.kinematics import named_distances
from dqdyn.kinematics.distances import DISTANCES, SIZE

ROBOT = tree("every kind, mimic")
LOCAL = {
    "point": np.array([0.3, -0.2, 0.5]),
    "line": np.array([0.6, 0.0, 0.8, *np.cross([0.3, -0.2, 0.5], [0.6, 0.0, 0.8])]),
    "plane": np.array([0.0, 0.6, -0.8, 0.4]),
}
ENDS = np.array([0.3, -0.2, 0.5]), np.array([-0.4, 0.1, 0.2])
SEEDS = range(4)


# --- a: on the robot ------------------------------------------------------------------------------------------------


def thing(kind: str, q: np.ndarray) -> np.ndarray:
    """World components of a primitive of the tool."""
    if kind == "segment":
        return np.concatenate([run(ROBOT, "point_on", q, end, frame="tool") for end in ENDS])
    return run(ROBOT, f"{kind}_on", q, LOCAL[kind], frame="tool")


def jacobian(kind: str, q: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
    """Its Jacobian, or with v the rate of that."""
    suffix, state = ("_jacobian", (q,)) if v is None else ("_jacobian_derivative", (q, v))
    if kind == "segment":
        return np.vstack([run(ROBOT, "point" + suffix, *state, end, frame="tool") for end in ENDS])
    return run(ROBOT, kind + suffix, *state, LOCAL[kind], frame="tool")


# --- b: in the workspace, moving smoothly with a speed and an acceleration --------------------------------------------


class Obstacle:
    """A primitive on a frame that turns about an axis and moves, both faster and faster."""

    def __init__(self, kind: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.kind, self.axis = kind, np.array(random_unit(rng))
        self.position, self.velocity, self.acceleration = rng.normal(size=(3, 3))
        self.spin, self.spin_rate = rng.normal(size=2)
        self.direction, self.other = np.array(random_unit(rng)), rng.normal(size=3)

    def at(self, t: float) -> np.ndarray:
        angle = self.spin * t + 0.5 * self.spin_rate * t * t
        x, y, z = self.axis
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
        p = self.position + self.velocity * t + 0.5 * self.acceleration * t * t
        l = turn @ self.direction
        return {
            "point": p,
            "line": np.concatenate([l, np.cross(p, l)]),
            "plane": np.concatenate([l, [p @ l]]),
            "segment": np.concatenate([p, p + turn @ self.other]),
        }[self.kind]

    def rate(self) -> np.ndarray:
        return rate(self.at)

    def second_rate(self, h: float = 1e-2) -> np.ndarray:
        """By central differences of order 6."""
        weights = {0: -49 / 18, 1: 3 / 2, 2: -3 / 20, 3: 1 / 90}
        terms = [w * (self.at(k * h) + self.at(-k * h)) * (0.5 if k == 0 else 1.0) for k, w in weights.items()]
        return np.asarray(sum(terms)) / h**2


def situation(name: str, seed: int) -> tuple[Any, np.ndarray, np.ndarray, Obstacle]:
    distance = DISTANCES[name]
    q, v, _ = random_state(ROBOT, np.random.default_rng(seed))
    return distance, q, v, Obstacle(distance.b, seed + 10)


def after(q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    return run(ROBOT, "integrate", q, v, t)


@pytest.mark.equation("Quiroz", "4.21")
@pytest.mark.equation("Quiroz", "3.9")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", DISTANCES)
def test_rate_of_a_distance(name: str, seed: int) -> None:
    """ḋ = J v + ζ, with J and ζ each alone, and together."""
    distance, q, v, b = situation(name, seed)
    a, j = thing(distance.a, q), jacobian(distance.a, q)
    found, zeta = distance.jacobian(j, a, b.at(0.0)), distance.residual(a, b.at(0.0), b.rate())
    assert found.shape == (ROBOT.nv,)
    assert_close(found @ v, rate(lambda t: distance(thing(distance.a, after(q, v, t)), b.at(0.0)), 1e-3), 1e-8)
    assert_close(zeta, rate(lambda t: distance(a, b.at(t)), 1e-3), 1e-8)
    assert_close(found @ v + zeta, rate(lambda t: distance(thing(distance.a, after(q, v, t)), b.at(t)), 1e-3), 1e-8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", DISTANCES)
def test_second_rate_of_a_distance(name: str, seed: int) -> None:
    """J̇ and ζ̇ along the motion of both."""
    distance, q, v, b = situation(name, seed)
    a, j, j_rate = thing(distance.a, q), jacobian(distance.a, q), jacobian(distance.a, q, v)

    def moving_jacobian(t: float) -> np.ndarray:
        qt = after(q, v, t)
        return distance.jacobian(jacobian(distance.a, qt), thing(distance.a, qt), b.at(t))

    def moving_residual(t: float) -> Any:
        b_rate = b.rate() + t * b.second_rate()
        return distance.residual(thing(distance.a, after(q, v, t)), b.at(t), b_rate)

    h = 1e-3
    found = distance.jacobian_derivative(j, j_rate, a, j @ v, b.at(0.0), b.rate())
    assert_close(found, rate(moving_jacobian, h), 1e-7)
    zeta_rate = distance.residual_derivative(a, j @ v, b.at(0.0), b.rate(), b.second_rate())
    assert_close(zeta_rate, rate(moving_residual, h), 1e-7)
    at_rest = distance.jacobian_derivative(j, j_rate, a, j @ v, b.at(0.0))
    assert_close(at_rest, distance.jacobian_derivative(j, j_rate, a, j @ v, b.at(0.0), np.zeros(SIZE[distance.b])), 0)


# --- the formulas of the papers ---------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "3.9")
@pytest.mark.parametrize("seed", SEEDS)
def test_point_to_plane_as_printed(seed: int) -> None:
    """J = vec3(n)ᵀ J_p and ζ = ⟨p, ṅ⟩ − ḋ."""
    _, q, _, b = situation("point_to_plane", seed)
    p, j, plane, plane_rate = thing("point", q), jacobian("point", q), b.at(0.0), b.rate()
    assert_close(named_distances.point_to_plane_distance_jacobian(j, p, plane), plane[:3] @ j, 1e-14)
    expected = p @ plane_rate[:3] - plane_rate[3]
    assert_close(named_distances.point_to_plane_residual(p, plane, plane_rate), expected, 1e-14)


@pytest.mark.equation("Quiroz", "4.27")
@pytest.mark.parametrize("seed", SEEDS)
def test_angle_of_lines_with_the_factor_on_both_terms(seed: int) -> None:
    """φ̇ = −1/√(1 − ⟨l_z, l⟩²) (vec3(l)ᵀ J_lz v + ⟨l_z, l̇⟩)."""
    _, q, v, b = situation("line_to_line_phi", seed)
    lz, j, l, l_rate = thing("line", q), jacobian("line", q), b.at(0.0), b.rate()
    factor = -1.0 / np.sqrt(1.0 - (lz[:3] @ l[:3]) ** 2)
    found = named_distances.line_to_line_phi_jacobian(j, lz, l)
    zeta = named_distances.line_to_line_phi_residual(lz, l, l_rate)
    assert_close(found, factor * l[:3] @ j[:3], 1e-12)
    assert_close(zeta, factor * (lz[:3] @ l_rate[:3]), 1e-12)
    angle = lambda t: np.arccos(thing("line", after(q, v, t))[:3] @ b.at(t)[:3])
    assert_close(found @ v + zeta, rate(angle, 1e-3), 1e-9)
    # With the factor on the first term alone, as printed, it would not be the rate of the angle.
    assert abs(found @ v + lz[:3] @ l_rate[:3] - rate(angle, 1e-3)) > 1e-3


@pytest.mark.equation("Quiroz", "4.30")
@pytest.mark.parametrize("seed", SEEDS)
def test_angle_function_of_lines_as_printed(seed: int) -> None:
    """J = 2 vec3(l_z − l)ᵀ J_lz and ζ = 2⟨l_z − l, −l̇⟩."""
    _, q, _, b = situation("line_to_line_angle", seed)
    lz, j, l, l_rate = thing("line", q), jacobian("line", q), b.at(0.0), b.rate()
    found = named_distances.line_to_line_angle_jacobian(j, lz, l)
    assert_close(found, 2 * (lz - l)[:3] @ j[:3], 1e-13)
    zeta = named_distances.line_to_line_angle_residual(lz, l, l_rate)
    assert_close(zeta, -2 * (lz - l)[:3] @ l_rate[:3], 1e-13)


def test_angles_of_parallel_lines_have_finite_derivatives() -> None:
    """Where f = 2 − 2 cos φ has a minimum its Jacobian is 0; φ itself has none there, and 0 stands in."""
    q = random_state(ROBOT, np.random.default_rng(0))[0]
    lz, j = thing("line", q), jacobian("line", q)
    for sign in (1.0, -1.0):
        other = sign * lz
        assert_close(DISTANCES["line_to_line_angle"].jacobian(j, lz, other), 2 * (lz - other)[:3] @ j[:3], 1e-13)
        assert_close(DISTANCES["line_to_line_phi"].jacobian(j, lz, other), np.zeros(ROBOT.nv), 0)


# --- DQ Robotics ------------------------------------------------------------------------------------------------------


def their_thing(kind: str, c: np.ndarray) -> Theirs:
    if kind == "plane":
        return Theirs(np.array([0.0, *c[:3], c[3], 0.0, 0.0, 0.0]))
    return Theirs(c) if kind == "line" else Theirs(np.array([0.0, *c]))


def their_jacobian(kind: str, j: np.ndarray) -> np.ndarray:
    """Translation Jacobians have four rows there, those of lines and planes eight."""
    result = np.zeros((4 if kind == "point" else 8, j.shape[1]))
    result[{"point": [1, 2, 3], "line": [1, 2, 3, 5, 6, 7], "plane": [1, 2, 3, 4]}[kind]] = j
    return result


THEIRS = [name for name in DISTANCES if hasattr(DQ_Kinematics, f"{name}_residual")]


def test_all_of_theirs_are_here() -> None:
    residuals = {n.removesuffix("_residual") for n in dir(DQ_Kinematics) if n.endswith("_residual")}
    assert residuals == set(THEIRS)
    for name in dir(DQ_Kinematics):
        if "_to_" in name and not name.startswith("line_segment"):
            assert hasattr(named_distances, name)
    assert len(THEIRS) == 7


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", THEIRS)
def test_equals_dq_robotics(name: str, seed: int) -> None:
    distance, q, _, b = situation(name, seed)
    a, j, other, other_rate = thing(distance.a, q), jacobian(distance.a, q), b.at(0.0), b.rate()
    ta, tj, tb = their_thing(distance.a, a), their_jacobian(distance.a, j), their_thing(distance.b, other)
    tb_rate = their_thing(distance.b, other_rate)
    jacobian_name = f"{name}_jacobian" if "angle" in name else f"{name}_distance_jacobian"
    ours, theirs = getattr(named_distances, jacobian_name), getattr(DQ_Kinematics, jacobian_name)
    expected = theirs(tj, tb) if name == "plane_to_point" else theirs(tj, ta, tb)
    assert_close(ours(j, a, other), np.asarray(expected).ravel(), 1e-12)
    residual = getattr(DQ_Kinematics, f"{name}_residual")
    arguments = {"point_to_plane": (ta, tb_rate), "plane_to_point": (ta, tb_rate)}.get(name, (ta, tb, tb_rate))
    assert_close(getattr(named_distances, f"{name}_residual")(a, other, other_rate), residual(*arguments), 1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_segments_equal_dq_robotics(seed: int) -> None:
    _, q, _, b = situation("segment_to_segment", seed)
    a, other = thing("segment", q), b.at(0.0)
    lines = [np.concatenate([l, np.cross(s[:3], l)]) for s in (a, other) for l in [direction(s)]]
    ends_j = [run(ROBOT, "point_jacobian", q, end, frame="tool") for end in ENDS]
    local = direction(np.concatenate(ENDS))
    line_j = run(ROBOT, "line_jacobian", q, np.concatenate([local, np.cross(ENDS[0], local)]), frame="tool")
    their_function: Any = DQ_Kinematics.line_segment_to_line_segment_distance_jacobian
    expected = their_function(
        their_jacobian("line", line_j),
        *(their_jacobian("point", j) for j in ends_j),
        their_thing("line", lines[0]),
        *(their_thing("point", p) for p in (a[:3], a[3:])),
        their_thing("line", lines[1]),
        *(their_thing("point", p) for p in (other[:3], other[3:])),
    )
    found = named_distances.segment_to_segment_distance_jacobian(np.vstack(ends_j), a, other)
    assert_close(found, np.asarray(expected).ravel(), 1e-10)


def direction(segment: np.ndarray) -> np.ndarray:
    u = segment[3:] - segment[:3]
    return u / np.linalg.norm(u)


def test_jacobians_of_frames_equal_dq_robotics() -> None:
    """Theirs come from a pose Jacobian; ours from the tree. Lines and planes are those of the z axis."""
    q, v, _ = random_state(ROBOT, np.random.default_rng(3))
    pose, j = run(ROBOT, "pose", q, frame="tool"), run(ROBOT, "pose_jacobian", q, frame="tool")
    j_rate = run(ROBOT, "pose_jacobian_derivative", q, v, frame="tool")
    x, k = Theirs(pose), Theirs(np.array([0.0, 0.0, 0.0, 1.0]))
    z_line, z_plane, origin = (0, 0, 1, 0, 0, 0), (0, 0, 1, 0), np.zeros(3)
    assert_close(DQ_Kinematics.rotation_jacobian(j), run(ROBOT, "rotation_jacobian", q, frame="tool"))
    translation = run(ROBOT, "translation_jacobian", q, frame="tool")
    assert_close(DQ_Kinematics.translation_jacobian(j, x)[1:], translation)
    line = run(ROBOT, "line_jacobian", q, z_line, frame="tool")
    assert_close(DQ_Kinematics.line_jacobian(j, x, k), their_jacobian("line", line))
    plane = run(ROBOT, "plane_jacobian", q, z_plane, frame="tool")
    assert_close(DQ_Kinematics.plane_jacobian(j, x, k), their_jacobian("plane", plane))
    rates = {
        "translation": DQ_Kinematics.translation_jacobian_derivative(j, j_rate, x, v)[1:],
        "line": DQ_Kinematics.line_jacobian_derivative(j, j_rate, x, k, v),
        "plane": DQ_Kinematics.plane_jacobian_derivative(j, j_rate, x, k, v),
    }
    t_rate = run(ROBOT, "translation_jacobian_derivative", q, v, frame="tool")
    assert_close(rates["translation"], t_rate)
    found = run(ROBOT, "line_jacobian_derivative", q, v, z_line, frame="tool")
    assert_close(rates["line"], their_jacobian("line", found))
    found = run(ROBOT, "plane_jacobian_derivative", q, v, z_plane, frame="tool")
    assert_close(rates["plane"], their_jacobian("plane", found))
    # The squared distance of the frame from the origin is a distance of points.
    p = run(ROBOT, "point_on", q, origin, frame="tool")
    point = DISTANCES["point_to_point"]
    assert_close(DQ_Kinematics.distance_jacobian(j, x).ravel(), point.jacobian(translation, p, origin))
    expected = DQ_Kinematics.distance_jacobian_derivative(j, j_rate, x, v).ravel()
    assert_close(point.jacobian_derivative(translation, t_rate, p, translation @ v, origin), expected)


# --- values, batches, names and errors ----------------------------------------------------------------------------


def test_values_and_components_give_the_same() -> None:
    l = np.array([0.0, 0.6, 0.8])
    p, line, plane = Point([1.0, 2.0, 3.0]), Line(l, [0.1, 0.2, 0.3]), Plane(l, [0.5, 0.0, 1.0])
    segment = Segment([0.0, 1.0, 0.0], [1.0, 1.0, 2.0])
    values = {"point": p, "line": line, "plane": plane, "segment": segment}
    raw = {
        "point": [1.0, 2.0, 3.0],
        "line": line.dq.vec6(),
        "plane": [*l, l @ [0.5, 0.0, 1.0]],
        "segment": [0.0, 1.0, 0.0, 1.0, 1.0, 2.0],
    }
    for distance in DISTANCES.values():
        assert_close(
            distance(values[distance.a], values[distance.b]), distance(raw[distance.a], raw[distance.b]), 1e-15
        )
        assert isinstance(distance(values[distance.a], values[distance.b]), float)
        assert isinstance(distance.residual(raw[distance.a], raw[distance.b], np.zeros(SIZE[distance.b])), float)


@pytest.mark.parametrize("name", DISTANCES)
def test_batches_equal_one_by_one(name: str) -> None:
    distance = DISTANCES[name]
    q = np.array([random_state(ROBOT, np.random.default_rng(s))[0] for s in range(6)]).reshape(3, 2, -1)
    v = np.random.default_rng(9).normal(size=(3, 2, ROBOT.nv))
    b = np.array([Obstacle(distance.b, s).at(0.0) for s in range(6)]).reshape(3, 2, -1)
    rates = np.random.default_rng(8).normal(size=(2, *b.shape))
    a, j, j_rate = thing(distance.a, q), None, None
    if distance.a == "segment":
        j = np.concatenate([run(ROBOT, "point_jacobian", q, end, frame="tool") for end in ENDS], axis=-2)
        j_rate = np.concatenate([run(ROBOT, "point_jacobian_derivative", q, v, end, frame="tool") for end in ENDS], -2)
        a = np.concatenate([run(ROBOT, "point_on", q, end, frame="tool") for end in ENDS], axis=-1)
    else:
        j, j_rate = jacobian(distance.a, q), jacobian(distance.a, q, v)
    a_rate = (j @ v[..., None])[..., 0]
    answers: dict[str, tuple[Any, tuple[np.ndarray, ...]]] = {
        "value": (distance, (a, b)),
        "jacobian": (distance.jacobian, (j, a, b)),
        "residual": (distance.residual, (a, b, rates[0])),
        "jacobian_derivative": (distance.jacobian_derivative, (j, j_rate, a, a_rate, b, rates[0])),
        "residual_derivative": (distance.residual_derivative, (a, a_rate, b, *rates)),
    }
    for function, inputs in answers.values():
        whole = function(*inputs)
        assert whole.shape[:2] == (3, 2)
        for row in np.ndindex(3, 2):
            assert_close(whole[row], function(*(x[row] for x in inputs)), 1e-12)


def test_names_are_those_of_the_pairs() -> None:
    for name, distance in DISTANCES.items():
        assert distance.name == name
        assert name in repr(distance)
        stem = name if name.startswith("line_to_line_") else f"{name}_distance"
        for function in (
            f"{stem}_jacobian",
            f"{stem}_jacobian_derivative",
            f"{name}_residual",
            f"{name}_residual_derivative",
        ):
            assert callable(getattr(named_distances, function))


def test_mistakes_are_told() -> None:
    point_to_line = DISTANCES["point_to_line"]
    line, point = Line([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]), Point([1.0, 2.0, 3.0])
    with pytest.raises(Error, match=r"point_to_line needs the Jacobian of a point, .*\(\.\.\., 3, nv\)") as caught:
        point_to_line.jacobian(np.zeros((4, 7)), point, line)
    assert (caught.value.expected, caught.value.found) == (3, (4, 7))
    with pytest.raises(Error, match="point_to_line"):
        point_to_line.jacobian("J", point, line)
    with pytest.raises(Error, match="A point is needed here"):
        point_to_line(line, line)
    with pytest.raises(Error, match="A line is needed here"):
        point_to_line(point, point)
    with pytest.raises(Error, match="A segment is needed here"):
        DISTANCES["point_to_segment"](point, line.dq)
    with pytest.raises(Error, match="A line, or its rate, has 6 components"):
        point_to_line.residual(point, line, [0.0, 0.0, 1.0])
    with pytest.raises(Error, match="must be finite"):
        point_to_line([np.nan, 0.0, 0.0], line)
    with pytest.raises(Error, match="cannot be combined"):
        point_to_line.jacobian(np.zeros((4, 3, 7)), np.zeros((3, 3)), line)
