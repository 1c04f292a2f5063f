"""What is drawn of a scene: meshes where the bodies are, the floor as the page's ground, the user's markers."""

from __future__ import annotations

import numpy as np
import pytest

import dqdyn as dq
import dqdyn.view
from dqdyn import scenes
from dqdyn.scenes import SceneBody
from dqdyn.view import Markers
from dqdyn.view.overlays import contact_arrows
from dqdyn.view.scene_bodies import setting_of
from dqdyn.view.shapes import appearance_of

TIME = np.linspace(0.0, 1.0, 5)


def test_meshes_are_where_the_bodies_are() -> None:
    wall = scenes.wall((2.0, 0.0, 0.0), (-1, 0, 0), width=3.0, height=2.0)
    scene = dq.Scene([wall, scenes.ball(0.2, lambda t: (t, 0.0, 1.0)), scenes.pendulum(1.0, 2.0, (0, 0, 3), angle=0.5)])
    setting = setting_of(scene, None, 7, TIME)
    fixed = [part for part in setting.meshes if part.body == -1]
    np.testing.assert_allclose(fixed[0].mesh.vertices.min(axis=0), (2.0, -1.5, 0.0), atol=1e-12)
    assert {part.body for part in setting.meshes} == {-1, 7, 8}
    assert setting.poses.shape == (5, 2, 7)
    np.testing.assert_allclose(setting.poses[:, 0, 4], TIME)
    np.testing.assert_allclose(setting.poses[:, 1, 4:], [scene["pendulum"].at().translation] * 5)
    recorded = np.tile([1.0, 0, 0, 0, 5.0, 6.0, 7.0], (5, 1))
    moved = setting_of(scene, None, 7, TIME, {"scene_pose/pendulum": recorded})
    np.testing.assert_array_equal(moved.poses[:, 1], recorded)
    assert setting.beside(np.zeros((5, 7, 7))).shape == (5, 9, 7)


def test_level_ground_is_the_floor_of_the_page() -> None:
    robot = dq.robots.two_link()
    level = setting_of(dq.Scene([scenes.ground(-0.4)]), None, 2, TIME)
    assert (level.floor, level.meshes) == (-0.4, ())
    poses = np.tile([1.0, 0, 0, 0, 0, 0, 0], (5, 2, 1))
    assert level.bounds(appearance_of(robot), poses).ground == -0.4
    tilted = setting_of(dq.Scene([scenes.ground(normal=(0.1, 0, 1))]), None, 2, TIME)
    assert tilted.floor is None
    assert len(tilted.meshes) == 1


def test_the_camera_ignores_what_is_far_or_large() -> None:
    robot, poses = dq.robots.two_link(), np.tile([1.0, 0, 0, 0, 0, 0, 0], (1, 2, 1))
    appearance, none = appearance_of(robot), setting_of(None, None, 2, TIME[:1])
    alone = none.bounds(appearance, poses)
    far = [scenes.box((0.1, 0.1, 0.1), (100.0, 0, 0)), SceneBody("hall", "box", (50.0, 50.0, 0.1))]
    assert setting_of(dq.Scene(far), None, 2, TIME[:1]).bounds(appearance, poses) == alone
    near = dq.Scene([scenes.box((0.1, 0.1, 0.1), (0.0, 1.5 * alone.radius, 0.0))])
    assert setting_of(near, None, 2, TIME[:1]).bounds(appearance, poses).radius > alone.radius


def test_markers_and_scenes() -> None:
    markers = Markers().point((0, 0, 1))
    both = setting_of(dq.Scene([scenes.ground()]), markers, 2, TIME)
    assert (both.floor, len(both.markers)) == (0.0, 1)
    assert len(setting_of(markers, markers, 2, TIME).markers) == 2
    with pytest.raises(dq.Error, match="scene is a Scene"):
        setting_of("ground", None, 2, TIME)
    with pytest.raises(dq.Error, match="markers are Markers"):
        setting_of(None, "red", 2, TIME)


def test_contact_forces_are_arrows_at_their_centers() -> None:
    block = dq.Link("block", dq.Inertia(2.0, (0, 0, 0), ((0.02, 0, 0), (0, 0.02, 0), (0, 0, 0.02))))
    block = dq.Link(block.name, block.inertia, (), (dq.Shape("box", (0.2, 0.2, 0.1)),))
    robot = dq.Robot.from_description(dq.Description("sled", (block,)), base="free")
    q0 = [1, 0, 0, 0, 3.0, 2.0, 0.1]
    run = dq.simulate(robot, None, 0.5, 1e-3, q0=q0, plant="mujoco", scene=dq.Scene([scenes.ground()]), every=100)
    (arrow,) = contact_arrows(run)
    assert (arrow.group, arrow.name, arrow.on, arrow.samples) == ("contact forces", "block", None, 6)
    at, along = arrow.sample(5)
    np.testing.assert_allclose(at, (3.0, 2.0, 0.0), atol=1e-3)
    np.testing.assert_allclose(along / np.linalg.norm(along), (0, 0, 1), atol=1e-3)
    assert not arrow.sample(0)[1].any()  # in the air
    assert contact_arrows(dq.simulate(robot, None, 0.01, 1e-3)) == []


def test_former_name() -> None:
    with pytest.warns(DeprecationWarning, match=r"is now called Markers; dq\.Scene"):
        assert dqdyn.view.Scene is Markers
    with pytest.raises(AttributeError, match="'Scenes'"):
        dqdyn.view.Scenes  # noqa: B018
