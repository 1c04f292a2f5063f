"""What a page needs to play a run: poses and markers over time, and apart from them what runs of one robot share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array
from dqdyn.robot import Robot
from dqdyn.scenes.scene import Scene
from dqdyn.view.legend import Entry, Symbol, body_key, entries, key_of
from dqdyn.view.markers import Marker, Markers
from dqdyn.view.motion import body_poses, checked, continuous, shown_samples
from dqdyn.view.overlays import acting_wrenches, contact_arrows, overlays, placed
from dqdyn.view.packing import Blob, packed
from dqdyn.view.page import escape
from dqdyn.view.scene_bodies import Setting, setting_of
from dqdyn.view.shapes import MOST_FACES, BodyMesh, appearance_of
from dqdyn.view.triangles import Indices, with_normals

Spans = Sequence[tuple[float, float, str, str]]
"""Start and end in s, name, and color."""
Events = Sequence[tuple[float, str]]
"""Time in s, and name."""


@dataclass(frozen=True, eq=False)
class Animation:
    """Texts for script elements: ``run`` of this run alone, ``shared`` of what other runs may have too."""

    run: str
    shared: tuple[str, ...]
    notes: str


def animation(
    trajectory: Any,
    *,
    scene: Scene | Markers | None = None,
    markers: Markers | None = None,
    name: str = "",
    curves: Sequence[Sequence[Array]] = (),
    plots: str = "",
    spans: Spans = (),
    events: Events = (),
    most_faces: int = MOST_FACES,
) -> Animation:
    """A trajectory to play; ``curves`` are values (n,) by panel for the page's cursor, ``plots`` HTML to unfold."""
    trajectory = checked(trajectory)
    robot, time = trajectory.robot, np.asarray(trajectory.time, dtype=float)
    shown, appearance, blob = shown_samples(time), appearance_of(robot, most_faces), Blob()
    q, v, tau = (_rows(trajectory, field, shown) for field in ("q", "v", "tau"))
    setting = setting_of(scene, markers, len(robot.bodies), time, getattr(trajectory, "extra", None))
    poses = continuous(setting.shown(shown).beside(body_poses(robot, q)))
    own = overlays(robot, q, v, tau, acting_wrenches(trajectory, shown)) + contact_arrows(trajectory, shown)
    fixed, moving = [m for m in own if m.samples == 1], [m for m in own if m.samples > 1]
    count, every = len(shown), np.arange(len(shown))
    data = {
        "name": name,
        "frames": count,
        "bodies": poses.shape[1],
        "time": blob.add(time[shown] - time[0]),
        "start": float(time[0]),
        "poses": blob.add_smooth(poses.reshape(count, -1)),
        "markers": [
            *(_marker(robot, marker, key_of(marker, True), every, count, blob) for marker in moving),
            *(_marker(robot, marker, key_of(marker, False), shown, len(time), blob) for marker in setting.markers),
        ],
        "legend": [*_bodies(setting), *(_entry(entry) for entry in entries(own, setting.markers))],
        "curves": [[blob.add(values[shown]) for values in panel] for panel in curves],
        "spans": [[float(a - time[0]), float(b - time[0]), word, color] for a, b, word, color in spans],
        "events": [[float(t - time[0]), word] for t, word in events],
        **({"plots": blob.add_text(plots)} if plots else {}),
        **asdict(setting.bounds(appearance, poses)),
    }
    shared = [_shared(appearance.meshes, robot=robot, markers=fixed)]
    if setting.meshes:
        shared.append(_shared(setting.meshes, setting.names))
    return Animation(packed(data, blob), tuple(shared), _notes(time, shown, appearance.notes))


def _shared(
    meshes: Sequence[BodyMesh], names: Sequence[str] = (), robot: Robot | None = None, markers: Sequence[Marker] = ()
) -> str:
    """Meshes, with names if the legend has them, and markers that do not move in their bodies."""
    blob, one = Blob(), np.zeros(1, dtype=int)
    fixed = [] if robot is None else [_marker(robot, m, key_of(m, True), one, 1, blob) for m in markers]
    return packed({"meshes": _meshes(meshes, names, blob), "markers": fixed}, blob)


def _meshes(meshes: Sequence[BodyMesh], names: Sequence[str], blob: Blob) -> list[dict[str, Any]]:
    """Vertices as 16-bit steps in their box, normals as bytes: less than half of the size, finer than a pixel."""
    result = []
    for k, part in enumerate(meshes):
        vertices, normals, faces = with_normals(part.mesh)
        if not len(faces):
            continue
        low = vertices.min(axis=0)
        step = np.maximum(np.ptp(vertices, axis=0), 1e-9) / 65535.0
        column = np.zeros((len(vertices), 1))  # four to a row: graphics cards read by four bytes
        facts = {"body": part.body, "color": [round(c, 4) for c in part.color]}
        facts |= {"low": low.tolist(), "step": step.tolist(), **({"key": body_key(names[k])} if names else {})}
        facts["vertices"] = blob.add(np.hstack([np.round((vertices - low) / step), column]), "uint16")
        facts["normals"] = blob.add(np.hstack([np.round(normals * 127.0), column]), "int8")
        facts["faces"] = blob.add(faces, "uint16" if len(vertices) < 65536 else "uint32")
        result.append(facts)
    return result


def _rows(trajectory: Any, name: str, shown: Indices) -> Any:
    values = getattr(trajectory, name, None)
    return None if values is None else real_array(values, name)[shown]


def _marker(robot: Robot, marker: Marker, key: str, shown: Indices, samples: int, blob: Blob) -> dict[str, Any]:
    body, fixed = placed(robot, marker, samples)
    facts: dict[str, Any] = {"kind": marker.kind, "key": key, "size": marker.size}
    facts["color"] = [round(c, 4) for c in marker.color]
    rows = {"at": fixed.at, "along": fixed.along}
    if marker.kind == "triangle":
        rows["across"] = fixed.across
    for name, values in rows.items():
        facts[name] = blob.add_smooth(values[shown]) if len(values) > 1 else [round(x, 6) for x in values[0].tolist()]
    if marker.violated.any():
        flags = np.broadcast_to(marker.violated, samples)
        # true where it is anywhere before the next sample that is shown, so that no short violation is missed
        facts["violated"] = blob.add(np.logical_or.reduceat(flags, shown).astype(int), "uint8")
    return {"body": body, **facts}


def _bodies(setting: Setting) -> list[dict[str, Any]]:
    """Entries of the legend for the bodies of a scene."""
    colors = dict(zip(setting.names, (part.color for part in setting.meshes), strict=True))
    return [_entry(Entry(body_key(name), name, True, (Symbol("body", color),))) for name, color in colors.items()]


def _entry(entry: Entry) -> dict[str, Any]:
    symbols = [{"kind": s.kind, "color": [round(c, 4) for c in s.color], "note": s.note} for s in entry.symbols]
    return {"key": entry.key, "name": entry.name, "on": entry.on, "symbols": symbols}


def _notes(time: Array, shown: Indices, notes: Sequence[str]) -> str:
    if len(shown) < len(time):
        rate = (len(shown) - 1) / (time[-1] - time[0])
        shows = f"the animation shows {len(shown)} of them, {rate:.3g} per second"
        thinned = f"The run has {len(time)} samples; {shows}, and the curves keep the extremes of all."
        notes = [thinned, *notes]
    return "".join(f"<p>{escape(note)}</p>" for note in notes)
