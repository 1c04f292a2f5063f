"""A humanoid walks in MuJoCo: twenty steps on flat ground, and up stairs with a hand on a wall, also when pushed."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.analysis.experiments.experiment import Result
from dqdyn.analysis.experiments.walk import flat, stairs
from dqdyn.analysis.experiments.walk.part import together

NAME, TITLE = "walk", "A humanoid walks"
SOURCE = "beyond the papers"


def experiment(
    plant: str | None = None,
    steps: int = 20,
    pushes: int = 10,
    ratio: float = 0.3,
    higher: Sequence[float] = (0.6, 0.9),
    substeps: Sequence[int] = (1, 2),
    climbs: bool = True,
) -> Result:
    """Both parts, in MuJoCo whatever ``plant`` is: feet that land and push off need a plant with contacts.

    ``steps`` on flat ground; ``pushes`` runs of one push each in both parts, of ``ratio`` of the force that the
    standing robot survives as a pendulum, and on flat ground also of ``higher`` ones; at ``substeps`` of the engine.
    ``climbs``: whether it also goes up the stairs.
    """
    flat_ground = flat.part(steps, pushes=pushes, ratio=ratio, higher=higher, substeps=substeps)
    parts = [flat_ground, stairs.part(pushes, ratio, substeps)] if climbs else [flat_ground]
    return together(NAME, TITLE, SOURCE, parts)
