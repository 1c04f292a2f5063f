"""A controller written over any scalar, so that a compiled step can contain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.errors import Error, one_line

Law = Callable[[Scalar, Scalars, Scalars], Scalars]
"""``law(t, q, v)`` gives nv generalized forces, over any scalar."""
_SHORT = 100  # characters of a value in a message


@dataclass(frozen=True)
class ControlLaw:
    """A controller that becomes part of the compiled step: ``function(t, q, v)`` gives nv scalars.

    It is written over any scalar (``+ - *`` and the functions of :mod:`dqdyn.algebra.scalar`), without branches on
    values, and acts at every stage of the integrator: no Python runs during the simulation.
    """

    function: Law

    def __post_init__(self) -> None:
        shown = one_line(" ".join(repr(self.function).split()), _SHORT)
        if not callable(self.function):
            raise Error(f"a control law is a function (t, q, v) -> forces; found {shown}.")
        try:
            hash(self.function)
        except TypeError:
            text = f"a control law is kept with its compiled step, so {shown} must be hashable."
            raise Error(text) from None

    def __call__(self, t: Scalar, q: Scalars, v: Scalars) -> Scalars:
        return self.function(t, q, v)
