"""Curves and drawings of walks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dqdyn.analysis.experiments.experiment import Case, Drawing
from dqdyn.analysis.experiments.figure_kinds import Event, Figure, PlaneFigure, Span
from dqdyn.analysis.experiments.figures import draw, figure
from dqdyn.analysis.standing.pushes import PUSH
from dqdyn.analysis.walking.walked import Walked
from dqdyn.arrays import Array
from dqdyn.footsteps import Footstep, Sole
from dqdyn.scenes import Scene


def over_time(title: str, run: Walked, i: int, spans: Sequence[Span], events: Sequence[Event]) -> Figure:
    t = run.trajectory
    values = {
        "zero-moment point": run.zero_moment_points[:, i],
        "center of mass": run.centers[:, i],
        "divergent component": run.components[:, i],
        "reference of it": t.extra["xi_d"][:, i],
    }
    return figure(title, "m", {name: (t, value) for name, value in values.items()}, spans=spans, events=events)


def from_above(title: str, run: Walked) -> PlaneFigure:
    sole = Sole(run.standing.half_length, run.standing.half_width)
    paths = {
        "footprints": outlines(run.footprints, sole),
        "zero-moment point": run.zero_moment_points,
        "center of mass": run.centers[:, :2],
        "divergent component": run.components,
    }
    return PlaneFigure(title, paths=paths, limits={"footsteps of the plan": outlines(run.planned, sole)})


def outlines(steps: Sequence[Footstep], sole: Sole) -> Array:
    """Rectangles (k, 2), with NaN between them."""
    gap = np.full((1, 2), np.nan)
    shapes = [sole.corners(step.pose)[[0, 1, 2, 3, 0], :2] for step in steps]
    return np.concatenate([row for shape in shapes for row in (shape, gap)] or [gap])


def spans_of(run: Walked) -> tuple[Span, ...]:
    """The states of the machine."""
    ends = [*(event.t for event in run.events[1:]), float(run.trajectory.time[-1])]
    return tuple(Span(e.t, end, e.to) for e, end in zip(run.events, ends, strict=True) if end > e.t)


def events_of(run: Walked) -> tuple[Event, ...]:
    if run.push is None:
        return ()
    return (Event(run.push.start, f"push of {run.push.force(run.standing):.0f} N"),)


def case_of(name: str, run: Walked, scene: Scene | None = None) -> Case:
    """The run with what to draw around it; ``scene``: by default level ground."""
    around = run.standing.scene if scene is None else scene
    return Case(name, run.trajectory, tuple(drawings_of(run)), around, spans_of(run), events_of(run))


def drawings_of(run: Walked) -> Iterator[Drawing]:
    sole, t = Sole(run.standing.half_length, run.standing.half_width), run.trajectory
    for step in run.planned:
        raised = sole.corners(step.pose) + [0.0, 0.0, 1e-3]
        yield draw("polygon", corners=raised, name="footsteps of the plan")
    on_ground = np.full((len(t), 1), 2e-3)
    yield draw("path", points=np.hstack([run.components, on_ground]), name="divergent component")
    yield draw("path", points=np.hstack([run.centers[:, :2], on_ground]), name="center of mass, on the ground")
    if run.push is not None:
        acts = (t.time >= run.push.start) & (t.time < run.push.start + PUSH)
        way = np.array([np.cos(run.push.angle), np.sin(run.push.angle), 0.0]) * run.push.force(run.standing)
        pelvis = np.asarray(run.standing.robot.pose(run.standing.pelvis, t.q).translation)
        yield draw("arrow", start=pelvis, vector=acts[:, None] * way, unit="N", scale=0.004, name="push")
