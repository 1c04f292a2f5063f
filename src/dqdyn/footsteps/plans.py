"""Plans of footsteps: straight ahead, on a curve, along poses; and on the surfaces of a scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.errors import Error
from dqdyn.footsteps.checks import count as whole
from dqdyn.footsteps.checks import number, one_pose
from dqdyn.footsteps.footstep import Footstep, Sole
from dqdyn.footsteps.plan import FootstepPlan, Reach, Start, checked_start

FEET = ("left_foot", "right_foot")
_LEVEL = 1e-3  # m by which the heights below the corners of a sole may differ


class Surfaces(Protocol):
    """A scene."""

    def surface_below(self, point: Any, t: float = 0.0, *, above: float = 0.02) -> Any:
        """The highest surface below a point, with its ``height`` in m; None where there is nothing."""


def stance(width: float = 0.2, middle: Pose | None = None, feet: tuple[str, str] = FEET) -> Start:
    """Both feet beside each other, ``width`` m from middle to middle of the soles, around a pose of the ground."""
    apart, at = number(width, "the width of a stance in m", 0.0, above=True), Pose() if middle is None else middle
    one_pose(at, "the middle of a stance")
    left, right = feet
    return checked_start((beside(left, at, 0.5 * apart), beside(right, at, -0.5 * apart)))


def beside(foot: str, middle: Pose, left: float) -> Footstep:
    """A footstep to the ``left`` of a pose by that many m."""
    return Footstep(foot, middle * Pose(translation=[0.0, left, 0.0]))


def straight(start: Start, count: int, length: float, **options: Any) -> FootstepPlan:
    """``count`` steps ahead, each foot put ``length`` m before the other one; the last one beside it.

    ``options`` are those of :func:`along`.
    """
    return turning(start, count, length, 0.0, **options)


def turning(start: Start, count: int, length: float, angle: float, **options: Any) -> FootstepPlan:
    """``count`` steps on a curve: from step to step the middle goes ``length`` m ahead and turns by ``angle`` rad.

    The last step is beside the one before it. A positive angle turns to the left; ``length`` 0 turns on the spot.
    """
    steps = whole(count, "the number of steps")
    ahead, turn = number(length, "the length of a step in m"), number(angle, "the angle of a step in rad")
    # The chord of an arc with the given angle is along the mean of both headings.
    half = Pose(rotation=[math.cos(0.25 * turn), 0.0, 0.0, math.sin(0.25 * turn)])
    one = half * Pose(translation=[ahead, 0.0, 0.0]) * half
    middles = [middle_of(checked_start(start))]
    for _ in range(max(steps - 1, 1)):
        middles.append(middles[-1] * one)
    return along(start, [*middles[1:], *([middles[-1]] if steps > 1 else [])], **options)


def along(
    start: Start,
    middles: Sequence[Pose],
    *,
    first: str | None = None,
    width: float | None = None,
    sole: Sole | None = None,
    reach: Reach | None = None,
) -> FootstepPlan:
    """A step to every pose of ``middles``, alternating: the foot is put beside it, half the ``width`` (m) away.

    ``first``: the foot of the first step, by default the left one; ``width``: by default that of the start.
    """
    left, right = checked_start(start)
    relative = (left.pose.inverse() * right.pose).translation
    apart = abs(float(relative[1])) if width is None else number(width, "the width of a plan in m", 0.0, above=True)
    if isinstance(middles, Pose) or not isinstance(middles, Sequence):
        raise Error(f"middles are a list of poses; found {middles!r}.", found=middles)
    feet = (left.foot, right.foot)
    chosen = left.foot if first is None else first
    if chosen not in feet:
        raise Error(f"the first foot is {feet[0]!r} or {feet[1]!r}; found {first!r}.", found=first)
    steps = []
    for k, middle in enumerate(middles, 1):
        foot = chosen if k % 2 else feet[1 - feet.index(chosen)]
        sign = 0.5 if foot == left.foot else -0.5
        steps.append(beside(foot, one_pose(middle, f"the middle of step {k}"), sign * apart))
    return FootstepPlan((left, right), tuple(steps), sole or Sole(), reach or Reach())


def middle_of(start: Start) -> Pose:
    """Between both feet, with the mean of their headings, level, at their mean height."""
    left, right = start
    ahead = left.pose.rotation_matrix[:, 0] + right.pose.rotation_matrix[:, 0]
    heading = math.atan2(ahead[1], ahead[0])
    turn = [math.cos(0.5 * heading), 0.0, 0.0, math.sin(0.5 * heading)]
    return Pose(rotation=turn, translation=0.5 * (left.position + right.position))


def on_surfaces(plan: FootstepPlan, scene: Surfaces, above: float = 1.0) -> FootstepPlan:
    """The plan with every step raised or lowered to the level surface of a scene below it.

    Surfaces up to ``above`` m over a step count. A sole that would not rest on one level surface is refused.
    """
    if not callable(getattr(scene, "surface_below", None)):
        raise Error(f"surfaces are those of a dq.Scene; found {scene!r}.", found=scene)
    over = number(above, "how far surfaces may be above a step, in m", 0.0)
    steps = []
    for k, step in enumerate(plan.steps, 1):
        found = [scene.surface_below(corner, above=over) for corner in plan.sole.corners(step.pose)]
        if any(surface is None for surface in found):
            raise Error(f"step {k} has no surface below all of its sole: move it.", step=k)
        heights = np.array([surface.height for surface in found])
        if np.ptp(heights) > _LEVEL:
            said = f"the surface below step {k} is not level: heights differ by {np.ptp(heights):.3g} m"
            raise Error(f"{said}: move the step away from the edge.", step=k)
        steps.append(step.moved([0.0, 0.0, float(heights.mean()) - float(step.position[2])]))
    return FootstepPlan(plan.start, tuple(steps), plan.sole, plan.reach)
