"""Whole robots on the ground: random ones that fall, and legs that stand by whole-body control."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_base_estimator import biped
from trees import random_robot

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.algebra.scalar import cos
from dqdyn.simulate import BaseEstimator, EstimatedBase, SensorNoise

KINDS = ("revolute", "prismatic", "universal", "spherical", "cylindrical")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_random_robots_fall(seed: int) -> None:
    """Impulses are found at every step, nothing sinks in, and no energy is gained."""
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, int(rng.integers(1, 5)), KINDS, base="free")
    touching = [
        contacts.point(
            body.name,
            rng.uniform(-0.2, 0.2, 3),
            name=f"{body.name} {i}",
            friction=rng.uniform(0.0, 1.2),
            torsional_friction=rng.choice([0.0, 0.01]),
        )
        for body in robot.model.bodies
        for i in range(3)
    ]
    q0 = robot.random_configuration(rng)
    q0[6] -= min(robot.point(c.frame, q0, c.corners[0]).position[2] for c in touching) - 0.02
    run = dq.simulate(robot, None, 0.25, 1e-3, q0=q0, contacts=touching, ground=0.0)
    assert run.finished
    assert min(gap.min() for name, gap in run.extra.items() if name.startswith("gap/")) > -1e-4
    assert run.extra["contacts"].max() >= 1
    assert run.energy.max() < run.energy[0] + 1e-2 * run.kinetic.max()


@pytest.mark.long
def test_legs_sway_on_their_estimate() -> None:
    """The same contacts for the controller, the plant and the estimator; noisy sensors, no truth."""
    robot, step = biped(), 2e-3
    q0 = robot.neutral()
    for joint in robot.joints:
        bend = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}.get(joint.name.partition("_")[2])
        if bend is not None:
            q0[joint.q.start] = bend
    q0[6] -= robot.pose("left_foot", q0).translation[2]
    start, turn = robot.center_of_mass(q0), 2.0 * np.pi * 0.5

    def sway(t: Any) -> list[Any]:
        return [start[0], start[1] + 0.015 * (1.0 - cos(turn * t)), start[2]]

    soles = [contacts.face(f"{side}_foot", half_length=0.1, half_width=0.05) for side in ("left", "right")]
    tasks = [ct.CenterOfMassTask(sway, weight=10.0, gain=4.0), ct.PostureTask(q0, weight=0.1, gain=3.0)]
    controller = ct.whole_body_controller(robot, tasks, contacts=soles)
    noise = SensorNoise(2e-4, 0.02, 5e-3, 0.05, (0.01, -0.02, 0.015))
    estimated = EstimatedBase(controller, BaseEstimator(robot, soles, "sensor", step), noise)
    run = dq.simulate(robot, estimated, 2.0, step, q0=q0, contacts=soles, ground=0.0)
    assert run.status == "finished"
    wanted = 0.015 * (1.0 - np.cos(turn * run.time))
    assert np.abs(robot.center_of_mass(run.q)[:, 1] - start[1] - wanted).max() < 8e-3
    feet = np.array([robot.pose(f"{side}_foot", run.q).translation for side in ("left", "right")])
    assert np.abs(feet - feet[:, :1]).max() < 2e-3
    error = np.abs(run.extra["estimation_error"])
    assert error[:, :3].max() < 5e-3
    assert error[:, 3:].max() < 5e-3
    weight = sum(run.extra[f"wrench/{side}_foot"][:, 2] for side in ("left", "right"))
    assert abs(weight[500:].mean() / (robot.mass * 9.81) - 1.0) < 0.01
