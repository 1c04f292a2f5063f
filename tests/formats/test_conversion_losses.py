"""Random robots with random features, written to each format and read again: what differs is listed, and only that."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import random_description, random_q, run

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.formats.save import compose
from dqdyn.model.description import PER_AXIS, Joint
from dqdyn.model.per_axis import axis_motors, axis_values
from dqdyn.robot import Robot

SEEDS = [4, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(30) if seed != 4)]

ZERO = re.compile(r"the (effort|velocity) 0 of the joint '(.*)', which stands for no limit in URDF")


def featured(seed: int) -> Robot:
    """Hinges and slides, which keep their names in every format, with any of what a joint and a robot may have."""
    rng = np.random.default_rng(seed)

    def chance(p: float) -> bool:
        return bool(rng.uniform() < p)

    def joint(given: Joint) -> Joint:
        if given.kind == "fixed":
            return given
        changes: dict[str, Any] = {name: None for name in ("velocity", "effort") if chance(0.4)}
        changes |= {name: 0.0 for name in ("damping", "friction", "armature", "effort") if chance(0.3)}
        changes |= {"lower": None, "upper": None} if chance(0.3) else {"upper": None} if chance(0.2) else {}
        changes |= {"stiffness": float(rng.uniform(1, 9)), "rest": float(rng.uniform(-1, 1))} if chance(0.4) else {}
        changed = replace(given, **changes)
        if given.mimic is None and chance(0.4):
            motor = dq.Motor(*(float(rng.uniform(1, 9)) if chance(0.5) else math.inf for _ in range(2)), -2.0, "Ω")
            (effort,), (velocity,) = axis_values(changed, "effort"), axis_values(changed, "velocity")
            changed = replace(changed, motors=(motor.within(effort, velocity),) if chance(0.7) else ())
        return changed

    base = str(rng.choice(["fixed", "free", "planar"]))
    d = random_description(seed, int(rng.integers(3, 7)), ("revolute", "prismatic"), mimics=1, base=base)
    links, joints = [link.name for link in d.links], tuple(joint(one) for one in d.joints)
    moving = [one.name for one in joints if one.kind != "fixed" and one.mimic is None]
    d = d.with_changes(
        joints=joints,
        groups=(dq.Group("gröup", (moving[0],), (links[1],)),) if chance(0.3) else (),
        disabled_pairs=((links[0], links[-1]),) if chance(0.3) else (),
        gravity=(0.0, 1.0, -3.0) if chance(0.3) else d.gravity,
    )
    robot = Robot.from_description(d)
    if chance(0.4):
        robot = robot.with_postures({"höme": random_q(robot, rng), "zero": robot.neutral()})
    loops = [kinds.PointClosure("tool", "world", name="pin")] if chance(0.2) else []
    loops += [kinds.DistanceClosure("tool", "world", 1.2, name="rod")] if chance(0.2) else []
    loops += [kinds.JointCoupling((moving[0], moving[1]), (1.0, -2.0), 0.1, name="gears")] if chance(0.2) else []
    return robot.with_constraints(*loops, check=False) if loops else robot


def facts(robot: Robot) -> dict[str, Any]:
    """What a file is to keep, by the phrase that names it among the losses."""
    d = robot.description
    found: dict[str, Any] = {f"the posture {name!r}": 1 for name in robot.postures}
    found |= {f"the group {name!r}": joints for name, joints in robot.groups.items()}
    found |= {f"that {a!r} and {b!r} may touch": 1 for a, b in robot.disabled_pairs}
    found |= {f"the constraint {one.name!r}": 1 for one in robot.constraints}
    found[f"gravity {d.gravity}"] = 1
    for joint in d.joints:
        if joint.kind in ("revolute", "prismatic"):
            for name in PER_AXIS:
                (value,) = axis_values(joint, name)
                (motor,) = axis_motors(joint)
                if name in ("velocity", "effort") and motor:  # URDF has one place for the limits of both
                    value = min(value, getattr(motor, name))
                if name != "rest" or any(axis_values(joint, "stiffness")):
                    found[f"{name} of the {joint.kind} joint {joint.name!r}"] = value
            if joint.mimic is None:
                found[f"the motor of {joint.name}"] = [m and m.gear for m in axis_motors(joint)]
    for frame in ("tool", "camera"):
        x = run(robot, "pose", robot.neutral(), frame=frame)
        found[f"the frame {frame!r}"] = np.outer(x, x)  # x and −x are one pose
    found["the mass"] = robot.mass
    return found


def alike(one: Any, two: Any) -> bool:
    """Equal, up to the rounding of numbers."""
    if isinstance(one, (float, np.ndarray)):
        return bool(np.allclose(one, two, rtol=1e-12, atol=1e-12))
    return bool(one == two)


@pytest.mark.parametrize("ending", [".json", ".urdf", ".xml"])
@pytest.mark.parametrize("seed", SEEDS)
def test_differences_are_listed(seed: int, ending: str, tmp_path: Path) -> None:
    robot = featured(seed)
    written = compose(robot.model, f"robot{ending}")
    path = tmp_path / f"robot{ending}"
    path.write_text(written.text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        again = dq.load(path) if ending == ".json" else dq.load(path, base="fixed")
    assert ending == ".json" or not again.description.losses
    before, after = facts(robot), facts(again)
    differing = {what for what, value in before.items() if what not in after or not alike(after[what], value)}
    if any("that no joint has a motor" in loss for loss in written.losses):  # the rule of the file, not of one joint
        differing = {what for what in differing if not what.startswith("the motor of")} | {"that no joint has a motor"}
    # A rest is part of its spring, and a joint may bear more than its motor gives.
    differing = {what for what in differing if not what.startswith("rest of")}
    listed = {loss for loss in written.losses if "above that of its motor" not in loss}
    kinds_of = {joint.name: joint.kind for joint in robot.description.joints}
    listed = {ZERO.sub(lambda m: f"{m[1]} of the {kinds_of[m[2]]} joint {m[2]!r}", loss) for loss in listed}
    assert differing == listed - {"the stabilisation of the constraints"}


def test_groups_name_the_parts_of_joints_in_mjcf() -> None:
    """A cylindrical joint is two joints in MJCF: the file could not be read again when its group named the one."""
    d = random_description(3, 2, ("cylindrical", "revolute"))
    name = next(joint.name for joint in d.joints if joint.kind == "cylindrical")
    robot = Robot.from_description(d.with_changes(groups=(dq.Group("both", (name,)),)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        again = dq.load(compose(robot.model, "x.xml").text)
    assert again.groups == {"both": (f"{name}_rotation", f"{name}_translation")}


def test_limits_of_motors_on_free_joints_are_listed() -> None:
    d = random_description(3, 1, ("free",))
    joints = tuple(replace(j, motors=(dq.Motor(5.0),) * 6) if j.kind == "free" else j for j in d.joints)
    losses = compose(Robot.from_description(d.with_changes(joints=joints)).model, "x.urdf").losses
    assert any(loss.startswith("the limits of the motors of the free joint 'free_1'") for loss in losses)
