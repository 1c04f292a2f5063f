"""A trajectory as one self-contained page: the robot in 3-D with playback, and its curves below."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.formats.whole_file import write_whole
from dqdyn.robot import Robot
from dqdyn.view.blob import Blob
from dqdyn.view.bounds import bounds_of
from dqdyn.view.motion import body_poses, checked, continuous, shown_samples
from dqdyn.view.overlays import acting_wrenches, overlays, placed
from dqdyn.view.scene import Marker, Scene
from dqdyn.view.series import Panel, panels_of
from dqdyn.view.shapes import Look, look_of
from dqdyn.view.svg import panel_figure
from dqdyn.view.text import escape
from dqdyn.view.triangles import with_normals

SCRIPTS = ("matrices.js", "camera.js", "renderer.js", "plots.js", "player.js")


def write_html(trajectory: Any, path: str | Path, *, scene: Scene | None = None, title: str | None = None) -> Path:
    """Write the page; an existing file is replaced whole. It needs no network and no other file.

    ``trajectory`` has ``robot``, ``time`` (n,) in s, ``q``, ``v`` and where known ``tau``, ``wrenches``, ``kinetic``,
    ``potential``, ``residual`` and ``extra``; see :class:`dqdyn.simulate.Trajectory`.
    """
    return write_whole(Path(path), html_page(trajectory, scene=scene, title=title).encode())


def html_page(trajectory: Any, *, scene: Scene | None = None, title: str | None = None) -> str:
    """The text of the page."""
    trajectory = checked(trajectory)
    robot, time = trajectory.robot, np.asarray(trajectory.time, dtype=float)
    shown = shown_samples(time)
    look, panels, blob = look_of(robot), panels_of(trajectory), Blob()
    q, v, tau = (_rows(trajectory, name, shown) for name in ("q", "v", "tau"))
    poses = continuous(body_poses(robot, q))
    own = overlays(robot, q, v, tau, acting_wrenches(trajectory, shown))
    added = scene.markers if scene is not None else []
    data = {
        "frames": len(shown),
        "bodies": len(robot.bodies),
        "time": blob.add(time[shown] - time[0]),
        "start": float(time[0]),
        "poses": blob.add(poses),
        "meshes": _meshes(look, blob),
        "markers": [
            *(_marker(robot, marker, np.arange(len(shown)), len(shown), blob) for marker in own),
            *(_marker(robot, marker, shown, len(time), blob) for marker in added),
        ],
        "groups": _groups(own, added),
        "curves": [[blob.add(values[shown]) for values in panel.curves.values()] for panel in panels],
        **asdict(bounds_of(look, poses)),
    }
    return _assembled(trajectory, title or robot.name, data, blob, panels, _notes(time, shown, look))


def _meshes(look: Look, blob: Blob) -> list[dict[str, Any]]:
    """Vertices as 16-bit steps in their box, normals as bytes: less than half of the size, finer than a pixel."""
    result = []
    for part in look.meshes:
        vertices, normals, faces = with_normals(part.mesh)
        if not len(faces):
            continue
        low = vertices.min(axis=0)
        step = np.maximum(np.ptp(vertices, axis=0), 1e-9) / 65535.0
        column = np.zeros((len(vertices), 1))  # four to a row: graphics cards read by four bytes
        result.append(
            {
                "body": part.body,
                "color": [round(c, 4) for c in part.color],
                "low": low.tolist(),
                "step": step.tolist(),
                "vertices": blob.add(np.hstack([np.round((vertices - low) / step), column]), "uint16"),
                "normals": blob.add(np.hstack([np.round(normals * 127.0), column]), "int8"),
                "faces": blob.add(faces, "uint16" if len(vertices) < 65536 else "uint32"),
            }
        )
    return result


def _rows(trajectory: Any, name: str, shown: np.ndarray) -> Any:
    values = getattr(trajectory, name, None)
    return None if values is None else real_array(values, name)[shown]


def _marker(robot: Robot, marker: Marker, shown: np.ndarray, samples: int, blob: Blob) -> dict[str, Any]:
    body, at, along = placed(robot, marker, samples)
    return {
        "kind": marker.kind,
        "group": marker.group,
        "name": marker.name,
        "body": body,
        "size": marker.size,
        "color": list(marker.color),
        "at": blob.add(at[shown] if len(at) > 1 else at),
        "along": blob.add(along[shown] if len(along) > 1 else along),
    }


def _groups(own: list[Marker], added: list[Marker]) -> list[dict[str, Any]]:
    """Switches of the page: what the user added is on, what the robot offers is off."""
    extra = {marker.group for marker in added}
    return [{"name": group, "on": group in extra} for group in dict.fromkeys(m.group for m in (*own, *added))]


def _notes(time: np.ndarray, shown: np.ndarray, look: Look) -> list[str]:
    notes = []
    if len(shown) < len(time):
        rate = (len(shown) - 1) / (time[-1] - time[0])
        notes.append(
            f"The run has {len(time)} samples; the animation shows {len(shown)} of them, {rate:.3g} per second, and "
            "the curves keep the extremes of all."
        )
    return notes + list(look.notes)


def _assembled(
    trajectory: Any, title: str, data: dict[str, Any], blob: Blob, panels: list[Panel], notes: list[str]
) -> str:
    robot, time = trajectory.robot, trajectory.time
    status = str(getattr(trajectory, "status", "") or "")
    facts = [
        f"nq = {robot.nq}, nv = {robot.nv}",
        f"{robot.mass:.4g} kg",
        f"{len(time)} samples, {float(time[-1] - time[0]):.4g} s",
        *([status] if status else []),
    ]
    filled = {
        "TITLE": escape(title),
        "FACTS": " · ".join(escape(fact) for fact in facts),
        "STYLE": web_file("player.css"),
        "SCRIPT": "\n".join(web_file(name) for name in SCRIPTS),
        # In a script element only "</script" and "<!--" matter; without "<" there is neither.
        "DATA": json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        "BLOB": blob.text(),
        "PLOTS": "\n".join(panel_figure(panel, np.asarray(time, dtype=float)) for panel in panels),
        "NOTES": "".join(f"<p>{escape(note)}</p>" for note in notes),
    }
    return filled_page("page.html", filled)


def filled_page(name: str, filled: Mapping[str, str]) -> str:
    """A page of the folder "web" with its {{PLACES}} filled."""
    before, *rest = web_file(name).split("{{")
    pieces = [before]
    for part in rest:  # one pass, so that nothing in the values is taken for a place to fill
        name, _, after = part.partition("}}")
        pieces += [filled[name], after]
    return "".join(pieces)


def web_file(name: str) -> str:
    """The text of a file in the folder "web"."""
    return (resources.files("dqdyn.view") / "web" / name).read_text(encoding="utf-8")
