"""Figures other than curves over time: shapes in a plane, maps over a grid, bars with deviations, pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from dqdyn.analysis.experiments.figure_kinds import Bars, GridMap, Picture, PlaneFigure
from dqdyn.arrays import Array
from dqdyn.view.page import escape
from dqdyn.view.svg import LIMIT
from dqdyn.view.svg_axes import COLORS, SIDE, Axis, Key, box, figure, legend, number, points, stroke, style, swatch

_SCALE = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])  # viridis
_NARROWEST, _WIDEST, _LONGEST = 0.6, 2.6, 5.0  # aspect of the axes with equal scales; a longer one fills a row
_MOST_UPRIGHT = 60  # characters of all groups' names that fit below the bars side by side


def plane_figure(shown: PlaneFigure) -> str:
    """Areas, paths, limits and points; equal scales where wanted."""
    shapes = [*shown.areas.values(), *shown.paths.values(), *shown.points.values(), *shown.limits.values()]
    every = np.concatenate(shapes)
    x, y = Axis.around(every[:, 0]), Axis.around(every[:, 1])
    aspect, long = None, shown.equal and x.span > 1.2 * _WIDEST * y.span
    if shown.equal:
        x, y, aspect = _equal(x, y, _LONGEST if long else _WIDEST)
    drawn, keys, i = [], [], 0
    for name, corners in shown.areas.items():
        color = COLORS[i % len(COLORS)]
        drawn.append(f'<path class="area" d="{_through(corners, x, y)}Z" style="fill:{color}" {style(i)}/>')
        keys.append(Key(swatch(color), name))
        i += 1
    for name, way in shown.paths.items():
        drawn.append(f'<path d="{_through(way, x, y)}" {style(i)}/>')
        keys.append(Key(stroke(style(i)), name))
        i += 1
    for name, line in shown.limits.items():
        drawn.append(f'<path d="{_through(line, x, y)}" {LIMIT}/>')
        keys.append(Key(stroke(LIMIT), name))
    for name, places in shown.points.items():
        drawn.append(_dots(places, x, y, f'stroke="{COLORS[i % len(COLORS)]}"'))
        keys.append(Key(f'<circle cx="11" cy="4" r="4" fill="{COLORS[i % len(COLORS)]}"/>', name))
        i += 1
    drawing, (x_name, y_name) = f'<g class="curves">{"".join(drawn)}</g>', shown.axes
    about = (14, 5) if long else (7, 4)
    axes = box(x, y, drawing, label=shown.title, x_name=x_name, y_name=y_name, aspect=aspect, about=about)
    return figure(shown.title, "", [axes, legend(keys)], kind="plot plane long" if long else "plot plane")


def grid_map(shown: GridMap) -> str:
    """A rectangle per cell, which tells its value; a legend of categories, or a scale of values."""
    xs, ys = _edges(shown.x), _edges(shown.y)
    x, y, aspect = Axis(xs[0], xs[-1]), Axis(ys[0], ys[-1]), None
    if _unit(shown.axes[0]) == _unit(shown.axes[1]) != "":
        aspect = float(np.clip(x.span / y.span, _NARROWEST, _WIDEST))
    finite = shown.values[np.isfinite(shown.values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    across, down = SIDE * x.part(xs), SIDE * (1.0 - y.part(ys))
    cells = []
    for j, row in enumerate(shown.values):
        for i, value in enumerate(row.tolist()):
            color, word = _cell(shown, value, low, high)
            if color:
                place = f'x="{across[i]:.1f}" y="{down[j + 1]:.1f}"'
                # half a unit more, so that no seam shows between cells
                size = f'width="{across[i + 1] - across[i] + 0.5:.1f}" height="{down[j] - down[j + 1] + 0.5:.1f}"'
                told = escape(f"{word} at ({number(shown.x[i], 4)}, {number(shown.y[j], 4)})")
                cells.append(f'<rect {place} {size} fill="{color}"><title>{told}</title></rect>')
    marks = [_dots(places, x, y, f'class="mark m{k % 3}"') for k, places in enumerate(shown.marks.values())]
    keys = [Key(swatch(color), name, button=False) for name, color in _colors(shown).items()]
    keys += [
        Key(f'<circle class="mark m{k % 3}" cx="11" cy="4" r="3"/>', name, button=False)
        for k, name in enumerate(shown.marks)
    ]
    drawing = f'<g class="cells">{"".join(cells)}</g><g class="marks">{"".join(marks)}</g>'
    x_name, y_name = shown.axes
    parts = [box(x, y, drawing, label=shown.title, x_name=x_name, y_name=y_name, aspect=aspect)]
    if not shown.categories:
        ramp = ",".join(_ramp(part) for part in np.linspace(0.0, 1.0, 9))
        ends = f"<span>{number(low, 4)}</span><i style='background:linear-gradient(to right,{ramp})'></i>"
        parts.append(f'<div class="scale">{ends}<span>{number(high, 4)} {escape(shown.unit)}</span></div>')
    return figure(shown.title, shown.unit, [*parts, legend(keys)], kind="plot plane")


def bars(shown: Bars) -> str:
    """Bars from zero, or from a power of ten, with deviations as whiskers."""
    many, count = len(shown.values), len(shown.groups)
    y = _heights(shown)
    width, slot = SIDE / count, 0.8 * SIDE / count / many
    floor = 0.0 if shown.log else float(y.part(0.0))
    drawn = []
    for k, (name, row) in enumerate(shown.values.items()):
        deviations = shown.deviations.get(name)
        each = []
        for g, value in enumerate(row.tolist()):
            if not np.isfinite(value):
                continue
            left = width * (g + 0.1) + slot * k
            low, high = sorted((floor, float(y.part(value))))
            deviation = 0.0 if deviations is None else float(deviations[g])
            spread = f" ± {number(deviation, 4)}" if deviation else ""
            told = escape(f"{name}, {shown.groups[g]}: {number(value, 4)}{spread} {shown.unit}")
            place = f'x="{left + 0.06 * slot:.1f}" width="{0.88 * slot:.1f}"'
            height = f'y="{SIDE * (1 - high):.1f}" height="{SIDE * (high - low):.1f}"'
            each.append(f"<rect {place} {height}><title>{told}</title></rect>")
            if deviation > 0.0:
                each.append(_whisker(left + 0.5 * slot, 0.22 * slot, value, deviation, y))
        drawn.append(f'<g fill="{COLORS[k % len(COLORS)]}">{"".join(each)}</g>')
    keys = [Key(swatch(COLORS[k % len(COLORS)]), name) for k, name in enumerate(shown.values)]
    turned = sum(map(len, shown.groups)) + 2 * count > _MOST_UPRIGHT
    look = "group turned" if turned else "group"
    names = "".join(
        f'<span class="{look}" style="left:{100 * (g + 0.5) / count:.2f}%">{escape(name)}</span>'
        for g, name in enumerate(shown.groups)
    )
    axes = box(Axis(0.0, 1.0), y, f'<g class="curves bars">{"".join(drawn)}</g>', label=shown.title, x_ticks=names)
    if turned:
        longest = max(map(len, shown.groups))
        axes = f'<div style="padding-bottom:{min(0.32 * longest, 6.0):.1f}rem">{axes}</div>'
    return figure(shown.title, shown.unit, [axes, legend(keys)])


def picture(shown: Picture) -> str:
    """The SVG in a tree of its own, so that its names and styles do not mix with those of the page."""
    found = re.search(r"<svg[\s/>]", shown.svg)
    svg = shown.svg[found.start() if found else 0 :]
    look = "<style>svg{display:block;margin:auto;max-width:max(100%,30rem);height:auto}</style>"
    inside = f'<div class="drawing"><template shadowrootmode="open">{look}{svg}</template></div>'
    text = f"<p>{escape(shown.text)}</p>" if shown.text else ""
    return figure(shown.title, "", [inside, text], kind="picture")


def _through(shape: Array, x: Axis, y: Axis) -> str:
    return points(SIDE * x.part(shape[:, 0]), SIDE * (1.0 - y.part(shape[:, 1])))


def _dots(places: Array, x: Axis, y: Axis, look: str) -> str:
    """Dots that stay round however the axes are stretched: ends of lines without length."""
    pairs = zip((SIDE * x.part(places[:, 0])).tolist(), (SIDE * (1.0 - y.part(places[:, 1]))).tolist(), strict=True)
    path = "".join(f"M{a:.1f} {b:.1f}h0.01" for a, b in pairs if np.isfinite([a, b]).all())
    return f'<path d="{path}" {look} style="stroke-width:9;stroke-linecap:round"/>'


def _equal(x: Axis, y: Axis, widest: float) -> tuple[Axis, Axis, float]:
    """Axes with one scale, the shorter lengthened where the box would be too flat or too high."""
    aspect = float(np.clip(x.span / y.span, _NARROWEST, widest))
    if x.span < aspect * y.span:
        x = _longer(x, aspect * y.span)
    else:
        y = _longer(y, x.span / aspect)
    return x, y, aspect


def _longer(axis: Axis, span: float) -> Axis:
    middle = 0.5 * (axis.low + axis.high)
    return Axis(middle - 0.5 * span, middle + 0.5 * span)


def _edges(places: Array) -> Array:
    """Where cells about places (k,) meet, (k + 1,)."""
    if len(places) == 1:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    half = 0.5 * np.diff(places)
    return np.concatenate([[places[0] - half[0]], places[:-1] + half, [places[-1] + half[-1]]])


def _unit(name: str) -> str:
    found = re.search(r"\(([^()]*)\)\s*$", name)
    return found[1] if found else ""


def _colors(shown: GridMap) -> Mapping[str, str]:
    given = shown.colors or tuple(COLORS[k % len(COLORS)] for k in range(len(shown.categories)))
    return dict(zip(shown.categories, map(escape, given), strict=True))


def _cell(shown: GridMap, value: float, low: float, high: float) -> tuple[str, str]:
    """Color and word of a cell; no color where there is nothing."""
    if shown.categories:
        if value < 0:
            return "", ""
        name = shown.categories[int(value)]
        return _colors(shown)[name], name
    if not np.isfinite(value):
        return "", ""
    return _ramp((value - low) / (high - low) if high > low else 0.5), f"{number(value, 4)} {shown.unit}".strip()


def _ramp(part: float) -> str:
    place = part * (len(_SCALE) - 1)
    i = min(int(place), len(_SCALE) - 2)
    red, green, blue = (_SCALE[i] + (place - i) * (_SCALE[i + 1] - _SCALE[i])).round().astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _heights(shown: Bars) -> Axis:
    ends = []
    for name, row in shown.values.items():
        spread = np.nan_to_num(shown.deviations.get(name, np.zeros(len(row))))
        ends += [row + spread, np.where(row - spread > 0.0, row - spread, row) if shown.log else row - spread]
    every = np.concatenate(ends)
    if shown.log:
        finite = np.log10(every[np.isfinite(every)])
        return Axis(float(np.floor(finite.min() - 0.02)), float(finite.max()) + 0.1, log=True)
    finite = np.append(every[np.isfinite(every)], 0.0)
    low, high = float(finite.min()), float(finite.max())
    room = 0.06 * (high - low) or 1.0
    # a whisker that reaches below zero leaves bars of positive values on the ground
    least = min((float(np.nanmin(row)) for row in shown.values.values() if np.isfinite(row).any()), default=0.0)
    return Axis(0.0 if least >= 0.0 else low - room, high + room)


def _whisker(x: float, half: float, value: float, deviation: float, y: Axis) -> str:
    low = value - deviation
    parts = [float(y.part(value + deviation)), 0.0 if y.log and low <= 0.0 else float(y.part(low))]
    top, bottom = (SIDE * (1.0 - part) for part in parts)
    ends = "".join(f"M{x - half:.1f} {end:.1f}h{2 * half:.1f}" for end in (top, bottom))
    return f'<path class="whisker" d="M{x:.1f} {top:.1f}V{bottom:.1f}{ends}"/>'
