"""Scenes as values: what their bodies are, the surface below a point, and refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import scenes
from dqdyn.algebra.scalar import cos, sin
from dqdyn.scenes import SceneBody


def test_stairs_go_up() -> None:
    steps = scenes.stairs(3, 0.15, 0.3, width=0.8, at=dq.Pose(rotation=(0, 0, 0, 1), translation=(1, 2, 0.5)))
    scene = dq.Scene([scenes.ground(0.5), steps])
    assert scene.names == ("ground", "stairs 1", "stairs 2", "stairs 3")
    for i in range(3):  # turned by π about z: up along −x
        below = scene.surface_below((1.0 - (i + 0.5) * 0.3, 2.0, 3.0))
        assert below is not None
        assert below.body == f"stairs {i + 1}"
        assert below.height == pytest.approx(0.5 + (i + 1) * 0.15)


def test_wall_stands_behind_its_front() -> None:
    wall = scenes.wall((2.0, 0.5, 0.1), (-1, 0, 0), width=3.0, height=2.0, thickness=0.2)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(wall.size) / 2.0
    points = corners @ wall.at().rotation_matrix.T + wall.at().translation
    np.testing.assert_allclose(points.min(axis=0), (2.0, -1.0, 0.1), atol=1e-12)
    np.testing.assert_allclose(points.max(axis=0), (2.2, 2.0, 2.1), atol=1e-12)


def test_pendulum_hangs_at_its_length() -> None:
    for angle in (0.0, 0.4, -2.0):
        body = scenes.pendulum(1.5, 2.0, (1.0, 0.0, 3.0), angle=angle)
        expected = (1.0 - 1.5 * math.sin(angle), 0.0, 3.0 - 1.5 * math.cos(angle))
        np.testing.assert_allclose(body.at().translation, expected, atol=1e-12)
        np.testing.assert_allclose(body.at_angle(-angle).translation, (1.0, 0.0, 1.5), atol=1e-12)


def test_motion_is_told() -> None:
    scene = dq.Scene(
        [
            scenes.ground(),
            scenes.ball(0.1, lambda t: (cos(t), sin(t), 1.0)),
            scenes.box((0.1, 0.2, 0.3), (0, 0, 1), mass=2.0),
            scenes.wheel(0.2, (1, 0, 1)),
        ]
    )
    assert [body.motion for body in scene] == ["fixed", "driven", "free", "hinged"]
    np.testing.assert_allclose(scene["ball"].at(0.3).translation, (math.cos(0.3), math.sin(0.3), 1.0))
    assert scene["box"].inertia.tensor[0][0] == pytest.approx(2.0 * (0.2**2 + 0.3**2) / 12.0)
    assert "ball" in scene
    assert len(scene + [scenes.box((1, 1, 1), (0, 0, 0), name="more")]) == 5
    with pytest.raises(dq.UnknownNameError, match=r"'bal'.*did you mean 'ball'"):
        scene["bal"]


def shapes() -> list[SceneBody]:
    tilt = dq.Pose(rotation=(math.cos(0.2), math.sin(0.2), 0.0, 0.0), translation=(0.05, -0.04, 0.3))
    return [
        SceneBody("plane", "plane", (), tilt),
        SceneBody("box", "box", (0.5, 0.6, 0.2), tilt),
        SceneBody("sphere", "sphere", (0.4,), tilt),
        SceneBody("cylinder", "cylinder", (0.3, 0.5), tilt),
    ]


@pytest.mark.parametrize("body", shapes(), ids=lambda body: body.name)
def test_surface_is_that_of_mujoco(body: SceneBody) -> None:
    """MuJoCo's own rays, from points all around."""
    import mujoco

    from dqdyn.simulate.mujoco_plant import engine_model

    model = engine_model(dq.robots.two_link(), 1e-3, scene=dq.Scene([body]))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rng = np.random.default_rng(5)
    only, hits = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8), 0
    for x, y in rng.uniform(-0.5, 0.5, (60, 2)):
        geom = np.array([-1], dtype=np.int32)
        far = mujoco.mj_ray(model, data, np.array([x, y, 5.0]), np.array([0.0, 0.0, -1.0]), only, 1, -1, geom)
        below = dq.Scene([body]).surface_below((x, y, 5.0), above=0.0)
        assert (far >= 0.0) == (below is not None)
        if below is not None:
            hits += 1
            assert below.height == pytest.approx(5.0 - far, abs=1e-9)
            assert np.linalg.norm(below.normal) == pytest.approx(1.0)
            # The normal is the gradient of the height.
            beside = dq.Scene([body]).surface_below((x + 1e-7, y, 5.0), above=0.0)
            if beside is not None:
                slope = (beside.height - below.height) / 1e-7
                if abs(slope) < 3.0:
                    assert slope == pytest.approx(-below.normal[0] / below.normal[2], abs=1e-3)
    assert hits > 10


