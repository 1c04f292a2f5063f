"""A hand on a wall lets the other one reach a ball: Quiroz, section 6.2, figs. 6.17 to 6.19.

The robot reaches the ball with its hand where it first touches the wall. Maximising the support polygon takes the hand
to where it hinders; sliding repairs that [Quiroz, fig. 6.17] [Quiroz, fig. 6.18].
"""

from __future__ import annotations

import numpy as np

from dqdyn import scenes
from dqdyn.analysis.experiments.experiment import Result
from dqdyn.analysis.experiments.multi_contact import strategy as s
from dqdyn.analysis.experiments.multi_contact.scenario import Scenario, on_kinematics
from dqdyn.analysis.experiments.multi_contact.setting import Setting, humanoid, rectangle
from dqdyn.geometry.primitives import Plane

NAME, TITLE = "multi-contact-wall", "A hand on a wall, the other on a ball"
BALL = (1.0, -0.44, 0.86)  # m
WALL = 0.55  # m: x of the front of the wall
REGION = ((0.17, 0.74), (0.98, 1.22))  # m: y and z of the middle of the palm
EDGE = 0.09  # m from the region to the edge of the wall
FRICTION = 1.0  # of the wall


def setting() -> Setting:
    """The humanoid before a wall that ends on its right, where the ball is."""
    (y0, y1), _ = REGION
    right, left = y0 - EDGE, y1 + EDGE
    at = (WALL, 0.5 * (right + left), 0.0)
    wall = scenes.wall(at, normal=(-1, 0, 0), width=left - right, height=1.6, thickness=0.06, friction=FRICTION)
    return Setting(
        humanoid(),
        Plane((-1.0, 0.0, 0.0), distance=-WALL),
        rectangle((1, 2), REGION),
        np.array(BALL),
        Plane((-1.0, 0.0, 0.0), distance=-WALL),
        scenes.Scene([scenes.ground(friction=0.7), wall]),
    )


def scenario() -> Scenario:
    """Claims of the paper: only the second and the fourth attempt succeed."""
    past = (s.CONTACT, s.MAXIMISE, s.TRY_MAXIMISED, s.SLIDE)
    return Scenario(
        NAME,
        TITLE,
        "Quiroz, section 6.2, figs. 6.17 to 6.19, tables 6.2 and 6.3",
        "A humanoid is to touch a ball with its right hand beside the end of a wall. On its feet alone its center of "
        "mass cannot go far enough; leaning on the wall it can. With the left hand where its support is largest it "
        "cannot again, and lets that hand slide back.",
        setting(),
        {"without contact": False, "with contact": True, "maximised": False, "sliding": True},
        ("without contact", "maximised"),
        {
            "the whole strategy": (s.STRATEGY, (s.TRY_ON_FEET, s.STAND_UP, s.CONTACT, s.TRY_FIXED, s.DONE)),
            "the strategy past its second attempt": (past, (*past, s.DONE)),
        },
        ("6.18", ""),
        {"without contact": False, "with contact": True},
        "A wall pushes back, not up: that a hand on it counts as support on the ground needs friction. With μ = 1 the "
        "robot does not fall while its hand slides outwards, as friction then pushes against the way that it leans, "
        "but comes to lean on the wall with its chest; when the hand slides back, friction turns around, and it falls. "
        "With μ = 0.5 it falls as the area grows. The last two attempts are therefore no claims here.",
    )


def experiment(plant: str | None = None, dt: float = 0.02, points: float = 7, dt_grid: float = 0.05) -> Result:
    """Attempts and strategies in steps of ``dt`` s; a map of ``points`` × ``points`` balls in steps of ``dt_grid``."""
    if plant is not None:
        from dqdyn.analysis.experiments.multi_contact.engine_report import on_the_engine

        return on_the_engine(scenario())
    return on_kinematics(scenario(), dt, points, dt_grid)
