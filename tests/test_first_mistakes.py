"""What a new user gets wrong first, and the sentence that puts it right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import references

ARM = dq.robots.arm7()
NAMES = [joint.name for joint in ARM.joints]
Q = np.linspace(0.1, 0.7, 7)

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "a dictionary for q": (
        lambda: ARM.pose("tool", dict(zip(NAMES, Q, strict=True))),
        r"q of 'arm7' is a list of numbers in the order of the joints; .*: robot.q\(values\) brings them into order",
    ),
    "a row of pandas for q": (
        lambda: ARM.mass_matrix(pandas.Series(Q[::-1], index=NAMES[::-1])),
        r"found values by name: robot.q\(values\)",
    ),
    "a dictionary for v": (lambda: ARM.energy(Q, {"joint1": 1.0}), r"found values by name: robot.v\(values\)"),
    "six numbers for a pose": (lambda: dq.as_pose(np.zeros(6)), r"use dq.Pose.from_rpy\(\[roll, pitch, yaw\]"),
    "seven numbers for a pose": (lambda: dq.as_pose(np.zeros(7)), r"use dq.Pose.from_xyzw\(\[x, y, z, w\]"),
    "four numbers for a pose": (lambda: dq.as_pose(np.zeros(4)), r"a rotation alone is dq.Pose\(rotation="),
    "a matrix for sclerp": (lambda: dq.sclerp(np.eye(4), np.eye(4), 0.5), r"dq.as_pose\(value\) makes one"),
    "a word for lossy": (lambda: ARM.write("never.urdf", lossy="no"), "lossy is True or False; found 'no'"),  # type: ignore[arg-type]
    "a joint at NaN": (lambda: ARM.q(joint1=np.nan), r"^q of 'joint1' must be finite; found nan.$"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_put_right(mistake: str) -> None:
    wrong, sentence = MISTAKES[mistake]
    with pytest.raises(dq.Error, match=sentence):
        wrong()


def test_a_row_in_another_order_is_not_taken_for_q() -> None:
    """By position it would have been a wrong configuration, without a word."""
    row = pandas.Series(Q[::-1], index=NAMES[::-1])
    assert np.array_equal(ARM.q(row), Q)
    assert np.array_equal(
        ARM.pose("tool", pandas.Series(Q)).vec8(), ARM.pose("tool", Q).vec8()
    )  # numbered, so in order


def test_files_that_are_not_there_or_empty(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text("")
    (tmp_path / "arm.json").write_text(" \n")
    with pytest.raises(dq.LoadError, match=r"did you mean arm.urdf\?$"):
        dq.load(tmp_path / "amr.urdf")
    for name in ("arm.urdf", "arm.json"):
        with pytest.raises(dq.LoadError, match="is empty: give a file with a robot in it"):
            dq.load(tmp_path / name)


@pytest.mark.parametrize("form", ["matrix", "to_pinocchio", "to_spatialmath"])
def test_tasks_and_references_take_poses_as_people_have_them(form: str) -> None:
    x, y = ARM.pose("tool", Q), ARM.pose("tool", 0.5 * Q)
    other = [getattr(pose, form) for pose in (x, y)]
    start, end = (pose() if callable(pose) else pose for pose in other)
    expected = references.between("pose", x, y, 2.0)(1.0)[0]
    assert np.allclose(references.between("pose", start, end, 2.0)(1.0)[0], expected, atol=1e-14)
    ours, theirs = (ct.velocity_controller(ARM, [ct.PoseTask("tool", goal)])(0.0, Q) for goal in (y, end))
    assert np.allclose(ours, theirs, atol=1e-12)
    assert np.allclose(ct.Solid(start, "sphere", 0.1, at=end).at.matrix, y.matrix, atol=1e-14)


def test_way_points_may_be_a_batch_of_poses_or_matrices() -> None:
    way = dq.sclerp(ARM.pose("tool", Q), ARM.pose("tool", 0.5 * Q), np.linspace(0.0, 1.0, 4))
    path = references.cubic("pose", way, velocity=0.3)
    assert np.allclose(references.cubic("pose", way.matrix, velocity=0.3)(1.0)[0], path(1.0)[0], atol=1e-12)
    turned = [np.eye(3), way[0].matrix[:3, :3]]
    assert references.cubic("rotation", turned, velocity=0.3).duration > 0.0
    for wrong in ([[1], [2, 3]], np.zeros((4, 4)), np.zeros(3)):
        with pytest.raises(dq.Error):
            references.between("pose", wrong, way[0], 1.0)
        with pytest.raises(dq.Error):
            ct.PoseTask("tool", wrong)
        with pytest.raises(dq.Error):
            ARM.pose_error("tool", Q, wrong)
