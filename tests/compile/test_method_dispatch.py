"""Methods of robots that jump to machine code: right function for every frame, same errors, no stale memory."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.compile.dispatch import Dispatcher, available
from dqdyn.compile.trace import trace
from dqdyn.errors import Error

pytestmark = pytest.mark.skipif(not available(), reason="the layout of this interpreter is not known")


@pytest.fixture(scope="module")
def robot() -> Any:
    return dq.robots.arm7()


def reference(robot: Any, name: str, frame: str, q: np.ndarray) -> np.ndarray:
    """By the bound function's interpreter."""
    return np.asarray(robot._bindings.function(name, {"frame": frame})(q[None])[0])


def test_frames_in_any_order_get_their_own_function(robot: Any) -> None:
    rng = np.random.default_rng(0)
    frames = [joint.name for joint in robot.joints][::2]
    for _ in range(40):
        frame, q = str(rng.choice(frames)), robot.random_configuration(rng)
        np.testing.assert_allclose(
            robot.pose_jacobian(frame, q), reference(robot, "pose_jacobian", frame, q), rtol=1e-13, atol=1e-14
        )


def test_the_method_becomes_a_built_in_that_says_the_same(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.neutral()
    before = inspect.signature(type(robot).pose_jacobian)
    robot.pose_jacobian(frame, q)
    robot.pose_jacobian(frame, q)
    method = robot.__dict__["pose_jacobian"]
    assert inspect.isbuiltin(method)
    shown = inspect.signature(robot.pose_jacobian)
    assert list(shown.parameters) == list(before.parameters)[1:]
    assert all(
        (p.kind, p.default) == (before.parameters[n].kind, before.parameters[n].default)
        for n, p in shown.parameters.items()
    )
    assert method.__doc__ == inspect.getdoc(type(robot).pose_jacobian)


def test_errors_are_those_of_the_method(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.neutral()
    for _ in range(2):
        for bad in (q[:-1], q * np.nan, None, "q", q.astype(complex)):
            with pytest.raises(Error):
                robot.pose_jacobian(frame, bad)
        with pytest.raises(Error, match="There is no frame"):
            robot.pose_jacobian("no such frame", q)
        with pytest.raises(TypeError):
            robot.pose_jacobian(frame)
        with pytest.raises(TypeError):
            robot.pose_jacobian(frame, q, nothing=1)
        assert robot.pose_jacobian(frame, q).shape == (8, 7)


def test_every_way_to_pass_arguments(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.random_configuration(3)
    wanted, out = robot.twist_jacobian(frame, q), np.empty((6, 7))
    assert robot.twist_jacobian(frame, q, out=out) is out
    for found in (
        out,
        robot.twist_jacobian(frame=frame, q=q),
        robot.twist_jacobian(frame, q=q),
        robot.twist_jacobian(frame, q, check=False),
        robot.twist_jacobian(frame, q, "body"),
        robot.twist_jacobian(robot.frames[frame], q),
        robot.twist_jacobian("".join(list(frame)), q),  # an equal string that is another object
        robot.twist_jacobian(frame, list(q)),
    ):
        np.testing.assert_array_equal(found, wanted)
    world = robot.twist_jacobian(frame, q, "world")
    assert not np.allclose(world, wanted)
    np.testing.assert_array_equal(robot.twist_jacobian(frame, q), wanted)
    np.testing.assert_array_equal(robot.twist_jacobian(frame, q, expressed="world"), world)
    assert robot.twist_jacobian(frame, np.stack([q, q])).shape == (2, 6, 7)


def test_copies_and_pickles_do_not_share_the_memory(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.neutral()
    robot.center_of_mass(q)
    robot.pose_jacobian(frame, q)
    for other in (copy.copy(robot), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert other == robot
        assert "pose_jacobian" not in other.__dict__
        np.testing.assert_array_equal(other.pose_jacobian(frame, q), robot.pose_jacobian(frame, q))


def test_a_kept_method_outlives_the_robot_and_then_dies() -> None:
    robot = dq.robots.arm7()
    frame, q = robot.joints[-1].name, robot.neutral()
    wanted = robot.pose_jacobian(frame, q)
    method, dead = robot.pose_jacobian, weakref.ref(robot)
    del robot
    gc.collect()
    np.testing.assert_array_equal(method(frame, q), wanted)
    del method
    gc.collect()
    assert dead() is None


def test_references_stay(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.neutral()
    out = np.empty((8, 7))
    watched = [frame, q, out, robot, np.dtype(np.float64)]
    robot.pose_jacobian(frame, q, out=out)
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(2000):
        robot.pose_jacobian(frame, q, out=out)
        robot.pose_jacobian(frame, q)
    after = [sys.getrefcount(x) for x in watched]
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 20


def test_only_built_ins_are_remembered() -> None:
    asked = []
    dispatcher = Dispatcher(lambda *arguments: asked.append(arguments), 1, 1, "f", "f(key, x)\n--\n\nText.")
    dispatcher.remember("key", len)
    dispatcher.remember("key", lambda x: x)
    dispatcher.fast("key", 1)
    assert asked == [("key", 1)]
    assert trace is not None


def test_threads_with_frames_of_their_own(robot: Any) -> None:
    frames = [joint.name for joint in robot.joints]
    q = robot.random_configuration(5)
    wanted = {frame: reference(robot, "pose_jacobian", frame, q) for frame in frames}
    wrong: list[str] = []

    def run(frame: str) -> None:
        for _ in range(400):
            if not np.allclose(robot.pose_jacobian(frame, q), wanted[frame], rtol=1e-12, atol=1e-13):
                wrong.append(frame)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(frame,)) for frame in frames]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []


class Watched(dq.Robot):
    """Overrides a method and asks the original."""

    def pose_jacobian(self, frame: Any, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        seen.append(frame)
        return super().pose_jacobian(frame, q, out=out, check=check)


seen: list[Any] = []


def test_methods_of_subclasses_stay_in_force() -> None:
    robot = Watched(dq.robots.arm7().model)
    for _ in range(3):
        robot.pose_jacobian(robot.joints[0].name, robot.neutral())
    assert len(seen) == 3
