"""Zones around the bodies of a scene: they cover the bodies, move with them, and keep a robot away."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import scenes
from dqdyn.algebra.scalar import cos, sin
from dqdyn.scenes import SceneBody

TILT = dq.Pose(rotation=(math.cos(0.3), 0.0, math.sin(0.3), 0.0), translation=(0.1, 0.2, 0.3))


def bodies() -> list[SceneBody]:
    return [
        SceneBody("box", "box", (0.2, 0.7, 0.3), TILT),
        SceneBody("cylinder", "cylinder", (0.2, 0.5), TILT),
        SceneBody("sphere", "sphere", (0.3,), TILT),
        SceneBody("plane", "plane", (), TILT),
        SceneBody("wall", "box", (0.2, 0.7, 0.3), TILT, front=(1.0, 0.0, 1.0)),
    ]


def inside(body: SceneBody, p: np.ndarray) -> bool:
    """Whether a point in axes of the body is in its shape."""
    if body.shape == "box":
        return bool((np.abs(p) <= np.array(body.size) / 2.0).all())
    if body.shape == "cylinder":
        return bool(np.hypot(p[0], p[1]) <= body.size[0] and abs(p[2]) <= body.size[1] / 2.0)
    return bool(np.linalg.norm(p) <= body.size[0]) if body.shape == "sphere" else bool(p[2] <= 0.0)


@pytest.mark.parametrize("body", bodies(), ids=lambda body: body.name)
def test_obstacles_cover_their_bodies(body: SceneBody) -> None:
    rng = np.random.default_rng(1)
    element, radius = ct.obstacle_of(body)
    covered = 0
    for p in rng.uniform(-0.5, 0.5, (2000, 3)):
        if not inside(body, p):
            continue
        covered += 1
        if isinstance(element, dq.Plane):
            assert dq.geometry.distances.point_to_plane_distance(dq.Point(p), element) <= 1e-12
        else:
            name = "point_to_segment" if isinstance(element, dq.Segment) else "point_to_point"
            squared = getattr(dq.geometry.distances, f"{name}_squared_distance")(dq.Point(p), element)
            assert squared <= radius**2 + 1e-12
    assert covered > 20


def run_against(scene: dq.Scene, target: Any, duration: float = 3.0, **more: Any) -> dq.Trajectory:
    robot = dq.robots.arm6()
    q0 = np.array([0.0, 0.5, 0.8, 0.0, 0.6, 0.0])
    zones = ct.scene_zones(scene, "tool", 0.05, **more)
    limits = [ct.VelocityLimits(2.0)]
    controller = ct.velocity_controller(robot, [ct.TranslationTask("tool", target, gain=3.0)], [*zones, *limits])
    return dq.simulate(robot, controller, duration, 5e-3, q0=q0)


def test_tool_stays_away_from_a_scene() -> None:
    robot = dq.robots.arm6()
    start = robot.pose("tool", [0.0, 0.5, 0.8, 0.0, 0.6, 0.0]).translation
    ball = scenes.ball(0.1, start + [0.0, 0.35, 0.0])
    floor = scenes.ground(float(start[2]) - 0.2)
    with pytest.warns(ct.ControlWarning, match="'tool away from ground' forbids"):
        run = run_against(dq.Scene([ball, floor]), start + [0.0, 0.33, -0.3])
    tool = robot.pose("tool", run.q).translation
    apart = np.linalg.norm(tool - ball.at().translation, axis=1)
    assert apart.min() >= 0.15 - 1e-3
    assert (tool[:, 2] - (start[2] - 0.2)).min() >= 0.05 - 1e-3
    assert tool[-1, 2] - (start[2] - 0.2) < 0.06  # it went as low as it may


def test_tool_gives_way_to_a_body_that_moves() -> None:
    robot = dq.robots.arm6()
    start = robot.pose("tool", [0.0, 0.5, 0.8, 0.0, 0.6, 0.0]).translation.tolist()

    def way(t: Any) -> list[Any]:
        return [start[0] + 0.3 * cos(t), start[1] + 0.3 * sin(2.0 * t), start[2] + 0.02]

    ball = scenes.ball(0.1, way)
    run = run_against(dq.Scene([ball]), start, 5.0)
    tool = robot.pose("tool", run.q).translation
    centers = np.array([way(t) for t in run.time])
    apart = np.linalg.norm(tool - centers, axis=1)
    assert np.linalg.norm(centers - start, axis=1).min() < 0.1  # it comes where the tool wants to be
    assert apart.min() >= 0.15 - 2e-3


def test_measured_bodies() -> None:
    scene = dq.Scene([scenes.ground(), scenes.ball(0.1, (1, 0, 1), mass=1.0)])
    with pytest.raises(dq.Error, match=r"physics moves 'ball'.*measured=\{'ball'"):
        ct.scene_zones(scene, "tool")
    seen = ct.Measured(dq.Point((1.0, 0.0, 1.0)))
    zones = ct.scene_zones(scene, ["tool", ct.point("elbow")], 0.02, measured={"ball": seen})
    assert [zone.name for zone in zones][::2] == ["tool away from ground", "tool away from ball"]
    with pytest.raises(dq.Error, match="motion of 'ground' is known"):
        ct.scene_zones(scene, "tool", measured={"ground": seen, "ball": seen})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("scene", "tool"), "takes a Scene first"),
        ((dq.Scene([scenes.ground()]), "tool", math.nan), "must be finite"),
        ((dq.Scene([scenes.ball(0.1, (0, 0, 0))]), "tool", -0.2), r"enter by 0\.1 m at most"),
    ],
)
def test_refusals_of_zones(given: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(dq.Error, match=sentence):
        ct.scene_zones(*given)


def test_unknown_bodies() -> None:
    with pytest.raises(dq.UnknownNameError, match="body of the scene named 'wal'"):
        ct.scene_zones(dq.Scene([scenes.wall((1, 0, 0), (-1, 0, 0))]), "tool", bodies=["wal"])
