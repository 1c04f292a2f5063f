"""Options of functions: each mistake is one sentence, in every choice of variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.constraints.forward import CONSTRAINED_FORWARD
from dqdyn.dynamics import methods
from dqdyn.robot import options

ARM = dq.robots.two_link()
BALL = dq.robots.humanoid().in_coordinates("quaternion")
SPEEDS = ARM.in_speeds(lambda q: [[1.0, 0.0], [1.0, 1.0]])
Q = ARM.neutral()
MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "no frame": (lambda: ARM.pose(None, Q), "pose needs the option 'frame'"),  # type: ignore[arg-type]
    "no second frame": (lambda: ARM.relative_pose("tool", None, Q), "needs the option 'frame2'"),  # type: ignore[arg-type]
    "a list of frames": (lambda: ARM.pose(["tool"], Q), r"the frame first, .* found \['tool'\]"),  # type: ignore[arg-type]
    "time without constraints": (lambda: ARM.function("forward_dynamics", time=True), "leave out time=True"),
    "a contact without a point": (
        lambda: BALL.function("inverse_dynamics", contacts=["left_foot"]),
        "is \\(frame, point\\)",
    ),
    "a contact nowhere": (lambda: BALL.function("inverse_dynamics", contacts=[("nose", (0, 0, 0))]), "named 'nose'"),
    "a word for a point": (lambda: BALL.function("point_jacobian", frame="left_foot", point="x"), "the point of a"),
    "two components": (
        lambda: BALL.function("point_jacobian", frame="left_foot", point=(0.0, 1.0)),
        "three components",
    ),
    "an expression": (lambda: SPEEDS.function("partial_velocities", expressed="there"), "no expression named 'there'"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_sentences(what: str) -> None:
    call, sentence = MISTAKES[what]
    with pytest.raises(dq.Error, match=sentence):
        call()


@pytest.mark.filterwarnings("ignore:the function 'forward_dynamics_at':DeprecationWarning")
def test_a_former_name_is_refused_as_the_new_one() -> None:
    with pytest.raises(dq.Error, match="leave out time=True"):
        ARM.function("forward_dynamics_at")


@pytest.mark.parametrize("robot", [ARM, dq.robots.arm6(base="free").in_coordinates("euler-zyx"), SPEEDS], ids=repr)
def test_every_function_is_counted_as_written(robot: Any) -> None:
    """In all variables: the program is never longer than the algorithm that it comes from."""
    for name in ("mass_matrix", "bias_forces", "inverse_dynamics", "forward_dynamics"):
        assert robot.count(name).total <= robot.count(name, simplify=False).total


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        (options.NamedInverse, [*methods.INVERSE]),
        (options.ForwardMethod, [*methods.FORWARD, *CONSTRAINED_FORWARD]),
        (options.NamedMassMatrix, [*methods.MASS_MATRIX]),
        (options.NamedCoriolis, [*methods.CORIOLIS]),
    ],
)
def test_types_name_the_methods_that_there_are(typed: Any, known: list[str]) -> None:
    assert sorted(get_args(typed)) == sorted(["auto", *known])


def test_points_of_contacts_may_be_arrays() -> None:
    q = BALL.from_minimal(BALL.robot.neutral())
    by_array = BALL.function("point_jacobian", frame="left_foot", point=np.array([0.1, 0.0, 0.0]))(q)
    np.testing.assert_array_equal(by_array, BALL.point_jacobian("left_foot", q, (0.1, 0.0, 0.0)))


def test_packed_is_true_or_false() -> None:
    with pytest.raises(dq.Error, match="packed is True or False; found 'yes'"):
        dq.robots.two_link().function("mass_matrix", packed="yes")
