"""Methods that give poses, twists, points, lines and planes: the numbers of the bound function in a value, made by
machine code."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
from typing import Any

import numpy as np
import pytest
import sympy

import dqdyn as dq
from dqdyn.algebra.value import Value
from dqdyn.compile.runtime import python_abi
from dqdyn.errors import Error
from dqdyn.kinematics.frame_poses import Poses

ROBOT = dq.robots.arm7()
Q, V, A = (np.random.default_rng(k).uniform(-1.0, 1.0, 7) for k in range(3))
CALLS: dict[str, tuple[str, dict[str, Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "pose": ("pose", {"frame": "tool"}, (Q,), ("tool", "world")),
    "twist": ("twist", {"frame": "tool"}, (Q, V), ("tool", "world", "tool")),
    "twist, world": ("twist", {"frame": "tool", "expressed": "world"}, (Q, V), ("tool", "world", "world")),
    "twist_rate": ("twist_rate", {"frame": "tool"}, (Q, V, A), ("tool", "world", "tool")),
    "point": ("point_on", {"frame": "tool"}, (Q, np.array([0.1, 0.2, 0.3])), ()),
    "line": ("line_on", {"frame": "tool"}, (Q, np.array([0.0, 1.0, 0.0, 0.1, 0.0, 0.2])), ()),
    "plane": ("plane_on", {"frame": "tool"}, (Q, np.array([0.0, 0.0, 1.0, 0.4])), ()),
    "relative_pose": ("relative_pose", {"frame1": "tool", "frame2": "link3"}, (Q,), ("tool", "link3")),
    "absolute_pose": ("absolute_pose", {"frame1": "tool", "frame2": "link3"}, (Q,), (None, "world")),
}


def called(what: str, inputs: Any) -> Any:
    _, options, _, _ = CALLS[what]
    method = getattr(ROBOT, what.split(",")[0])
    frames = [value for key, value in options.items() if key.startswith("frame")]
    return method(*frames, *inputs, **{k: v for k, v in options.items() if k == "expressed"})


def numbers(value: Any) -> np.ndarray:
    """The components that the value's kind has."""
    return np.asarray(value.vec8()[..., list(type(value).PLACES)])


@pytest.mark.parametrize("what", CALLS)
def test_values_have_the_numbers_of_the_bound_function(what: str) -> None:
    name, options, inputs, frames = CALLS[what]
    f = ROBOT.function(name, **options)
    batch = [np.stack([x, 0.9 * x, x]) if name == "pose" or x is Q else np.stack([x] * 3) for x in inputs]
    for given in (inputs, inputs, [list(x) for x in inputs], batch):
        value = called(what, given)
        wanted = f(*given)
        assert isinstance(value, Value)
        assert value.frames == frames
        assert value.shape == np.shape(given[0])[:-1]
        np.testing.assert_array_equal(numbers(value), wanted)
        others = [k for k in range(8) if k not in type(value).PLACES]
        assert not value.vec8()[..., others].any()
        assert value == type(value).of(value.dq, *value.frames)


@pytest.mark.parametrize("what", CALLS)
def test_values_live_on_alone(what: str) -> None:
    """Later calls leave them as they are; they can be copied, pickled, compared and collected."""
    _, _, inputs, _ = CALLS[what]
    first = called(what, inputs)
    kept = numbers(first).copy()
    for k in range(5):
        called(what, [inputs[0] + 0.1 * k, *inputs[1:]])
    np.testing.assert_array_equal(numbers(first), kept)
    for twin in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert twin == first
        assert twin.frames == first.frames
    holder: list[Any] = [first]
    holder.append(holder)
    kind = type(first)
    del first, twin, holder
    gc.collect()
    alive = sum(type(thing) is kind for thing in gc.get_objects())
    for _ in range(20):
        called(what, inputs)
    gc.collect()
    assert sum(type(thing) is kind for thing in gc.get_objects()) == alive


