"""Names, colors and scales of what is drawn; what is violated; arrays as a page packs them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.robot import Robot
from dqdyn.view import Markers, serve
from dqdyn.view.legend import entries
from dqdyn.view.markers import RED
from dqdyn.view.overlays import overlays, placed
from dqdyn.view.packing import Blob

SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])


def test_entries_tell_scales_and_what_shows_at_first(signpost: Robot) -> None:
    added = Markers().arrow((0, 0, 0), (0, 0, 100.0), unit="N", scale=0.002, name="push").target((1, 0, 0), name="ball")
    added.arrow((0, 0, 0), (0, 0, 1.0), name="push").polygon(SQUARE, name="area")
    wrench = {"arm": np.array([[0.0, 0.0, 50.0, 0.0, 4.0, 0.0]])}
    own = overlays(signpost, np.zeros((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), wrench)
    found = {entry.name: entry for entry in entries(own, added.markers)}
    assert [name for name, entry in found.items() if entry.on] == ["push", "ball", "area"]
    assert set(found) - {"push", "ball", "area"} == {*(marker.group for marker in own)}
    assert [symbol.note for symbol in found["push"].symbols] == ["500 N per m", ""]
    assert found["push"].label == "push (500 N per m)"
    assert [symbol.kind for symbol in found["area"].symbols] == ["triangle"]
    assert [symbol.note.split(" ", 1)[1] for symbol in found["wrenches"].symbols] == ["N per m", "N m per m"]


def test_arrows_have_the_length_that_their_scale_says(signpost: Robot) -> None:
    wrench = {"arm": np.array([[3.0, 0.0, 4.0, 0.0, 4.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]])}
    own = overlays(signpost, np.zeros((2, 1)), np.ones((2, 1)), 2.0 * np.ones((2, 1)), wrench)
    force, torque = (m for m in own if m.group == "wrenches")
    np.testing.assert_allclose(force.along / force.scale, wrench["arm"][:, :3], atol=1e-12)
    np.testing.assert_allclose(torque.along / torque.scale, wrench["arm"][:, 3:], atol=1e-12)
    assert (force.unit, torque.unit) == ("N", "N m")
    (effort,) = (m for m in own if m.group == "joint efforts")
    np.testing.assert_allclose(np.linalg.norm(effort.along, axis=1) / effort.scale, 2.0)
    (spin,) = (m for m in own if m.group == "twists" and m.unit == "rad/s")
    np.testing.assert_allclose(spin.along / spin.scale, [[0, 0, 1], [0, 0, 1]], atol=1e-12)
    (still,) = (m for m in overlays(signpost, np.zeros((1, 1)), tau=np.zeros((1, 1))) if m.group == "joint efforts")
    assert (still.unit, np.abs(still.along).max()) == ("", 0.0)
    arrow = Markers().arrow((0, 0, 0), (0, 0, 100.0), unit="N", scale=0.002).markers[0]
    np.testing.assert_allclose(arrow.along, [[0, 0, 0.2]])


def test_violated_is_about_the_object_added_last() -> None:
    flags = np.array([False, True, False])
    markers = Markers().point((0, 0, 0)).polygon(np.stack([SQUARE] * 3)).violated(flags)
    point, *polygon = markers.markers
    assert not point.violated.any()
    assert len(polygon) == 6  # four edges, two triangles
    for marker in polygon:
        np.testing.assert_array_equal(marker.violated, flags)
        assert (marker.color_at(0), marker.color_at(1)[:3]) == (marker.color, RED[:3])
        assert marker.color_at(1)[3] >= marker.color[3]
    whole = [Markers().frame().violated([True]), Markers().path(SQUARE).violated([True])]
    whole += [Markers().wrench(np.ones(6)).violated([True]), Markers().twist(np.ones(6)).violated([True])]
    assert all(marker.violated.all() for each in whole for marker in each.markers)


def test_polygon_covers_its_area_and_follows_its_frame(signpost: Robot) -> None:
    markers = Markers().polygon(SQUARE, on="arm").markers
    areas = []
    for marker in markers:
        body, fixed = placed(signpost, marker, 1)
        assert body == signpost.frames["arm"].body
        if marker.kind == "triangle":
            areas.append(0.5 * np.linalg.norm(np.cross(fixed.along[0], fixed.third(0))))
    assert sum(areas) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: Markers().violated([True]), "after what may be violated"),
        (lambda: Markers().point((0, 0, 0)).violated([np.nan]), "array .* of truths"),
        (lambda: Markers().point((0, 0, 0)).violated(np.ones((2, 2))), "array .* of truths"),
        (lambda: Markers().point((0, 0, 0)).violated(None), "must be real numbers"),
        (lambda: Markers().point(np.zeros((3, 3))).violated([True] * 4), r"one per sample; found .*violated \(4,\)"),
        (lambda: Markers().polygon(SQUARE[:2]), "at least three corners"),
        (lambda: Markers().polygon([[0, 0], [1, 0], [0, 1]]), "needs 3 numbers"),
        (lambda: Markers().capsule((0, 0, 0), (0, 0, 1), -1.0), "size of 'capsule' is positive"),
        (lambda: Markers().capsule((0, 0, 0), (0, 0, np.nan), 0.1), "finite"),
        (lambda: Markers().arrow((0, 0, 0), (0, 0, 1), unit="N", scale=0.0), "scale of 'arrow' is positive"),
    ],
)
def test_bad_input(draw: Any, message: str) -> None:
    with pytest.raises(dq.Error, match=message):
        draw()


@pytest.mark.parametrize("offset", [0, 4])
def test_smooth_rows_come_back_within_a_step(offset: int) -> None:
    rng = np.random.default_rng(7)
    values = np.cumsum(rng.standard_normal((200, 5)), axis=0)
    values[:, 2] = -3.25  # a constant
    values[50, 3] = 1e4  # a jump
    blob = Blob()
    if offset:
        blob.add(np.zeros(1))
    kind, start, rows, columns = blob.add_smooth(values)
    assert (kind, start, rows, columns) == ("smooth", offset, 200, 5)
    low, step = (np.array(struct.unpack_from("<5f", blob.data, start + 20 * k)) for k in range(2))
    planes = np.frombuffer(bytes(blob.data[start + 40 : start + 40 + 2000]), np.uint8).reshape(2, 5, 200).astype(int)
    counts = np.cumsum(planes[0] + 256 * planes[1], axis=1) % 65536
    found = (low[:, None] + step[:, None] * counts).T
    assert (np.abs(found - values).max(axis=0) <= 0.51 * np.ptp(values, axis=0) / 65535 + 1e-5).all()
    np.testing.assert_array_equal(found[:, 2], -3.25)


def test_violations_and_polygons_on_the_served_page(signpost: Robot, swing: Any) -> None:
    pytest.importorskip("viser")
    corners = np.stack([SQUARE] * len(swing.time))
    corners[:, 2, 0] += swing.time
    markers = Markers().polygon(corners, name="area").violated(swing.time > 1.0).capsule((0, 0, 0), (0, 0, 1), 0.1)
    with serve(signpost, trajectory=swing, markers=markers, port=0) as viewer:
        labels = [switch.label for switch in viewer.stage.switches.values()]
        assert {"area", "capsule", "frames"} <= set(labels)
        nodes = viewer.stage.nodes
        sheet = next(handle for name, handle in nodes.items() if "triangle" in name)
        assert len([name for name in nodes if "half" in name]) == 2
        before = tuple(sheet.color)
        viewer._playback.at(2.0)
        assert tuple(sheet.color) == tuple(round(255 * c) for c in RED[:3]) != before
        np.testing.assert_allclose(sheet.vertices[2], (3.0, 1.0, 0.0), atol=1e-5)
