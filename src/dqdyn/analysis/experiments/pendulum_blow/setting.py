"""A humanoid beside a table, and the pendulum that hits its back.

The paper prints no sizes. Ours: the table stands on the robot's left, so that a robot that falls ahead passes it, and
the pendulum comes from behind and from the right, towards the side of the hand. A hand on a table can push, not pull:
it helps against falls to its own side alone.
"""

from __future__ import annotations

from dataclasses import replace

from dqdyn import scenes
from dqdyn.analysis.experiments.multi_contact.strategy import palm_contact
from dqdyn.analysis.standing.setting import BORDER, FRICTION, Standing
from dqdyn.analysis.standing.setting import multi_contact_humanoid as on_both_feet
from dqdyn.contacts import Contact
from dqdyn.geometry.primitives import Plane
from dqdyn.scenes.body import SceneBody

PALM_LINK, TABLE = "left_palm", "table"
HEIGHT, THICKNESS = 0.9, 0.04
"""m of the table's top above the ground, and of the top itself."""
TOP = ((-0.3, 0.7), (0.27, 0.87))
"""The table's top from and to, in x and y, m."""
REGION = ((-0.1, 0.58), (0.3, 0.5))
"""Where the corners of the palm may be, in x and y, m."""
ABOVE = {
    "left_shoulder_pitch": 0.62,
    "left_shoulder_roll": -0.45,
    "left_upper_arm_yaw": -0.3,
    "left_elbow": -2.06,
    "left_forearm_yaw": -0.53,
    "left_wrist_pitch": -0.06,
}
"""rad of the left arm at the start, with its hand above the table."""


def start() -> Standing:
    """The robot on its feet, its left hand above the table."""
    standing = on_both_feet()
    q0 = standing.q0.copy()
    for name, angle in ABOVE.items():
        q0[standing.robot.model.joint(name).q] = angle
    return replace(standing, q0=q0)


def palm(border: float = 0.0) -> Contact:
    """The left palm, without a border in m."""
    return palm_contact(FRICTION, border)


def supports(standing: Standing) -> tuple[Contact, ...]:
    """What the controller presses with: soles and palm without their border, on which they would rock."""
    return (*standing.supports, palm(BORDER))


def surface() -> Plane:
    """The table's top."""
    return Plane([0.0, 0.0, 1.0], distance=HEIGHT)


def region() -> tuple[Plane, ...]:
    """Planes around the part of the table that the palm may touch, their normals inwards."""
    (left, right), (near, far) = REGION
    sides = (((1, 0, 0), left), ((-1, 0, 0), -right), ((0, 1, 0), near), ((0, -1, 0), -far))
    return tuple(Plane(normal, distance=distance) for normal, distance in sides)


def table() -> SceneBody:
    """A top without legs."""
    middle = [0.5 * (a + b) for a, b in TOP]
    size = [b - a for a, b in TOP]
    return scenes.box((*size, THICKNESS), (*middle, HEIGHT - 0.5 * THICKNESS), name=TABLE, friction=FRICTION)


def scene(*more: SceneBody) -> scenes.Scene:
    """Ground, table, and what else there is."""
    return scenes.Scene([scenes.ground(friction=FRICTION), table(), *more])
