"""What both experiments report: how attempts ended, the figures of the paper, and what is drawn around the robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dqdyn.analysis.experiments.experiment import Case, Claim, Drawing, Table
from dqdyn.analysis.experiments.figure_kinds import Figure, PlaneFigure
from dqdyn.analysis.experiments.figures import draw, figure, norm
from dqdyn.analysis.experiments.multi_contact.runs import Attempt
from dqdyn.analysis.experiments.multi_contact.setting import BALL, MARGIN, REACH, TORSO
from dqdyn.analysis.experiments.multi_contact.strategy import TRY_MAXIMISED
from dqdyn.arrays import Array
from dqdyn.geometry.primitives import Plane

Attempts = Mapping[str, Attempt]
SHORT = {"without contact": "feet", "with contact": "feet and hand", "maximised": "maximised"}
_ALLOWED = 1e-3  # m by which a step may go beyond a plane
_CORNERS = 9  # of a polygon drawn over time: those of two soles and a palm


def ends(attempts: Attempts, wanted: Mapping[str, bool]) -> Iterator[Claim]:
    """Which attempts reach the ball and which fail."""
    for name, succeeds in wanted.items():
        tried = attempts[name]
        text = f"{name[0].upper()}{name[1:]}, the ball is {'reached' if succeeds else 'not reached'}"
        yield Claim(text, tried.words, tried.reached == succeeds)


def decides(bound: Attempts, free: Attempts) -> Claim:
    """What fails with the planes around the center of mass succeeds without them."""
    words = [f"{name}: {bound[name].words}; without the planes {free[name].words}" for name in free]
    holds = all(not bound[name].reached and free[name].reached for name in free)
    return Claim("The limit on the center of mass decides, not the length of the arms", "; ".join(words), holds)


def areas_grow(attempts: Attempts) -> Claim:
    """Feet < feet and hand < maximised, of the polygons as the hand is."""
    feet, contact, largest = areas(attempts).values()
    measured = f"{feet:.4f} m² < {contact:.4f} m² < {largest:.4f} m²"
    return Claim(
        "The area of the feet is less than with the hand, and that less than maximised",
        measured,
        feet < contact < largest,
    )


def areas(attempts: Attempts) -> dict[str, float]:
    """The areas in m² on the feet, when the hand has touched, and when they are maximised."""
    tried = attempts["maximised"]
    first = tried.is_touching.argmax()
    at = tried.states.index(TRY_MAXIMISED) if TRY_MAXIMISED in tried.states else -1
    return {"feet": float(tried.area[0]), "feet and hand": float(tried.area[first]), "maximised": float(tried.area[at])}


def balanced(attempts: Attempts) -> Claim:
    """The center of mass inside of its planes throughout."""
    least = {name: float(tried.to_planes.min()) for name, tried in attempts.items()}
    words = ", ".join(f"{100.0 * d:.2f} cm {name}" for name, d in least.items())
    text = f"The center of mass stays {100.0 * MARGIN:g} cm inside of its planes, throughout"
    return Claim(text, f"at least {words}", min(least.values()) > MARGIN - _ALLOWED)


def held(attempts: Attempts) -> Claim:
    """Feet stand still, forearms stay away from the torso, and the palm on the surface while it leans on it."""
    feet = max(tried.setting.standing.feet_moved(tried.run.q) for tried in attempts.values())
    torso = min(float(tried.setting.to_torso(tried.run).min()) for tried in attempts.values())
    palm = max((_off_surface(tried) for tried in attempts.values()), default=0.0)
    return Claim(
        "Feet stand still, a palm that leans stays on its surface, forearms stay away from the torso",
        f"feet moved {1e3 * feet:.2g} mm, palm off by {1e3 * palm:.2g} mm, forearms {100.0 * torso:.1f} cm away "
        f"(limit {100.0 * TORSO:g})",
        feet < 2.0 * _ALLOWED and palm < 2.0 * _ALLOWED and torso > TORSO - _ALLOWED,
    )


def _off_surface(tried: Attempt) -> float:
    """m of the palm's middle from the surface while it is part of the support."""
    surface = tried.setting.surface
    off = tried.setting.hand(tried.run) @ np.asarray(surface.normal) - float(surface.distance)
    return float(np.abs(off[tried.is_touching]).max(initial=0.0))


def went(name: str, tried: Attempt, wanted: tuple[str, ...]) -> Claim:
    """The states that a machine went through."""
    steps = " → ".join(f"{event.to} ({event.t:.1f} s)" for event in tried.log)
    return Claim(f"{name}: {' → '.join(wanted)}", steps, tried.path == wanted and tried.reached)


def table(attempts: Attempts) -> Table:
    """All runs in numbers."""
    rows = tuple(
        (
            name,
            " → ".join(tried.path),
            "yes" if tried.reached else "no",
            f"{100.0 * tried.to_ball.min():.2f} cm",
            f"{tried.run.time[-1]:.1f} s",
            f"{tried.area[-1]:.4f} m²",
            f"{100.0 * tried.to_planes.min():.2f} cm",
        )
        for name, tried in attempts.items()
    )
    columns = ("run", "states", "reached", "nearest", "time", "area at the end", "center of mass to its planes, least")
    return Table("Attempts", columns, rows)


