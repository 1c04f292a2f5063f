"""Sines and cosines of many neighbouring coordinates in the code for one state: a loop of vectors before all else."""

from __future__ import annotations

from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.codegen.rolled_loops import RolledBody
from dqdyn.compile.trace.angles import Angle, angles
from dqdyn.compile.trace.program import Program

_FEWEST = 8  # vectors in a run of angles: fewer stay where they are


class RolledSines:
    """Runs of angles of neighbouring components; ``place`` maps sines and cosines to the first ``slots`` of memory."""

    def __init__(self, program: Program, width: int, name: str) -> None:
        self.width, self.name = width, name
        self.runs = [run for run in _runs(angles(program)) if width > 1 and len(run) >= _FEWEST * width]
        self.place: dict[int, int] = {}
        self.slots = 0
        self.globals: list[str] = []
        places: dict[int, tuple[int, int]] = {}
        for run in self.runs:
            for k, angle in enumerate(run):
                places[angle.operand] = self.slots + k, self.slots + len(run) + k
            self.slots += 2 * len(run)
        for i, (op, operands, _) in enumerate(program.instructions):
            if op in ("sin", "cos") and operands[0] in places:
                self.place[i] = places[operands[0]][op == "cos"]

    def emit(self, body: RolledBody) -> str:
        """The loops; the name of an i1, whether an argument was too large."""
        flag, slot = "false", 0
        for n, run in enumerate(self.runs):
            flag = body.op(f"or i1 {flag}, {self._run(body, run, slot, n)}")
            slot += 2 * len(run)
        return flag

    def _run(self, body: RolledBody, run: list[Angle], slot: int, number: int) -> str:
        wide = body.widened(self.width)
        count = -(-len(run) // self.width)
        scales = self._column(f"scale{number}", [angle.scale for angle in run], 1.0)
        offsets = self._column(f"offset{number}", [angle.offset for angle in run], 0.0)

        def chunk(index: str, carried: list[str]) -> list[str]:
            # The last vector overlaps the one before it and computes some sines twice, to the same bits.
            at = body.op(f"mul i64 {index}, {self.width}")
            at = body.op(f"call i64 @llvm.umin.i64(i64 {at}, i64 {len(run) - self.width})")
            x = wide.load(body.at(body.at(f"%in{run[0].argument}", run[0].component), at), wide.real)
            for operation, column in (("fmul", scales), ("fadd", offsets)):
                if column:
                    x = wide.binary(f"{operation}{wide.flags}", x, wide.load(body.at(column, at), wide.real))
            wide.largest = carried[0]
            for part, value in enumerate(wide.sincos(x)):
                wide.store(value, body.at(body.at("%scratch", slot + part * len(run)), at), wide.real)
            return [wide.largest]

        (wide.largest,) = body.repeat(0, count, chunk, (wide.real, wide.const(0.0)))
        return wide.too_large()

    def _column(self, what: str, values: list[float], neutral: float) -> str:
        """The name of an array of constants; empty where they have no effect."""
        if all(value == neutral for value in values):
            return ""
        name = f"@{self.name}_{what}"
        entries = ", ".join(f"double {Emitter(1).const(value)}" for value in values)
        self.globals.append(f"{name} = internal constant [{len(values)} x double] [{entries}], align 64")
        return name


def _runs(found: list[Angle]) -> list[list[Angle]]:
    """Angles of consecutive components of one input, one each."""
    runs: list[list[Angle]] = []
    for angle in found:
        last = runs[-1][-1] if runs else None
        if last is not None and (last.argument, last.component) == (angle.argument, angle.component):
            continue
        if last is None or (last.argument, last.component + 1) != (angle.argument, angle.component):
            runs.append([])
        runs[-1].append(angle)
    return runs
