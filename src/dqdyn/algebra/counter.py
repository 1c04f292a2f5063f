"""A scalar that counts the operations done to it, as the papers count theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.scalar import Functions, register, scalars_only


@dataclass
class Tally:
    """Operations counted so far. A negation is free; a sine and a cosine count one ``sincos`` each."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    sincos: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All operations."""
        return self.mul + self.add + self.div + self.sqrt + self.sincos + self.other


class Counted:
    """A scalar without a value: each operation adds to its tally and gives another one."""

    __array_ufunc__ = None
    __slots__ = ("tally",)

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    @scalars_only
    def __add__(self, other: Any) -> Counted:
        self.tally.add += 1
        return self

    __radd__ = __sub__ = __rsub__ = __add__

    @scalars_only
    def __mul__(self, other: Any) -> Counted:
        self.tally.mul += 1
        return self

    __rmul__ = __mul__

    @scalars_only
    def __truediv__(self, other: Any) -> Counted:
        self.tally.div += 1
        return self

    __rtruediv__ = __truediv__

    def __neg__(self) -> Counted:
        return self

    def __repr__(self) -> str:
        return f"Counted({self.tally})"


def _count(kind: str) -> Any:
    def operation(*values: Any) -> Counted:
        counted: Counted = next(v for v in values if isinstance(v, Counted))
        setattr(counted.tally, kind, getattr(counted.tally, kind) + 1)
        return counted

    return operation


_sincos, _other = _count("sincos"), _count("other")
register(Counted, Functions(5, _sincos, _sincos, _count("sqrt"), _other, _count("div"), _other, _other))


def counters(n: int, tally: Tally) -> list[Counted]:
    """n scalars that count into ``tally``."""
    return [Counted(tally) for _ in range(n)]
