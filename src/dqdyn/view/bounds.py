"""Where a robot is, to place the camera and the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.view.shapes import Appearance


@dataclass(frozen=True)
class Bounds:
    """``center`` and ``radius`` in m of a ball around what the camera shows; ``ground`` is below all samples."""

    center: tuple[float, float, float]
    radius: float
    ground: float


MOST_GROWTH = 3.0
"""A motion that needs a ball so many times as large as the robot is not shown whole: the robot would be too small."""


def bounds_of(appearance: Appearance, poses: Array) -> Bounds:
    """From the boxes around the meshes, at poses (n, bodies, 7): of the whole motion, or of its start if it is wide."""
    first, whole = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for part in appearance.meshes:
        if not len(part.mesh.vertices):
            continue
        box = np.stack([part.mesh.vertices.min(axis=0), part.mesh.vertices.max(axis=0)])
        corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        rows = poses[:, part.body] if part.body >= 0 else np.array([[1.0, 0, 0, 0, 0, 0, 0]])
        turn = Pose(rotation=rows[:, :4]).rotation_matrix
        places = corners @ turn.swapaxes(-1, -2) + rows[:, None, 4:]
        first.append(places[0])
        whole.append(places.reshape(-1, 3))
    points = np.concatenate(whole)
    floor = min(0.0, float(points[:, 2].min(initial=0.0)))
    (x, y, z), radius = _ball(points)
    at_first, needed = _ball(np.concatenate(first))
    height = float(np.ptp(points[:, 2])) if len(points) else 0.0
    if radius > MOST_GROWTH * needed:
        (x, y, z), radius, height = at_first, needed, 0.0
    # The camera is low and the picture wider than high: what spreads over the ground needs less room than height does.
    radius = max(needed, 0.72 * radius, 0.6 * height)
    # Boxes reach beyond what is in them: their corners count only where they are clearly below z = 0.
    return Bounds((x, y, z), radius, floor if floor < -0.02 * radius else 0.0)


def _ball(points: Array) -> tuple[list[float], float]:
    """A center and a radius that hold points (k, 3)."""
    if not len(points):
        return [0.0, 0.0, 0.0], 0.5
    center = (points.min(axis=0) + points.max(axis=0)) / 2.0
    return center.tolist(), max(float(np.linalg.norm(points - center, axis=1).max()), 1e-3)
