"""The self-contained page, in a browser without a network."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import Watched, recorded
from trees import TREES, random_q, tree

import dqdyn as dq
from dqdyn import scenes
from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.simulate.trajectory import PER_SAMPLE
from dqdyn.view import Markers, write_html
from dqdyn.view.html import html_page
from dqdyn.view.sweep import sweep

READY = "() => window.dqdyn !== undefined"


def opened(watched: Watched, path: Path) -> Any:
    watched.context.set_offline(True)
    watched.page.goto(path.as_uri())
    watched.page.wait_for_function(READY)
    return watched.page


@pytest.fixture
def page(watched: Watched, swing: Any, tmp_path: Path) -> Any:
    return opened(watched, swing.to_html(tmp_path / "run.html"))


class TestInTheBrowser:
    def test_loads_without_errors_and_asks_for_nothing_else(self, page: Any, watched: Watched) -> None:
        page.wait_for_timeout(300)
        assert watched.errors == []
        assert [url for url in watched.requests if not url.startswith(("file:", "data:"))] == []
        assert page.locator(".message").is_hidden()
        assert page.locator("h1").inner_text() == "signpost"

    def test_shows_the_robot_and_the_slider_moves_its_link(self, page: Any, watched: Watched) -> None:
        places = []
        for value in (0.0, 1.5, 3.0):
            page.locator("#slider").evaluate("(s, x) => { s.value = x; s.dispatchEvent(new Event('input')); }", value)
            page.wait_for_timeout(200)
            count, column, row = watched.red(".view")
            assert count > 500
            places.append((column, row))
        # Seen from azimuth −0.9 the arm points to the left at −1.4 rad, to the right at 0, and away at 1.4.
        (left, _), (right, near), (right_too, far) = places
        assert min(right, right_too) - left > 60
        assert near - far > 20

    def test_playback_advances_and_pauses(self, page: Any, watched: Watched) -> None:
        before = watched.red(".view")
        page.locator("#speed").select_option("5")
        page.locator("#repeat").uncheck()
        page.locator("#play").click()
        page.wait_for_function("() => window.dqdyn.time >= window.dqdyn.length && !window.dqdyn.playing")
        after = watched.red(".view")
        assert abs(before[1] - after[1]) > 60
        assert page.locator("#clock").inner_text() == "3.00 / 3.00 s"

    def test_cursor_of_the_curves_is_in_step_and_scrubs(self, page: Any) -> None:
        cursors = page.locator(".plot .cursor")
        assert cursors.count() == 4  # positions, velocities, efforts, energy
        plot = page.locator(".plot .axes > svg").first
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 0.5 * box["height"])
        page.wait_for_timeout(150)
        assert page.evaluate("window.dqdyn.time") == pytest.approx(0.75, abs=0.02)
        assert float(cursors.nth(3).get_attribute("x1")) == pytest.approx(250.0, abs=6.0)
        shown = page.locator(".plot .legend output").first.inner_text().replace("−", "-")
        assert float(shown) == pytest.approx(-0.7, abs=0.03)

    def test_keys_switches_theme_and_camera(self, page: Any, watched: Watched) -> None:
        page.locator(".view").focus()
        page.keyboard.press("End")
        page.wait_for_function("() => window.dqdyn.time === window.dqdyn.length")
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("() => window.dqdyn.time < window.dqdyn.length")
        before = watched.picture(".view")
        for button in page.locator("#drawn button").all():
            button.click()
        page.wait_for_timeout(200)
        overlaid = watched.picture(".view")
        assert np.abs(overlaid - before).max() > 60
        page.locator("#theme").click()
        page.wait_for_timeout(200)
        assert watched.picture(".view").mean() < 0.5 * overlaid.mean()
        eye = page.evaluate("window.dqdyn.camera.eye()")
        page.mouse.move(450, 300)
        page.mouse.down()
        page.mouse.move(520, 330, steps=3)
        page.mouse.up()
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(150)
        assert np.linalg.norm(np.subtract(page.evaluate("window.dqdyn.camera.eye()"), eye)) > 0.1
        page.locator("#reset").click()
        assert page.evaluate("window.dqdyn.camera.eye()") == pytest.approx(eye)
        assert watched.errors == []

    def test_curves_hide_by_their_names(self, page: Any) -> None:
        button = page.locator(".plot .legend button").first
        curve = page.locator(".plot .curves path").first
        button.click()
        assert curve.evaluate("c => getComputedStyle(c).display") == "none"
        button.click()
        assert curve.evaluate("c => getComputedStyle(c).display") != "none"

    def test_names_are_shown_as_they_are(self, watched: Watched, signpost: Robot, tmp_path: Path) -> None:
        evil = "</script><script>window.broken = 1</script>{{DATA}}<!--&amp;<img src=x onerror='window.broken=2'>"
        described = signpost.description.with_changes(name=evil)
        joints = tuple(dq.Joint(**{**vars(joint), "name": evil + "j"}) for joint in described.joints)
        robot = Robot.from_description(described.with_changes(joints=joints))
        markers = Markers().point((0, 0, 1), name=evil)
        run = recorded(robot, np.linspace(0, 1, 11), np.zeros((11, 1)))
        page = opened(watched, write_html(run, tmp_path / "evil.html", markers=markers))
        assert page.locator("h1").inner_text() == evil
        assert page.evaluate("window.broken") is None
        assert evil + "j" in page.locator(".plot .legend").first.inner_text()
        assert watched.errors == []

    def test_bodies_of_a_scene_move_as_they_were_recorded(self, watched: Watched, tmp_path: Path) -> None:
        """A red ball falls past a robot; the page knows its way from the run."""
        red = (0.9, 0.05, 0.05, 1.0)
        scene = dq.Scene(
            [
                scenes.ground(-0.7),
                scenes.box((0.3, 0.3, 0.2), (-0.5, 0.0, -0.6)),
                scenes.ball(0.15, (0.6, 0.4, 0.9), mass=1.0, color=red),
            ]
        )
        run = dq.simulate(dq.robots.two_link(), None, 0.4, 1e-3, plant="mujoco", scene=scene, every=20)
        page = opened(watched, write_html(run, tmp_path / "bodies.html", scene=scene))
        page.wait_for_timeout(200)
        first = watched.red(".view")
        page.evaluate("window.dqdyn.seek(0.4)")
        page.wait_for_timeout(200)
        last = watched.red(".view")
        assert min(first[0], last[0]) > 100
        assert last[2] - first[2] > 50  # down by 0.78 m
        page.locator("#drawn button", has_text="ball").click()
        page.wait_for_timeout(200)
        assert watched.red(".view")[0] < 0.5 * last[0]
        assert "position of ball (m)" in page.content()
        assert watched.errors == []

    def test_scene_is_drawn_and_moves(self, watched: Watched, tmp_path: Path) -> None:
        robot = dq.robots.two_link()
        run = recorded(robot, np.linspace(0, 1, 21), np.zeros((21, robot.nq)))
        track = np.stack([np.linspace(-0.5, 0.5, 21), np.zeros(21), np.zeros(21)], axis=-1)
        markers = Markers().sphere(track, 0.15, color=(0.9, 0.05, 0.05, 1.0))
        page = opened(watched, write_html(run, tmp_path / "scene.html", markers=markers))
        page.wait_for_timeout(200)
        first = watched.red(".view")
        page.evaluate("window.dqdyn.seek(1)")
        page.wait_for_timeout(200)
        last = watched.red(".view")
        assert min(first[0], last[0]) > 200
        assert abs(first[1] - last[1]) > 50

    def test_one_sample_and_a_narrow_window(self, watched: Watched, tmp_path: Path) -> None:
        robot = dq.robots.humanoid()
        still = sweep(robot)
        still = type(still)(robot, still.time[:1], still.q[:1], still.v[:1])
        watched.page.set_viewport_size({"width": 360, "height": 700})
        page = opened(watched, write_html(still, tmp_path / "one.html"))
        page.locator("#play").click()
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert watched.errors == []


class TestTheFile:
    def test_has_no_address_and_no_other_file(self, swing: Any) -> None:
        text = html_page(swing)
        assert re.search(r"""(src|href)\s*=\s*["'](?!data:)""", text) is None
        assert "http:" not in text
        assert "https:" not in text
        assert "@import" not in text
        assert "{{" not in text

    @pytest.mark.parametrize("name", TREES)
    def test_every_joint_kind(self, name: str) -> None:
        text = html_page(sweep(tree(name)))
        for joint in tree(name).joints:
            if not joint.is_mimic:
                assert joint.name in text

    def test_long_runs_are_thinned_and_say_so(self, signpost: Robot) -> None:
        time = np.linspace(0.0, 20.0, 200_001)
        text = html_page(recorded(signpost, time, np.sin(time)[:, None]))
        assert "The run has 200001 samples; the animation shows 1201 of them, 60 per second" in text
        assert len(text) < 1_000_000

    def test_gaps_where_values_are_not_finite(self, swing: Any) -> None:
        tau = np.array(swing.tau)
        tau[100:120] = np.nan
        text = html_page(replace(swing, tau=tau))
        efforts = text.index("joint efforts")
        path = re.search(r'<path d="([^"]*)"', text[efforts:])
        assert path is not None
        assert path[1].count("M") == 2
        assert "nan" not in path[1]

    def test_bad_input(self, swing: Any, tmp_path: Path) -> None:
        q = np.array(swing.q)
        q[7] = np.nan
        with pytest.raises(Error, match=r"Sample 7 of the trajectory, at 0\.07 s"):
            html_page(replace(swing, q=q))
        with pytest.raises(Error, match="no samples"):
            html_page(swing.part(slice(0, 0)))
        with pytest.raises(Error, match="increase from sample to sample"):
            html_page(replace(swing, time=swing.time[::-1]))
        with pytest.raises(Error, match="one run out of a batch"):
            html_page(replace(swing, **{name: getattr(swing, name)[:, None] for name in PER_SAMPLE}))
        with pytest.raises(Error, match="5 samples, but the trajectory has 301"):
            html_page(swing, markers=Markers().point(np.zeros((5, 3))))
        with pytest.raises(Error, match="frame of 'signpost' named 'amr': did you mean 'arm'"):
            html_page(swing, markers=Markers().point((0, 0, 0), on="amr"))
        with pytest.raises(Error, match="folder"):
            swing.to_html(tmp_path / "missing" / "run.html")

    def test_random_configurations_of_trees(self) -> None:
        rng = np.random.default_rng(0)
        robot = tree("every kind")
        q = random_q(robot, rng, (5,))
        run = type(sweep(robot))(robot, np.arange(5.0), q, np.zeros((5, robot.nv)))
        assert "rotation quaternions" in html_page(run)
