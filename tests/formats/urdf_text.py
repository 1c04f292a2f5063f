"""A small valid URDF that tests change in one place."""

from __future__ import annotations

INERTIAL = (
    '<inertial><origin xyz="0 0 0.1"/><mass value="2"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>'
)

ARM = f"""<?xml version="1.0"?>
<robot name="arm">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"/>
  <link name="upper">{INERTIAL}
    <visual><origin xyz="0 0 0.1" rpy="0 0 0"/><geometry><box size="0.1 0.1 0.2"/></geometry>
      <material name="red"/></visual>
    <collision><geometry><cylinder radius="0.05" length="0.2"/></geometry></collision>
  </link>
  <link name="lower">{INERTIAL}</link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.25"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 1 0"/><mimic joint="shoulder" multiplier="-2" offset="0.5"/>
  </joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0 0 0.2"/></joint>
</robot>
"""


def changed(old: str, new: str) -> str:
    """The arm with one passage replaced, which must occur once."""
    assert ARM.count(old) == 1, f"{old!r} occurs {ARM.count(old)} times"
    return ARM.replace(old, new)


def arm_with(joint: str = "", link: str = "", robot: str = "") -> str:
    """The arm with text added inside the joint 'shoulder', the link 'base' or the robot."""
    text = ARM.replace('<parent link="base"/>', f'<parent link="base"/>{joint}')
    text = text.replace('<link name="base"/>', f'<link name="base">{link}</link>')
    return text.replace("</robot>", f"{robot}</robot>")


def robot(content: str) -> str:
    """A robot of that content."""
    return f'<robot name="r">{content}</robot>'
