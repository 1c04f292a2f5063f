"""Springs of joints: on random trees of every kind, in every formulation, in derivatives, energies and simulations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from trees import TREES, assert_close, random_state, rate_along, run, tree

import dqdyn as dq
from dqdyn.dynamics.gravity.fields import Central
from dqdyn.dynamics.methods import FORWARD, INVERSE
from dqdyn.formats.json.document import read_json, write_json
from dqdyn.formats.mjcf.writer import write_mjcf
from dqdyn.model.joints import KINDS
from dqdyn.robot import Robot


@cache
def sprung(name: str) -> Robot:
    """A tree with a spring in every axis that can have one, different in each."""
    rng = np.random.default_rng(8)

    def with_spring(joint: dq.Joint) -> dq.Joint:
        n = KINDS[joint.kind].nv
        if n == 0 or KINDS[joint.kind].quaternion is not None:
            return joint
        stiffness, rest = (tuple(rng.uniform(low, 2.0, n).tolist()) for low in (0.5, -1.0))
        return replace(joint, stiffness=stiffness, rest=rest)

    description = tree(name).description
    return Robot.from_description(description.with_changes(joints=tuple(map(with_spring, description.joints))))


def expected_forces(ours: Robot, q: np.ndarray) -> np.ndarray:
    """∂/∂q of ½ Σ k (x − rest)² over the joints, written out."""
    force = np.zeros(ours.nv)
    for joint in ours.joints:
        if joint.motion.quaternion is None:
            ratio, offset = (joint.master.ratio, joint.master.offset) if joint.master else (1.0, 0.0)
            force[joint.v] += ratio * np.array(joint.stiffness) * (ratio * q[joint.q] + offset - np.array(joint.rest))
    return force


@pytest.mark.parametrize("name", TREES)
def test_every_formulation_has_the_springs(name: str) -> None:
    ours, bare = sprung(name), tree(name)
    q, v, a = random_state(ours, np.random.default_rng(3))
    springs = expected_forces(ours, q)
    assert np.abs(springs).max() > 0.1
    for method in ("auto", *INVERSE):
        tau = run(ours, "inverse_dynamics", q, v, a, method=method)
        assert_close(tau - run(bare, "inverse_dynamics", q, v, a, method=method), springs, 1e-9)
        for forward in FORWARD:
            if forward == "composite-body" or not any(joint.is_mimic for joint in ours.joints):
                assert_close(run(ours, "forward_dynamics", q, v, tau, method=forward), a, 1e-8)
    for what in ("bias_forces", "gravity_forces"):
        state = (q, v) if what == "bias_forces" else (q,)
        assert_close(run(ours, what, *state) - run(bare, what, *state), springs, 1e-10)


@pytest.mark.parametrize("name", TREES)
def test_holding_forces_are_the_gradient_of_the_potential_energy(name: str) -> None:
    for ours in (sprung(name), sprung(name).with_gravity(Central(30.0, center=(0.0, 0.0, -9.0)))):
        q, v, _ = random_state(ours, np.random.default_rng(4))
        gained = rate_along(lambda x, ours=ours: run(ours, "potential_energy", x), ours, q, v)
        assert_close(gained[0], run(ours, "gravity_forces", q) @ v, 1e-6)


@pytest.mark.parametrize("name", TREES)
def test_derivatives(name: str) -> None:
    for gravity in ((0.0, 0.0, -9.81), Central(30.0, center=(0.0, 0.0, -9.0))):
        ours, bare = (robot.with_gravity(gravity) for robot in (sprung(name), tree(name)))
        q, v, a = random_state(ours, np.random.default_rng(5))
        by_q, bare_by_q = (run(r, "inverse_dynamics_derivatives", q, v, a)[0] for r in (ours, bare))
        stiffness = np.zeros(ours.nv)
        for joint in ours.joints:
            stiffness[joint.v] += (joint.master.ratio**2 if joint.master else 1.0) * np.array(joint.stiffness)
        assert_close(by_q - bare_by_q, np.diag(stiffness), 1e-9)
        tau = run(ours, "inverse_dynamics", q, v, a)
        d_dq, _, d_dtau = run(ours, "forward_dynamics_derivatives", q, v, tau)
        assert_close(d_dq, -d_dtau @ by_q, 1e-7)


def test_quasi_velocities_and_gauss_function_have_the_springs() -> None:
    ours = dq.robots.arm7().with_springs({"joint2": (30.0, 0.4), "joint5": 7.0})
    rng = np.random.default_rng(6)
    q, v, a = rng.uniform(-1, 1, (3, 7))
    at_speeds = ours.in_speeds(lambda q: [[float(i >= j) for j in range(7)] for i in range(7)])
    B = np.tril(np.ones((7, 7)))
    u, ud = np.linalg.solve(B, v), np.linalg.solve(B, a)
    assert_close(at_speeds.inverse_dynamics(q, u, ud), B.T @ ours.inverse_dynamics(q, v, a), 1e-10)
    tau, step = rng.normal(size=7), 1e-4
    value = lambda x: float(np.squeeze(ours.gauss_function(q, v, x, tau)))
    gradient = [(value(a + step * e) - value(a - step * e)) / (2 * step) for e in np.eye(7)]
    assert_close(gradient, ours.inverse_dynamics(q, v, a) - tau, 1e-6)


def test_a_mass_on_a_spring_moves_as_a_sine() -> None:
    mass, stiffness, rest = 2.0, 50.0, 0.3
    cart = dq.Description(
        "cart",
        (dq.Link("rail"), dq.Link("cart", dq.Inertia(mass))),
        (dq.Joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0), stiffness=stiffness, rest=rest),),
    )
    ours = Robot.from_description(cart)
    for integrator in ("rkmk4", "variational"):
        trajectory = dq.simulate(ours, duration=1.0, dt=1e-3, q0=[0.5], v0=[0.0], integrator=integrator)
        wave = rest + 0.2 * np.cos(np.sqrt(stiffness / mass) * trajectory.time)
        assert np.abs(trajectory.q[:, 0] - wave).max() < (1e-8 if integrator == "rkmk4" else 1e-5)
        assert np.ptp(trajectory.energy) < 1e-5
        assert trajectory.status == "finished"


def test_loops_have_the_springs() -> None:
    ours = dq.robots.four_bar()
    name = ours.joints[1].name
    held = ours.with_springs({name: (4.0, 0.2)})
    q = ours.neutral()
    force = np.zeros(ours.nv)
    force[1] = -4.0 * (q[1] - 0.2)
    zero = np.zeros(ours.nv)
    assert np.abs(force).max() > 0.1
    assert_close(held.forward_dynamics(q, zero, zero), ours.forward_dynamics(q, zero, force), 1e-10)


def test_against_mujoco_both_ways() -> None:
    """A file of MuJoCo read here, and our file compiled there: the same accelerations and potential energies."""
    text = """<mujoco><compiler angle="radian"/><worldbody><body name="a"><joint name="h" axis="0 1 0" ref="0.2"
      stiffness="9" springref="0.7"/><inertial pos="0.1 0 0" mass="2" diaginertia=".1 .2 .3"/>
      <body name="b" pos="0.3 0 0"><joint name="s" type="slide" axis="0 0 1" stiffness="40" springref="-0.1"/>
      <inertial pos="0 0.1 0" mass="1" diaginertia=".1 .1 .1"/></body></body></worldbody></mujoco>"""
    ours = dq.load(text)
    assert ours.warnings == ()
    rewritten = write_mjcf(ours.model)
    assert dq.load(rewritten).joints[0].rest == (0.7,)
    for source in (text, rewritten):
        theirs = mujoco.MjModel.from_xml_string(source)
        theirs.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        data = mujoco.MjData(theirs)
        data.qpos[:], data.qvel[:] = q, v = np.array([[0.5, 0.1], [0.3, -0.2]])
        if source is rewritten:
            assert_close(ours.to_mujoco(theirs).q(q), q, 1e-15)
        mujoco.mj_forward(theirs, data)
        assert_close(ours.forward_dynamics(q, v, np.zeros(2)), data.qacc, 1e-10)
        assert_close(ours.potential_energy(q), data.energy[0], 1e-11)


BAD = [
    (None, "takes a dictionary from joints to springs; found None"),
    ({"joint9": 1.0}, "There is no moving joint of 'arm7' named 'joint9'"),
    ({"joint1": "soft"}, "the spring of joint 'joint1' is a stiffness"),
    ({"joint1": (1.0, 2.0, 3.0)}, "the spring of joint 'joint1' is a stiffness"),
    ({"joint1": (1.0, None)}, "the spring of joint 'joint1' is a stiffness"),
    ({"joint1": -1.0}, "negative stiffness"),
    ({"joint1": float("nan")}, "has NaN for stiffness"),
    ({"joint1": (1.0, float("inf"))}, "has the rest inf, which is infinite"),
    ({"joint1": ((1.0, 2.0), 0.0)}, "needs 1 values of stiffness; found 2"),
]


@pytest.mark.parametrize(("springs", "sentence"), BAD)
def test_bad_springs_are_refused(springs: object, sentence: str) -> None:
    with pytest.raises(dq.Error, match=sentence.replace("(", r"\(")):
        dq.robots.arm7().with_springs(springs)  # type: ignore[arg-type]


def test_springs_of_quaternions_and_of_the_base_are_refused() -> None:
    ball = dq.Description("b", (dq.Link("a"), dq.Link("c", dq.Inertia(1.0))), (dq.Joint("j", "spherical", "a", "c"),))
    with pytest.raises(dq.Error, match="is spherical and has a stiffness"):
        Robot.from_description(ball).with_springs({"j": 3.0})
    with pytest.raises(dq.Error, match="the base of 'humanoid' has no spring"):
        dq.robots.humanoid().with_springs({"root_joint": 3.0})


def test_none_takes_a_spring_away_and_json_keeps_one() -> None:
    arm = dq.robots.arm7()
    held = arm.with_springs({"joint3": (5.0, 0.1)})
    assert held != arm
    assert held.with_springs({"joint3": None}) == arm
    assert Robot.from_description(read_json(write_json(held.model))) == held
