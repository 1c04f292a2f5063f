"""A camera without a browser: where it stands, as on the pages, and where it sees points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.view.bounds import Bounds

ANGLE = 0.62
"""Field of view from top to bottom, rad; that of the pages."""
AZIMUTH, ELEVATION = -0.9, 0.38
"""From where the pages look first, rad."""


@dataclass(frozen=True, eq=False)
class Camera:
    """``eye`` (3,) in m; rows of ``axes`` (3, 3) point right, up and back; ``size`` is (width, height) in pixels."""

    eye: Array
    axes: Array
    size: tuple[int, int]

    @property
    def focal(self) -> float:
        """Pixels per unit of slope."""
        return float(0.5 * self.size[1] / np.tan(0.5 * ANGLE))

    def seen(self, points: Array) -> Array:
        """(n, 3) in m: to the right, up, and ahead of the eye."""
        result: Array = (points - self.eye) @ self.axes.T
        result[:, 2] *= -1.0
        return result

    def on_screen(self, seen: Array) -> tuple[Array, Array]:
        """Places (n, 2) in pixels from the upper left corner, and 1/depth (n,) in 1/m, of points ahead of the eye."""
        inverse = 1.0 / seen[:, 2]
        flat = seen[:, :2] * inverse[:, None] * [self.focal, -self.focal]
        return flat + 0.5 * np.array(self.size, dtype=float), inverse

    def rays(self, x: Array, y: Array) -> Array:
        """Directions (n, 3) in the world, one unit ahead, through places in pixels."""
        width, height = self.size
        slopes = [(x - 0.5 * width) / self.focal, (0.5 * height - y) / self.focal, -np.ones_like(x)]
        rays: Array = np.stack(slopes, axis=-1) @ self.axes
        return rays


def camera_of(
    bounds: Bounds, size: tuple[int, int], azimuth: float = AZIMUTH, elevation: float = ELEVATION, zoom: float = 1.0
) -> Camera:
    """A camera that shows the bounds; angles in rad, ``zoom`` 2 makes everything twice as large."""
    ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    axes = np.array([[-sa, ca, 0.0], [-ca * se, -sa * se, ce], [ca * ce, sa * ce, se]])
    # A narrow picture sees less to its sides: step back so that the robot fits.
    distance = bounds.radius / np.sin(0.5 * ANGLE) * max(1.0, size[1] / size[0]) / zoom
    return Camera(np.array(bounds.center) + distance * axes[2], axes, size)
