"""Lower levels of strict priority by guesses of their active bounds, with the levels above as equalities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.qp.active_set import ActiveSetGuess, guess_for
from dqdyn.control.qp.solver import ProblemSize


class _Level(NamedTuple):
    """A level with as many rows ``above`` as all higher levels have, first in A, and bounds of all its rows."""

    guess: ActiveSetGuess
    above: int
    A: Array
    upper: Array
    lower: Array


class GuessedLevels:
    """Levels below the first: J₁ u = J₁ u₁ and so on [Quiroz, eq. (3.6)], each a problem of its own.

    ``rows``: how many rows J each level but the last has. All levels share one A, the higher levels in front of it in
    reverse: [J₂; J₁; A].
    """

    def __init__(self, size: ProblemSize, rows: Sequence[int]) -> None:
        self._first = size.first
        self._extra = sum(rows)
        self._A = np.zeros((self._extra + size.rows, size.unknowns))
        self._levels: list[_Level | None] = []
        for k in range(1, len(rows) + 1):
            above = sum(rows[:k])
            guess = guess_for(size.unknowns, size.first, above + size.rows, above + size.equalities)
            upper, lower = np.zeros((2, size.first + above + size.rows))
            level = None if guess is None else _Level(guess, above, self._A[self._extra - above :], upper, lower)
            self._levels.append(level)

    def start(self, views: Mapping[str, Array]) -> None:
        """Take the rows and bounds of a step."""
        self._A[self._extra :] = views["A"]
        first = self._first
        for k, level in enumerate(self._levels):
            if level is None:
                continue
            above = views[f"J{k}"]
            level.A[: len(above)] = above
            for mine, given in ((level.upper, views["upper"]), (level.lower, views["lower"])):
                mine[:first] = given[:first]
                mine[first + level.above :] = given[first:]

    def __call__(self, k: int, H: Array, f: Array, u: Array) -> Array | None:
        """The minimum of level k (1 for the second) where all levels above stay as u has them; None if not found."""
        level = self._levels[k - 1]
        if level is None:
            return None
        held = slice(self._first, self._first + level.above)
        np.dot(level.A[: level.above], u, out=level.upper[held])
        level.lower[held] = level.upper[held]
        return level.guess(H, f, level.A, level.upper, level.lower)
