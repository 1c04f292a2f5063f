"""The cost table of [Silva, section 5.3]: what the paper prints beside what its steps cost on counters."""

from __future__ import annotations

from functools import cache

from dqdyn.analysis.costs import printed as printed_costs
from dqdyn.analysis.costs.formula import Line, Operations
from dqdyn.analysis.costs.quiroz import quiroz_table_5_4


@cache
def silva_table_3() -> tuple[Line, ...]:
    """Whole algorithms for a serial robot of n joints [Silva, table 3]; Gauss's principle is counted as by Quiroz."""
    known = {line.name: line for line in quiroz_table_5_4()}
    return tuple(
        Line(name, Operations.parse(*texts), known[name].counted, known[name].reason)
        for name, texts in printed_costs.SILVA_3.items()
    )
