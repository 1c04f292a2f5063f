"""The robot and its markers as nodes of viser's scene."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dqdyn.errors import one_line
from dqdyn.model.model import WORLD_BODY
from dqdyn.robot import Robot
from dqdyn.view.bounds import Bounds
from dqdyn.view.overlays import placed
from dqdyn.view.scene import Color, Marker
from dqdyn.view.shapes import Look
from dqdyn.view.solids import axes_with_z, cone, plane, sphere, turned
from dqdyn.view.triangles import with_normals

_HEAD = 6.0  # length of an arrow's head in radii of its shaft
_GROUPS = ("frames", "screw axes", "twists", "wrenches", "joint efforts", "center of mass")


class Stage:
    """Draws bodies and markers and moves them; groups of markers have switches."""

    def __init__(self, server: Any, robot: Robot, look: Look, bounds: Bounds) -> None:
        self.server, self.robot = server, robot
        self.solids = {
            "ball": with_normals(sphere(1.0)),
            "stick": with_normals(turned([(1.0, 0.0), (1.0, 1.0)], 16)),
            "cone": with_normals(cone(1.0, 1.0)),
            "sheet": with_normals(plane(1.0)),
        }
        scene = server.scene
        scene.set_up_direction("+z")
        self.bodies = [scene.add_frame(f"/robot/{i}", show_axes=False) for i in range(len(robot.bodies))]
        self.parts = [
            self._mesh(f"{self._node(part.body)}/mesh{k}", with_normals(part.mesh), part.color)
            for k, part in enumerate(look.meshes)
        ]
        self.switches: dict[str, Any] = {}
        self.nodes: dict[str, Any] = {}
        self.latest: tuple[Any, ...] | None = None
        _aim(server, bounds)

    def _node(self, body: int) -> str:
        return "/fixed" if body == WORLD_BODY else f"/robot/{body}"

    def _mesh(self, name: str, solid: tuple[np.ndarray, np.ndarray, np.ndarray], color: Color, **options: Any) -> Any:
        vertices, _, faces = solid  # vertices on creases appear once per side, so viser shades them sharp
        rgb = tuple(round(255 * c) for c in color[:3])
        opacity = color[3] if color[3] < 1.0 else None
        return self.server.scene.add_mesh_simple(
            name, vertices, faces, color=rgb, opacity=opacity, side="double", **options
        )

    def offer(self, own: list[Marker], added: list[Marker], samples: int) -> None:
        """A switch per group: those of the robot are off, those that the user added are on."""
        for marker in added:
            placed(self.robot, marker, samples)  # complains about sizes and frames at once
        names = dict.fromkeys([*(g for g in _GROUPS if any(m.group == g for m in own)), *(m.group for m in added)])
        with self.server.gui.add_folder("Show"):
            for name in names:
                switch = self.server.gui.add_checkbox(name, any(marker.group == name for marker in added))
                switch.on_update(lambda _: self._again())
                self.switches[name] = switch

    def _again(self) -> None:
        if self.latest is not None:
            self.place(*self.latest)

    def place(self, poses: np.ndarray, own: list[Marker], added: list[Marker], i: int) -> None:
        """Bodies at poses (bodies, 7), markers at sample i."""
        self.latest = (poses, own, added, i)
        with self.server.atomic():
            for handle, row in zip(self.bodies, poses, strict=True):
                handle.wxyz, handle.position = row[:4], row[4:]
            wanted: set[str] = set()
            for k, marker in enumerate([*own, *added]):
                if marker.group in self.switches and self.switches[marker.group].value:
                    wanted |= set(self._draw(k, marker, i))
            for name in set(self.nodes) - wanted:
                self.nodes.pop(name).remove()

    def _draw(self, k: int, marker: Marker, i: int) -> Iterator[str]:
        body, at_all, along_all = placed(self.robot, marker, marker.samples)
        at, along = at_all[min(i, len(at_all) - 1)], along_all[min(i, len(along_all) - 1)]
        key = f"{self._node(body)}/{marker.group.replace(' ', '_')}/{one_line(marker.name)}".replace("//", "/")
        for part, (solid, position, scale) in enumerate(_pieces(marker, at, along)):
            name = f"{key}/{k}_{solid}{part}"
            direction = along if marker.kind != "ball" else np.array([0.0, 0.0, 1.0])
            wxyz = quaternion_of(axes_with_z(direction))
            if name not in self.nodes:
                self.nodes[name] = self._mesh(
                    name, self.solids[solid], marker.color, cast_shadow=False, receive_shadow=False
                )
            handle = self.nodes[name]
            handle.position, handle.wxyz, handle.scale = position, wxyz, scale
            yield name


def _pieces(marker: Marker, at: np.ndarray, along: np.ndarray) -> Iterator[tuple[str, np.ndarray, tuple[float, ...]]]:
    """(solid, position, scale) of what a marker is made of; nothing for an arrow without length."""
    r, length = marker.size, float(np.linalg.norm(along))
    if marker.kind == "ball":
        yield "ball", at, (r, r, r)
    elif marker.kind == "sheet":
        yield "sheet", at, (r, r, r)
    elif length > 1e-6 and marker.kind == "stick":
        yield "stick", at, (r, r, length)
    elif length > 1e-6:
        head = min(_HEAD * r, 0.5 * length)
        thin = min(r, head / 3.0)
        yield "stick", at, (thin, thin, length - head)
        yield "cone", at + along * (length - head) / length, (2.6 * thin, 2.6 * thin, head)


def quaternion_of(matrix: np.ndarray) -> np.ndarray:
    """(w, x, y, z) of a rotation matrix, from its largest component."""
    m = matrix
    squares = 1.0 + np.array([m.trace(), *(2.0 * m[i, i] - m.trace() for i in range(3))])
    k = int(np.argmax(squares))
    skew = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    if k == 0:
        q = np.array([squares[0], *skew])
    else:
        q = np.array([skew[k - 1], *(m[k - 1] + m[:, k - 1])])
        q[k] = squares[k]
    return q / np.linalg.norm(q)


def _aim(server: Any, bounds: Bounds) -> None:
    """The camera in front of the robot, a bit from above, and a grid below it."""
    center, away = np.array(bounds.center), 2.1 * bounds.radius
    server.initial_camera.look_at = bounds.center
    server.initial_camera.position = tuple(center + away * np.array([0.65, -0.65, 0.4]))
    cell = 10.0 ** np.floor(np.log10(bounds.radius / 2.0))
    server.scene.add_grid(
        "/ground",
        cell_size=cell,
        section_size=5.0 * cell,
        infinite_grid=True,
        fade_distance=20.0 * bounds.radius,
        position=(0.0, 0.0, bounds.ground),
    )
