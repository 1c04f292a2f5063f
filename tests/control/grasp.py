"""Two trees in one model: a hand with two fingers, on a gantry or on a base of its own, and a box that is free."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import dqdyn as dq
from dqdyn import contacts

_WORLD = """
<mujoco model="hand_and_box">
  <worldbody>
    <body name="stand" pos="0 0 0.5">
      {free}
      <inertial pos="0 0 0" mass="4" diaginertia="0.05 0.05 0.05"/>
      <body name="wrist">
        <joint name="x" type="slide" axis="1 0 0"/>
        <joint name="y" type="slide" axis="0 1 0"/>
        <joint name="z" type="slide" axis="0 0 1"/>
        <inertial pos="0 0 0" mass="0.5" diaginertia="0.005 0.005 0.005"/>
        <body name="left_finger" pos="0 0.15 -0.2">
          <joint name="left" type="slide" axis="0 1 0"/>
          <inertial pos="0 0 0.05" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>
          <site name="left_pad" pos="0 -0.1 0"/>
        </body>
        <body name="right_finger" pos="0 -0.15 -0.2">
          <joint name="right" type="slide" axis="0 1 0"/>
          <joint name="turn" type="hinge" axis="0 0 1"/>
          <inertial pos="0 0 0.05" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>
          <site name="right_pad" pos="0 0.1 0"/>
        </body>
      </body>
    </body>
    <body name="box" pos="0 0 0.3">
      <freejoint name="box_joint"/>
      <inertial pos="0.01 0 -0.01" mass="0.4" diaginertia="4e-4 5e-4 6e-4"/>
      <site name="bottom" pos="0 0 -0.05"/>
    </body>
  </worldbody>
</mujoco>
"""
PAD = {"half_length": 0.02, "half_width": 0.02, "friction": 0.8}
LEFT = contacts.face("left_pad", normal=(0, 1, 0), partner="box", **PAD)
RIGHT = contacts.point("right_pad", normal=(0, -1, 0), partner="box", friction=0.8)
RIGHT_FACE = contacts.face("right_pad", normal=(0, -1, 0), partner="box", **PAD)
TABLE = contacts.face("bottom", half_length=0.05, half_width=0.05, friction=0.5)
STAND = contacts.face("stand", half_length=0.3, half_width=0.3)
BOX_MASS, BOX_CENTER = 0.4, np.array([0.01, 0.0, -0.01])
BOX_INERTIA = np.diag([4e-4, 5e-4, 6e-4])


@cache
def hand_and_box(base: str = "fixed") -> tuple[dq.Robot, np.ndarray]:
    """The robot, and a configuration at which the pads touch the box, which stands at 0.25 m."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hand.xml"
        path.write_text(_WORLD.format(free='<freejoint name="stand_joint"/>' if base == "free" else ""))
        robot = dq.load(path)
    q = robot.neutral()
    for joint, height in (("stand_joint", 0.5), ("box_joint", 0.3)):
        for found in robot.joints:
            if found.name == joint:
                q[found.q] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, height]
    return robot, q


def box_part(robot: dq.Robot) -> tuple[slice, slice]:
    """Where the box is in q and in v."""
    joint = next(joint for joint in robot.joints if joint.name == "box_joint")
    return joint.q, joint.v
