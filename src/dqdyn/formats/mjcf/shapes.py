"""MuJoCo's geoms as shapes of links."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import ONE, Quaternion, pure, rotate
from dqdyn.formats.mjcf.mujoco_compiler import Compiled, MeshAsset
from dqdyn.model.description import Shape, placement

SIZES = {
    "box": (2.0, 2.0, 2.0),
    "sphere": (1.0,),
    "cylinder": (1.0, 2.0),
    "capsule": (1.0, 2.0),  # its length is without its caps
    "ellipsoid": (1.0, 1.0, 1.0),
    "plane": (),
}
"""What MuJoCo's sizes, which are half-lengths, are multiplied by to give ours."""
_DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)
_LAST_VISIBLE_GROUP = 2


class GeomReader:
    """Geoms of groups 0 to 2, which MuJoCo shows, are visuals; geoms that can touch are collisions; some are both."""

    def __init__(self, compiled: Compiled, kinds: dict[int, str]) -> None:
        self.compiled, self.model, self.kinds = compiled, compiled.model, kinds
        self.lost: list[str] = []

    def shapes(self, body: int) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """Visuals and collisions of a body."""
        m = self.model
        visuals, collisions = [], []
        start = int(m.body_geomadr[body])
        for geom in range(start, start + int(m.body_geomnum[body])):
            shape = self.shape(geom)
            if shape is None:
                continue
            touches = bool(m.geom_contype[geom] or m.geom_conaffinity[geom])
            if touches:
                collisions.append(shape)
            if not touches or m.geom_group[geom] <= _LAST_VISIBLE_GROUP:
                visuals.append(shape)
        return tuple(visuals), tuple(collisions)

    def shape(self, geom: int) -> Shape | None:
        m = self.model
        kind = self.kinds.get(int(m.geom_type[geom]), "other")
        origin = placement(m.geom_pos[geom], quaternion=m.geom_quat[geom])
        name = m.geom(geom).name or None
        mesh = self.compiled.aside.get(geom)
        if geom not in self.compiled.aside and kind == "mesh":
            data = int(m.geom_dataid[geom])
            mesh = m.mesh(data).name
            # MuJoCo puts meshes at their center of mass along their principal axes; undo that.
            origin = origin * placement(m.mesh_pos[data], quaternion=m.mesh_quat[data]).conj()
        color, material = self.color(geom)
        if mesh is not None and (asset := self.compiled.meshes[mesh]).file:
            origin_of_file = _origin_of_file(origin, asset)
            if origin_of_file is not None:
                return Shape("mesh", asset.scale, origin_of_file, name, asset.file, asset.path, color, material)
        elif geom not in self.compiled.aside and kind in SIZES:
            size = tuple(factor * float(c) for factor, c in zip(SIZES[kind], m.geom_size[geom], strict=False))
            return Shape(kind, size, origin, name, color=color, material=material)
        self.lost.append(name or f"geom{geom}")
        return None

    def color(self, geom: int) -> tuple[Any, str | None]:
        m = self.model
        rgba, index = _floats(m.geom_rgba[geom]), int(m.geom_matid[geom])
        if index < 0:
            return (None if rgba == _DEFAULT_COLOR else rgba), None
        return (_floats(m.mat_rgba[index]) if rgba == _DEFAULT_COLOR else rgba), m.material(index).name


def _floats(values: Any) -> tuple[float, ...]:
    """Single precision as the decimal that was written."""
    return tuple(float(str(np.float32(v))) for v in values)


def _origin_of_file(origin: DQ, asset: MeshAsset) -> DQ | None:
    """Pose of the vertices as the file has them, scaled; None where an uneven scale acts along turned axes."""
    r, p = Quaternion(*asset.rotation).conj(), pure(*asset.position)
    if r == ONE:
        scaled = (-s * c for s, c in zip(asset.scale, asset.position, strict=True))
        return origin if p.norm() == 0.0 else origin * pose(ONE, pure(*scaled))
    if len(set(asset.scale)) > 1:
        return None
    r = r * (1.0 / r.norm())
    return origin * pose(r, rotate(r, p) * -asset.scale[0])
