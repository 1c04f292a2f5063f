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
        self.links = [self.labels.index(label) for label in self.labels]  # the first geom of each link stands for it
        self._wrench = np.zeros(6)
        self.touched: dict[str, dict[str, float]] = {}
        self._seen: set[tuple[int, int]] = set()

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
        frames, positions = contact.frame.tolist(), contact.pos.tolist()
        sums: dict[int, list[Any]] = {}
        for i, (first, second) in enumerate(contact.geom.tolist()):
            if not (self.of_robot[first] or self.of_robot[second]):
                continue
            self.engine.mj_contactForce(self.model, data, i, wrench)
            # The rows of a frame are the axes of the contact, the normal first, which points to the second geom.
            n, s, t, *_ = wrench.tolist()
            a, b, c, d, e, f, g, h, k = frames[i]
            force = (n * a + s * d + t * g, n * b + s * e + t * h, n * c + s * f + t * k)
            if self.of_robot[second]:
                _add(sums, self.links[second], 1.0, force, n, positions[i], self.labels[first])
            if self.of_robot[first]:
                _add(sums, self.links[first], -1.0, force, n, positions[i], self.labels[second])
        return {self.labels[geom]: _contact(total) for geom, total in sums.items()}


def _add(sums: dict[int, list[Any]], link: int, sign: float, force: Any, n: float, p: list[float], other: str) -> None:
    """Add a contact to the sums of its link, in plain floats, which are quicker than arrays of three."""
    total = sums.get(link)
    if total is None:
        total = sums[link] = [0.0] * 10 + [0, set()]
    total[0] += sign * force[0]
    total[1] += sign * force[1]
    total[2] += sign * force[2]
    total[3] += n
    total[4] += n * p[0]
    total[5] += n * p[1]
    total[6] += n * p[2]
    total[7] += p[0]
    total[8] += p[1]
    total[9] += p[2]
    total[10] += 1
    total[11].add(other)


def _contact(total: list[Any]) -> LinkContact:
    """Of the sums of force, normal force, normal force · position and position, a count, and partners."""
    normal = total[3]
    center = [x / normal for x in total[4:7]] if normal > 0.0 else [x / total[10] for x in total[7:10]]
    return LinkContact(np.array(total[:3]), normal, np.array(center), tuple(sorted(total[11])))


def contact_series(samples: list[dict[str, LinkContact]]) -> dict[str, Array]:
    """Forces by link at all samples, for links that touch at one of them; zero, and centers NaN, where they do not."""
    links = sorted({link for sample in samples for link in sample})
    result: dict[str, Array] = {}
    for link in links:
        force, normal, center = np.zeros((len(samples), 3)), np.zeros(len(samples)), np.full((len(samples), 3), np.nan)
        for i, sample in enumerate(samples):
            if link in sample:
                force[i], normal[i], center[i] = sample[link].force, sample[link].normal, sample[link].center
        parts = {"contact_force": force, "normal_force": normal, "contact_center": center}
        result |= {f"{kind}/{link}": values for kind, values in parts.items()}
    return result
