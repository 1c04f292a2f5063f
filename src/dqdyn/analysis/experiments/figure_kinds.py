"""Kinds of figures: curves over time, small multiples, shapes seen from above, maps over a grid, bars, pictures.

They hold data alone; :mod:`dqdyn.view` draws them. Each is checked when it is made, and gives plain data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from xml.etree import ElementTree

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.errors import Error, one_line

Levels: TypeAlias = RealNumber | RealArray
"""Lines of a limit: one number, several constant ones (k,), or some that vary over time (n, k)."""
_FORBIDDEN = ("script", "foreignObject", "iframe", "image")  # of pictures, which contain no code and no other file


@dataclass(frozen=True)
class Span:
    """A shaded stretch of time in s: a phase, or a state of a machine. Spans of one name have one color.

    ``color``: as "#3b7dd8"; empty: chosen by the page.
    """

    start: float
    end: float
    name: str
    color: str = ""

    def __post_init__(self) -> None:
        start, end = (real_array(x, f"An end of the span {self.name!r}") for x in (self.start, self.end))
        if not (np.isfinite(start).all() and np.isfinite(end).all() and start.ndim == end.ndim == 0 and start <= end):
            found = f"from {self.start} to {self.end} s"
            raise Error(f"The span {self.name!r} goes {found}: give start ≤ end, both finite.", name=self.name)


@dataclass(frozen=True)
class Event:
    """A moment in s, marked by a line with a label."""

    time: float
    name: str

    def __post_init__(self) -> None:
        time = real_array(self.time, f"The time of the event {self.name!r}")
        if time.ndim or not np.isfinite(time):
            raise Error(f"The event {self.name!r} is at {self.time} s: give one finite time.", name=self.name)


@dataclass(frozen=True, eq=False)
class Figure:
    """Curves (n,) of several runs over one time axis (n,) in s.

    ``limits``: drawn dashed in red; ``spans`` and ``events``: what went on at the time.
    """

    title: str
    unit: str
    time: Array
    curves: Mapping[str, Array]
    limits: Mapping[str, Levels] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        what = f"the figure {self.title!r}"
        time = real_array(self.time, f"The time of {what}")
        if time.ndim != 1 or not len(time) or not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
            raise Error(f"The time of {what} is an array (n,) of increasing times; found shape {time.shape}.")
        curves = _named(self.curves, "curve", what)
        if not curves:
            raise Error(f"Nothing to show in {what}: give at least one curve.")
        for name, values in curves.items():
            if values.shape != time.shape:
                raise Error(f"The curve {name!r} of {what} needs shape {time.shape}; found {values.shape}.", name=name)
        limits = _named(self.limits, "limit", what)
        for name, levels in limits.items():
            if levels.ndim > 2 or (levels.ndim == 2 and len(levels) != len(time)):
                wanted = f"a number, levels (k,) or curves ({len(time)}, k)"
                raise Error(f"The limit {name!r} of {what} is {wanted}; found shape {levels.shape}.", name=name)
        spans, events = _all(Span, self.spans, what), _all(Event, self.events, what)
        _set(self, time=time, curves=curves, limits=limits, spans=spans, events=events)

    def as_data(self) -> dict[str, Any]:
        """What it shows, without the curves' values."""
        return {
            "kind": "curves",
            "title": self.title,
            "unit": self.unit,
            "curves": list(self.curves),
            "limits": {name: _levels(values) for name, values in self.limits.items()},
            "spans": [{"start": s.start, "end": s.end, "name": s.name} for s in self.spans],
            "events": [{"time": e.time, "name": e.name} for e in self.events],
        }


@dataclass(frozen=True, eq=False)
class Multiples:
    """Small figures side by side, e.g. one per joint, whose curves have the same names."""

    title: str
    figures: tuple[Figure, ...]

    def __post_init__(self) -> None:
        _set(self, figures=_all(Figure, self.figures, f"the small multiples {self.title!r}"))
        if not self.figures:
            raise Error(f"The small multiples {self.title!r} have no figures: give at least one.")

    def as_data(self) -> dict[str, Any]:
        """What each of them shows."""
        return {"kind": "multiples", "title": self.title, "figures": [each.as_data() for each in self.figures]}


