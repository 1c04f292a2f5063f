"""The area of the support polygon as a feature of the robot: how it grows and shrinks with the corners of contacts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.arrays import Array, RealArray
from dqdyn.caching import cached_property
from dqdyn.contacts.contact import Contact
from dqdyn.contacts.support_polygon import SupportPolygon, convex_hull
from dqdyn.control.core.errors import refused
from dqdyn.control.core.kinematics import FeatureKinematics, State
from dqdyn.control.features.features import Attached, Feature, FramePose
from dqdyn.control.features.hands import HandsPose
from dqdyn.control.features.on_robot import PointLike, point, required
from dqdyn.errors import Error, one_line
from dqdyn.geometry.hull import Hull, convex_hull_of
from dqdyn.geometry.primitives import Point
from dqdyn.model.description import WORLD
from dqdyn.model.model import Model
from dqdyn.robot import Robot

SupportLike = Contact | PointLike | SupportPolygon | Point | RealArray
"""What supports: a contact with all its corners, a point of the robot, or points of the ground that stay."""

_TRIES = 4  # configurations at which corners must be in one line to count as always in line
_FLAT = 1e-12  # of the square of the extent: hulls of less area are lines


@dataclass(frozen=True)
class SupportArea(Feature):
    """The area in m² of the convex hull of points, projected on the ground along z [Quiroz, fig. 4.10].

    Of four corners it is that of two triangles [Quiroz, eq. (4.41)], with the Jacobian [Quiroz, eq. (4.54)].
    ``corners`` of the robot, each with a name, and ``fixed`` points (x, y) of the ground. The gradient is that of the
    shoelace formula: of a corner, half the diagonal between its two neighbours on the hull, at right angles to it.
    """

    corners: tuple[Feature, ...]
    names: tuple[str, ...]
    fixed: tuple[tuple[float, float], ...] = ()
    kind = "number"

    def frames(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(frame for corner in self.corners for frame in corner.frames()))

    def check(self, model: Model) -> None:
        for corner in self.corners:
            corner.check(model)
        rng = np.random.default_rng(0)
        own = [joint for joint in model.joints if joint.master is None]
        flat = [convex_hull(self._points(model, _drawn(own, rng))) for _ in range(_TRIES)]
        if all(len(hull) < 3 or SupportPolygon(hull).area <= _FLAT * np.ptp(hull, axis=0).max() ** 2 for hull in flat):
            remedy = "give at least three that are not in line"
            raise Error(f"the corners of the support area are in one line: {remedy}.", corners=self.names)

    def kinematics(self, state: State) -> FeatureKinematics:
        parts = [corner.kinematics(state) for corner in self.corners]
        at = [c for part in parts for c in part.value[:2]]
        hull = self.hull(at)
        gradient = [c for pair in hull.gradient[: len(parts)] for c in pair]
        columns = {
            k: [total(_products(gradient, [c for part in parts for c in part.columns.get(k, (0.0, 0.0))[:2]]))]
            for k in sorted({k for part in parts for k in part.columns})
        }
        if any(part.rate is None for part in parts):
            return FeatureKinematics([hull.area], columns)
        rate = [c for part in parts for c in (part.rate or ())[:2]]
        drift = [c for part in parts for c in (part.drift or ())[:2]]
        gradient_rate = derivative(lambda c: [g for pair in self.hull(c).gradient for g in pair], at, rate)
        second = total([*_products(gradient, drift), *_products(gradient_rate, rate)])
        return FeatureKinematics([hull.area], columns, [total(_products(gradient, rate))], [second])

    def hull(self, at: Sequence[Scalar]) -> Hull:
        """The hull of corners at x, y, x, y, … and of the fixed points, corners first."""
        return convex_hull_of([*zip(at[::2], at[1::2], strict=True), *self.fixed])

    def polygon_at(self, robot: Robot, q: Sequence[float]) -> SupportPolygon:
        """The support polygon at q."""
        return SupportPolygon(convex_hull(self.positions(robot, q)))

    def on_hull_at(self, robot: Robot, q: Sequence[float]) -> tuple[str, ...]:
        """Names of the robot's corners that are corners of the hull at q."""
        flags = convex_hull_of(self.positions(robot, q).tolist()).is_corner
        return tuple(name for name, on in zip(self.names, flags, strict=False) if on)

    def positions(self, robot: Robot, q: Sequence[float]) -> Array:
        """(x, y) of all corners, then of the fixed points, in m; by compiled poses: a loop may ask at any step."""
        if not all(type(corner) is Attached for corner in self.corners):
            return self._points(robot.model, q)
        at = np.array(q, dtype=float)
        found = np.empty((len(self.corners) + len(self.fixed), 2))
        for frame, (places, local) in self._by_frame.items():
            motion = Adjoint(DQ.of8(robot.function("pose", frame=frame)(at).tolist()))
            axes = np.array([column.vector[:2] for column in motion.columns])
            found[places] = local @ axes + motion.p.vector[:2]
        found[len(self.corners) :] = np.reshape(self.fixed, (-1, 2))
        return found

    @cached_property
    def _by_frame(self) -> dict[str, tuple[list[int], Array]]:
        """Indices of the corners on each frame, and where they are in its axes (k, 3)."""
        places: dict[str, list[int]] = {}
        for i, corner in enumerate(self.corners):
            places.setdefault(corner.frames()[0], []).append(i)
        local = {i: corner.local for i, corner in enumerate(self.corners) if isinstance(corner, Attached)}
        return {frame: (indices, np.array([local[i] for i in indices])) for frame, indices in places.items()}

    def _points(self, model: Model, q: Sequence[float]) -> Array:
        state = State(model, q)
        values = [corner.kinematics(state).value for corner in self.corners]
        return np.array([*((float(x), float(y)) for x, y, _ in values), *self.fixed])


