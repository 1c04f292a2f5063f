"""A problem's bounds as named one-sided rows a · u ≤ b, for looking at what is in conflict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class NamedRows:
    """a (m, n), b (m,); ``names`` and whether each may give way. Equalities have two rows of one name."""

    a: np.ndarray
    b: np.ndarray
    names: tuple[str, ...]
    relaxable: np.ndarray

    def scaled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """a with rows of length 1, b with them, and the lengths; rows of zero keep theirs."""
        length = np.linalg.norm(self.a, axis=1)
        length = np.where(length < 1e-12, 1.0, length)
        return self.a / length[:, None], self.b / length, length
