"""Operation counts as formulas in the size of a robot: read from text, fitted to counts, printed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from dqdyn.algebra.counter import Tally
from dqdyn.errors import Error

_TERM = r"(?=[\da-z])(\d+(?:\.\d+)?(?:/\d+)?)?((?:[a-z][²³]?)*)"
_SIGN = "[+−-]"
_RAISED = {"²": 2, "³": 3}


@dataclass(frozen=True)
class Formula:
    """A polynomial with rational coefficients; terms by their variables, so that n² is "nn" and a constant is ""."""

    terms: tuple[tuple[str, Fraction], ...]

    @classmethod
    def of(cls, terms: Iterable[tuple[str, Fraction]]) -> Formula:
        """Like terms added up, zeros left out, high powers first."""
        sums: dict[str, Fraction] = {}
        for variables, c in terms:
            sums[variables] = sums.get(variables, Fraction(0)) + c
        return cls(tuple(sorted(((v, c) for v, c in sums.items() if c), key=lambda term: (-len(term[0]), term[0]))))

    @classmethod
    def parse(cls, text: str) -> Formula:
        """From text such as "16/3 n³ + 326n² − 40" or "mpr − mr"."""
        compact = text.replace(" ", "")
        if not re.fullmatch(f"{_SIGN}?{_TERM}(?:{_SIGN}{_TERM})*", compact):
            raise Error(f"{text!r} is not a sum of terms such as 3n².", text=text)
        terms = []
        for sign, number, letters in re.findall(f"({_SIGN}?){_TERM}", compact):
            variables = "".join(sorted(re.sub(r"(\w)([²³])", lambda m: m[1] * _RAISED[m[2]], letters)))
            terms.append((variables, Fraction(number or "1") * (1 if sign in ("", "+") else -1)))
        return cls.of(terms)

    def __call__(self, **values: int) -> Fraction:
        """The value at, for example, n=7."""
        return sum((c * prod(values[name] for name in variables) for variables, c in self.terms), Fraction(0))

    def __add__(self, other: Formula) -> Formula:
        return Formula.of((*self.terms, *other.terms))

    def summed(self) -> Formula:
        """Σ over i = 1, …, n of a formula that is linear in i."""
        terms = dict(self.terms)
        half, constant = terms.get("i", Fraction(0)) / 2, terms.get("", Fraction(0))
        return Formula.of([("nn", half), ("n", half), ("n", constant)])

    def __str__(self) -> str:
        text = ""
        for variables, c in self.terms:
            sign = (" − " if text else "−") if c < 0 else (" + " if text else "")
            shown = "" if abs(c) == 1 and variables else str(abs(c))
            gap = " " if "/" in shown and variables else ""
            text += sign + shown + gap + _powers(variables)
        return text or "0"


def _powers(variables: str) -> str:
    groups = ((name, len(list(same))) for name, same in itertools.groupby(variables))
    return "".join(name + ("" if power == 1 else "²" if power == 2 else "³") for name, power in groups)


@dataclass(frozen=True)
class Operations:
    """Multiplications and additions as formulas."""

    mul: Formula
    add: Formula

    @classmethod
    def parse(cls, mul: str, add: str) -> Operations:
        """From two texts."""
        return cls(Formula.parse(mul), Formula.parse(add))

    def __add__(self, other: Operations) -> Operations:
        return Operations(self.mul + other.mul, self.add + other.add)

    def summed(self) -> Operations:
        """Σ over the bodies i = 1, …, n of a cost that is linear in i."""
        return Operations(self.mul.summed(), self.add.summed())


@dataclass(frozen=True)
class CostLine:
    """One line of a table: the printed cost and ours, or None.

    ``reason`` says why they differ; where they are equal, what the equality rests on beyond the printed steps.
    """

    name: str
    printed: Operations | None
    counted: Operations | None
    reason: str = ""

    @property
    def equal(self) -> bool:
        """Whether every printed number was counted."""
        return self.printed is not None and self.printed == self.counted


def fitted(count: Callable[..., Tally], terms: Sequence[str], sizes: Sequence[dict[str, int]]) -> Operations:
    """The formulas with these terms that give what ``count(**size)`` counted; exactly, at every one of the sizes."""
    tallies = [count(**size) for size in sizes]
    powers = np.array([[float(Formula(((t, Fraction(1)),))(**size)) for t in terms] for size in sizes])

    def fit(counts: list[int]) -> Formula:
        solution = np.linalg.lstsq(powers, np.array(counts, dtype=float), rcond=None)[0]
        formula = Formula.of((t, Fraction(c).limit_denominator(12)) for t, c in zip(terms, solution, strict=True))
        if [formula(**size) for size in sizes] != counts:
            raise Error(f"No formula in {', '.join(terms)} gives the counts {counts}.", found=counts)
        return formula

    return Operations(fit([t.mul + t.div for t in tallies]), fit([t.add for t in tallies]))


def polynomial(count: Callable[[int], Tally], variable: str, degree: int) -> Operations:
    """The polynomials in one variable, with one size more than they have coefficients."""
    sizes = [{variable: k} for k in range(1, degree + 3)]
    return fitted(lambda **size: count(size[variable]), [variable * d for d in range(degree + 1)], sizes)
