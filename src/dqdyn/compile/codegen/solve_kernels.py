"""Whole functions in LLVM IR of programs that give linear systems: one state, and batches.

They have the signatures and answers of those of plain programs (:mod:`dqdyn.compile.codegen.kernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dqdyn.compile.codegen.kernels import batch_kernel, scalar_kernel
from dqdyn.compile.codegen.loops import LoopEmitter
from dqdyn.compile.codegen.results import OutputArrays, Shape
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.codegen.solve_code import SolveCode
from dqdyn.compile.codegen.stages import NEXT_MODULE
from dqdyn.compile.codegen.workspace import in_workspace
from dqdyn.compile.trace.linear_system import LinearSystem
from dqdyn.compile.trace.program import Program


def _signature(system: LinearSystem) -> Program:
    """A program with the inputs and the shape of the results; what it computes is of no use."""
    return replace(system.program, outputs=system.program.outputs[: system.results * system.n**2], shape=system.shape)


def solved_state_kernel(
    system: LinearSystem,
    fma: bool,
    contract: bool,
    width: int,
    parts: Sequence[Shape],
    hand_over: Callable[[str], None] | None = None,
    registers: int = 16,
) -> str:
    """``i64 scalar(ptr in…, ptr out…)`` for one state; returns 1 where the interpreter must redo it."""
    program, code = system.program, SolveCode(system, width, fma)
    arrays = OutputArrays.of(_signature(system), parts)
    e = LoopEmitter(1, fma)
    inputs = [f"%in{i}" for i in range(len(program.inputs))]
    flag = e.op(f"call i64 @equations({', '.join(f'ptr {p}' for p in [*inputs, '%scratch'])})")
    code.call(e, "%scratch", e.at("%scratch", program.size), arrays.pointers)
    parameters = [*(f"ptr noalias readonly {p}" for p in inputs), *(f"ptr noalias {p}" for p in arrays.pointers)]
    size = 8 * (program.size + code.spare)
    whole = in_workspace("scalar", parameters, size, "1", [*e.lines, f"  ret i64 {flag}"])
    kernel = scalar_kernel(program, fma, contract, "equations", width, (), hand_over, registers)
    first, *others = kernel.split(NEXT_MODULE)
    return NEXT_MODULE.join(["\n".join([first, code.text(), *whole, ""]), *others])


def solved_batch_kernel(
    system: LinearSystem,
    width: int,
    width_of_solution: int,
    fma: bool,
    contract: bool,
    units: Sequence[tuple[int, int]] = (),
    parts: Sequence[Shape] = (),
) -> str:
    """``i64 batch(ptr in, i64 stride, …, ptr out, i64 n)`` for n ≥ 1 rows, and ``batch_piece``.

    The equations of as many states as a vector has are computed at a time, and solved state by state.
    """
    program, code = system.program, SolveCode(system, width_of_solution, fma)
    rows = RowLoop(_signature(system), 1, fma, contract, units, parts)
    e = LoopEmitter(1, fma)
    work = e.at("%scratch", width * program.size)

    def block(number: str, flags: list[str]) -> list[str]:
        first = e.op(f"mul i64 {number}, {width}")
        count = e.op(f"call i64 @llvm.umin.i64(i64 {e.op(f'sub i64 %n, {first}')}, i64 {width})")
        given = []
        for i in range(len(program.inputs)):
            given += [f"ptr {e.at(f'%in{i}', e.op(f'mul i64 {first}, %stride{i}'))}", f"i64 %stride{i}"]
        flag = e.op(f"call i64 @equations({', '.join([*given, 'ptr %scratch', f'i64 {count}'])})")

        def state(k: str, _: list[str]) -> list[str]:
            row = e.op(f"add i64 {first}, {k}")
            pairs = zip(rows.arrays.pointers, rows.strides, strict=True)
            pointers = [e.at(pointer, e.op(f"mul i64 {row}, {stride}")) for pointer, stride in pairs]
            code.call(e, e.at("%scratch", e.op(f"mul i64 {k}, {program.size}")), work, pointers)
            return []

        e.repeat(0, count, state)
        return [e.op(f"or i64 {flags[0]}, {flag}")]

    blocks = e.op(f"udiv i64 {e.op(f'add i64 %n, {width - 1}')}, {width}")
    (flags,) = e.repeat(0, blocks, block, ("i64", "0"))
    size, parameters = 8 * (width * program.size + code.spare), rows.arguments().split(", ")
    whole = in_workspace("batch", parameters, size, "1", [*e.lines, f"  ret i64 {flags}"])
    first, *others = batch_kernel(program, width, fma, contract, "equations", units).split(NEXT_MODULE)
    text = "\n".join([first, code.text(), *whole, *rows.piece("batch"), ""])
    return NEXT_MODULE.join([text, *others])
