"""What users may give to dynamics through Robot, and what they are told when it cannot be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from trees import (
    assert_close,
    random_inertia,
    random_placement,
    random_robot,
    random_state,
    random_unit,
    run,
    tree,
)

import dqdyn as dq
from dqdyn import Pose, Twist, Wrench
from dqdyn.errors import Error, ModelError, StateError, UnknownNameError
from dqdyn.model.description import Description, Joint, Link
from dqdyn.model.inertia import Inertia
from dqdyn.robot import Robot

ROBOT = random_robot(51, 4, ("revolute", "prismatic", "universal", "spherical"), mimics=1)
Q, V, A = random_state(ROBOT, np.random.default_rng(1))
W = np.arange(1.0, 7.0)
CALLS = {
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "v"),
    "bias_forces": ("q", "v"),
    "gravity_forces": ("q",),
    "kinetic_energy": ("q", "v"),
    "potential_energy": ("q",),
    "energy": ("q", "v"),
    "inverse_dynamics_derivatives": ("q", "v", "a"),
    "forward_dynamics_derivatives": ("q", "v", "tau"),
}
GOOD = {"q": Q, "v": V, "a": A, "tau": A}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages do not depend on the compiler, which would take its time; the door of machine code has tests."""
    monkeypatch.setenv("DQDYN_NATIVE", "0")


@pytest.mark.parametrize("name", CALLS)
def test_sizes_and_numbers(name: str) -> None:
    method = getattr(ROBOT, name)
    for which in CALLS[name]:
        for bad, words in (
            (GOOD[which][:-1], "has . components"),
            (np.append(GOOD[which], 0.0), "has . components"),
            (3.0, "has . components"),
            (GOOD[which] * np.nan, r"\[0\] .* is nan"),
            (GOOD[which] + np.inf, r"\[0\] .* is inf"),
            (["a"] * len(GOOD[which]), "real numbers|numbers or symbols"),
            (GOOD[which] * 1j, "real numbers"),
            ([GOOD[which], GOOD[which][:-1]], "rows of different lengths|has . components"),
        ):
            given = [bad if n == which else GOOD[n] for n in CALLS[name]]
            with pytest.raises(StateError, match=f"^{which}.*({words})") as caught:
                method(*given)
            assert caught.value.argument == which


@pytest.mark.parametrize("name", [name for name in CALLS if len(CALLS[name]) > 1])
def test_batches_that_do_not_fit(name: str) -> None:
    given = [np.broadcast_to(GOOD[n], (2 + i, len(GOOD[n]))) for i, n in enumerate(CALLS[name])]
    with pytest.raises(StateError, match=r"batches that do not fit together: q \(2, "):
        getattr(ROBOT, name)(*given)


def test_quaternions_must_be_of_norm_one() -> None:
    ball = next(joint for joint in ROBOT.joints if joint.kind == "spherical")
    bad = Q.copy()
    bad[ball.q] *= 1.1
    with pytest.raises(StateError, match=f"quaternion of joint {ball.name!r}.* has norm 1.1"):
        ROBOT.inverse_dynamics(bad, V, A)


def test_configurations_outside_the_limits_are_allowed() -> None:
    limited = tree("one axis")
    q = limited.limits.upper + 0.7
    zero = np.zeros(limited.nv)
    assert_close(limited.inverse_dynamics(q, zero, zero), run(limited, "gravity_forces", q), 1e-12)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix"])
def test_unknown_methods_are_told_with_the_known_ones(name: str) -> None:
    given = [GOOD[n] for n in CALLS[name]]
    with pytest.raises(UnknownNameError, match=f"no method of {name} named 'zzz': known: auto, ") as caught:
        getattr(ROBOT, name)(*given, method="zzz")
    assert caught.value.name == "zzz"
    with pytest.raises(UnknownNameError, match=r"did you mean 'auto'\? Known: auto, .*[a-z]\.$"):
        getattr(ROBOT, name)(*given, method="atuo")
    with pytest.raises(Error, match=f"the method of {name} is a name( or a function)?, such as '.*; found None"):
        getattr(ROBOT, name)(*given, method=None)


def test_articulated_bodies_refuse_mimic_joints() -> None:
    follower = next(joint.name for joint in ROBOT.joints if joint.is_mimic)
    for attempt in (
        lambda: ROBOT.forward_dynamics(Q, V, A, method="articulated-body"),
        lambda: ROBOT.forward_dynamics(Q, V, A, {"tool": W}, method="articulated-body"),
        lambda: ROBOT.function("forward_dynamics", method="articulated-body"),
    ):
        with pytest.raises(ModelError, match=f"cannot treat joint {follower!r}.*'composite-body'") as caught:
            attempt()
        assert caught.value.joint == follower


BAD_WRENCHES: dict[str, tuple[Any, type[Error], str]] = {
    "no mapping": ([W], StateError, "wrenches maps frames to .*found list"),
    "an array": (W, StateError, "wrenches maps frames to .*found ndarray"),
    "unknown frame": ({"toool": W}, UnknownNameError, "did you mean 'tool'"),
    "too short": ({"tool": W[:5]}, StateError, r"'tool' is \[f, τ\] with 6 components; found shape \(5,\)"),
    "a number": ({"tool": 3.0}, StateError, r"6 components; found shape \(\)"),
    "nothing": ({"tool": None}, StateError, "'tool' must be real numbers or symbols"),
    "text": ({"tool": "abcdef"}, StateError, "'tool' must be real numbers"),
    "six texts": ({"tool": list("abcdef")}, StateError, "must be real numbers"),
    "complex": ({"tool": W * 1j}, StateError, "must be real numbers"),
    "ragged": ({"tool": [W, W[:2]]}, StateError, "'tool' has rows of different lengths"),
    "nan": ({"tool": W, "camera": W * np.nan}, StateError, "wrench at frame 'camera' is not finite"),
    "infinite": ({"tool": W - np.inf}, StateError, "wrench at frame 'tool' is not finite"),
    "a twist": ({"tool": Twist(W)}, StateError, "is a Wrench or six numbers"),
    "a pose": ({"tool": Pose()}, StateError, "is a Wrench or six numbers"),
    "batches": (
        {"tool": np.zeros((2, 6)), "camera": np.zeros((3, 6))},
        StateError,
        r"wrenches have batches that do not fit together: 'tool' \(2, 6\), 'camera' \(3, 6\)",
    ),
}


