"""Dynamics of MJCF models against MuJoCo: free, ball, hinge and slide joints with damping and armature, no contacts."""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np
import pytest
from trees import assert_close, random_state, random_v, run

from dqdyn.dynamics.methods import FORWARD, INVERSE
from dqdyn.loading import load
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot

INERTIAL = '<inertial pos="0.02 -0.03 0.05" mass="{0}" diaginertia="0.02 0.03 0.04" quat="0.9 0.1 -0.3 0.2"/>'
LIGHT, MIDDLE, HEAVY = INERTIAL.format(0.4), INERTIAL.format(1.1), INERTIAL.format(2.5)
MODELS = {
    "arm": f"""<mujoco><worldbody><body name="a" pos="0.1 0.2 0.3" quat="0.8 0.2 0.5 0.1">{HEAVY}
    <joint name="hinge" axis="1 2 2" pos="0.05 -0.1 0.02" damping="0.7" armature="0.05"/>
      <body name="b" pos="0.3 0 0.1">{MIDDLE}
        <joint name="slide" type="slide" axis="1 -1 0.5" damping="3" armature="0.2"/>
        <body name="c" pos="0 0.2 0">{LIGHT}
          <joint name="ball" type="ball" pos="0.1 0 0.04" damping="0.2" armature="0.01"/>
          <site name="tool" pos="0.1 0.1 0.2" quat="0.3 0.4 0.5 0.6"/></body></body>
      <body name="d" pos="-0.2 0 0">{LIGHT}<joint name="ball2" type="ball" armature="0.03"/></body>
    </body></worldbody></mujoco>""",
    "floating": f"""<mujoco><option gravity="1 -2 -9"/><worldbody><body name="a" pos="0.1 0.2 0.3">{HEAVY}
    <freejoint name="root"/><site name="tool" pos="0.1 0.1 0.2"/>
      <body name="b" pos="0.3 0 0.1" quat="0.7 0.1 0.3 0.2">{MIDDLE}
        <joint name="hinge" axis="0 1 1" damping="0.4" armature="0.02"/>
        <body name="c" pos="0 0.2 0">{LIGHT}<joint name="x" type="slide" axis="1 0 0" damping="1"/>
        <joint name="y" axis="0 1 0" armature="0.1"/><joint name="z" axis="0 0.6 0.8" pos="0 0 0.1" damping="0.3"/>
        </body></body></body></worldbody></mujoco>""",
    "damped free bodies": f"""<mujoco><worldbody>
    <body name="a" pos="0.1 0.2 0.3">{HEAVY}<joint name="root_a" type="free" damping="0.6"/>
      <body name="c" pos="0 0 0.3"><joint name="ball" type="ball" damping="0.1"/>{LIGHT}</body></body>
    <body name="b" pos="1 0 0">{MIDDLE}<freejoint name="root_b"/><site name="tool" pos="0 0 1"/>
    </body></worldbody></mujoco>""",
    "without gravity": f"""<mujoco><option><flag gravity="disable"/></option><worldbody>
    <body name="a">{HEAVY}<joint name="first" axis="0 0 1" armature="0.3"/>
      <body name="b" pos="0.5 0 0">{MIDDLE}<joint name="second" axis="0 0 1" damping="0.2"/>
        <site name="tool" pos="0.3 0 0"/></body></body></worldbody></mujoco>""",
}


@cache
def pair(name: str) -> tuple[Robot, mujoco.MjModel, Layout]:
    ours = load(MODELS[name])
    theirs = mujoco.MjModel.from_xml_string(MODELS[name])
    return ours, theirs, ours.to_mujoco(theirs)


def at(name: str, q: np.ndarray, v: np.ndarray) -> mujoco.MjData:
    _, theirs, layout = pair(name)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = layout.q(q), layout.v(q, v)
    return data


