"""Zones between bodies with a volume: nearest points, found at every step and frozen for it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Self, Unpack

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import pure
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.control.core.errors import no_value, refused
from dqdyn.control.core.inequality import Inequality, ZoneOptions
from dqdyn.control.core.kinematics import SignalMotion, State
from dqdyn.control.core.settings import number
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import FramePose
from dqdyn.control.features.signals import Signal
from dqdyn.control.features.solids import Solid, as_transform, imported_coal, solid_of_body
from dqdyn.errors import Error
from dqdyn.model.model import Model
from dqdyn.scenes.body import SceneBody
from dqdyn.scenes.scene import Scene

SolidsLike = Solid | SceneBody | Scene | Iterable[Solid | SceneBody]
_TOLERANCE, _ITERATIONS = 1e-10, 1000  # of distances in m; directions to curved surfaces are as exact as the root
_SIZE = 9  # of a pair: its two nearest points, each in axes of its own body, and the direction between them


class KeepClear(Inequality):
    """Solids of ``a`` at least ``distance`` m away from those of ``b``, every pair of them: one row each.

    Ends of capsules, and corners of boxes and of meshes with up to 16 vertices, have rows of their own: where flat
    sides are parallel the nearest points jump from one to another.

    ``a`` and ``b``: a :class:`Solid`, a list of them, a scene or its bodies; of every pair at least one is on the
    robot, and both may be. h = nᵀ(p_b − p_a) − distance, with the nearest points p_a and p_b and the direction n from
    the first to the second, as the package ``coal`` finds them at each step. For the step they are fixed to their
    bodies: h and ḣ are exact, and ḧ is that of these points, without what they slide along curved surfaces. Where
    solids overlap, h is minus the depth; meshes with faces have no depth, and a step with them inside is held.
    """

    looks = True
    _poses: Callable[[Array], Array]

    def __init__(self, a: SolidsLike, b: SolidsLike, distance: float = 0.0, **options: Unpack[ZoneOptions]) -> None:
        first, second = _solids(a), _solids(b)
        self.margin = number(distance, "distance of a zone between solids, in m")
        self.pairs = [(x, y) for x, y in product(first, second) if x is not y]
        for x, y in self.pairs:
            if x.place is not None and y.place is not None:
                raise Error(f"{x.words!r} and {y.words!r} are both in the workspace: put one of them on the robot.")
            if x.place is None and x.on == y.on:
                raise Error(f"{x.words!r} and {y.words!r} are on one frame, {x.on!r}: nothing moves them apart.")
        if not self.pairs:
            raise Error("A zone between solids needs two of them.")
        self.main = len(self.pairs)
        for x, y in self.pairs[: self.main]:
            self.pairs += [*((corner, y) for corner in x.corners()), *((x, corner) for corner in y.corners())]
        solids = list({id(s): s for pair in self.pairs for s in pair}.values())
        self._coal = imported_coal()
        self._solids = {id(s): s for s in solids}
        self._shapes = {id(s): s.geometry() for s in solids}
        self._at = {id(s): as_transform(self._coal, s.at.dq) for s in solids}
        frames = tuple(dict.fromkeys(str(s.on) for s in solids if s.place is None))
        self._frames = {frame: i for i, frame in enumerate(frames)}
        places = {id(s.place): s.place for s in solids if s.place is not None}
        self._places = {key: i for i, key in enumerate(places)}
        self._frozen = FrozenPoints(len(self.pairs), f"the nearest points of {first[0].words} and {second[0].words}")
        name = f"clearance: {first[0].words} and {second[0].words}"
        if self.main > 1:
            name = f"clearance of {self.main} pairs"
        super().__init__(name, tuple(map(FramePose, frames)), (*places.values(), self._frozen), **options)

    def bound_to(self, model: Model) -> Self:
        result = copy.copy(super().bound_to(model))
        result._frozen = FrozenPoints(len(self.pairs), self._frozen.what)
        result.signals = (*self.signals[:-1], result._frozen)

        def poses(q: list[Scalar]) -> tuple[list[Scalar], tuple[int, ...]]:
            state = State(model, q)
            entries = [c for feature in self.features for c in feature.kinematics(state).value]
            return entries, (len(entries),)

        result._poses = Function(trace("poses_of_solids", [("q", model.nq)], poses)).fast
        return result

    def row_names(self) -> list[str]:
        names = [f"{self.name}: {a.words} and {b.words}" for a, b in self.pairs]
        return [self.name, *names[1:]] if self.main == 1 else names

    def look_around(self, t: float, q: Array) -> None:
        """Find the nearest points at a state."""
        robot = self._poses(q).reshape(-1, 8).tolist()
        given = []
        for signal in self.signals[:-1]:
            try:
                given.append(signal.at(t).value)
            except Exception as problem:  # of the user's function: the policy decides
                raise no_value(signal.what, problem, signal) from problem
        self._freeze(robot, given)

    def _freeze(self, robot: Sequence[Sequence[float]], given: Sequence[Sequence[float]]) -> None:
        coal, request = self._coal, self._coal.DistanceRequest()
        request.enable_signed_distance = True
        request.gjk_tolerance, request.gjk_max_iterations = _TOLERANCE, _ITERATIONS
        if not all(np.isfinite(pose).all() for pose in (*robot, *given)):
            self._frozen.value[:] = [np.nan] * self._frozen.size
            return
        on_robot, around = ([as_transform(coal, DQ.of8(list(x))) for x in poses] for poses in (robot, given))
        base_of = {key: self._base(solid, on_robot, around) for key, solid in self._solids.items()}
        center_of = {key: base * self._at[key] for key, base in base_of.items()}
        for i, pair in enumerate(self.pairs):
            bases, centers = ([of[id(solid)] for solid in pair] for of in (base_of, center_of))
            found = coal.DistanceResult()
            shapes = [self._shapes[id(solid)] for solid in pair]
            distance = coal.distance(shapes[0], centers[0], shapes[1], centers[1], request, found)
            points = [found.getNearestPoint1(), found.getNearestPoint2()]
            normal = np.asarray(found.normal, dtype=float)
            if distance <= 0.0 and any(solid.faces is not None for solid in pair):
                names = " and ".join(repr(solid.words) for solid in pair)
                problem = Error(f"{names} overlap, and triangles have no inside: leave out faces for the hull")
                raise no_value(self._frozen.what, problem, self._frozen)
            local = [
                c
                for base, p in zip(bases, points, strict=True)
                for c in (base.getRotation().T @ (p - base.getTranslation())).tolist()
            ]
            self._frozen.value[_SIZE * i : _SIZE * (i + 1)] = [*local, *normal.tolist()]

    def _base(self, solid: Solid, robot: Sequence[Any], given: Sequence[Any]) -> Any:
        """The pose (8) of what a solid is fixed to."""
        if solid.place is None:
            return robot[self._frames[str(solid.on)]]
        return given[self._places[id(solid.place)]]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        result: list[Scalar] = []
        for i, pair in enumerate(self.pairs):
            c = given[-1][_SIZE * i : _SIZE * (i + 1)]
            a, b = (
                _moved(DQ.of8(self._base(solid, robot, given)), local)
                for solid, local in zip(pair, (c[:3], c[3:6]), strict=True)
            )
            apart = total(n * (y - x) for n, x, y in zip(c[6:], a, b, strict=True))
            result.append(apart - self.margin)
        return result

    def clearances_at_target(self, task: Task, model: Model) -> Iterable[tuple[str, float]]:
        parts = [task.components_at_target(feature) for feature in self.features]
        known = [part for part in parts if part is not None and np.isfinite(part).all()]
        if len(known) < len(parts):
            return ()
        given = [signal.at(0.0).value for signal in self.signals[:-1]]
        self._freeze(known, given)
        h = self.value(known, [*given, self._frozen.value])
        return zip(self.row_names()[: self.main], map(float, h[: self.main]), strict=True)


class FrozenPoints(Signal):
    """Nearest points of pairs, each seen from its own body, and directions: they rest for the step."""

    def __init__(self, pairs: int, what: str) -> None:
        super().__init__("vector", _SIZE * pairs, what)
        self.value: list[float] = [0.0] * self.size

    def at(self, t: float) -> SignalMotion:
        return SignalMotion(list(self.value), [0.0] * self.size, [0.0] * self.size)


def _solids(given: Any) -> list[Solid]:
    if isinstance(given, Scene):
        given = [given[name] for name in given.names]
    listed = [given] if isinstance(given, (Solid, SceneBody)) else given
    if isinstance(listed, str) or not hasattr(listed, "__iter__"):
        raise refused("a zone between solids takes ct.Solid(…), lists of them, or a scene", given)
    found = [solid_of_body(each) if isinstance(each, SceneBody) else each for each in listed]
    for each in found:
        if not isinstance(each, Solid):
            raise refused("a zone between solids takes ct.Solid(…), lists of them, or a scene", each)
    if not found:
        raise Error("A zone between solids needs two of them.")
    return found


def _moved(x: DQ, p: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """A point of a body at pose x, in the world."""
    r, at = x.primary, 2.0 * (x.dual * x.primary.conj())
    turned = r * pure(*p) * r.conj()
    return tuple(a + b for a, b in zip(turned.vector, at.vector, strict=True))
