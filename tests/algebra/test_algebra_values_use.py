"""Poses, twists and wrenches at work: matrices, motion, arithmetic, indexing, pickling, printing."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from algebra_tools import assert_close, random_pose, random_pure, stratum_pose, unit3, unit4

from dqdyn.algebra import functions as f
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import quaternion_from_matrix
from dqdyn.algebra.values import Pose, Twist, Wrench
from dqdyn.errors import Error


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(94)


# --- matrices -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, 2.5, math.pi - 1e-6, math.pi, math.pi + 1e-6, 6.0])
@pytest.mark.parametrize("length", [0.0, 1.0, 1e6])
def test_matrix_round_trip(rng: np.random.Generator, angle: float, length: float) -> None:
    for _ in range(10):
        x = Pose(stratum_pose(rng, angle, length))
        y = Pose.from_matrix(x.matrix)
        sign = 1.0 if x.rotation @ y.rotation > 0 else -1.0  # x and −x are the same pose
        assert_close(y.dq * sign, x.dq, tolerance=1e-14, scale=length)
        assert y.rotation[0] >= 0 or abs(y.rotation[0]) < 1e-15
        assert_close(y.matrix, x.matrix, tolerance=1e-14)
        assert_close(Pose.from_matrix(x.rotation_matrix).rotation_matrix, x.rotation_matrix, tolerance=1e-14)


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3)]))
def test_half_turns_about_the_axes(axis: np.ndarray) -> None:
    R = 2 * np.outer(axis, axis) - np.eye(3)
    assert_close(np.abs(quaternion_from_matrix(R)), [0, *np.abs(axis)], tolerance=1e-15)


def test_matrices_multiply_as_poses(rng: np.random.Generator) -> None:
    x, y = Pose(random_pose(rng)), Pose(random_pose(rng))
    assert_close((x * y).matrix, x.matrix @ y.matrix)
    assert_close(x.inverse().matrix, np.linalg.inv(x.matrix))


MATRIX_FAULTS: dict[str, Any] = {
    "shape": np.eye(5),
    "one of a batch": np.stack([np.eye(4), 2 * np.eye(4)]),
    "scaled": np.eye(3) * 1.001,
    "mirror": np.diag([1.0, 1.0, -1.0]),
    "nan": np.full((4, 4), math.nan),
    "infinite translation": np.array([[1, 0, 0, math.inf], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]),
    "transposed": np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 2, 3, 1.0]]),
    "homogeneous scale": np.diag([1.0, 1.0, 1.0, 2.0]),
    "text": "eye",
    "ragged": [[1, 0], [0]],
}


@pytest.mark.parametrize("name", MATRIX_FAULTS)
def test_matrices_that_are_no_transformations(name: str) -> None:
    with pytest.raises(Error):
        Pose.from_matrix(MATRIX_FAULTS[name])


# --- motion and arithmetic --------------------------------------------------------------------------------------------


def test_poses_move_twists_and_wrenches(rng: np.random.Generator) -> None:
    x, twist, wrench = Pose(random_pose(rng)), Twist(rng.normal(size=6)), Wrench(rng.normal(size=6))
    R, p = x.rotation_matrix, x.translation
    moved = x * twist
    assert isinstance(moved, Twist)
    assert_close(moved.angular, R @ twist.angular)
    assert_close(moved.linear, R @ twist.linear + np.cross(p, R @ twist.angular))
    assert_close((x * wrench).torque, R @ wrench.torque + np.cross(p, R @ wrench.force))
    assert moved.power(x * wrench) == pytest.approx(twist.power(wrench), abs=1e-13)
    expected = twist.angular @ wrench.torque + twist.linear @ wrench.force
    assert twist.power(wrench) == pytest.approx(expected, abs=1e-15)
    assert_close((x.inverse() * moved).vec6(), twist.vec6())


def test_batches_move_element_by_element(rng: np.random.Generator) -> None:
    x = Pose(rotation=unit4(rng, 3, 2), translation=rng.normal(size=(3, 2, 3)))
    twist, wrench = Twist(rng.normal(size=(3, 2, 6))), Wrench(rng.normal(size=(3, 2, 6)))
    for i in np.ndindex(3, 2):
        assert_close((x * twist)[i].vec6(), (x[i] * twist[i]).vec6(), tolerance=1e-15)
        assert_close((x * x.inverse())[i].vec8(), DQ([1.0]).vec8(), tolerance=1e-14)
        assert twist.power(wrench)[i] == pytest.approx(twist[i].power(wrench[i]), abs=1e-14)
    assert (x[0, 0] * twist).shape == (3, 2)


def test_twists_add_and_scale(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=6), rng.normal(size=6)
    kinds: tuple[Any, ...] = (Twist, Wrench)
    for kind in kinds:
        assert_close((kind(a) + kind(b)).vec6(), a + b, tolerance=0.0)
        assert_close((kind(a) - kind(b)).vec6(), a - b, tolerance=0.0)
        assert_close((-kind(a)).vec6(), -a, tolerance=0.0)
        assert_close((kind(a) * 2.0).vec6(), 2 * a, tolerance=0.0)
        assert_close((np.float64(2.0) * kind(a)).vec6(), 2 * a, tolerance=0.0)
        assert_close((np.array([1.0, 2.0]) * kind(a)).vec6(), [a, 2 * a], tolerance=0.0)


NONSENSE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "twist + wrench": lambda x, t, w: t + w,
    "wrench - twist": lambda x, t, w: w - t,
    "twist * twist": lambda x, t, w: t * t,
    "twist + number": lambda x, t, w: t + 1.0,
    "twist * text": lambda x, t, w: t * "2",
    "twist * pose": lambda x, t, w: t * x,
    "pose * number": lambda x, t, w: x * 2.0,
    "number * pose": lambda x, t, w: 2.0 * x,
    "pose + pose": lambda x, t, w: x + x,
}


@pytest.mark.parametrize("name", NONSENSE)
def test_sums_and_products_without_meaning(name: str) -> None:
    with pytest.raises(TypeError):
        NONSENSE[name](Pose(), Twist(), Wrench())


# --- as Python values -------------------------------------------------------------------------------------------------


def test_indexing(rng: np.random.Generator) -> None:
    batch = rng.normal(size=(4, 2, 6))
    twist: Any = Twist(batch)
    assert_close(twist[1].vec6(), batch[1], tolerance=0.0)
    assert_close(twist[1, 0].vec6(), batch[1, 0], tolerance=0.0)
    assert_close(twist[..., 1].vec6(), batch[:, 1], tolerance=0.0)
    assert_close(twist[1:3, ::-1].vec6(), batch[1:3, ::-1], tolerance=0.0)
    assert_close(twist[np.array([True, False, True, False])].vec6(), batch[::2], tolerance=0.0)
    assert twist[1:1].shape == (0, 2)
    assert [t.shape for t in twist] == [(2,)] * 4
    with pytest.raises(IndexError):
        twist[9]
    with pytest.raises(IndexError):
        twist[0, 0, 0]
    with pytest.raises(Error, match="One Twist has no elements"):
        twist[1, 0][0]


def test_equality_hash_pickling_copying(rng: np.random.Generator) -> None:
    for value in (Pose(random_pose(rng)), Twist(rng.normal(size=6)), Wrench(rng.normal(size=(3, 6)))):
        for twin in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert type(twin) is type(value)
            assert twin == value
        assert value != type(value)()
        assert value != 1
    a = rng.normal(size=6)
    assert Twist(np.stack([a, a])) != Twist(a)
    assert Twist(np.stack([a, a])) != Twist(np.stack([a, a, a]))
    assert Twist(linear=np.ones((2, 3))) == Twist(np.tile([0, 0, 0, 1.0, 1.0, 1.0], (2, 1)))
    assert Twist(a) != Wrench(a)
    assert hash(Twist(a)) == hash(Twist(a.copy()))
    assert len({Twist(a), Twist(a), Twist(2 * a)}) == 2


def test_printing() -> None:
    assert repr(Pose()) == "Pose(rotation=[1.0, 0.0, 0.0, 0.0], translation=[0.0, 0.0, 0.0])"
    assert repr(Twist(angular=[1, 2, 3])) == "Twist(angular=[1.0, 2.0, 3.0], linear=[0.0, 0.0, 0.0])"
    assert repr(Wrench(torque=[1, 2, 3])) == "Wrench(force=[0.0, 0.0, 0.0], torque=[1.0, 2.0, 3.0])"
    x = Pose(rotation=[0.6, 0, 0.8, 0], translation=[1, 2, 3])
    assert_close(eval(repr(x)).vec8(), x.vec8(), tolerance=1e-6)
    batch = Twist(np.ones((2, 6)))
    assert eval(repr(batch)) == batch


def test_values_of_arrays(rng: np.random.Generator) -> None:
    """A value made of coefficients is the one made of their dual quaternion, whatever is asked first."""
    array = np.stack([random_pose(rng).vec8() for _ in range(3)])
    x, y = Pose.of_array(array), Pose(array)
    assert x == y
    assert Pose.of_array(array).shape == (3,)
    assert_close(Pose.of_array(array).vec8(), array, tolerance=0.0)
    assert_close((Pose.of_array(array) * y).vec8(), (y * y).vec8(), tolerance=0.0)
    assert pickle.loads(pickle.dumps(Pose.of_array(array))) == y
    assert Pose.of_array(array)[1] == y[1]
    assert hash(Pose.of_array(array[0])) == hash(y[0])
    given = Pose.of_array(array).vec8()
    given[:] = 0.0
    assert x == y


def test_of_does_not_check() -> None:
    assert Pose.of(DQ([2.0])).dq == 2
    g = random_pure(np.random.default_rng(92))
    assert Twist.of(g).dq is g
    assert f.is_pure(Twist(unit3(np.random.default_rng(93)).repeat(2)).dq)
