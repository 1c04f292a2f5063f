"""Whether a constraint obeys its own contract: as many rows as it says, and a residual whose rate is A v − b."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dqdyn.algebra.dual import zero_twist
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.constraints.constraint import Constraint
from dqdyn.constraints.kinds.frame_constraint import FrameConstraint
from dqdyn.errors import ModelError
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.model.model import Model

_TOLERANCE = 1e-5  # of the rate of a residual, against the sizes of its terms; states obey constraints to 1e-11


def require_sizes(constraint: Constraint, model: Model, q: Sequence[float]) -> None:
    """An error unless A, b and the residual have as many rows as the constraint says, and A has nv columns."""
    expected = constraint.rows(model)
    sizes: dict[str, int] = {}
    if isinstance(constraint, FrameConstraint):  # whose rows are cut to the count
        relative = constraint._relative(model, q)
        sizes["components"] = len(constraint.components(relative)(zero_twist()))
        sizes["entries of turning"] = len(constraint.turning(relative, zero_twist()))
        _compare(constraint, sizes, expected)
    a, b = constraint.velocity(model, q)
    sizes |= {"rows in A": len(a), "entries in b": len(b)}
    residual = constraint.residual(model, q)
    if residual is not None:
        sizes["entries in its residual"] = len(residual)
    _compare(constraint, sizes, expected)
    for row in a:
        if len(row) != model.nv:
            text = f"its rows of A must have {model.nv} entries (nv); found {len(row)}."
            raise ModelError(text, constraint=constraint.name)


def require_rate(constraint: Constraint, model: Model, q: Sequence[float], v: Sequence[float]) -> None:
    """An error unless the rate of the residual is A v − b at a q that obeys the constraint; v is any velocity.

    Off the constraint the two may differ, as they do for a pose.
    """
    if not constraint.holonomic:
        return
    error = lambda x: constraint.residual(model, x[:-1], x[-1]) or []
    rates: list[Scalar] = derivative(error, [*q, 0.0], [*configuration_rate(model, q, v), 1.0])
    a, b = constraint.velocity(model, q)
    for i, (row, bi, rate) in enumerate(zip(a, b, rates, strict=True)):
        terms = [*(float(c) * vk for c, vk in zip(row, v, strict=True)), -float(bi)]
        size = sum(map(abs, terms)) + abs(float(rate))
        gap = abs(math.fsum(terms) - float(rate)) if math.isfinite(size) else 0.0
        if gap > _TOLERANCE * max(size, 1e-3):
            both = f"{float(rate):.6g} against {math.fsum(terms):.6g} at a random velocity"
            text = f"the rate of its residual is not A v − b in row {i}: {both}; correct residual or velocity."
            raise ModelError(text, constraint=constraint.name)


def _compare(constraint: Constraint, sizes: dict[str, int], expected: int) -> None:
    for what, found in sizes.items():
        if found != expected:
            text = f"its count is {expected}; found {found} {what}: make them equal."
            raise ModelError(text, constraint=constraint.name)
