"""What the steps of [Silva, section 3] cost on counters."""

from __future__ import annotations

from functools import cache
from typing import Any

from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.analysis.costs.formula import Operations, polynomial
from dqdyn.dynamics.formulations.literal.silva import SilvaLink, newton_euler


@cache
def newton_euler_operations() -> Operations:
    """What :func:`newton_euler` costs for n joints, run at once for arms of several lengths."""
    return polynomial(_count, "n", 1)


def _count(n: int) -> Tally:
    tally = Tally()
    vector = lambda: pure(*counters(3, tally))
    twist = lambda: DQ.of(vector(), vector())
    dual = lambda: DQ.of(Quaternion(*counters(4, tally)), Quaternion(*counters(4, tally)))
    tensor: Any = lambda: (vector(), vector(), vector())
    links = [SilvaLink(dual(), dual(), twist(), twist(), vector(), counters(1, tally)[0], tensor()) for _ in range(n)]
    newton_euler(links, vector(), (dual(), twist()), (dual(), twist()))
    return tally
