"""The two-link arm and the chain of n links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.errors import Error
from dqdyn.model.description import Description, Joint, Link, NamedFrame, placement
from dqdyn.model.inertia import Inertia, as_tensor, as_vector
from dqdyn.model.joints.group_joint import random_rotation
from dqdyn.robots.parts import BLUE, ORANGE, STEEL, block, hinge, link, robot, rod, serial_limb

LINK_LENGTH, LINK_RADIUS, LINK_MASS = 0.1, 0.02, 0.25
"""Links of the chain: cylinders of 0.1 m by 0.02 m radius and 0.25 kg, about the density of aluminium castings."""


def two_link() -> Description:
    """Farias's validation arm: two equal links of 1 m and 1 kg, centers of mass at the middle [Farias, section 7].

    The paper gives no inertia tensor and no plane. Here each link is a slender rod, ml²/12 = 1/12 kg m² across, with
    2·10⁻⁴ kg m² about itself (a radius of 2 cm), so that M₁₁ = 5/3 + cos q₂, M₁₂ = 1/3 + ½ cos q₂, M₂₂ = 1/3. It
    moves in the vertical plane x–z: at q = 0 it lies along x, and positive angles raise it. No limits, no damping.
    Frame "tool" at the tip.
    """
    rod_tensor = as_tensor(np.diag([2e-4, 1.0 / 12.0, 1.0 / 12.0]))
    inertia = Inertia(1.0, (0.5, 0.0, 0.0), rod_tensor)
    one, two = (
        replace(link(name, rod(1.0, 0.02, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), color)), inertia=inertia)
        for name, color in (("link1", ORANGE), ("link2", BLUE))
    )
    base = link("base", block(5.0, (0.15, 0.15, 0.1), color=STEEL))
    chain = (hinge("joint1", (0.0, 0.0, 0.0), "-y"), one, hinge("joint2", (1.0, 0.0, 0.0), "-y"), two)
    tool = NamedFrame("tool", "link2", placement((1.0, 0.0, 0.0)))
    return robot("two_link", base, serial_limb("base", chain, tool))


def chain(n: int = 6, seed: int | None = None) -> Description:
    """A chain of n links and n revolute joints, with the frame "tool" at its end.

    Without a seed: equal uniform cylinders, 0.1 m long, 0.02 m in radius and 0.25 kg, along x at q = 0, with axes y,
    z, y, z, …. With a seed: axes, joint placements, lengths (0.05–0.2 m) and masses (0.1–1 kg) are drawn at random,
    the same for the same seed; the centers of mass lie off the axes and the tensors are full. No limits, no damping.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise Error(f"A chain has one link or more, as a whole number; found n = {n!r}.", n=n)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise Error(f"A seed is a whole number from 0 on, or None; found {seed!r}.", seed=seed)
    links = [link("base", block(1.0, (0.08, 0.08, 0.08), color=STEEL))]
    if seed is None:
        joints, tip = _regular(int(n), links), placement((LINK_LENGTH, 0.0, 0.0))
        name = f"chain{n}"
    else:
        rng = np.random.default_rng(seed)
        joints, tip = _random(int(n), links, rng), placement(rng.uniform(-0.2, 0.2, 3))
        name = f"chain{n}_seed{seed}"
    return Description(name, tuple(links), tuple(joints), (NamedFrame("tool", links[-1].name, tip),))


def _regular(n: int, links: list[Link]) -> list[Joint]:
    joints = []
    for i in range(n):
        body = rod(LINK_MASS, LINK_RADIUS, (0.0, 0.0, 0.0), (LINK_LENGTH, 0.0, 0.0), (ORANGE, BLUE)[i % 2])
        links.append(link(f"link{i + 1}", body))
        at = (LINK_LENGTH if i else 0.0, 0.0, 0.0)
        joints.append(hinge(f"joint{i + 1}", at, "yz"[i % 2], parent=links[-2].name, child=links[-1].name))
    return joints


def _random(n: int, links: list[Link], rng: np.random.Generator) -> list[Joint]:
    joints = []
    for i in range(n):
        direction, axis = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
        start, length = rng.uniform(-0.05, 0.05, 3), rng.uniform(0.05, 0.2)
        body = rod(float(rng.uniform(0.1, 1.0)), LINK_RADIUS, start, start + length * direction, (ORANGE, BLUE)[i % 2])
        links.append(link(f"link{i + 1}", body))
        turn = Quaternion(*random_rotation(rng))
        origin = pose(turn, pure(*(float(c) for c in rng.uniform(-0.2, 0.2, 3))))
        joints.append(Joint(f"joint{i + 1}", "revolute", links[-2].name, links[-1].name, origin, as_vector(axis)))
    return joints
