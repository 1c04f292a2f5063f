"""The same scenes by time stepping and by MuJoCo.

MuJoCo's contacts are springs and dampers of a few milliseconds, and its friction creeps: bodies sink in by
micrometres, impacts last longer than a step, and what slides and spins comes to differ by millimetres. Time stepping
converges to the rigid motion (test_unilateral_motion); here both have to tell the same story.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from touching_bodies import G, ball, base_of, block, corners_of, feet, raised, tripod

import dqdyn as dq
from dqdyn import scenes
from dqdyn.model.description import Shape, placement
from dqdyn.robot import Robot
from dqdyn.simulate import RoundContact, Trajectory

SIZE = (0.3, 0.2, 0.1)
HARD = {"plant": "mujoco", "solref": (0.004, 1.0)}


def both(robot: Robot, touching: list[Any], scene: dq.Scene, duration: float, **start: Any) -> list[Trajectory]:
    ours = dq.simulate(robot, None, duration, 1e-3, contacts=touching, scene=scene, **start)
    return [ours, dq.simulate(robot, None, duration, 1e-3, scene=scene, **HARD, **start)]


@pytest.mark.parametrize("friction", [0.3, 0.6])
def test_block_on_a_slope(friction: float) -> None:
    """Both stick below the friction angle; above it they slide alike, though MuJoCo's block rattles by millimetres."""
    scene = dq.Scene([scenes.ground(friction=friction)])
    for angle, close in ((np.arctan(friction) - 0.1, 2e-5), (np.arctan(friction) + 0.2, 3e-3)):
        robot = block(SIZE).with_gravity([G * np.sin(angle), 0.0, -G * np.cos(angle)])
        ours, theirs = both(robot, [base_of(SIZE, 0.9)], scene, 0.3, q0=raised(robot, 0.05))
        assert np.abs(ours.q - theirs.q)[:, 4:].max() < close
        assert abs(ours.v[-1, 3] - theirs.v[-1, 3]) < 10 * close
        force = [run.extra["contact_force/block"][100:].mean(axis=0) for run in (ours, theirs)]
        np.testing.assert_allclose(force[0], force[1], atol=0.02 * 2.0 * G)


def test_ball_that_slides_and_rolls() -> None:
    robot, scene = ball(), dq.Scene([scenes.ground(friction=0.3)])
    start = {"q0": raised(robot, 0.1), "v0": [0.0, -5.0, 0.0, 2.0, 0.5, 0.0]}
    ours, theirs = both(robot, [RoundContact("ball", 0.1)], scene, 0.5, **start)
    np.testing.assert_allclose(ours.q[-1, 4:], theirs.q[-1, 4:], atol=1e-3)
    speeds = [robot.twist("ball", run.q[-1], run.v[-1], expressed="aligned").vec6() for run in (ours, theirs)]
    np.testing.assert_allclose(speeds[0], speeds[1], atol=0.03)


def test_tripod_that_slides_and_spins() -> None:
    robot, scene = tripod(), dq.Scene([scenes.ground(friction=0.3)])
    start = {"q0": raised(robot, 0.07), "v0": [0.0, 0.0, 4.0, 1.5, 0.0, 0.0]}
    ours, theirs = both(robot, feet(), scene, 0.4, **start)
    apart = np.abs(robot.difference(ours.q[-1], theirs.q[-1]))
    assert apart[2] < 0.05  # of 0.84 rad
    assert apart[3:].max() < 5e-3  # of 0.37 m


@pytest.mark.long
def test_block_falls_upon_its_base() -> None:
    """An impact on all corners at once: inelastic here, and nearly so there."""
    robot, scene = block(SIZE), dq.Scene([scenes.ground(friction=0.5)])
    ours, theirs = both(robot, corners_of(SIZE), scene, 0.4, q0=raised(robot, 0.15))
    landed = np.sqrt(2.0 * 0.1 / G)
    first = [run.time[int(np.argmax(run.extra["contacts"] > 0))] for run in (ours, theirs)]
    np.testing.assert_allclose(first, landed, atol=3e-3)
    np.testing.assert_allclose(ours.q[-1], theirs.q[-1], atol=1e-3)
    for run in (ours, theirs):
        assert abs(run.extra["normal_force/block"][-1] - 2.0 * G) < 0.1


