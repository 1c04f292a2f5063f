"""The quadratic program of whole-body control as the paper prints it: over accelerations, torques and contact forces.

Nothing is eliminated. In coordinates q, with the conditions C q̈ = c of which λ are the multipliers:

    "minimal"      min Σ w‖task‖²  over (q̈, u, f)     under the equation of motion without λ, (24)
    "projected"    the same        over (q̈, u, f)     under the equation that P frees of λ, (35), and C q̈ = c
    "multipliers"  the same        over (q̈, u, f, λ)  under the equation with Cᵀλ, (32), and C q̈ = c

Tasks, contacts, cones and limits are those of the controller that eliminates all equalities; the four give the same
torques. These are slower by far, and there to be read and compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.caching import cached_property
from dqdyn.constraints import assembled
from dqdyn.constraints.methods.sparse import Sparse, is_zero, less_share, sparse
from dqdyn.control.core.command_constraint import Context
from dqdyn.control.core.composition import Dynamics, Forms, GainPairs, Motion
from dqdyn.control.core.design import Design
from dqdyn.control.qp.conflict import NamedRows
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.control.whole_body.context import Contacts, WholeBodyContext
from dqdyn.control.whole_body.null_space import EqualitySpace
from dqdyn.coordinates.equation_of_motion import condition_projector
from dqdyn.coordinates.tree import TreeCoordinates
from dqdyn.robot import Robot

Form = Literal["eliminated", "minimal", "projected", "multipliers"]
FORMS: tuple[Form, ...] = ("eliminated", "minimal", "projected", "multipliers")
Row = tuple[list[Scalar], Scalar]
"""Coefficients of all unknowns, and a constant."""


class Unknowns:
    """x = (q̈, u, f, μ, λ), and forms in v̇, f and μ as forms in x, by v̇ = E q̈ + Ė q̇; without coordinates q̈ is v̇.

    u are the torques of motors, f those contact forces, and μ those multipliers of loops, that the controller without
    equalities has as unknowns; u, λ, f and μ are in units of the robot's mass, so that all are of one size.
    """

    margins: dict[int, Scalar]

    def __init__(
        self, nv: int, motors: Sequence[int], forces: int, tree: TreeCoordinates | None, multipliers: bool
    ) -> None:
        self.nv, self.motors, self.forces = nv, list(motors), forces
        self.accelerations = nv if tree is None else tree.n
        self.multipliers = tree.conditions if tree is not None and multipliers else 0
        self.margins = {}
        self._columns: list[Sparse] = [{k: 1.0} for k in range(nv)]
        self._drift: list[Scalar] = [0.0] * nv

    def at(self, tree: TreeCoordinates, q: Scalars, rate: Scalars) -> None:
        """Take E and Ė q̇ of a state."""
        self._columns = [{} for _ in range(self.nv)]
        for i, column in enumerate(tree.velocity_columns(q)):
            for k, e in column:
                if not is_zero(e):
                    self._columns[k][i] = e
        self._drift = tree.acceleration(q, rate, [0.0] * tree.n)

    @property
    def first_force(self) -> int:
        return self.accelerations + len(self.motors)

    @property
    def first_multiplier(self) -> int:
        return self.first_force + self.forces

    @property
    def free(self) -> range:
        """All of them: nothing is eliminated."""
        return range(self.first_multiplier + self.multipliers)

    def __call__(self, row: Sparse, constant: Scalar = 0.0) -> Row:
        """Σ row[k] u_k + constant, over v̇, forces and multipliers of loops, as a form in x."""
        result: Sparse = {}
        for k, c in row.items():
            if k >= self.nv:
                result[self.first_force + k - self.nv] = c
                continue
            result = less_share(result, -c, self._columns[k])
            constant = constant + c * self._drift[k]
        return self.dense(result), constant

    def dense(self, row: Sparse) -> list[Scalar]:
        return [row.get(k, 0.0) for k in self.free]

    def forces_on_rates(self, forms: Sequence[Row]) -> list[Row]:
        """Eᵀ times forms of forces on v (nv): forces on q̇."""
        result: list[Row] = [([0.0] * len(self.free), 0.0) for _ in range(self.accelerations)]
        for k, (row, constant) in enumerate(forms):
            for i, e in self._columns[k].items():
                result[i] = added(result[i], (row, constant), e)
        return result


def added(form: Row, other: Row, factor: Scalar) -> Row:
    """form + factor · other."""
    row = [a if is_zero(b) else a + factor * b for a, b in zip(form[0], other[0], strict=True)]
    return row, form[1] + factor * other[1]


@dataclass
class LiteralContext(WholeBodyContext):
    """A state at which nothing is eliminated: forms in the controller's unknowns become forms in x."""

    x: Unknowns = field(kw_only=True)

    @cached_property
    def elimination(self) -> Unknowns:  # type: ignore[override]
        """The change of variables, called as an elimination is."""
        return self.x


