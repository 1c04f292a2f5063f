"""The functions of geometry over batches, counters, symbols and jets."""

import zlib

import casadi
import numpy as np
import pytest
import sympy

from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import gradient, gradient_rate
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.geometry import closest, distances

SIZES = {"point": 3, "line": 6, "plane": 4, "segment": 6}
DISTANCES = {
    "point_to_point_squared_distance": ("point", "point"),
    "point_to_line_squared_distance": ("point", "line"),
    "point_to_plane_distance": ("point", "plane"),
    "point_to_segment_squared_distance": ("point", "segment"),
    "line_to_line_squared_distance": ("line", "line"),
    "line_to_plane_distance": ("line", "plane"),
    "line_to_segment_squared_distance": ("line", "segment"),
    "plane_to_plane_distance": ("plane", "plane"),
    "segment_to_plane_distance": ("segment", "plane"),
    "segment_to_segment_squared_distance": ("segment", "segment"),
    "line_to_line_angle": ("line", "line"),
    "line_to_line_angle_function": ("line", "line"),
    "plane_to_plane_angle": ("plane", "plane"),
    "line_to_plane_angle": ("line", "plane"),
}
POINTS = {
    "point_projected_in_line": ("point", "line"),
    "point_projected_in_plane": ("point", "plane"),
    "point_projected_in_segment": ("point", "segment"),
    "line_projected_in_plane": ("line", "plane"),
    "line_plane_intersection": ("line", "plane"),
    "closest_points_between_lines": ("line", "line"),
    "closest_points_between_line_and_plane": ("line", "plane"),
    "closest_points_between_line_and_segment": ("line", "segment"),
    "closest_points_between_planes": ("plane", "plane"),
    "closest_points_between_segment_and_plane": ("segment", "plane"),
    "closest_points_between_segments": ("segment", "segment"),
}
ALL = DISTANCES | POINTS


def elements(kinds, coordinates):
    """Raw elements from a flat list of scalars."""
    found = []
    for kind in kinds:
        c, coordinates = coordinates[: SIZES[kind]], coordinates[SIZES[kind] :]
        if kind == "point":
            found.append(pure(*c))
        elif kind == "line":
            found.append(DQ.of(pure(*c[:3]), pure(*c[3:])))
        elif kind == "plane":
            found.append(DQ.of(pure(*c[:3]), Quaternion(c[3], 0.0, 0.0, 0.0)))
        else:
            found.append((pure(*c[:3]), pure(*c[3:])))
    return found


def run(name, coordinates):
    """The results of a function as a flat list of scalars."""
    function = getattr(distances, name, None) or getattr(closest, name)
    result = function(*elements(ALL[name], list(coordinates)))
    if name in DISTANCES:
        return [result]
    if isinstance(result, DQ):
        return [*result.primary.vector, *result.dual.vector]
    return [c for q in (result if isinstance(result, tuple) else (result,)) for c in q.vector]


