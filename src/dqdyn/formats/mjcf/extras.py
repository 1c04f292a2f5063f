"""What MuJoCo has beside the tree: constraints between joints, and what a description cannot hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dqdyn.model.description import Mimic
from dqdyn.model.names import listed


def mimics(m: Any, joints: Sequence[str]) -> tuple[dict[str, Mimic], list[str]]:
    """Linear constraints between two joints as mimics, by the name of the joint that follows, and notes on them."""
    import mujoco

    followers: dict[str, Mimic] = {}
    notes: list[str] = []
    lost: list[str] = []
    for i in range(m.neq):
        name = m.equality(i).name or f"equality{i}"
        first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        offset, ratio, *higher = (float(c) for c in m.eq_data[i, :5])
        linear = m.eq_type[i] == mujoco.mjtEq.mjEQ_JOINT and second >= 0 and not any(higher)
        free = linear and joints[first] not in followers and not _leads_to(followers, joints[second], joints[first])
        if not (free and m.eq_active0[i]):
            lost.append(name)
            continue
        # MuJoCo couples the displacements from ref: q₁ − ref₁ = offset + ratio (q₂ − ref₂).
        ref1, ref2 = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (first, second))
        followers[joints[first]] = Mimic(joints[second], ratio, offset + ref1 - ratio * ref2)
    if followers:
        exactly = "joints mimic others exactly, where MuJoCo's equality constraints keep to it softly"
        notes.append(f"{exactly}: {listed(followers)}.")
    if lost:
        notes.append(f"equality constraints are left out: {listed(lost)}.")
    return followers, notes


def _leads_to(followers: dict[str, Mimic], start: str, goal: str) -> bool:
    while start != goal and start in followers:
        start = followers[start].joint
    return start == goal


def left_out(m: Any, bodies: Sequence[str], joints: Sequence[str], shapes: Sequence[str]) -> list[str]:
    """Notes on what acts on the robot in MuJoCo and is not represented here."""
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
    return [f"{what} are left out: {listed(names)}." for what, names in ignored.items() if names]


def _curved_springs(m: Any) -> np.ndarray:
    """Joints whose spring is not a stiffness alone; fields of newer versions of MuJoCo."""
    fields = [np.asarray(getattr(m, name, np.zeros(m.njnt))) for name in ("jnt_stiffnesspoly", "jnt_springyield")]
    found: np.ndarray = np.any([np.any(np.reshape(f, (m.njnt, -1)), axis=1) for f in fields], axis=0)
    return found


def _chosen(names: Sequence[str], which: np.ndarray) -> list[str]:
    return [names[int(i)] for i in np.flatnonzero(which)]


def _acting_actuators(m: Any) -> list[str]:
    fields = (getattr(m, name, ()) for name in ("actuator_armature", "actuator_damping"))  # of newer versions only
    acting = {int(i) for values in fields for i in np.argwhere(values)[:, 0]}
    return [m.actuator(i).name or f"actuator{i}" for i in sorted(acting)]
