"""Bad URDF, case by case: the text, and what the message must say about the element and the remedy."""

from __future__ import annotations

from urdf_text import INERTIAL, arm_with, changed, robot

JOINT = '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><limit lower="0" upper="1"/></joint>'

# What is wrong with the form: found by the reader, with the line.
FORM = {
    "no robot name": ("<robot/>", "the robot lacks the attribute 'name' in <robot>: add it"),
    "other root": ('<house name="r"/>', "the outermost element is <house>, not <robot>: give a URDF file"),
    "sdf": ('<sdf version="1.7"/>', "the file is SDF (Gazebo's format), which is not read: convert it to URDF or MJCF"),
    "mjcf": ("<mujoco/>", "the file is MJCF, not URDF: load it with dqdyn.load"),
    "xacro number": (changed('upper="2"', 'upper="${pi}"'), "joint 'shoulder' has upper='${pi}' in <limit>: run xacro"),
    "link without name": (arm_with(robot="<link/>"), "a link lacks the attribute 'name' in <link>: add it"),
    "joint without name": (arm_with(robot='<joint type="fixed"/>'), "a joint lacks the attribute 'name'"),
    "joint without type": (changed(' type="continuous"', ""), "joint 'elbow' lacks the attribute 'type' in <joint>"),
    "joint type": (
        changed('type="revolute"', 'type="revolut"'),
        "unknown type: There is no joint type named 'revolut': did",
    ),
    "no parent": (changed('<parent link="base"/>', ""), "joint 'shoulder' lacks <parent> in its <joint>: add it"),
    "no child": (changed('<child link="upper"/>', ""), "joint 'shoulder' lacks <child> in its <joint>: add it"),
    "parent without link": (changed('<parent link="base"/>', "<parent/>"), "'shoulder' lacks the attribute 'link'"),
    "two parents": (arm_with(joint='<parent link="tool"/>'), "joint 'shoulder' has 2 elements <parent>"),
    "two axes": (arm_with(joint='<axis xyz="1 0 0"/>'), "has 2 elements <axis> in its <joint>: keep one"),
    "axis without xyz": (
        changed('<axis xyz="0 1 0"/>\n', "<axis/>"),
        "joint 'shoulder' lacks the attribute 'xyz' in <axis>",
    ),
    "comma": (changed('xyz="0 0 0.3"', 'xyz="0,0,0.3"'), "'shoulder' has xyz='0,0,0.3' in <origin>: write 3 numbers"),
    "decimal comma": (
        changed('upper="2"', 'upper="1,0"'),
        "'shoulder' has upper='1,0' in <limit>: write a finite number",
    ),
    "too few": (
        changed('rpy="0.1 0.2 0.3"', 'rpy="0.1 0.2"'),
        "'shoulder' has rpy='0.1 0.2' in <origin>: write 3 numbers",
    ),
    "no numbers": (changed('rpy="0.1 0.2 0.3"', 'rpy=""'), "joint 'shoulder' has rpy='' in <origin>: write 3 numbers"),
    "underscore": (changed('upper="2"', 'upper="1_0"'), "joint 'shoulder' has upper='1_0' in <limit>: write a finite"),
    "other digits": (changed('upper="2"', 'upper="&#x0661;"'), "joint 'shoulder' has upper='١' in <limit>"),
    "empty number": (changed('upper="2"', 'upper=""'), "joint 'shoulder' has upper='' in <limit>"),
    "nan limit": (changed('upper="2"', 'upper="nan"'), "joint 'shoulder' has upper='nan' in <limit>"),
    "nan axis": (changed('<axis xyz="0 1 0"/>\n', '<axis xyz="0 nan 0"/>'), "joint 'shoulder' has xyz='nan' in <axis>"),
    "infinite origin": (changed('xyz="0 0 0.3"', 'xyz="0 0 inf"'), "joint 'shoulder' has xyz='inf' in <origin>"),
    "overflow": (
        changed('xyz="0 0 0.3"', 'xyz="0 0 1e300"'),
        "'1e300' in <origin>: nothing in a robot is larger than 1e+30",
    ),
    "damping": (changed('damping="0.5"', 'damping="much"'), "joint 'shoulder' has damping='much' in <dynamics>"),
    "mimic without joint": (
        changed('mimic joint="shoulder"', "mimic"),
        "joint 'elbow' lacks the attribute 'joint' in <mimic>",
    ),
    "mimic number": (changed('multiplier="-2"', 'multiplier="x"'), "joint 'elbow' has multiplier='x' in <mimic>"),
    "both rotations": (changed('rpy="0.1 0.2 0.3"', 'rpy="0 0 0" quat_xyzw="0 0 0 1"'), "has both rpy and quat_xyzw"),
    "quaternion": (changed('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 0 2"'), "quat_xyzw of length 2 in <origin>: divide it"),
    "two inertials": (arm_with(link=INERTIAL * 2), "link 'base' has 2 elements <inertial> in its <link>: keep one"),
    "no mass": (arm_with(link="<inertial/>"), "link 'base' lacks <mass> in its <inertial>: add it"),
    "no mass value": (
        arm_with(link="<inertial><mass/></inertial>"),
        "link 'base' lacks the attribute 'value' in <mass>",
    ),
    "no inertia": (arm_with(link='<inertial><mass value="1"/></inertial>'), "link 'base' lacks <inertia>"),
    "no ixy": (
        arm_with(link=INERTIAL.replace(' ixy="0"', "")),
        "link 'base' lacks the attribute 'ixy' in <inertia>: add it",
    ),
    "nan mass": (arm_with(link=INERTIAL.replace('value="2"', 'value="nan"')), "link 'base' has value='nan' in <mass>"),
    "infinite mass": (
        arm_with(link=INERTIAL.replace('value="2"', 'value="inf"')),
        "link 'base' has value='inf' in <mass>",
    ),
    "no geometry": (arm_with(link="<visual/>"), "link 'base' lacks <geometry> in its <visual>: add it"),
    "empty geometry": (arm_with(link="<visual><geometry/></visual>"), "has 0 shapes in the <geometry> of a <visual>"),
    "two shapes": (changed('<box size="0.1 0.1 0.2"/>', '<box size="1 1 1"/><sphere radius="1"/>'), "has 2 shapes"),
    "unknown shape": (
        changed('<box size="0.1 0.1 0.2"/>', "<cone/>"),
        "link 'upper' has the unknown shape <cone>: known are",
    ),
    "box without size": (changed(' size="0.1 0.1 0.2"', ""), "link 'upper' lacks the attribute 'size' in <box>"),
    "negative size": (changed('radius="0.05"', 'radius="-1"'), "link 'upper' has a <cylinder> with a negative size"),
    "mesh without file": (changed('<box size="0.1 0.1 0.2"/>', "<mesh/>"), "lacks the attribute 'filename' in <mesh>"),
    "color": (changed('rgba="1 0 0 1"', 'rgba="1 0 0"'), "material 'red' has rgba='1 0 0' in <color>: write 4 numbers"),
    "material without name": (arm_with(robot="<material/>"), "a material of the robot lacks the attribute 'name'"),
}

