"""A formulation that the user wrote, in the place of one by name: ``method=`` takes a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dqdyn.errors import Error
from dqdyn.model.model import Model


@dataclass(frozen=True)
class OwnFormulation:
    """``written(model, *inputs)``, over any scalar: what it gives for the bodies of a robot, checked.

    ``written`` gets external wrenches, {body: wrench}, as one more argument where there are any. ``function`` is the
    function of a robot that it computes: a list of nv scalars, or with ``axes=2`` nv rows of nv scalars.
    """

    function: str
    written: Callable[..., Any]
    axes: int = 1

    @property
    def name(self) -> str:
        """What error messages call it."""
        return str(getattr(self.written, "__qualname__", type(self.written).__name__))

    @property
    def loaded(self) -> Callable[..., Any]:
        """As of a :class:`~dqdyn.dynamics.deferred.Deferred`."""
        return self

    def __call__(self, model: Model, *inputs: Any) -> Any:
        given = inputs[:-1] if inputs[-1] is None else inputs
        try:
            result = self.written(model, *given)
        except Error:
            raise
        except Exception as problem:
            raise Error(
                f"the method {self.name!r} of {self.function} fails on {model.name!r} with {type(problem).__name__}: "
                f"{problem}: write it as {self.name}(model, …) over any scalar, with the functions of "
                "dqdyn.algebra.scalar and without branches on values.",
                method=self.written,
            ) from problem
        return self._checked(model, result)

    def _checked(self, model: Model, result: Any) -> Any:
        """The result as lists that its caller may change."""
        shape = (model.nv,) * self.axes
        try:
            rows = [list(row) for row in result] if self.axes == 2 else [list(result)]
        except TypeError:
            rows = []
        entries = [x for row in rows for x in row]
        fits = len(rows) in (1, model.nv) and {len(row) for row in rows} <= {model.nv}
        if not fits or len(entries) != model.nv**self.axes or any(isinstance(x, _NO_SCALARS) for x in entries):
            raise Error(
                f"the method {self.name!r} of {self.function} must give scalars of shape {shape} for {model.name!r}; "
                f"found {_in_words(result)}.",
                method=self.written,
                expected=shape,
            )
        return rows if self.axes == 2 else rows[0]


_NO_SCALARS = (type(None), str, bytes, list, tuple, dict)


def _in_words(result: Any) -> str:
    """What was given instead."""
    if not isinstance(result, (list, tuple)):
        return type(result).__name__
    kinds = sorted({_in_words(x) if isinstance(x, (list, tuple, *_NO_SCALARS)) else "scalars" for x in result})
    return f"a {type(result).__name__} of {len(result)}" + (f": {', '.join(kinds)}" if kinds else "")
