"""The cost table of [Silva, section 5.3]: what the paper prints beside what its steps cost on counters."""

from __future__ import annotations

from functools import cache

from dqdyn.analysis.costs.formula import Line
from dqdyn.analysis.costs.quiroz import CLASSIC_LAGRANGE, CLASSIC_NEWTON_EULER, GAUSS, NEWTON_EULER, quiroz_table_5_4


@cache
def silva_table_3() -> tuple[Line, ...]:
    """Whole algorithms for a serial robot of n joints [Silva, table 3]: four lines of the thesis, in another order."""
    lines = {line.name: line for line in quiroz_table_5_4()}
    return tuple(lines[name] for name in (NEWTON_EULER, CLASSIC_NEWTON_EULER, GAUSS, CLASSIC_LAGRANGE))
