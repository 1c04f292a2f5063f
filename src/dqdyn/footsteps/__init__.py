"""Footsteps: where feet are put, the way of the divergent component of motion over them, and how a foot gets there.

>>> from dqdyn import footsteps
>>> start = footsteps.stance(width=0.2)
>>> plan = footsteps.straight(start, count=4, length=0.2)
>>> [step.foot for step in plan.steps]
['left_foot', 'right_foot', 'left_foot', 'right_foot']
>>> round(float(plan.steps[-1].position[0]), 12)
0.6

Nothing here knows robots or controllers: a footstep is a pose of a sole in the world, at any height.
"""

from __future__ import annotations

from dqdyn.footsteps.adjustment import StepAdjustment
from dqdyn.footsteps.divergent_reference import DivergentMotion, DivergentReference, Phase, first_phase
from dqdyn.footsteps.footstep import Footstep, Sole
from dqdyn.footsteps.plan import FootstepPlan, Reach, Start
from dqdyn.footsteps.plans import along, on_surfaces, stance, straight, turning
from dqdyn.footsteps.swing import SwingMotion, SwingPath
from dqdyn.splines import Quintic

__all__ = [
    "DivergentMotion",
    "DivergentReference",
    "Footstep",
    "FootstepPlan",
    "Phase",
    "Quintic",
    "Reach",
    "Sole",
    "Start",
    "StepAdjustment",
    "SwingMotion",
    "SwingPath",
    "along",
    "first_phase",
    "on_surfaces",
    "stance",
    "straight",
    "turning",
]
