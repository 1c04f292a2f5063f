"""The robots that stand: our humanoids, and the Talos of the package example-robot-data."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import dqdyn as dq
from benchmarks.robots import TALOS, example_robots
from dqdyn.analysis.standing.setting import Standing, balanced, humanoid, multi_contact_humanoid


def talos() -> Standing:
    """The reduced Talos, 90.3 kg, in the half-sitting posture of its makers; feet of 20 cm × 13 cm.

    Its meshes give way to boxes at the soles and to balls at knees, hands, elbows, pelvis and chest, so that a fall is
    felt. Its joints have the damping and the Coulomb friction of its file, which the controller does not know: torques
    against friction · sign(v) would shake joints that are at rest.
    """
    soles, angles = ("left_sole_link", "right_sole_link"), {"torso_2_joint": 0.006761}
    plant = _talos_on_boxes(soles)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        legs, arms = {3: -0.411354, 4: 0.859395, 5: -0.448041}, {1: 0.25 * sign, 2: 0.173 * sign, 4: -0.525366}
        angles |= {f"leg_{side}_{i}_joint": angle for i, angle in legs.items()}
        angles |= {f"arm_{side}_{i}_joint": angle for i, angle in arms.items()} | {f"gripper_{side}_joint": -0.1}
    return balanced(
        Standing(
            plant.without_friction(), plant, np.zeros(0), soles, soles, 0.10, 0.065,
            "base_link", "torso_2_link", ("gripper_left_base_link", "gripper_right_base_link"),
        ),
        angles,
        [(f"leg_{side}_5_joint", f"leg_{side}_3_joint") for side in ("left", "right")],
    )  # fmt: skip


def _talos_on_boxes(soles: tuple[str, str]) -> dq.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        robot = dq.load(example_robots() / TALOS, base="free")
    radii = {"base_link": 0.15, "torso_2_link": 0.2}
    for side in ("left", "right"):
        radii |= {f"leg_{side}_4_link": 0.06, f"arm_{side}_4_link": 0.05, f"arm_{side}_7_link": 0.05}
    shapes: dict[str, list[dq.Shape]] = {link.name: [] for link in robot.description.links if link.collisions}
    shapes |= {link: [dq.Shape("sphere", (radius,))] for link, radius in radii.items()}
    box = dq.Shape("box", (0.20, 0.13, 0.02), dq.placement((0.0, 0.0, 0.01)))
    return robot.with_collisions(shapes | {sole: [box] for sole in soles})


ROBOTS: dict[str, Callable[[], Standing]] = {
    "humanoid": humanoid,
    "multi-contact": multi_contact_humanoid,
    "talos": talos,
}
