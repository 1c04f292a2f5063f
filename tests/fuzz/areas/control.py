"""Control loops with odd measurements, targets, gains and limits: no command is NaN or beyond its limits."""

from __future__ import annotations

import random

from ..cases import Area, Case


class Fuzzed(Area):
    """The number of a case of ``tests/control/loop_fuzz.py``, which holds the loops."""

    weight, chunk, limit = 0.4, 20, 60.0

    def make(self, rng: random.Random) -> Case:
        return {"seed": rng.randrange(2**31)}

    def check(self, case: Case) -> str:
        from loop_fuzz import run_case

        return str(run_case(case["seed"]))
