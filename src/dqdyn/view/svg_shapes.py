"""Shapes and texts of SVG pictures, in the colors of a page where there is one, and plain ones elsewhere."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dqdyn.errors import FormatError
from dqdyn.formats.whole_file import write_whole
from dqdyn.view.page import escape

INK, SOFT, RULE, CARD = "var(--ink, #1c2330)", "var(--soft, #5b6577)", "var(--rule, #d7dce4)", "var(--card, #ffffff)"
_FONT = "font-family: system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
_WIDTH = 0.56  # of a character in units of its height, on average
_UNIT = re.compile(r"(\d) (?=(?:N|s|m|rad)\b)")
_VARIABLE = re.compile(r"var\(--\w+, (#\w+)\)")


@dataclass(frozen=True)
class SvgPicture:
    """A picture as the text of an SVG element; notebooks show it, :meth:`save` writes it."""

    title: str
    svg: str
    text: str = ""

    def save(self, path: str | Path) -> Path:
        """Write a file that ends with .svg; an existing one is replaced whole."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise FormatError(f"a picture is written as .svg; found {str(path)!r}.", path=str(path))
        return write_whole(target, self._repr_svg_().encode())

    def _repr_svg_(self) -> str:
        """By itself: plain colors, since only pages know their own."""
        return _VARIABLE.sub(r"\1", self.svg)


def svg(width: float, height: float, label: str, parts: Iterable[str]) -> str:
    """A whole picture."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(label)}"'
    background = f'<rect width="{width:.0f}" height="{height:.0f}" style="fill: {CARD}"/>'
    return f'{head} style="{_FONT}; max-width: 100%; height: auto">{background}{"".join(parts)}</svg>'


def text(x: float, y: float, words: str, size: float = 12.0, fill: str = INK, **more: str) -> str:
    """Words whose line stands at y; ``more``: "anchor" (start, middle, end) and "weight"."""
    anchor = f' text-anchor="{more["anchor"]}"' if "anchor" in more else ""
    weight = f' font-weight="{more["weight"]}"' if "weight" in more else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}"'
    return f'<text {place}{anchor}{weight} style="fill: {fill}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, edge: str = "none", **more: float) -> str:
    """A rectangle; ``more``: "round" of the corners, "line" width and "opacity"."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{more.get("round", 0.0):g}"'
    line, opacity = more.get("line", 1.0), more.get("opacity", 1.0)
    return f'<rect {place} style="fill: {fill}; stroke: {edge}; stroke-width: {line:g}; opacity: {opacity:g}"/>'


def path(points: Sequence[tuple[float, float]], color: str, width: float = 1.5, **more: float | str) -> str:
    """A line through points; ``more``: "dash", "opacity" and "round", the radius of its bends."""
    bend = float(more.get("round", 0.0))
    words = _rounded(points, bend) if bend else "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dash = f"; stroke-dasharray: {more['dash']}" if more.get("dash") else ""
    style = f"fill: none; stroke: {color}; stroke-width: {width:g}; stroke-linejoin: round{dash}"
    return f'<path d="{words}" style="{style}; opacity: {float(more.get("opacity", 1.0)):g}"/>'


def _rounded(points: Sequence[tuple[float, float]], radius: float) -> str:
    """Lines along the axes with round bends."""
    words = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        r = min(radius, _length(before, here) / 2.0, _length(here, after) / 2.0)
        a, b = _towards(here, before, r), _towards(here, after, r)
        words.append(f"L{a[0]:.1f} {a[1]:.1f}Q{here[0]:.1f} {here[1]:.1f} {b[0]:.1f} {b[1]:.1f}")
    words.append(f"L{points[-1][0]:.1f} {points[-1][1]:.1f}")
    return "".join(words)


def _length(a: tuple[float, float], b: tuple[float, float]) -> float:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _towards(a: tuple[float, float], b: tuple[float, float], step: float) -> tuple[float, float]:
    full = _length(a, b) or 1.0
    return a[0] + (b[0] - a[0]) * step / full, a[1] + (b[1] - a[1]) * step / full


def arrow_left(x: float, y: float, color: str, opacity: float = 1.0) -> str:
    """The head of an arrow that points to the left, its tip at (x, y)."""
    return f'<path d="M{x:.1f} {y:.1f}l8 -4.5v9z" style="fill: {color}; opacity: {opacity:g}"/>'


def width_of(words: str, size: float = 12.0) -> float:
    """About how wide a text is, rather more than less."""
    return _WIDTH * size * len(words)


def lines_of(words: str, most: int) -> list[str]:
    """A text in lines of at most so many characters."""
    kept = _UNIT.sub("\\1\u00a0", words)  # a number keeps its unit
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(kept, most)] or [""]
