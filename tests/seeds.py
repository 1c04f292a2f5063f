"""Where the draws of the tests start: at the same place for everyone, or anew.

``pytest`` draws from fixed seeds, so that it passes or fails for everyone alike; ``pytest --fresh-seeds`` draws from a
new one, which it prints; ``DQDYN_SEED=…`` in the environment draws from that one again.
"""

from __future__ import annotations

import os
import zlib

import numpy as np

VARIABLE = "DQDYN_SEED"
FIXED = 0


def seed() -> int:
    """The seed of this run."""
    return int(os.environ.get(VARIABLE) or FIXED)


def generator(name: str) -> np.random.Generator:
    """Numbers of their own for each name, such as that of a test, in whatever order and process it runs."""
    return np.random.default_rng([seed(), zlib.crc32(name.encode())])
