"""Several programs as one that computes equal values once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace


def merged(name: str, inputs: Sequence[tuple[str, int]], programs: Sequence[Program]) -> Program:
    """The outputs of all programs, one after the other; inputs of the same name are the same.

    ``inputs`` are (name, size) of all of them, in the order of the new program. The programs run on traced values, so
    that what is equal in two of them is written alike; results have the same bits as those of the programs alone, where
    those of the processor do not depend on which products it fuses with sums.
    """

    def all_of_them(*given: Any) -> tuple[list[Any], tuple[int, ...]]:
        by_name = {label: values for (label, _), values in zip(inputs, given, strict=True)}
        results: list[Any] = []
        for program in programs:
            results += interpret(program, [by_name[label] for label, _ in program.inputs])
        return results, (len(results),)

    return trace(name, inputs, all_of_them)
