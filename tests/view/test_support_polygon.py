"""Support polygons over time as markers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dqdyn.contacts import SupportPolygon
from dqdyn.errors import Error
from dqdyn.view.markers import Markers

TRIANGLE = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]
SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]


@pytest.mark.parametrize("polygon", [TRIANGLE, np.array(TRIANGLE), SupportPolygon(np.array(TRIANGLE)), [TRIANGLE]])
def test_a_constant_polygon(polygon: Any) -> None:
    markers = Markers().support_polygon(polygon, height=0.2).markers
    sides = [m for m in markers if m.kind == "stick"]
    assert len(sides) == 3
    np.testing.assert_allclose([m.at[0] for m in sides], np.column_stack([TRIANGLE, np.full(3, 0.2)]))
    np.testing.assert_allclose(np.sum([m.along for m in sides], axis=0), 0.0, atol=1e-15)
    assert [m.samples for m in markers] == [1] * len(markers)


def test_polygons_whose_corners_change_in_number_and_the_center_of_mass() -> None:
    center = np.array([[0.2, 0.3, 0.9], [0.4, 0.5, 0.8]])
    markers = Markers().support_polygon([TRIANGLE, SupportPolygon(np.array(SQUARE))], center, height=0.0).markers
    sides, ball = [m for m in markers if m.kind == "stick"], markers[-1]
    for i, corners in enumerate((TRIANGLE, SQUARE)):
        lengths = sum(float(np.linalg.norm(m.sample(i)[1])) for m in sides)
        assert lengths == pytest.approx(
            sum(math.dist(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True))
        )
    assert ball.kind == "ball"
    np.testing.assert_allclose(ball.at, center * [1.0, 1.0, 0.0])


def test_all_of_it_is_red_where_it_is_violated() -> None:
    markers = Markers().support_polygon(TRIANGLE, np.zeros((4, 3))).violated([False, True, True, False])
    assert all(m.violated.any() for m in markers.markers)


WRONG = [
    None,
    3,
    [],
    "abc",
    np.zeros((3, 3)),
    np.zeros((0, 2)),
    [None, None],
    [(0.0, math.nan), (1.0, 0.0), (0.0, 1.0)],
]


@pytest.mark.parametrize("wrong", WRONG)
def test_mistakes_are_explained(wrong: Any) -> None:
    with pytest.raises(Error, match=r"to draw"):
        Markers().support_polygon(wrong)


@pytest.mark.parametrize("options", [{"center": [0.0, 1.0]}, {"height": None}, {"height": math.nan}, {"radius": 0.0}])
def test_mistakes_in_options(options: dict[str, Any]) -> None:
    with pytest.raises(Error):
        Markers().support_polygon(TRIANGLE, **options)