@pytest.mark.parametrize("name", MODELS)
def test_inverse_dynamics(name: str) -> None:
    ours, theirs, layout = pair(name)
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, v, a = random_state(ours, rng)
        data = at(name, q, v)
        data.qacc[:] = layout.a(q, v, a)
        mujoco.mj_inverse(theirs, data)
        expected = layout.tau_from(q, data.qfrc_inverse)
        for method in ("auto", *INVERSE):
            assert_close(run(ours, "inverse_dynamics", q, v, a, method=method), expected, 1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_forward_dynamics(name: str) -> None:
    ours, theirs, layout = pair(name)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, v, tau = random_state(ours, rng)
        data = at(name, q, v)
        data.qfrc_applied[:] = layout.tau(q, tau)
        mujoco.mj_forward(theirs, data)
        assert data.ncon == data.nefc == 0
        expected = layout.a_from(q, v, data.qacc)
        for method in ("auto", *FORWARD):
            assert_close(run(ours, "forward_dynamics", q, v, tau, method=method), expected, 1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_mass_matrix_and_bias(name: str) -> None:
    ours, theirs, layout = pair(name)
    q, v, _ = random_state(ours, np.random.default_rng(3))
    data = at(name, q, v)
    mujoco.mj_forward(theirs, data)
    full = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, full)
    assert_close(run(ours, "mass_matrix", q), layout.mass_matrix_from(q, full), 1e-12)
    # At our zero acceleration, which is Ṫ v in MuJoCo's coordinates.
    held = data.qfrc_bias - data.qfrc_passive + full @ layout.a(q, v, 0 * v)
    assert_close(run(ours, "bias_forces", q, v), layout.tau_from(q, held), 1e-11)
    assert_close(
        run(ours, "bias_forces", q, v) - run(ours.without_friction(), "bias_forces", q, v),
        -layout.tau_from(q, data.qfrc_passive),
        1e-12,
    )


@pytest.mark.parametrize("name", MODELS)
def test_energies(name: str) -> None:
    ours, theirs, layout = pair(name)
    theirs.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    q, v, _ = random_state(ours, np.random.default_rng(4))
    data = at(name, q, v)
    mujoco.mj_forward(theirs, data)
    assert layout.nv == theirs.nv
    assert run(ours, "potential_energy", q)[0] == pytest.approx(data.energy[0], rel=1e-11, abs=1e-12)
    assert run(ours, "kinetic_energy", q, v)[0] == pytest.approx(data.energy[1], rel=1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_wrenches(name: str) -> None:
    """A force and a torque in world axes at a site."""
    ours, theirs, layout = pair(name)
    rng = np.random.default_rng(5)
    q, v, tau = random_state(ours, rng)
    wrench = random_v(ours, rng, (6,))[:, 0]
    data = at(name, q, v)
    mujoco.mj_forward(theirs, data)
    body, place = theirs.site("tool").bodyid[0], data.site("tool").xpos.copy()
    applied = np.zeros(theirs.nv)
    mujoco.mj_applyFT(theirs, data, wrench[:3], wrench[3:], place, body, applied)
    data.qfrc_applied[:] = layout.tau(q, tau) + applied
    mujoco.mj_forward(theirs, data)
    options = {"wrench_frames": ("tool",), "wrench_expressed": "aligned"}
    found = run(ours, "forward_dynamics", q, v, tau, wrench, **options)
    assert_close(found, layout.a_from(q, v, data.qacc), 1e-10)


def test_frictionloss_is_left_to_us() -> None:
    """MuJoCo makes dry friction a constraint that may hold a joint; here it is a force against the motion."""
    text = MODELS["without gravity"].replace('damping="0.2"', 'damping="0.2" frictionloss="0.5"')
    ours, without = load(text), pair("without gravity")[0]
    q, v, a = random_state(ours, np.random.default_rng(6))
    difference = run(ours, "inverse_dynamics", q, v, a) - run(without, "inverse_dynamics", q, v, a)
    assert_close(difference, [0.0, 0.5 * np.sign(v[1])], 1e-14)