def normalized(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def draw(kind, rng, *shape):
    p, q = rng.normal(size=(2, *shape, 3))
    if kind == "point":
        return p
    if kind == "segment":
        return np.concatenate([p, q], axis=-1)
    n = normalized(q)
    return np.concatenate([n, np.cross(p, n) if kind == "line" else (p * n).sum(-1)[..., None]], axis=-1)


def draw_all(name, rng, *shape):
    return np.concatenate([draw(kind, rng, *shape) for kind in ALL[name]], axis=-1)


@pytest.fixture
def rng(request):
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


def test_every_public_function_is_tested_here():
    public = {
        name for module in (distances, closest) for name, thing in vars(module).items() if hasattr(thing, "__wrapped__")
    }
    assert public == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_batches_are_one_by_one(name, rng):
    for shape in ((5,), (3, 2), (0,)):
        x = draw_all(name, rng, *shape)
        if shape == (3, 2):  # one row parallel and degenerate, so that lanes differ in their branch
            x[0, 0] = SPECIAL.get(ALL[name], [x[0, 0]])[0]
        batch = run(name, np.moveaxis(x, -1, 0))
        for i in np.ndindex(shape):
            single = run(name, [float(c) for c in x[i]])
            np.testing.assert_allclose([np.broadcast_to(c, shape)[i] for c in batch], single, rtol=1e-14, atol=1e-14)


COUNTS = {
    "point_to_point_squared_distance": (3, 5, 0),
    "point_to_line_squared_distance": (9, 8, 0),
    "point_to_plane_distance": (3, 3, 0),
    "line_to_line_squared_distance": (32, 21, 1),
    "line_to_line_angle_function": (3, 5, 0),
}


@pytest.mark.parametrize("name", ALL)
def test_counters_count(name):
    tally = Tally()
    results = run(name, counters(sum(SIZES[kind] for kind in ALL[name]), tally))
    assert all(hasattr(r, "tally") for r in results)
    assert 0 < tally.total < 150
    if name in COUNTS:
        assert (tally.mul, tally.add, tally.div) == COUNTS[name]


@pytest.mark.parametrize("name", ALL)
def test_casadi_computes_the_same(name, rng):
    size = sum(SIZES[kind] for kind in ALL[name])
    x = casadi.SX.sym("x", size)
    program = casadi.Function("f", [x], [casadi.vertcat(*run(name, [x[i] for i in range(size)]))])
    for at in [*draw_all(name, rng, 20), *SPECIAL.get(ALL[name], [])]:
        expected = run(name, [float(c) for c in at])
        np.testing.assert_allclose(np.array(program(at)).ravel(), expected, rtol=1e-12, atol=1e-12)


NESTED = ("segment_to_segment_squared_distance", "closest_points_between_segments")
"""Conditions on conditional expressions, which SymPy unfolds at length: numbers of SymPy instead of symbols."""


@pytest.mark.parametrize("name", [name for name in ALL if name not in NESTED])
def test_sympy_computes_the_same(name, rng):
    """Two coordinates are symbols: enough for every branch to stay open where it depends on them."""
    symbols = sympy.symbols("x y", real=True)
    values = [float(c) for c in draw_all(name, rng)]
    results = run(name, [*symbols, *values[2:]])
    for x, y in (values[:2], [0.3, -0.8]):
        expected = run(name, [x, y, *values[2:]])
        numbers = [float(sympy.sympify(r).subs({symbols[0]: x, symbols[1]: y})) for r in results]
        np.testing.assert_allclose(numbers, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NESTED)
def test_numbers_of_sympy_compute_the_same(name, rng):
    for at in [*draw_all(name, rng, 5), *SPECIAL[ALL[name]]]:
        found = run(name, [sympy.Rational(float(c)) for c in at])
        np.testing.assert_allclose([float(r) for r in found], run(name, [float(c) for c in at]), rtol=1e-12, atol=1e-12)


def test_sympy_gives_closed_forms():
    p, q = sympy.symbols("p_1:4"), sympy.symbols("q_1:4")
    closed = run("point_to_point_squared_distance", [*p, *q])[0]
    assert sympy.expand(closed - sum((a - b) ** 2 for a, b in zip(p, q, strict=True))) == 0
    line = [0, 0, 1, p[1], -p[0], 0]  # along z through p
    found = run("point_to_line_squared_distance", [*q, *line])[0]
    assert sympy.expand(found - (p[0] - q[0]) ** 2 - (p[1] - q[1]) ** 2) == 0


# --- derivatives by jets --------------------------------------------------------------------------------------------


def value(name):
    return lambda x: run(name, x)[0]


def numeric_gradient(name, at, h=1e-6):
    f, at = value(name), np.array(at, float)
    steps = h * np.eye(len(at))
    return np.array([(f(list(at + s)) - f(list(at - s))) / (2 * h) for s in steps])


@pytest.mark.parametrize("name", DISTANCES)
def test_derivatives_by_jets_are_those_by_differences(name, rng):
    f = value(name)
    checked = 0
    while checked < 12:
        at = [float(c) for c in draw_all(name, rng)]
        along = rng.normal(size=len(at))
        forward, backward = (numeric_gradient(name, np.array(at) + s * 1e-4 * along) for s in (1, -1))
        second = np.array(gradient_rate(f, at, [float(c) for c in along]))
        if np.abs(second).max() > 30.0:
            continue  # nearly parallel: differences are too coarse there
        checked += 1
        np.testing.assert_allclose(gradient(f, at), numeric_gradient(name, at), rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(second, (forward - backward) / 2e-4, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", DISTANCES)
def test_derivatives_of_batches_are_one_by_one(name, rng):
    x = np.array([*draw_all(name, rng, 3), *SPECIAL[ALL[name]]])
    v = rng.normal(size=x.shape)
    first = gradient(value(name), list(x.T.copy()))
    second = gradient_rate(value(name), list(x.T.copy()), list(v.T.copy()))
    for i in range(len(x)):
        at, along = [float(c) for c in x[i]], [float(c) for c in v[i]]
        lane = lambda batch, i=i: [np.broadcast_to(c, len(x))[i] for c in batch]
        scale = 1.0 + np.abs(lane(second)).max()
        np.testing.assert_allclose(lane(first), gradient(value(name), at), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(lane(second), gradient_rate(value(name), at, along), atol=1e-12 * scale)


@pytest.mark.parametrize("name", DISTANCES)
def test_derivatives_by_jets_are_those_of_casadi(name, rng):
    size = sum(SIZES[kind] for kind in ALL[name])
    x, v = casadi.SX.sym("x", size), casadi.SX.sym("v", size)
    g = casadi.gradient(run(name, [x[i] for i in range(size)])[0], x)
    program = casadi.Function("g", [x, v], [g, casadi.jtimes(g, x, v)])
    for at in [*draw_all(name, rng, 10), *SPECIAL[ALL[name]]]:  # unused branches must not poison the used ones
        along = rng.normal(size=size)
        first, second = (np.array(r).ravel() for r in program(at, along))
        at = [float(c) for c in at]
        scale = 1.0 + np.abs(second).max()
        np.testing.assert_allclose(gradient(value(name), at), first, rtol=1e-10, atol=1e-11 * scale)
        ours = gradient_rate(value(name), at, [float(c) for c in along])
        np.testing.assert_allclose(ours, second, rtol=1e-9, atol=1e-10 * scale)


def test_segments_meet_in_every_way_and_each_has_right_derivatives(rng):
    """Ends at ends, ends at insides and insides at insides, with perpendicular segments too."""
    name = "segment_to_segment_squared_distance"
    for center in ((0.1, 0.2), (0.1, 1.7), (1.6, -0.3), (1.7, 2.3), (-2.2, 1.5)):
        for angle in (np.pi / 2, 1.0, 2.5):
            u, v = np.array([1.0, 0, 0]), np.array([np.cos(angle), np.sin(angle), 0])
            c = center[0] * u + center[1] * v + np.array([0, 0, 0.5])
            at = [float(a) for a in np.concatenate([-u, u, c - v, c + v])]
            along = rng.normal(size=12)
            shifted = [numeric_gradient(name, np.array(at) + s * 1e-4 * along) for s in (1, -1)]
            np.testing.assert_allclose(gradient(value(name), at), numeric_gradient(name, at), rtol=1e-7, atol=1e-7)
            second = gradient_rate(value(name), at, [float(a) for a in along])
            np.testing.assert_allclose(second, (shifted[0] - shifted[1]) / 2e-4, rtol=1e-5, atol=1e-5)


X, Y, Z, O = np.eye(3).tolist() + [[0.0, 0.0, 0.0]]


def line(direction, point):
    return [*direction, *np.cross(point, direction)]


def negative(v):
    return [-c for c in v]


TILTED = normalized(np.array([1.0, 2.0, 3.0])).tolist()
SPECIAL = {
    ("point", "point"): [[*X, *X], [*O, *O]],
    ("point", "line"): [[*O, *line(X, O)], [*X, *line(X, O)], [1.0, 2.0, 3.0, *line(TILTED, O)]],
    ("point", "plane"): [[*O, *Z, 0.0], [*X, *Z, 0.0]],
    ("point", "segment"): [[*X, *Y, *Y], [*X, *X, *X], [*O, *X, *negative(X)], [*X, *X, *Y], [*Y, *X, *Y]],
    ("line", "line"): [
        [*line(X, O), *line(X, Z)],
        [*line(X, O), *line(negative(X), Z)],
        [*line(X, O), *line(X, O)],
        [*line(X, O), *line(negative(X), O)],
        [*line(X, O), *line(Y, O)],
        [*line(TILTED, X), *line(TILTED, Y)],
        [*line(TILTED, X), *line(negative(TILTED), Y)],
    ],
    ("line", "plane"): [
        [*line(X, Z), *Z, 0.0],
        [*line(X, O), *Z, 0.0],
        [*line(Z, X), *Z, 1.0],
        [*line(negative(Z), X), *Z, 1.0],
    ],
    ("line", "segment"): [
        [*line(X, O), *Y, *X],
        [*line(X, O), 0.0, 1.0, 0.0, 1.0, 1.0, 0.0],
        [*line(X, O), *Y, *Y],
        [*line(X, O), *O, *X],
        [*line(X, O), *negative(Y), *Y],
    ],
    ("plane", "plane"): [[*X, 1.0, *X, 3.0], [*X, 1.0, *negative(X), 3.0], [*X, 1.0, *X, 1.0], [*TILTED, 1.0, *X, 0.0]],
    ("segment", "plane"): [[*X, *X, *Z, 0.0], [*X, *Y, *Z, 1.0], [*Z, *negative(Z), *Z, 0.0]],
    ("segment", "segment"): [
        [*O, *X, *O, *X],
        [*O, *X, *X, *O],
        [*O, *X, *Y, 1.0, 1.0, 0.0],
        [*O, *X, 3.0, 0.0, 0.0, 5.0, 0.0, 0.0],
        [*O, *X, *X, 5.0, 0.0, 0.0],
        [*O, *O, *X, *Y],
        [*X, *Y, *O, *O],
        [*O, *O, *X, *X],
        [*O, *O, *O, *O],
        [*negative(X), *X, *negative(Y), *Y],
        [*O, *X, *O, *Y],
    ],
}


@pytest.mark.parametrize("name", ALL)
def test_values_and_derivatives_are_finite_where_things_are_parallel_or_degenerate(name, rng):
    for at in SPECIAL[ALL[name]]:
        at = [float(c) for c in at]
        for i in range(len(run(name, at))):
            f = lambda x, i=i: run(name, x)[i]
            along = [float(c) for c in rng.normal(size=len(at))]
            assert np.isfinite(f(at))
            assert np.isfinite(gradient(f, at)).all()
            assert np.isfinite(gradient_rate(f, at, along)).all()


@pytest.mark.parametrize("noise", [1e-17, 1e-16, 1e-13, 1e-10, 5e-9])
def test_derivatives_stay_bounded_where_things_are_parallel_up_to_rounding(noise, rng):
    """Two rods on top of each other, as arms at zero: without a threshold they cross, with a curvature of 1/noise²."""
    tilted = [1.0, noise, 0.0]
    for name, at in (
        ("line_to_line_squared_distance", [*line(X, O), *line(tilted, Z)]),
        ("line_to_segment_squared_distance", [*line(X, O), -1.0, -noise, 1.0, 1.0, noise, 1.0]),
        ("segment_to_segment_squared_distance", [-1.0, 0.0, 0.0, *X, -1.0, -noise, 1.0, 1.0, noise, 1.0]),
        ("line_to_line_angle_function", [*line(X, O), *line(tilted, Z)]),
    ):
        at = [float(c) for c in at]
        along = [float(c) for c in rng.normal(size=len(at))]
        assert np.abs(gradient(value(name), at)).max() < 10.0
        assert np.abs(gradient_rate(value(name), at, along)).max() < 100.0


def test_derivatives_of_touching_things_vanish(rng):
    """A squared distance is at its minimum where things touch."""
    for name, at in (
        ("point_to_line_squared_distance", [*X, *line(X, O)]),
        ("segment_to_segment_squared_distance", [*negative(X), *X, *negative(Y), *Y]),
        ("line_to_line_squared_distance", [*line(X, O), *line(Y, O)]),
        ("line_to_line_angle_function", [*line(X, O), *line(X, Z)]),
    ):
        np.testing.assert_allclose(gradient(value(name), at), 0.0, atol=1e-15)


@pytest.mark.equation("Quiroz", "4.28")
def test_the_angle_function_has_the_derivative_that_the_angle_lacks(rng):
    """df/dt = 2⟨l₁ − l₂, l̇₁ − l̇₂⟩, also at φ = 0 and π."""
    for turned in (X, negative(X), TILTED):
        at = [*line(X, Z), *line(turned, O)]
        d = 2.0 * (np.array(X) - turned)
        expected = np.concatenate([d, np.zeros(3), -d, np.zeros(3)])
        np.testing.assert_allclose(gradient(value("line_to_line_angle_function"), at), expected, atol=1e-15)