# What is wrong with the robot: found when the model is built.
ROBOT = {
    "no links": (robot(""), "at least one link; found none: add one"),
    "empty name": (arm_with(robot='<link name=""/>'), "a link has no name: give every link a name"),
    "duplicate link": (arm_with(robot='<link name="tool"/>'), "two links are named 'tool': rename one"),
    "duplicate joint": (changed('name="elbow"', 'name="shoulder"'), "two joints are named 'shoulder': rename one"),
    "missing parent": (
        changed('<parent link="base"/>', '<parent link="bse"/>'),
        "'shoulder' has a missing parent: There is no link named 'bse': did you mean 'base'",
    ),
    "missing child": (
        changed('<child link="tool"/>', '<child link="toll"/>'),
        "'flange' has a missing child: There is no link named 'toll': did you mean 'tool'",
    ),
    "loop": (
        arm_with(robot=JOINT.format("closing", "tool", "upper")),
        "link 'upper' is the child of two joints, 'shoulder' and 'closing': a tree has one",
    ),
    "itself": (
        changed('<parent link="base"/>', '<parent link="upper"/>'),
        "joint 'shoulder' joins the link 'upper' to itself: choose",
    ),
    "all in a cycle": (
        robot('<link name="a"/><link name="b"/>' + JOINT.format("i", "a", "b") + JOINT.format("j", "b", "a")),
        "so the joints form a cycle: free one link",
    ),
    "cycle apart": (
        arm_with(robot='<link name="a"/><link name="b"/>' + JOINT.format("i", "a", "b") + JOINT.format("j", "b", "a")),
        "link 'a' is part of a cycle and not joined to the root 'base': join it",
    ),
    "two roots": (
        arm_with(robot='<link name="alone"/>'),
        "there are 2 roots, 'base', 'alone': join all links into one tree",
    ),
    "zero axis": (
        changed('<axis xyz="0 1 0"/>\n', '<axis xyz="0 0 0"/>'),
        "joint 'shoulder' has a zero axis: give a direction",
    ),
    "long axis": (
        changed('<axis xyz="0 1 0"/>\n', '<axis xyz="0 2 0"/>'),
        "joint 'shoulder' has the axis (0.0, 2.0, 0.0) of length 2: divide it by its length",
    ),
    "negative mass": (
        arm_with(link=INERTIAL.replace('value="2"', 'value="-2"')),
        "link 'base' has the negative mass -2.0 kg: correct it",
    ),
    "limits": (
        changed('lower="-1"', 'lower="3"'),
        "joint 'shoulder' has a lower limit above the upper one, (3.0,) > (2.0,): correct",
    ),
    "negative damping": (
        changed('damping="0.5"', 'damping="-1"'),
        "joint 'shoulder' has the negative damping -1.0: correct its sign",
    ),
    "mimic of nothing": (
        changed('mimic joint="shoulder"', 'mimic joint="sholder"'),
        "joint 'elbow' mimics a missing joint: There is no joint named 'sholder': did you mean 'shoulder'",
    ),
    "mimic of itself": (
        changed('mimic joint="shoulder"', 'mimic joint="elbow"'),
        "joint 'elbow' mimics itself through 'elbow': free one",
    ),
    "mimic in a circle": (arm_with(joint='<mimic joint="elbow"/>'), "mimics itself through 'shoulder': free one"),
    "mimic of a fixed joint": (
        changed('mimic joint="shoulder"', 'mimic joint="flange"'),
        "joint 'elbow' mimics 'flange', but 'flange' is fixed: only joints with one coordinate can",
    ),
}

