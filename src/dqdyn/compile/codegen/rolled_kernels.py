"""Whole functions in LLVM IR of programs with repetitions: one state, blocks of a batch, lanes of a roll-out.

They have the signatures and answers of those without loops (:mod:`dqdyn.compile.codegen.kernels`). Values that parts
share take memory in proportion to the robot, so they are not on the stack: each kernel has memory of its own, which one
call at a time can use, and calls that come meanwhile, on other threads, allocate theirs.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from dqdyn.compile.codegen.blocks import size_of
from dqdyn.compile.codegen.rolled_loops import Array, RolledBody, RolledEmitter
from dqdyn.compile.codegen.rolled_plan import OUTPUT, SLOTS, RolledPlan, Space
from dqdyn.compile.codegen.rolled_sines import RolledSines
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.codegen.sincos import LARGEST
from dqdyn.compile.codegen.workspace import in_workspace
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import LONG

SHORTEST = 6000
"""Lines of straight code from which on loops are considered."""
SHORTEST_OF_MATRICES = 100_000
"""The same for programs with many results per input: below, sums packed in vectors are faster than loops."""
WORTHWHILE = 0.5
"""Steps with loops, relative to those without, up to which loops are used."""
_MANY = 16  # results per component of an input


def may_roll(program: Program) -> bool:
    """Whether a program is long, and of a robot with many coordinates."""
    longest = max((size for _, size in program.inputs), default=0)
    shortest = SHORTEST if len(program.outputs) <= _MANY * longest else SHORTEST_OF_MATRICES
    return longest >= LONG and size_of(program) >= shortest


def is_worthwhile(plan: RolledPlan) -> bool:
    """Whether loops shorten the code much."""
    return plan.size <= WORTHWHILE * len(plan.steps)


def rolled_state_kernel(program: Program, fma: bool, contract: bool, name: str, width: int) -> str | None:
    """``i64 name(ptr in…, ptr out)`` for one state; None where loops would not pay."""
    sines = RolledSines(program, width, name)
    plan = RolledPlan(program, sines.place, sines.slots)
    if not is_worthwhile(plan):
        return None
    arrays: dict[Space, Array] = {i: Array(f"%in{i}", "double", 8) for i in range(len(program.inputs))}
    return _kernel(plan, RolledBody(1, fma, contract), arrays, name, sines)


def rolled_lane_kernel(
    program: Program, width: int, shared: Container[int], fma: bool, contract: bool, name: str
) -> str | None:
    """The kernel of :func:`dqdyn.compile.codegen.lanes.lane_kernel` with loops; None where they would not pay."""
    plan = RolledPlan(program)
    if not is_worthwhile(plan):
        return None
    body = RolledBody(width, fma, contract)
    inputs = range(len(program.inputs))
    arrays: dict[Space, Array] = {i: Array(f"%in{i}", "double" if i in shared else body.real, 8) for i in inputs}
    return _kernel(plan, body, arrays, name, RolledSines(program, 1, name))


def _kernel(plan: RolledPlan, body: RolledBody, inputs: dict[Space, Array], name: str, sines: RolledSines) -> str:
    """``i64 name(ptr in…, ptr out)``, with results as wide as the body."""
    real, align = body.real, 8 * body.width
    memory = {**inputs, SLOTS: Array("%scratch", real, align), OUTPUT: Array("%out", real, 8)}
    emitter = RolledEmitter(plan, body, memory, name)
    body.store(body.const(0.0), "%largest", real, align)
    large = sines.emit(body)
    emitter.emit()
    body.largest = body.load("%largest", real, align)
    flag = body.op(f"zext i1 {body.op(f'or i1 {large}, {body.too_large()}')} to i64")
    parameters = [f"ptr noalias readonly %in{i}" for i in range(len(inputs))] + ["ptr noalias %out"]
    head = [f"  %largest = alloca {real}, align 64", "  %go = icmp ne ptr %out, null"]
    function = in_workspace(name, parameters, align * plan.slots, "1", [*head, *body.lines, f"  ret i64 {flag}"])
    return "\n".join([*sines.globals, *emitter.globals, *function, ""])


def rolled_batch_kernel(
    program: Program, width: int, fma: bool, contract: bool, name: str, units: Sequence[tuple[int, int]]
) -> str | None:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` for n ≥ 1 rows; None where loops would not pay."""
    rows = RowLoop(program, width, fma, contract, units)
    plan = RolledPlan(program)
    if not is_worthwhile(plan):
        return None
    body = rows.body = RolledBody(width, fma, contract)
    slots, arrays = plan.slots, {}
    for i, (_, size) in enumerate(program.inputs):
        arrays[i], slots = slots, slots + size
    results, slots = slots, slots + len(program.outputs)
    real, align = body.real, 8 * width
    memory: dict[Space, Array] = {i: Array(body.at("%scratch", at, real), real, align) for i, at in arrays.items()}
    memory[SLOTS] = Array("%scratch", real, align)
    memory[OUTPUT] = Array(body.at("%scratch", results, real), real, align)
    emitter = RolledEmitter(plan, body, memory, name)
    numbers = rows.row_numbers("%i")
    for i in range(len(program.inputs)):
        _read(rows, i, numbers, memory[i])
    emitter.emit()
    _write(rows, numbers, memory[OUTPUT])
    fail = [f"  store {real} {body.const(2.0 * LARGEST)}, ptr %largest, align 64"]
    parameters = f"{rows.arguments()}, {rows.BLOCK}".split(", ")
    lines = ["  %go = icmp ne ptr %out, null", *body.lines, "  ret i64 0"]
    block = in_workspace(f"{name}_block", parameters, 8 * width * slots, "0", lines, fail)
    return "\n".join([*emitter.globals, *block, *rows.loop(name), *rows.piece(name), ""])


