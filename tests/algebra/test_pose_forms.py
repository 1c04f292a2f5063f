"""Poses as people have them, against SciPy, Pinocchio and spatialmath; and screw interpolation of poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
import pytest
import spatialmath
from scipy.linalg import expm, logm
from scipy.spatial.transform import RigidTransform, Rotation

import dqdyn as dq

RNG = np.random.default_rng(8)
ANGLES = RNG.uniform(-np.pi, np.pi, (200, 3)) * (1.0, 0.5, 1.0)
PLACES = RNG.normal(size=(200, 3)) * 10.0 ** RNG.uniform(-3, 3, (200, 1))
MANY = dq.Pose.from_rpy(ANGLES, PLACES)


def close(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance))


def test_angles_are_those_of_scipy_and_pinocchio() -> None:
    theirs = Rotation.from_euler("xyz", ANGLES)
    assert close(MANY.rotation_matrix, theirs.as_matrix())
    assert close(MANY.rpy, ANGLES, 1e-11)
    assert close(MANY[3].rotation_matrix, pinocchio.rpy.rpyToMatrix(*ANGLES[3]))
    assert close(dq.Pose.from_rpy(ANGLES[0]).rpy, ANGLES[0])


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-12, 1e-9, 1e-5])
def test_angles_where_roll_and_yaw_turn_about_one_axis(pitch: float, off: float) -> None:
    angles = RNG.uniform(-np.pi, np.pi, (50, 3))
    angles[:, 1] = pitch - np.sign(pitch) * off
    x = dq.Pose.from_rpy(angles)
    again = dq.Pose.from_rpy(x.rpy)
    assert close(again.rotation_matrix, Rotation.from_euler("xyz", angles).as_matrix(), 1e-11)
    if off == 0.0:
        assert not x.rpy[:, 2].any()
    assert (np.abs(x.rpy) <= np.pi).all()


def test_the_order_of_quaternions() -> None:
    theirs = Rotation.from_euler("xyz", ANGLES)
    sign = np.sign((MANY.xyzw * theirs.as_quat()).sum(-1, keepdims=True))
    assert close(MANY.xyzw, sign * theirs.as_quat())
    assert close(dq.Pose.from_xyzw([0.0, 0.0, 0.6, 0.8]).rotation, [0.8, 0.0, 0.0, 0.6], 0.0)
    assert close(dq.Pose.from_xyzw(MANY.xyzw, PLACES).vec8(), MANY.vec8())


def test_batches_of_matrices() -> None:
    sign = np.sign(MANY.rotation[:, :1])
    for form in (MANY.matrix, MANY.matrix.reshape(20, 10, 4, 4)):
        assert close(dq.Pose.from_matrix(form).vec8().reshape(200, 8), sign * MANY.vec8(), 1e-9)
    turned = dq.Pose.from_matrix(MANY.rotation_matrix)
    assert close(turned.rotation_matrix, MANY.rotation_matrix)
    assert not turned.translation.any()
    half_turns = np.array([np.diag(d) for d in ((1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0))])
    assert close(dq.Pose.from_matrix(half_turns).rotation_matrix, half_turns, 0.0)


def test_scipy_and_back() -> None:
    theirs = MANY.to_scipy()
    assert isinstance(theirs, Rotation)
    assert close(theirs.as_matrix(), MANY.rotation_matrix)
    assert close(dq.Pose.from_scipy(theirs, PLACES).matrix, MANY.matrix)
    assert close(dq.as_pose(RigidTransform.from_matrix(MANY.matrix)).matrix, MANY.matrix)
    assert close(dq.as_pose(Rotation.from_rotvec([0.1, 0.2, 0.3])).rotation_matrix, expm_of([0.1, 0.2, 0.3]))


def expm_of(w: Any) -> Any:
    x, y, z = w
    return expm(np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))


def test_pinocchio_and_back() -> None:
    theirs = pinocchio.SE3.Random()
    x = dq.Pose.from_pinocchio(theirs, body="tool", reference="world")
    assert x.frames == ("tool", "world")
    assert close(x.matrix, theirs.homogeneous)
    assert x.to_pinocchio().isApprox(theirs)
    assert close(dq.as_pose(theirs).matrix, theirs.homogeneous)


def test_spatialmath_and_back() -> None:
    one = spatialmath.SE3.Trans(1, 2, 3) * spatialmath.SE3.RPY(0.1, 0.2, 0.3)
    assert close(dq.Pose.from_spatialmath(one).rpy, [0.1, 0.2, 0.3])
    assert close(dq.as_pose(one).translation, [1.0, 2.0, 3.0])
    assert close(dq.as_pose(one).to_spatialmath().A, one.A)
    several = MANY.to_spatialmath()
    assert len(several) == 200
    assert close(dq.as_pose(several).matrix, MANY.matrix)
    for turn in (
        spatialmath.SO3(one),
        spatialmath.UnitQuaternion(one),
        spatialmath.UnitQuaternion([one.UnitQuaternion()]),
    ):
        assert close(np.squeeze(dq.as_pose(turn).rotation_matrix), one.R)
    assert close(dq.Pose.from_spatialmath(spatialmath.SO3(one), one.t).matrix, one.A)


def test_one_door() -> None:
    x = MANY[0]
    for form in (x, x.dq, x.vec8(), x.vec8().tolist(), x.matrix, x.to_pinocchio(), x.to_spatialmath()):
        assert close(dq.as_pose(form).matrix, x.matrix)
    assert dq.as_pose(x.with_frames(body="b", reference="a"), reference="c").frames == ("b", "c")
    assert dq.as_pose(MANY.vec8()).shape == (200,)


REFUSED: dict[str, tuple[Any, str]] = {
    "none": (lambda: dq.as_pose(None), "A pose is a Pose, a DQ, vec8, .* found None"),
    "text": (lambda: dq.as_pose("here"), "found 'here'"),
    "position": (lambda: dq.as_pose([1, 2, 3]), r"a position alone is dq.Pose\(translation=\[x, y, z\]\)"),
    "message": (lambda: dq.as_pose(MANY[0].to_ros()), r"use dq.Pose.from_ros\(message\)"),
    "number": (lambda: dq.as_pose(3.0), r"numbers of shape \(\)"),
    "object": (lambda: dq.as_pose(object()), "a pose must be real numbers"),
    "plane pose": (lambda: dq.as_pose(spatialmath.SE2(1, 2, 0.3)), "SE3, SO3 or UnitQuaternion of spatialmath"),
    "two turns": (lambda: dq.Pose.from_scipy(np.eye(3)), r"Pose.from_scipy takes a Rotation .* dq.as_pose\(value\)"),
    "scipy": (lambda: dq.Pose.from_scipy(RigidTransform.identity(), [1, 2, 3]), "has a translation of its own"),
    "pinocchio": (lambda: dq.Pose.from_pinocchio(np.eye(4)), "takes a pinocchio.SE3"),
    "batch": (MANY.to_pinocchio, r"pinocchio.SE3 holds one pose; found a batch of shape \(200,\)"),
    "nested": (lambda: dq.Pose(np.ones((2, 2, 1)) * MANY[0].vec8()).to_spatialmath(), "holds a list of poses"),
    "row": (lambda: dq.Pose.from_matrix([np.eye(4), 2 * np.eye(4)]), r"The last row .* at row 1"),
    "turn": (lambda: dq.Pose.from_matrix([np.eye(3), -np.eye(3)]), "The 3×3 part at row 1 is not a rotation"),
    "angles": (lambda: dq.Pose.from_rpy([0.1, 0.2]), "A triple of roll, pitch and yaw has 3 components"),
    "nan": (lambda: dq.Pose.from_rpy([0.1, 0.2, np.nan]), "A triple of roll, pitch and yaw must be finite"),
    "none angles": (lambda: dq.Pose.from_rpy(None), "A triple of roll, pitch and yaw must be real numbers"),
    "zero": (lambda: dq.Pose.from_xyzw([0, 0, 0, 0]), "A pose needs a unit dual quaternion"),
    "short": (lambda: dq.Pose.from_xyzw([0, 0, 1]), r"A rotation \(x, y, z, w\) has 4 components"),
    "to": (lambda: MANY[0].sclerp(MANY[0].matrix, 0.5), "sclerp leads to a Pose"),
    "order": (lambda: dq.sclerp(0.5, MANY[0], MANY[1]), r"sclerp\(x, y, t\) leads from pose x to pose y"),
    "mixed": (lambda: dq.sclerp(MANY[0].dq, MANY[1], 0.5), "from a DQ to a DQ, or from a Pose to a Pose"),
    "share": (lambda: dq.sclerp(MANY[0], MANY[1], np.nan), "t of sclerp must be finite"),
    "share none": (lambda: dq.sclerp(MANY[0], MANY[1], None), "t of sclerp must be real numbers"),
    "shapes": (lambda: dq.sclerp(MANY, MANY, [0.1, 0.2]), "cannot be combined"),
    "frames": (
        lambda: MANY[0].with_frames(reference="a").sclerp(MANY[1].with_frames(reference="b"), 0.5),
        "found poses in 'a' and in 'b'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    call, sentence = REFUSED[name]
    with pytest.raises(dq.Error, match=sentence):
        call()


@pytest.mark.parametrize("turn", [0.0, 1e-9, 0.3, 2.0, np.pi - 1e-9])
@pytest.mark.parametrize("share", [-0.5, 0.0, 0.25, 1.0, 1.7])
def test_the_motion_is_that_of_a_screw(turn: float, share: float) -> None:
    """Closed form: turn about a line by λθ and go along it by λd."""
    axis = np.array([0.6, 0.0, 0.8])
    point, d = np.array([0.3, -1.0, 2.0]), 0.7

    def screw(by: float) -> np.ndarray:
        result = np.eye(4)
        result[:3, :3] = Rotation.from_rotvec(by * turn * axis).as_matrix()
        result[:3, 3] = point - result[:3, :3] @ point + by * d * axis
        return result

    x = MANY[5]
    for sign in (1.0, -1.0):  # x and −x are one pose: the shorter way is taken from either
        goal = dq.Pose(sign * dq.Pose.from_matrix(x.matrix @ screw(1.0)).vec8())
        assert close(x.sclerp(goal, share).matrix, x.matrix @ screw(share), 1e-9)
        assert close(dq.sclerp(x, goal, share).matrix, x.sclerp(goal, share).matrix, 0.0)


def test_interpolation_of_batches() -> None:
    x, y = MANY[:100], MANY[100:]
    half = dq.sclerp(x, y, 0.5)
    assert half.shape == (100,)
    for i in range(0, 100, 9):
        way = logm(np.linalg.inv(x[i].matrix) @ y[i].matrix)
        assert close(half[i].matrix, x[i].matrix @ expm(0.5 * way.real), 1e-8)
    path = dq.sclerp(MANY[0], MANY[1], np.linspace(0.0, 1.0, 11))
    assert path.shape == (11,)
    assert close(path[0].matrix, MANY[0].matrix)
    assert close(path[10].matrix, MANY[1].matrix)
    grid = dq.sclerp(x, y, np.linspace(0.0, 1.0, 5)[:, None])
    assert grid.shape == (5, 100)
    steps = path[:-1].inverse() * path[1:]
    assert close(steps.matrix, steps[0].matrix, 1e-9)  # the same motion in every step


def test_frames_of_an_interpolation() -> None:
    x, y = MANY[0].with_frames(body="tool", reference="world"), MANY[1].with_frames(body="goal", reference="world")
    assert x.sclerp(y, 0.5).frames == (None, "world")
    assert x.sclerp(MANY[1], 0.5).frames == ("tool", "world")
