"""Figures and drawings of runs, and the norms that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.analysis.experiments.experiment import Drawing, Truths
from dqdyn.analysis.experiments.figure_kinds import Event, Figure, Levels, Multiples, Span
from dqdyn.arrays import Array
from dqdyn.errors import Error, unknown_name
from dqdyn.simulate import Trajectory

_POINTS = 1500  # of a figure's common time axis
_FEW = 400  # of a small one's
Runs = Mapping[str, Trajectory]
Curves = Mapping[str, tuple[Trajectory, Array]]
"""Values (n,) over the time of a run, by name."""


def draw(kind: str, *, violated: Truths | None = None, **arguments: Any) -> Drawing:
    """``draw("sphere", center=…, radius=…)``: one call of a method of :class:`dqdyn.view.Markers`.

    ``violated`` (n,): the samples at which it is red.
    """
    return Drawing(kind, arguments, violated)


def curves(runs: Runs, values: Callable[[Trajectory], Array] | Mapping[str, Array]) -> Curves:
    """A curve per run: a function of the run, or values at hand by its name."""
    return {name: (run, values(run) if callable(values) else values[name]) for name, run in runs.items()}


def figure(
    title: str,
    unit: str,
    curves: Curves,
    limits: Mapping[str, Levels] | None = None,
    *,
    spans: Sequence[Span] = (),
    events: Sequence[Event] = (),
    points: int = _POINTS,
) -> Figure:
    """Curves (n,) of runs that may have different steps over one time axis, with constant limits."""
    if not curves:
        raise Error(f"Nothing to show in the figure {title!r}: give at least one curve.")
    for name, (run, values) in curves.items():
        if np.shape(values) != np.shape(run.time):
            found = f"found shape {np.shape(values)} for {len(run.time)} samples"
            raise Error(f"The curve {name!r} of the figure {title!r} needs a value per sample of its run; {found}.")
    end = max(float(run.time[-1]) for run, _ in curves.values())
    time = np.linspace(0.0, end, points)
    # a run that ended earlier has no curve there
    drawn = {name: np.interp(time, run.time, values, right=np.nan) for name, (run, values) in curves.items()}
    return Figure(title, unit, time, drawn, dict(limits or {}), tuple(spans), tuple(events))


def joint_figures(
    title: str,
    runs: Runs,
    joints: Sequence[str],
    number: str = "",
    *,
    spans: Sequence[Span] = (),
    events: Sequence[Event] = (),
) -> Iterator[Figure | Multiples]:
    """The room that all joints have to their limits, then a small figure per named joint with its limits.

    ``number``: the paper's, such as "fig. 6.3", of the positions.
    """
    room = curves(runs, room_to_limits)
    yield figure(f"{title}: room to the nearest limit", "rad", room, {"limit": 0.0}, spans=spans, events=events)
    positions = f"{title} ({number})" if number else title
    yield joint_multiples(positions, runs, joints, spans=spans, events=events)


def joint_multiples(
    title: str, runs: Runs, joints: Sequence[str], *, spans: Sequence[Span] = (), events: Sequence[Event] = ()
) -> Multiples:
    """Positions of joints with one coordinate in all runs, a small figure per joint, between its limits."""
    if not runs:
        raise Error(f"Nothing to show in the figures {title!r}: give at least one run.")
    robot = next(iter(runs.values())).robot
    known = {joint.name: joint for joint in robot.joints}
    figures = []
    for name in joints:
        if name not in known:
            raise unknown_name("joint", name, known)
        joint = known[name]
        if joint.q.stop - joint.q.start != 1:
            raise Error(f"The joint {name!r} has {joint.q.stop - joint.q.start} coordinates: name joints with one.")
        place = joint.q.start
        ends = np.array([robot.limits.lower[place], robot.limits.upper[place]])
        limits = {"limits": ends[np.isfinite(ends)]} if np.isfinite(ends).any() else {}
        unit = "rad" if joint.motion.angular == (True,) else "m"
        values = {run: (r, r.q[:, place]) for run, r in runs.items()}
        figures.append(figure(name, unit, values, limits, spans=spans, events=events, points=_FEW))
    return Multiples(title, tuple(figures))


def phases(time: Array, names: Sequence[str]) -> tuple[Span, ...]:
    """Spans of equal names in a row: what went on at each sample of ``time`` (n,), "" for nothing."""
    if len(time) != len(names):
        raise Error(f"Phases need a name per sample: {len(time)}; found {len(names)}.")
    starts = [i for i in range(len(names)) if i == 0 or names[i] != names[i - 1]]
    ends = [*starts[1:], len(names) - 1]
    pairs = zip(starts, ends, strict=True) if starts else ()
    return tuple(Span(float(time[a]), float(time[b]), names[a]) for a, b in pairs if names[a])


def room_to_limits(run: Trajectory) -> Array:
    """The least distance (n,) of a joint from its limits, negative beyond them."""
    limits = run.robot.limits
    return np.asarray(np.minimum(run.q - limits.lower, limits.upper - run.q).min(axis=1))


def norm(values: Array) -> Array:
    """Lengths (n,) of rows (n, k)."""
    return np.asarray(np.linalg.norm(values, axis=-1))


def effort(time: Array, values: Array) -> float:
    """√∫‖u‖² dt by the trapezoidal rule."""
    squares = np.sum(values * values, axis=1)
    return float(np.sqrt(np.sum(0.5 * (squares[1:] + squares[:-1]) * np.diff(time))))
