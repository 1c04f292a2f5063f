"""One numeric function of a robot as data: its inputs, options and result, and the algorithm that computes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from dqdyn.algebra.scalar import Scalar
from dqdyn.compile.codegen.results import ValueKind
from dqdyn.compile.runtime.function import Refusal
from dqdyn.dynamics.choice import Formulations
from dqdyn.dynamics.wrenches import on_bodies
from dqdyn.model.model import Model
from dqdyn.robot.options import KEYS, PASSED_ON, Options

Result = Literal["dq", "twist", "vector", "list", "matrix", "matrices"]
"""What an algorithm gives: 8, 6 or 3 components of an element of the algebra, or lists, nested up to three times."""
Entries = tuple[list[Scalar], tuple[int, ...]]
"""Scalars in row-major order and the shape that they fill."""
Candidates = Sequence[tuple[Callable[..., Any], Any]]
"""Algorithms that compute the same, each with what it runs on."""
Requirement = Callable[["RobotFunction", Model, Options], None]
"""``requirement(function, model, options)`` raises where a robot cannot have the function."""
Refuses = Callable[["RobotFunction", Options], Refusal]
"""``refuses(function, options)`` gives what raises at the states where the first number of the result is NaN."""
TIMES = ("t", "dt")
"""Inputs that are one number."""


@dataclass(frozen=True)
class RobotFunction:
    """``algorithm(subject, *inputs, **options)`` gives the ``result``.

    The subject is what the state belongs to: a model, or a model in other coordinates or quasi-velocities. ``inputs``
    are names such as "q" and "v". Of the ``options``, some are passed on to the algorithm; "wrench_frames", "contacts"
    and "time" add an input each; "packed" keeps the upper triangle of a symmetric matrix; "method" chooses among the
    formulations of ``choice``. Where several algorithms compute the same, ``candidates`` gives them, and the compiler
    takes the cheapest. ``divides`` names the matrix that must be regular: "M", or "B" of quasi-velocities; ``requires``
    is what must hold beyond that. Where the function has no value, the first number of its result may be NaN; then
    ``refuses`` says why.
    """

    name: str
    inputs: tuple[str, ...]
    result: Result
    algorithm: Callable[..., Any] | None = None
    options: tuple[str, ...] = ()
    method: str = ""
    """The method that documents the function, where it has another name."""
    choice: Callable[[Model], Formulations] | None = None
    candidates: Callable[[Any, Options], Candidates] | None = None
    system: Callable[[Any, Options], Candidates] | None = None
    """Algorithms that give a linear system which the result solves (:mod:`dqdyn.compile.trace.linear_system`).

    None where straight-line code solves it better."""
    divides: Literal["", "B", "M"] = ""
    requires: Requirement | None = None
    refuses: Refuses | None = None
    plain: Literal["", "number", "parts"] = ""
    """What the method makes of the array: its only number, or a tuple of its parts."""
    value: Callable[[Model, Options], ValueKind] | None = None
    """What the method makes of the array: a pose, say."""
    columns: Callable[[Any], int] = lambda subject: 0
    """Width of a matrix without rows."""

    @classmethod
    def of(
        cls, name: str, inputs: str, result: Result, algorithm: Any = None, options: str = "", **more: Any
    ) -> RobotFunction:
        """A function whose inputs and options are the words of a text."""
        return cls(name, tuple(inputs.split()), result, algorithm, tuple(options.split()), **more)

    @classmethod
    def table(cls, *functions: RobotFunction) -> dict[str, RobotFunction]:
        """Functions by name."""
        return {function.name: function for function in functions}

    def summary(self, owner: type) -> str:
        """The first paragraph of the documentation, which is that of the method of a robot."""
        documented = getattr(owner, self.method or self.name, None) or self.algorithm
        return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())

    def keys(self, options: Options) -> tuple[Any, ...]:
        """The options by which compiled methods look the function up: frames, then the one that chooses a form."""
        return tuple(getattr(options, name) for name in KEYS if name in self.options)

    def algorithms(self, subject: Any, options: Options) -> Candidates:
        """All candidates, each with what it runs on."""
        if self.candidates is not None:
            return self.candidates(subject, options)
        if self.choice is not None:
            return self.choice(subject).candidates(subject.with_frames(options.wrench_frames), options.method)
        return [self.as_written(subject, options)]

    def as_written(self, subject: Any, options: Options) -> tuple[Callable[..., Any], Any]:
        """The one algorithm whose operations the papers count, and what it runs on."""
        if self.candidates is not None:
            return self.candidates(subject, options)[0]
        form = self.algorithm if self.choice is None else self.choice(subject).form(options.method)
        assert form is not None
        return form, subject

    def of_system(self, subject: Any, options: Options) -> RobotFunction | None:
        """The function that gives the linear system."""
        if self.system is None or not self.system(subject, options):
            return None
        return replace(self, name=f"{self.name}_system", candidates=self.system, system=None)

    def run(self, subject: Any, options: Options, *inputs: Sequence[Scalar]) -> Entries:
        """The algorithm as written, on scalars of any kind."""
        return self.evaluate(*self.as_written(subject, options), options, *inputs)

    def all_inputs(self, options: Options) -> tuple[str, ...]:
        """Names of the inputs, with those that the options add."""
        added = {"wrenches": options.wrench_frames, "contact_forces": options.contacts, "t": options.time}
        return (*self.inputs, *(name for name, present in added.items() if present), *options.parameters)

    def evaluate(self, form: Callable[..., Any], on: Any, options: Options, *inputs: Sequence[Scalar]) -> Entries:
        """An algorithm of this function on scalars of any kind."""
        values = dict(zip(self.all_inputs(options), inputs, strict=True))
        given = [values[name][0] if name in TIMES else values[name] for name in self.inputs]
        more = {name: getattr(options, name) for name in self.options if name in PASSED_ON}
        if options.wrench_frames:
            frames, axes = options.wrench_frames, options.wrench_expressed
            more["wrenches"] = on_bodies(on, frames, axes, values["q"], values["wrenches"])
        if options.contacts:
            more["contacts"], more["forces"] = options.contacts, values["contact_forces"]
        if options.time:
            more["t"] = values["t"][0]
        entries, shape = flatten(self.result, form(on, *given, **more), self.columns(on))
        return upper_triangle(entries, shape[0]) if options.packed else (entries, shape)


def with_parameters(*functions: RobotFunction, without: Sequence[str]) -> dict[str, RobotFunction]:
    """Functions by name, which take parameters of the robot as inputs, but for some."""
    return {f.name: f if f.name in without else replace(f, options=(*f.options, "parameters")) for f in functions}


def flatten(result: Result, value: Any, columns: int = 0) -> Entries:
    """A result of the algebra as scalars and a shape."""
    if result == "matrix":
        return [c for row in value for c in row], (len(value), len(value[0]) if value else columns)
    if result == "matrices":
        parts = [flatten("matrix", matrix) for matrix in value]
        return [c for entries, _ in parts for c in entries], (len(parts), *parts[0][1])
    entries = _FLAT[result](value)
    return entries, (len(entries),)


def upper_triangle(entries: list[Scalar], n: int) -> Entries:
    """Of a symmetric matrix what is on and above the diagonal, row by row."""
    kept = [entries[i * n + j] for i in range(n) for j in range(i, n)]
    return kept, (len(kept),)


_FLAT: dict[str, Callable[[Any], list[Scalar]]] = {
    "dq": lambda x: list(x.components),
    "twist": lambda x: [*x.primary.vector, *x.dual.vector],
    "vector": lambda x: list(x.vector),
    "list": list,
}
