"""Curves over time as inline SVG, with limits in red, shaded spans and marked events; also as small multiples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dqdyn.arrays import Array, RealArray
from dqdyn.view.page import escape
from dqdyn.view.series import Panel
from dqdyn.view.svg_axes import (
    COLORS,
    SIDE,
    Axis,
    Key,
    box,
    figure,
    legend,
    number,
    points,
    stroke,
    style,
    swatch,
    ticks,
)
from dqdyn.view.triangles import Indices

__all__ = ["COLORS", "figures", "multiples", "panel_figure", "ticks"]

COLUMNS = 450
"""A curve keeps the least and the largest value in each of so many stretches of time."""
_SMALL = 150  # the same, of small multiples
LIMIT = 'class="limit" stroke-dasharray="6 4"'
_FARTHEST = 8.0  # a limit that would stretch the axis by more is off the scale
_WIDE = 0.013  # of the width, per character of a name that fits into its span


def figures(panels: Sequence[Panel], time: RealArray) -> str:
    """Curves over time (n,) in s as HTML, a figure per panel."""
    return "\n".join(panel_figure(panel, np.asarray(time, dtype=float)) for panel in panels)


def panel_figure(panel: Panel, time: Array) -> str:
    """A figure with axes, curves, limits, a cursor and a legend."""
    y = _range(panel)
    keys = [Key(stroke(style(i)), name) for i, name in enumerate(panel.curves)]
    keys += [Key(stroke(LIMIT), f"{name}{_off(levels, y)}") for name, levels in panel.limits.items()]
    axes = _axes(panel, time, y, list(panel.curves), list(panel.limits))
    return figure(panel.title, panel.unit, [axes, legend([*keys, *_span_keys(panel, time)])])


def multiples(title: str, panels: Sequence[Panel], times: Sequence[Array]) -> str:
    """Small panels side by side below a title, with one legend for all."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    bounds = list(dict.fromkeys(name for panel in panels for name in panel.limits))
    keys = [Key(stroke(style(i)), name) for i, name in enumerate(names)]
    keys += [Key(stroke(LIMIT), name) for name in bounds]
    keys += list(_span_keys(panels[0], times[0], always=True))
    small = [
        figure(p.title, p.unit, [_axes(p, time, _range(p, whole=True), names, bounds, small=True)], kind="plot small")
        for p, time in zip(panels, times, strict=True)
    ]
    inside = f'<div class="small-plots">{"".join(small)}</div>'
    return f'<section class="multiples"><h3>{escape(title)}</h3>{legend(keys)}{inside}</section>'


def _axes(panel: Panel, time: Array, y: Axis, names: list[str], bounds: list[str], small: bool = False) -> str:
    """One element per name of a curve or limit, in the order of the legend, empty where the panel has none."""
    x = Axis(float(time[0]), float(time[0]) + (float(time[-1] - time[0]) or 1.0))
    curves = [_curve(panel.curves.get(name), i, x, y, time, small) for i, name in enumerate(names)]
    curves += [_limit(panel.limits.get(name), x, y, time) for name in bounds]
    shaded = "".join(_shade(span, x) for span in panel.spans)
    events = "".join(_line(x, at) for at, _ in panel.events)
    words = [] if small else [*(_phase(span, x) for span in panel.spans), *(_label(e, x) for e in panel.events)]
    drawing = f'<g class="curves">{"".join(curves)}</g><g class="events">{events}</g>'
    return box(
        x,
        y,
        f'{drawing}<line class="cursor" x1="0" x2="0" y1="0" y2="1000"/>',
        label=panel.label,
        x_name="" if small else "time (s)",
        about=(4, 3) if small else (7, 4),
        under=f'<g class="spans">{shaded}</g>' if shaded else "",
        over="".join(words),
        attributes=f' data-start="{x.low:g}" data-span="{x.span:g}"',
    )


def _curve(values: Array | None, i: int, x: Axis, y: Axis, time: Array, small: bool) -> str:
    if values is None:
        return "<g/>"
    kept = _extremes(values, _SMALL if small else COLUMNS)
    return f'<path d="{points(SIDE * x.part(time[kept]), SIDE * (1.0 - y.part(values[kept])))}" {style(i)}/>'


