"""What the tests of pages share: a watched page, the place of red pixels in a picture of it, and runs to show."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory


class Watched:
    """A page in a fresh profile; ``errors`` and ``requests`` collect what it complains about and asks for."""

    def __init__(self, context: Any) -> None:
        self.context, self.page = context, context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda problem: self.errors.append(str(problem)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def picture(self, selector: str = "canvas") -> np.ndarray:
        """Pixels (height, width, 3) of an element, from 0 to 255."""
        from matplotlib.image import imread

        box = self.page.locator(selector).first.bounding_box()
        data = self.page.screenshot(clip=box)  # of an element, it would wait until two frames are alike
        return np.round(imread(io.BytesIO(data), format="png")[..., :3] * 255.0)

    def red(self, selector: str = "canvas") -> tuple[int, float, float]:
        """How many pixels are red, and their mean column and row."""
        return red_pixels(self.picture(selector))


def red_pixels(picture: np.ndarray) -> tuple[int, float, float]:
    red, green, blue = (picture[..., i] for i in range(3))
    rows, columns = np.nonzero((red > 90) & (red > 2.0 * green) & (red > 2.0 * blue))
    return len(rows), float(columns.mean()) if len(rows) else 0.0, float(rows.mean()) if len(rows) else 0.0


def recorded(robot: Robot, time: np.ndarray, q: np.ndarray) -> Any:
    """A trajectory of a robot whose v is the rate of q."""
    v = np.gradient(q, time, axis=0)
    a = np.gradient(v, time, axis=0)
    tau = robot.inverse_dynamics(q, v, a)
    energies = robot.kinetic_energy(q, v), robot.potential_energy(q)
    return Trajectory(robot, time, q, v, a, tau, *energies, np.zeros((len(time), 0)))