def test_calls_run_no_python_code() -> None:
    seen: list[str] = []
    for what, (_, _, inputs, _) in CALLS.items():
        called(what, inputs)

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_name != "called":
            seen.append(frame.f_code.co_name)

    point, line = CALLS["point"][2][1], CALLS["line"][2][1]
    sys.setprofile(note)
    try:
        ROBOT.pose("tool", Q)
        ROBOT.twist("tool", Q, V)
        ROBOT.twist("tool", Q, V, "world")
        ROBOT.twist_rate("tool", Q, V, A)
        ROBOT.point("tool", Q, point)
        ROBOT.point("tool", Q)
        ROBOT.line("tool", Q, line)
        ROBOT.line("tool", Q)
        ROBOT.plane("tool", Q)
        ROBOT.relative_pose("tool", "link3", Q)
        ROBOT.absolute_pose("tool", "link3", Q)
    finally:
        sys.setprofile(None)
    assert seen == []


def test_primitives_may_be_given_as_values_or_left_out() -> None:
    np.testing.assert_allclose(ROBOT.point("tool", Q).position, ROBOT.pose("tool", Q).translation, atol=1e-14)
    np.testing.assert_array_equal(
        ROBOT.point("tool", Q, dq.Point([0.1, 0.2, 0.3])).position, ROBOT.point("tool", Q, [0.1, 0.2, 0.3]).position
    )
    np.testing.assert_allclose(ROBOT.line("tool", Q).direction, ROBOT.pose("tool", Q).matrix[:3, 2], atol=1e-15)
    np.testing.assert_allclose(ROBOT.plane("tool", Q).normal, ROBOT.pose("tool", Q).matrix[:3, 2], atol=1e-15)


def test_refusals_and_symbols_are_those_of_the_method() -> None:
    for _ in range(2):
        with pytest.raises(Error, match="There is no frame"):
            ROBOT.pose("nowhere", Q)
        with pytest.raises(Error):
            ROBOT.twist("tool", Q, V[:3])
        with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
            ROBOT.pose("tool", Q, out=np.empty(8))
        ROBOT.pose("tool", Q)
    symbols = list(sympy.symbols("q1:8"))
    pose = ROBOT.pose("tool", symbols)
    at = {s: float(x) for s, x in zip(symbols, Q, strict=True)}
    np.testing.assert_allclose([float(c.subs(at)) for c in pose.vec8()], ROBOT.pose("tool", Q).vec8(), atol=1e-12)
    assert np.isnan(ROBOT.pose("tool", Q * np.nan, check=False).vec8()).any()


def test_poses_of_all_frames() -> None:
    poses = ROBOT.poses(Q)
    assert isinstance(poses, Poses)
    assert list(poses) == list(ROBOT.frames)
    assert len(poses) == len(ROBOT.frames)
    assert "tool" in poses
    with pytest.raises(KeyError):
        poses["nowhere"]
    for name, pose in poses.items():
        np.testing.assert_allclose(pose.vec8(), ROBOT.pose(name, Q).vec8(), rtol=0, atol=1e-14)
        assert pose.frames == (name, "world")
    assert poses["tool"] is poses["tool"]
    kept = poses.vec8()
    ROBOT.poses(0.5 * Q)
    np.testing.assert_array_equal(poses.vec8(), kept)
    assert poses == dict(poses) == pickle.loads(pickle.dumps(poses)) == copy.copy(poses)
    assert repr(poses) == repr(dict(poses))
    many = ROBOT.poses(np.stack([Q, 0.5 * Q]))
    assert many.vec8().shape == (2, len(poses), 8)
    assert many["tool"].shape == (2,)
    np.testing.assert_allclose(many["tool"][0].vec8(), poses["tool"].vec8(), atol=1e-15)


def test_values_work_where_slots_lie_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_abi, "slots_fit", lambda *_: False)
    robot = dq.robots.arm6()
    q = robot.random_configuration(1)
    for _ in range(2):
        assert robot.pose("tool", q).frames == ("tool", "world")
    assert not python_abi.slots_fit(dq.Pose, ("frames",))
