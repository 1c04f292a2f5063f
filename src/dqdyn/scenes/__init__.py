"""What stands around a robot: ground, boxes, walls, stairs, balls, a pendulum, a wheel, with friction and motion.

>>> import dqdyn as dq
>>> from dqdyn import scenes
>>> scene = dq.Scene([scenes.ground(), scenes.box((0.4, 0.4, 0.2), (1.0, 0.0, 0.1), friction=0.6)])
>>> round(scene.surface_below((1.0, 0.0, 0.5)).height, 12)
0.2

One value serves all: zones of controllers (:func:`dqdyn.control.scene_zones`), contacts (``surface_below``), drawing
(``scene=`` of the viewers) and ``plant="mujoco"`` (its option ``scene=``).
"""

from __future__ import annotations

from dqdyn.scenes.bodies import ball, box, ground, pendulum, stairs, wall, wheel
from dqdyn.scenes.body import Hinge, SceneBody
from dqdyn.scenes.scene import Scene
from dqdyn.scenes.surface import Surface

__all__ = [
    "Hinge",
    "Scene",
    "SceneBody",
    "Surface",
    "ball",
    "box",
    "ground",
    "pendulum",
    "stairs",
    "wall",
    "wheel",
]
