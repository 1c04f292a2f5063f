"""What a controller may measure of the contacts: forces by link, as MuJoCo as plant gives them."""

from __future__ import annotations

import numpy as np

from dqdyn.model.model import Model
from dqdyn.simulate.observation import LinkContact
from dqdyn.simulate.unilateral.coulomb import OPEN
from dqdyn.simulate.unilateral.stepping import Step
from dqdyn.simulate.unilateral.touching import Corners


def link_contacts(model: Model, corners: Corners, step: Step, h: float) -> dict[str, LinkContact]:
    """Contacts by link in a step of h s: those with the world, and from both sides those within the robot."""
    closed = np.flatnonzero(step.modes != OPEN)
    sides: dict[str, list[tuple[int, float, str]]] = {}
    for i in closed.tolist():
        owner, surface = corners.owners[step.pairs.corner[i]], corners.surfaces[step.pairs.surface[i]]
        link, partner = _link(model, owner.frame), surface.name
        if surface.of_robot:
            partner = _link(model, surface.name)
            sides.setdefault(partner, []).append((i, -1.0, link))
        sides.setdefault(link, []).append((i, 1.0, partner))
    result = {}
    for link, touching in sides.items():
        at, signs = np.array([i for i, _, _ in touching]), np.array([sign for _, sign, _ in touching])
        forces = step.impulses[at] / h
        normal = (forces * step.pairs.normal[at]).sum(axis=1)
        center = normal @ step.pairs.place[at] / normal.sum()
        partners = tuple(sorted({partner for _, _, partner in touching}))
        result[link] = LinkContact(signs @ forces, float(normal.sum()), center, partners)
    return result


def _link(model: Model, frame: str) -> str:
    return model.bodies[model.frame(frame).body].name
