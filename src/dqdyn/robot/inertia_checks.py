"""Robots and states in which a motion moves no inertia, so that forward dynamics has no answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqdyn.algebra.rows import at_state, first_row
from dqdyn.algebra.scalar import Scalar
from dqdyn.caching import cached_property
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace import trace
from dqdyn.dynamics.arguments import Scalars
from dqdyn.errors import Error, ModelError
from dqdyn.model.model import Model


class InertiaChecks:
    """Errors with the joint's name where the mass matrix of a model is singular."""

    def __init__(self, model: Model, native: bool | None = None) -> None:
        self.model, self.native = model, native

    def require_inertia(self) -> None:
        """An error where M is singular in every configuration, and constraints do not help."""
        if self._undetermined is not None:
            raise self._undetermined

    def require_regular(self, inputs: Sequence[np.ndarray]) -> None:
        """An error where M is singular at a state, q the first of the inputs (..., n)."""
        if not self.is_regular:
            self.require_moving(self.vanishing(inputs[0], check=False))

    def require_moving(self, singular: np.ndarray) -> None:
        """An error where a component of v (...) moves no inertia; −1 is none."""
        from dqdyn.dynamics.massless_joints import joint_of

        row = first_row(singular >= 0)
        if row is None:
            return
        joint = joint_of(self.model, int(singular[row]))
        problem = f"forward dynamics of {self.model.name!r} is impossible at {at_state(row)}: joint {joint!r}"
        remedy = "so the mass matrix is singular; leave this configuration, or give the links mass"
        raise ModelError(f"{problem} moves no inertia there, {remedy}.", joint=joint, row=row)

    @cached_property
    def is_regular(self) -> bool:
        """Whether M is regular in every state, or constraints decide."""
        from dqdyn.dynamics.massless_joints import is_regular

        return bool(self.model.constraints) or is_regular(self.model)

    @cached_property
    def _undetermined(self) -> ModelError | None:
        """The error for a robot whose forward dynamics never has an answer."""
        from dqdyn.dynamics.massless_joints import joint_without_inertia

        joint = joint_without_inertia(self.model)
        why = f"joint {joint!r} moves no inertia, so the mass matrix is singular; give its links mass, or lock it"
        if joint is not None and self.model.constraints:
            from dqdyn.constraints.undetermined import free_without_inertia

            joint = free_without_inertia(self.model)
            why = (
                f"its constraints leave joint {joint!r} free to move without inertia; give its links mass, lock it, or "
                "constrain it"
            )
        if joint is None:
            return None
        return ModelError(f"forward dynamics of {self.model.name!r} is impossible: {why}.", joint=joint)

    @cached_property
    def vanishing(self) -> Function:
        """q → the component of v that moves no inertia."""
        from dqdyn.dynamics.massless_joints import pivots, vanishing

        def found(q: Scalars) -> tuple[list[Scalar], tuple[()]]:
            return [vanishing(pivots(self.model, q))], ()

        return Function(trace("vanishing", [("q", self.model.nq)], found), native=self.native)


class RegularStates:
    """What functions that divide by M require of a state; ``quick`` tells in machine code that it is fulfilled."""

    def __init__(self, checks: InertiaChecks) -> None:
        self._checks = checks

    def __call__(self, inputs: Sequence[np.ndarray]) -> None:
        self._checks.require_regular(inputs)

    def quick(self, q: object, *others: object) -> bool:
        """Whether one state is regular; False also where that is not known."""
        if type(q) is not np.ndarray or q.ndim != 1:
            return False
        try:
            return bool(self._checks.vanishing.fast(q) < 0.0)
        except Error:  # in the words of the function that is asked for
            return False
