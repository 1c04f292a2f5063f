"""All constraints of a robot as one A and b."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.constraints.constraint import Constraint, Row, Rows, rows_rate
from dqdyn.constraints.stabilisation import Baumgarte
from dqdyn.model.model import Model


def velocity(model: Model, q: Scalars, t: Scalar = 0.0) -> Rows:
    """A and b of A v = b, the rows of all constraints stacked."""
    return _stacked([c.velocity(model, q, t) for c in model.constraints])


def acceleration(model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> Rows:
    """A and b of A a = b, with the stabilisation that the robot has."""
    return _stacked([_stabilised(c, model, q, v, t) for c in model.constraints])


def residual(model: Model, q: Scalars, t: Scalar = 0.0) -> list[Scalar]:
    """What must vanish at q, of the holonomic constraints, concatenated."""
    return [e for c in model.constraints for e in c.residual(model, q, t) or ()]


def violation(model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> list[Scalar]:
    """A v − b, which must vanish too."""
    return _violation(velocity(model, q, t), v)


def matrix_rate(model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> list[Row]:
    """Ȧ along the motion, by jets."""
    return rows_rate(lambda q, t: velocity(model, q, t), model, q, v, t)[0]


def names(model: Model) -> list[str]:
    """The name of the constraint behind each row of A."""
    return [c.name for c in model.constraints for _ in range(c.rows(model))]


def _stabilised(c: Constraint, model: Model, q: Scalars, v: Scalars, t: Scalar) -> Rows:
    a, b = c.acceleration(model, q, v, t)
    held = model.stabilisation
    if not isinstance(held, Baumgarte) or held.rate == 0.0:
        return a, b
    rate = held.rate
    errors = _violation(c.velocity(model, q, t), v)
    positions = c.residual(model, q, t)
    if positions is None:
        return a, [bi - rate * e for bi, e in zip(b, errors, strict=True)]
    pairs = zip(b, errors, positions, strict=True)
    return a, [bi - (2.0 * rate) * e - (rate * rate) * p for bi, e, p in pairs]


def _violation(rows: Rows, v: Scalars) -> list[Scalar]:
    a, b = rows
    return [total(c * vk for c, vk in zip(row, v, strict=True)) - bi for row, bi in zip(a, b, strict=True)]


def _stacked(parts: Sequence[Rows]) -> Rows:
    return [row for a, _ in parts for row in a], [c for _, b in parts for c in b]