class LiteralComposition(WholeBodyComposition):
    """The program in one of the three printed forms; ``tree`` are the coordinates, None for the robot's own v̇.

    They are [Bouyarmane, eq. (36)] by "minimal", [Bouyarmane, eq. (37)] by "projected" and [Bouyarmane, eq. (38)] by
    "multipliers", with weights, joint limits and all else that the controller has beside the paper's.
    """

    def __init__(
        self,
        robot: Robot,
        design: Design,
        contacts: Contacts,
        dynamics: Dynamics,
        force_damping: float,
        form: Form,
        tree: TreeCoordinates | None,
    ) -> None:
        self.form, self.tree = form, tree
        super().__init__(robot, design, contacts, dynamics, force_damping)

    def _context(
        self, t: Scalar, q: list[Scalar], v: list[Scalar], motion: Motion, gains: GainPairs, *given: list[Scalar]
    ) -> Context:
        anchors, self._pressing = given
        loops = len(assembled.names(self.model))
        x = Unknowns(self.model.nv, self.motors, self.contacts.forces + loops, self.tree, self.form == "multipliers")
        if self.tree is not None:
            self._q = self.tree.from_minimal(q)
            self._rate = self.tree.rate(self._q, v)
            x.at(self.tree, self._q, self._rate)
        self._x, self._free = x, len(x.free)
        self._at = LiteralContext(
            self.model, self.level, q, v, motion, gains, dynamics=self.dynamics,
            contacts=self.contacts, anchors=anchors, time=t, plan=self.plan, x=x,
        )  # fmt: skip
        return self._at

    @property
    def _equality_names(self) -> tuple[str, ...]:
        return tuple(self._named)

    @property
    def _idle_forms(self) -> Forms:
        return []  # equalities that depend on others are left to the null space

    def _torque(self, k: int) -> Row:
        """The torque u of a motor, itself an unknown; 0 of an axis without one."""
        place = {self._x.accelerations + self.motors.index(k): self.contacts.scale} if k in self.motors else {}
        return self._x.dense(place), 0.0

    def _robot_constraints(self, context: Context, t: Scalar) -> tuple[list[list[Scalar]], list[Scalar]]:
        """All equalities: the equation of motion, the conditions of the coordinates, loops and contacts."""
        forms = [*self._motion(), *self._conditions(), *self._held()]
        self._named = [name for name, _ in forms]
        return [row for _, (row, _) in forms], [-constant for _, (_, constant) in forms]

    def _motion(self) -> list[tuple[str, Row]]:
        """Per coordinate M q̈ + N q̇ − weight − u − Σ Jᵀf − Cᵀλ = 0, or P times that, without λ.

        In the paper's numbers (32) and (35), with P of (34); (24) without conditions.
        """
        on_axes = [added(self._x(*form), self._torque(k), -1.0) for k, form in enumerate(self._at.equations_of_motion)]
        rows, tree = self._x.forces_on_rates(on_axes), self.tree
        if tree is None or not tree.conditions:
            return [("the equation of motion", row) for row in rows]
        if self.form == "multipliers":
            for c, condition in enumerate(tree.constraint_matrix(self._q)):
                unit = self._x.dense({self._x.first_multiplier + c: self.contacts.scale}), 0.0
                for i, entry in sparse(condition).items():
                    rows[i] = added(rows[i], unit, -entry)
            return [("the equation of motion", row) for row in rows]
        projected: list[tuple[str, Row]] = []
        for weights in condition_projector(tree, self._q):
            row: Row = [0.0] * len(self._x.free), 0.0
            for i, w in sparse(weights).items():
                row = added(row, rows[i], w)
            projected.append(("the equation of motion", row))
        return projected

    def _conditions(self) -> list[tuple[str, Row]]:
        """C q̈ = c."""
        if self.tree is None:
            return []
        rows, right = self.tree.constraint_matrix(self._q), self.tree.constraint_bias(self._q, self._rate)
        return [
            ("the conditions of the coordinates", (self._x.dense(sparse(row)), -c))
            for row, c in zip(rows, right, strict=True)
        ]

    def _held(self) -> list[tuple[str, Row]]:
        """J q̈ + J̇ q̇ = 0 of contacts, with the feedback of drift, and the rows of loops; μ = 0 of those that depend."""
        motion = [e for e in self._at.equalities if not e.name.startswith("no motor: ")]
        held = [(e.name, self._x(e.row, -e.right)) for e in motion]
        loops = assembled.names(self.model)
        first = self.model.nv + self.contacts.forces
        idle = [j for j in range(len(loops)) if j in self.plan.dependent]
        return [*held, *((loops[j], self._x({first + j: 1.0})) for j in idle)]

    def rows(self) -> NamedRows:
        """The bounds at the last state as rows over what the equalities leave free."""
        found = super().rows()
        space = EqualitySpace.of(self.views, self.size)
        if space is None:
            return found
        first, last = self.size.first, self.size.first + self.size.equalities
        kept = (found.index < first) | (found.index >= last)
        a = found.a[kept]
        names = tuple(name for name, keep in zip(found.names, kept, strict=True) if keep)
        return NamedRows(
            np.ascontiguousarray(a @ space.basis),
            found.b[kept] - a @ space.particular,
            names,
            found.relaxable[kept],
            found.index[kept],
            found.is_upper[kept],
        )
