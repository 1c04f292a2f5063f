"""Axes of figures as inline SVG that fits any width; labels are HTML, so that they keep their size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array, RealArray
from dqdyn.view.page import escape

COLORS = ("#3b7dd8", "#e58a13", "#2a9d5c", "#a455c9", "#129aa8", "#b5a100", "#d6477f", "#6f7f1a", "#94725c", "#76808f")
"""Of curves; red is kept for limits."""
DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 5", "4 2")
SIDE = 1000.0
"""Of a drawing, in its own units."""
_HIGHEST = 440.0  # px of axes whose height follows from their width


@dataclass(frozen=True)
class Axis:
    """From ``low`` to ``high``; ``log``: on a logarithmic scale, with both as powers of ten."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def around(cls, values: RealArray, margin: float = 0.06) -> Axis:
        """With room at both ends; values that are not finite do not count."""
        array = np.asarray(values, dtype=float)
        finite = array[np.isfinite(array)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
        room = margin * (high - low)
        if high - low < 1e-9 * max(1.0, abs(low), abs(high)):  # a constant: room above and below
            room = 0.5 * max(abs(low), 1.0) if abs(low) < 1e12 else 0.5 * abs(low)
        return cls(low - room, high + room)

    @property
    def span(self) -> float:
        return self.high - self.low

    def part(self, values: RealArray | float) -> Array:
        """Where values are, from 0 at the low end to 1."""
        array = np.asarray(values, dtype=float)
        return np.asarray(((np.log10(array) if self.log else array) - self.low) / self.span)

    def ticks(self, about: int) -> list[tuple[float, float]]:
        """(value, part of the axis) of round numbers."""
        if self.log:
            exponents = range(math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9) + 1)
            return [(10.0**k, (k - self.low) / self.span) for k in exponents]
        return [(value, (value - self.low) / self.span) for value in ticks(self.low, self.high, about)]


def ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers between two bounds: 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1.0, 2.0, 5.0, 10.0) if power * factor >= rough * 0.7)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Key:
    """A row of a legend: a symbol as SVG in a box of 22 × 8, and a name. ``button``: it hides what it names."""

    symbol: str
    name: str
    button: bool = True

    def html(self) -> str:
        symbol = f'<svg viewBox="0 0 22 8" aria-hidden="true">{self.symbol}</svg>{escape(self.name)}'
        if self.button:
            return f'<li><button type="button" aria-pressed="true">{symbol}<output></output></button></li>'
        return f'<li><span class="key">{symbol}</span></li>'


def legend(keys: Iterable[Key]) -> str:
    """A list of names; empty where there are none."""
    rows = "".join(key.html() for key in keys)
    return f'<ul class="legend">{rows}</ul>' if rows else ""


def box(
    x: Axis,
    y: Axis,
    drawing: str,
    *,
    label: str,
    x_name: str = "",
    y_name: str = "",
    aspect: float | None = None,
    about: tuple[int, int] = (7, 4),
    x_ticks: str | None = None,
    over: str = "",
    under: str = "",
    attributes: str = "",
) -> str:
    """Axes around a drawing of SVG elements in units of 1000 by 1000, y down.

    ``aspect``: width by height, else the height is fixed; ``about``: how many ticks; ``x_ticks``: others in HTML;
    ``under`` is SVG below the grid, ``over`` is HTML above the drawing; ``attributes`` are those of the drawing.
    """
    rows = y.ticks(about[1])
    columns = x.ticks(about[0]) if x_ticks is None else []
    grid = [f'<line x1="0" x2="1000" y1="{SIDE * (1 - p):.1f}" y2="{SIDE * (1 - p):.1f}"/>' for _, p in rows]
    grid += [f'<line y1="0" y2="1000" x1="{SIDE * p:.1f}" x2="{SIDE * p:.1f}"/>' for _, p in columns]
    below = "".join(_tick("left", p, value, x) for value, p in columns) if x_ticks is None else x_ticks
    shape = f"aspect-ratio:{aspect or 1.0:.4f};height:auto;max-width:{_HIGHEST * (aspect or 1.0):.0f}px"
    size = "" if aspect is None else f' style="{shape}"'
    name = f'<span class="name">{escape(x_name)}</span>' if x_name else ""
    return (
        f'{f"""<div class="yname">{escape(y_name)}</div>""" if y_name else ""}<div class="axes"{size}>'
        f'<div class="ticks y">{"".join(_tick("top", 1.0 - p, value, y) for value, p in rows)}</div>'
        f'<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" aria-label="{escape(label)}"{attributes}>'
        f'{under}<g class="grid">{"".join(grid)}</g>{drawing}</svg>{over}'
        f'<div class="ticks x">{below}{name}</div></div>'
    )


def style(i: int) -> str:
    """Color and dash of curve i."""
    dash = DASHES[(i // len(COLORS)) % len(DASHES)]
    return f'stroke="{COLORS[i % len(COLORS)]}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def stroke(look: str) -> str:
    """The symbol of a line."""
    return f'<line x1="1" x2="21" y1="4" y2="4" {look}/>'


def swatch(color: str) -> str:
    """The symbol of an area."""
    return f'<rect x="3" y="0" width="16" height="8" rx="2" fill="{escape(color)}"/>'


def points(x: RealArray, y: RealArray) -> str:
    """Moves and lines through points in the drawing's units; a gap where one is not finite."""
    words, pen = [], "M"
    for a, b in zip(np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist(), strict=True):
        if math.isfinite(a) and math.isfinite(b):
            words.append(f"{pen}{a:.1f} {b:.1f}")
            pen = "L"
        else:
            pen = "M"
    if len(words) == 1:
        words.append("h0.1")
    return "".join(words)


def number(value: float, digits: int = 6) -> str:
    """As text, with a true minus."""
    return f"{value:.{digits}g}".replace("-", "−")


def figure(title: str, unit: str, parts: Sequence[str], kind: str = "plot") -> str:
    """A figure with a caption above its parts."""
    shown = f' <span class="unit">{escape(unit)}</span>' if unit else " "
    return f'<figure class="{kind}"><figcaption>{escape(title)}{shown}</figcaption>{"".join(parts)}</figure>'


def _tick(edge: str, part: float, value: float, axis: Axis) -> str:
    exact = value if axis.log or abs(value) > 1e-9 * axis.span else 0.0  # not what is left of 0 by rounding
    return f'<span style="{edge}:{100.0 * part:.2f}%">{number(exact)}</span>'
