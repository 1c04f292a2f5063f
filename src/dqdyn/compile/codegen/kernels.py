"""Whole functions in LLVM IR: one state, and a loop over a batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from dqdyn.compile.codegen.angles import Window, padded, windows
from dqdyn.compile.codegen.blocks import plan, size_of
from dqdyn.compile.codegen.emit import Body
from dqdyn.compile.codegen.packed_sums import Shape, together
from dqdyn.compile.codegen.prefetch import Ahead
from dqdyn.compile.codegen.rows import UNFIT, UNIT_SQUARED, Rows
from dqdyn.compile.trace.passes import needed_for, sines_first
from dqdyn.compile.trace.program import Program

_SEGMENT = 3000  # lines of IR in the code for one state
_BATCH_SEGMENT = 2000
_GIANT = 100_000  # from here on vectors of states would take megabytes of stack and minutes to compile


def straight(
    program: Program,
    body: Body,
    load: Callable[[int, int], str],
    store: Callable[[int, str], None],
    early: Mapping[int, str] | None = None,
    side: SideBySide | None = None,
    done: Collection[int] = (),
) -> int:
    """Emit a whole program, segment by segment; how many slots its values wait in.

    ``load(argument, component)`` gives the name of an input; ``store(k, name)`` is called for each output. ``early``
    maps instructions whose values lie in memory already to pointers. ``side`` computes outputs that go together, and
    those in ``done`` are there already.
    """
    there = early or {}
    users: dict[int, list[int]] = {}
    for k, source in enumerate(program.outputs):
        if k not in done and (side is None or k not in side.outputs):
            users.setdefault(source, []).append(k)
    factors = side.factors if side else set()
    needed = needed_for(program, [*users, *factors]) if side else None
    cut = plan(program, _SEGMENT, there, needed=needed)

    def fetch(k: int) -> str:
        op, operands, constant = program.instructions[k]
        if op == "const":
            return body.const(constant)
        if op == "input":
            return load(operands[0], operands[1])
        pointer = body.op(there[k]) if k in there else body.slot(cut.slot[k])
        return body.load_slot(op == "less", pointer)

    def keep(i: int, value: str) -> None:
        if i in cut.slot:
            body.store_slot(program.instructions[i][0] == "less", value, body.slot(cut.slot[i]))
        use(i, value)

    def use(i: int, value: str) -> None:
        for k in users.get(i, ()):
            store(k, value)
        if side and i in factors:
            side.keep(i, value)

    for n, members in enumerate(cut.segments):
        if n:
            body.cut(f"part{n}")
        body.segment(program, [i for i in members if i not in there], fetch, keep)
    for i in dict.fromkeys([*users, *factors]):  # results and factors that are no operation
        if program.instructions[i][0] in ("input", "const") or i in there:
            use(i, fetch(i))
    if side and side.groups:
        body.cut("together")
        side.emit()
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
    side = SideBySide(program, body, width)
    slots = straight(
        program, body, load, store, pointers, side if side.groups else None, _constants(program, body, width)
    )
    flag = body.op(f"or i1 {body.too_large()}, {early.flag}")
    arguments = [f"ptr noalias readonly %in{i}" for i in range(len(program.inputs))] + ["ptr noalias %out"]
    head = [f"define i64 @{name}({', '.join(arguments)}) {{", "entry:"]
    if early.place:
        head.append(f"  %sines = alloca [{2 * width * len(early.windows)} x double], align 64")
    if side.groups:
        head.append(f"  %lanes = alloca [{side.size} x double], align 64")
    lines = body.frame(head, slots, body.lines, [f"  %flag = zext i1 {flag} to i64", "  ret i64 %flag"])
    declarations = dict.fromkeys([*body.declarations(), *body.widened(width).declarations()])
    return "\n".join([*declarations, *lines, ""])


def _constants(program: Program, body: Body, width: int) -> set[int]:
    """Store outputs that are constants, most of them zeros of a matrix, as vectors where they are neighbours."""
    done: set[int] = set()
    for k in range(len(program.outputs)):
        following = [program.instructions[i] for i in program.outputs[k : k + width]]
        if width > 1 and k not in done and len(following) == width and all(op == "const" for op, _, _ in following):
            p = body.op(f"getelementptr double, ptr %out, i64 {k}")
            value = body.constants([constant for _, _, constant in following])
            body.lines.append(f"  store <{width} x double> {value}, ptr {p}, align 8")
            done.update(range(k, k + width))
    return done


class SideBySide:
    """Outputs that go together, as vectors of ``width``: factors are stored where they are made and read at the end."""

    def __init__(self, program: Program, body: Body, width: int) -> None:
        found = together(program, width)
        self.body, self.width = body, width
        self.groups, self.outputs, self.factors = found.groups, found.outputs, found.factors()
        self.places: dict[int, list[tuple[int, bool]]] = {}  # factor → (place, whether it is negated there)
        for number, array in enumerate(found.arrays):
            for lane, (k, negated) in array.items():
                self.places.setdefault(k, []).append((number * width + lane, negated))
        self.size = width * len(found.arrays)
        # Whatever lies on the stack may be subnormal as a number, and such operands are slow.
        for number in (number for number, array in enumerate(found.arrays) if len(array) < width):
            p = body.op(f"getelementptr double, ptr %lanes, i64 {number * width}")
            body.lines.append(f"  store <{width} x double> zeroinitializer, ptr {p}, align {8 * width}")
        self.common: dict[int, int] = {}  # factor → a place with its own sign
        for k in {a for group in self.groups for a, _ in group.products}:
            own = [place for place, negated in self.places.get(k, ()) if not negated]
            if not own:
                own.append(self.size)
                self.places.setdefault(k, []).append((self.size, False))
                self.size += 1
            self.common[k] = own[0]

    def keep(self, i: int, value: str) -> None:
        """Store a factor wherever it is read."""
        body = self.body
        opposite = body.op(f"fneg double {value}") if any(n for _, n in self.places[i]) else value
        for place, negated in self.places[i]:
            p = body.op(f"getelementptr double, ptr %lanes, i64 {place}")
            body.lines.append(f"  store double {opposite if negated else value}, ptr {p}, align 8")

    def emit(self) -> None:
        """Compute and store all groups."""
        wide, w = self.body.widened(self.width), self.width
        for group in self.groups:
            products = iter(group.products)

            def total(shape: Shape, products: Iterator[tuple[int, int]] = products) -> str:
                if shape != "*":
                    left, right = (total(part) for part in shape)
                    return wide.op(f"fadd{wide.flags} {wide.real} {left}, {right}")
                common, array = next(products)
                p = wide.op(f"getelementptr double, ptr %lanes, i64 {array * w}")
                x = wide.op(f"load {wide.real}, ptr {p}, align {8 * w}")
                return wide.op(f"fmul{wide.flags} {wide.real} {self.spread(wide, common)}, {x}")

            value = total(group.shape)
            p = wide.op(f"getelementptr double, ptr %out, i64 {group.start}")
            if len(group.lanes) == w:
                wide.lines.append(f"  store {wide.real} {value}, ptr {p}, align 8")
            else:
                mask = ", ".join(f"i1 {'true' if lane in group.lanes else 'false'}" for lane in range(w))
                wide.lines.append(
                    f"  call void @llvm.masked.store.{wide.suffix}.p0({wide.real} {value}, ptr {p}, i32 8, "
                    f"<{w} x i1> <{mask}>)"
                )

    def spread(self, wide: Body, k: int) -> str:
        """A factor in all lanes."""
        p = wide.op(f"getelementptr double, ptr %lanes, i64 {self.common[k]}")
        x = wide.op(f"load double, ptr {p}, align 8")
        first = wide.op(f"insertelement {wide.real} poison, double {x}, i64 0")
        return wide.op(f"shufflevector {wide.real} {first}, {wide.real} poison, <{self.width} x i32> zeroinitializer")


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
                wide.lines.append(f"  store {wide.real} {value}, ptr {p}, align {8 * width}")
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

    Beside it ``name_piece``, the same for some of the rows (:meth:`~dqdyn.compile.codegen.rows.Rows.piece`).

    Returns bits: ``TOO_LARGE`` where the interpreter must redo the batch, ``UNFIT`` where an input is not finite or one
    of the quaternions at ``units``, (argument, start), is not of unit norm.

    A block of rows is a function of its own, without a loop: out of one LLVM would move the constants, which would then
    wait in memory as whole vectors.
    """
    if size_of(program) > _GIANT:
        return row_by_row(program, width, fma, contract, name, units)
    program = sines_first(program)
    rows = Rows(program, width, fma, contract, units)
    body = rows.body
    cut = plan(program, _BATCH_SEGMENT, transposed=True)

    def fetch(k: int) -> str:
        return body.load_slot(program.instructions[k][0] == "less", body.slot(cut.slot[k]))

    def keep(i: int, value: str) -> None:
        if i in cut.slot:
            body.store_slot(program.instructions[i][0] == "less", value, body.slot(cut.slot[i]))

    def compute(i: int, value: str) -> None:
        keep(i, value)
        ahead.step()

    numbers = rows.row_numbers("%i")
    inputs = {operands: i for i in cut.slot for op, operands, _ in [program.instructions[i]] if op == "input"}
    rows.read(numbers, inputs, keep)
    ahead = Ahead(rows, sum(map(len, cut.segments)))
    for n, members in enumerate(cut.segments):
        body.cut(f"part{n}")
        body.largest = rows.noticed("largest")
        body.segment(program, members, fetch, compute)
        rows.notice("largest", body.largest)
    body.cut("write")
    rows.write(numbers, fetch)
    head = [f"define internal i64 @{name}_block({rows.arguments()}, {rows.PLACE}) noinline {{", "entry:"]
    block = body.frame(head, cut.slots, body.lines, ["  ret i64 0"])
    return "\n".join([*rows.declarations(), *block, *rows.loop(name), *rows.piece(name), ""])


