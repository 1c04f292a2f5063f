"""Real robots against Pinocchio: every frame of every URDF, on a fixed and on a free base, with and without mimic."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio
import pytest
from catalog_cases import NAMES, exists, function_of, inputs_of, options_of
from pinocchio_tools import EXPRESSED, PinocchioState, frames_by_kind, homogeneous
from robot_data import short_name, urdf_files
from trees import assert_close, random_q, random_state, random_v, run

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.rates import pose_rate
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.model.description import ROOT_JOINT
from dqdyn.robot import Robot

FILES = {short_name(path): path for path in urdf_files()}
NO_ROBOTS = {"ur/ur3", "alex/alex_psyonic_hands"}
"""No name; and a mimic joint without a master, which Pinocchio overlooks."""
ROBOTS = [name for name in FILES if name not in NO_ROBOTS]
BASES = ("fixed", "free")
_ARGUMENTS = (pinocchio.ARG0, pinocchio.ARG1)


@cache
def robot(name: str, base: str, mimic: bool = False) -> Robot:
    return Robot(build(read_urdf(FILES[name]), base=base, mimic=mimic, quiet=True))


@cache
def plain(name: str, base: str) -> pinocchio.Model:
    """Pinocchio's model, in which mimic joints are free."""
    root = (pinocchio.JointModelFreeFlyer(),) if base == "free" else ()
    return pinocchio.buildModelFromUrdf(str(FILES[name]), *root)


def mimics(name: str) -> bool:
    return any(joint.mimic is not None for joint in read_urdf(FILES[name]).joints)


MIMICS = [name for name in ROBOTS if mimics(name)]
CASES = [(name, base, False) for name in ROBOTS for base in BASES] + [(name, "free", True) for name in MIMICS]


def test_all_robots_are_here() -> None:
    assert len(FILES) == 69
    assert len(ROBOTS) == 67
    assert MIMICS, "no robot has mimic joints"
    assert [name for name in ROBOTS if robot(name, "fixed").nv == 0], "no robot is without moving joints"


@pytest.mark.parametrize(("name", "base", "mimic"), CASES)
def test_every_frame(name: str, base: str, mimic: bool) -> None:
    ours, theirs = robot(name, base, mimic), plain(name, base)
    q, v, _ = random_state(ours, np.random.default_rng(1))
    layout = ours.to_pinocchio(theirs)
    assert_close(layout.q_from(layout.q(q)), wrapped(ours, theirs, q))
    state = PinocchioState(layout, theirs, q, v)
    links = {link.name for link in ours.description.links}
    compared = set()
    for frame, i in frames_by_kind(theirs, ours):
        if frame == ROOT_JOINT and base == "fixed":  # a fixed base is no joint here
            continue
        compared.add(frame)
        assert_close(homogeneous(DQ(run(ours, "pose", q, frame=frame))), state.pose(i))
        for expressed in EXPRESSED:
            options = {"frame": frame, "expressed": expressed}
            assert_close(run(ours, "twist_jacobian", q, **options), state.jacobian(i, expressed))
            rates = run(ours, "twist_jacobian_derivative", q, v, **options)
            assert_close(rates, state.jacobian_derivative(i, expressed))
    # The world is the one frame that a URDF does not name.
    assert compared == set(ours.frames) - ({"world"} - links)


def wrapped(ours: Robot, theirs: pinocchio.Model, q: np.ndarray) -> np.ndarray:
    """q with the angles that Pinocchio keeps on a circle brought to ±π."""
    result = q.copy()
    for joint in ours.joints:
        i = theirs.getJointId(joint.name)
        if joint.kind == "revolute" and theirs.joints[i].nq == 2 and not joint.is_mimic:
            result[joint.q] = np.arctan2(np.sin(q[joint.q]), np.cos(q[joint.q]))
    return result


@pytest.mark.parametrize(("name", "base", "mimic"), CASES)
def test_functions_of_one_frame(name: str, base: str, mimic: bool) -> None:
    """The other functions of a frame, on the last one: twists, their rates, what follows from the twist Jacobian."""
    ours, theirs = robot(name, base, mimic), plain(name, base)
    q, v, a = random_state(ours, np.random.default_rng(2))
    state = PinocchioState(ours.to_pinocchio(theirs), theirs, q, v)
    frame, i = list(frames_by_kind(theirs, ours))[-1]
    x = DQ(run(ours, "pose", q, frame=frame))
    assert_close(homogeneous(x), state.pose(i))
    for expressed in EXPRESSED:
        jacobian, rate = state.jacobian(i, expressed), state.jacobian_derivative(i, expressed)
        options = {"frame": frame, "expressed": expressed}
        assert_close(run(ours, "twist", q, v, **options), jacobian @ v)
        assert_close(run(ours, "twist_rate", q, v, a, **options), jacobian @ a + rate @ v)
    columns = [pose_rate(DQ(c), x).vec8() for c in state.jacobian(i, "world").T]
    assert_close(run(ours, "pose_jacobian", q, frame=frame), np.array(columns).reshape(-1, 8).T)
    assert_close(run(ours, "rotation_jacobian", q, frame=frame), np.array(columns).reshape(-1, 8).T[:4])
    aligned = state.jacobian(i, "aligned")
    assert_close(run(ours, "translation_jacobian", q, frame=frame), aligned[3:])


