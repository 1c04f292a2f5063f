"""Programs as CasADi functions, for optimal control and for derivatives of any order."""

from __future__ import annotations

from typing import Any

from dqdyn.compile.export.names import OUTPUT, argument_names, function_name, rows_and_columns
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program
from dqdyn.errors import missing_extra


def to_casadi(program: Program, name: str | None = None, sparse: bool = False) -> Any:
    """A ``casadi.Function`` of SX with the program's inputs as columns and the result ``out`` as a matrix.

    A vector is a column, an array of more axes a stack of matrices. With ``sparse=True``, entries that are always zero
    are left out of the pattern.
    """
    try:
        import casadi
    except ImportError:
        raise missing_extra("casadi", "casadi", "The export to CasADi") from None
    chosen = function_name(program, name)
    names = argument_names(program)
    columns = [casadi.SX.sym(name, size) for name, (_, size) in zip(names, program.inputs, strict=True)]
    outputs = interpret(program, [[column[i] for i in range(column.numel())] for column in columns])
    rows, width = rows_and_columns(program.shape)
    # CasADi fills matrices column by column; a matrix of SX that is given entry by entry is dense.
    result = casadi.SX.ones(rows, width)
    for k, value in enumerate(outputs):
        result[k // width, k % width] = value
    return casadi.Function(chosen, columns, [casadi.sparsify(result) if sparse else result], names, [OUTPUT])
