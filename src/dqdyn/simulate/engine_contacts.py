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
        contact, wrench = data.contact, self._wrench
        sums: dict[str, _Sum] = {}
        frames, positions = contact.frame.tolist(), contact.pos.tolist()
        for i, (first, second) in enumerate(contact.geom.tolist()):
            if not (self.of_robot[first] or self.of_robot[second]):
                continue
            self.engine.mj_contactForce(self.model, data, i, wrench)
            # The rows of the frame are the axes of the contact, the normal first, which points to the second geom.
            n, s, t = wrench[:3].tolist()
            f = frames[i]
            force = [n * f[k] + s * f[k + 3] + t * f[k + 6] for k in range(3)]
            for own, other, sign in ((first, second, -1.0), (second, first, 1.0)):
                if self.of_robot[own]:
                    link = self.labels[own]
                    if link not in sums:
                        sums[link] = _Sum()
                    sums[link].add(sign, force, n, positions[i], self.labels[other])
        return {link: total.contact() for link, total in sums.items()}


class _Sum:
    """Contacts of a link, added up in plain floats, which are quicker than arrays of three."""

    def __init__(self) -> None:
        self.force, self.normal, self.count = [0.0] * 3, 0.0, 0
        self.weighted, self.plain = [0.0] * 3, [0.0] * 3
        self.partners: set[str] = set()

    def add(self, sign: float, force: list[float], normal: float, position: list[float], partner: str) -> None:
        self.normal += normal
        self.count += 1
        for k in range(3):
            self.force[k] += sign * force[k]
            self.weighted[k] += normal * position[k]
            self.plain[k] += position[k]
        self.partners.add(partner)

    def contact(self) -> LinkContact:
        center = np.array(self.weighted) / self.normal if self.normal > 0.0 else np.array(self.plain) / self.count
        return LinkContact(np.array(self.force), self.normal, center, tuple(sorted(self.partners)))


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
