"""Pictures without a browser: the rasteriser against geometry, the view against Chromium's, files that others read."""

from __future__ import annotations

import io
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import Watched, recorded, red_pixels

import dqdyn as dq
from dqdyn.robot import Robot
from dqdyn.view import Markers, write_html, write_png, write_robot_png, write_video
from dqdyn.view.bounds import Bounds
from dqdyn.view.camera import camera_of
from dqdyn.view.film import Film, Look, picture_times, posed
from dqdyn.view.image_files import png
from dqdyn.view.raster import NEAR, ahead, fragments, nearest, weights

SMALL = (160, 120)


def inside(triangle: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How far points lie inside of a triangle (3, 2), in pixels; negative outside."""
    a, b, c = triangle
    if np.cross(np.append(b - a, 0.0), np.append(c - a, 0.0))[2] < 0.0:
        b, c = c, b
    far = []
    for start, end in ((a, b), (b, c), (c, a)):
        d = (end - start) / np.linalg.norm(end - start)
        far.append(d[0] * (y - start[1]) - d[1] * (x - start[0]))
    return np.min(far, axis=0)


def test_pixels_are_those_whose_center_lies_in_the_triangle() -> None:
    rng = np.random.default_rng(1)
    places = rng.uniform(-10.0, 50.0, (40, 3, 2))
    found = fragments(places, np.ones((40, 3)), (40, 30))
    y, x = (part.reshape(-1) + 0.5 for part in np.mgrid[0:30, 0:40])
    for k, triangle in enumerate(places):
        far = inside(triangle, x, y)
        own = np.zeros(1200, dtype=bool)
        own[found.pixel[found.triangle == k]] = True
        assert own[far > 1e-9].all()
        assert not own[far < -1e-9].any()
    assert len(found.pixel) > 1000


def test_the_nearest_triangle_is_seen_and_depths_are_linear() -> None:
    rng = np.random.default_rng(2)
    places, inverse = rng.uniform(0.0, 30.0, (25, 3, 2)), rng.uniform(0.1, 2.0, (25, 3))
    shown, depth = nearest(fragments(places, inverse, (30, 30)), (30, 30))
    y, x = (part.reshape(-1) + 0.5 for part in np.mgrid[0:30, 0:30])
    best, winner = np.zeros(900), np.full(900, -1)
    for k in range(25):
        plane = np.linalg.solve(np.column_stack([places[k], np.ones(3)]), inverse[k])
        values = plane[0] * x + plane[1] * y + plane[2]
        closer = (inside(places[k], x, y) >= 0.0) & (values > best)
        best[closer], winner[closer] = values[closer], k
    np.testing.assert_array_equal(shown, winner)
    np.testing.assert_allclose(depth, best, atol=1e-9)


def test_weights_follow_perspective() -> None:
    """A point of a triangle in space is seen where the camera projects it, with its own barycentric coordinates."""
    rng = np.random.default_rng(3)
    camera = camera_of(Bounds((0.1, 0.2, 0.3), 1.0, 0.0), (64, 48))
    corners = rng.uniform(-0.5, 0.5, (50, 3, 3))
    share = rng.dirichlet(np.ones(3), 50)
    points = np.einsum("ki,kij->kj", share, corners)
    places, inverse = camera.on_screen(camera.seen(corners.reshape(-1, 3)))
    at, _ = camera.on_screen(camera.seen(points))
    got = weights(places.reshape(50, 3, 2), inverse.reshape(50, 3), at[:, 0], at[:, 1])
    np.testing.assert_allclose(got, share, atol=1e-7)
    # A ray through that place meets the point.
    rays = camera.rays(at[:, 0], at[:, 1])
    away = np.cross(rays, points - camera.eye)
    np.testing.assert_allclose(away, 0.0, atol=1e-9)


def test_what_is_behind_the_eye_is_cut_off() -> None:
    seen = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, -1.0], [0.0, 0.0, -1.0]])
    points, _, faces, origin = ahead(
        seen, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3], [2, 3, 3]])
    )
    assert set(origin.tolist()) == {0, 1}
    assert (points[faces][..., 2] >= NEAR - 1e-12).all()
    area = np.linalg.norm(np.cross(*(points[faces][:, k] - points[faces][:, 0] for k in (1, 2))), axis=-1) / 2.0
    whole = np.linalg.norm(np.cross(seen[1] - seen[0], seen[2] - seen[0])) / 2.0
    left = 1.0 - ((1.0 + NEAR) / 2.0) ** 2  # a smaller copy of the triangle, at the corner behind the eye, is gone
    assert area[origin == 0].sum() == pytest.approx(whole * left, rel=1e-9)


def test_a_ball_covers_a_disc(signpost: Robot) -> None:
    """The area of a sphere's outline: sin of its half angle is radius over distance."""
    ball = Markers().sphere((0.0, 0.0, 0.4), 0.2, color=(1.0, 0.0, 0.0, 1.0))
    film = Film(posed(signpost), Look(size=(320, 240)), markers=ball)
    offset = np.array([0.0, 0.0, 0.4]) - film.camera.eye
    distance = np.linalg.norm(offset)
    radius = film.camera.focal * np.tan(np.arcsin(0.2 / distance))
    image = film.at(0.0).astype(float)
    center, _ = film.camera.on_screen(film.camera.seen(np.array([[0.0, 0.0, 0.4]])))
    y, x = (part + 0.5 for part in np.mgrid[0:240, 0:320])
    disc = np.hypot(x - center[0, 0], y - center[0, 1])
    red = (image[..., 0] > 80) & (image[..., 0] > 2.0 * image[..., 1])
    assert red[disc < 0.95 * radius].mean() > 0.97  # the post and the arm are inside or behind
    assert np.isfinite(image).all()


def test_the_picture_is_that_of_the_page(swing: Any, watched: Watched, tmp_path: Path) -> None:
    """The red arm stands at the same place as in Chromium."""
    page = write_html(swing, tmp_path / "swing.html")
    watched.page.goto(page.as_uri())
    watched.page.wait_for_function("window.dqdyn && window.dqdyn.length > 0")
    watched.page.wait_for_timeout(300)
    theirs = watched.picture()
    height, width = theirs.shape[:2]
    ours = Film(swing, Look(size=(width, height))).at(0.0)
    count, x, y = red_pixels(theirs)
    mine, u, w = red_pixels(ours.astype(float))
    assert count > 500
    assert abs(mine - count) < 0.1 * count
    assert abs(u - x) < 3.0
    assert abs(w - y) < 3.0


def test_the_arm_moves_and_the_camera_may_follow(swing: Any) -> None:
    film = Film(swing, Look(size=SMALL))
    places = [red_pixels(film.at(t).astype(float))[1] for t in (0.0, 1.5, 3.0)]
    assert places[0] != places[2]
    assert np.array_equal(film.at(0.0), film.at(0.0))
    robot = dq.robots.nonholonomic_manipulator()
    q = np.zeros((2, robot.nq))
    q[1, 0] = 3.0
    drive = recorded(robot, np.array([0.0, 1.0]), q)
    still, after = (Film(drive, Look(size=SMALL, follow=True)).at(t).astype(int) for t in (0.0, 1.0))
    away = Film(drive, Look(size=SMALL)).at(1.0).astype(int)
    dark = [(picture.sum(axis=2) < 350).sum() for picture in (still, after, away)]
    assert abs(dark[0] - dark[1]) < 0.1 * dark[0] + 5
    assert not np.array_equal(after, away)


def test_what_is_clear_lets_the_robot_through(swing: Any) -> None:
    zone = Markers().sphere((0.0, 0.0, 0.6), 0.7, color=(0.0, 0.0, 1.0, 0.3))
    plain, veiled = (Film(swing, Look(size=SMALL), markers=m).at(1.5).astype(float) for m in (None, zone))
    middle = (slice(40, 80), slice(60, 100))
    assert veiled[middle][..., 2].mean() - veiled[middle][..., 0].mean() > 20.0
    assert red_pixels(plain)[0] > 20
    assert not np.array_equal(plain, veiled)


def test_png_is_read_by_others(tmp_path: Path, signpost: Robot) -> None:
    image = np.random.default_rng(0).integers(0, 256, (7, 5, 3), dtype=np.uint8)
    reader = pytest.importorskip("PIL.Image", reason="Pillow reads what is written")
    assert np.array_equal(np.asarray(reader.open(io.BytesIO(png(image)))), image)
    path = signpost.to_png(tmp_path / "post.png", [0.3], size=SMALL, zoom=1.2, azimuth=0.3, elevation=0.2)
    assert reader.open(io.BytesIO(path.read_bytes())).size == SMALL


def test_gif_has_all_pictures_and_lasts_as_long(swing: Any, tmp_path: Path) -> None:
    reader = pytest.importorskip("PIL.Image", reason="Pillow writes GIFs")
    path = swing.to_video(tmp_path / "swing.gif", rate=7.0, size=(64, 48))
    film = reader.open(io.BytesIO(path.read_bytes()))
    times = []
    for k in range(film.n_frames):
        film.seek(k)
        times.append(film.info["duration"])
    assert film.n_frames == len(picture_times(swing, 7.0, 1.0)) == 22
    assert sum(times) == pytest.approx(22 / 7.0 * 1000, abs=10)


def test_times_of_pictures(swing: Any) -> None:
    np.testing.assert_allclose(picture_times(swing, 10.0, 1.0), np.arange(31) / 10.0)
    np.testing.assert_allclose(picture_times(swing, 10.0, 2.0), np.arange(16) / 5.0)


def test_mp4_goes_through_ffmpeg(swing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for ffmpeg keeps what it is given: its options, and every pixel."""
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    lines = (
        f"#!{sys.executable}",
        "import sys",
        "given = ' '.join(sys.argv[1:-1]).encode()",
        "open(sys.argv[-1], 'wb').write(given + b'|' + sys.stdin.buffer.read())",
    )
    program.write_text("\n".join(lines))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent))
    path = swing.to_video(tmp_path / "swing.mp4", rate=2.0, size=(64, 48))
    options, _, pixels = path.read_bytes().partition(b"|")
    assert b"rgb24 -s 64x48 -r 2 -i -" in options
    assert len(pixels) == 7 * 64 * 48 * 3
    assert pixels[: 64 * 48 * 3] == Film(swing, Look(size=(64, 48))).at(0.0).tobytes()
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such codec')\n")
    with pytest.raises(dq.Error, match="ffmpeg could not write the video: no such codec"):
        swing.to_video(tmp_path / "other.mp4", rate=2.0, size=(64, 48))
    assert not (tmp_path / "other.mp4").exists()


@pytest.mark.long
def test_mp4_by_a_real_ffmpeg(swing: Any, tmp_path: Path) -> None:
    if shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not installed")
    assert b"ftyp" in swing.to_video(tmp_path / "swing.mp4", rate=5.0, size=SMALL).read_bytes()[:32]


def test_refusals(swing: Any, signpost: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    cases: list[tuple[str, Any]] = [
        ("needs the program ffmpeg, which is not found: install it", lambda: write_video(swing, tmp_path / "a.mp4")),
        (r"A video is written as \.mp4 or \.gif, by the ending; found 'a\.avi'", lambda: swing.to_video("a.avi")),
        (r"A video is written as \.mp4 or \.gif", lambda: swing.to_video(tmp_path / "none")),
        (r"A picture is written as \.png, by the ending; found 'a\.jpg'", lambda: write_png(swing, "a.jpg")),
        ("give its path; found None", lambda: swing.to_png(None)),
        ("the folder .* does not exist", lambda: swing.to_png(tmp_path / "no" / "a.png")),
        ("from 0 to 3 s; there is no picture at 4 s", lambda: swing.to_png(tmp_path / "a.png", at=4.0)),
        ("there is no picture at nan s", lambda: swing.to_png(tmp_path / "a.png", at=np.nan)),
        (r"The size of a picture is \(width, height\)", lambda: swing.to_png(tmp_path / "a.png", size=(0, 10))),
        (r"The size of a picture is \(width, height\)", lambda: swing.to_png(tmp_path / "a.png", size=100)),
        ("The size of a picture", lambda: swing.to_png(tmp_path / "a.png", size="large")),
        ("The zoom of a picture is a positive number", lambda: swing.to_png(tmp_path / "a.png", zoom=0.0)),
        ("The azimuth of a picture is a finite number", lambda: swing.to_png(tmp_path / "a.png", azimuth=np.nan)),
        ("The rate of a video is a positive number", lambda: swing.to_video(tmp_path / "a.gif", rate=0.0)),
        ("The speed of a video is a positive number", lambda: swing.to_video(tmp_path / "a.gif", speed=-1.0)),
        ("would have .* pictures; at most", lambda: swing.to_video(tmp_path / "a.gif", speed=1e-6)),
        ("A picture shows one configuration", lambda: write_robot_png(signpost, tmp_path / "a.png", [[0.1], [0.2]])),
        ("q", lambda: signpost.to_png(tmp_path / "a.png", [np.nan])),
    ]
    for words, call in cases:
        with pytest.raises(dq.Error, match=words):
            call()
    with pytest.raises(TypeError, match="unexpected option 'sise'"):
        swing.to_png(tmp_path / "a.png", sise=(1, 2))
    program = tmp_path / "ffmpeg"
    program.write_text("")
    program.chmod(0o755)
    with pytest.raises(dq.Error, match="Width and height of an MP4 are even; found 65 × 48"):
        swing.to_video(tmp_path / "a.mp4", size=(65, 48))
    assert not list(tmp_path.glob("a.*"))
