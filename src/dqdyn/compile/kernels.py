"""Whole functions in LLVM IR: one state, and a loop over a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dqdyn.compile.angles import Window, padded, windows
from dqdyn.compile.emit import Body
from dqdyn.compile.plan import plan
from dqdyn.compile.program import Program
from dqdyn.compile.rows import Rows

_SEGMENT = 3000  # lines of IR in the code for one state
_BATCH_SEGMENT = 2000


def straight(
    program: Program,
    body: Body,
    load: Callable[[int, int], str],
    store: Callable[[int, str], None],
    early: Mapping[int, str] | None = None,
) -> int:
    """Emit a whole program, segment by segment; how many slots its values wait in.

    ``load(argument, component)`` gives the name of an input; ``store(k, name)`` is called for each output. ``early``
    maps instructions whose values lie in memory already to pointers.
    """
    there = early or {}
    cut = plan(program, _SEGMENT, there)
    users: dict[int, list[int]] = {}
    for k, source in enumerate(program.outputs):
        users.setdefault(source, []).append(k)

    def fetch(k: int) -> str:
        op, operands, _ = program.instructions[k]
        if op == "input":
            return load(operands[0], operands[1])
        pointer = body.op(there[k]) if k in there else body.slot(cut.slot[k])
        return body.load_slot(op == "less", pointer)

    def keep(i: int, value: str) -> None:
        if i in cut.slot:
            body.store_slot(program.instructions[i][0] == "less", value, body.slot(cut.slot[i]))
        for k in users.get(i, ()):
            store(k, value)

    for n, members in enumerate(cut.segments):
        if n:
            body.cut(f"part{n}")
        body.segment(program, [i for i in members if i not in there], fetch, keep)
    for i, wanted in users.items():  # outputs that are no operation
        op, _, constant = program.instructions[i]
        if op in ("input", "const") or i in there:
            for k in wanted:
                store(k, body.const(constant) if op == "const" else fetch(i))
    return cut.slots


def scalar_kernel(program: Program, fma: bool, contract: bool, name: str = "scalar", width: int = 1) -> str:
    """``i64 name(ptr in…, ptr out)`` for one state; returns 1 where the interpreter must redo it.

    Sines and cosines of neighbouring coordinates are computed in vectors of ``width``.
    """
    body = Body(1, fma, contract)
    early = _Early(program, body, width)

    def load(argument: int, component: int) -> str:
        p = body.op(f"getelementptr double, ptr %in{argument}, i64 {component}")
        return body.op(f"load double, ptr {p}, align 8")

    def store(k: int, value: str) -> None:
        p = body.op(f"getelementptr double, ptr %out, i64 {k}")
        body.lines.append(f"  store double {value}, ptr {p}, align 8")

    pointers = {i: f"getelementptr double, ptr %sines, i64 {place}" for i, place in early.place.items()}
    slots = straight(program, body, load, store, pointers)
    flag = body.op(f"or i1 {body.too_large()}, {early.flag}")
    arguments = [f"ptr noalias readonly %in{i}" for i in range(len(program.inputs))] + ["ptr noalias %out"]
    head = [f"define i64 @{name}({', '.join(arguments)}) {{", "entry:"]
    if early.place:
        head.append(f"  %sines = alloca [{2 * width * len(early.windows)} x double], align 64")
    lines = body.frame(head, slots, body.lines, [f"  %flag = zext i1 {flag} to i64", "  ret i64 %flag"])
    declarations = dict.fromkeys([*body.declarations(), *body.widened(width).declarations()])
    return "\n".join([*declarations, *lines, ""])


class _Early:
    """Sines and cosines of coordinates, computed in vectors at the start; ``place`` is where they are in ``%sines``."""

    def __init__(self, program: Program, body: Body, width: int) -> None:
        self.width = width
        self.windows = windows(program, width) if width > 1 else []
        self.place: dict[int, int] = {}
        self.flag = "false"
        places: dict[int, tuple[int, int]] = {}  # argument → places of its sine and cosine
        wide = body.widened(width)
        for n, window in enumerate(self.windows):
            base = 2 * width * n
            for part, value in enumerate(wide.sincos(self.loaded(wide, window))):
                p = wide.op(f"getelementptr double, ptr %sines, i64 {base + width * part}")
                wide.lines.append(f"  store {wide.real} {value}, ptr {p}, align 64")
            for lane, angle in window.lanes:
                places[angle.operand] = base + lane, base + width + lane
        for i, (op, operands, _) in enumerate(program.instructions):
            if op in ("sin", "cos") and operands[0] in places:
                self.place[i] = places[operands[0]][0 if op == "sin" else 1]
        if self.windows:
            self.flag = wide.too_large()

    def loaded(self, wide: Body, window: Window) -> str:
        """The vector of arguments; zero in lanes without an angle, which may lie outside of the input."""
        w, used = self.width, dict(window.lanes)
        p = wide.op(f"getelementptr double, ptr %in{window.argument}, i64 {window.start}")
        if len(used) == w:
            x = wide.op(f"load {wide.real}, ptr {p}, align 8")
        else:
            mask = ", ".join(f"i1 {'true' if lane in used else 'false'}" for lane in range(w))
            x = wide.op(
                f"call {wide.real} @llvm.masked.load.{wide.suffix}.p0(ptr {p}, i32 8, <{w} x i1> <{mask}>, "
                f"{wide.real} zeroinitializer)"
            )
        scales = padded(window, [angle.scale for angle in used.values()], w, 1.0)
        offsets = padded(window, [angle.offset for angle in used.values()], w, -0.0)
        if any(s != 1.0 for s in scales):
            x = wide.op(f"fmul{wide.flags} {wide.real} {x}, {wide.constants(scales)}")
        if any(o != 0.0 for o in offsets):
            x = wide.op(f"fadd{wide.flags} {wide.real} {x}, {wide.constants(offsets)}")
        return x


def batch_kernel(
    program: Program, width: int, fma: bool, contract: bool, name: str = "batch", units: Sequence[tuple[int, int]] = ()
) -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` for n ≥ 1 rows; strides in doubles, 0 repeats a row.

    Returns bits: ``TOO_LARGE`` where the interpreter must redo the batch, ``UNFIT`` where an input is not finite or one
    of the quaternions at ``units``, (argument, start), is not of unit norm.
    """
    rows = Rows(program, width, fma, contract, units)
    body = rows.body
    cut = plan(program, _BATCH_SEGMENT, transposed=True)

    def fetch(k: int) -> str:
        return body.load_slot(program.instructions[k][0] == "less", body.slot(cut.slot[k]))

    def keep(i: int, value: str) -> None:
        if i in cut.slot:
            body.store_slot(program.instructions[i][0] == "less", value, body.slot(cut.slot[i]))

    body.open("block")
    body.lines.append("  %i = phi i64 [ 0, %entry ], [ %next, %write ]")
    numbers = rows.row_numbers("%i")
    inputs = {operands: i for i in cut.slot for op, operands, _ in [program.instructions[i]] if op == "input"}
    rows.read(numbers, inputs, keep)
    for n, members in enumerate(cut.segments):
        # As if in a loop of its own: LLVM then moves the constants of the segment out of all loops and lets them wait
        # in memory. Within, they take registers from the values, which was seen to cost a tenth to a quarter.
        body.cut(f"part{n}", repeat=f"part{n - 1}" if n else None)
        body.largest = rows.noticed("largest")
        body.segment(program, members, fetch, keep)
        rows.notice("largest", body.largest)
    body.cut("write", repeat=f"part{len(cut.segments) - 1}" if cut.segments else None)
    rows.write(numbers, fetch)
    body.lines += [f"  %next = add i64 %i, {width}", "  %more = icmp ult i64 %next, %n"]
    body.lines += ["  br i1 %more, label %block, label %exit"]
    body.open("exit")
    head = [f"define i64 @{name}({rows.arguments()}) {{", "entry:", "  %last = sub i64 %n, 1", *rows.notes()]
    tail = [f"  ret i64 {rows.answer()}"]
    lines = body.frame(head, cut.slots, ["  br label %block", *body.lines], tail)
    return "\n".join([*rows.declarations(), *lines, ""])
