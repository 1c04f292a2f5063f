"""Constraints that ask for nothing: their rows are rounding errors, which must not bind the robot."""

from __future__ import annotations

import numpy as np
import pytest
from constraint_robots import written
from trees import assert_close, random_inertia, random_placement, random_state, run

from dqdyn import DQ
from dqdyn import constraints as kinds
from dqdyn.model.description import Description, Joint, Link, NamedFrame
from dqdyn.robot import Robot

METHODS = ("kkt", "udwadia-kalaba", "kane")


def arm(kind: str) -> Robot:
    """Two joints; the frame "hole" of the first link is put where the frame "pin" of the second is, at its joint."""
    rng = np.random.default_rng(4)
    links = (Link("base"), Link("first", random_inertia(rng)), Link("second", random_inertia(rng)))
    joints = (
        Joint("shoulder", "spherical", "base", "first", random_placement(rng)),
        Joint("elbow", kind, "first", "second", random_placement(rng)),
    )
    robot = Robot.from_description(Description("arm", links, joints, (NamedFrame("pin", "second"),)))
    q = robot.random_configuration(rng)
    first, pin = (DQ(run(robot, "pose", q, frame=frame)) for frame in ("first", "pin"))
    return robot.add_frame("hole", "first", first.conj() * pin)  # up to rounding


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("kind", "closure"),
    [
        ("spherical", kinds.PointClosure("pin", "hole")),
        ("revolute", kinds.PointClosure("pin", "hole")),
        ("revolute", kinds.AxisClosure("pin", "hole", slide=False)),
    ],
)
def test_closing_what_a_joint_holds_anyway_changes_nothing(kind: str, closure: kinds.Constraint, method: str) -> None:
    free = arm(kind)
    bound = free.with_constraints(closure, check=False)
    for seed in range(5):
        q, v, tau = random_state(free, np.random.default_rng(seed))
        expected = run(free, "forward_dynamics", q, v, tau)
        assert_close(written(bound, method, q, 30.0 * v, tau), run(free, "forward_dynamics", q, 30.0 * v, tau), 1e-9)
        assert_close(written(bound, method, q, v, tau), expected, 1e-9)


@pytest.mark.parametrize("kind", ["spherical", "revolute"])
def test_what_is_told_of_such_rows(kind: str) -> None:
    free = arm(kind)
    bound = free.with_constraints(kinds.PointClosure("pin", "hole"), check=False)
    q, v, _ = random_state(free, np.random.default_rng(1))
    found = bound.constraint_report(q, v)
    assert (found.rank, len(found.dependences), found.freedom) == (0, 3, free.nv)
    assert bound.reduced_dynamics(q, v).freedom == free.nv
    assert_close(bound.constraint_projector(q), np.eye(free.nv), 1e-12)
