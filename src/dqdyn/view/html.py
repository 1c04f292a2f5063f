"""A trajectory as one self-contained page: the robot in 3-D with playback, and its curves below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.formats.whole_file import write_whole
from dqdyn.scenes.scene import Scene
from dqdyn.view.animation import animation
from dqdyn.view.markers import Markers
from dqdyn.view.motion import checked
from dqdyn.view.page import filled, page, web_file
from dqdyn.view.series import panels_of
from dqdyn.view.shapes import MOST_FACES
from dqdyn.view.svg import figures

PLAYING = ("matrices.js", "camera.js", "renderer.js", "packs.js", "stage.js", "legend.js", "playback.js")
"""Scripts of all pages with animations."""
SCRIPTS = (*PLAYING, "plots.js", "player.js")


def write_html(
    trajectory: Any,
    path: str | Path,
    *,
    scene: Scene | Markers | None = None,
    markers: Markers | None = None,
    title: str | None = None,
) -> Path:
    """Write the page; an existing file is replaced whole. It needs no network and no other file.

    ``scene``: bodies around the robot, which move as the trajectory recorded it; ``markers``: points, lines, arrows, ….
    ``trajectory`` has ``robot``, ``time`` (n,) in s, ``q``, ``v`` and where known ``tau``, ``wrenches``, ``kinetic``,
    ``potential``, ``residual`` and ``extra``; see :class:`dqdyn.simulate.Trajectory`.
    """
    return write_whole(Path(path), html_page(trajectory, scene=scene, markers=markers, title=title).encode())


def html_page(
    trajectory: Any,
    *,
    scene: Scene | Markers | None = None,
    markers: Markers | None = None,
    title: str | None = None,
    curves: bool = True,
    most_faces: int = MOST_FACES,
) -> str:
    """The text of the page; without ``curves`` it is the 3-D view alone."""
    trajectory = checked(trajectory)
    robot, time = trajectory.robot, np.asarray(trajectory.time, dtype=float)
    panels = panels_of(trajectory) if curves else []
    values = [list(panel.curves.values()) for panel in panels]
    shown = animation(trajectory, scene=scene, markers=markers, curves=values, most_faces=most_faces)
    samples = f"{len(time)} samples, {float(time[-1] - time[0]):.4g} s"
    facts = [f"nq = {robot.nq}, nv = {robot.nv}", f"{robot.mass:.4g} kg", samples]
    facts += [str(status) for status in [getattr(trajectory, "status", "")] if status]
    packs = pack_elements("run", [shown.run]) + pack_elements("shared", shown.shared)
    parts = {"STAGE": web_file("stage.html"), "CONTROLS": web_file("controls.html"), "PACKS": packs}
    body = filled("player.html", PLOTS=figures(panels, time), NOTES=shown.notes, **parts)
    return page(title or robot.name, facts, body, styles=["player.css"], scripts=SCRIPTS)


def pack_elements(kind: str, texts: Sequence[str]) -> str:
    """Script elements that hold packed data."""
    return "".join(f'<script type="application/json" class="{kind}">{text}</script>' for text in texts)
