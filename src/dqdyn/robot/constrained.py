"""Constraints of :class:`dqdyn.Robot`: who has them, what they ask, their forces, and the way back onto them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.arrays import Array, Reals, Times
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.errors import Error, ModelError, StateError
from dqdyn.model.model import Model
from dqdyn.robot.base import Inputs
from dqdyn.robot.second_order import SecondOrderMethods
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.constraints.constraint import Constraint
    from dqdyn.constraints.dependence import ConstraintReport
    from dqdyn.constraints.methods.reduced import Reduced
    from dqdyn.constraints.stabilisation import Baumgarte, Projection, StabilisationChoice
    from dqdyn.robot.robot import Robot


class ConstrainedMethods(SecondOrderMethods):
    """A v = b, A a = b, multipliers, projections."""

    __slots__ = ()

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What binds the robot beside its joints; see :mod:`dqdyn.constraints`."""
        return self.model.constraints

    @property
    def stabilisation(self) -> Baumgarte | Projection | None:
        """How simulations keep to the constraints: None, ``Baumgarte(rate)`` or ``Projection()``."""
        held: Baumgarte | Projection | None = self.model.stabilisation
        return held

    @property
    def constraint_rows(self) -> tuple[str, ...]:
        """The name of the constraint behind each row of A."""
        return tuple(c.name for c in self.model.constraints for _ in range(c.rows(self.model)))

    def with_constraints(
        self, *constraints: Constraint, stabilisation: StabilisationChoice = None, check: bool = True
    ) -> Robot:
        """The same robot with more constraints.

        ``stabilisation`` is None (the one the robot has), "baumgarte", "projection", ``Baumgarte(rate)``,
        ``Projection()`` or False (none). ``check=False`` skips the search for a state that obeys all of them, without
        which constraints that contradict each other are refused.
        """
        from dqdyn.robot.constrained_edit import with_constraints

        return with_constraints(self, constraints, stabilisation, check)

    def without_constraints(self) -> Robot:
        """The bare tree: loops open, contacts gone, a differential base as a planar one."""
        from dqdyn.robot import edit
        from dqdyn.robot.robot import Robot

        bare = Robot(replace(self.model, constraints=(), stabilisation=None))
        return bare._rebuilt(*edit.bare(self.model.description, self.model.base))

    # --- what they ask ----------------------------------------------------------------------------------------

    def constraint_matrix(self, q: Reals, v: Reals | None = None, t: Times = 0.0, *, check: bool = True) -> Array:
        """A (..., m, nv) of A v = b and A a = b, rows as in :attr:`constraint_rows`; v is not needed."""
        return self._of_rows("constraint_matrix", (q, t), check, (0, self.model.nv))

    @compiled_method(inputs=3)
    def constraint_matrix_rate(self, q: Reals, v: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """Ȧ (..., m, nv) along the motion."""
        return self._of_rows("constraint_matrix_rate", (q, v, t), check, (0, self.model.nv))

    @compiled_method(inputs=3)
    def constraint_bias(self, q: Reals, v: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """b (..., m) of A a = b: −Ȧ v, what moving constraints add, and the robot's stabilisation."""
        return self._of_rows("constraint_bias", (q, v, t), check, (0,))

    @compiled_method(inputs=2)
    def constraint_residual(self, q: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """What must vanish at q, in m and rad, of the holonomic constraints, concatenated (..., mh)."""
        return self._of_rows("constraint_residual", (q, t), check, (0,))

    @compiled_method(inputs=3)
    def constraint_velocity(self, q: Reals, v: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """A v − b (..., m), which must vanish."""
        return self._of_rows("constraint_velocity", (q, v, t), check, (0,))

    @compiled_method(inputs=4)
    def constraint_multipliers(self, q: Reals, v: Reals, tau: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """λ (..., m) of M a = τ − bias + Aᵀλ; 0 for rows that depend on earlier ones."""
        self._functions.variables.inertia.require_inertia()
        return self._of_rows("constraint_multipliers", (q, v, tau, t), check, (0,))

    @compiled_method(inputs=4)
    def constraint_forces(self, q: Reals, v: Reals, tau: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """Aᵀλ (..., nv): the generalized forces by which the constraints act."""
        self._functions.variables.inertia.require_inertia()
        return self._of_rows("constraint_forces", (q, v, tau, t), check, (self.model.nv,))

    def constraint_report(self, q: Reals, v: Reals | None = None, t: float = 0.0) -> ConstraintReport:
        """Rank of A at one state, which rows depend on which constraints, and which contradict each other."""
        from dqdyn.constraints.dependence import report

        at = self._one_state("q", q)
        speed = np.zeros(self.model.nv) if v is None else self._one_state("v", v)
        bias = self.constraint_bias(at, speed, t) if v is not None else self._speed(at, t)
        return report(self.constraint_matrix(at, None, t), bias, self.constraint_rows)

    # --- states that obey them --------------------------------------------------------------------------------

    def project(
        self, q: Reals, v: Reals | None = None, t: Times = 0.0, *, tolerance: float = 1e-11, iterations: int = 100
    ) -> tuple[Array, Array]:
        """The state (q, v) brought onto the constraints: q by shortest steps, v to the nearest by kinetic energy.

        v is zero where none is given, so that the result is at rest unless the constraints move. Batches are (..., n).
        A :class:`StateError` names the constraint that cannot be met from there, and how far off it is.
        """
        from dqdyn.robot.projection import project

        return project(self, q, v, t, tolerance, iterations)

    def require_consistent(self, q: Reals, v: Reals | None = None, t: Times = 0.0, *, tolerance: float = 1e-6) -> None:
        """A :class:`StateError` unless q (and v) obey the constraints: which one, how far off, and the remedy."""
        from dqdyn.robot.projection import require_consistent

        require_consistent(self, q, v, t, tolerance)

    def reduced_dynamics(self, q: Reals, v: Reals, t: float = 0.0) -> Reduced:
        """Kane's reduced M and C in independent quasi-velocities, at one state."""
        from dqdyn.constraints.methods.reduced import reduced

        at, speed = self._one_state("q", q), self._one_state("v", v)
        a, rate = self.constraint_matrix(at, None, t), self.constraint_matrix_rate(at, speed, t)
        plain = self._unstabilised
        b_rate = plain.constraint_bias(at, speed, t) + rate @ speed
        static = self.bias_forces(at, speed) - self.coriolis_matrix(at, speed) @ speed
        return reduced(
            self.mass_matrix(at), self.coriolis_matrix(at, speed), static, a, rate, self._speed(at, t), b_rate
        )

    def constraint_projector(self, q: Reals, t: Times = 0.0) -> Array:
        """Ω (..., nv, nv) that takes away what the constraints hold: M a + Ω C v − … = Ω τ [Quiroz, eq. (5.47)]."""
        from dqdyn.constraints.methods.square_roots import projector

        return projector(self.mass_matrix(q), self.constraint_matrix(q, None, t))

    # --- inside -----------------------------------------------------------------------------------------------

    def _of_rows(self, name: str, inputs: Inputs, check: bool, empty: tuple[int, ...]) -> Array:
        """A function of the constraints; of shape ``empty`` and zero where there are none."""
        if self.model.constraints:
            return self._run(name, inputs, check=check)
        return np.zeros((*np.broadcast_shapes(*(np.shape(x)[:-1] for x in inputs)), *empty))

    def _speed(self, q: Reals, t: Times, check: bool = True) -> Array:
        """b (..., m) of A v = b."""
        return self._of_rows("constraint_speed", (q, t), check, (0,))

    @property
    def _unstabilised(self) -> Robot:
        from dqdyn.robot.robot import Robot

        if self.model.stabilisation is None:
            return self  # type: ignore[return-value]
        return Robot(replace(self.model, stabilisation=None))

    def _one_state(self, name: str, value: Any) -> Array:
        array = as_state(self.model, name, value)
        if array.ndim != 1:
            raise StateError(
                f"{name} is one state here, of shape {array.shape[-1:]}; found {array.shape}.", argument=name
            )
        return array


def with_described_constraints(model: Model) -> Model:
    """The model with the constraints of its base and the loops of its description."""
    description = model.description
    if model.base != "differential" and not description.loops:
        return model
    from dqdyn.constraints.described import described
    from dqdyn.constraints.stabilisation import from_numbers

    found = described(description, model.base)
    return checked(replace(model, constraints=found, stabilisation=from_numbers(description.stabilisation)))


def with_kept_constraints(old: Model, new: Model) -> Model:
    """The new model, an edited old one, with the old one's constraints; the rolling of a base goes with the base."""
    if not old.constraints and new.base != "differential":
        return new
    from dqdyn.constraints.described import rolling

    kept = tuple(c for c in old.constraints if new.base == "differential" or not c.of_base(old.base))
    if new.base == "differential" and not any(c.of_base(new.base) for c in kept):
        kept = (rolling(new.description), *kept)
    return checked(replace(new, constraints=kept, stabilisation=old.stabilisation if kept else None))


def checked(model: Model) -> Model:
    """The model; an error if a constraint names a missing joint or frame, or two share a name."""
    seen: set[str] = set()
    for c in model.constraints:
        if not hasattr(c, "acceleration"):
            raise Error(f"with_constraints takes constraints from dqdyn.constraints; found {c!r}.", found=c)
        if missing := [name for name in ("name", "count") if not hasattr(c, name)]:
            raise ModelError(f"the constraint class {type(c).__name__} must define {missing[0]!r}.", found=c)
        if c.name in seen:
            raise ModelError(
                f"two constraints of {model.name!r} are named {c.name!r}: give one of them another name.",
                constraint=c.name,
            )
        seen.add(c.name)
        with fitting(c, model):
            c.check(model)
    return model


@contextmanager
def fitting(c: Constraint, model: Model) -> Iterator[None]:
    """Errors inside name the constraint and the robot that it does not fit."""
    try:
        yield
    except Error as problem:
        data = {**problem.data, "constraint": c.name}
        raise ModelError(f"the constraint {c.name!r} does not fit {model.name!r}: {problem}", **data) from problem
