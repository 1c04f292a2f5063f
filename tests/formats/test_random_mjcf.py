"""Random MJCF files against MuJoCo's compile: read and written again, and every difference is a listed loss."""

from __future__ import annotations

import math
import warnings

import mujoco
import numpy as np
import pytest
from mjcf_texts import INERTIAL, mjcf
from random_mjcf import RandomMjcf
from trees import assert_close, run

import dqdyn as dq
from dqdyn.formats.mjcf.writer import compose_mjcf
from dqdyn.robot import Robot

SEEDS = [9, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(40) if seed != 9)]


def quiet(text: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        return dq.load(text, mimic=False)


def forward(text: str, qpos: np.ndarray, qvel: np.ndarray) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    return model, data


def mass_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    columns = []
    for axis in np.eye(model.nv):
        column = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, column, axis)
        columns.append(column)
    return np.array(columns).reshape(model.nv, model.nv)


def forces_of(model: mujoco.MjModel, joint: int) -> tuple[float, float]:
    """What the actuators of a joint can give it: of motors within their controls, of servos within their forces."""
    low, high = 0.0, 0.0
    for i in np.flatnonzero(model.actuator_trnid[:, 0] == joint):
        ends = [(-math.inf, math.inf)]
        if model.actuator_ctrllimited[i] and model.actuator_biastype[i] == 0:
            ends.append(tuple(sorted(model.actuator_ctrlrange[i] * model.actuator_gainprm[i, 0])))
        if model.actuator_forcelimited[i]:
            ends.append(tuple(model.actuator_forcerange[i]))
        own = (max(e[0] for e in ends), min(e[1] for e in ends))
        own = tuple(sorted(end * model.actuator_gear[i, 0] for end in own))
        low, high = low + own[0], high + own[1]
    if model.jnt_actfrclimited[joint]:
        low, high = max(low, model.jnt_actfrcrange[joint, 0]), min(high, model.jnt_actfrcrange[joint, 1])
    return low, high


def violations(model: mujoco.MjModel, data: mujoco.MjData, lost: str) -> np.ndarray:
    """How far equalities that are not lost are from being met, sorted: mimic joints have no names."""
    rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    names = [model.equality(int(i)).name for i in data.efc_id[rows]]
    kept = [not (name and (f"'{name}'" in lost or f"'{name} (" in lost)) for name in names]
    return np.sort(np.abs(data.efc_pos[rows][kept]))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_files_are_read_and_written(seed: int) -> None:
    text = RandomMjcf(seed).text
    robot = quiet(text)
    free = robot.without_constraints()
    written = compose_mjcf(robot.model)
    again = quiet(written.text)
    lost = " ".join([*robot.description.losses, *written.losses])
    plain = mujoco.MjModel.from_xml_string(text)
    layout, rng = robot.to_mujoco(plain), np.random.default_rng(seed)
    q, v, a = free.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    qpos, qvel = layout.q(q), layout.v(q, v)
    first, one = forward(text, qpos, qvel)
    second, two = forward(written.text, qpos, qvel)

    # Dynamics, with springs, damping and friction.
    dry = first.dof_frictionloss * np.sign(qvel)  # a constraint in MuJoCo
    forces = mass_matrix(first, one) @ layout.a(q, v, a) + one.qfrc_bias - one.qfrc_passive + dry
    if "springs of ball" not in lost:
        assert_close(layout.tau(q, run(free, "inverse_dynamics", q, v, a)), forces, 1e-9)
        assert_close(two.qfrc_passive, one.qfrc_passive, 1e-9)
    assert_close(mass_matrix(second, two), mass_matrix(first, one), 1e-9)
    assert_close(two.qfrc_bias, one.qfrc_bias, 1e-9)

    # Frames, keyframes, limits, pairs.
    for i in range(first.nsite):
        assert_close(robot.pose(first.site(i).name, q).matrix[:3, 3], one.site_xpos[i], 1e-9)
        assert_close(robot.pose(first.site(i).name, q).matrix[:3, :3], one.site_xmat[i].reshape(3, 3), 1e-9)
    assert set(robot.frames) == set(again.frames)
    assert_close(second.key_qpos, first.key_qpos, 1e-15)
    for i, posture in enumerate(robot.postures.values()):
        assert_close(layout.q(posture), first.key_qpos[i], 1e-15)
    limited = first.jnt_limited != 0
    assert_close(second.jnt_limited, first.jnt_limited, 0.0)
    assert_close(second.jnt_range[limited], first.jnt_range[limited], 1e-15)
    for field in ("dof_damping", "dof_armature", "dof_frictionloss", "exclude_signature"):
        assert_close(getattr(second, field), getattr(first, field), 1e-15)

    # Constraints: the same violations at this state.
    assert len(again.constraints) == len(robot.constraints)
    assert_close(violations(second, two, lost), violations(first, one, lost), 1e-8)

    # Actuators: the same joints, with the same largest forces.
    driven = {first.joint(int(j)).name for j in first.actuator_trnid[:, 0]}
    assert driven == {second.joint(int(j)).name for j in second.actuator_trnid[:, 0]}
    for name in driven:
        joint = first.joint(name).id
        low, high = forces_of(first, joint)
        assert low == pytest.approx(-high) or f"'{name}'" in lost
        if f"'{name}'" not in lost:
            assert forces_of(second, second.joint(name).id) == pytest.approx((low, high), rel=1e-12)
            names = [
                [m.actuator(int(i)).name for i in np.flatnonzero(m.actuator_trnid[:, 0] == m.joint(name).id)]
                for m in (first, second)
            ]
            assert names[0] == names[1]


EXTRAS = mjcf(f"""<option timestep="0.001"><flag energy="enable" spring="disable"/></option>
  <custom><numeric name="n" data="1 2"/><text name="hello" data="x"/></custom>
  <worldbody><body name="a">{INERTIAL}<joint name="j" range="-1 1" margin="0.1"/>
    <body name="b">{INERTIAL}<joint name="k" axis="1 0 0"/></body></body></worldbody>
  <actuator><motor name="idle" joint="j" gear="0"/><general name="strong" joint="k" gainprm="5" ctrlrange="-1 3"/>
    <motor name="second" joint="k" gear="1"/></actuator>
  <equality><weld name="soft" body1="a" body2="b" torquescale="3"/></equality>""")


def test_what_is_lost_of_the_engine_is_listed() -> None:
    losses = quiet(EXTRAS).description.losses
    for loss in (
        "separate actuators of one joint, which are one motor here, are left out: 'k'.",
        "flags of the engine that change the motion are left out: 'spring off'.",
        "gains of actuators, whose control is their force here, are left out: 'strong'.",
        "actuators with a gear of 0, which have no effect, are left out: 'idle'.",
        "options of the engine are left out: 'timestep'.",
        "flags of the engine are left out: 'energy on'.",
        "softness and margins of joint limits are left out: 'j'.",
        "softness of equality constraints are left out: 'soft'.",
        "data of <custom> are left out: 'n', 'hello'.",
    ):
        assert loss in losses


def test_uneven_effort_limits_are_told_when_loading() -> None:
    """Without them a joint has no limit of effort here, which a controller must know."""
    robot = quiet(EXTRAS.replace('<motor name="second" joint="k" gear="1"/>', ""))
    assert any("effort limits that differ with the sense of motion are left out: 'k'" in w for w in robot.warnings)
    assert robot.limits.effort[1] == math.inf
