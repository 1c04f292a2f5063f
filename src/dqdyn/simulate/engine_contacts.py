"""Contact forces of MuJoCo by link of the robot, and which links touched what."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.simulate.engine_scene import GROUND, PREFIX
from dqdyn.simulate.observation import LinkContact


class ContactReader:
    """Knows what every geom belongs to: a link of the robot, or a body of the scene."""

    def __init__(self, engine: Any, model: Any) -> None:
        self.engine, self.model = engine, model
        self.labels: list[str] = []
        self.of_robot: list[bool] = []
        for geom in range(model.ngeom):
            name = model.geom(geom).name
            body = model.body(int(model.geom_bodyid[geom])).name
            outside = name == GROUND or name.startswith(PREFIX)
            self.labels.append("ground" if name == GROUND else name.removeprefix(PREFIX) if outside else body)
            self.of_robot.append(not outside)
        self.touched: dict[str, dict[str, float]] = {}
        self._seen: set[tuple[int, int]] = set()
        self._wrench = np.zeros(6)

    def note(self, data: Any, t: float) -> None:
        """Remember who touches whom at the time t; the first time counts."""
        if not data.ncon:
            return
        for pair in map(tuple, data.contact.geom.tolist()):
            if pair in self._seen:
                continue
            self._seen.add(pair)
            for own, other in (pair, pair[::-1]):
                if self.of_robot[own]:
                    self.touched.setdefault(self.labels[own], {}).setdefault(self.labels[other], t)

    def read(self, data: Any) -> dict[str, LinkContact]:
        """Contacts by link, in the state for which the engine last computed forces."""
        count = data.ncon
        if not count:
            return {}
        parts: dict[str, list[tuple[Array, float, Array, str]]] = {}
        contact, wrench = data.contact, self._wrench
        pairs, frames, positions = contact.geom.tolist(), contact.frame.reshape(-1, 3, 3), contact.pos
        for i, (first, second) in enumerate(pairs):
            if not (self.of_robot[first] or self.of_robot[second]):
                continue
            self.engine.mj_contactForce(self.model, data, i, wrench)
            # The rows of the frame are the axes of the contact, the normal first, which points to the second geom.
            force = wrench[:3] @ frames[i]
            for own, other, f in ((first, second, -force), (second, first, force)):
                if self.of_robot[own]:
                    part = (f, float(wrench[0]), positions[i], self.labels[other])
                    parts.setdefault(self.labels[own], []).append(part)
        return {link: _total(some) for link, some in parts.items()}


def _total(parts: list[tuple[Array, float, Array, str]]) -> LinkContact:
    normal = sum(part[1] for part in parts)
    if normal > 0.0:
        center = sum(part[2] * part[1] for part in parts) / normal
    else:
        center = sum(part[2] for part in parts) / len(parts)
    force = np.sum([part[0] for part in parts], axis=0)
    return LinkContact(force, float(normal), np.asarray(center), tuple(sorted({part[3] for part in parts})))


def contact_series(samples: list[dict[str, LinkContact]]) -> dict[str, Array]:
    """Forces by link at all samples, for links that touch at one of them; zero where they do not."""
    links = sorted({link for sample in samples for link in sample})
    result: dict[str, Array] = {}
    for link in links:
        force, normal = np.zeros((len(samples), 3)), np.zeros(len(samples))
        for i, sample in enumerate(samples):
            if link in sample:
                force[i], normal[i] = sample[link].force, sample[link].normal
        result |= {f"contact_force/{link}": force, f"normal_force/{link}": normal}
    return result
