"""MJCF models that together use every kind of joint, and ways to compare a model with MuJoCo."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dqdyn.model.build import build
from dqdyn.model.description import Description, placement
from dqdyn.model.model import Model

INERTIAL = '<inertial pos=".1 -.2 .3" quat=".5 .1 .7 -.3" mass="2" diaginertia=".03 .02 .04"/>'

MODELS = {
    "hinges_and_slides": f"""
      <worldbody>
        <body name="a" pos="1 2 3" quat=".6 .8 0 0">{INERTIAL}
          <joint name="j1" type="hinge" axis="1 2 3" range="-90 45" damping=".5" armature=".1" frictionloss=".2"/>
          <site name="s1" pos=".1 .2 .3" euler="10 20 30"/>
          <body name="b" pos="0 0 .5" euler="0 90 0">{INERTIAL}
            <joint name="j2" type="slide" axis="0 1 1" range="-.2 .4" damping="3"/>
            <site name="s2" pos="-1 0 0"/>
          </body>
        </body>
      </worldbody>""",
    "anchors_and_refs": f"""
      <compiler angle="radian"/>
      <worldbody>
        <body name="a" pos="1 2 3" quat=".6 .8 0 0">{INERTIAL}
          <joint name="j1" type="hinge" axis="1 2 3" pos=".3 -.2 .1" ref=".7"/>
          <body name="b" pos="0 0 .5" euler="0 1 2">{INERTIAL}
            <joint name="j2" type="slide" axis="0 1 1" pos="1 1 1" ref="-.3"/>
            <body name="c" pos=".1 .2 .3">{INERTIAL}<joint name="j3" type="ball" pos=".4 .5 -.6"/></body>
          </body>
        </body>
      </worldbody>""",
    "several_joints_per_body": f"""
      <compiler angle="radian"/>
      <worldbody>
        <body name="a" pos="0 1 0" euler=".1 .2 .3">{INERTIAL}
          <joint name="x" type="slide" axis="1 0 0" ref=".1"/>
          <joint name="y" type="slide" axis="0 1 0"/>
          <joint name="turn" type="hinge" axis="0 0 1" pos=".1 .2 0" ref="-.4"/>
          <site name="tool" pos="0 0 1"/>
          <body name="b" pos=".5 0 0">{INERTIAL}
            <joint name="first" axis="0 1 0" pos="0 0 .1"/>
            <joint name="second" axis="1 0 1" pos=".2 0 0"/>
            <joint name="third" axis="0 1 0" pos="0 .3 0" ref="1"/>
            <joint name="ball" type="ball" pos=".1 .1 .1"/>
          </body>
        </body>
      </worldbody>""",
    "free": f"""
      <worldbody>
        <geom name="floor" type="plane" size="1 1 .1"/>
        <body name="trunk" pos="0 0 1" euler="30 0 0">{INERTIAL}<freejoint name="root"/>
          <site name="imu" pos=".1 0 0" quat="0 1 0 0"/>
          <body name="leg" pos="0 .2 0">{INERTIAL}<joint name="hip" axis="0 1 0" pos="0 0 .2"/>
            <body name="foot" pos="0 0 -.4">{INERTIAL}<body name="sole" pos="0 0 -.05"/></body>
          </body>
        </body>
        <body name="ball" pos="3 0 0"><freejoint/><geom size=".1" mass="1"/></body>
        <body name="post" pos="1 0 0" euler="0 0 45"><geom type="box" size=".1 .2 .3"/>
          <site name="top" pos="0 0 .3"/></body>
        <body name="target" mocap="true" pos="1 1 1"/>
      </worldbody>""",
    "frames_and_defaults": f"""
      <compiler angle="radian" eulerseq="zyx"/>
      <default>
        <joint axis="0 1 0" damping="1"/>
        <default class="slow"><joint damping="7" armature=".3"/></default>
      </default>
      <worldbody>
        <frame pos="1 0 0" euler=".3 .2 .1"><frame pos="0 1 0" quat=".6 0 0 .8">
          <body name="a" childclass="slow">{INERTIAL}<joint name="j1"/>
            <frame pos="0 0 1" axisangle="1 0 0 1">
              <joint name="j2" pos=".1 .1 0" class="main"/>
              <site name="s" pos="1 1 1"/>
              <body name="b" pos=".2 0 0" xyaxes="0 1 0 1 0 0">{INERTIAL}<joint name="j3" axis="1 0 0"/></body>
            </frame>
          </body>
        </frame></frame>
      </worldbody>""",
    "nameless": """
      <worldbody>
        <body pos="0 0 1"><joint/><joint axis="1 0 0"/><geom size=".1"/><site/>
          <body pos="0 0 1"><joint type="ball"/><geom type="capsule" size=".05" fromto="0 0 0 0 0 .5"/>
            <site pos="0 0 1"/></body>
        </body>
      </worldbody>""",
}


def mjcf(body: str) -> str:
    return f'<mujoco model="robot">{body}</mujoco>'


def compiled(text: str) -> tuple[Any, Any]:
    """MuJoCo's model and data."""
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def random_qpos(model: Any, rng: np.random.Generator) -> np.ndarray:
    """A configuration with unit quaternions."""
    qpos = model.qpos0.copy()
    mujoco.mj_integratePos(model, qpos, rng.normal(size=model.nv), 1.0)
    return qpos


def quiet_model(description: Description, **options: Any) -> Model:
    """The model without its warnings, which each test asks for where it matters."""
    return build(description, quiet=True, **options)


def as_vec8(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    return placement(position, quaternion=quaternion).vec8()
