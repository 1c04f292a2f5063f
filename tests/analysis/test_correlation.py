"""The coefficient of multiple correlation: against its formula written out, and what it must be in plain cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dqdyn.analysis.correlation import correlations, multiple_correlation
from dqdyn.errors import StateError

T = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)


def written_out(groups: list[np.ndarray]) -> float:
    """The formula of Ferrari, Cutti and Cappello, sum by sum."""
    above = below = 0.0
    free_above = free_below = 0
    for group in groups:
        waveforms, frames = group.shape
        mean = sum(group[p, f] for p in range(waveforms) for f in range(frames)) / (waveforms * frames)
        for f in range(frames):
            at_frame = sum(group[p, f] for p in range(waveforms)) / waveforms
            for p in range(waveforms):
                above += (group[p, f] - at_frame) ** 2
                below += (group[p, f] - mean) ** 2
        free_above += frames * (waveforms - 1)
        free_below += waveforms * frames - 1
    return math.sqrt(max(0.0, 1.0 - (above / free_above) / (below / free_below)))


def test_formula() -> None:
    rng = np.random.default_rng(1)
    for waveforms in (2, 3, 5):
        common = [np.cumsum(rng.normal(size=frames)) for frames in (40, 17, 3)]
        groups = [wave + 0.3 * rng.normal(size=(waveforms, len(wave))) for wave in common]
        found = multiple_correlation(groups)
        assert 0.1 < found < 0.999
        assert found == pytest.approx(written_out(groups), rel=1e-12)


def test_same_waveforms() -> None:
    assert multiple_correlation([[np.sin(T)] * 3]) == 1.0


def test_opposite_waveforms_have_none() -> None:
    assert multiple_correlation([[np.sin(T), -np.sin(T)]]) == 0.0


def test_known_value() -> None:
    """sin and a·sin over F frames of whole periods, with the sums done by hand."""
    a, frames = 0.8, len(T)
    expected = 1.0 - ((1.0 - a) ** 2 / 4.0) / ((1.0 + a * a) * frames / 2.0 / (2 * frames - 1))
    assert multiple_correlation([[np.sin(T), a * np.sin(T)]]) == pytest.approx(math.sqrt(expected), rel=1e-12)


@pytest.mark.parametrize("other", [np.sin(T + 0.3), 1.3 * np.sin(T), np.sin(T) + 0.4, np.sin(T) + 0.3 * np.sin(9 * T)])
def test_shape_size_and_offset_count(other: np.ndarray) -> None:
    assert 0.5 < multiple_correlation([[np.sin(T), other]]) < 0.99


def test_columns() -> None:
    a = np.stack([np.sin(T), np.cos(T), T], axis=1)
    b = np.stack([np.sin(T), 0.9 * np.cos(T), -T], axis=1)
    found = correlations(a, b)
    assert found[0] == 1.0
    assert found[1] == multiple_correlation([[a[:, 1], b[:, 1]]])
    assert found[2] == 0.0


def test_nothing_moves() -> None:
    assert math.isnan(multiple_correlation([np.ones((2, 5))]))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([], "two waveforms or more"),
        ([[1.0, 2.0]], "two waveforms or more"),
        ([[[1.0, 2.0]]], "two waveforms or more"),
        ([np.ones((2, 4)), np.ones((3, 4))], "same number"),
        ([[[1.0, np.nan], [1.0, 2.0]]], "finite"),
    ],
)
def test_bad_input(groups: list[object], words: str) -> None:
    with pytest.raises(StateError, match=words):
        multiple_correlation(groups)
