"""Random worlds in Pinocchio and MuJoCo, as far as these can express them: their forces and matrices are ours.

Joints' own forces (damping, friction, armature) are added by hand to Pinocchio's results; MuJoCo has damping and
armature of its own, and its dry friction, a constraint there, is switched off.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
from pinocchio_tools import SHARED_KINDS, pinocchio_model

from dqdyn.dynamics.joint_forces import resisting_forces, velocity_forces
from dqdyn.errors import Error, ModelWarning
from dqdyn.model.joints.planar import Planar
from dqdyn.model.joints.universal import Universal
from dqdyn.robot import Robot

from .case import Case
from .numbers import evaluate


def in_pinocchio(case: Case) -> None:
    """rnea with external forces, crba, aba, centroidal momentum and derivatives."""
    robot = case.world.free
    if not case.uniform or not robot.nv or not all(_known(joint.motion) for joint in robot.joints):
        return
    case.ran.add("pinocchio")
    q, v, a = case.state
    theirs = pinocchio_model(robot)
    theirs.gravity.linear = np.array(robot.gravity)
    layout = robot.to_pinocchio(theirs)
    data, at, T = theirs.createData(), layout.q(q), layout.transform(q)
    own = np.array(velocity_forces(robot.model, list(v)), dtype=float)
    found = pinocchio.rnea(theirs, data, at, layout.v(q, v), layout.a(q, v, a), _forces(case, theirs, at))
    allowed = 4.0 * case.eps * case.force_size
    case.check("Pinocchio, inverse dynamics", case.tau, T.T @ found + own + case.armature * a, allowed)
    upper = np.triu(pinocchio.crba(theirs, data, at))
    M = T.T @ (upper + np.triu(upper, 1).T) @ T + np.diag(case.armature)
    case.check("Pinocchio, mass matrix", case.mass, M, case.eps * case.mass_size)
    if case.solvable and not case.armature.any() and not case.world.has_mimics:
        tau = layout.tau(q, case.plain - own)
        acceleration = layout.a_from(q, v, pinocchio.aba(theirs, data, at, layout.v(q, v), tau).copy())
        case.check("Pinocchio, forward dynamics", acceleration, a, 4.0 * case.acceleration_error)
    kinetic = pinocchio.computeKineticEnergy(theirs, data, at, layout.v(q, v)) + 0.5 * v @ (case.armature * v)
    size = np.abs(v) @ case.mass_size @ np.abs(v)
    case.check("Pinocchio, energy", evaluate(robot, "kinetic_energy", q, v), [kinetic], case.eps * size)


def _known(motion: object) -> bool:
    """Pinocchio lacks some kinds; its planar joints are in xy, axes of its universal ones at a right angle."""
    if isinstance(motion, Planar):
        return motion.axis == (0.0, 0.0, 1.0)
    if isinstance(motion, Universal):
        return abs(float(np.dot(motion.axis, motion.second_axis))) < 1e-14
    return getattr(motion, "name", "") in SHARED_KINDS


def _forces(case: Case, theirs: pinocchio.Model, at: np.ndarray) -> pinocchio.StdVec_Force:
    """The world's wrenches, per joint, in its axes."""
    total = [pinocchio.Force.Zero() for _ in range(theirs.njoints)]
    data = theirs.createData()
    pinocchio.framesForwardKinematics(theirs, data, at)
    for name, w in zip(case.world.frames, case.world.wrenches.reshape(-1, 6), strict=True):
        index = theirs.getFrameId(name, pinocchio.FrameType.OP_FRAME)
        frame = theirs.frames[index]
        turn = data.oMf[index].rotation.T if case.world.expressed == "aligned" else np.eye(3)
        total[frame.parentJoint] += frame.placement.act(pinocchio.Force(turn @ w[:3], turn @ w[3:]))
    total[0] = pinocchio.Force.Zero()  # what pulls at the world does nothing
    forces = pinocchio.StdVec_Force()
    forces.extend(total)
    return forces


def in_mujoco(case: Case) -> None:
    """mj_inverse and its mass matrix, through the MJCF that we write; what MJCF cannot hold is left out."""
    robot = case.world.free
    if not case.uniform or not robot.nv:
        return
    theirs = _mujoco_model(robot)
    if theirs is None:
        return
    try:
        layout = robot.to_mujoco(theirs)
    except Error:  # a free joint that does not stand on the world is six joints there
        return
    case.ran.add("mujoco")
    q, v, a = case.state
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:], data.qacc[:] = layout.q(q), layout.v(q, v), layout.a(q, v, a)
    mujoco.mj_inverse(theirs, data)
    friction = case.resisting - np.array(resisting_forces(robot.model, list(0 * v)), dtype=float) - case.damping * v
    expected = layout.tau_from(q, data.qfrc_inverse) + friction
    # MuJoCo turns quaternions into matrices and back, and keeps principal axes: a digit is lost on the way.
    case.check("MuJoCo, inverse dynamics", case.plain, expected, 100.0 * case.eps * case.force_size)
    full = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, full)
    diagonal = np.sqrt(np.diag(case.mass_size))
    allowed = 100.0 * case.eps * (case.mass_size + np.outer(diagonal, diagonal))
    case.check("MuJoCo, mass matrix", case.mass, layout.mass_matrix_from(q, full), allowed)


def _mujoco_model(robot: Robot) -> mujoco.MjModel | None:
    """The robot in MuJoCo, without contacts, limits and dry friction; None where it cannot be."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = robot.write(Path(folder) / "robot.xml")
            model = mujoco.MjModel.from_xml_path(str(path))
        except (Error, ModelWarning, ValueError):  # MJCF cannot hold it all; MuJoCo wants mass on every moving body
            return None
    bits = mujoco.mjtDisableBit
    model.opt.disableflags |= int(bits.mjDSBL_CONTACT) | int(bits.mjDSBL_LIMIT) | int(bits.mjDSBL_FRICTIONLOSS)
    model.opt.disableflags |= int(bits.mjDSBL_EQUALITY)
    return model


mujoco.set_mju_user_warning(lambda text: None)  # of a singular M, which is no defect here, into a file
LAWS = (in_pinocchio, in_mujoco)
