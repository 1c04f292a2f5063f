"""What a new user gets wrong first, and the sentence that puts it right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import dqdyn as dq

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
