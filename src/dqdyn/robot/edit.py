"""Changes to a robot: each gives a new description; the old robot stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.algebra import any_pose
from dqdyn.algebra.any_pose import PoseLike
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.real import in_words, real_array
from dqdyn.algebra.scalar import unstack
from dqdyn.algebra.value import vector
from dqdyn.arrays import RealArray, RealNumber, Reals
from dqdyn.errors import ModelError, StateError, one_line, unknown_name
from dqdyn.model.description import ROOT_JOINT, WORLD, Description, Joint, Link, NamedFrame, Shape
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.inertia import Inertia, Vector, as_tensor, as_vector
from dqdyn.model.joints import joint_kind
from dqdyn.model.model import Model

if TYPE_CHECKING:
    from dqdyn.dynamics.gravity.fields import Field


def locate(model: Model, frame: str) -> tuple[str, DQ]:
    """The link that carries a frame, and the frame's pose on it."""
    model.frame(frame)
    description = model.description
    places = {ROOT_JOINT: (description.root, IDENTITY)}  # of one name the last place counts
    places.update((joint.name, (joint.child, joint.child_origin.conj())) for joint in description.joints)
    places.update((named.name, (named.link, named.origin)) for named in description.frames)
    places.update((link.name, (link.name, IDENTITY)) for link in description.links)
    if frame in places:
        return places[frame]
    raise ModelError(
        f"frame {frame!r} of {model.name!r} is not on a link of the robot: choose one that is.", name=frame
    )


def add_frame(model: Model, name: str, on: str, pose: PoseLike) -> Description:
    """A new frame fixed to the frame ``on``."""
    if name in model.frames:
        raise ModelError(f"{model.name!r} has a frame {name!r} already: choose another name.", name=name)
    link, origin = locate(model, on)
    placed = NamedFrame(name, link, origin * as_pose(pose, f"the place of the frame {name!r}"))
    return model.description.with_changes(frames=(*model.description.frames, placed))


def with_payload(model: Model, frame: str, mass: float, com: Reals, inertia: RealArray) -> Description:
    """A rigid body fixed to a frame, as a new link."""
    link, origin = locate(model, frame)
    description = model.description
    names = {link.name for link in description.links} | {joint.name for joint in description.joints}
    numbered = chain(["payload"], (f"payload_{k}" for k in count(2)))
    name = next(n for n in numbered if n not in names and n + "_joint" not in names)
    (mass,), tensor = _numbers([mass], "the mass of a payload"), _numbers(inertia, "the inertia of a payload")
    tensor = np.diag(tensor) if tensor.shape == (3,) else tensor
    if tensor.shape != (3, 3) or not np.allclose(tensor, tensor.T):
        raise ModelError(
            f"the inertia of a payload is a symmetric 3×3 tensor or three moments; found shape {tensor.shape}.",
            name=name,
        )
    body = Inertia(mass, _vector(com, "the center of mass of a payload"), as_tensor(tensor))
    joint = Joint(name + "_joint", "fixed", link, name, origin=origin)
    return description.with_changes(links=(*description.links, Link(name, body)), joints=(*description.joints, joint))


def with_collisions(model: Model, shapes: Mapping[str, Iterable[Shape]]) -> Description:
    """Other shapes for some links to touch with."""
    if not isinstance(shapes, Mapping):
        raise ModelError(f"collisions map links to lists of Shape; found {type(shapes).__name__}.", found=shapes)
    links = {link.name: link for link in model.description.links}
    for name, given in shapes.items():
        if name not in links:
            raise unknown_name("link", name, links)
        listed = not isinstance(given, Shape) and hasattr(given, "__iter__")
        own: tuple[Shape, ...] = tuple(given) if listed else (given,)  # type: ignore[assignment]
        for shape in own:
            _check_shape(name, shape)
        links[name] = replace(links[name], collisions=own)
    return model.description.with_changes(links=tuple(links.values()))


def _check_shape(link: str, shape: Any) -> None:
    if not isinstance(shape, Shape):
        raise ModelError(f"link {link!r} touches with Shape values; found {one_line(repr(shape), 80)}.", link=link)
    if shape.kind == "mesh":
        return
    if shape.kind not in _LENGTHS:
        raise unknown_name(f"kind of shape for link {link!r}", shape.kind, (*_LENGTHS, "mesh"))
    sizes = _numbers(shape.size, f"the size of a {shape.kind} on link {link!r}")
    count = _LENGTHS[shape.kind]
    if sizes.shape != (count,) or not np.isfinite(sizes).all() or (sizes <= 0.0).any():
        wanted = f"has {count} {'length' if count == 1 else 'lengths'} above 0 in m"
        raise ModelError(f"a {shape.kind} on link {link!r} {wanted}; found {list(shape.size)}.", link=link)


_LENGTHS = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3}


def with_gravity(model: Model, gravity: Reals | Field) -> Description:
    """Another gravitational acceleration, in m/s² and world axes, or a gravity field."""
    from dqdyn.dynamics.gravity.fields import Uniform

    if isinstance(gravity, Uniform):
        gravity = gravity.acceleration
    if hasattr(gravity, "wrench"):
        return model.description.with_changes(gravity=_field(model, gravity))
    return model.description.with_changes(gravity=_vector(gravity, "gravity"))


