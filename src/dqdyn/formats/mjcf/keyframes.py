"""Keyframes of MJCF as named postures."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.formats.mjcf.actuators import Omissions
from dqdyn.formats.xml_text import element, name_text, numbers
from dqdyn.model.description import Joint, Posture
from dqdyn.model.joints import joint_kind
from dqdyn.model.names import fresh_name

_FREE = (3, 4, 5, 6, 0, 1, 2)  # our order of MuJoCo's [p, r]


def read_postures(m: Any, joints: Sequence[str], kinds: Sequence[str]) -> tuple[tuple[Posture, ...], Omissions]:
    """The keyframes, and what else they hold; ``joints`` and ``kinds`` are names and kinds by MuJoCo's index."""
    used: set[str] = set()
    postures = []
    for k in range(m.nkey):
        name = fresh_name(m.key(k).name or f"key{k}", used)
        used.add(name)
        values = [_coordinates(m, k, i, kinds[i]) for i in range(m.njnt)]
        postures.append(Posture(name, tuple(joints), tuple(values)))
    beside = {"velocities": m.key_qvel, "activations": m.key_act, "controls": m.key_ctrl, "times": m.key_time}
    losses: Omissions = {}
    for what, of_keys in beside.items():
        rows = np.reshape(np.asarray(of_keys), (m.nkey, -1)) if m.nkey else np.zeros((0, 0))
        names = [postures[int(k)].name for k in np.flatnonzero(np.any(rows, axis=1))] if rows.size else []
        losses |= {f"{what} of keyframes": names} if names else {}
    return tuple(postures), losses


def _coordinates(m: Any, key: int, joint: int, kind: str) -> tuple[float, ...]:
    start = int(m.jnt_qposadr[joint])
    own = m.key_qpos[key, start : start + {"free": 7, "spherical": 4}.get(kind, 1)]
    return tuple(float(c) for c in (own[list(_FREE)] if kind == "free" else own))


def write_postures(
    root: ET.Element, joints: Mapping[str, Joint], postures: Sequence[tuple[str, Mapping[str, tuple[float, ...]]]]
) -> None:
    """Keyframes from postures by the names of the written joints; the order of qpos is that of the written bodies."""
    order = [joints[item.attrib["name"]] for item in root.iter("joint") if "type" in item.attrib]
    keyframe = element(root, "keyframe") if postures else root
    for name, values in postures:
        qpos: list[float] = []
        for joint in order:
            own = tuple(values.get(joint.name) or _followed(joint, joints, values) or joint_kind(joint).neutral())
            qpos += [*own[4:], *own[:4]] if joint.kind == "free" else own
        element(keyframe, "key", name=name_text(name, "MJCF"), qpos=numbers(qpos))


def _followed(
    joint: Joint, joints: Mapping[str, Joint], values: Mapping[str, tuple[float, ...]]
) -> tuple[float, ...] | None:
    """The coordinate of a joint that mimics another."""
    if joint.mimic is None:
        return None
    master = joints[joint.mimic.joint]
    (own,) = values.get(master.name) or _followed(master, joints, values) or (0.0,)
    return (joint.mimic.ratio * own + joint.mimic.offset,)
