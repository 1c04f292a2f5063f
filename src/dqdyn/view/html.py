"""A trajectory as one self-contained page: the robot in 3-D with playback, and its curves below."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array
from dqdyn.formats.whole_file import write_whole
from dqdyn.robot import Robot
from dqdyn.scenes.scene import Scene
from dqdyn.view.markers import Marker, Markers
from dqdyn.view.motion import body_poses, checked, continuous, shown_samples
from dqdyn.view.overlays import acting_wrenches, contact_arrows, overlays, placed, switches
from dqdyn.view.page import escape, filled, inline_json, page
from dqdyn.view.scene_bodies import setting_of
from dqdyn.view.series import panels_of
from dqdyn.view.shapes import Appearance, appearance_of
from dqdyn.view.svg import figures
from dqdyn.view.triangles import Indices, with_normals

SCRIPTS = ("matrices.js", "camera.js", "renderer.js", "plots.js", "player.js")
Reference = list[Any]
"""Type, offset in bytes, and number of elements."""

_TYPES = {"float32": "<f4", "uint32": "<u4", "uint16": "<u2", "int8": "i1"}


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
) -> str:
    """The text of the page."""
    trajectory = checked(trajectory)
    robot, time = trajectory.robot, np.asarray(trajectory.time, dtype=float)
    shown = shown_samples(time)
    appearance, panels, blob = appearance_of(robot), panels_of(trajectory), Blob()
    q, v, tau = (_rows(trajectory, name, shown) for name in ("q", "v", "tau"))
    setting = setting_of(scene, markers, len(robot.bodies), time, getattr(trajectory, "extra", None))
    poses = continuous(setting.shown(shown).beside(body_poses(robot, q)))
    whole = replace(appearance, meshes=(*appearance.meshes, *setting.meshes))
    own = overlays(robot, q, v, tau, acting_wrenches(trajectory, shown)) + contact_arrows(trajectory, shown)
    added = setting.markers
    data = {
        "frames": len(shown),
        "bodies": poses.shape[1],
        "time": blob.add(time[shown] - time[0]),
        "start": float(time[0]),
        "poses": blob.add(poses),
        "meshes": _meshes(whole, blob),
        "markers": [
            *(_marker(robot, marker, np.arange(len(shown)), len(shown), blob) for marker in own),
            *(_marker(robot, marker, shown, len(time), blob) for marker in added),
        ],
        "groups": [{"name": group, "on": on} for group, on in switches(own, added).items()],
        "curves": [[blob.add(values[shown]) for values in panel.curves.values()] for panel in panels],
        **asdict(setting.bounds(appearance, poses)),
    }
    samples = f"{len(time)} samples, {float(time[-1] - time[0]):.4g} s"
    facts = [f"nq = {robot.nq}, nv = {robot.nv}", f"{robot.mass:.4g} kg", samples]
    facts += [str(status) for status in [getattr(trajectory, "status", "")] if status]
    notes = _notes(time, shown, appearance.notes)
    filling = {"PLOTS": figures(panels, time), "NOTES": notes, "DATA": inline_json(data), "BLOB": blob.text()}
    body = filled("player.html", **filling)
    return page(title or robot.name, facts, body, styles=["player.css"], scripts=SCRIPTS)


class Blob:
    """Arrays embedded in a page: concatenated, compressed and encoded as text; each is known by its reference."""

    def __init__(self) -> None:
        self.data = bytearray()

    def add(self, values: Array | Indices, kind: str = "float32") -> Reference:
        reference = [kind, len(self.data), int(values.size)]
        self.data += np.asarray(values, dtype=_TYPES[kind]).tobytes()
        self.data += b"\0" * (-len(self.data) % 4)  # views in JavaScript start at multiples of their element's size
        return reference

    def text(self) -> str:
        """zlib, then base64."""
        return base64.b64encode(zlib.compress(self.data, 9)).decode("ascii")


def _meshes(appearance: Appearance, blob: Blob) -> list[dict[str, Any]]:
    """Vertices as 16-bit steps in their box, normals as bytes: less than half of the size, finer than a pixel."""
    result = []
    for part in appearance.meshes:
        vertices, normals, faces = with_normals(part.mesh)
        if not len(faces):
            continue
        low = vertices.min(axis=0)
        step = np.maximum(np.ptp(vertices, axis=0), 1e-9) / 65535.0
        column = np.zeros((len(vertices), 1))  # four to a row: graphics cards read by four bytes
        facts = {"body": part.body, "color": [round(c, 4) for c in part.color]}
        facts |= {"low": low.tolist(), "step": step.tolist()}
        facts["vertices"] = blob.add(np.hstack([np.round((vertices - low) / step), column]), "uint16")
        facts["normals"] = blob.add(np.hstack([np.round(normals * 127.0), column]), "int8")
        facts["faces"] = blob.add(faces, "uint16" if len(vertices) < 65536 else "uint32")
        result.append(facts)
    return result


def _rows(trajectory: Any, name: str, shown: Indices) -> Any:
    values = getattr(trajectory, name, None)
    return None if values is None else real_array(values, name)[shown]


def _marker(robot: Robot, marker: Marker, shown: Indices, samples: int, blob: Blob) -> dict[str, Any]:
    body, fixed = placed(robot, marker, samples)
    facts = {name: getattr(marker, name) for name in ("kind", "group", "name", "size", "color")}
    rows = {"at": fixed.at, "along": fixed.along}
    return {"body": body, **facts, **{k: blob.add(r[shown] if len(r) > 1 else r) for k, r in rows.items()}}


def _notes(time: Array, shown: Indices, notes: Sequence[str]) -> str:
    if len(shown) < len(time):
        rate = (len(shown) - 1) / (time[-1] - time[0])
        shows = f"the animation shows {len(shown)} of them, {rate:.3g} per second"
        thinned = f"The run has {len(time)} samples; {shows}, and the curves keep the extremes of all."
        notes = [thinned, *notes]
    return "".join(f"<p>{escape(note)}</p>" for note in notes)
