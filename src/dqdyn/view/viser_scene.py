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
from dqdyn.view.markers import Marker
from dqdyn.view.overlays import placed, switches
from dqdyn.view.scene_bodies import Setting
from dqdyn.view.shapes import Appearance
from dqdyn.view.solids import axes_with_z, cone, plane, sphere, turned
from dqdyn.view.triangles import Color, Indices, with_normals

_HEAD = 6.0  # length of an arrow's head in radii of its shaft


class ViserScene:
    """Draws bodies and markers and moves them; groups of markers have switches."""

    def __init__(self, server: Any, robot: Robot, appearance: Appearance, bounds: Bounds, setting: Setting) -> None:
        self.server, self.robot, self.added = server, robot, setting.markers
        self._lock = threading.RLock()
        stick = turned([(1.0, 0.0), (1.0, 1.0)], 16)
        solids = {"ball": sphere(1.0), "stick": stick, "cone": cone(1.0, 1.0), "sheet": plane(1.0)}
        self.solids = {name: with_normals(solid) for name, solid in solids.items()}
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
        options |= {"color": tuple(round(255 * c) for c in color[:3]), "opacity": color[3] if color[3] < 1.0 else None}
        return self.server.scene.add_mesh_simple(name, vertices, faces, side="double", **options)

    def offer(self, own: Sequence[Marker], samples: int) -> None:
        """A switch per group of markers."""
        for marker in self.added:
            placed(self.robot, marker, samples)  # complains about sizes and frames at once
        with self.server.gui.add_folder("Show"):
            for name, on in switches(own, self.added).items():
                self.switches[name] = self.server.gui.add_checkbox(name, on)
                self.switches[name].on_update(lambda _: self.place(*self.latest))

    def place(self, poses: Array, own: Sequence[Marker], i: int) -> None:
        """Bodies at poses (bodies, 7), markers of the robot and added ones at sample i."""
        with self._lock, self.server.atomic():
            self.latest = (poses, own, i)
            for handle, row in zip(self.bodies, poses, strict=True):
                handle.wxyz, handle.position = row[:4], row[4:]
            wanted: set[str] = set()
            for k, marker in enumerate([*own, *self.added]):
                if marker.group in self.switches and self.switches[marker.group].value:
                    wanted |= set(self._draw(k, marker, i))
            for name in set(self.nodes) - wanted:
                self.nodes.pop(name).remove()

    def _draw(self, k: int, marker: Marker, i: int) -> Iterator[str]:
        body, fixed = placed(self.robot, marker, marker.samples)
        at, along = fixed.sample(i)
        key = f"{_node(body)}/{marker.group.replace(' ', '_')}/{one_line(marker.name)}".replace("//", "/")
        for part, (solid, position, scale) in enumerate(_pieces(marker, at, along)):
            name = f"{key}/{k}_{solid}{part}"
            if name not in self.nodes:
                shadows = {"cast_shadow": False, "receive_shadow": False}
                self.nodes[name] = self._mesh(name, self.solids[solid], marker.color, **shadows)
            handle = self.nodes[name]
            handle.position, handle.scale = position, scale
            handle.wxyz = Pose.from_matrix(axes_with_z(along)).rotation
            yield name


def _node(body: int) -> str:
    return "/fixed" if body == WORLD_BODY else f"/robot/{body}"


def _pieces(marker: Marker, at: Array, along: Array) -> Iterator[tuple[str, Array, tuple[float, ...]]]:
    """(solid, position, scale) of what a marker is made of; nothing for an arrow without length."""
    r, length = marker.size, float(np.linalg.norm(along))
    if marker.kind in ("ball", "sheet"):
        yield marker.kind, at, (r, r, r)
    elif length > 1e-6 and marker.kind == "stick":
        yield "stick", at, (r, r, length)
    elif length > 1e-6:
        head = min(_HEAD * r, 0.5 * length)
        thin = min(r, head / 3.0)
        yield "stick", at, (thin, thin, length - head)
        yield "cone", at + along * (length - head) / length, (2.6 * thin, 2.6 * thin, head)


def _aim(server: Any, bounds: Bounds) -> None:
    """The camera in front of the robot, a bit from above, and a grid below it."""
    center, away = np.array(bounds.center), 2.1 * bounds.radius
    server.initial_camera.look_at = bounds.center
    server.initial_camera.position = tuple(center + away * np.array([0.65, -0.65, 0.4]))
    cell = 10.0 ** np.floor(np.log10(bounds.radius / 2.0))
    sizes = {"cell_size": cell, "section_size": 5.0 * cell, "fade_distance": 20.0 * bounds.radius}
    server.scene.add_grid("/ground", infinite_grid=True, position=(0.0, 0.0, bounds.ground), **sizes)
