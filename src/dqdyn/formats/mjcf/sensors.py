"""Frames of cameras and sensors in MJCF; sites, which most sensors are on, are frames anyway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqdyn.model.description import NamedFrame, placement


def measured_frames(m: Any, bodies: Sequence[str], taken: set[str]) -> list[NamedFrame]:
    """A frame per camera with a name, and per sensor with a name on a body, geom, site or camera.

    A name that a frame has already stays with that one: a sensor is then known by what it is on. The frame of a body is
    that of its link for ``xbody``; a sensor of ``body`` measures at the center of mass, along the axes of inertia.
    """
    import mujoco

    kinds = mujoco.mjtObj
    places = {
        int(kinds.mjOBJ_SITE): (m.site_bodyid, m.site_pos, m.site_quat),
        int(kinds.mjOBJ_GEOM): (m.geom_bodyid, m.geom_pos, m.geom_quat),
        int(kinds.mjOBJ_CAMERA): (m.cam_bodyid, m.cam_pos, m.cam_quat),
        int(kinds.mjOBJ_BODY): (range(m.nbody), m.body_ipos, m.body_iquat),
        int(kinds.mjOBJ_XBODY): (range(m.nbody), [(0.0, 0.0, 0.0)] * m.nbody, [(1.0, 0.0, 0.0, 0.0)] * m.nbody),
    }
    camera = int(kinds.mjOBJ_CAMERA)
    wanted = [(m.camera(i).name, camera, i) for i in range(m.ncam)]
    wanted += [(m.sensor(i).name, int(m.sensor_objtype[i]), int(m.sensor_objid[i])) for i in range(m.nsensor)]
    result = []
    for name, kind, i in wanted:
        if name and name not in taken and kind in places:
            owner, pos, quat = (of_kind[i] for of_kind in places[kind])
            result.append(NamedFrame(name, bodies[int(owner)], placement(pos, quaternion=quat)))
            taken.add(name)
    return result
