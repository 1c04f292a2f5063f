"""The bodies around a robot as one value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.errors import Error, one_line, unknown_name
from dqdyn.scenes import checks
from dqdyn.scenes.body import SceneBody
from dqdyn.scenes.surface import Surface, ray_hit

_DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True, init=False)
class Scene:
    """Bodies with names of their own: ``Scene([scenes.ground(), scenes.box(…), scenes.stairs(…)])``.

    ``scene["ground"]`` is one of them; ``scene + [body]`` is a scene with more. A scene never changes.
    """

    bodies: tuple[SceneBody, ...]

    def __init__(self, bodies: Iterable[SceneBody | Iterable[SceneBody]] = ()) -> None:
        flat = tuple(_flat(bodies))
        seen: set[str] = set()
        for body in flat:
            if body.name in seen:
                text = f"A scene has two bodies named {body.name!r}: give one of them another name=..."
                raise Error(f"{text}.", body=body.name)
            seen.add(body.name)
        object.__setattr__(self, "bodies", flat)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bodies, in their order."""
        return tuple(body.name for body in self.bodies)

    def __getitem__(self, name: str) -> SceneBody:
        for body in self.bodies:
            if isinstance(name, str) and body.name == name:
                return body
        raise unknown_name("body of the scene", name, self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.names

    def __iter__(self) -> Iterator[SceneBody]:
        return iter(self.bodies)

    def __len__(self) -> int:
        return len(self.bodies)

    def __add__(self, other: Iterable[SceneBody | Iterable[SceneBody]]) -> Scene:
        return Scene([*self.bodies, *_flat(other)])

    def surface_below(self, point: Any, t: float = 0.0, *, above: float = 0.02) -> Surface | None:
        """The highest surface below a point (3,) in m at the time t in s; None where there is nothing below.

        Surfaces up to ``above`` m over the point count too: feet sink in a little. Bodies that physics moves are taken
        where they start.
        """
        start = np.array(checks.vector(point, "The point above a surface (m)"))
        start[2] += checks.not_negative(above, "above (m)")
        t = checks.finite(t, "The time of a surface (s)")
        best: Surface | None = None
        for body in self.bodies:
            hit = ray_hit(body.shape, body.size, body.at(t), start, _DOWN)
            if hit is None:
                continue
            height = float(start[2] - hit[0])
            if best is None or height > best.height:
                x, y, z = (float(c) for c in hit[1])
                best = Surface(body.name, height, (x, y, z), body.friction)
        return best

    def __repr__(self) -> str:
        return f"Scene({', '.join(self.names)})"


def _flat(bodies: Any) -> Iterator[SceneBody]:
    if isinstance(bodies, SceneBody):
        yield bodies
        return
    if isinstance(bodies, (str, bytes)) or not hasattr(bodies, "__iter__"):
        wanted = "A scene holds bodies, as scenes.ground() and scenes.box(...) make them"
        raise Error(f"{wanted}; found {one_line(repr(bodies), 80)}.", found=bodies)
    for body in bodies:
        yield from _flat(body)
