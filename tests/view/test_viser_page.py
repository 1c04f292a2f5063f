"""The served page, in a browser; only this machine is asked for anything."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pages import Watched

import dqdyn as dq
from dqdyn import scenes
from dqdyn.errors import Error, MissingExtraError, StateError, install_command
from dqdyn.robot import Robot
from dqdyn.view import Markers, Viewer, serve
from dqdyn.view.server import PortWarning, free_port


@pytest.fixture
def posed(signpost: Robot) -> Iterator[Viewer]:
    pytest.importorskip("viser", reason="the page is served by viser, which is missing")
    with serve(signpost, port=0) as viewer:
        yield viewer


@pytest.fixture
def watched(chromium: Any) -> Iterator[Watched]:
    """A page with large pixels, for software draws slowly."""
    context = chromium.new_context(viewport={"width": 900, "height": 800}, device_scale_factor=0.5)
    yield Watched(context)
    context.close()


def opened(watched: Watched, viewer: Viewer) -> Any:
    """The page when it has faded in."""
    viewer.server.scene.configure_default_lights(cast_shadow=False)  # shadows cost software most
    watched.page.set_default_timeout(120_000)
    watched.page.goto(viewer.url)
    watched.page.get_by_text("center of mass").wait_for()
    return watched.page


def settled(watched: Watched, enough: Any) -> tuple[int, float, float]:
    """Red pixels as soon as a condition holds on them, or after a minute; software draws slowly."""
    found = watched.red()
    for _ in range(120):
        if enough(found):
            break
        watched.page.wait_for_timeout(500)
        found = watched.red()
    return found


class TestInTheBrowser:
    @pytest.mark.long
    def test_a_slider_moves_a_link(self, posed: Viewer, watched: Watched) -> None:
        page = opened(watched, posed)
        count, column, row = settled(watched, lambda found: found[0] > 200)
        assert count > 200
        field = page.locator("input:visible:not([type=checkbox])").first
        field.fill("1.2")
        field.press("Enter")
        _, moved, lower = settled(watched, lambda found: np.hypot(found[1] - column, found[2] - row) > 15)
        assert np.hypot(moved - column, lower - row) > 15
        assert posed.q == pytest.approx([1.2])
        # From the server the slider and the link move too.
        posed.show([-1.2])
        page.wait_for_timeout(300)
        assert float(field.input_value()) == pytest.approx(-1.2)
        assert watched.errors == []
        assert [url for url in watched.requests if not url.startswith((posed.url, "data:", "blob:"))] == []

    def test_playback_advances(self, swing: Any, signpost: Robot, watched: Watched) -> None:
        pytest.importorskip("viser")
        with serve(signpost, trajectory=swing, port=0) as viewer:
            page = opened(watched, viewer)
            count, column, row = settled(watched, lambda found: found[0] > 200)
            assert count > 200
            assert viewer.q == pytest.approx([-1.4])
            page.get_by_label("repeat", exact=True).uncheck()
            page.get_by_role("button", name="play", exact=True).click()
            _, moved, lower = settled(watched, lambda found: np.hypot(found[1] - column, found[2] - row) > 15)
            assert np.hypot(moved - column, lower - row) > 15
            for _ in range(100):
                if viewer.q == pytest.approx([1.4]):
                    break
                page.wait_for_timeout(200)
            assert viewer.q == pytest.approx([1.4])
            assert page.locator(".uplot").count() == 1
            assert watched.errors == []

    @pytest.mark.long
    def test_switches_draw_more(self, posed: Viewer, watched: Watched) -> None:
        page = opened(watched, posed)
        before = set(posed.stage.nodes)
        for name in [switch.label for switch in posed.stage.switches.values()]:
            page.get_by_label(name, exact=True).check()
        page.wait_for_timeout(1500)
        groups = {name.split("/")[-3] for name in set(posed.stage.nodes) - before}
        assert {"frames", "screw_axes", "twists", "center_of_mass"} <= groups
        for name in [switch.label for switch in posed.stage.switches.values()]:
            page.get_by_label(name, exact=True).uncheck()
        page.wait_for_timeout(1500)
        assert set(posed.stage.nodes) == before
        assert watched.errors == []


class TestServer:
    def test_only_this_machine_can_look(self, posed: Viewer) -> None:
        assert posed.url == f"http://127.0.0.1:{posed.port}"
        assert posed.server.get_host() == "127.0.0.1"

    def test_busy_port_is_replaced_and_that_is_said(self, signpost: Robot) -> None:
        pytest.importorskip("viser")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.warns(PortWarning, match=f"port {port} is busy; the page is at port"):
                viewer = serve(signpost, port=port)
            viewer.stop()
            assert viewer.port != port
            assert str(viewer.port) in viewer.url

    def test_hosts_and_ports_that_cannot_be(self) -> None:
        with pytest.raises(Error, match="from 0 to 65535"):
            free_port("127.0.0.1", 70000)
        with pytest.raises(Error, match="cannot be served from"):
            free_port("203.0.113.7", 8080)  # an address for examples, of no machine

    def test_missing_extra_names_the_command(self, signpost: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "viser", None)
        with pytest.raises(MissingExtraError, match=re.escape(install_command("viser", "view"))) as caught:
            serve(signpost, port=0)
        assert caught.value.package == "viser"

    def test_silent_and_stops_twice(self, signpost: Robot, capfd: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("viser")
        viewer = serve(signpost, port=0)
        viewer.stop()
        viewer.stop()
        assert capfd.readouterr() == ("", "")

    def test_bad_input(self, signpost: Robot, swing: Any) -> None:
        pytest.importorskip("viser")
        with pytest.raises(Error, match="whose joints differ from those of 'arm7'"):
            serve(dq.robots.arm7(), trajectory=swing, port=0)
        with pytest.raises(StateError):
            serve(signpost, q=[np.nan], port=0)
        with pytest.raises(Error, match="did you mean 'arm'"):
            serve(signpost, markers=Markers().frame(on="amr"), port=0)
        with serve(signpost, port=0) as viewer, pytest.raises(StateError, match="q has 1 components"):
            viewer.show([1.0, 2.0])
        with serve(signpost, trajectory=swing, port=0) as viewer, pytest.raises(Error, match="plays a trajectory"):
            viewer.show([0.0])

    def test_scene_moves_with_the_playback(self, signpost: Robot, swing: Any) -> None:
        pytest.importorskip("viser")
        scene = dq.Scene([scenes.wall((1, 0, 0), (-1, 0, 0)), scenes.ball(0.1, lambda t: (0.5, 0.2 * t, 1.0))])
        with serve(signpost, trajectory=swing, scene=scene, port=0) as viewer:
            viewer._playback.at(2.0)
            np.testing.assert_allclose(viewer.stage.bodies[-1].position, (0.5, 0.4, 1.0), atol=1e-6)
            assert len(viewer.stage.bodies) == len(signpost.bodies) + 1
        with serve(signpost, scene=scene, port=0) as viewer:
            viewer.show([0.3])
            np.testing.assert_allclose(viewer.stage.bodies[-1].position, (0.5, 0.0, 1.0), atol=1e-6)

    def test_every_joint_kind_has_sliders(self) -> None:
        pytest.importorskip("viser")
        from trees import tree

        robot = tree("every kind, mimic")
        with serve(robot, port=0) as viewer:
            assert viewer._sliders is not None
            assert len(viewer._sliders.labels) == robot.nv
            rng = np.random.default_rng(3)
            q = robot.random_configuration(rng)
            viewer.show(q)
            values = viewer._sliders._values(q)
            again = viewer._sliders._configuration(values)
            assert np.abs(robot.difference(q, again)).max() < 1e-9
