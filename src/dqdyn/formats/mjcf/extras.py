"""What a file of MuJoCo has and a description has not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dqdyn.formats.mjcf.actuators import Omissions, ignored_of_actuators, uneven_limits
from dqdyn.model.names import listed


def sentences(omitted: Omissions, complete: bool) -> list[str]:
    """One sentence per kind, with the first names or with all."""
    return [f"{what} are left out: {listed(names, complete)}." for what, names in omitted.items()]


def left_out(mujoco: Any, m: Any, bodies: Sequence[str], joints: Sequence[str], shapes: Sequence[str]) -> Omissions:
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
        "effort limits that differ with the sense of motion": uneven_limits(mujoco, m, joints),
        "flags of the engine that change the motion": [flag for flag in _flags(mujoco, m) if flag in _OF_MOTION],
        "inertias and damping of actuators": _acting_actuators(m),
        "forces of the fluid": ["density or viscosity"] if m.opt.density or m.opt.viscosity else [],
    }
    return {what: list(names) for what, names in ignored.items() if names}


def ignored(mujoco: Any, m: Any, joints: Sequence[str], texts: Iterable[str]) -> Omissions:
    """What is left out without a warning, for the motion of the robot does not need it; conversions list it."""
    lights = [m.light(i).name or f"light{i}" for i in range(m.nlight)]
    sensors = [m.sensor(i).name or f"sensor{i}" for i in range(m.nsensor)]
    pairs = [m.pair(i).name or f"pair{i}" for i in range(m.npair)]
    plain = mujoco.MjModel.from_xml_string("<mujoco/>")
    options = [name for name in _OPTIONS if not np.array_equal(getattr(m.opt, name), getattr(plain.opt, name))]
    found: dict[str, Iterable[str]] = {
        "sensors, but for their frames,": sensors,
        "lights": lights,
        **ignored_of_actuators(mujoco, m, joints),
        "pairs of geoms for contact": pairs,
        "options of the engine": options,
        "flags of the engine": [flag for flag in _flags(mujoco, m) if flag not in _OF_MOTION],
        "friction and softness of contacts": _own_contacts(m),
        "softness and margins of joint limits": _chosen(joints, _own_joint_limits(m)),
        "softness of equality constraints": _soft_equalities(m),
        "data of <custom>": _custom(m, texts),
    }
    return {what: list(names) for what, names in found.items() if names}


_OF_MOTION = {f"{flag} off" for flag in ("spring", "damper", "passive", "frictionloss", "equality", "actuation")}
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's own
_OPTIONS = ("timestep", "integrator", "cone", "solver", "iterations", "tolerance", "impratio", "wind", "magnetic")


def _flags(mujoco: Any, m: Any) -> list[str]:
    """What is switched off or on for the engine, but for gravity and contacts, which are the user's choice here."""
    off, on = mujoco.mjtDisableBit, mujoco.mjtEnableBit
    ours = int(off.mjDSBL_GRAVITY) | int(off.mjDSBL_CONTACT)
    bits = [(bit, int(m.opt.disableflags) & ~ours, "off") for bit in off.__members__.values()]
    bits += [(bit, int(m.opt.enableflags), "on") for bit in on.__members__.values()]
    return [f"{bit.name.partition('_')[2].lower()} {state}" for bit, flags, state in bits if _is_flag(bit) & flags]


def _is_flag(bit: Any) -> int:
    """The bit, or 0 for the entry that counts the others."""
    return 0 if bit.name.startswith("mjN") else int(bit)


def _own_joint_limits(m: Any) -> np.ndarray:
    own: np.ndarray = np.any(m.jnt_solref != _SOLREF, axis=1) | np.any(m.jnt_solimp != _SOLIMP, axis=1)
    own |= m.jnt_margin != 0.0
    own &= m.jnt_limited != 0
    return own


def _soft_equalities(m: Any) -> list[str]:
    own = np.any(m.eq_solref != _SOLREF, axis=1) | np.any(m.eq_solimp != _SOLIMP, axis=1)
    own |= (m.eq_type == 1) & (m.eq_data[:, 10] != 1.0)  # the torque scale of a weld
    return [m.equality(int(i)).name or f"equality{i}" for i in np.flatnonzero(own)]


def _custom(m: Any, texts: Iterable[str]) -> list[str]:
    numbers = [m.numeric(i).name for i in range(m.nnumeric)] + [m.tuple(i).name for i in range(m.ntuple)]
    return [*numbers, *(name for name in texts if not name.startswith("dqdyn:"))]


def _own_contacts(m: Any) -> list[str]:
    """Geoms that touch and whose contact is not MuJoCo's default one."""
    usual: dict[str, tuple[float, ...]] = {"friction": (1.0, 0.005, 0.0001), "solref": _SOLREF, "solimp": _SOLIMP}
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
