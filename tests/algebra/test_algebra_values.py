"""Poses, twists and wrenches: what they take and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from algebra_tools import assert_close, unit4
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.values import Pose, Twist, Wrench
from dqdyn.errors import Error

PARTS: dict[str, tuple[Callable[[Any], Any], int]] = {
    # how a value is made from one array, and the length of its last axis
    "rotation": (lambda a: Pose(rotation=a), 4),
    "translation": (lambda a: Pose(translation=a), 3),
    "pose": (Pose, 8),
    "angular": (lambda a: Twist(angular=a), 3),
    "linear": (lambda a: Twist(linear=a), 3),
    "twist": (Twist, 6),
    "force": (lambda a: Wrench(force=a), 3),
    "torque": (lambda a: Wrench(torque=a), 3),
    "wrench": (Wrench, 6),
}
parts = pytest.mark.parametrize("part", PARTS)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(90)


# --- what they take -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (5,), (3, 2)])
def test_parts_come_back(rng: np.random.Generator, batch: tuple[int, ...]) -> None:
    r, p, a, b = unit4(rng, *batch), *(rng.normal(size=(*batch, 3)) for _ in range(3))
    pose, twist, wrench = Pose(rotation=r, translation=p), Twist(angular=a, linear=b), Wrench(force=a, torque=b)
    assert pose.shape == twist.shape == wrench.shape == batch
    assert_close(pose.rotation, r, tolerance=0.0)
    assert_close(pose.translation, p, tolerance=1e-15)
    assert_close(twist.angular, a, tolerance=0.0)
    assert_close(twist.linear, b, tolerance=0.0)
    assert_close(wrench.force, a, tolerance=0.0)
    assert_close(wrench.torque, b, tolerance=0.0)
    assert_close(twist.vec6(), np.concatenate([a, b], axis=-1), tolerance=0.0)
    assert Pose(pose.vec8()) == pose
    assert Pose(pose.dq) == pose
    assert Twist(twist.vec6()) == twist
    assert Wrench(wrench.vec6().tolist()) == wrench
    assert pose.matrix.shape == (*batch, 4, 4)
    assert pose.rotation_matrix.shape == (*batch, 3, 3)


def test_defaults_are_neutral() -> None:
    assert_close(Pose().matrix, np.eye(4), tolerance=0.0)
    assert_close(Twist().vec6(), np.zeros(6), tolerance=0.0)
    assert_close(Wrench().vec6(), np.zeros(6), tolerance=0.0)


def test_a_constant_part_takes_the_shape_of_the_batch(rng: np.random.Generator) -> None:
    pose = Pose(rotation=unit4(rng), translation=rng.normal(size=(5, 3)))
    assert pose.rotation.shape == (5, 4)
    assert pose.rotation_matrix.shape == (5, 3, 3)
    assert pose.matrix.shape == (5, 4, 4)
    assert pose[3].rotation.shape == (4,)
    assert Pose(rotation=unit4(rng, 5)).translation.shape == (5, 3)
    twist = Twist(linear=rng.normal(size=(5, 3)))
    assert twist.angular.shape == (5, 3)
    assert Wrench(force=rng.normal(size=(5, 3))).torque.shape == (5, 3)


def test_symbols_pass() -> None:
    w = sympy.symbols("w:3")
    twist = Twist(angular=w)
    assert twist.angular.tolist() == list(w)
    q = sympy.symbols("q:4")
    assert Pose(rotation=q).rotation.tolist() == list(q)


# --- what they refuse ---------------------------------------------------------------------------------------------


@parts
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_wrong_sizes(part: str, data: st.DataObject) -> None:
    make, size = PARTS[part]
    shape = data.draw(array_shapes(min_dims=1, max_dims=3, max_side=9).filter(lambda s: s[-1] != size))
    with pytest.raises(Error, match=f"has {size} components") as caught:
        make(np.ones(shape))
    assert caught.value.expected == size
    assert caught.value.found == shape


@parts
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_values_that_are_not_finite(part: str, data: st.DataObject) -> None:
    make, size = PARTS[part]
    shape = (*data.draw(array_shapes(min_dims=0, max_dims=2, max_side=3)), size)
    array = data.draw(arrays(float, shape, elements=st.floats(-10, 10)))
    place = data.draw(st.integers(0, array.size - 1))
    array.flat[place] = data.draw(st.sampled_from([math.nan, math.inf, -math.inf]))
    with pytest.raises(Error, match="must be finite"):
        make(array)


@settings(max_examples=60, deadline=None)
@given(arrays(float, 4, elements=st.floats(-10, 10)).filter(lambda q: abs(np.linalg.norm(q) - 1) > 2e-6))
def test_rotations_that_are_not_unit(q: np.ndarray) -> None:
    with pytest.raises(Error, match=r"A pose needs a unit dual quaternion.*normalize"):
        Pose(rotation=q)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 4), st.floats(2e-6, 10))
def test_one_bad_pose_in_a_batch(row: int, off: float) -> None:
    r = unit4(np.random.default_rng(91), 5)
    r[row] *= 1 + off
    with pytest.raises(Error, match="unit dual quaternion"):
        Pose(rotation=r)


def test_a_dual_part_that_is_no_translation() -> None:
    with pytest.raises(Error, match="unit dual quaternion"):
        Pose([1, 0, 0, 0, 0.1, 0, 0, 0])
    with pytest.raises(Error, match="unit dual quaternion"):
        Pose(DQ([1, 0, 0, 0, 0.1, 0, 0, 0]))


def test_a_rotation_inside_of_the_tolerance_is_used_as_it_is() -> None:
    q = np.array([1 + 5e-7, 0, 0, 0])
    assert Pose(rotation=q).rotation[0] == q[0]


@parts
@pytest.mark.parametrize("bad", ["abc", None, 3.0, [], {}, [["a", "b", "c"]], object()])
def test_things_that_are_no_numbers(part: str, bad: Any) -> None:
    make, size = PARTS[part]
    if bad is not None:
        with pytest.raises(Error):
            make(bad)
    for thing in ("x", None, 1j, [1.0]):
        with pytest.raises(Error):
            make([thing] * size)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pose(np.eye(8)[0], translation=[1, 2, 3]),
        lambda: Twist(np.ones(6), linear=[1, 2, 3]),
        lambda: Wrench(np.ones(6), force=[1, 2, 3]),
    ],
)
def test_whole_and_parts_together(make: Callable[[], Any]) -> None:
    with pytest.raises(Error, match="not by both"):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pose(rotation=np.tile([1.0, 0, 0, 0], (2, 1)), translation=np.ones((3, 3))),
        lambda: Twist(angular=np.ones((2, 3)), linear=np.ones((3, 3))),
        lambda: Wrench(force=np.ones((2, 3)), torque=np.ones((3, 3))),
    ],
)
def test_batches_that_do_not_fit(make: Callable[[], Any]) -> None:
    with pytest.raises(Error, match=r"shapes \(2,\) and \(3,\) cannot be combined"):
        make()
