"""The robot and its markers as nodes of viser's scene."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import one_line
from dqdyn.model.model import WORLD_BODY
from dqdyn.robot import Robot
from dqdyn.view.bounds import Bounds
from dqdyn.view.legend import entries, keyed
from dqdyn.view.markers import Marker
from dqdyn.view.overlays import placed
from dqdyn.view.scene_bodies import Setting
from dqdyn.view.shapes import Appearance
from dqdyn.view.solids import AROUND, axes_with_z, cone, plane, sphere, turned
from dqdyn.view.triangles import Color, Indices, Triangles, with_normals

_HEAD = 6.0  # length of an arrow's head in radii of its shaft


class ViserScene:
    """Draws bodies and markers and moves them; entries of the legend are switches."""

    def __init__(self, server: Any, robot: Robot, appearance: Appearance, bounds: Bounds, setting: Setting) -> None:
        self.server, self.robot, self.added = server, robot, setting.markers
        self._lock = threading.RLock()
        stick = turned([(1.0, 0.0), (1.0, 1.0)], 16)
        solids = {
            "ball": sphere(1.0),
            "half": _half_ball(),
            "stick": stick,
            "cone": cone(1.0, 1.0),
            "sheet": plane(1.0),
        }
        self.solids = {name: with_normals(solid) for name, solid in solids.items()}
        flat = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        self.solids["triangle"] = (flat, np.tile([0.0, 0.0, 1.0], (3, 1)), np.array([[0, 1, 2]]))
        scene = server.scene
        scene.set_up_direction("+z")
        self.bodies = [
            scene.add_frame(f"/robot/{i}", show_axes=False) for i in range(len(robot.bodies) + setting.moving)
        ]
        self.parts = [
            self._mesh(f"{_node(part.body)}/mesh{k}", with_normals(part.mesh), part.color)
            for k, part in enumerate((*appearance.meshes, *setting.meshes))
        ]
        self.switches: dict[str, Any] = {}
        self.nodes: dict[str, Any] = {}
        self.latest: tuple[Array, Sequence[Marker], int]
        _aim(server, bounds)

    def _mesh(self, name: str, solid: tuple[Array, Array, Indices], color: Color, **options: Any) -> Any:
        vertices, _, faces = solid  # vertices on creases appear once per side, so viser shades them sharp
        options |= _look(color)
        return self.server.scene.add_mesh_simple(name, vertices, faces, side="double", **options)

    def offer(self, own: Sequence[Marker], samples: int) -> None:
        """A switch per entry of the legend."""
        for marker in self.added:
            placed(self.robot, marker, samples)  # complains about sizes and frames at once
        with self.server.gui.add_folder("Show"):
            for entry in entries(own, self.added):
                # Without a trajectory the robot's own arrows have another scale in each posture.
                label = entry.label if samples > 1 or entry.on else entry.name
                self.switches[entry.key] = self.server.gui.add_checkbox(one_line(label), entry.on)
                self.switches[entry.key].on_update(lambda _: self.place(*self.latest))

    def place(self, poses: Array, own: Sequence[Marker], i: int) -> None:
        """Bodies at poses (bodies, 7), markers of the robot and added ones at sample i."""
        with self._lock, self.server.atomic():
            self.latest = (poses, own, i)
            for handle, row in zip(self.bodies, poses, strict=True):
                handle.wxyz, handle.position = row[:4], row[4:]
            wanted: set[str] = set()
            for k, (key, marker) in enumerate(keyed(own, self.added)):
                if key in self.switches and self.switches[key].value:
                    wanted |= set(self._draw(k, marker, i))
            for name in set(self.nodes) - wanted:
                self.nodes.pop(name).remove()

    def _draw(self, k: int, marker: Marker, i: int) -> Iterator[str]:
        body, fixed = placed(self.robot, marker, marker.samples)
        at, along = fixed.sample(i)
        color = marker.color_at(i)
        key = f"{_node(body)}/{marker.group.replace(' ', '_')}/{one_line(marker.name)}".replace("//", "/")
        for part, (solid, position, axis, scale) in enumerate(_pieces(marker, at, along)):
            name = f"{key}/{k}_{solid}{part}"
            if name not in self.nodes:
                shadows = {"cast_shadow": False, "receive_shadow": False}
                self.nodes[name] = self._mesh(name, self.solids[solid], color, **shadows)
            handle = self.nodes[name]
            handle.position, handle.scale = position, scale
            handle.wxyz = Pose.from_matrix(axes_with_z(axis)).rotation
            if marker.kind == "triangle":
                handle.vertices = np.stack([np.zeros(3), along, fixed.third(i)]).astype(np.float32)
            if len(marker.violated) > 1:
                look = _look(color)
                handle.color, handle.opacity = look["color"], look["opacity"]
            yield name


def _look(color: Color) -> dict[str, Any]:
    return {"color": tuple(round(255 * c) for c in color[:3]), "opacity": color[3] if color[3] < 1.0 else None}


def _node(body: int) -> str:
    return "/fixed" if body == WORLD_BODY else f"/robot/{body}"


def _half_ball() -> Triangles:
    """Of radius 1 above z = 0."""
    bend = np.linspace(0.0, 0.5 * np.pi, AROUND // 4 + 1)
    return turned([(float(np.cos(a)), float(np.sin(a))) for a in bend])


def _pieces(marker: Marker, at: Array, along: Array) -> Iterator[tuple[str, Array, Array, tuple[float, ...]]]:
    """(solid, position, axis, scale) of what a marker is made of; nothing for an arrow without length."""
    r, length, up = marker.size, float(np.linalg.norm(along)), np.array([0.0, 0.0, 1.0])
    if marker.kind in ("ball", "sheet"):
        yield marker.kind, at, along, (r, r, r)
    elif marker.kind == "triangle":
        yield "triangle", at, up, (1.0, 1.0, 1.0)
    elif marker.kind == "capsule":
        axis = along if length > 0.0 else up
        yield "stick", at, axis, (r, r, max(length, 1e-6))
        yield "half", at + along, axis, (r, r, r)
        yield "half", at, -axis, (r, r, r)
    elif length > 1e-6 and marker.kind == "stick":
        yield "stick", at, along, (r, r, length)
    elif length > 1e-6:
        head = min(_HEAD * r, 0.5 * length)
        thin = min(r, head / 3.0)
        yield "stick", at, along, (thin, thin, length - head)
        yield "cone", at + along * (length - head) / length, along, (2.6 * thin, 2.6 * thin, head)


def _aim(server: Any, bounds: Bounds) -> None:
    """The camera in front of the robot, a bit from above, and a grid below it."""
    center, away = np.array(bounds.center), 2.1 * bounds.radius
    server.initial_camera.look_at = bounds.center
    server.initial_camera.position = tuple(center + away * np.array([0.65, -0.65, 0.4]))
    cell = 10.0 ** np.floor(np.log10(bounds.radius / 2.0))
    sizes = {"cell_size": cell, "section_size": 5.0 * cell, "fade_distance": 20.0 * bounds.radius}
    server.scene.add_grid("/ground", infinite_grid=True, position=(0.0, 0.0, bounds.ground), **sizes)