@dataclass(frozen=True, eq=False)
class PlaneFigure:
    """Shapes in a plane by name, e.g. seen from above: filled areas, paths, points, and limits dashed in red.

    Each is an array (k, 2); areas are polygons, given by their corners in turn. ``equal``: one scale for both axes.
    """

    title: str
    axes: tuple[str, str] = ("x (m)", "y (m)")
    areas: Mapping[str, Array] = field(default_factory=dict)
    paths: Mapping[str, Array] = field(default_factory=dict)
    points: Mapping[str, Array] = field(default_factory=dict)
    limits: Mapping[str, Array] = field(default_factory=dict)
    equal: bool = True

    def __post_init__(self) -> None:
        shapes = {kind: _pairs(getattr(self, kind), self.title) for kind in ("areas", "paths", "points", "limits")}
        _set(self, axes=_two(self.axes, self.title), **shapes)
        for name, area in shapes["areas"].items():
            if len(area) < 3 or not np.isfinite(area).all():
                raise Error(f"The area {name!r} in the figure {self.title!r} needs three finite corners.", name=name)
        if not any(shapes.values()):
            raise Error(f"The figure {self.title!r} shows nothing: give areas, paths or points.")

    def as_data(self) -> dict[str, Any]:
        """Areas and points in numbers, paths and limits by name."""
        return {
            "kind": "plane",
            "title": self.title,
            "axes": list(self.axes),
            "areas": {name: _plain(corners) for name, corners in self.areas.items()},
            "points": {name: _plain(places) for name, places in self.points.items()},
            "paths": list(self.paths),
            "limits": list(self.limits),
        }


