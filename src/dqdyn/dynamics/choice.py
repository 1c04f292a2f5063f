"""The ways to compute one function, and which of them "auto" stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dqdyn.errors import Error, unknown_name
from dqdyn.model.model import Model

Form = Callable[..., Any]
"""``form(model, *inputs)``, over any scalar."""
Candidate = tuple[Form, Model]
"""A form and the model that it runs on: the robot's own, or an equal one that costs fewer operations."""


@dataclass(frozen=True, eq=False)
class Formulations(Mapping[str, Form]):
    """The formulations of a function by name; "auto" compares the fast forms, or is the formulation ``auto``."""

    function: str
    named: Mapping[str, Form]
    auto: str
    fast: Callable[[Model], list[Candidate]] | None = None

    def __getitem__(self, method: str) -> Form:
        return self.named[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def resolve(self, method: str) -> str:
        """The method under which a program is kept; an error for one that the function does not have.

        This class alone interprets "auto"; the compiler then takes the candidate with the fewest operations.
        """
        if method == "auto":
            return "auto" if self.fast is not None else self.auto
        if not isinstance(method, str):
            text = f"the method of {self.function} is a name, such as {self.auto!r}; found {method!r}."
            raise Error(text, method=method)
        if method not in self:
            raise unknown_name(f"method of {self.function}", method, ["auto", *self], room=1 + len(self))
        return method

    def form(self, method: str) -> Form:
        """The algorithm as written."""
        return self[self.auto if method == "auto" else method]

    def candidates(self, model: Model, method: str) -> list[Candidate]:
        """Forms that all compute the function by the method; the compiler takes the one with the fewest operations."""
        if method == "auto" and self.fast is not None:
            return self.fast(model)
        return self.variants(self.form(method), model)

    def variants(self, form: Form, model: Model) -> list[Candidate]:
        """A formulation holds in any frames: it gets those that cost less."""
        from dqdyn.model.canonical import in_cheap_frames

        return [(form, in_cheap_frames(model))]
