"""Where a robot is, for cameras and the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.view.shapes import Look


@dataclass(frozen=True)
class Bounds:
    """``center`` and ``radius`` in m of a ball around the robot at first; ``ground`` is below all samples."""

    center: tuple[float, float, float]
    radius: float
    ground: float


def bounds_of(look: Look, poses: np.ndarray) -> Bounds:
    """From the boxes around the meshes, at poses (n, bodies, 7)."""
    lows, highs, floor = [], [], 0.0
    for part in look.meshes:
        if not len(part.mesh.vertices):
            continue
        box = np.stack([part.mesh.vertices.min(axis=0), part.mesh.vertices.max(axis=0)])
        corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        rows = poses[:, part.body] if part.body >= 0 else np.array([[1.0, 0, 0, 0, 0, 0, 0]])
        places = _turned(rows[:, None, :4], corners) + rows[:, None, 4:]
        lows.append(places[0].min(axis=0))
        highs.append(places[0].max(axis=0))
        floor = min(floor, float(places[..., 2].min()))
    low, high = (np.min(lows, axis=0), np.max(highs, axis=0)) if lows else (np.full(3, -0.5), np.full(3, 0.5))
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    x, y, z = ((low + high) / 2.0).tolist()
    # Boxes reach beyond what is in them: their corners count only where they are clearly below z = 0.
    return Bounds((x, y, z), radius, floor if floor < -0.02 * radius else 0.0)


def _turned(quaternions: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points turned by quaternions (w, x, y, z)."""
    w, u = quaternions[..., :1], quaternions[..., 1:]
    t = 2.0 * np.cross(u, points)
    return points + w * t + np.cross(u, t)
