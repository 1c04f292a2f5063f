"""The convex hull over any scalar: area, gradient and rates against SciPy, the shoelace formula and differences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from trees import rate

from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.jet import derivative, gradient
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.contacts.support_polygon import SupportPolygon
from dqdyn.errors import Error
from dqdyn.geometry.hull import _sorting_network, convex_hull_of, hull_area

KINDS = ("random", "on a grid", "nearly on a grid", "coinciding", "in a line but one", "far away", "on a circle")


def draw(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Points (n, 2) in m."""
    points = rng.standard_normal((n, 2))
    if "grid" in kind:
        points = 0.1 * np.round(2.0 * points) + ("nearly" in kind) * 1e-17 * rng.standard_normal((n, 2))
        points[:3] = [[-0.3, 0.0], [0.3, 0.0], [0.0, 0.4]]
    if kind == "coinciding":
        points[rng.integers(n - 2, size=n // 2)] = points[0]
    if kind == "in a line but one":
        points[1:] = points[1] + rng.standard_normal((n - 1, 1)) * [0.6, 0.8]
    if kind == "far away":
        points += [1e3, -2e3]
    if kind == "on a circle":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points


def shoelace(corners: np.ndarray) -> float:
    x, y = corners.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def shoelace_gradient(points: np.ndarray) -> np.ndarray:
    """Of the polygon of the corners that SciPy finds: of each corner half the way between its neighbours, turned."""
    corners = ConvexHull(points).vertices
    result = np.zeros_like(points)
    across = 0.5 * (points[np.roll(corners, -1)] - points[np.roll(corners, 1)])
    result[corners] = np.column_stack([across[:, 1], -across[:, 0]])
    return result


@pytest.mark.parametrize("n", range(1, 11))
def test_sorting_networks(n: int) -> None:
    """A network that sorts all zeros and ones sorts everything."""
    for bits in product((0, 1), repeat=n):
        values = list(bits)
        for i, j in _sorting_network(n):
            values[i], values[j] = min(values[i], values[j]), max(values[i], values[j])
        assert values == sorted(values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.equation("Quiroz", "4.41")
def test_area_is_that_of_scipys_hull(kind: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        points = draw(kind, rng, int(rng.integers(4, 17)))
        expected = ConvexHull(points - points[0]).volume
        assert abs(hull_area(points.tolist()) - expected) <= 1e-13 * max(1.0, np.abs(points).max() ** 2)


@pytest.mark.parametrize("kind", ["random", "far away", "on a circle"])
def test_gradient_is_that_of_the_shoelace_formula(kind: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        points = draw(kind, rng, int(rng.integers(3, 9)))
        hull = convex_hull_of(points.tolist())
        np.testing.assert_allclose(hull.gradient, shoelace_gradient(points), rtol=0.0, atol=1e-12)
        assert [i for i, on in enumerate(hull.is_corner) if on] == sorted(ConvexHull(points).vertices)
        by_jets = np.reshape(
            gradient(lambda c: hull_area(list(zip(c[::2], c[1::2], strict=True))), points.ravel()), (-1, 2)
        )
        np.testing.assert_allclose(hull.gradient, by_jets, rtol=0.0, atol=1e-12)


def test_rates_along_a_motion() -> None:
    """Ȧ and Ä along p(t) against differences of SciPy's area, to 1e-9."""
    area = lambda c: [hull_area(list(zip(c[::2], c[1::2], strict=True)))]
    first = lambda c: derivative(area, c[:18], c[18:])
    rng = np.random.default_rng(2)
    for _ in range(10):
        points, velocity, acceleration = rng.standard_normal((3, 9, 2))
        later = lambda t, p=points, v=velocity, a=acceleration: p + t * v + 0.5 * t * t * a
        at, along, more = (x.ravel().tolist() for x in (points, velocity, acceleration))
        numeric = lambda t, f=later: ConvexHull(f(t)).volume
        h = 1e-5  # a corner that enters or leaves within it makes differences useless, which no draw here does
        np.testing.assert_allclose(derivative(area, at, along), rate(numeric, h), rtol=0.0, atol=1e-9)
        exact = lambda t, f=later, v=velocity, a=acceleration: float((shoelace_gradient(f(t)) * (v + t * a)).sum())
        second = derivative(first, [*at, *along], [*along, *more])
        np.testing.assert_allclose(second, rate(exact, h), rtol=0.0, atol=1e-9)
        slopes = shoelace_gradient(points)
        turned = shoelace(velocity[ConvexHull(points).vertices])  # the area is a quadratic form: ½ Ä at rest is its own
        np.testing.assert_allclose(second, (slopes * acceleration).sum() + 2.0 * turned, rtol=0.0, atol=1e-9)


def test_one_sided_derivatives_where_a_corner_enters_or_leaves() -> None:
    """On an edge the area has two derivatives; just inside and just outside the program has one of them each."""
    square = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)]
    for out, expected in ((1e-9, 1.0), (-1e-9, 0.0)):
        hull = convex_hull_of([*square, (0.7, 1.0 + out)])
        np.testing.assert_allclose(hull.gradient[4], (0.0, expected), atol=1e-8)  # half the edge, or nothing
        assert hull.is_corner[4] == expected
        np.testing.assert_allclose(hull.area, 2.0 + max(out, 0.0), rtol=0.0, atol=1e-15)
        differences = (
            ConvexHull([*square, (0.7, 1.0 + 10 * out)]).volume - ConvexHull([*square, (0.7, 1.0 + out)]).volume
        )
        np.testing.assert_allclose(hull.gradient[4][1], differences / (9 * out), atol=1e-6)
    on_the_edge = convex_hull_of([*square, (0.7, 1.0)])
    assert on_the_edge.area == 2.0
    assert tuple(on_the_edge.gradient[4]) in ((0.0, 0.0), (0.0, 1.0))


@pytest.mark.parametrize(
    "points", [[(0.3, 0.2)], [(0.3, 0.2)] * 3, [(0.0, 0.0), (0.25, 0.75), (0.5, 1.5), (-1.0, -3.0)]]
)
def test_lines_and_points_have_no_area(points: list[tuple[float, float]]) -> None:
    hull = convex_hull_of(points)
    assert abs(hull.area) < 1e-16
    assert sum(hull.is_corner) <= 2


def test_no_points() -> None:
    with pytest.raises(Error, match="at least one point"):
        convex_hull_of([])


def test_double_corners_count_once() -> None:
    square = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)]
    hull = convex_hull_of([*square, *square, (1.0, 0.0), (1.0, 0.5)])
    assert hull.area == 2.0
    assert sum(hull.is_corner) == 4
    np.testing.assert_allclose(np.sum(hull.gradient, axis=0), 0.0, atol=1e-15)


def test_one_source_for_batches_counters_and_compiled_programs() -> None:
    rng = np.random.default_rng(3)
    points = rng.standard_normal((50, 12, 2))
    expected = [ConvexHull(p).volume for p in points]
    batch = convex_hull_of([(points[:, i, 0], points[:, i, 1]) for i in range(12)])
    np.testing.assert_allclose(batch.area, expected, rtol=1e-13)
    program = trace("area", [("p", 24)], lambda c: ([hull_area(list(zip(c[::2], c[1::2], strict=True)))], (1,)))
    compiled = Function(program)
    np.testing.assert_allclose([compiled(p.ravel())[0] for p in points], expected, rtol=1e-13)
    for kind in KINDS:  # machine code may fuse products and sums: what is in one line turns otherwise
        for _ in range(30):
            p = draw(kind, rng, 12)
            area = ConvexHull(p - p[0]).volume
            assert abs(compiled(p.ravel())[0] - area) <= 1e-13 * max(1.0, np.abs(p).max() ** 2)
    assert np.isnan(compiled(np.where(np.arange(24) == 5, np.nan, points[0].ravel()))[0])
    tally = Tally()
    convex_hull_of(list(zip(counters(12, tally), counters(12, tally), strict=True)))
    assert tally.total > 0


@pytest.mark.parametrize(("n", "most"), [(8, 1100), (12, 2500), (16, 4400)])
def test_programs_stay_short(n: int, most: int) -> None:
    """Operations of area and gradient together."""

    def function(c: list[object]) -> tuple[list[object], tuple[int, ...]]:
        hull = convex_hull_of(list(zip(c[::2], c[1::2], strict=True)))
        return [hull.area, *(g for pair in hull.gradient for g in pair)], (1 + 2 * n,)

    assert len(trace("hull", [("p", 2 * n)], function).instructions) < most


def test_fixed_corners_cost_little() -> None:
    """Corners that are constants are in order when the program is traced."""
    fixed = [(0.0, 0.0), (0.5, 0.0), (0.5, 0.4), (0.0, 0.4)]

    def function(c: list[object]) -> tuple[list[object], tuple[int, ...]]:
        return [hull_area([*zip(c[::2], c[1::2], strict=True), *fixed])], (1,)

    all_move = trace("area", [("p", 16)], lambda c: ([hull_area(list(zip(c[::2], c[1::2], strict=True)))], (1,)))
    assert len(trace("area", [("p", 8)], function).instructions) < len(all_move.instructions)


def test_area_of_a_support_polygon() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        points = rng.standard_normal((7, 2))
        hull = ConvexHull(points)
        polygon = SupportPolygon(points[hull.vertices])
        np.testing.assert_allclose(polygon.area, hull.volume, rtol=1e-13)
        heights = polygon.sides[:, :2] @ points.T - polygon.sides[:, 2:]
        assert heights.min() > -1e-12
        np.testing.assert_allclose(np.linalg.norm(polygon.sides[:, :2], axis=1), 1.0, rtol=1e-14)
        inside = polygon.corners.mean(axis=0)
        np.testing.assert_allclose(
            polygon.distance(inside), (polygon.sides[:, :2] @ inside - polygon.sides[:, 2]).min()
        )
    assert SupportPolygon(np.array([[0.0, 0.0], [1.0, 0.0]])).area == 0.0