@dataclass(frozen=True, eq=False)
class GridMap:
    """A number or a category for each point of a grid, as colored cells.

    ``values`` (ny, nx) at ``x`` (nx,) and ``y`` (ny,), both increasing: numbers in ``unit``, NaN where unknown; or,
    with ``categories``, their indices, −1 for none. ``marks``: points (k, 2) by name. ``colors``: as "#3b7dd8", one per
    category.
    """

    title: str
    axes: tuple[str, str]
    x: Array
    y: Array
    values: Array
    categories: tuple[str, ...] = ()
    unit: str = ""
    marks: Mapping[str, Array] = field(default_factory=dict)
    colors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        what = f"the map {self.title!r}"
        x, y, values = (real_array(getattr(self, name), f"{name} of {what}") for name in ("x", "y", "values"))
        for name, places in (("x", x), ("y", y)):
            if places.ndim != 1 or not len(places) or not (np.diff(places) > 0).all() or not np.isfinite(places).all():
                raise Error(f"{name} of {what} is an array (k,) of finite, increasing places; found {places}.")
        if values.shape != (len(y), len(x)):
            raise Error(f"The values of {what} need shape {(len(y), len(x))}, a row per y; found {values.shape}.")
        if self.categories and not np.isin(values, np.arange(-1, len(self.categories))).all():
            raise Error(f"The values of {what} are indices of its {len(self.categories)} categories, or −1 for none.")
        if self.colors and len(self.colors) != len(self.categories):
            raise Error(f"The colors of {what} are one per category: {len(self.categories)}, found {len(self.colors)}.")
        _set(self, x=x, y=y, values=values, marks=_pairs(self.marks, self.title), axes=_two(self.axes, self.title))
        _set(self, categories=tuple(self.categories), colors=tuple(self.colors))

    def as_data(self) -> dict[str, Any]:
        """All of it; categories by name."""
        rows: Any = _plain(self.values)
        if self.categories:
            rows = [[self.categories[int(k)] if k >= 0 else None for k in row] for row in self.values]
        about = {"kind": "map", "title": self.title, "axes": list(self.axes), "unit": self.unit}
        return {**about, "x": _plain(self.x), "y": _plain(self.y), "values": rows}


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars in groups: ``values`` (k,) by series, one per group, with ``deviations`` (k,) of those that have some.

    ``log``: on a logarithmic axis, for positive values.
    """

    title: str
    unit: str
    groups: tuple[str, ...]
    values: Mapping[str, Array]
    deviations: Mapping[str, Array] = field(default_factory=dict)
    log: bool = False

    def __post_init__(self) -> None:
        what = f"the bars {self.title!r}"
        _set(self, groups=_all(str, self.groups, what))
        count = len(self.groups)
        given = {"values": self.values, "deviations": self.deviations}
        checked = {kind: _named(rows, kind.rstrip("s"), what) for kind, rows in given.items()}
        for kind, rows in checked.items():
            for name, row in rows.items():
                if row.shape != (count,):
                    raise Error(f"{kind} {name!r} of {what}: one per group, {count}; found {row.shape}.", name=name)
        if not checked["values"] or not count:
            raise Error(f"Nothing to show in {what}: give at least one group and one series of values.")
        unknown = [name for name in checked["deviations"] if name not in checked["values"]]
        if unknown:
            raise Error(f"The deviations {unknown[0]!r} of {what} belong to no values: {list(checked['values'])}.")
        if self.log and any((row <= 0.0).any() for row in checked["values"].values()):
            raise Error(f"A logarithmic axis needs positive values in {what}: give log=False.")
        if any((row < 0.0).any() for row in checked["deviations"].values()):
            raise Error(f"Deviations are not negative in {what}: give them without a sign.")
        _set(self, **checked)

    def as_data(self) -> dict[str, Any]:
        """All of it."""
        rows = {name: _plain(row) for name, row in self.values.items()}
        deviations = {name: _plain(row) for name, row in self.deviations.items()}
        about = {"kind": "bars", "title": self.title, "unit": self.unit, "groups": list(self.groups)}
        return {**about, "values": rows, "deviations": deviations}


@dataclass(frozen=True)
class Picture:
    """A drawing as the text of an SVG element, with a caption below it.

    For light and dark pages, use ``currentColor`` and ``var(--ink, #1c2330)``, ``--card``, ``--soft``, ``--rule`` or
    ``--accent`` as its colors.
    """

    title: str
    svg: str
    text: str = ""

    def __post_init__(self) -> None:
        try:
            root = ElementTree.fromstring(self.svg)
        except (ElementTree.ParseError, TypeError, ValueError) as problem:
            raise Error(f"The picture {self.title!r} is not an SVG text: {problem}.") from None
        names = [element.tag.rpartition("}")[2] for element in root.iter() if isinstance(element.tag, str)]
        if names[:1] != ["svg"] or "<svg" not in self.svg:
            raise Error(f"The picture {self.title!r} begins with <{names[0]}>: give one <svg> element.")
        attributes = [key for element in root.iter() for key in element.attrib]
        links = [v for e in root.iter() for k, v in e.attrib.items() if k.endswith("href") and not v.startswith("#")]
        bad = [n for n in names if n in _FORBIDDEN] + [a for a in attributes if a.lower().startswith("on")] + links
        if bad:
            raise Error(f"The picture {self.title!r} has {bad[0]!r}: it may hold shapes and texts alone, and no link.")

    def as_data(self) -> dict[str, Any]:
        """Title and caption."""
        return {"kind": "picture", "title": self.title, "text": self.text}


AnyFigure: TypeAlias = Figure | Multiples | PlaneFigure | GridMap | Bars | Picture
"""What a page can show between its claims."""


def _set(figure: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(figure, name, value)


def _all(kind: type, members: Any, what: str) -> tuple[Any, ...]:
    """Members as a tuple, all of one kind."""
    if isinstance(members, str) or not isinstance(members, Iterable):
        raise Error(f"Give each {kind.__name__} of {what} in a tuple; found {type(members).__name__}.")
    result = tuple(members)
    for member in result:
        if not isinstance(member, kind):
            raise Error(f"Each member of {what} here is a {kind.__name__}; found {one_line(repr(member), 80)}.")
    return result


def _two(axes: Any, title: str) -> tuple[str, str]:
    names = _all(str, axes, f"the axes of {title!r}")
    if len(names) != 2:
        raise Error(f"The figure {title!r} has two axes: name x and y; found {len(names)}.")
    return names[0], names[1]


def _named(values: Any, kind: str, what: str) -> dict[str, Array]:
    """Arrays by name."""
    if not isinstance(values, Mapping):
        raise Error(f"Each {kind} of {what} has a name: give a dict; found {type(values).__name__}.")
    return {name: real_array(row, f"The {kind} {name!r} of {what}") for name, row in values.items()}


def _pairs(shapes: Any, title: str) -> dict[str, Array]:
    """Arrays (k, 2) by name; one point may be given as (2,)."""
    result = {}
    for name, given in _named(shapes, "shape", f"the figure {title!r}").items():
        array = np.atleast_2d(given)
        if array.ndim != 2 or array.shape[1] != 2 or not len(array):
            raise Error(f"{name!r} in the figure {title!r} is an array (k, 2); found shape {array.shape}.", name=name)
        result[name] = array
    return result


def _levels(values: Any) -> Any:
    array = np.asarray(values, dtype=float)
    return _plain(array) if array.ndim < 2 else "over time"


def _plain(values: Any) -> Any:
    """Numbers as lists, None for those that are not finite: JSON has no NaN."""
    array = np.asarray(values, dtype=float).astype(object)
    array[~np.isfinite(array.astype(float))] = None
    return array.tolist()
