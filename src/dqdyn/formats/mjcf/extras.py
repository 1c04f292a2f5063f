"""What a file of MuJoCo has and a description has not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dqdyn.model.names import listed

Omissions = dict[str, list[str]]
"""What is left out, by its kind: names."""


def sentences(omitted: Omissions, complete: bool) -> list[str]:
    """One sentence per kind, with the first names or with all."""
    return [f"{what} are left out: {listed(names, complete)}." for what, names in omitted.items()]


def left_out(m: Any, bodies: Sequence[str], joints: Sequence[str], shapes: Sequence[str]) -> Omissions:
    """What acts on the robot in MuJoCo and is not represented here."""
    ball = 1
    curved = np.any(getattr(m, "dof_dampingpoly", np.zeros((m.nv, 1))), axis=-1)
    ignored: dict[str, Iterable[str]] = {
        "tendons": [m.tendon(i).name or f"tendon{i}" for i in range(m.ntendon)],
        "springs of ball and free joints": _chosen(joints, (m.jnt_type <= ball) & (m.jnt_stiffness != 0.0)),
        "nonlinear terms of springs": _chosen(joints, _curved_springs(m)),
        "nonlinear terms of damping": dict.fromkeys(joints[int(m.dof_jntid[i])] for i in np.flatnonzero(curved)),
        "limits of ball joints": _chosen(joints, (m.jnt_type == ball) & (m.jnt_limited != 0)),
        "compensations of gravity": _chosen(bodies, m.body_gravcomp),
        "motions of mocap bodies": _chosen(bodies, m.body_mocapid >= 0),
        "flexible parts": [m.flex(i).name or f"flex{i}" for i in range(m.nflex)],
        "shapes without a file, turned uneven meshes and height fields": shapes,
        "inertias and damping of actuators": _acting_actuators(m),
        "forces of the fluid": ["density or viscosity"] if m.opt.density or m.opt.viscosity else [],
    }
    return {what: list(names) for what, names in ignored.items() if names}


def ignored(mujoco: Any, m: Any, joints: Sequence[str]) -> Omissions:
    """What is left out without a warning, for the motion of the robot does not need it; conversions list it."""
    lights = [m.light(i).name or f"light{i}" for i in range(m.nlight)]
    sensors = [m.sensor(i).name or f"sensor{i}" for i in range(m.nsensor)]
    laws = [m.actuator(i).name or f"actuator{i}" for i in range(m.nu) if not _is_motor(mujoco, m, i)]
    pairs = [m.pair(i).name or f"pair{i}" for i in range(m.npair)]
    plain = mujoco.MjModel.from_xml_string("<mujoco/>")
    options = [name for name in _OPTIONS if not np.array_equal(getattr(m.opt, name), getattr(plain.opt, name))]
    found: dict[str, Iterable[str]] = {
        "sensors, but for their frames,": sensors,
        "lights": lights,
        "control laws of actuators, which are motors here,": laws,
        "effort limits that differ with the sense of motion": _uneven_limits(mujoco, m, joints),
        "pairs of geoms for contact": pairs,
        "options of the engine": options,
        "friction and softness of contacts": _own_contacts(m),
    }
    return {what: list(names) for what, names in found.items() if names}


_OPTIONS = ("timestep", "integrator", "cone", "solver", "iterations", "tolerance", "impratio", "wind", "magnetic")


def _is_motor(mujoco: Any, m: Any, i: int) -> bool:
    return bool(
        m.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        and m.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_NONE
        and m.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
    )


def _uneven_limits(mujoco: Any, m: Any, joints: Sequence[str]) -> list[str]:
    limited = np.asarray(m.jnt_actfrclimited, dtype=bool)
    found = {joints[int(j)] for j in np.flatnonzero(limited & (m.jnt_actfrcrange.sum(axis=1) != 0.0))}
    by_joint = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for i in range(len(m.actuator_trntype)):
        uneven = m.actuator_forcelimited[i] and m.actuator_forcerange[i].sum() != 0.0
        if uneven and int(m.actuator_trntype[i]) in by_joint:
            found.add(joints[int(m.actuator_trnid[i, 0])])
    return [joint for joint in joints if joint in found]


def _own_contacts(m: Any) -> list[str]:
    """Geoms that touch and whose contact is not MuJoCo's default one."""
    usual = {"friction": (1.0, 0.005, 0.0001), "solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0)}
    usual |= {"condim": (3.0,), "margin": (0.0,), "gap": (0.0,)}
    own = np.zeros(m.ngeom, dtype=bool)
    for name, value in usual.items():
        own |= np.any(np.reshape(getattr(m, f"geom_{name}"), (m.ngeom, len(value))) != value, axis=1)
    touches = (m.geom_contype != 0) | (m.geom_conaffinity != 0)
    return [m.geom(int(i)).name or f"geom{i}" for i in np.flatnonzero(own & touches)]


def _curved_springs(m: Any) -> np.ndarray:
    """Joints whose spring is not a stiffness alone; fields of newer versions of MuJoCo."""
    fields = [np.asarray(getattr(m, name, np.zeros(m.njnt))) for name in ("jnt_stiffnesspoly", "jnt_springyield")]
    found: np.ndarray = np.any([np.any(f, axis=tuple(range(1, f.ndim))) for f in fields], axis=0)
    return found


def _chosen(names: Sequence[str], which: np.ndarray) -> list[str]:
    return [names[int(i)] for i in np.flatnonzero(which)]


def _acting_actuators(m: Any) -> list[str]:
    fields = (getattr(m, name, ()) for name in ("actuator_armature", "actuator_damping"))  # of newer versions only
    acting = {int(i) for values in fields for i in np.argwhere(values)[:, 0]}
    return [m.actuator(i).name or f"actuator{i}" for i in sorted(acting)]
