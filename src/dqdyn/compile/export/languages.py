"""Languages that programs can be exported to. A new one is one file with one function, and a line here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from dqdyn.compile.export.c import to_c, to_c_header
from dqdyn.compile.export.c_precision import precision_named
from dqdyn.compile.export.casadi import to_casadi
from dqdyn.compile.export.jax import BLOCK, LoopFunction, to_jax
from dqdyn.compile.export.labels import Labels
from dqdyn.compile.export.names import function_name
from dqdyn.compile.export.sympy import Symbolic, to_sympy
from dqdyn.compile.trace.program import Program
from dqdyn.errors import unknown_name


def c(
    program: Program, labels: Labels, *, symbol: str | None = None, header: bool = False, precision: str = "float64"
) -> str:
    """C99 source, or its header, with a function called ``symbol``; ``precision``: "float64" or "float32"."""
    name, numbers = function_name(program, symbol), precision_named(precision)
    if header:
        return to_c_header({name: program}, {name: labels}, precision=numbers)
    return to_c(program, name, labels, numbers)


def casadi(program: Program, labels: Labels, *, symbol: str | None = None, sparse: bool = False) -> Any:
    """A ``casadi.Function`` called ``symbol``; see :func:`to_casadi`."""
    return to_casadi(program, symbol, sparse)


def jax(
    program: Program,
    labels: Labels,
    *,
    unit_quaternions: Sequence[tuple[int, int]] = (),
    block: int = BLOCK,
) -> LoopFunction:
    """A pure function of JAX arrays, ``block`` states at a time; see :func:`to_jax`."""
    return to_jax(program, labels.summary, unit_quaternions, block)


def sympy(program: Program, labels: Labels, *, constants: str = "float") -> Symbolic:
    """A :class:`Symbolic`; see :func:`to_sympy`."""
    return to_sympy(program, constants, labels)


LANGUAGES: dict[str, Callable[..., Any]] = {"c": c, "casadi": casadi, "jax": jax, "sympy": sympy}
"""``exporter(program, labels, **options)`` by language."""


def exporter(language: str) -> Callable[..., Any]:
    """The exporter to a language."""
    if language not in LANGUAGES:
        raise unknown_name("language to export to", language, LANGUAGES)
    return LANGUAGES[language]


def options_of(language: str) -> list[str]:
    """Names of the options of an exporter."""
    parameters = inspect.signature(exporter(language)).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]


def export(language: str, program: Program, labels: Labels | None = None, **options: Any) -> Any:
    """The program in a language: "c" gives text, "casadi" a ``casadi.Function``, "jax" a function."""
    known = options_of(language)
    for name in options:
        if name not in known:
            raise unknown_name(f"option of the export to {language}", name, known)
    return exporter(language)(program, labels or Labels(), **options)