def test_surface_below_feet_that_sink_in() -> None:
    scene = dq.Scene([scenes.ground(friction=0.4), scenes.box((1, 1, 0.1), lambda t: (t, 0.0, 0.05), friction=0.9)])
    sunk = scene.surface_below((0.0, 0.0, 0.099), 0.0)
    assert (sunk.body, sunk.friction) == ("box", 0.9)
    assert scene.surface_below((0.0, 0.0, 0.099), 0.0, above=0.0).body == "ground"
    assert scene.surface_below((0.0, 0.0, 0.2), 2.0).body == "ground"
    assert scene.surface_below((0.0, 0.0, -0.2)) is None


BAD: dict[str, tuple[Any, str]] = {
    "negative friction": (lambda: scenes.ground(friction=-0.1), "friction of 'ground' must not be negative"),
    "superball": (
        lambda: scenes.ball(0.1, (0, 0, 0), restitution=1.2),
        "restitution of 'ball' is 0, or from 0.15 to 0.99",
    ),
    "NaN height": (lambda: scenes.ground(math.nan), "height of the ground .* must be finite"),
    "no normal": (lambda: scenes.ground(normal=(0, 0, 0)), "normal of the ground needs a length"),
    "two sizes": (lambda: scenes.box((1, 1), (0, 0, 0)), "size of 'box' .* three finite numbers"),
    "flat box": (lambda: scenes.box((1, 0, 1), (0, 0, 0)), "Every length of 'box' .* above 0"),
    "no place": (lambda: scenes.box((1, 1, 1), None), "place of 'box' is a Pose, a position"),
    "bad function": (lambda: scenes.ball(0.1, lambda t: (t, 0)), "pose of 'ball' at t = 0 s is a Pose"),
    "NaN function": (lambda: scenes.ball(0.1, lambda t: (math.nan, 0, 0)), "at t = 0 s is one pose in finite"),
    "driven mass": (lambda: scenes.ball(0.1, lambda t: (t, 0, 0), mass=1.0), "its mass has no effect"),
    "thrown without mass": (lambda: scenes.ball(0.1, (0, 0, 0), velocity=(1, 0, 0)), "takes no velocity: give it a ma"),
    "zero mass": (lambda: scenes.ball(0.1, (0, 0, 0), mass=0.0), r"mass of 'ball' \(kg\) must be above 0"),
    "no steps": (lambda: scenes.stairs(0, 0.1, 0.3), "whole number from 1 to 1000; found 0"),
    "steps as text": (lambda: scenes.stairs("3", 0.1, 0.3), "whole number from 1"),
    "upright axis": (lambda: scenes.pendulum(1.0, 1.0, (0, 0, 1), axis=(0, 0, 1)), "axis of 'pendulum' is horizontal"),
    "twice": (lambda: dq.Scene([scenes.ground(), scenes.ground()]), "two bodies named 'ground'"),
    "text": (lambda: dq.Scene("ground"), "holds bodies, .*; found 'ground'"),
    "number in a list": (lambda: dq.Scene([1]), "holds bodies, .*; found 1"),
    "shape": (lambda: SceneBody("x", "cone"), "no shape for 'x' of a scene named 'cone'"),
    "name": (lambda: scenes.ground(name=""), "name of a body of a scene is a text"),
    "heavy plane": (lambda: SceneBody("x", "plane", mass=1.0), "plane, which has no mass"),
    "hinge": (lambda: SceneBody("x", "box", (1, 1, 1), hinge="z", mass=1.0), "hinge of 'x' is a Hinge"),
    "point": (lambda: dq.Scene([scenes.ground()]).surface_below((0, 0)), "point above a surface .* three finite"),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals(case: str) -> None:
    make, sentence = BAD[case]
    with pytest.raises(dq.Error, match=sentence):
        make()
