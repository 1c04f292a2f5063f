"""The tree of a random world: joints of every kind on links of every kind, in the manner that the world has drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from trees import MOVING, ONE_AXIS

from dqdyn.algebra.dual import IDENTITY
from dqdyn.model.build import free_root
from dqdyn.model.description import Description, Joint, Link, Mimic, NamedFrame
from dqdyn.model.inertia import Inertia, Vector
from dqdyn.model.joints import KINDS

from .parts import BODIES, Rng, axis, inertia, pick, placement, second_axis, yes

BASES = ("fixed", "free", "planar", "differential")


@dataclass(frozen=True)
class Manner:
    """What all joints and links of one world have in common; "mixed" draws anew for each."""

    kinds: tuple[str, ...]
    branching: float
    axes: str
    turned: str
    moved: str
    bodies: str
    spread: float  # of masses, in powers of ten
    options: tuple[str, ...]  # of joints: armature, damping, friction, limits
    per_axis: bool  # joints with several axes have a value for each


def manner(rng: Rng) -> Manner:
    """Each choice on its own."""
    few = tuple(str(k) for k in rng.choice(MOVING, size=int(rng.integers(1, 4))))
    kinds = (MOVING, few, ONE_AXIS)[int(rng.integers(3))]
    return Manner(
        kinds=kinds,
        branching=float(rng.choice([0.0, 0.3, 0.9])),
        axes=pick(rng, ("z", "coordinate", "general", "mixed"), (1, 1, 2, 2)),
        turned=pick(rng, ("none", "quarter", "tiny", "general", "mixed"), (1, 1, 1, 3, 3)),
        moved=pick(rng, ("zero", "coordinate", "general", "mixed"), (1, 1, 3, 3)),
        bodies=pick(rng, ("general", "principal", "ball", "mixed"), (3, 1, 1, 3)),
        spread=float(rng.choice([0.5, 1.0, 6.0])),
        options=tuple(name for name in ("armature", "damping", "friction", "limits") if yes(rng)),
        per_axis=yes(rng, 0.3),
    )


def description(rng: Rng, name: str, size: int, base: str, how: Manner, mimics: int) -> Description:
    """A tree of ``size`` moving joints, with a fixed one now and then; ``mimics`` of them follow others."""
    links, joints = [Link("link_0", _body(rng, how, (0.0, 0.0, 1.0), leaf=False))], []
    order = [how.kinds[int(rng.integers(len(how.kinds)))] for _ in range(size)]
    for i, kind in enumerate(order):
        parent = links[int(rng.integers(len(links)))] if yes(rng, how.branching) else links[-1]
        joints.append(_joint(rng, kind, len(links), parent.name, how))
        links.append(Link(joints[-1].child, _body(rng, how, joints[-1].axis, leaf=i == size - 1)))
        if yes(rng, 0.1):
            joints.append(_joint(rng, "fixed", len(links), links[-1].name, how))
            links.append(Link(joints[-1].child, _body(rng, how, (0.0, 0.0, 1.0), leaf=False)))
    frames = (
        NamedFrame("tool", links[-1].name, placement(rng, *_place(rng, how))),
        NamedFrame("camera", links[int(rng.integers(len(links)))].name, placement(rng, "general", "general")),
    )
    made = Description(name, tuple(links), tuple(_with_mimics(rng, joints, mimics)), frames, base)
    return replace(made, base="fixed") if free_root(made) else made  # two free motions in a row are refused


def _place(rng: Rng, how: Manner) -> tuple[str, str]:
    turned = pick(rng, ("none", "quarter", "tiny", "general"), (1, 1, 1, 2)) if how.turned == "mixed" else how.turned
    moved = pick(rng, ("zero", "coordinate", "general"), (1, 1, 2)) if how.moved == "mixed" else how.moved
    return turned, moved


def _body(rng: Rng, how: Manner, along: Vector, leaf: bool) -> Inertia:
    kind = pick(rng, tuple(BODIES), (6, 2, 2, 2, 1, 1, 1)) if how.bodies == "mixed" else how.bodies
    if leaf and kind == "nothing":
        kind = "general"
    return inertia(rng, kind, how.spread, along)


def _joint(rng: Rng, kind: str, index: int, parent: str, how: Manner) -> Joint:
    style = pick(rng, ("z", "coordinate", "general"), (1, 1, 2)) if how.axes == "mixed" else how.axes
    first = axis(rng, style)
    joint = Joint(
        name=f"{kind}_{index}",
        kind=kind,
        parent=parent,
        child=f"link_{index}",
        origin=placement(rng, *_place(rng, how)),
        axis=first,
        second_axis=second_axis(rng, first, style),
        pitch=float(rng.choice([0.0, 0.1, 1.0, -1.0, rng.uniform(-0.5, 0.5)])),
        child_origin=placement(rng, *_place(rng, how)) if yes(rng, 0.25) else IDENTITY,
    )
    for name, size in (("armature", 0.2), ("damping", 1.0), ("friction", 0.5)):
        if name in how.options and kind != "fixed" and yes(rng, 0.7):
            joint = replace(joint, **{name: _per_axis(rng, kind, size, how.per_axis)})
    if "limits" in how.options and kind in (*ONE_AXIS, "cylindrical", "universal"):
        low = float(rng.uniform(-2.0, 0.5))
        joint = replace(joint, lower=low, upper=low + float(rng.uniform(0.1, 3.0)), velocity=2.0, effort=50.0)
    return joint


def _per_axis(rng: Rng, kind: str, size: float, each: bool) -> float | tuple[float, ...]:
    axes = KINDS[kind].nv
    if not each or axes == 1:
        return float(rng.uniform(0.0, size))
    return tuple(float(x) for x in rng.uniform(0.0, size, axes) * (rng.uniform(size=axes) < 0.7))


def _with_mimics(rng: Rng, joints: Sequence[Joint], mimics: int) -> list[Joint]:
    """Some joints of one axis follow another one, wherever that is in the tree; some follow a follower."""
    able = [int(i) for i in rng.permutation([i for i, joint in enumerate(joints) if joint.kind in ONE_AXIS])]
    result, followers = list(joints), able[: min(mimics, len(able) - 1)]
    for n, follower in enumerate(followers):
        before = followers[n - 1] if n and yes(rng) else able[int(rng.integers(len(followers), len(able)))]
        ratio = float(rng.choice([1.0, -1.0, rng.uniform(-2.0, 2.0)]))
        mimic = Mimic(joints[before].name, ratio, float(rng.choice([0.0, rng.uniform(-0.5, 0.5)])))
        result[follower] = replace(result[follower], mimic=mimic)
    return result


def size(rng: Rng) -> int:
    """1 to 30 joints, small ones more often: half of the worlds have up to 4."""
    return int(np.exp(rng.uniform(0.0, 1.0) ** 1.2 * np.log(31.0)))