# What is doubtful: a warning that says the number, an error under strict=True.
DOUBT = {
    "triangle inequality": (
        arm_with(link=INERTIAL.replace('izz="0.01"', 'izz="0.05"')),
        "link 'base': its inertia violates the triangle inequality: principal moments 0.02 + 0.02 < 0.05 kg m²",
    ),
    "negative moment": (
        arm_with(link=INERTIAL.replace('ixx="0.02"', 'ixx="-0.02"')),
        "link 'base': its inertia has the negative principal moment -0.02 kg m²",
    ),
    "rounded axis": (
        changed('<axis xyz="0 1 0"/>\n', '<axis xyz="0 0.7071 0.7071"/>'),
        "joint 'shoulder' has the axis (0.0, 0.7071, 0.7071) of length 0.99999041; it is used with length one",
    ),
    "no limits": (
        changed('lower="-1" upper="2"', ""),
        "joint 'shoulder': a revolute joint lacks a lower or upper limit and is not limited there; add it",
    ),
    "no limit element": (
        changed('<limit lower="-1" upper="2" velocity="3" effort="4"/>', ""),
        "joint 'shoulder': a revolute joint lacks",
    ),
    "effort that is not known": (
        changed('effort="4"', 'effort="0"'),
        "joint 'shoulder': effort=\"0\" in <limit> is taken as no limit; correct it",
    ),
    "velocity that is not known": (
        changed('velocity="3"', 'velocity="0.0"'),
        "joint 'shoulder': velocity=\"0\" in <limit> is taken as no limit; correct it",
    ),
    "misspelled attribute": (
        changed('lower="-1"', 'lower="-1" uper="2"'),
        "joint 'shoulder': the attribute 'uper' of <limit> is not known and ignored; check its spelling",
    ),
    "misplaced element": (
        arm_with(link='<origin xyz="1 2 3"/>'),
        "link 'base': <origin> in <link> is not known and ignored; check its name and place",
    ),
    "unknown element": (arm_with(robot="<lnk/>"), "the robot: <lnk> in <robot> is not known and ignored"),
    "fixed mimic": (
        changed('<child link="tool"/>', '<child link="tool"/><mimic joint="shoulder"/>'),
        "joint 'flange': a fixed joint cannot mimic another, so its <mimic> is ignored; remove it",
    ),
    "material": (
        changed('<material name="red"/>', '<material name="read"/>'),
        "link 'upper': the material 'read' is not defined; add it to the robot",
    ),
    "material twice": (
        arm_with(robot='<material name="red"/>'),
        "material 'red': it is defined twice and the first one is used",
    ),
    "color range": (
        changed('rgba="1 0 0 1"', 'rgba="255 0 0 1"'),
        "material 'red': a color has numbers outside of 0 to 1; scale them",
    ),
    "negative velocity limit": (
        changed('velocity="3"', 'velocity="-3"'),
        "joint 'shoulder' has the negative velocity limit -3.0; correct its sign",
    ),
}
