"""Bad contacts: one sentence each, with the name of the contact and the remedy."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import contacts
from dqdyn.errors import install_command

SOLE = contacts.face("sole", half_length=0.1, half_width=0.05)
SQUARE = [[0.1, 0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0], [0.1, -0.1, 0.0]]
NAN = float("nan")

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "line": (lambda: contacts.face("sole", [[0, 0, 0], [1, 1, 0], [2, 2, 0]]), "lie on one line: use contacts.edge"),
    "one place": (lambda: contacts.face("sole", [[0, 0, 0]] * 4), "lie on one line"),
    "lifted": (
        lambda: contacts.face("sole", [*SQUARE[:3], [0.1, -0.1, 0.02]]),
        "corner 4 of the face of the contact 'sole' is 0.02 m beyond corner 1 along its normal: bring",
    ),
    "tilted": (lambda: contacts.face("sole", SQUARE, normal=(1, 0, 0)), "is 0.2 m beyond corner 2 along its normal"),
    "dent": (
        lambda: contacts.face("sole", [*SQUARE, [0.02, 0, 0]]),
        "corner 5 of .* does not stick out .* leave it out",
    ),
    "on a side": (lambda: contacts.face("sole", [*SQUARE, [0.1, 0, 0]]), "corner 5 of .* leave it out"),
    "twice": (lambda: contacts.face("sole", [*SQUARE, SQUARE[2]]), "leave it out"),
    "two corners": (lambda: contacts.face("sole", SQUARE[:2]), "contacts.face has 3 or more corners; found 2"),
    "three ends": (lambda: contacts.edge("toe", SQUARE[:3]), "contacts.edge has two ends .*; found 3"),
    "two points": (lambda: contacts.point("toe", SQUARE[:2]), "contacts.point has one point .*; found 2"),
    "equal ends": (lambda: contacts.edge("toe", SQUARE[:1] * 2), "are the same point: move one"),
    "no size": (lambda: contacts.face("sole"), "has no size: give corners, or half_length and half_width"),
    "half a size": (lambda: contacts.face("sole", half_length=0.1), "has no size"),
    "both": (lambda: contacts.face("sole", SQUARE, half_length=0.1), "corners and half sides: give one"),
    "flat": (lambda: contacts.face("sole", half_length=0.1, half_width=0.0), "half width .* must be above 0 m"),
    "friction": (
        lambda: contacts.point("toe", friction=-0.1),
        "friction of the contact 'toe' .* not negative; found -0.1",
    ),
    "NaN": (lambda: contacts.point("toe", friction=NAN), "friction of the contact 'toe' .* found nan"),
    "infinite": (lambda: contacts.point("toe", friction=np.inf), "is a finite number that is not negative; found inf"),
    "torsional": (lambda: contacts.point("toe", torsional_friction=-1.0), "torsional friction .* in m; found -1.0"),
    "force": (lambda: contacts.point("toe", greatest_normal_force=-1.0), "greatest normal force .* in N; found -1.0"),
    "no normal": (lambda: contacts.point("toe", normal=(0, 0, 0)), "length 1, found 0: give a vector that is not zero"),
    "long normal": (lambda: contacts.point("toe", normal=(0, 0, 2)), "length 1, found 2: divide it by its norm"),
    "NaN normal": (lambda: contacts.point("toe", normal=(0, 0, NAN)), "the normal of the contact 'toe' must be finite"),
    "short normal": (lambda: contacts.point("toe", normal=(0, 1)), "3 numbers make a vector"),
    "corners": (lambda: contacts.face("sole", 3.0), "3 numbers make a vector; found 3.0"),
    "mode": (lambda: SOLE.with_mode("slidng"), "no mode of contacts named 'slidng': did you mean 'sliding'"),
    "cone": (lambda: contacts.point("toe", cone="round"), "no cone of contacts named 'round': .*wrench, corners"),
    "still": (lambda: SOLE.with_mode("sliding"), "slides along 1 or 2 directions; found 0: give directions="),
    "three ways": (lambda: SOLE.with_mode("sliding", [(1, 0, 0)] * 3), "1 or 2 directions; found 3"),
    "fixed ways": (lambda: SOLE.with_mode("fixed", (1, 0, 0)), "has directions of sliding but the mode 'fixed'"),
    "up": (lambda: SOLE.with_mode("sliding", (0, 0.6, 0.8)), "is 53.1° off the plane across the normal: take"),
    "long way": (lambda: SOLE.with_mode("sliding", (2, 0, 0)), "direction of sliding .* must have length 1, found 2"),
    "same way": (lambda: SOLE.with_mode("sliding", [(1, 0, 0), (-1, 0, 0)]), "along one line: leave one out"),
    "two edges": (lambda: contacts.point("toe", edges=2), "a friction pyramid has 3 to 64 edges; found 2"),
    "half an edge": (lambda: contacts.point("toe", edges=4.5), "are a whole number; found 4.5"),
    "frame": (lambda: contacts.point(None), "the frame of a contact is a text"),  # type: ignore[arg-type]
    "partner": (lambda: contacts.point("toe", partner=""), "the partner of the contact 'toe' is a text"),
    "name": (lambda: contacts.point("toe", name=3), "the name of a contact is a text"),  # type: ignore[arg-type]
    "no corners": (lambda: contacts.Contact("toe", ()), "has no corners: give 1, 2 or more points"),
    "wrench": (lambda: SOLE.holds([1.0, 2.0]), "the wrench of the contact 'sole' .* 6 numbers; found shape"),
    "NaN wrench": (lambda: SOLE.margins([NAN] * 6), "the wrench of the contact 'sole' must be finite"),
    "unknowns": (lambda: SOLE.wrench([1.0]), "the unknowns of the contact 'sole' .* 6 numbers"),
    "forces": (
        lambda: SOLE.wrench_of_forces(np.zeros((3, 3))),
        r"has 4 corners, so its forces have shape \(..., 4, 3\)",
    ),
    "crowd": (
        lambda: contacts.face("sole", [(np.cos(a), np.sin(a), 0.0) for a in np.arange(0, 6.2, 0.3)], edges=8).cone_rows,
        "21 corners with 8 pyramid edges each, too many .* cone='corners'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(case: str) -> None:
    call, sentence = REFUSED[case]
    with pytest.raises(dq.Error, match=sentence) as caught:
        call()
    assert str(caught.value).count(". ") <= 1


def test_errors_carry_their_data() -> None:
    with pytest.raises(dq.Error) as caught:
        contacts.face("sole", [*SQUARE, [0.02, 0, 0]], name="left")
    assert (caught.value.contact, caught.value.corner) == ("left", 5)
    with pytest.raises(dq.Error) as caught:
        contacts.face("sole", SQUARE, normal=(1, 0, 0))
    assert caught.value.found == pytest.approx(0.2)


def test_corners_may_come_in_any_order() -> None:
    crossed = contacts.face("sole", [SQUARE[i] for i in (0, 2, 1, 3)])
    ordered = contacts.face("sole", SQUARE)
    found, expected = (sorted(np.round(c.cone_rows.matrix, 12).tolist()) for c in (crossed, ordered))
    assert found == expected


def test_enumeration_without_scipy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("scipy", "control"))):
        len(contacts.edge("toe", SQUARE[:2]).cone_rows)
    assert len(contacts.face("sole", SQUARE).cone_rows) == 16  # a rectangle needs none


def test_bad_support() -> None:
    robot = dq.robots.humanoid()
    foot = contacts.face("left_foot", half_length=0.1, half_width=0.05)
    q = robot.neutral()
    with pytest.raises(dq.Error, match="no contact with the world is on"):
        contacts.support_polygon(robot, q, [foot.with_mode("off")])
    with pytest.raises(dq.StateError, match="the configuration has 34 finite numbers"):
        contacts.support_polygon(robot, q[:-1], [foot])
    with pytest.raises(dq.Error, match=r"list of values of dqdyn\.contacts; found 'left_foot'"):
        contacts.support_polygon(robot, q, ["left_foot"])  # type: ignore[list-item]
    with pytest.raises(dq.StateError, match=r"a point of the ground is \(x, y\) in m"):
        contacts.support_polygon(robot, q, [foot]).distance([0.0, 0.0, 0.0])
