"""The humanoid in MuJoCo takes pushes that a linear pendulum on its feet could take, without a step."""

from __future__ import annotations

import numpy as np
import pytest
from pushes import of_humanoid


@pytest.mark.long
def test_humanoid_survives_most_of_what_the_pendulum_could() -> None:
    """0.7 of the bound forwards and sideways; twice the bound makes it fall."""
    standing = of_humanoid()
    for direction, part, expected in (((1.0, 0.0), 0.7, True), ((0.0, 1.0), 0.7, True), ((1.0, 0.0), 2.0, False)):
        at = np.array(direction)
        survives, why = standing.survives(at, part * standing.bound(at))
        assert survives == expected, why
