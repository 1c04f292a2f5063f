"""Bad input to references: one sentence each, with the remedy."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import references as ref
from dqdyn.errors import install_command

ARM = dq.robots.arm6()
Q = np.zeros(6)
HUMANOID = dq.robots.humanoid()
POSE = dq.Pose(translation=[0.1, 0.2, 0.3])
CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "no robot": (lambda: ref.between(None, Q, Q + 1.0, 1.0), "is made for a Robot or for one of 'pose'"),
    "unknown space": (lambda: ref.between("poses", POSE, POSE, 1.0), "no space of a reference named 'poses': did you"),
    "no points": (lambda: ref.cubic(ARM, None, [0.0, 1.0]), "way points are a list of at least 2; found None"),
    "one point": (lambda: ref.cubic(ARM, [Q], [0.0]), "at least 2 way points are needed; found 1"),
    "text": (lambda: ref.cubic(ARM, "ab", [0.0, 1.0]), "way points are a list of at least 2; found 'ab'"),
    "short point": (lambda: ref.between(ARM, Q, Q[:5], 1.0), r"has 6 components, so shape \(6,\)"),
    "nan": (lambda: ref.between(ARM, Q, Q + np.nan, 1.0), r"q\[0\] \(joint .*\) of 'arm6' is nan"),
    "batch": (lambda: ref.between(ARM, Q, np.zeros((3, 6)), 1.0), r"way point 1 of 'arm6' has shape \(6,\)"),
    "symbols": (lambda: ref.between(ARM, Q, ["a"] * 6, 1.0), "must be real numbers"),
    "quaternion": (lambda: ref.between(HUMANOID, 0.0 * HUMANOID.neutral(), HUMANOID.neutral(), 1.0), "has norm 0"),
    "rotation": (lambda: ref.between("rotation", [1.0, 1.0, 0.0, 0.0], POSE, 1.0), "has norm 1.41421356: divide it"),
    "pose by 7": (lambda: ref.between("pose", np.zeros(7), POSE, 1.0), r"4×4 matrix, .*; found shape \(7,\)"),
    "pose not unit": (lambda: ref.between("pose", np.ones(8), POSE, 1.0), "needs a unit dual quaternion"),
    "pose nan": (lambda: ref.between("pose", np.full(8, np.nan), POSE, 1.0), "way point 0 must be finite"),
    "line as point": (lambda: ref.between("point", dq.Line([0, 0, 1.0], [0, 0, 0.0]), POSE, 1.0), "is a point; found"),
    "point of 2": (lambda: ref.between("point", [1.0, 2.0], POSE, 1.0), r"a point of 3 components; found shape \(2,\)"),
    "duration": (lambda: ref.between(ARM, Q, Q + 0.1, 0.0), "times of way points are finite and rise"),
    "duration nan": (lambda: ref.between(ARM, Q, Q + 0.1, np.nan), "times of way points are finite and rise"),
    "times": (lambda: ref.cubic(ARM, [Q, Q + 0.1], [0.0]), r"2 way points need 2 times; found shape \(1,\)"),
    "falling times": (lambda: ref.cubic(ARM, [Q, Q + 0.1], [1.0, 0.0]), "finite and rise; found"),
    "no limits": (
        lambda: ref.between("point", POSE, [0.0, 0.0, 0.0]),
        "nothing limits how fast the reference goes: give times, or",
    ),
    "same points": (lambda: ref.cubic(ARM, [Q, Q, Q + 0.1]), "way points 0 and 1 are the same: leave one out"),
    "all the same": (lambda: ref.trapezoids(ARM, [Q, Q], acceleration=1.0), "all way points are the same"),
    "too fast": (
        lambda: ref.between(ARM, Q, Q + 0.5, 0.1),
        r"brings the velocity of 'joint\d' to 9.375, above the limit: give it .* s, leave out the times, or raise",
    ),
    "out of reach": (
        lambda: ref.between(ARM, Q, Q + 100.0),
        r"takes q\[0\] \(joint 'joint1'\) to 100, outside of its limits \[.*\]: move or add way points",
    ),
    "negative limit": (lambda: ref.between(ARM, Q, Q + 0.1, velocity=-1.0), "velocity must be above 0, or infinite"),
    "nan limit": (lambda: ref.between(ARM, Q, Q + 0.1, velocity=np.nan), "velocity must be above 0, or infinite"),
    "size of limit": (lambda: ref.between(ARM, Q, Q + 0.1, jerk=[1.0]), r"one number or 6, .* found shape \(1,\)"),
    "no acceleration": (
        lambda: ref.time_optimal(ARM, [Q, Q + 0.1], acceleration=None),
        "the acceleration of 'joint1' has no limit: give one",
    ),
    "jerk past way points": (
        lambda: ref.cubic("rotation", [POSE, [0.8, 0.6, 0.0, 0.0], [0.8, 0.0, 0.6, 0.0]], jerk=1.0),
        "the jerk of 'wx', which passes way points, is unknown: .* use time_optimal",
    ),
    "ends": (lambda: ref.cubic(ARM, [Q, Q + 0.1], [0.0, 1.0], ends=1.0), "ends are two velocities"),
    "size of ends": (lambda: ref.cubic(ARM, [Q, Q + 0.1], [0.0, 1.0], ends=(Q, [1.0])), "one number or 6; found"),
    "ends without times": (lambda: ref.cubic(ARM, [Q, Q + 0.1], ends=(Q + 1.0, Q)), "velocities at way points need ti"),
    "velocities": (lambda: ref.quintic(ARM, [Q, Q + 0.1], [0.0, 1.0], velocities=Q), r"of shape \(2, 6\); found"),
    "velocities, no times": (
        lambda: ref.quintic(ARM, [Q, Q + 0.1], velocities=np.zeros((2, 6))),
        "velocities at way points need times",
    ),
    "ends of a quaternion": (
        lambda: ref.time_optimal("pose", [POSE, dq.Pose()], acceleration=1.0, ends=(1.0, 0.0)),
        "'wx' moves with a quaternion, which starts and ends at rest: set ends to 0 there, or use cubic",
    ),
    "ends of a straight line": (
        lambda: ref.time_optimal(ARM, [Q, Q + 1.0], acceleration=1.0, straight=True, ends=(1.0, 0.0)),
        "'joint1' moves on a straight line, which starts and ends at rest",
    ),
    "ends too fast": (
        lambda: ref.time_optimal(ARM, [Q, Q + 1.0], velocity=1.0, acceleration=1.0, ends=(0.0, 2.0)),
        "no time-optimal reference between these states: ",
    ),
    "wrap": (lambda: ref.between("pose", POSE, dq.Pose(), 1.0, wrap=True), "wrap is for joints of a robot"),
    "flag": (lambda: ref.between(ARM, Q, Q + 0.1, 1.0, wrap="yes"), "wrap is True or False; found 'yes'"),
    "sampled": (lambda: ref.between(ARM, Q, Q + 0.1, 1.0).sample(0.5), r"are one row \(k,\); found shape \(\)"),
    "time": (lambda: ref.between(ARM, Q, Q + 0.1, 1.0)(None), "is asked at a time in s; found None"),
    "time nan": (lambda: ref.between(ARM, Q, Q + 0.1, 1.0)(np.nan), "is asked at a time in s; found nan"),
    "times nan": (lambda: ref.between(ARM, Q, Q + 0.1, 1.0).sample([0.0, np.nan]), "must not be NaN"),
    "factor": (lambda: ref.between(ARM, Q, Q + 0.1, 1.0).stretched(0.0), "by a finite factor above 0; found 0.0"),
    "start": (lambda: ref.between(ARM, Q, Q + 0.1, 1.0).starting_at(np.inf), "starts at a finite time in s; found inf"),
    "pose of a robot": (lambda: ref.between(ARM, Q, Q + 0.1, 1.0).pose(0.0), r"use robot.pose\(frame, path\(t\)"),
    "gains": (lambda: ct.computed_torque(ARM, Q, gains=3.0), r"gains of computed torque are a pair \(K_D, K_P\)"),
    "size of gains": (
        lambda: ct.computed_torque(ARM, Q, gains=(1.0, [1.0])),
        "kp is one number or 6, one per velocity,",
    ),
    "negative gains": (lambda: ct.computed_torque(ARM, Q, gains=(-1.0, 1.0)), "kd must be finite and not negative"),
    "unstable gains": (
        lambda: ct.computed_torque(ARM, Q, gains=(np.eye(6) - np.eye(6, k=1), -np.eye(6))),
        r"the error would grow with e\^\(0.61803\d t\) for these gains: take symmetric positive definite",
    ),
    "gain": (lambda: ct.computed_torque(ARM, Q, gain=None), "gain of computed torque must be a number above 0"),
    "target": (lambda: ct.computed_torque(ARM, None), "The target of computed torque"),
    "path of another robot": (
        lambda: ct.computed_torque(ARM, ref.between(dq.robots.two_link(), [0.0, 0.0], [1.0, 1.0], 1.0)),
        "a path of configurations of 'two_link' with 2 components",
    ),
    "reference": (
        lambda: ref.ComputedTorque(ARM, lambda t: (Q, Q)),
        r"a reference of 'arm6' gives q \(6,\), v \(6,\) and a \(6,\) at every time",
    ),
    "no reference": (lambda: ref.ComputedTorque(ARM, 3.0), "a reference is a function of time t that gives q"),
    "no robot to control": (lambda: ref.ComputedTorque("arm6", lambda t: Q), "computed torque is for a Robot"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    call, text = CASES[name]
    with pytest.raises(dq.Error, match=text) as caught:
        call()
    assert str(caught.value).rstrip(".").count("\n") == 0


def test_every_refusal_at_once() -> None:
    """The quick run takes one case of each test: here all of them are one."""
    for call, _ in CASES.values():
        with pytest.raises(dq.Error):
            call()


def test_without_ruckig(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name == "ruckig":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    ref.time_optimal(ARM, [Q, Q + 0.1], acceleration=1.0, jerk=10.0)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("ruckig", "ruckig"))):
        ref.time_optimal(ARM, [Q, Q + 0.1], acceleration=1.0, ends=(0.0, 0.1))