def _field(model: Model, field: Any) -> FieldGravity:
    """A field that can be compiled, and be part of a robot's value."""
    from dqdyn.compile.trace.tracer import trace
    from dqdyn.dynamics.energy import potential_energy
    from dqdyn.dynamics.gravity.fields import as_field, on_bodies

    own = FieldGravity(as_field(field))
    pulling = replace(model, gravity=own)

    def all_of_it(q: Any) -> Any:
        wrenches = [c for w in on_bodies(model, q, field).values() for c in w.components]
        return [potential_energy(pulling, q), *wrenches], (1 + len(wrenches),)

    try:
        hash(field)
        trace("field", [("q", model.nq)], all_of_it)
    except Exception as problem:  # the field may be the user's own: whatever it raises, it is to be found
        raise ModelError(
            f"the gravity field {field!r} cannot be used: {type(problem).__name__}: {str(problem).rstrip('.')}; make "
            "it hashable, and use +, -, * and what dqdyn.algebra.scalar has, select(less(a, b), x, y) instead of if.",
            field=field,
        ) from problem
    return own


def lock(model: Model, values: Mapping[str, RealNumber | RealArray]) -> tuple[Description, str]:
    """Joints held at values: they become fixed joints, as do joints that mimic them. Also returns the new base."""
    description, base = model.description, model.base
    if not isinstance(values, Mapping):
        held = "joints are held at values, as in robot.lock({'finger': 0.0})"
        raise StateError(f"{held}; found {in_words(values)}.", found=values)
    fixed: dict[str, list[float]] = {}
    for name, value in values.items():
        joint = model.joint(name)
        coordinates = np.atleast_1d(_numbers(value, f"the value of joint {name!r}"))
        if coordinates.shape != (joint.motion.nq,) or not np.isfinite(coordinates).all():
            raise StateError(
                f"joint {name!r} is {joint.kind} and is locked by {joint.motion.nq} finite numbers; found {value!r}.",
                joint=name,
            )
        quaternion = joint.motion.quaternion
        if quaternion is not None and abs(np.linalg.norm(coordinates[quaternion]) - 1.0) > 1e-6:
            raise StateError(
                f"the quaternion that locks joint {name!r} must have norm one; found {value!r}.", joint=name
            )
        fixed[name] = unstack(coordinates, joint.motion.nq)
    held = {joint.name: _held(joint, fixed, model.mimic) for joint in _masters_first(description.joints)}
    joints = tuple(held[joint.name] for joint in description.joints)
    links = description.links
    if ROOT_JOINT in fixed and base != "fixed":
        at = model.joint(ROOT_JOINT).motion.pose(fixed[ROOT_JOINT])
        if any(link.name == WORLD for link in links):
            raise ModelError(
                f"the base of {model.name!r} cannot be locked: its root link is named {WORLD!r}; rename it."
            )
        joints = (Joint(ROOT_JOINT, "fixed", WORLD, description.root, origin=at), *joints)
        links, base = (Link(WORLD), *links), "fixed"
    return description.on_base(base).with_changes(joints=joints, links=links), base


def _masters_first(joints: tuple[Joint, ...]) -> list[Joint]:
    """Joints in an order in which those that mimic come after the one that they mimic."""
    by_name = {joint.name: joint for joint in joints}

    def depth(joint: Joint) -> int:
        return 0 if joint.mimic is None else 1 + depth(by_name[joint.mimic.joint])

    return sorted(joints, key=depth)


def _held(joint: Joint, fixed: dict[str, list[float]], mimic: bool) -> Joint:
    """The joint as a fixed one if it is locked or follows a locked one, which is noted in ``fixed``."""
    if joint.mimic is not None and joint.mimic.joint in fixed:
        if mimic:
            fixed.setdefault(joint.name, [joint.mimic.ratio * fixed[joint.mimic.joint][0] + joint.mimic.offset])
        joint = replace(joint, mimic=None)
    if joint.name not in fixed:
        return joint
    origin = joint.origin * joint_kind(joint).pose(fixed[joint.name])
    return Joint(joint.name, "fixed", joint.parent, joint.child, origin=origin, child_origin=joint.child_origin)


def as_pose(value: PoseLike, what: str) -> DQ:
    """One pose, in any form that :func:`dqdyn.as_pose` takes."""
    pose = any_pose.as_pose(value)
    if pose.shape:
        raise StateError(f"{what} is one pose; found a batch of shape {pose.shape}.", found=pose.shape)
    return pose.dq


def _numbers(value: Any, what: str) -> np.ndarray:
    return real_array(value, what, StateError)


def _vector(value: Any, what: str) -> Vector:
    array = _numbers(value, what)
    if array.ndim != 1:
        raise StateError(f"{what} is one vector of 3 numbers; found {value!r}.", expected=3, found=value)
    return as_vector(vector(array, 3, what))


def bare(description: Description, base: str | None = None) -> tuple[Description, str]:
    """The tree without its loops and without the rolling of its base: a differential base becomes a planar one."""
    base = description.base if base is None else base
    base = "planar" if base == "differential" else base
    return description.on_base(base).with_changes(loops=(), stabilisation=None), base


def without_friction(model: Model) -> Description:
    """All joints without damping and Coulomb friction, as most libraries compute."""
    joints = tuple(replace(joint, damping=0.0, friction=0.0) for joint in model.description.joints)
    return model.description.with_changes(joints=joints)
