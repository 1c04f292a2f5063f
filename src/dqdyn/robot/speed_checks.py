"""Input checks of a robot in quasi-velocities: functions that give no matrix, and states without an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from dqdyn.algebra.checks import UNIT_TOLERANCE
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.rows import at_state, first_row
from dqdyn.algebra.scalar import Scalar
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace
from dqdyn.dynamics.formulations.speeds import Speeds
from dqdyn.dynamics.massless_joints import vanishing_rows
from dqdyn.errors import Error, ModelError, StateError
from dqdyn.model.model import Model

DEPENDENT = 1e-10
"""A column of which less than this part is across the others depends on them."""
_MEANING = {"B": "v = B(q) u", "Y": "u = Y(q) v"}


def as_matrix(model: Model, name: str, function: Any) -> tuple[Speeds, Program]:
    """A function of the user that gives B or Y, with plain numbers as floats; also the program of its entries."""
    if not callable(function):
        raise Error(
            f"{name} of in_speeds is a function of q that gives the rows of {_MEANING[name]}, as in "
            f"lambda q: [[1.0, 0.0], [1.0, 1.0]]; found {type(function).__name__}.",
            argument=name,
        )

    def rows(q: Sequence[Scalar]) -> list[list[Scalar]]:
        return [[float(e) if isinstance(e, Real) else e for e in row] for row in function(list(q))]

    shape: list[int] = []

    def flat(q: Sequence[Scalar]) -> list[Scalar]:
        found = rows(q)
        shape[:] = [len(row) for row in found]
        return [e for row in found for e in row]

    try:
        program = trace(name, [("q", model.nq)], lambda q: ((e := flat(q)), (len(e),)))
        trace(name, [("q", model.nq), ("q̇", model.nq)], lambda q, r: ((e := derivative(flat, q, r)), (len(e),)))
    except Exception as problem:  # the function is the user's: whatever it raises, it is to be found
        raise Error(
            f"{name}(q) of in_speeds cannot be traced for {model.name!r}, whose q has {model.nq} entries: "
            f"{type(problem).__name__}: {str(problem).rstrip('.')}; use +, -, * and what dqdyn.algebra.scalar has, "
            "select(less(a, b), x, y) instead of if.",
            argument=name,
        ) from problem
    _check_shape(model, name, shape)
    for k, output in enumerate(program.outputs):
        op, _, value = program.instructions[output]
        if op == "const" and not math.isfinite(value):
            where = f"[{k // shape[0]}][{k % shape[0]}]"
            raise Error(f"{name}(q) of in_speeds is {value} at {where}: give finite entries.", argument=name)
    return rows, program


def _check_shape(model: Model, name: str, shape: list[int]) -> None:
    nv = model.nv
    if not nv:
        raise Error(f"{model.name!r} has no velocities of which others could be made: it has no moving joint.")
    size = shape[0] if shape else 0
    good = len(shape) == nv and set(shape) == {size} and (size == nv if name == "Y" else 1 <= size <= nv)
    if good:
        return
    if name == "Y":
        need = f"{nv} rows of {nv} entries, as it has to be inverted; where u are fewer than v, give B of v = B(q) u"
    elif len(shape) == nv and set(shape) == {size} and size > nv:
        need = f"at most {nv} columns, for {model.name!r} has no more than {nv} independent velocities"
    else:
        need = f"{nv} rows (nv of {model.name!r}) of one length from 1 to {nv}"
    text = f"{name}(q) of in_speeds, with {_MEANING[name]}, needs {need}; found rows of lengths {shape}."
    raise Error(text, argument=name, expected=nv, found=tuple(shape))


def is_constant(program: Program) -> bool:
    """Whether the matrix is the same at every q."""
    return all(program.instructions[output][0] == "const" for output in program.outputs)


def may_be_infinite(program: Program) -> bool:
    """Whether entries divide or take roots, so that they may be NaN or infinite at some q."""
    return any(op in ("div", "sqrt", "atan2") for op, _, _ in program.instructions)


def check_finite(model: Model, name: str, entries: np.ndarray) -> None:
    """An error that names the state where one of the entries of B or Y (..., all of them) is NaN."""
    row = first_row(~np.isfinite(entries).all(axis=-1))
    if row is not None:
        raise StateError(
            f"{name}(q) of {model.name!r} is not finite at {at_state(row)}: choose other quasi-velocities there.",
            argument="q",
            row=row,
        )


def check_independent(model: Model, name: str, found: np.ndarray) -> None:
    """An error that names the state and the column where B or Y is singular, from "independence" (..., m)."""
    row = first_row(~(found > DEPENDENT).all(axis=-1))  # NaN is singular too
    if row is not None:
        column = int(np.argmax(~(found[row] > DEPENDENT)))
        remedy = "the quasi-velocities are not independent there, choose others"
        raise StateError(
            f"{name}(q) of {model.name!r} is singular at {at_state(row)}: its column {column} vanishes or depends on "
            f"those before it, so {remedy}.",
            argument="q",
            row=row,
            column=column,
        )


def check_inertia(model: Model, pivots: np.ndarray) -> None:
    """An error that names the state where BᵀMB is singular, from "pivots" (..., 3m)."""
    found = vanishing_rows(pivots)
    row = first_row(found >= 0)
    if row is not None:
        speed = int(found[row])
        problem = f"forward dynamics of {model.name!r} is impossible at {at_state(row)}: the quasi-velocity u[{speed}]"
        remedy = "give the links mass, or choose other quasi-velocities"
        raise ModelError(f"{problem} moves no inertia, so BᵀMB is singular; {remedy}.", row=row, speed=speed)


def check_admitted(model: Model, drift: np.ndarray, rows: Sequence[str]) -> None:
    """An error that names the constraint which B does not obey, from "drift" (..., constraints, m + 1)."""
    off = np.abs(drift).max(axis=-1, initial=0.0)
    row = first_row((off > UNIT_TOLERANCE).any(axis=-1))
    if row is not None:
        name = rows[int(np.argmax(off[row]))]
        raise StateError(
            f"v = B(q) u breaks the constraint {name!r} of {model.name!r} by {off[row].max():.3g} at {at_state(row)}: "
            "give a B whose columns obey A B = 0, bring q onto the constraints, or use robot.without_constraints().",
            constraint=name,
            row=row,
            off=float(off[row].max()),
        )


def check_reached(model: Model, v: np.ndarray, missed: np.ndarray) -> None:
    """An error where v is not in the range of a tall B, from "missed" (..., nv)."""
    size = np.abs(missed).max(axis=-1)
    row = first_row(size > UNIT_TOLERANCE * np.maximum(1.0, np.abs(v).max(axis=-1)))
    if row is not None:
        problem = f"v of {model.name!r} at {at_state(row)} is not B(q) u for any u; it misses the nearest by"
        remedy = "give a velocity that these quasi-velocities have"
        raise StateError(f"{problem} {size[row]:.3g}: {remedy}.", argument="v", row=row, off=float(size[row]))
