"""Text, figures and tables of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from dqdyn.analysis.experiments.experiment import Table
from dqdyn.analysis.experiments.figure_kinds import AnyFigure, Bars, Event, PlaneFigure
from dqdyn.analysis.experiments.figures import Curves, figure
from dqdyn.analysis.experiments.multi_contact.setting import HAND
from dqdyn.analysis.experiments.pendulum_blow import setting
from dqdyn.analysis.experiments.pendulum_blow.blows import DT, Blow
from dqdyn.analysis.experiments.pendulum_blow.study import Study
from dqdyn.analysis.standing.setting import FRICTION
from dqdyn.arrays import Array


def text(study: Study) -> tuple[str, ...]:
    """What was done, and what of it is ours."""
    p, (near, far) = study.ring.pendulum, study.steps.both
    return (
        "A humanoid stands beside a table with its left palm on it, and a pendulum hits its back. One whole-body "
        "controller holds both postures: that in which the palm came to the table (Step I), and that in which it slid "
        "on until the area of the support polygon grew no more (Step II: law (3.1), η = −0.5, λ = 0.1). Both postures "
        "come from velocities; the blows are runs of MuJoCo from rest.",
        f"The paper prints no data of table and pendulum. Ours: the table's top is {setting.HEIGHT:g} m high, on the "
        f"robot's left; friction {FRICTION:g}; a ball of {p.mass:g} kg and {100 * p.radius:g} cm radius on a rod of "
        f"{p.length:g} m without mass, which hits the back {math.degrees(p.direction):.0f}° from straight ahead to the "
        f"left, where it hangs down; released at {study.degrees:.0f}°, the ball has {study.momentum:g} N s. The "
        "hand can push the table, not pull it: it helps against falls to its own side, so the blow goes there.",
        "Center of mass and trunk are held while the area grows, so that both postures differ in the hand alone: "
        f"from ({near.hand[0]:.2f}, {near.hand[1]:.2f}) m to ({far.hand[0]:.2f}, {far.hand[1]:.2f}) m. A robot has "
        "fallen when its pelvis is below 0.6 of its height, or when anything but its feet touches the ground. When the "
        "controller finds no command any more, the motors are switched off.",
    )


def figures(study: Study) -> Iterator[AnyFigure]:
    """The blow that both got, at the first engine step, and the greatest blows."""
    pair = study.pair(next(iter(study.searches)))
    hit = _hit(pair[0])
    yield from_above(study, pair)
    yield figure("height of the center of mass", "m", _curves(pair, lambda b: b.centers[:, 2]), events=hit)
    along = study.ring.pendulum.along
    yield figure(
        "center of mass along the blow",
        "m",
        _curves(pair, lambda b: (b.centers - b.standing.center) @ along),
        events=hit,
    )
    yield figure("room of the center of mass to the border of its polygon", "m", _curves(pair, lambda b: b.room),
                 {"border": 0.0}, events=hit)  # fmt: skip
    for blow in pair:
        yield figure(f"normal forces: {blow.posture.name}", "N", _forces(blow), events=_hit(blow))
    yield figure("angle of the pendulum, ahead positive", "rad", _curves(pair, _angles), events=hit)
    yield figure("force of the pendulum on the robot", "N", _curves(pair, _push), events=hit)
    yield Bars(
        "greatest blow survived",
        "N s",
        tuple(f"engine step {1.0 / count:g} ms" for count in study.searches),
        {
            posture.name: np.array([both[i].greatest for both in study.searches.values()])
            for i, posture in enumerate(study.steps.both)
        },
    )


def from_above(study: Study, pair: tuple[Blow, Blow]) -> PlaneFigure:
    """Both polygons with the paths of the center of mass, and the table."""
    (left, right), (near, far) = setting.TOP
    top = np.array([(left, near), (right, near), (right, far), (left, far), (left, near)])
    upright = {b.posture.name: b.centers[b.upright, :2] for b in pair}
    start = study.start.center[:2]
    return PlaneFigure(
        "seen from above: support polygons and the center of mass, until a fall",
        areas={
            "maximised": study.steps.maximised.polygon.corners,
            "unmaximised": study.steps.unmaximised.polygon.corners,
            "feet": study.start.polygon.corners,
        },
        paths={f"center of mass, {name}": path for name, path in upright.items()}
        | {"blow": np.array([start - 0.3 * study.ring.pendulum.along[:2], start]), "table": top},
        points={f"palm, {p.name}": p.hand[:2] for p in study.steps.both},
    )


def _hit(blow: Blow) -> tuple[Event, ...]:
    return (Event(blow.swing.blow.start * DT, "blow"),)


def _curves(pair: tuple[Blow, Blow], values: Callable[[Blow], Array]) -> Curves:
    return {blow.posture.name: (blow.trajectory, values(blow)) for blow in pair}


def _at_samples(blow: Blow, values: Array) -> Array:
    """Of what was noted at every step."""
    run = blow.trajectory
    return np.asarray(np.interp(run.time, DT * np.arange(len(values)), values))


def _angles(blow: Blow) -> Array:
    return _at_samples(blow, blow.swing.angles)


def _push(blow: Blow) -> Array:
    return _at_samples(blow, np.linalg.norm(blow.swing.forces, axis=1))


def _forces(blow: Blow) -> Curves:
    links = {"left hand": setting.PALM_LINK, "left foot": blow.standing.links[0], "right foot": blow.standing.links[1]}
    run = blow.trajectory
    none = np.zeros(len(run))
    return {name: (run, run.extra.get(f"normal_force/{link}", none)) for name, link in links.items()}


def summary(study: Study) -> Table:
    """Both postures in numbers."""
    pair, both = study.pair(next(iter(study.searches))), study.steps.both
    rows = [
        ("area of the support polygon", *(f"{1e4 * p.polygon.area:.0f} cm²" for p in both)),
        ("middle of the palm: x, y", *(f"{p.hand[0]:.3f}, {p.hand[1]:.3f} m" for p in both)),
        ("m ω₀ d, what a linear pendulum survives", *(f"{study.bound(p):.0f} N s" for p in both)),
        *(
            (f"survived, engine step {1.0 / count:g} ms", *(f"{s.greatest:.1f} N s" for s in found))
            for count, found in study.searches.items()
        ),
        *(
            (f"not survived, engine step {1.0 / count:g} ms", *(f"{s.least:.1f} N s" for s in found))
            for count, found in study.searches.items()
        ),
        ("survived, away from the hand", *(f"{s.greatest:.1f} N s" for s in study.away)),
        (f"impulse of the blow of {study.momentum:g} N s", *(f"{b.swing.impulse:.1f} N s" for b in pair)),
        ("greatest force of that blow", *(f"{1e-3 * b.swing.peak:.1f} kN" for b in pair)),
    ]
    title = "Both postures; d: from the center of mass to the border of the polygon along the blow"
    return Table(title, ("", *(p.name for p in both)), tuple(rows))


def all_runs(study: Study) -> Table:
    """Every blow."""
    rows = []
    for blow in study.blows:
        feet = max(blow.moved(foot) for foot in blow.standing.feet)
        moved = f"{1e3 * feet:.0f} / {1e3 * blow.moved(HAND):.0f}" if blow.survived else ""
        rows.append(
            (
                blow.posture.name,
                "left" if blow.swing.pendulum.direction > 0.0 else "right",
                f"{1.0 / blow.substeps:g} ms",
                f"{blow.momentum:.1f}",
                f"{math.degrees(study.ring.pendulum.angle(blow.momentum)):.0f}°",
                f"{blow.swing.impulse:.1f}",
                f"{blow.centers[:, 2].min():.2f}",
                moved,
                blow.outcome,
            )
        )
    columns = (
        "posture",
        "to the",
        "step",
        "m v (N s)",
        "release",
        "impulse (N s)",
        "lowest (m)",
        "moved (mm)",
        "outcome",
    )
    title = (
        "All blows; impulse: of the first touch, by the engine's contact forces; lowest: the center of mass; moved: "
        "feet / hand"
    )
    return Table(title, columns, tuple(rows))
