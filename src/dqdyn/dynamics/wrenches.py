"""Wrenches: their power, and external ones given at frames, brought to the bodies that carry them."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import dot3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Scalars
from dqdyn.kinematics.tree import added, adjoints
from dqdyn.model.model import WORLD_BODY, Model

EXPRESSIONS = ("body", "aligned")
"""Axes of a wrench at the origin of a frame: the frame's own, or those of the world."""


def power(twist: DQ, wrench: DQ) -> Scalar:
    """⟨ω, τ⟩ + ⟨v, f⟩: the swap of parts is that of [Silva, eq. (46)] [Quiroz, eq. (5.18)]."""
    return dot3(twist.primary, wrench.dual) + dot3(twist.dual, wrench.primary)


def on_bodies(model: Model, frames: Sequence[str], expressed: str, q: Scalars, components: Scalars) -> dict[int, DQ]:
    """Wrench per body, at its origin in its axes, from six components [f, τ] per frame.

    They act on the robot at the frame's origin, in its axes ("body") or in world axes ("aligned").
    """
    moved: list[tuple[int, DQ]] = []
    for i, name in enumerate(frames):
        frame = model.frames[name]
        if frame.body == WORLD_BODY:
            continue
        part = components[6 * i : 6 * i + 6]
        wrench = DQ.of(pure(*part[:3]), pure(*part[3:]))
        if expressed == "aligned":
            world = adjoints(model, q, model.path(frame.body))[frame.body] @ frame.adjoint
            wrench = DQ.of(world.rotate_back(wrench.primary), world.rotate_back(wrench.dual))
        moved.append((frame.body, frame.adjoint(wrench)))
    return added(moved)
