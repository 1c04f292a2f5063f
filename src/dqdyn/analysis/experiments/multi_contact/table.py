"""A hand on a table lets the other one reach a ball: Quiroz, section 6.2, figs. 6.13 to 6.16.

Without contact the robot cannot reach the ball, nor with the hand where it first touches; with the support polygon
maximised it can [Quiroz, fig. 6.13] [Quiroz, fig. 6.14].
"""

from __future__ import annotations

import numpy as np

from dqdyn import scenes
from dqdyn.analysis.experiments.experiment import Result
from dqdyn.analysis.experiments.multi_contact import strategy as s
from dqdyn.analysis.experiments.multi_contact.scenario import Scenario, on_kinematics
from dqdyn.analysis.experiments.multi_contact.setting import Setting, humanoid, rectangle
from dqdyn.geometry.primitives import Plane

NAME, TITLE = "multi-contact-table", "A hand on a table, the other on a ball"
BALL = (1.125, -0.36, 0.675)  # m
HEIGHT = 0.71  # m of the table
REGION = ((0.39, 0.91), (0.17, 0.345))  # m: x and y of the middle of the palm
EDGE = 0.09  # m from the region to the edge of the table: the palm lies on it as a whole
FRICTION = 0.1  # of the table: a smooth one


def setting() -> Setting:
    """The humanoid before a table to its left."""
    (x0, x1), (y0, y1) = REGION
    front, right = x0 - EDGE, y0 - EDGE
    size = (x1 + EDGE - front, y1 + EDGE - right, 0.04)
    middle = (front + 0.5 * size[0], right + 0.5 * size[1], HEIGHT - 0.02)
    table = scenes.box(size, middle, name="table", friction=FRICTION)
    return Setting(
        humanoid(),
        Plane((0.0, 0.0, 1.0), distance=HEIGHT),
        rectangle((0, 1), REGION),
        np.array(BALL),
        Plane((-1.0, 0.0, 0.0), distance=-front),
        scenes.Scene([scenes.ground(friction=0.7), table]),
    )


def scenario() -> Scenario:
    """Claims of the paper: the first two attempts fail, the third succeeds."""
    path = (s.TRY_ON_FEET, s.STAND_UP, s.CONTACT, s.TRY_FIXED, s.MAXIMISE, s.TRY_MAXIMISED, s.DONE)
    return Scenario(
        NAME,
        TITLE,
        "Quiroz, section 6.2, figs. 6.13 to 6.16, tables 6.2 and 6.3",
        "A humanoid is to touch a ball with its right hand. Its center of mass has to stay over its support, which is "
        "too small for that on its feet, and also with the left hand where it first touches the table.",
        setting(),
        {"without contact": False, "with contact": False, "maximised": True},
        ("without contact", "with contact"),
        {"the whole strategy": (s.STRATEGY, path)},
        ("6.15", "6.16"),
        {"without contact": False, "with contact": False, "maximised": True, "sliding": True},
        "The table carries what the hand puts on it, so the flat polygon of the paper is what physics asks for, except "
        "for the friction that a sliding hand meets. On this table μ is 0.1. With 0.2 the robot still reaches the ball "
        "with the area maximised, but falls when it slides and tries at once: a palm that hardly moves sticks, and its "
        "friction is not against the way that the controller takes it to slide.",
    )


def experiment(plant: str | None = None, dt: float = 0.02, points: float = 7, dt_grid: float = 0.05) -> Result:
    """Attempts and strategy in steps of ``dt`` s; a map of ``points`` × ``points`` balls in steps of ``dt_grid``."""
    if plant is not None:
        from dqdyn.analysis.experiments.multi_contact.engine_report import on_the_engine

        return on_the_engine(scenario())
    return on_kinematics(scenario(), dt, points, dt_grid)
