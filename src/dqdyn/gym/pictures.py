"""Pictures of environments, without a browser or a display."""

from __future__ import annotations

from dqdyn.arrays import Array
from dqdyn.errors import unknown_name
from dqdyn.gym.setting import Setting

RENDER_MODES = ["rgb_array"]
SIZE = (480, 360)
"""Pixels."""


class Pictures:
    """Draws the robot and the scene with the camera of the viewer."""

    def __init__(self, setting: Setting, mode: str | None) -> None:
        if mode is not None and mode not in RENDER_MODES:
            raise unknown_name("render mode", mode, RENDER_MODES)
        self.setting, self.mode = setting, mode

    def of(self, q: Array) -> Array | None:
        """A picture (height, width, 3) of bytes; None without a render mode."""
        if self.mode is None:
            return None
        from dqdyn.view.film import Film, Look, posed

        film = Film(posed(self.setting.robot, q), Look(size=SIZE), self.setting.scene)
        return film.at(0.0)
