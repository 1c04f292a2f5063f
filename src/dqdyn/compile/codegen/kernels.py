"""Whole functions in LLVM IR: one state, and a loop over a batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate

from dqdyn.compile.codegen.blocks import segments, size_of
from dqdyn.compile.codegen.direct_writes import direct_batch_kernel, direct_order, is_direct, may_be_direct
from dqdyn.compile.codegen.early_sines import EarlySines
from dqdyn.compile.codegen.emit import CodeBody, fused_products
from dqdyn.compile.codegen.hidden_writes import HiddenWrites
from dqdyn.compile.codegen.long_batches import long_batch_kernel
from dqdyn.compile.codegen.packed_emitter import PackedEmitter
from dqdyn.compile.codegen.pipelined import different_results, is_pipelined, pipelined_batch_kernel
from dqdyn.compile.codegen.register_plan import operations, register_plan
from dqdyn.compile.codegen.results import OutputArrays, Shape
from dqdyn.compile.codegen.rolled_kernels import may_roll, rolled_batch_kernel, rolled_state_kernel
from dqdyn.compile.codegen.rows import RowLoop, vector_registers
from dqdyn.compile.codegen.sincos import LARGEST
from dqdyn.compile.codegen.staged_batches import StagedBatches
from dqdyn.compile.codegen.stages import NEXT_MODULE, Stages, table
from dqdyn.compile.codegen.vector_groups import Group
from dqdyn.compile.trace.passes import negations_early, sines_first
from dqdyn.compile.trace.program import Program

_LONG = 2500  # lines of IR from which a program is cut: the time to compile grows faster than the length
_SEGMENT = 500  # lines in a basic block of such a program
_IN_STAGE = 4  # basic blocks in a stage
_STAGED = 6500  # lines from which on it becomes several functions
_GIANT = 100_000  # from here on vectors of states would take megabytes of stack and minutes to compile


def _segment(program: Program) -> int:
    """Lines of IR in a basic block."""
    return _SEGMENT if size_of(program) > _LONG else _LONG


def straight(
    program: Program,
    body: CodeBody,
    load: Callable[[int, int], str],
    store: Callable[[int, str], None],
    early: Mapping[int, int] | None = None,
    packed: PackedEmitter | None = None,
    done: Collection[int] = (),
    stages: Stages | None = None,
    registers: int = 16,
) -> int:
    """Emit a whole program, segment by segment; the number of slots for values that wait in memory.

    ``load(argument, component)`` gives the name of an input; ``store(k, name)`` is called for each output. ``early``
    maps instructions that are computed already to places in ``%sines``. ``packed`` computes some of the outputs, and
    those in ``done`` are stored already. ``stages`` takes the code as functions. The processor has so many
    ``registers``.
    """
    early = early or {}
    if stages:
        stages.begin()
    users: dict[int, list[int]] = {}
    for k, source in enumerate(program.outputs):
        if k not in done and (packed is None or k not in packed.outputs):
            users.setdefault(source, []).append(k)
    factors = packed.factors if packed else set()
    stored = packed.own if packed else {}
    parts = segments(program, _segment(program), early, packed.scalars if packed else None)
    before = packed.before if packed else {}
    order = [i for members in parts for i in members]
    ends = [0, *accumulate(map(len, parts))]
    cuts = {ends[n] for n in range(_IN_STAGE, len(parts), _IN_STAGE)} if stages else set()
    inputs = [i for i, (op, _, _) in enumerate(program.instructions) if op == "input"]
    fused = fused_products(program, order) if body.contract and body.fma else {}
    read = [(i, [*operands, *_spread(program, before.get(i, ()))]) for i, operands in operations(program, order, fused)]
    waiting = register_plan(read, registers, {}, {*stored, *early, *inputs}, cuts)

    def fetch(k: int) -> str:
        op, operands, constant = program.instructions[k]
        if op == "const":
            return body.const(constant)
        if op == "input":
            return load(operands[0], operands[1])
        if k in stored and k not in early:
            return body.load(body.at("%lanes", stored[k]))
        pointer = body.at("%sines", early[k]) if k in early else body.slot(waiting.slot[k])
        return body.load_slot(op == "less", pointer)

    def keep(i: int, value: str) -> None:
        if i in waiting.slot:
            body.store_slot(program.instructions[i][0] == "less", value, body.slot(waiting.slot[i]))
        use(i, value)

    def use(i: int, value: str) -> None:
        for k in users.get(i, ()):
            store(k, value)
        if packed and i in factors:
            packed.keep(i, value)

    for i in dict.fromkeys([*users, *factors]):  # results and factors that no segment computes
        if program.instructions[i][0] in ("input", "const") or i in early:
            use(i, fetch(i))
    noted = {*waiting.slot, *users, *factors}
    group = packed.emit_before if packed and before else None
    values: dict[int, str] = {}
    for n, members in enumerate(parts):
        if stages and ends[n] in cuts:
            stages.close()
            values = {}
        elif n:
            body.cut(f"segment{n}")
        body.segment(program, members, fetch, keep, noted, group, fused, waiting.reloads, values)
    if packed:
        body.cut("packed")
        packed.emit(stages)
    if stages:
        stages.close()
        stages.complete()
    return waiting.slots


def _spread(program: Program, groups: Sequence[Group]) -> list[int]:
    """Values that groups spread over all lanes."""
    found = dict.fromkeys(k for group in groups for k in group.common)
    return [k for k in found if program.instructions[k][0] != "const"]


def state_kernel(
    program: Program,
    body: CodeBody,
    name: str,
    slots: int,
    flag: str,
    memory: Sequence[str] = (),
    outputs: Sequence[str] = ("%out",),
) -> str:
    """``i64 name(ptr in…, ptr out…)`` of the lines in ``body``, which returns a flag."""
    arguments = [f"ptr noalias readonly %in{i}" for i in range(len(program.inputs))]
    arguments += [f"ptr noalias {pointer}" for pointer in outputs]
    head = [f"define i64 @{name}({', '.join(arguments)}) {{", "entry:", *memory]
    return "\n".join(
        [*body.frame(head, slots, body.lines, [f"  %flag = zext i1 {flag} to i64", "  ret i64 %flag"]), ""]
    )


def scalar_kernel(
    program: Program,
    fma: bool,
    contract: bool,
    name: str = "scalar",
    width: int = 1,
    parts: Sequence[Shape] = (),
    hand_over: Callable[[str], None] | None = None,
    registers: int = 16,
) -> str:
    """``i64 name(ptr in…, ptr out…)`` for one state; returns 1 where the interpreter must redo it.

    Sines and cosines of neighbouring coordinates are computed in vectors of ``width``. Each of the ``parts`` of the
    result has an array of its own. The processor has so many ``registers``. Of a long program this is the kernel and
    its stages in modules of their own, which go to ``hand_over`` as they are complete.
    """
    if may_roll(program) and len(parts) <= 1:
        rolled = rolled_state_kernel(program, fma, contract, name, width)
        if rolled is not None:
            return rolled
    arrays = OutputArrays.of(program, parts)
    body = CodeBody(1, fma, contract)
    early = EarlySines(program, body, width)

    def load(argument: int, component: int) -> str:
        return body.load(body.at(f"%in{argument}", component))

    def store(k: int, value: str) -> None:
        body.store(value, arrays.at(body, k))

    packed = PackedEmitter(program, body, width, arrays)
    modules: list[str] = []
    length = size_of(program)
    stages = Stages(program, body, arrays, length, hand_over or modules.append) if length > _STAGED else None
    if packed.groups:
        if stages:  # LLVM compiles the last stages while inner groups are searched
            stages.begin_last()
            packed.emit_outputs(stages)
            stages.end_last()
        packed.search()
    done = _store_constants(program, body, width, arrays)
    choices = (early.place, packed if packed.groups else None, done, stages, registers)
    slots = straight(program, body, load, store, *choices)
    sizes = {
        "sines": 2 * width * len(early.windows) if early.place else 0,
        "lanes": packed.size if packed.groups else 0,
    }
    memory = [f"  %{what} = alloca [{size} x double], align 64" for what, size in sizes.items() if size]
    if stages is None:
        flag = body.op(f"or i1 {body.too_large()}, {early.flag}")
        return state_kernel(program, body, name, slots, flag, memory, arrays.pointers)
    stages.memory.update({what: f"%{what}" for what, size in {**sizes, "scratch": slots}.items() if size})
    flag = body.op(f"or i1 {stages.call()}, {early.flag}")
    kernel = state_kernel(program, body, name, slots, flag, memory, arrays.pointers)
    return NEXT_MODULE.join([table(stages.count) + kernel, *modules])


def _store_constants(program: Program, body: CodeBody, width: int, arrays: OutputArrays) -> set[int]:
    """Store outputs that are constants, most of them zeros of a matrix, as vectors where they are neighbours."""
    done: set[int] = set()
    for k in range(len(program.outputs)):
        following = [program.instructions[i] for i in program.outputs[k : k + width]]
        if width == 1 or k in done or len(following) < width or not all(op == "const" for op, _, _ in following):
            continue
        if arrays.are_neighbours(k, k + width - 1):
            value = body.constants([constant for _, _, constant in following])
            body.store(value, arrays.at(body, k), f"<{width} x double>")
            body.cut_if_long(_SEGMENT)
            done.update(range(k, k + width))
    return done


def batch_kernel(
    program: Program,
    width: int,
    fma: bool,
    contract: bool,
    name: str = "batch",
    units: Sequence[tuple[int, int]] = (),
    parts: Sequence[Shape] = (),
    hand_over: Callable[[str], None] | None = None,
    whole_vectors: bool = False,
) -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` for n ≥ 1 rows; strides in doubles, 0 repeats a row.

    A result of several ``parts`` has a pointer and a stride for each of them.

    Beside it ``name_piece``, the same for some of the rows (:meth:`~dqdyn.compile.codegen.rows.RowLoop.piece`).

    Returns bits: ``TOO_LARGE`` where the interpreter must redo the batch, ``UNFIT`` where an input is not finite or one
    of the quaternions at ``units``, (argument, start), is not of unit norm.

    Further modules go to ``hand_over`` as they are complete, or stand in the text. The processor has
    ``whole_vectors``, or not (:func:`~dqdyn.compile.codegen.direct_writes.may_be_direct`).

    A block of rows is a function of its own, without a loop: out of one LLVM would move the constants, which would then
    wait in memory as whole vectors.
    """
    if may_roll(program) and len(parts) <= 1:
        rolled = rolled_batch_kernel(program, width, fma, contract, name, units)
        if rolled is not None:
            return rolled
    if size_of(program) > _GIANT:
        return row_by_row(program, width, fma, contract, name, units, parts)
    program = negations_early(sines_first(program))
    rows = RowLoop(program, width, fma, contract, units, parts)
    if whole_vectors and (staged := StagedBatches(rows)).pay():
        return staged.kernel(name, _SEGMENT, hand_over)
    is_long = size_of(program) > _LONG
    pipelined = is_pipelined(program, is_long)
    must_be_direct = not (pipelined or is_long)
    if must_be_direct or may_be_direct(program, _LONG, whole_vectors):
        order = direct_order(rows)
        if must_be_direct or is_direct(rows, order, len(different_results(program)), is_long):
            return direct_batch_kernel(rows, name, order)
    if pipelined:
        return pipelined_batch_kernel(rows, name, _segment(program))
    hidden = HiddenWrites(rows)
    if hidden.pay():
        return hidden.kernel(name, _SEGMENT, hand_over)
    return long_batch_kernel(rows, name, _segment(program))


