"""The ways to compute one function, and which of them "auto" stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dqdyn.dynamics.own_formulation import OwnFormulation
from dqdyn.errors import Error, unknown_name
from dqdyn.model.model import Model

Form = Callable[..., Any]
"""``form(model, *inputs)``, over any scalar."""
Method = str | Form
"""The name of a formulation, or a function ``f(model, *inputs)`` that is one for the bodies of a robot."""
Candidate = tuple[Form, Model]
"""A form and the model that it runs on: the robot's own, or an equal one that costs fewer operations."""


@dataclass(frozen=True, eq=False)
class Formulations(Mapping[str, Form]):
    """The formulations of a function by name; "auto" compares the fast forms, or is the formulation ``auto``."""

    function: str
    named: Mapping[str, Form]
    auto: str
    fast: Callable[[Model], list[Candidate]] | None = None
    completed: Callable[[OwnFormulation], Form] | None = None
    """Makes a form of a function that the user wrote for the bodies; None where methods have names alone."""
    axes: int = 1
    """Of the result: 1 for a vector, 2 for a matrix."""

    def __getitem__(self, method: str) -> Form:
        return self.named[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def resolve(self, method: Method) -> Method:
        """The method under which a program is kept; an error for one that the function does not have.

        This class alone interprets "auto"; the compiler then takes the candidate with the fewest operations.
        """
        if method == "auto":
            return "auto" if self.fast is not None else self.auto
        if not isinstance(method, str):
            if callable(method) and self.completed is not None:
                return method
            kinds = "a name" if self.completed is None else "a name or a function"
            text = f"the method of {self.function} is {kinds}, such as {self.auto!r}; found {method!r}."
            raise Error(text, method=method)
        if method not in self:
            raise unknown_name(f"method of {self.function}", method, ["auto", *self], room=1 + len(self))
        return method

    def form(self, method: Method) -> Form:
        """The algorithm as written."""
        if not isinstance(method, str):
            assert self.completed is not None, "resolved before"
            return self.completed(OwnFormulation(self.function, method, self.axes))
        return self[self.auto if method == "auto" else method]

    def candidates(self, model: Model, method: Method) -> list[Candidate]:
        """Forms that all compute the function by the method; the compiler takes the one with the fewest operations."""
        if not isinstance(method, str):  # a changed equation need not hold in other frames than those it was written in
            return [(self.form(method), model)]
        if method == "auto" and self.fast is not None:
            return self.fast(model)
        return self.variants(self.form(method), model)

    def variants(self, form: Form, model: Model) -> list[Candidate]:
        """A formulation holds in any frames: it gets those that cost less."""
        from dqdyn.model.canonical import in_cheap_frames

        return [(form, in_cheap_frames(model))]
