"""Names of frames on poses, twists and wrenches: what follows from them, and what they refuse."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from algebra_tools import assert_close, random_pose

from dqdyn.algebra.values import Pose, Twist, Wrench
from dqdyn.errors import Error

SCREWS: tuple[Any, ...] = (Twist, Wrench)
SIX = np.array([0.1, -0.2, 0.3, 1.0, 2.0, -3.0])
screws = pytest.mark.parametrize("kind", SCREWS)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(140)


def pose_of(rng: np.random.Generator, body: str | None, reference: str | None) -> Pose:
    return Pose(random_pose(rng), body=body, reference=reference)


# --- poses ------------------------------------------------------------------------------------------------------------


def test_poses_chain_their_frames(rng: np.random.Generator) -> None:
    x_ab, x_bc = pose_of(rng, "b", "a"), pose_of(rng, "c", "b")
    x_ac = x_ab * x_bc
    assert (x_ac.body, x_ac.reference) == ("c", "a")
    assert_close(x_ac.dq, x_ab.dq * x_bc.dq, tolerance=0.0)
    x_ba = x_ab.inverse()
    assert (x_ba.body, x_ba.reference) == ("a", "b")
    assert (x_ba * x_ac).frames == x_bc.frames


def test_poses_that_do_not_chain(rng: np.random.Generator) -> None:
    x_ab, x_ac = pose_of(rng, "b", "a"), pose_of(rng, "c", "a")
    with pytest.raises(Error, match="pose of 'b' and a pose in 'a' cannot be chained") as caught:
        x_ab * x_ac
    assert (caught.value.expected, caught.value.found) == ("b", "a")
    assert (x_ab.inverse() * x_ac).frames == ("c", "b")


def test_a_pose_that_was_not_named_chains_with_any(rng: np.random.Generator) -> None:
    x_ab, x = pose_of(rng, "b", "a"), pose_of(rng, None, None)
    assert (x_ab * x).frames == (None, "a")
    assert (x * x_ab).frames == ("b", None)
    assert (x * x).frames == (None, None)
    assert Pose.from_matrix(x_ab.matrix, body="b", reference="a").frames == x_ab.frames


# --- change of the frame of expression --------------------------------------------------------------------------------


@screws
def test_a_pose_moves_the_frame_of_expression(kind: Any, rng: np.random.Generator) -> None:
    x_ab = pose_of(rng, "b", "a")
    y = kind(SIX, body="body", reference="ground", expressed="b")
    moved = x_ab * y
    assert moved.frames == ("body", "ground", "a")
    assert_close(moved.vec6(), (x_ab.with_frames() * kind(SIX)).vec6(), tolerance=0.0)
    back = x_ab.inverse() * moved
    assert back.frames == y.frames
    assert_close(back.vec6(), SIX)
    with pytest.raises(Error, match=f"pose of 'b' does not move a {kind.__name__.lower()} expressed in 'a'"):
        x_ab * moved


@screws
def test_moved_by_a_pose_without_names(kind: Any, rng: np.random.Generator) -> None:
    """Where it went is unknown, so the old frame of expression is not kept."""
    moved = Pose(random_pose(rng)) * kind(SIX, body="body", expressed="b")
    assert moved.frames == ("body", None, None)
    assert (pose_of(rng, "b", "a") * kind(SIX)).expressed == "a"


@screws
def test_expressed_in_takes_the_pose_either_way_round(kind: Any, rng: np.random.Generator) -> None:
    x_ab = pose_of(rng, "b", "a")
    y = kind(SIX, body="body", expressed="b")
    for x in (x_ab, x_ab.inverse()):
        assert_close(y.expressed_in("a", x).vec6(), (x_ab * y).vec6())
        assert y.expressed_in("a", x).frames == ("body", None, "a")
    assert y.expressed_in("a", x_ab.with_frames()) == x_ab * y
    with pytest.raises(Error, match="from 'b' to 'c' needs the pose of one in the other; found the pose of 'b' in 'a'"):
        y.expressed_in("c", x_ab)


def test_power_needs_one_frame_of_expression(rng: np.random.Generator) -> None:
    x_ab = pose_of(rng, "b", "a")
    twist, wrench = Twist(SIX, expressed="b"), Wrench(SIX[::-1], expressed="b")
    assert (x_ab * twist).power(x_ab * wrench) == pytest.approx(twist.power(wrench), rel=1e-12)
    with pytest.raises(Error, match="twist expressed in 'b' and a wrench expressed in 'a'"):
        twist.power(x_ab * wrench)
    assert twist.power(Wrench(SIX[::-1])) == twist.power(wrench)


# --- sums -------------------------------------------------------------------------------------------------------------


@screws
def test_sums_keep_frames(kind: Any) -> None:
    names = {"body": "hand", "reference": "world", "expressed": "tool"}
    y = kind(SIX, **names)
    for result, factor in ((y + y, 2), (y - y, 0), (-y, -1), (3.0 * y, 3), (y * 3.0, 3)):
        assert result.frames == ("hand", "world", "tool")
        assert_close(result.vec6(), factor * SIX, tolerance=1e-15)
    for sum_ in (y + kind(SIX), kind(SIX) + y, kind(SIX, body="hand") + y.with_frames(reference="world")):
        assert sum_.body == "hand"
        assert sum_.reference == "world"
    assert (kind(SIX) + kind(SIX)).frames == (None, None, None)


MIXED: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "expressed": ({"expressed": "tool"}, {"expressed": "world"}),
    "body": ({"body": "left", "reference": "world"}, {"body": "right", "reference": "world"}),
    "body alone": ({"body": "left"}, {"body": "right"}),
    "reference": ({"body": "left", "reference": "table"}, {"body": "left", "reference": "world"}),
}


@screws
@pytest.mark.parametrize("what", MIXED)
def test_sums_that_mix_frames(kind: Any, what: str) -> None:
    a, b = (kind(SIX, **names) for names in MIXED[what])
    names = set(MIXED[what][0].values()) ^ set(MIXED[what][1].values())
    with pytest.raises(Error) as caught:
        a + b
    assert all(repr(name) in str(caught.value) for name in names)
    assert str(caught.value).count(".") == str(caught.value).count("(...)") * 3 + 1  # one sentence
    assert (a.with_frames() + b).frames == b.frames


@pytest.mark.parametrize("what", MIXED)
def test_differences_of_wrenches_that_mix_frames(what: str) -> None:
    a, b = (Wrench(SIX, **names) for names in MIXED[what])  # type: ignore[arg-type]
    with pytest.raises(Error):
        a - b


def test_twists_add_along_a_chain_of_bodies() -> None:
    """ξ of b against a plus ξ of c against b is ξ of c against a, in either order."""
    ab, bc = Twist(SIX, body="b", reference="a", expressed="e"), Twist(-2 * SIX, body="c", reference="b")
    for result in (ab + bc, bc + ab):
        assert result.frames == ("c", "a", "e")
        assert_close(result.vec6(), -SIX)
    ac = ab + bc
    assert (ac - ab).frames == ("c", "b", "e")  # two bodies against one reference
    assert (ac - bc).frames == ("b", "a", "e")  # one body against two references
    assert_close((ac - ab).vec6(), bc.vec6())
    assert_close((ac - bc).vec6(), ab.vec6())
    with pytest.raises(Error, match="of 'c' against 'd' and one of 'b' against 'a' do not add"):
        Twist(SIX, body="c", reference="d") - ab


# --- as Python values -------------------------------------------------------------------------------------------------

VALUES: dict[str, Callable[[], Any]] = {
    "pose": lambda: Pose(translation=[1, 2, 3], body="b", reference="a"),
    "twist": lambda: Twist(SIX, body="b", reference="a", expressed="e"),
    "wrench": lambda: Wrench(SIX, body="b", expressed="e"),
    "batch": lambda: Twist(np.tile(SIX, (2, 1)), expressed="e"),
    "nameless": lambda: Wrench(SIX),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_keep_their_frames(name: str) -> None:
    value = VALUES[name]()
    for twin in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value), eval(repr(value))):
        assert twin == value
        assert twin.frames == value.frames
        assert value.shape or hash(twin) == hash(value)
    batch = type(value).of_array(np.stack([value.vec8()] * 2), *value.frames)
    assert batch[1].frames == batch[..., :1].frames == value.frames


def test_equality_counts_frames() -> None:
    twist = Twist(SIX, body="b", expressed="e")
    assert twist == Twist(SIX, body="b", expressed="e")
    assert twist != Twist(SIX, body="c", expressed="e")
    assert twist != Twist(SIX)
    assert twist.with_frames() == Twist(SIX)
    assert Pose(body="b") != Pose(body="c")


def test_printing_names_known_frames_only() -> None:
    zeros = "force=[0.0, 0.0, 0.0], torque=[0.0, 0.0, 0.0]"
    assert repr(Wrench(body="b", expressed="e")) == f"Wrench({zeros}, body='b', expressed='e')"
    assert repr(Twist(reference="a")).endswith("linear=[0.0, 0.0, 0.0], reference='a')")
    assert repr(Pose(body="b", reference="a")).endswith("translation=[0.0, 0.0, 0.0], body='b', reference='a')")


@pytest.mark.parametrize("make", [Pose, Twist, Wrench, Twist().with_frames, Pose().with_frames])
def test_names_are_text(make: Callable[..., Any]) -> None:
    with pytest.raises(Error, match="given by its name, a text; found 3"):
        make(body=3)


def test_pickles_without_names_still_load() -> None:
    """Values pickled before they had names: the kind and its dual quaternion."""
    assert Twist.of(*Twist(SIX).__reduce__()[1][:1]) == Twist(SIX)
