"""Frames at the ends of branches that turn about their joints: fewer operations, the same forces."""

from __future__ import annotations

import numpy as np
import pytest
from trees import assert_close, random_inertia, random_robot, random_state, run

from dqdyn import robots
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import ONE, pure
from dqdyn.compile.trace.program import Counts
from dqdyn.compile.trace.tracer import trace
from dqdyn.dynamics.methods import FORWARD, INVERSE, MASS_MATRIX
from dqdyn.model.canonical import in_cheap_frames
from dqdyn.model.description import Description, Joint, Link, Mimic
from dqdyn.model.inertia import Inertia, Vector, as_vector, box
from dqdyn.model.leaves import with_turned_leaves
from dqdyn.robot import Robot

AXES = [as_vector(sign * row) for row in np.eye(3) for sign in (1.0, -1.0)]
SKEW = (0.6, 0.0, 0.8)


def arm(axis: Vector, last: Inertia | None = None, mimic: bool = False) -> Robot:
    """Two revolute joints along z, then one along the axis; all with inertias anyhow unless the last is given."""
    rng = np.random.default_rng(3)
    links = [Link(f"link_{i}", random_inertia(rng)) for i in range(3)]
    links.append(Link("link_3", last or random_inertia(rng)))
    place = [pose(ONE, pure(*(float(c) for c in rng.uniform(-0.5, 0.5, 3)))) for _ in range(3)]
    joints = [
        Joint(
            f"j{i}",
            "revolute",
            f"link_{i}",
            f"link_{i + 1}",
            place[i],
            damping=0.1,
            axis=axis if i == 2 else (0.0, 0.0, 1.0),
        )
        for i in range(3)
    ]
    if mimic:
        joints[2] = Joint(**{**joints[2].__dict__, "mimic": Mimic("j1", 0.5, 0.1)})
    return Robot.from_description(Description("leaf", tuple(links), tuple(joints)), strict=True)


@pytest.mark.parametrize("axis", [*AXES, SKEW])
def test_all_methods_give_the_same(axis: Vector) -> None:
    ours = arm(axis)
    q, v, a = random_state(ours, np.random.default_rng(4))
    tau, mass = run(ours, "inverse_dynamics", q, v, a), run(ours, "mass_matrix", q)
    for method in ("auto", *INVERSE):
        assert_close(ours.inverse_dynamics(q, v, a, method=method), tau, 1e-12)
    for method in ("auto", *FORWARD):
        assert_close(ours.forward_dynamics(q, v, tau, method=method), a, 1e-12)
    for method in ("auto", *MASS_MATRIX):
        assert_close(ours.mass_matrix(q, method=method), mass, 1e-12)
    for name, given in (("bias_forces", (q, v)), ("gravity_forces", (q,)), ("inverse_dynamics_derivatives", (q, v, a))):
        assert_close(np.array(getattr(ours, name)(*given)), run(ours, name, *given), 1e-11)


@pytest.mark.parametrize("axis", AXES)
def test_center_of_mass_comes_to_lie_in_a_plane(axis: Vector) -> None:
    model = arm(axis).model
    turned = with_turned_leaves(model.with_frames(()))
    old, new = model.bodies[2].inertia, turned.bodies[2].inertia
    assert new.com.count(0.0) == 1
    assert new.mass == old.mass
    assert_close(np.array(new.com) @ axis, np.array(old.com) @ axis, 1e-15)
    assert_close(np.linalg.norm(new.com), np.linalg.norm(old.com), 1e-15)
    assert_close(new.principal_moments(), old.principal_moments(), 1e-14)
    assert turned.bodies[:2] == model.bodies[:2]
    assert [joint.placement for joint in turned.joints] == [joint.placement for joint in model.joints]


def test_operations_that_a_turn_saves() -> None:
    """Three levers to the center of mass have a zero, which saves two products and two sums each; the angle takes one.

    The last body of the seven-axis chain moves in every way, so nothing else is zero.
    """
    model = random_robot(32, 7, ("revolute",)).model

    def counts(frames: tuple[str, ...]) -> Counts:
        on = in_cheap_frames(model.with_frames(frames))
        form = lambda *x: (INVERSE["newton-euler"](on, *x), (7,))
        return trace("newton_euler", [("q", 7), ("v", 7), ("a", 7)], form).counts

    leaves = set(range(7)) - {joint.parent for joint in model.joints}
    held, free = counts(tuple(model.frames)), counts(())
    assert held.mul - free.mul == 6 * len(leaves)
    assert held.add - free.add >= 5 * len(leaves)


def test_named_frames_that_are_used_hold_their_body() -> None:
    model = arm((0.0, 0.0, 1.0)).model
    assert with_turned_leaves(model) is model
    for names, turns in (((), True), (("link_2",), True), (("link_2", "link_3"), False)):
        kept = model.with_frames(names)
        assert tuple(kept.frames) == names
        assert (with_turned_leaves(kept) is not kept) == turns


def test_constraints_keep_all_frames() -> None:
    model = robots.four_bar().model
    assert model.constraints
    assert model.with_frames(()) is model


@pytest.mark.parametrize("name", ["mimic", "skew axis", "center of mass in a plane", "symmetric", "rounded"])
def test_bodies_that_stay(name: str) -> None:
    """Where turning would cost a shared sine, or brings no zero."""
    rounded = Inertia(1.0, (1e-18, 1e-19, 0.1), ((0.2, 1e-18, 0.0), (1e-18, 0.3, 0.0), (0.0, 0.0, 0.4)))
    ours = {
        "mimic": lambda: arm((0.0, 0.0, 1.0), mimic=True),
        "skew axis": lambda: arm(SKEW),
        "center of mass in a plane": lambda: arm((0.0, 0.0, 1.0), box(1.0, (0.1, 0.2, 0.3), (0.1, 0.0, 0.2))),
        "symmetric": lambda: arm((0.0, 0.0, 1.0), box(1.0, (0.1, 0.2, 0.3), (0.0, 0.0, 0.2))),
        "rounded": lambda: arm((0.0, 0.0, 1.0), rounded),
    }[name]()
    bare = ours.model.with_frames(())
    assert with_turned_leaves(bare) is bare


def test_principal_axis_where_the_center_of_mass_is_on_the_axis() -> None:
    tensor = ((0.2, 0.05, 0.0), (0.05, 0.3, 0.0), (0.0, 0.0, 0.4))
    ours = arm((0.0, 0.0, 1.0), Inertia(1.0, (0.0, 0.0, 0.1), tensor))
    turned = with_turned_leaves(ours.model.with_frames(())).bodies[2].inertia
    assert turned.tensor[0][1] == turned.tensor[1][0] == 0.0
    assert turned.com == (0.0, 0.0, 0.1)
    q, v, a = random_state(ours, np.random.default_rng(5))
    for method in ("auto", "newton-euler"):
        assert_close(ours.inverse_dynamics(q, v, a, method=method), run(ours, "inverse_dynamics", q, v, a), 1e-13)
