"""How alike waveforms are: the coefficient of multiple correlation of Ferrari, Cutti and Cappello (2010)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from dqdyn.arrays import Array, RealArray
from dqdyn.errors import StateError


def multiple_correlation(groups: Sequence[RealArray]) -> float:
    """CMC of groups of waveforms, each (P, F_g): P ways to measure the same quantity, at F_g instants.

    1 for waveforms that coincide within every group; 0 where they differ from each other as much as from their mean
    over time, and where the radicand is negative. It falls with differences in shape, in size and in offset. NaN where
    nothing moves: then there is nothing to compare.
    """
    arrays = [np.asarray(group, dtype=float) for group in groups]
    _require_waveforms(arrays)
    within = sum(float(np.sum((y - y.mean(axis=0)) ** 2)) for y in arrays)
    about = sum(float(np.sum((y - y.mean()) ** 2)) for y in arrays)
    if about == 0.0:
        return float("nan")
    free_within = sum(y.shape[1] * (y.shape[0] - 1) for y in arrays)
    free_about = sum(y.size - 1 for y in arrays)
    return sqrt(max(0.0, 1.0 - (within / free_within) / (about / free_about)))


def correlations(a: Array, b: Array) -> Array:
    """CMC of each pair of columns of two arrays (F, n), as (n,): one group of two waveforms per column."""
    return np.array([multiple_correlation([np.stack(pair)]) for pair in zip(a.T, b.T, strict=True)])


def _require_waveforms(groups: list[Array]) -> None:
    shapes = [group.shape for group in groups]
    if not groups or any(len(shape) != 2 or shape[0] < 2 or shape[1] < 1 for shape in shapes):
        wanted = "groups of shape (waveforms, instants) with two waveforms or more"
        raise StateError(f"the CMC takes {wanted}; found {shapes}.", argument="groups")
    if len({shape[0] for shape in shapes}) > 1:
        raise StateError(f"all groups of the CMC have the same number of waveforms; found {shapes}.", argument="groups")
    if not all(np.isfinite(group).all() for group in groups):
        raise StateError("the CMC takes finite waveforms; found NaN or infinity.", argument="groups")