def _read(rows: RowLoop, argument: int, numbers: Sequence[str], columns: Array) -> None:
    """A block of one input, transposed into its columns."""
    body, width, size = rows.body, rows.width, rows.program.inputs[argument][1]
    assert isinstance(body, RolledBody)
    pointers = rows.input_rows(argument, numbers)

    def chunk(start: str | int, left: int, unfit: str) -> str:
        vectors, unfit = rows.load_chunk(pointers, start, left, unfit)
        first = body.at(columns.pointer, start, columns.kind)
        for k, vector in enumerate(vectors[:left]):
            body.store(vector, body.at(first, k, columns.kind), columns.kind, columns.align)
        return unfit

    def whole(index: str, carried: list[str]) -> list[str]:
        return [chunk(body.op(f"mul i64 {index}, {width}"), width, carried[0])]

    (unfit,) = body.repeat(0, size // width, whole, (body.real, rows.recorded("unfit")))
    if size % width:
        unfit = chunk(size - size % width, size % width, unfit)
    for unit, start in rows.units:
        if unit == argument:
            parts = [body.at(columns.pointer, start + k, columns.kind) for k in range(4)]
            unfit = rows.not_unit([body.load(p, columns.kind, columns.align) for p in parts], unfit)
    rows.record("unfit", unfit)


def _write(rows: RowLoop, numbers: Sequence[str], columns: Array) -> None:
    """A block of all outputs, from columns back to rows."""
    body, width = rows.body, rows.width
    assert isinstance(body, RolledBody)
    pointers = rows.output_rows(numbers)

    def chunk(start: str | int, left: int) -> None:
        first = body.at(columns.pointer, start, columns.kind)
        places = [body.at(first, k, columns.kind) for k in range(left)]
        vectors = [body.load(place, columns.kind, columns.align) for place in places]
        for pointer, row in zip(
            pointers, rows.squares.transposed([*vectors, *["zeroinitializer"] * (width - left)]), strict=True
        ):
            body.store_lanes(row, body.at(pointer, start), range(left))

    def whole(index: str, _: list[str]) -> list[str]:
        chunk(body.op(f"mul i64 {index}, {width}"), width)
        return []

    (size,) = rows.arrays.sizes
    body.repeat(0, size // width, whole)
    if size % width:
        chunk(size - size % width, size % width)