def beaded_chain() -> tuple[Robot, list[RoundContact]]:
    """Three rods with a ball at every end, with damped hinges."""
    radius, rod = 0.02, dq.Inertia(0.3, (0.1, 0.0, 0.0), np.diag([1e-4, 1e-3, 1e-3]))
    ends = {"rod 1": (0.0, 0.2), "rod 2": (0.2,), "rod 3": (0.2,)}
    links = [
        dq.Link(name, rod, (), tuple(Shape("sphere", (radius,), placement((x, 0.0, 0.0))) for x in at))
        for name, at in ends.items()
    ]
    hinge = {"origin": placement((0.2, 0.0, 0.0)), "axis": (0.0, 1.0, 0.0), "damping": 0.02}
    joints = [dq.Joint(f"hinge {i}", "revolute", f"rod {i}", f"rod {i + 1}", **hinge) for i in (1, 2)]
    robot = Robot.from_description(dq.Description("chain", tuple(links), tuple(joints), (), "free"))
    beads = [RoundContact(name, radius, (x, 0.0, 0.0), name=f"{name} at {x}") for name, at in ends.items() for x in at]
    return robot, beads


@pytest.mark.long
def test_chain_falls_and_comes_to_rest() -> None:
    robot, beads = beaded_chain()
    q0 = robot.neutral()
    q0[6], q0[7:] = 0.15, [0.6, -0.9]
    ours, theirs = both(robot, beads, dq.Scene([scenes.ground(friction=0.6)]), 1.0, q0=q0)
    touched = [int(np.argmax(run.extra["contacts"] > 0)) for run in (ours, theirs)]
    assert abs(touched[0] - touched[1]) <= 2
    fallen = slice(0, touched[0] + 20)  # up to the first impact and shortly after it
    assert np.abs(robot.difference(ours.q[fallen], theirs.q[fallen])).max() < 0.03
    for run in (ours, theirs):
        heights = [run.robot.point(bead.frame, run.q[-1], bead.center).position[2] for bead in beads]
        assert max(heights) < 0.021  # flat on the ground
        assert run.energy[-1] == pytest.approx(0.9 * G * 0.02, abs=0.01)
    assert min(gap.min() for name, gap in ours.extra.items() if name.startswith("gap/")) > -1e-4


@pytest.mark.long
def test_stairs_and_a_wall() -> None:
    robot = block(SIZE)
    scene = dq.Scene(
        [
            scenes.ground(),
            *scenes.stairs(2, 0.1, 0.5, friction=0.4),
            scenes.wall((1.0, 0, 0.2), (-1, 0, 0), friction=0.4),
        ]
    )
    q0 = raised(robot, 0.255)
    q0[4] = 0.75
    start = {"q0": q0, "v0": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]}
    ours, theirs = both(robot, corners_of(SIZE), scene, 0.4, **start)
    assert np.abs(ours.q[-1, 4:] - theirs.q[-1, 4:]).max() < 0.01
    for run in (ours, theirs):
        assert abs(run.q[-1, 6] - 0.25) < 1e-3
        assert np.abs(run.v[-1]).max() < 0.02


@pytest.mark.long
def test_contacts_do_what_shapes_do() -> None:
    """Contacts with the frame of a face, from the same motion: the normal force that carries the block."""
    robot, scene = block(SIZE), dq.Scene([scenes.ground(friction=0.8)])
    pushed = {"wrenches": {"block": [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]}}
    ours, theirs = both(robot, [base_of(SIZE, 0.8)], scene, 0.2, q0=raised(robot, 0.05), **pushed)
    np.testing.assert_allclose(ours.extra["contact_force/block"][-1], [-3.0, 0.0, 2.0 * G], atol=1e-4)
    np.testing.assert_allclose(theirs.extra["contact_force/block"][-1], [-3.0, 0.0, 2.0 * G], atol=0.05)
    wrench = ours.extra["wrench/base"][-1]
    assert base_of(SIZE, 0.8).holds(wrench)
