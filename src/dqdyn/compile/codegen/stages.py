"""The code for one state as several functions.

The time that LLVM takes grows faster than the length of a function, and functions in modules of their own are compiled
on several cores. So the code of a long program is cut into stages, which share the inputs, the outputs and the memory
that the kernel itself allocates. The kernel finds them in a table that the loader fills in: modules refer to each other
by addresses, never by name.
"""

from __future__ import annotations

from collections.abc import Callable

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.results import OutputArrays
from dqdyn.compile.trace.program import Program

NEXT_MODULE = "\n; --- the next module ---\n"
"""Stands between modules in a text of IR."""
TABLE = "stages"
"""The global in the first module that holds the addresses of the stages, in order."""
LONGEST = 2500
"""Lines of IR in a stage, about."""
_TOGETHER = 3  # times as many stages in a module, of those that come last
_MODULES = 64  # about, at most; each takes a fifth of a millisecond to load


def stage_name(number: int) -> str:
    """The function of a stage; stages are numbered through all modules."""
    return f"stage{number}"


def table(count: int) -> str:
    """The global that the loader fills in."""
    return f"@{TABLE} = dso_local global [{count} x ptr] zeroinitializer\n"


class Stages:
    """Takes lines out of a body as functions; what was emitted before the first of them stays in the kernel.

    Modules go to ``hand_over`` as soon as they are complete, so that LLVM works on them while others are emitted.
    """

    def __init__(
        self, program: Program, body: CodeBody, arrays: OutputArrays, length: int, hand_over: Callable[[str], None]
    ) -> None:
        """``length`` is that of the program, by which stages share modules."""
        self.body, self._hand_over = body, hand_over
        self._share = 1 + 2 * length // (LONGEST * _MODULES)
        self._waiting: list[str] = []
        self.count = 0
        self.memory = {"scratch": "null", "sines": "null", "lanes": "null"}  # what the kernel has allocated
        self._pointers = [*(f"%in{i}" for i in range(len(program.inputs))), *arrays.pointers]
        self._kernel: list[str] = []
        self._last = 0  # stages that are called after all others

    def begin(self) -> None:
        """What was emitted so far, and belongs to no stage, belongs to the kernel."""
        self._kernel += self.body.take_lines()

    def begin_last(self) -> None:
        """What is emitted from here to :meth:`end_last` becomes stages that are called after all that follow.

        Their modules are larger: as long as the thread that emits is busy, another one waits for its turn before and
        after each call of LLVM.
        """
        self.begin()
        self._share *= _TOGETHER

    def end_last(self) -> None:
        self.close()
        self.complete()
        self._share //= _TOGETHER
        self._last = self.count

    def close(self) -> None:
        """What was emitted since then becomes a stage."""
        flag = self.body.too_large()
        arguments = ", ".join(f"ptr noalias {p}" for p in [*self._pointers, *(f"%{name}" for name in self.memory)])
        head = [f"define i64 @{stage_name(self.count)}({arguments}) {{", "entry:", "  %go = icmp ne ptr %out, null"]
        tail = [f"  %flag = zext i1 {flag} to i64", "  ret i64 %flag", "stop:", "  ret i64 0", "}", ""]
        self._waiting.append("\n".join([*head, *self.body.take_lines(), *tail]))
        self.count += 1
        self.body.largest = self.body.const(0.0)
        if len(self._waiting) == self._share:
            self.complete()

    def complete(self) -> None:
        """Hand over what is left."""
        if self._waiting:
            self._hand_over("\n".join(self._waiting))
            self._waiting = []

    def close_if_long(self) -> bool:
        """Whether the stage has its length by now and is closed."""
        if len(self.body.lines) < LONGEST:
            return False
        self.close()
        return True

    def call(self) -> str:
        """Go on in the kernel with calls of all stages; the name of an i1: whether one of them returned a flag."""
        body = self.body
        body.lines[:] = self._kernel
        given = ", ".join(f"ptr {p}" for p in [*self._pointers, *self.memory.values()])
        flags = "0"
        for k in (*range(self._last, self.count), *range(self._last)):
            function = body.load(body.at(f"@{TABLE}", k, "ptr"), "ptr")
            flags = body.op(f"or i64 {flags}, {body.op(f'call i64 {function}({given})')}")
        return body.op(f"icmp ne i64 {flags}, 0")
