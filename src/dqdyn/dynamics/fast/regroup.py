"""Inertias regrouped: the same generalized forces from fewer non-zero parameters.

A revolute joint turns about z, so a part of its body that is symmetric about z and has no moment of inertia about z
moves the same whether it belongs to the body or to the parent: the mass, a first moment along z, and equal moments
about x and y. Such a part is handed to the parent, from the leaves to the root, until it ends in the world. A
prismatic joint does not turn, so the whole tensor of its body about the center of mass can be handed on. (Khalil and
Dombre call what remains the base parameters.) Wrenches at the joints are no longer those of the real bodies;
generalized forces are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.caching import cached_property
from dqdyn.model.canonical import canonical
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.inertia import Inertia, Tensor, as_tensor
from dqdyn.model.model import WORLD_BODY, Body, Model


def regrouped(model: Model) -> Model:
    """A model with the same M, C and g, all axes along z, and regrouped inertias (of type :class:`Moments`).

    Kept with the model, since several functions of a robot are traced on it.
    """
    kept: Model | None = model.__dict__.get("_regrouped")
    if kept is None:
        # A field has to see the real bodies.
        in_field = isinstance(model.gravity, FieldGravity)
        kept = model.__dict__["_regrouped"] = canonical(model) if in_field else regrouped_apart(model)[0]
    return kept


def regrouped_apart(model: Model) -> tuple[Model, list[Moments]]:
    """The regrouped model, and the parts that were handed to the world, in its axes."""
    model, at_rest = canonical(model), []
    moments = [about_origin(body.inertia) for body in model.bodies]
    for i in reversed(range(len(model.joints))):
        joint = model.joints[i]
        if joint.kind not in ("revolute", "prismatic") or joint.is_mimic or joint.is_open:
            continue  # handing on through a pose that is an input costs more than it saves
        part = moments[i].symmetric_part() if joint.kind == "revolute" else moments[i].turning_part()
        moments[i] = moments[i] - part
        ad = joint.placement_adjoint
        rotation = np.array([c.vector for c in ad.columns]).T
        part = part.seen_from(rotation, np.array(ad.p.vector))
        if joint.parent == WORLD_BODY:
            at_rest.append(part)
        else:
            moments[joint.parent] = moments[joint.parent] + part
    bodies = tuple(
        Body(body.name, own.cleaned(about_origin(body.inertia)))  # type: ignore[arg-type]
        for body, own in zip(model.bodies, moments, strict=True)
    )
    return replace(model, bodies=bodies), at_rest


class Moments:
    """Mass, first moment m c and tensor about the origin: inertias that add and subtract without regard to signs.

    It answers what algorithms about the origin ask of an :class:`Inertia`.
    """

    def __init__(self, mass: float, first: np.ndarray, tensor: np.ndarray) -> None:
        self.mass, self.first, self.origin_tensor = mass, first, tensor

    def __add__(self, other: Moments) -> Moments:
        return type(self)(self.mass + other.mass, self.first + other.first, self.origin_tensor + other.origin_tensor)

    def __sub__(self, other: Moments) -> Moments:
        return type(self)(self.mass - other.mass, self.first - other.first, self.origin_tensor - other.origin_tensor)

    @cached_property
    def first_moment(self) -> Quaternion:
        """m c, a pure quaternion."""
        return pure(*(float(c) for c in self.first))

    @cached_property
    def second_moments(self) -> Tensor:
        """Σ about the origin."""
        return as_tensor(0.5 * np.trace(self.origin_tensor) * np.eye(3) - self.origin_tensor)

    def symmetric_part(self) -> Moments:
        """What may be handed on through a rotation about z: mass, m c_z, and Σ_zz, so that they vanish in the rest."""
        share = 0.5 * float(self.origin_tensor[0, 0] + self.origin_tensor[1, 1] - self.origin_tensor[2, 2])
        return Moments(self.mass, np.array([0.0, 0.0, self.first[2]]), np.diag([share, share, 0.0]))

    def turning_part(self) -> Moments:
        """What may be handed on through a translation: the tensor about the center of mass."""
        if self.mass == 0.0:
            return Moments(0.0, np.zeros(3), self.origin_tensor)
        return Moments(0.0, np.zeros(3), self.origin_tensor - _of_point(self.mass, self.first / self.mass))

    def seen_from(self, rotation: np.ndarray, origin: np.ndarray) -> Moments:
        """The same in the parent's frame, in which this frame has that rotation and origin."""
        first = rotation @ self.first
        tensor = rotation @ self.origin_tensor @ rotation.T
        tensor = tensor + 2.0 * (origin @ first) * np.eye(3) - np.outer(origin, first) - np.outer(first, origin)
        return Moments(self.mass, first + self.mass * origin, tensor + _of_point(self.mass, origin))

    def cleaned(self, original: Moments) -> Moments:
        """The same with rounding errors set to zero; ``original`` gives the size of what was added and subtracted."""
        first = _without_rounding(self.first, np.abs(original.first).max(initial=0.0) + original.mass)
        second = np.array(self.second_moments)
        second = _without_rounding(second, np.abs(original.origin_tensor).max() + np.abs(second).max())
        return Moments(self.mass, first, np.trace(second) * np.eye(3) - second)


def about_origin(inertia: Inertia | Moments) -> Moments:
    """An inertia as moments about the origin of its frame."""
    if isinstance(inertia, Moments):
        return inertia
    c = np.array(inertia.com)
    return Moments(inertia.mass, inertia.mass * c, np.array(inertia.tensor) + _of_point(inertia.mass, c))


def _of_point(mass: float, c: np.ndarray) -> np.ndarray:
    return mass * (float(c @ c) * np.eye(3) - np.outer(c, c))


def _without_rounding(array: np.ndarray, size: float) -> np.ndarray:
    return np.where(np.abs(array) < 1e-14 * size, 0.0, array)
