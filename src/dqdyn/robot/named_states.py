"""Configurations and velocities by the names of joints, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from dqdyn.algebra import foreign_poses
from dqdyn.algebra.any_pose import PoseLike, as_pose
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.real import real_array
from dqdyn.algebra.value import require_broadcast
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.errors import StateError, UnknownNameError, one_line, unknown_name
from dqdyn.model.model import Model, TreeJoint

Kind = Literal["q", "v"]
JointValue: TypeAlias = RealNumber | RealArray | PoseLike
"""The coordinates of a joint: one number, several, or a batch; of a free or spherical joint also a pose."""


class Row(Protocol):
    """A dictionary, or a row or table of pandas: values by name."""

    def keys(self) -> Any: ...

    def __getitem__(self, key: Any, /) -> Any: ...


def own_joints(model: Model) -> list[TreeJoint]:
    """Joints with coordinates of their own."""
    return [joint for joint in model.joints if not joint.is_mimic]


def part(joint: TreeJoint, kind: Kind) -> slice:
    """The components of a joint in q or v."""
    return joint.q if kind == "q" else joint.v


def columns(model: Model, kind: str) -> list[tuple[str, str]]:
    """(name, unit) of every component: ``kind`` is "q", "v", "a" or "tau". Quaternions have the unit "1".

    The name is that of the joint, "elbow", and of the component where a joint has several, "root_joint.px".
    """
    return [
        (f"{joint.name}.{label}" if label else joint.name, unit)
        for joint in own_joints(model)
        for label, unit in joint.motion.columns(kind)
    ]


def component_names(model: Model, kind: Kind) -> dict[str, tuple[int, str]]:
    """Index and unit of every component by its name."""
    return {name: (i, unit) for i, (name, unit) in enumerate(columns(model, kind))}


def by_name(model: Model, kind: Kind, state: Array, components: bool) -> dict[str, Any]:
    """Values by the names of joints, or of components; numbers for one state, arrays for a batch."""
    if components:
        return {name: _plain(state[..., i]) for name, (i, _) in component_names(model, kind).items()}
    single = {j.name: part(j, kind).stop - part(j, kind).start == 1 for j in own_joints(model)}
    return {
        j.name: _plain(state[..., part(j, kind).start]) if single[j.name] else state[..., part(j, kind)].copy()
        for j in own_joints(model)
    }


def _plain(value: Array) -> Any:
    return float(value) if value.ndim == 0 else value.copy()


def from_names(model: Model, kind: Kind, given: Row | None, more: Mapping[str, Any], start: Array) -> Array:
    """``start`` with the named joints and components set; batches are broadcast."""
    entries = list(_entries(model, kind, given, more))
    shapes = [start.shape[:-1], *(value.shape[:-1] for _, _, value in entries)]
    require_broadcast(*shapes)
    result = np.array(np.broadcast_to(start, (*np.broadcast_shapes(*shapes), start.shape[-1])))
    owner: dict[int, str] = {}
    for name, where, value in entries:
        if not np.isfinite(value).all():
            found = value[~np.isfinite(value)][0]
            raise StateError(f"{kind} of {name!r} must be finite; found {found}.", argument=kind, name=name)
        for i in range(where.start, where.stop):
            if i in owner:
                raise StateError(f"{name!r} sets a component of {kind} that {owner[i]!r} sets too.", name=name)
            owner[i] = name
        result[..., where] = value
    return result


def _entries(
    model: Model, kind: Kind, given: Row | None, more: Mapping[str, Any]
) -> Iterator[tuple[str, slice, Array]]:
    """(name, components, values of shape (..., size)) of all that is given."""
    joints = {joint.name: joint for joint in own_joints(model)}
    components = component_names(model, kind)
    for name, value in [*_read(model, kind, given, components).items(), *more.items()]:
        joint = joints.get(name) if isinstance(name, str) else None
        if joint is not None:
            yield name, part(joint, kind), _joint_value(joint, kind, value)
        elif isinstance(name, str) and name in components:
            i = components[name][0]
            yield name, slice(i, i + 1), real_array(value, f"{kind} of {name!r}", StateError, joint=name)[..., None]
        else:
            raise _no_such(model, kind, name, [*joints, *(c for c in components if c not in joints)])


def _no_such(model: Model, kind: Kind, name: Any, known: list[str]) -> UnknownNameError:
    for joint in model.joints:
        if joint.name == name and joint.master is not None:
            master = model.joints[joint.master.joint].name
            return UnknownNameError(
                f"joint {name!r} of {model.name!r} follows {master!r} and has no own coordinate: give {master!r}.",
                name=name,
                matches=[master],
            )
    return unknown_name(f"joint or component of {kind} of {model.name!r}", name, known)


def _read(model: Model, kind: Kind, given: Row | None, components: Mapping[str, tuple[int, str]]) -> dict[Any, Any]:
    """A dictionary of what is given; of a table of a run, the columns of this quantity by the names of components."""
    if given is None:
        return {}
    if not hasattr(given, "keys") or not hasattr(given, "__getitem__"):
        example = next(iter(components), "elbow")
        raise StateError(
            f"{kind} by name of {model.name!r} is a dictionary or a pandas row, as in {{{example!r}: 0.3}}; found "
            f"{one_line(repr(given), 80)}.",
            argument=kind,
            found=given,
        )
    columns = {f"{kind} {name} [{unit}]": name for name, (_, unit) in components.items()}
    named = {key: given[key] for key in given.keys()}  # noqa: SIM118  a row of pandas iterates over its values
    ours = {columns[key]: value for key, value in named.items() if key in columns}
    return ours or named


def _joint_value(joint: TreeJoint, kind: Kind, value: Any) -> Array:
    """Values of one joint, shape (..., size); a joint with one component has the shape of its batch alone."""
    what, size = f"{kind} of joint {joint.name!r}", part(joint, kind).stop - part(joint, kind).start
    if kind == "q" and (isinstance(value, (Pose, DQ)) or foreign_poses.reader(value) is not None):
        return _pose_value(joint, as_pose(value))
    array = real_array(value, what, StateError, joint=joint.name)
    if size == 1:
        return array[..., None]
    if array.shape[-1:] != (size,):
        labels = ", ".join(label for label, _ in joint.motion.columns(kind))
        raise StateError(
            f"{what} ({joint.kind}) has {size} components, {labels}; found shape {array.shape}.",
            joint=joint.name,
            expected=size,
            found=array.shape,
        )
    return array


def _pose_value(joint: TreeJoint, pose: Pose) -> Array:
    if joint.kind == "free":
        return np.concatenate([pose.rotation, pose.translation], axis=-1)
    if joint.kind == "spherical" and not pose.translation.any():
        return pose.rotation
    wanted = "a rotation alone" if joint.kind == "spherical" else "numbers"
    raise StateError(f"q of joint {joint.name!r} ({joint.kind}) is {wanted}; found {pose!r}.", joint=joint.name)
