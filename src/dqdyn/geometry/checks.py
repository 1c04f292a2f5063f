"""Checks of what users give to geometry: lengths and sizes, with the remedy in the sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqdyn.algebra.checks import UNIT_TOLERANCE
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.rows import at_row, first_row
from dqdyn.algebra.scalar import Scalar, divide, is_numeric, stack, unstack
from dqdyn.algebra.value import batch_shape, require_broadcast
from dqdyn.errors import Error


def require_unit(v: Sequence[Scalar], what: str, remedy: str) -> None:
    """An :class:`Error` where numbers show that v is not of length 1, with the first bad row of a batch."""
    if not all(is_numeric(c) for c in v):
        return
    with np.errstate(over="ignore"):
        length = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    row = first_row(~(np.abs(length - 1.0) <= UNIT_TOLERANCE))
    if row is not None:
        size = float(np.asarray(length)[row])
        cure = f"divide it by its norm, {remedy}" if size else "give a vector that is not zero"
        where = at_row(row, " in row ")
        raise Error(f"{what} must have length 1, found {size:.9g}{where}: {cure}.", found=size, row=row)


def unit_between(start: Sequence[Scalar], end: Sequence[Scalar], what: str) -> Quaternion:
    """The unit vector from one point to another, exact for tiny and huge distances; an :class:`Error` where equal."""
    require_broadcast(batch_shape(start[0]), batch_shape(end[0]))
    if not all(is_numeric(c) for c in (*start, *end)):
        q = pure(*end) - pure(*start)
        unit: Quaternion = q * divide(1.0, q.norm())
        return unit
    with np.errstate(over="ignore", invalid="ignore"):
        v = stack(end) - stack(start)
    largest = np.abs(v).max(-1, keepdims=True)
    if not np.all((largest > 0.0) & (largest < np.inf)):
        raise Error(f"{what}: move one of them.", found=(stack(start), stack(end)))
    v = v / largest  # before squaring, so that nothing under- or overflows
    return pure(*unstack(v / np.sqrt((v * v).sum(-1, keepdims=True)), 3))


def require_finite(dq: DQ, what: str) -> DQ:
    """dq, or an :class:`Error` where a product of finite numbers overflowed."""
    if not all(np.isfinite(c).all() for c in dq.components if is_numeric(c)):
        raise Error(f"The point of a {what} is too far away to compute with: move the origin closer.", found=dq)
    return dq
