"""What Silva prints of the agreement between models and V-REP [Silva, table 2] [Quiroz, table 6.4]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

METHODS = {"dqGP": "Gauss's principle", "dqNE": "Newton-Euler", "rtNE": "Newton-Euler of the Robotics Toolbox"}


@dataclass(frozen=True)
class Summary:
    """CMC over the coordinates of a robot; ``std`` is that of a sample."""

    min: float
    mean: float
    std: float
    max: float

    @classmethod
    def of(cls, cmc: np.ndarray) -> Summary:
        """Of one CMC per coordinate."""
        std = float(np.std(cmc, ddof=1)) if len(cmc) > 1 else 0.0
        return cls(float(np.min(cmc)), float(np.mean(cmc)), std, float(np.max(cmc)))


_ARM = Summary(0.9044, 0.9893, 0.0182, 0.9993)
PRINTED: dict[tuple[str, str], Summary] = {
    ("arm", "dqGP"): _ARM,
    ("arm", "dqNE"): _ARM,
    ("arm", "rtNE"): _ARM,
    ("holonomic", "dqGP"): Summary(0.9934, 0.9973, 0.0026, 0.9999),
    ("holonomic", "dqNE"): Summary(0.9938, 0.9977, 0.0022, 0.9999),
    ("nonholonomic", "dqGP"): Summary(0.8860, 0.9839, 0.0368, 0.9999),
}
"""By robot and method; the others are not available in the paper either."""
