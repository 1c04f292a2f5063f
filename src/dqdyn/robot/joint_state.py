"""ROS's ``sensor_msgs/JointState`` as a plain dictionary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from dqdyn.algebra.real import in_words, real_array, real_number
from dqdyn.algebra.ros_messages import Message, entry, has, shown
from dqdyn.algebra.scalar import unstack
from dqdyn.arrays import Array, Reals
from dqdyn.errors import StateError, unknown_name
from dqdyn.model.model import Model
from dqdyn.robot.named_states import own_joints
from dqdyn.robot.state import as_state


class JointStateMessage(Protocol):
    """What a message of ROS has at least."""

    name: Any
    position: Any


JointStateLike: TypeAlias = Mapping[str, Any] | JointStateMessage
"""A dictionary with the fields of ``JointState``, or the message itself."""
Others = Literal["refuse", "ignore"]
"""What happens to joints of a message that the robot does not have."""


class JointState(NamedTuple):
    """What a message says: q (nq,), and v and τ (nv,), or None where the message has none."""

    q: Array
    v: Array | None
    tau: Array | None


def to_joint_state(model: Model, q: Reals, v: Reals | None, tau: Reals | None, t: float | None, mimic: bool) -> Message:
    """The message of one state: joints with one coordinate, in the order of q; those that mimic others at the end."""
    states = {name: _one(model, name, given) for name, given in (("q", q), ("v", v), ("tau", tau))}
    at, speed, force = states["q"], states["v"], states["tau"]
    assert at is not None
    joints = [j for j in own_joints(model) if j.motion.nq == j.motion.nv == 1]
    result: Message = {
        "name": [j.name for j in joints],
        "position": [float(at[j.q][0]) for j in joints],
        "velocity": [] if speed is None else [float(speed[j.v][0]) for j in joints],
        "effort": [] if force is None else [float(force[j.v][0]) for j in joints],
    }
    for joint in model.joints if mimic else ():
        if joint.master is not None:
            result["name"].append(joint.name)
            result["position"].append(float(joint.coordinates(unstack(at, model.nq))[0]))
            if speed is not None:
                result["velocity"].append(float(joint.rates(unstack(speed, model.nv))[0]))
            if force is not None:
                result["effort"].append(0.0)
    return result if t is None else {"header": {"stamp": _stamp(t), "frame_id": ""}, **result}


def _one(model: Model, name: str, given: Reals | None) -> Array | None:
    if given is None and name != "q":
        return None
    state = as_state(model, name, given)
    if state.ndim != 1 or state.dtype == object:
        raise StateError(f"a JointState holds one {name} in numbers; found shape {state.shape}.", argument=name)
    return state


def _stamp(t: float) -> dict[str, int]:
    t = real_number(t, "the time of a message", StateError, argument="t")
    if not math.isfinite(t):
        raise StateError(f"the time of a message must be finite; found {t}.", argument="t")
    sec, nanosec = divmod(round(t * 1e9), 1_000_000_000)
    return {"sec": sec, "nanosec": nanosec}


def from_joint_state(
    model: Model, message: JointStateLike, q0: Reals | None, others: Others, check: bool
) -> JointState:
    """q, v and τ of a message; q0 has what it leaves out."""
    if not isinstance(others, str) or others not in ("refuse", "ignore"):
        raise unknown_name("way with other joints", others, ("refuse", "ignore"))
    if not has(message, "name", "position"):
        raise StateError(f"a JointState has the fields name and position; found {shown(message)}.", found=message)
    names = _listed(entry(message, "name"))
    if not isinstance(names, (list, np.ndarray)) or not all(isinstance(name, str) for name in names):
        raise StateError(f"the names of a JointState are a list of texts; found {in_words(names)}.", argument="name")
    joints = {j.name: j for j in own_joints(model) if j.motion.nq == j.motion.nv == 1}
    where = {}
    for i, name in enumerate(names):
        if name in where:
            raise StateError(f"the JointState names the joint {name!r} twice.", joint=name)
        if name in joints:
            where[name] = i
        elif others == "refuse" and not any(j.name == name and j.is_mimic for j in model.joints):
            problem = unknown_name(f"joint with one coordinate of {model.name!r}", name, joints)
            raise StateError(f"{problem} others='ignore' leaves out what the robot does not have.", joint=name)
    missing = [j.name for j in own_joints(model) if j.name not in where]
    if missing and q0 is None:
        several = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise StateError(
            f"the JointState says nothing of the joint {missing[0]!r}{several} of {model.name!r}: give q0 for them.",
            joint=missing[0],
            missing=missing,
        )
    start = _one(model, "q", q0) if q0 is not None else np.zeros(model.nq)
    found: dict[str, Array | None] = {}
    for field, name in (("position", "q"), ("velocity", "v"), ("effort", "tau")):
        values = real_array(_listed(entry(message, field, [])), f"the {field} of a JointState", StateError)
        if field != "position" and not values.size:
            found[name] = None
            continue
        if values.shape != (len(names),):
            counts = f"{len(names)} names and {values.size} numbers of {field}"
            raise StateError(f"a JointState has one number per name; found {counts}.", argument=field)
        state = np.array(start) if name == "q" else np.zeros(model.nv)
        for joint, i in where.items():
            state[joints[joint].q if name == "q" else joints[joint].v] = values[i]
        found[name] = as_state(model, name, state, check)
    q = found["q"]
    assert q is not None
    return JointState(q, found["v"], found["tau"])


def _listed(values: Any) -> Any:
    """Messages have arrays of Python or NumPy."""
    whole = isinstance(values, (np.ndarray, str)) or not hasattr(values, "__iter__")
    return values if whole else list(values)
