"""A contact: where the robot touches what, how it may push there, and which motion it prevents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import Quaternion, rotate
from dqdyn.algebra.real import real_array, real_number
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.arrays import Array, Reals
from dqdyn.caching import cached_property
from dqdyn.contacts import axes, checks, unknowns
from dqdyn.contacts.cone_rows import ConeRows, Row, cone_rows, wrench_rows
from dqdyn.contacts.margins import Margin, margins
from dqdyn.errors import Error, StateError, one_line
from dqdyn.geometry.arguments import raw_plane
from dqdyn.geometry.distances import point_to_plane_distance
from dqdyn.geometry.primitives import Plane
from dqdyn.kinematics.tree import frame_pose
from dqdyn.model.description import WORLD
from dqdyn.model.inertia import Vector
from dqdyn.model.model import WORLD_BODY, Model

GROUND = Plane([0.0, 0.0, 1.0], distance=0.0)
"""z = 0."""

KINDS = {1: "point", 2: "edge"}


@dataclass(frozen=True)
class Contact:
    """A point, edge or face of ``frame`` against ``partner``; made by :func:`point`, :func:`edge` and :func:`face`.

    * ``frame``: a frame of the robot; ``corners``: 1 (point), 2 (edge) or more (face) points in its axes, in m.
    * ``normal``: the unit vector along which the partner pushes the robot: of a face in the axes of ``frame``, of
      points and edges in those of the partner.
    * ``friction``: μ; ``torsional_friction`` in m: greatest moment about the normal per normal force, beside what the
      tangential forces at the corners have; ``greatest_normal_force`` in N.
    * ``partner``: "world" or a frame of another body of the robot, which feels the opposite wrench.
    * ``mode``: "fixed", "sliding" along one or two ``directions`` (unit vectors in the axes of ``normal``; of an edge
      in the contact frame), or "off". Friction acts against the first direction; a second one is free.
    * ``edges`` of the friction pyramid per corner, inside the round cone: ‖f_t‖ ≤ μ f_n at the edges, μ cos(π/n) f_n
      at the sides.
    * ``cone``: "wrench" for the wrench as unknowns and rows that bound it, or "corners" for a force per pyramid edge
      and corner.

    The contact frame has its origin at the mean of the corners, z along the normal, and x, y in the plane across it: of
    a face x is the frame's x axis projected (its y axis where x is along the normal), of a point the same with the
    partner's axes, of an edge x is its direction, from first to second end. A contact wrench
    [f_t1, f_t2, f_n, τ_t1, τ_t2, τ_n] acts on the robot at that origin, in these axes.
    """

    frame: str
    corners: tuple[Vector, ...]
    normal: Vector = (0.0, 0.0, 1.0)
    friction: float = 0.7
    torsional_friction: float = 0.0
    greatest_normal_force: float = math.inf
    partner: str = WORLD
    mode: str = "fixed"
    directions: tuple[Vector, ...] = ()
    edges: int = 4
    cone: str = "wrench"
    name: str = ""

    def __post_init__(self) -> None:
        frame = checks.text(self.frame, "the frame of a contact")
        name = checks.text(self.name, "the name of a contact", frame)
        given = {
            "name": name,
            "partner": checks.text(self.partner, f"the partner of the contact {name!r}"),
            "corners": checks.vectors(self.corners, "corners", name),
            "normal": checks.unit_vector(self.normal, "normal", name),
            "friction": checks.not_negative(self.friction, "friction", "", name),
            "torsional_friction": checks.not_negative(self.torsional_friction, "torsional friction", " in m", name),
            "greatest_normal_force": checks.not_negative(
                self.greatest_normal_force, "greatest normal force", " in N", name, infinite=True
            ),
            "mode": checks.choice(self.mode, "mode of contacts", checks.MODES),
            "directions": checks.vectors(self.directions, "directions of sliding", name),
            "edges": _edges(self.edges, name),
            "cone": checks.choice(self.cone, "cone of contacts", checks.CONES),
        }
        for field, value in given.items():
            object.__setattr__(self, field, value)
        self._check_geometry()

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: constants are computed anew, and read-only as they must be."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _check_geometry(self) -> None:
        if not self.corners:
            raise Error(f"the contact {self.name!r} has no corners: give 1, 2 or more points.", contact=self.name)
        if self.kind == "edge":
            checks.edge_corners(self.corners, self.name)
        elif self.kind == "face":
            checks.face_corners(self.corners, self.normal, self.name)
        across = (0.0, 0.0, 1.0) if self.kind == "edge" else self.normal
        checks.sliding_directions(self.directions, across, self.mode, self.name)

    @property
    def kind(self) -> str:
        """ "point", "edge" or "face"."""
        return KINDS.get(len(self.corners), "face")

    def with_mode(self, mode: str, directions: Any = ()) -> Contact:
        """The same contact, "fixed", "sliding" along directions, or "off"."""
        return replace(self, mode=mode, directions=directions)

    # --- constants of the equations ---------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """k: the number of unknowns φ."""
        return int(self.wrench_basis.shape[1])

    @cached_property
    def wrench_basis(self) -> Array:
        """(6, k): wrench = ``wrench_basis`` @ φ.

        With cone="wrench", φ has the components of the wrench that the contact can have: a point [f_t1, f_t2, f_n] (and
        τ_n with torsional friction), an edge all but the moment about itself, a face all six; without friction the
        tangential forces, and the moment that they make, are left out. Where it slides, φ has f_n and the moments of
        pressure, and the friction follows from them. With cone="corners", φ has one weight per pyramid edge and corner,
        in N of normal force (two with torsional friction; one per corner where it slides or has no friction).
        """
        return _constant(unknowns.wrench_basis(self))

    @cached_property
    def motion_rows(self) -> Array:
        """T (m, 6): T [ω_t1, ω_t2, ω_n, v_t1, v_t2, v_n] = 0 is asked of the body's twist against the partner.

        The twist is that at the contact's origin, in the contact frame. Fixed, the rows are dual to the components of
        the wrench in their order; sliding leaves out its directions.
        """
        return _constant(unknowns.motion_rows(self))

    @cached_property
    def cone_rows(self) -> ConeRows:
        """matrix (r, k) @ φ ≤ right (r,): friction, pressing, center of pressure, yaw, greatest normal force."""
        return cone_rows(self)

    @cached_property
    def generators(self) -> Array:
        """(6, g): the wrench cone is the set of their sums with weights ≥ 0; each presses with 1 N."""
        return _constant(unknowns.generators(self) if self.mode != "off" else np.zeros((6, 0)))

    @cached_property
    def bounds(self) -> tuple[Row, ...]:
        """(name, unit, coefficients (6,) on a wrench that must not be positive), also where they follow from others."""
        return tuple(wrench_rows(self)) if self.mode != "off" else ()

    @cached_property
    def polygon(self) -> Array:
        """The corners (c, 2) in the contact frame, in m, in the order given."""
        return _constant(axes.polygon(self))

    # --- on a robot -------------------------------------------------------------------------------------------

    # These take a robot or its model.

    def check(self, model: Any) -> None:
        """An error where the robot does not have the frame or the partner, or both are on one body."""
        model = model_of(model)
        frame, partner = model.frame(self.frame), axes.partner_frame(self, model)
        if frame.body == partner.body:
            said = f"the contact {self.name!r} is between {self.frame!r} and {self.partner!r}"
            where = "which both rest in the world" if frame.body == WORLD_BODY else "which are on one body"
            raise Error(f"{said}, {where}: choose a frame of another body.", contact=self.name)

    def pose(self, model: Any, q: Scalars) -> DQ:
        """x_0c of the contact frame in the world, over any scalars; an edge must not be along the normal."""
        model = model_of(model)
        return axes.contact_pose(self, model, one_state(model, q))

    def corner_positions(self, model: Any, q: Scalars) -> list[Quaternion]:
        """The corners in the world in m, over any scalars."""
        model = model_of(model)
        return axes.corner_positions(self, model, one_state(model, q))

    def gaps(self, model: Any, q: Scalars, plane: Plane = GROUND) -> list[Scalar]:
        """How far each corner is above a plane in the axes of the partner, in m, over any scalars."""
        model = model_of(model)
        q = one_state(model, q)
        x_0p = frame_pose(model, axes.partner_frame(self, model), q)
        corners = (rotate(x_0p.primary.conj(), c - position(x_0p)) for c in self.corner_positions(model, q))
        return [point_to_plane_distance(corner, raw_plane(plane)) for corner in corners]

    # --- numbers ----------------------------------------------------------------------------------------------

    def wrench(self, phi: Reals) -> Array:
        """[f_t1, f_t2, f_n, τ_t1, τ_t2, τ_n] (..., 6) of the unknowns φ (..., k)."""
        return np.asarray(self._numbers(phi, "the unknowns", self.size) @ self.wrench_basis.T)

    def wrench_of_forces(self, forces: Reals) -> Array:
        """The wrench (..., 6) of a force in N at every corner (..., c, 3), in the contact frame."""
        given = real_array(forces, f"the forces of the contact {self.name!r}", StateError, contact=self.name)
        count = len(self.corners)
        if given.shape[-2:] != (count, 3):
            expected = f"the contact {self.name!r} has {count} corners, so its forces have shape (..., {count}, 3)"
            raise StateError(f"{expected}; found {given.shape}.", contact=self.name, found=given.shape)
        arms = np.column_stack([self.polygon, np.zeros(count)])
        return np.concatenate([given.sum(axis=-2), np.cross(arms, given).sum(axis=-2)], axis=-1)

    def center_of_pressure(self, wrench: Reals) -> Array:
        """(−τ_t2, τ_t1)/f_n (..., 2) in m in the contact frame; NaN where nothing presses."""
        w = self._numbers(wrench, "the wrench", 6)
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.stack([-w[..., 4], w[..., 3]], axis=-1) / w[..., 2:3]
        return np.where(w[..., 2:3] > 0.0, place, np.nan)

    def margins(self, wrench: Reals) -> dict[str, Margin]:
        """How far a wrench (6,) is from each bound by name, with its unit; negative where it is broken."""
        given = self._numbers(wrench, "the wrench", 6)
        if given.ndim > 1:
            said = f"margins are those of one wrench (6,) of the contact {self.name!r}; found shape {given.shape}"
            raise StateError(f"{said}.", contact=self.name, found=given.shape)
        return margins(self, given)

    def holds(self, wrench: Reals, tolerance: float = 1e-9) -> bool:
        """Whether the contact can have this wrench (6,): all margins are at least −tolerance (N, N m)."""
        least = -real_number(tolerance, f"the tolerance of the contact {self.name!r}", contact=self.name)
        if math.isnan(least):
            raise Error(f"the tolerance of the contact {self.name!r} must be a number; found nan.", contact=self.name)
        return all(m.value >= least for m in self.margins(wrench).values() if m.unit != "m")

    def _numbers(self, values: Any, what: str, size: int) -> Array:
        said = f"{what} of the contact {self.name!r}"
        array = real_array(values, said, StateError, contact=self.name)
        if array.shape[-1:] != (size,):
            raise StateError(f"{said} have {size} numbers; found shape {array.shape}.", contact=self.name)
        if not np.isfinite(array).all():
            raise StateError(f"{said} must be finite; found {array.tolist()}.", contact=self.name)
        return array


def model_of(robot: Any) -> Model:
    """A model, or that of a robot."""
    model = getattr(robot, "model", robot)
    if not isinstance(model, Model):
        raise Error(f"a contact is on a robot; found {robot!r}: give the robot first.", found=robot)
    return model


def one_state(model: Model, q: Any) -> Scalars:
    """One configuration (nq,), of any scalars; an error where it has another shape or holds NaN."""
    given: Any = q.tolist() if isinstance(q, np.ndarray) and q.dtype != object and q.shape == (model.nq,) else q
    if not isinstance(given, (Sequence, np.ndarray)) or isinstance(given, (str, bytes)) or len(given) != model.nq:
        shape = f"shape {np.shape(q)}" if isinstance(q, np.ndarray) else one_line(repr(q), 80)
        raise StateError(f"a contact takes one q of {model.name!r}, {model.nq} numbers; found {shape}.", found=q)
    if any(isinstance(c, (str, bytes)) or (isinstance(c, float) and not math.isfinite(c)) for c in given):
        raise StateError(f"q of {model.name!r} must be finite numbers; found {given}.", found=q)
    return list(given)


def _edges(value: Any, name: str) -> int:
    number = real_number(value, f"the edges of the contact {name!r}", contact=name)
    if not number.is_integer():
        raise Error(f"the edges of the contact {name!r} are a whole number; found {number}.", contact=name)
    if not 3 <= number <= checks.MOST_EDGES:
        expected = f"a friction pyramid has 3 to {checks.MOST_EDGES} edges"
        raise Error(f"{expected}; found {int(number)} for the contact {name!r}.", contact=name, found=int(number))
    return int(number)


def _constant(array: Array) -> Array:
    array = np.array(array) + 0.0  # no −0, whose sign would show in messages
    array.flags.writeable = False
    return array
