"""Sines and cosines of coordinates in the code for one state: computed in vectors, before all else."""

from __future__ import annotations

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.trace.angles import Window, padded, windows
from dqdyn.compile.trace.program import Program


class EarlySines:
    """Emits the windows of angles as vectors of ``width``; ``place`` maps instructions to places in ``%sines``."""

    def __init__(self, program: Program, body: CodeBody, width: int) -> None:
        self.width = width
        self.windows = windows(program, width) if width > 1 else []
        self.place: dict[int, int] = {}
        places: dict[int, tuple[int, int]] = {}  # argument → places of its sine and cosine
        wide = body.widened(width)
        for n, window in enumerate(self.windows):
            base = 2 * width * n
            for part, value in enumerate(wide.sincos(self._arguments(wide, window))):
                wide.store(value, wide.at("%sines", base + width * part), wide.real, 8 * width)
            for lane, angle in window.lanes:
                places[angle.operand] = base + lane, base + width + lane
        for i, (op, operands, _) in enumerate(program.instructions):
            if op in ("sin", "cos") and operands[0] in places:
                self.place[i] = places[operands[0]][0 if op == "sin" else 1]
        self.flag = wide.too_large() if self.windows else "false"

    def _arguments(self, wide: CodeBody, window: Window) -> str:
        """The vector of arguments; zero in lanes without an angle, which may lie outside of the input."""
        used = dict(window.lanes)
        x = wide.load_lanes(wide.at(f"%in{window.argument}", window.start), used)
        scales = padded(window, [angle.scale for angle in used.values()], self.width, 1.0)
        offsets = padded(window, [angle.offset for angle in used.values()], self.width, -0.0)
        if any(s != 1.0 for s in scales):
            x = wide.binary(f"fmul{wide.flags}", x, wide.constants(scales))
        if any(o != 0.0 for o in offsets):
            x = wide.binary(f"fadd{wide.flags}", x, wide.constants(offsets))
        return x