def row_by_row(
    program: Program, width: int, fma: bool, contract: bool, name: str, units: Sequence[tuple[int, int]]
) -> str:
    """The batch kernel of a giant program: the code for one state, called for one row after the other."""
    body = Body(1, fma, contract)
    unfit, pointers = "%unfit", []
    for i, (_, size) in enumerate(program.inputs):
        p = body.op(f"getelementptr double, ptr %in{i}, i64 {body.op(f'mul i64 %i, %stride{i}')}")
        pointers.append(p)
        for k in range(size):
            x = body.op(f"load double, ptr {body.op(f'getelementptr double, ptr {p}, i64 {k}')}, align 8")
            unfit = body.op(f"fadd double {body.op(f'fmul double {x}, 0.0')}, {unfit}")  # NaN where x is not finite
    for argument, start in units:
        total = "0.0"
        for k in range(start, start + 4):
            p = body.op(f"getelementptr double, ptr {pointers[argument]}, i64 {k}")
            x = body.op(f"load double, ptr {p}, align 8")
            total = body.op(f"fadd double {total}, {body.op(f'fmul double {x}, {x}')}")
        off = body.op(f"call double @llvm.fabs.f64(double {body.op(f'fsub double {total}, 1.0')})")
        near = body.op(f"fcmp olt double {off}, {UNIT_SQUARED:e}")
        unfit = body.op(f"select i1 {near}, double {unfit}, double {body.const(float('nan'))}")
    target = body.op(f"getelementptr double, ptr %out, i64 {body.op(f'mul i64 %i, {len(program.outputs)}')}")
    arguments = ", ".join(f"ptr {p}" for p in (*pointers, target))
    flag = body.op(f"call i64 @{name}_row({arguments})")
    rows = Rows(program, width, fma, contract, units)
    loop = [
        f"define i64 @{name}({rows.arguments()}) {{",
        "entry:",
        "  br label %row",
        "row:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %row ]",
        "  %flags = phi i64 [ 0, %entry ], [ %all, %row ]",
        f"  %unfit = phi double [ 0.0, %entry ], [ {unfit}, %row ]",
        *body.lines,
        f"  %all = or i64 %flags, {flag}",
        "  %next = add i64 %i, 1",
        "  %more = icmp ult i64 %next, %n",
        "  br i1 %more, label %row, label %exit",
        "exit:",
        f"  %bad = fcmp uno double {unfit}, 0.0",
        f"  %bits = select i1 %bad, i64 {UNFIT}, i64 0",
        "  %answer = or i64 %all, %bits",
        "  ret i64 %answer",
        "}",
        *rows.piece(name),
        "",
    ]
    return scalar_kernel(program, fma, contract, f"{name}_row", width) + "\n".join(loop)
