"""Curves as inline SVG that fits any width; labels are HTML, so that they keep their size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dqdyn.arrays import Array, RealArray
from dqdyn.view.page import escape
from dqdyn.view.series import Panel
from dqdyn.view.triangles import Indices

COLORS = ("#3b7dd8", "#e4572e", "#2a9d5c", "#a455c9", "#cf9100", "#129aa8", "#d6477f", "#7a8b00", "#94725c", "#76808f")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 5", "4 2")
COLUMNS = 450
"""A curve keeps the least and the largest value in each of so many stretches of time."""
_SIDE = 1000.0  # of the drawing, in its own units


def figures(panels: Sequence[Panel], time: RealArray) -> str:
    """Curves over time (n,) in s as HTML, a figure per panel."""
    return "\n".join(panel_figure(panel, np.asarray(time, dtype=float)) for panel in panels)


def panel_figure(panel: Panel, time: Array) -> str:
    """A figure with axes, curves, a cursor and a legend."""
    low, high = _range(panel)
    span = float(time[-1] - time[0]) or 1.0
    rows = [(y, _SIDE * (high - y) / (high - low)) for y in ticks(low, high, 4)]
    columns = [(t, _SIDE * (t - time[0]) / span) for t in ticks(float(time[0]), float(time[0]) + span, 7)]
    grid = [f'<line x1="0" x2="1000" y1="{y:.1f}" y2="{y:.1f}"/>' for _, y in rows]
    grid += [f'<line y1="0" y2="1000" x1="{x:.1f}" x2="{x:.1f}"/>' for _, x in columns]
    curves = [
        f'<path d="{_path(time, values, low, high, span)}" {_style(i)}/>'
        for i, values in enumerate(panel.curves.values())
    ]
    legend = [
        f'<li><button type="button" aria-pressed="true"><svg viewBox="0 0 22 8" aria-hidden="true"><line '
        f'x1="1" x2="21" y1="4" y2="4" {_style(i)}/></svg>{escape(name)}<output></output></button></li>'
        for i, name in enumerate(panel.curves)
    ]
    unit = f'<span class="unit">{escape(panel.unit)}</span>' if panel.unit else ""
    return (
        f'<figure class="plot"><figcaption>{escape(panel.title)} {unit}</figcaption><div class="axes">'
        f'<div class="ticks y">{"".join(_tick("top", y, value) for value, y in rows)}</div>'
        f'<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" aria-label="{escape(panel.label)}">'
        f'<g class="grid">{"".join(grid)}</g><g class="curves">{"".join(curves)}</g>'
        '<line class="cursor" x1="0" x2="0" y1="0" y2="1000"/></svg>'
        f'<div class="ticks x">{"".join(_tick("left", x, value) for value, x in columns)}'
        f'<span class="name">time (s)</span></div></div><ul class="legend">{"".join(legend)}</ul></figure>'
    )


def ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers between two bounds: 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1.0, 2.0, 5.0, 10.0) if power * factor >= rough * 0.7)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _range(panel: Panel) -> tuple[float, float]:
    values = np.concatenate(list(panel.curves.values()))
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    margin = 0.06 * (high - low)
    least = 1e-9 * max(1.0, abs(low), abs(high))
    if high - low < least:  # a constant: room above and below
        margin = 0.5 * max(abs(low), 1.0) if abs(low) < 1e12 else 0.5 * abs(low)
    return low - margin, high + margin


def _path(time: Array, values: Array, low: float, high: float, span: float) -> str:
    """Moves and lines; a gap where a value is not finite."""
    kept = _extremes(values)
    x = _SIDE * (time[kept] - time[0]) / span
    y = _SIDE * (high - values[kept]) / (high - low)
    words, pen = [], "M"
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if math.isfinite(b):
            words.append(f"{pen}{a:.1f} {b:.1f}")
            pen = "L"
        else:
            pen = "M"
    if len(words) == 1:
        words.append("h0.1")
    return "".join(words)


def _extremes(values: Array) -> Indices:
    """Indices to draw: all of a short curve, else the extremes of each stretch."""
    count = len(values)
    if count <= 2 * COLUMNS:
        return np.arange(count)
    filled = np.where(np.isfinite(values), values, np.nan)
    edges = np.linspace(0, count, COLUMNS + 1).astype(int)
    kept = {0, count - 1}
    for a, b in pairwise(edges):
        part = filled[a:b]
        if np.isnan(part).any():
            kept |= {int(a), int(a + np.argmax(np.isnan(part)))}
        if not np.isnan(part).all():
            kept |= {int(a + np.nanargmin(part)), int(a + np.nanargmax(part))}
    return np.array(sorted(kept))


def _style(i: int) -> str:
    dash = DASHES[(i // len(COLORS)) % len(DASHES)]
    return f'stroke="{COLORS[i % len(COLORS)]}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _tick(edge: str, place: float, value: float) -> str:
    number = f"{value:.6g}".replace("-", "−") if abs(value) > 1e-12 else "0"
    return f'<span style="{edge}:{place / 10.0:.2f}%">{number}</span>'