@pytest.mark.parametrize(("name", "base", "mimic"), CASES)
def test_mass_quantities(name: str, base: str, mimic: bool) -> None:
    ours, theirs = robot(name, base, mimic), plain(name, base)
    q, v, _ = random_state(ours, np.random.default_rng(3))
    if not ours.nv:
        moments = [np.array([i.mass, *(i.mass * np.array(i.com))]) for i in (ours.model.fixed_inertia,)]
        assert_close(run(ours, "center_of_mass", q), moments[0][1:] / moments[0][0])
        return
    layout, data = ours.to_pinocchio(theirs), theirs.createData()
    pq, pv, t = layout.q(q), layout.v(q, v), layout.transform(q)
    mass = pinocchio.computeTotalMass(theirs)
    assert ours.mass == pytest.approx(mass, rel=1e-12)
    assert_close(run(ours, "center_of_mass", q), np.array(pinocchio.centerOfMass(theirs, data, pq, pv)))
    assert_close(run(ours, "center_of_mass_velocity", q, v), np.array(data.vcom[0]))
    assert_close(
        run(ours, "center_of_mass_jacobian", q), np.array(pinocchio.jacobianCenterOfMass(theirs, data, pq)) @ t
    )
    assert_close(
        run(ours, "centroidal_momentum_matrix", q), np.array(pinocchio.computeCentroidalMap(theirs, data, pq)) @ t
    )
    momentum = pinocchio.computeCentroidalMomentum(theirs, data, pq, pv)
    assert_close(run(ours, "centroidal_momentum", q, v), np.concatenate([momentum.linear, momentum.angular]))
    rates = pinocchio.computeCentroidalMapTimeVariation(theirs, data, pq, pv)  # T is constant for what a URDF holds
    assert_close(run(ours, "centroidal_momentum_matrix_derivative", q, v), np.array(rates) @ t, 1e-9)
    # d/dt (M ċ) = M (J a + J̇ v), with a = 0
    pinocchio.centerOfMass(theirs, data, pq, pv, layout.a(q, v, 0 * v))
    assert_close(run(ours, "center_of_mass_jacobian_derivative", q, v) @ v, np.array(data.acom[0]))


@pytest.mark.parametrize(("name", "base"), [(name, base) for name in ROBOTS for base in BASES])
def test_integration(name: str, base: str) -> None:
    ours, theirs = robot(name, base), plain(name, base)
    layout = ours.to_pinocchio(theirs)
    rng = np.random.default_rng(4)
    q, v = random_q(ours, rng), random_v(ours, rng)
    v *= 2.0 / np.abs(v).max(initial=1.0)  # so that no angle goes round
    moved = run(ours, "integrate", q, v, 1.0)
    expected = pinocchio.integrate(theirs, layout.q(q), layout.v(q, v))
    if base == "free":  # r and −r are one rotation
        expected[3:7] *= np.sign(expected[3:7] @ layout.q(moved)[3:7])
    assert_close(layout.q(moved), expected)
    assert_close(layout.v(q, run(ours, "difference", q, moved)), pinocchio.difference(theirs, layout.q(q), expected))
    if ours.nv:
        t, given = layout.transform(q), (theirs, layout.q(q), layout.v(q, v))
        for argument, found in enumerate(run(ours, "integrate_jacobians", q, v, 1.0)):
            assert_close(t @ found @ np.linalg.inv(t), pinocchio.dIntegrate(*given, _ARGUMENTS[argument]), 1e-9)
        for argument, found in enumerate(run(ours, "difference_jacobians", q, moved)):
            other = pinocchio.dDifference(theirs, layout.q(q), expected, _ARGUMENTS[argument])
            assert_close(t @ found @ np.linalg.inv(t), other, 1e-9)


_FIXED_WIDTH = ("poses", "joint_wrenches", "operational_space_inverse_inertia")
"""Matrices with as many columns on every robot."""


@pytest.mark.parametrize("name", [name for name in ROBOTS if robot(name, "fixed").nv == 0])
def test_robots_without_moving_joints_work_everywhere(name: str) -> None:
    ours = robot(name, "fixed")
    frame = next(iter(ours.frames))
    none = ("q", "q1", "v", "a", "tau", "weights", "dq", "dv", "da")
    empty: dict[str, Any] = {**{name: [] for name in none}, "dt": 0.5}
    empty |= {"point": [1.0, 2.0, 3.0], "line": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], "plane": [0.0, 0.0, 1.0, 2.0]}
    wrench = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    empty |= {"wrench": wrench, "wrenches": wrench, "goal": [1.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3]}
    choices = {"frame": frame, "frame1": frame, "frame2": frame, "wrench_frames": (frame,)}
    for case in NAMES:
        function, options = function_of(case), options_of(case, choices)
        if not exists(ours, case, options):
            continue
        inputs = [empty[i] for i in inputs_of(ours, case, options)]
        result = ours.function(function.name, **options)(*inputs)
        assert np.isfinite(result).all()
        if function.result == "matrix" and function.name not in _FIXED_WIDTH:
            assert result.shape[-1] == 0
    assert ours.inverse_kinematics(frame, ours.pose(frame, []))
    assert ours.neutral().shape == ours.random_configuration(0).shape == (0,)