def figures(attempts: Attempts, numbers: tuple[str, str]) -> Iterator[Figure | PlaneFigure]:
    """Quantities of [Quiroz, fig. 6.15] and [Quiroz, fig. 6.16], or of [Quiroz, fig. 6.18].

    ``numbers``: of the paper's figures of distances and of the planes, "" for none.
    """
    first, second = numbers
    main = attempts["maximised"]
    run, spans = main.run, main.spans
    three = {name: attempts[name] for name in SHORT}
    if first == "6.15":
        approach = {"to the surface": (run, main.setting.to_surface(run))}
        yield figure(f"distance of the palm's plane from the surface (fig. {first})", "1, m", approach, spans=spans)
    levels = {name: value for name, value in areas(attempts).items() if name != "maximised"}
    yield figure(
        f"area of the support polygon (fig. {first})", "m²", {"maximised": (run, main.area)}, levels, spans=spans
    )
    balls = {name: (tried.run, tried.to_ball) for name, tried in three.items()}
    yield figure(f"right palm to the ball (fig. {first})", "m", balls, {"target": REACH})
    yield figure(
        "right palm to the ball, all four attempts", "m",
        {name: (tried.run, tried.to_ball) for name, tried in attempts.items()}, {"target": REACH},
    )  # fmt: skip
    yield figure(
        f"center of mass to its nearest plane, maximised{f' (fig. {second})' if second else ''}", "m",
        {"maximised": (run, main.to_planes)}, {"limit": MARGIN}, spans=spans,
    )  # fmt: skip
    speed = f"norm of the joint velocities{f' (fig. {second})' if second else ''}"
    yield figure(speed, "rad/s", {"maximised": (run, norm(run.v))}, spans=spans)
    yield from_above(attempts, second or first)


def from_above(attempts: Attempts, number: str) -> PlaneFigure:
    """The support polygons and the paths of the center of mass, seen from above."""
    main = attempts["maximised"]
    robot = main.setting.robot
    shapes = {
        "feet": main.polygons[0].corners,
        "feet and hand": main.polygons[int(main.is_touching.argmax())].corners,
        "maximised": main.polygons[-1].corners,
    }
    paths = {
        f"center of mass, {name}": np.array([robot.center_of_mass(q)[:2] for q in tried.run.q[::10]])
        for name, tried in attempts.items()
    }
    points = {"ball": np.asarray(main.setting.ball[:2]), "left palm": main.setting.hand(main.run)[-1, :2]}
    return PlaneFigure(f"support polygons from above (fig. {number})", ("x (m)", "y (m)"), shapes, paths, points)


def case(name: str, tried: Attempt, thin: int = 5) -> Case:
    """A run with its ball, polygon, region and the zones around torso and forearms, its states along the time."""
    kept = slice(None, None, thin)
    run = tried.run.part(kept)
    return Case(name, run, tuple(_drawings(tried, run, kept)), tried.setting.scene, spans=tried.spans)


def _drawings(tried: Attempt, run: object, kept: slice) -> Iterator[Drawing]:
    setting, q = tried.setting, tried.run.q[kept]
    robot = setting.robot
    corners = np.array([_padded(polygon.corners) for polygon in tried.polygons[kept]])
    outside = tried.to_planes[kept] < 0.0
    center = np.array([robot.center_of_mass(x) for x in q])
    below = center * [1.0, 1.0, 0.0]
    yield draw("target", position=setting.ball, radius=BALL, name="ball")
    yield draw("polygon", corners=corners, name="support polygon", violated=outside)
    yield draw("segment", start=center, end=below, radius=0.004, name="center of mass")
    yield draw("point", position=below, name="its projection")
    yield draw("polygon", corners=_region(tried), name="region of the left palm", color=(0.2, 0.5, 0.9, 0.3))
    trunk = robot.pose("chest", q)
    up = trunk.rotation_matrix[:, :, 2]
    near = setting.to_torso(tried.run)[kept] < TORSO - _ALLOWED
    yield draw(
        "capsule", start=trunk.translation, end=trunk.translation + 0.45 * up, radius=TORSO, name="zone of the torso",
        violated=near,
    )  # fmt: skip


def _padded(corners: Array) -> Array:
    """Corners (9, 3) a little above the ground, the last one repeated."""
    rows = np.vstack([corners, np.repeat(corners[-1:], _CORNERS - len(corners), axis=0)])
    return np.column_stack([rows, np.full(_CORNERS, 0.003)])


def _region(tried: Attempt) -> Array:
    """Corners (4, 3) of the region on the surface."""
    setting = tried.setting
    a, b, c, d = setting.region

    def corner(one: Plane, other: Plane) -> Array:
        planes = (setting.surface, one, other)
        normals = np.array([np.asarray(plane.normal) for plane in planes])
        return np.asarray(np.linalg.solve(normals, np.array([float(plane.distance) for plane in planes])))

    return np.array([corner(x, y) for x, y in ((a, c), (b, c), (b, d), (a, d))])
