"""Several programs as one that computes equal values once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.compile.trace.passes import without_dead_code
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import Graph


def merged(name: str, inputs: Sequence[tuple[str, int]], programs: Sequence[Program]) -> Program:
    """The outputs of all programs, one after the other; inputs of the same name are the same.

    ``inputs`` are (name, size) of all of them, in the order of the new program. Folding is repeated, so that what is
    equal in two programs is written alike; results have the same bits as those of the programs alone, where those
    of the processor do not depend on which products it fuses with sums.
    """
    graph = Graph()
    place = {name: i for i, (name, _) in enumerate(inputs)}
    for i, (_, size) in enumerate(inputs):
        for k in range(size):
            graph.node("input", i, k)
    folding: dict[str, Callable[..., int]] = {
        "add": graph.add,
        "sub": graph.sub,
        "mul": graph.mul,
        "div": graph.div,
        "neg": graph.neg,
        "atan2": graph.atan2,
    }
    outputs: list[int] = []
    for program in programs:
        at: list[int] = []
        for op, operands, constant in program.instructions:
            if op == "const":
                at.append(graph.constant(constant))
            elif op == "input":
                at.append(graph.node("input", place[program.inputs[operands[0]][0]], operands[1]))
            elif op in folding:
                at.append(folding[op](*(at[k] for k in operands)))
            elif op in ("sin", "cos", "sqrt"):
                at.append(graph.unary(op, at[operands[0]]))
            else:
                at.append(graph.node(op, *(at[k] for k in operands)))
        outputs += [at[k] for k in program.outputs]
    whole = Program(name, tuple(inputs), tuple(graph.instructions), tuple(outputs), (len(outputs),))
    return without_dead_code(whole)