def row_by_row(
    program: Program,
    width: int,
    fma: bool,
    contract: bool,
    name: str,
    units: Sequence[tuple[int, int]],
    parts: Sequence[Shape] = (),
) -> str:
    """The batch kernel of a giant program: a block is one row, computed by the code for one state."""
    rows = RowLoop(program, 1, fma, contract, units, parts)
    body = rows.body
    rows.read(["%i"], {}, lambda i, column: None)
    pointers = [rows.input_rows(i, ["%i"])[0] for i in range(len(program.inputs))]
    pointers += [rows.output_rows(["%i"], number)[0] for number in range(len(rows.arrays.sizes))]
    flag = body.op(f"call i64 @{name}_row({', '.join(f'ptr {p}' for p in pointers)})")
    is_large = body.op(f"icmp ne i64 {flag}, 0")
    rows.record("largest", body.select(is_large, body.const(2.0 * LARGEST), rows.recorded("largest")))
    choices = (width, parts, None, vector_registers(width, fma))
    kernel, *stages = scalar_kernel(program, fma, contract, f"{name}_row", *choices).split(NEXT_MODULE)
    whole = "\n".join([kernel, *rows.block(name, 0), *rows.loop(name), *rows.piece(name), ""])
    return NEXT_MODULE.join([whole, *stages])