def support_area(contacts: SupportLike | Iterable[SupportLike]) -> SupportArea:
    """The area between contacts of dqdyn.contacts with all their corners, points of the robot, and fixed points.

    Contacts that are off do not support and are left out, as in :func:`dqdyn.contacts.support_polygon`. Fixed points
    are (x, y) or (x, y, z) in m, a Point, or a SupportPolygon; those inside of the hull of the others change nothing,
    and are left out once and for all.
    """
    corners: list[Feature] = []
    names: list[str] = []
    fixed: list[tuple[float, float]] = []
    for given in _listed(contacts):
        if isinstance(given, Contact):
            if given.partner != WORLD:
                said = f"the contact {given.name!r} is with {given.partner!r}, which is on the robot"
                raise Error(f"{said}: it does not support; leave it out.", contact=given.name)
            if given.mode != "off":
                corners += [point(given.frame, corner) for corner in given.corners]
                names += [f"{given.name}: corner {i + 1}" for i in range(len(given.corners))]
        elif isinstance(given, (str, Feature)):
            corner = required(point, given, "What supports")
            corners.append(corner)
            names.append(corner.place)
        else:
            fixed += _fixed(given)
    if not corners:
        raise Error("a support area needs a corner on the robot: no contact that is on, and no point of the robot.")
    if len(corners) + len(fixed) < 3:
        found = len(corners) + len(fixed)
        raise Error(f"a support area has at least three corners in all; found {found}.", found=found)
    hull = convex_hull(np.array(fixed)).tolist() if fixed else []
    return SupportArea(tuple(corners), tuple(names), tuple((float(x), float(y)) for x, y in hull))


def _listed(given: Any) -> list[Any]:
    alone = isinstance(given, (str, Contact, Feature, FramePose, HandsPose, SupportPolygon, Point))
    if alone or not isinstance(given, Iterable):
        given = [given]
    return list(given)


def _fixed(given: Any) -> list[tuple[float, float]]:
    """Points (x, y) of the ground."""
    what = "What supports"
    wanted = f"{what} is a contact, a frame or a point of the robot, or a fixed point (x, y) in m"
    if isinstance(given, SupportPolygon):
        array = np.asarray(given.corners, dtype=float)
    else:
        try:
            array = np.atleast_2d(real_array(given.position if isinstance(given, Point) else given, what))
        except Error:
            raise Error(f"{wanted}; found {one_line(repr(given), 80)}.", found=given) from None
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise refused(wanted, given)
    if not np.isfinite(array).all():
        raise refused("Fixed points of a support area must be finite", given)
    return [(float(p[0]), float(p[1])) for p in array]


def _drawn(joints: Sequence[Any], rng: np.random.Generator) -> list[float]:
    return [float(c) for joint in joints for c in joint.motion.random(rng, joint.lower, joint.upper)]


def _products(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    return [x * y for x, y in zip(a, b, strict=False)]
