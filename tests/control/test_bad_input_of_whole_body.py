"""Input that whole-body control, contacts, scenes and estimators refuse by one sentence, and layouts that they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from biped import biped, contact_sets

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import scenes
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.errors import Error
from dqdyn.simulate import BaseEstimator, inertial_reading

ROBOT = biped()
Q, V = ROBOT.neutral(), np.zeros(ROBOT.nv)
FEET = contact_sets()["face and point"]
FOOT = FEET[0]
SCENE = dq.Scene([scenes.ground(), scenes.ball(0.1, (2.0, 0.0, 0.1))])


LANDED = ct.TouchDown(ROBOT, FOOT, ground=-0.8)


class Pressed:
    """What a plant says of a foot."""

    def __init__(self, force: Any) -> None:
        self.force = force

    def normal_force(self, frame: str) -> Any:
        return self.force


@cache
def standing() -> WholeBodyController:
    return ct.whole_body_controller(ROBOT, [ct.RestTask()], contacts=FEET)


def made(**options: Any) -> object:
    return ct.whole_body_controller(ROBOT, [ct.RestTask()], **{"contacts": FEET, **options})


def estimate(**options: Any) -> object:
    given = {"q": Q[7:], "v": V[6:], "gyroscope": np.zeros(3), "accelerometer": [0.0, 0.0, 9.81], **options}
    estimator = BaseEstimator(ROBOT, FEET, "trunk", 0.01)
    estimator.reset(Q, V)
    return estimator.update(**given)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    # the controller
    "policy that is a list": (lambda: made(infeasible=[]), "no policy for infeasible problems named"),
    "solver that is a dictionary": (lambda: made(solver={}), "no solver of quadratic programs named"),
    "form that is an array": (lambda: made(form=np.zeros(3)), "no form of whole-body control named"),
    "rate of torques of a printed form": (lambda: made(form="minimal", torque_rate=5.0), "leave out torque_rate"),
    "time that is None": (lambda: standing()(None, Q, V), "the time t of a controller"),  # type: ignore[arg-type]
    "time of two": (lambda: standing()([0.0, 1.0], Q, V), "the time t of a controller is one number"),  # type: ignore[arg-type]
    "batch of states": (lambda: standing()(0.0, np.stack([Q, Q]), V), "one state of numbers at a time"),
    "tasks of sets as a list": (lambda: standing().prepare({"a": FOOT}, [1, 2]), "tasks of prepare are a dictionary"),  # type: ignore[arg-type]
    "progress of a text": (lambda: standing().prepare({"a": FOOT}, progress="yes"), "progress is True, False or None"),  # type: ignore[arg-type]
    "touch-down at None": (lambda: LANDED(None, Q), "the time t of TouchDown"),  # type: ignore[arg-type]
    "touch-down by a text": (lambda: LANDED.observe(Pressed("x")), "the normal force of 'left_sole'"),
    # contacts
    "tolerance of a text": (lambda: FOOT.holds(np.ones(6), "x"), "the tolerance of the contact 'left_sole'"),  # type: ignore[arg-type]
    "tolerance that is NaN": (lambda: FOOT.holds(np.ones(6), math.nan), "must be a number; found nan"),
    "margins of a batch": (lambda: FOOT.margins(np.ones((2, 6))), r"one wrench \(6,\)"),
    "pose at None": (lambda: FOOT.pose(ROBOT, None), "takes one q of 'biped', 11 numbers; found None"),  # type: ignore[arg-type]
    "pose at a batch": (lambda: FOOT.pose(ROBOT, np.stack([Q, Q])), r"found shape \(2, 11\)"),  # type: ignore[arg-type]
    "corners at a text": (lambda: FOOT.corner_positions(ROBOT, "x"), "takes one q of 'biped'"),
    "gaps at NaN": (lambda: FOOT.gaps(ROBOT, Q * math.nan), "q of 'biped' must be finite"),  # type: ignore[arg-type]
    "gaps at two numbers": (lambda: FOOT.gaps(ROBOT, [1.0, 2.0]), "11 numbers; found"),
    # scenes
    "obstacle of None": (lambda: ct.obstacle_of(None), "obstacle_of takes a body of a scene"),  # type: ignore[arg-type]
    "zones of a number": (lambda: ct.scene_zones(SCENE, "trunk", bodies=3.0), "bodies of zones are names"),  # type: ignore[arg-type]
    "measured as a list": (lambda: ct.scene_zones(SCENE, "trunk", measured=[1]), "measured is a dictionary"),  # type: ignore[arg-type]
    "body by an array": (lambda: SCENE[np.zeros(3)], "no body of the scene named"),  # type: ignore[index]
    "scene and None": (lambda: SCENE + None, "A scene holds bodies"),  # type: ignore[operator]
    "visuals that are no shapes": (lambda: scenes.SceneBody("b", "box", (1, 1, 1), visuals=[1]), "list of Shapes"),  # type: ignore[arg-type]
    "color of a text": (lambda: scenes.SceneBody("b", "box", (1, 1, 1), color="red"), "The color of 'b'"),  # type: ignore[arg-type]
    "color beyond 1": (lambda: scenes.SceneBody("b", "box", (1, 1, 1), color=(2, 0, 0, 1)), "numbers from 0 to 1"),
    # names and sensors
    "frame by a list": (lambda: BaseEstimator(ROBOT, FEET, ["trunk"], 0.01), "by its name, a text"),  # type: ignore[arg-type]
    "joint by an array": (lambda: ROBOT.with_motors([np.zeros(3)]), "no moving joint of 'biped' named"),  # type: ignore[list-item]
    "reading of None": (lambda: inertial_reading(None, "trunk", Q, V, V), "takes a robot first; found None"),  # type: ignore[arg-type]
    "touching by a text": (lambda: estimate(touching={"left_sole": "yes"}), "True or False; found 'yes'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused_by_one_sentence(case: str) -> None:
    make, text = WRONG[case]
    with pytest.raises(Error, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_any_layout_of_numbers_is_taken() -> None:
    """Read-only, strided, of another byte order, lists, and times that are whole."""
    rng = np.random.default_rng(0)
    q, v = ROBOT.integrate(Q, 0.05 * rng.standard_normal(ROBOT.nv)), 0.1 * rng.standard_normal(ROBOT.nv)
    fixed = q.copy()
    fixed.flags.writeable = False
    layouts = [(fixed, v), (np.repeat(q, 2)[::2], v[::-1].copy()[::-1]), (q.astype(">f8"), v), (q.tolist(), v.tolist())]
    found = []
    for at, moving in layouts:
        standing().reset()
        found.append([*standing()(0, at, moving), *FOOT.pose(ROBOT, at).vec8(), *FOOT.gaps(ROBOT, at)])  # type: ignore[arg-type]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_a_state_that_is_not_known_does_not_touch() -> None:
    """In a running loop sensors give NaN."""
    assert LANDED(0.0, Q)
    assert not LANDED(0.0, Q * math.nan)
    assert math.isnan(LANDED.gap(Q * math.nan))