def _limit(levels: Array | None, x: Axis, y: Axis, time: Array) -> str:
    """All lines of a limit as one path; constant ones cross the whole width."""
    if levels is None:
        return "<g/>"
    lines = np.asarray(levels, dtype=float)
    if lines.ndim < 2:
        heights = [SIDE * (1.0 - float(y.part(level))) for level in np.atleast_1d(lines) if np.isfinite(level)]
        path = "".join(f"M0 {height:.1f}H1000" for height in heights)
    else:
        kept = [_extremes(line) for line in lines.T]
        path = "".join(
            points(SIDE * x.part(time[k]), SIDE * (1.0 - y.part(line[k])))
            for k, line in zip(kept, lines.T, strict=True)
        )
    return f'<path d="{path}" {LIMIT}/>'


def _range(panel: Panel, whole: bool = False) -> Axis:
    """Of all curves, and of limits unless these would flatten the curves; ``whole``: of all limits."""
    own = np.concatenate([np.ravel(values) for values in panel.curves.values()])
    bounds = [np.ravel(np.asarray(levels, dtype=float)) for levels in panel.limits.values()]
    lines = np.concatenate([np.zeros(0), *bounds])
    alone, finite = Axis.around(own), lines[np.isfinite(lines)]
    farthest = np.inf if whole else _FARTHEST * alone.span
    near = finite[(finite > alone.low - farthest) & (finite < alone.high + farthest)]
    return Axis.around(np.concatenate([own, near]))


def _off(levels: Array, y: Axis) -> str:
    """What the legend adds about lines that are not in sight."""
    lines = np.ravel(np.asarray(levels, dtype=float))
    hidden = lines[(lines < y.low) | (lines > y.high)]
    return f" ({', '.join(number(x, 4) for x in np.unique(hidden)[:2])}: off the scale)" if len(hidden) else ""


def _ends(span: tuple[float, float, str, str], x: Axis) -> tuple[float, float]:
    start, end = (float(np.clip(x.part(t), 0.0, 1.0)) for t in span[:2])
    return start, end


def _shade(span: tuple[float, float, str, str], x: Axis) -> str:
    start, end = _ends(span, x)
    place = f'x="{SIDE * start:.1f}" width="{SIDE * (end - start):.1f}" y="0" height="1000"'
    return f'<rect {place} fill="{escape(span[3])}"><title>{escape(span[2])}</title></rect>'


def _phase(span: tuple[float, float, str, str], x: Axis) -> str:
    """The name of a span, where it is wide enough."""
    start, end = _ends(span, x)
    if not _fits(span, x):
        return ""
    return (
        f'<span class="phase" style="left:{100 * start:.2f}%;width:{100 * (end - start):.2f}%">{escape(span[2])}</span>'
    )


def _fits(span: tuple[float, float, str, str], x: Axis) -> bool:
    start, end = _ends(span, x)
    return end - start > _WIDE * (len(span[2]) + 1)


def _span_keys(panel: Panel, time: Array, always: bool = False) -> Iterator[Key]:
    """Names and colors of spans, unless each name can be read in its place."""
    x = Axis(float(time[0]), float(time[0]) + (float(time[-1] - time[0]) or 1.0))
    colors = {span[2]: span[3] for span in panel.spans}
    fitting = {span[2] for span in panel.spans if _fits(span, x)}
    if always or set(colors) - fitting:
        yield from (Key(swatch(color), name, button=False) for name, color in colors.items())


def _line(x: Axis, at: float) -> str:
    place = SIDE * float(x.part(at))
    return f'<line x1="{place:.1f}" x2="{place:.1f}" y1="0" y2="1000"/>' if 0.0 <= place <= SIDE else ""


def _label(event: tuple[float, str], x: Axis) -> str:
    part = float(x.part(event[0]))
    return f'<span class="event" style="left:{100 * part:.2f}%">{escape(event[1])}</span>' if 0.0 <= part <= 1.0 else ""


def _extremes(values: Array, columns: int = COLUMNS) -> Indices:
    """Indices to draw: all of a short curve, else the extremes of each stretch."""
    count = len(values)
    if count <= 2 * columns:
        return np.arange(count)
    stretch = np.arange(count) * columns // count
    finite = np.flatnonzero(np.isfinite(values))
    order = finite[np.lexsort((values[finite], stretch[finite]))]  # by stretches, in each from the least to the largest
    ends = np.flatnonzero(np.diff(stretch[order], prepend=-1, append=columns))
    missing = np.flatnonzero(~np.isfinite(values))
    gaps = missing[np.flatnonzero(np.diff(stretch[missing], prepend=-1))]  # the first of each stretch with some
    starts = np.searchsorted(stretch, stretch[gaps])
    return np.unique(np.concatenate([[0, count - 1], order[ends[:-1]], order[ends[1:] - 1], gaps, starts]).astype(int))
