"""Any constraint that is linear in the velocities, given by a function of the algebra."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.constraints.constraint import Constraint, Place, Rows
from dqdyn.model.model import Model


@dataclass(frozen=True)
class Pfaffian(Constraint):
    """A(q, t) v = b(q, t) [Parsa, eq. (5)] [Parsa, eq. (6)], with ``function(at)`` giving A by rows, or (A, b).

    ``at`` is a :class:`~dqdyn.constraints.Place`. ``count`` is the number of rows. ``timed=True`` lets the
    time enter. Rates come from running the function on jets. Give a function of a module where robots are pickled.
    """

    function: Callable[[Place], Any]
    count: int = 1
    timed: bool = False
    name: str = "pfaffian"
    holonomic: ClassVar[bool] = False
    moves: ClassVar[bool] = True

    def velocity(self, model: Model, q: Scalars, t: Scalar = 0.0) -> Rows:
        given = self.function(Place(model, q, t))
        a, b = given if isinstance(given, tuple) and len(given) == 2 else (given, [0.0] * self.count)
        return [list(r) for r in a], list(b)

    def check(self, model: Model) -> None:
        a, b = self.velocity(model, neutral(model))
        if len(a) != self.count or len(b) != self.count or any(len(r) != model.nv for r in a):
            must = f"must give {self.count} rows of {model.nv} entries (nv) and as many b"
            found = f"{len(a)} rows of {sorted({len(r) for r in a})} and {len(b)} b"
            raise self._error(f"the function of the constraint {self.name!r} {must}; found {found}.")


def neutral(model: Model) -> list[float]:
    """q with every joint at its zero."""
    return [float(c) for joint in model.joints if joint.master is None for c in joint.motion.neutral()]
