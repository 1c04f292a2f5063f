"""A humanoid walks in MuJoCo: twenty steps on flat ground, also when it is pushed."""

from __future__ import annotations

from typing import Any

from dqdyn.analysis.experiments.experiment import Result
from dqdyn.analysis.experiments.walk import flat
from dqdyn.analysis.experiments.walk.part import together

NAME, TITLE = "walk", "A humanoid walks"
SOURCE = "beyond the papers"


def experiment(plant: str | None = None, **options: Any) -> Result:
    """All parts, in MuJoCo whatever ``plant`` is: feet that land and push off need a plant with contacts.

    ``options`` are those of :func:`dqdyn.analysis.experiments.walk.flat.part`.
    """
    return together(NAME, TITLE, SOURCE, [flat.part(**options)])