@pytest.mark.parametrize("what", BAD_WRENCHES)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_bad_wrenches(name: str, what: str) -> None:
    wrenches, kind, words = BAD_WRENCHES[what]
    with pytest.raises(kind, match=words):
        getattr(ROBOT, name)(Q, V, A, wrenches)


def test_batches_of_wrenches_and_states_must_fit() -> None:
    with pytest.raises(StateError, match="batches that do not fit together"):
        ROBOT.inverse_dynamics(np.array([Q, Q]), V, A, {"tool": np.zeros((3, 6))})


@pytest.mark.parametrize("expressed", ["world", "local", 3])
def test_wrenches_are_at_the_frame_in_its_axes_or_aligned(expressed: Any) -> None:
    with pytest.raises(UnknownNameError, match=r"no expression .*: known: body, aligned"):
        ROBOT.inverse_dynamics(Q, V, A, {"tool": W}, expressed=expressed)


def test_good_wrenches() -> None:
    """Values, lists, integers, frames as keys, batches that broadcast, symbols; NaN with check=False."""
    expected = ROBOT.inverse_dynamics(Q, V, A, {"tool": W})
    for same in (Wrench(W), list(W), W.astype(int), tuple(W)):
        assert_close(ROBOT.inverse_dynamics(Q, V, A, {"tool": same}), expected, 0)
    by_frame: Any = {ROBOT.frames["tool"]: W}
    assert_close(ROBOT.inverse_dynamics(Q, V, A, by_frame), expected, 0)
    found = ROBOT.inverse_dynamics(Q, V, A, {"tool": np.tile(W, (4, 1)), "camera": 0 * W})
    assert_close(found, np.tile(expected, (4, 1)), 1e-14)
    assert np.isnan(ROBOT.inverse_dynamics(Q, V, A, {"tool": W * np.nan}, check=False)).any()
    symbols = sympy.symbols("w:6")
    symbolic = ROBOT.inverse_dynamics(Q, V, A, {"tool": symbols})
    values = dict(zip(symbols, W, strict=True))
    assert_close([float(sympy.sympify(e).subs(values)) for e in symbolic], expected, 1e-12)


def test_a_massless_subtree_is_named() -> None:
    """The joint behind which nothing has inertia; inverse dynamics goes on, and a payload or lock makes it whole."""
    body = Inertia(1.0, (0.1, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    links = (Link("base"), Link("a", body), Link("b"), Link("c"))
    joints = (
        Joint("shoulder", "revolute", "base", "a"),
        Joint("wrist", "revolute", "a", "b", axis=(1.0, 0.0, 0.0)),
        Joint("finger", "prismatic", "b", "c", axis=(1.0, 0.0, 0.0)),
    )
    ours = Robot.from_description(Description("light hand", links, joints))
    zero = np.zeros(3)
    assert np.isfinite(ours.inverse_dynamics(zero, zero, zero + 1.0)).all()
    for attempt in (ours.forward_dynamics, ours.forward_dynamics_derivatives):
        with pytest.raises(ModelError, match=r"joint 'finger' moves no inertia.*give its links mass, or lock it"):
            attempt(zero, zero, zero)
    loaded = ours.with_payload("c", 0.5, (0.0, 0.1, 0.2), (0.01, 0.01, 0.01))
    assert_close(loaded.inverse_dynamics(zero, zero, loaded.forward_dynamics(zero, zero, zero)), zero, 1e-12)
    locked = ours.lock({"finger": 0.0, "wrist": 0.0})
    assert np.isfinite(locked.forward_dynamics([0.1], [0.2], [0.3])).all()


def test_armature_alone_is_inertia() -> None:
    """A massless link on a rotor accelerates: M is regular."""
    links = (Link("base"), Link("a"))
    joint = Joint("motor", "revolute", "base", "a", armature=0.5)
    ours = Robot.from_description(Description("motor", links, (joint,)))
    assert_close(ours.forward_dynamics([0.0], [0.0], [1.0]), [2.0], 1e-14)


def test_a_massless_link_between_two_joints_on_one_axis_is_named() -> None:
    """Nothing is zero there but the pivot of M, and that only up to rounding."""
    rng = np.random.default_rng(4)
    axis = random_unit(rng)
    joints = (
        Joint("arm", "revolute", "base", "a", random_placement(rng), random_unit(rng)),
        Joint("inner", "revolute", "a", "b", random_placement(rng), axis),
        Joint("outer", "revolute", "b", "c", axis=axis),
    )
    links = (Link("base"), Link("a", random_inertia(rng)), Link("b"), Link("c", random_inertia(rng)))
    ours = Robot.from_description(Description("coaxial", links, joints))
    mass = ours.mass_matrix(np.full(3, 0.4))
    assert np.diag(mass).min() > 1e-3
    with pytest.raises(ModelError, match="joint 'inner' moves no inertia"):
        ours.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))


def test_a_list_is_no_method() -> None:
    robot = dq.robots.two_link()
    with pytest.raises(dq.Error, match=r"method of mass_matrix is a name.*\['gauss'\]"):
        robot.mass_matrix([0.1, 0.2], method=["gauss"])
