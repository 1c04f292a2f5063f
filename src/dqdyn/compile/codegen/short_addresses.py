"""Shorter code for x86: places in memory that are used together are addressed from a pointer in their middle.

Code for one state, and a block of a batch, is as long as the program and runs once, so the processor has to bring all
of it from the second level of its caches, 16 bytes a cycle: the length of the code is its time. An instruction on
memory holds the distance from a pointer in one byte if it is small, else in four. So memory is cut into windows that
one byte spans, and there are pointers to the middle of those that are used soon. Of several, that which is used again
last gives way, as in :mod:`dqdyn.compile.codegen.register_plan`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

_REACH = 128  # bytes: what a signed byte says
_WIDE_REACH = 64 * _REACH  # with vectors of eight, which count in their own size
_POINTERS = 8  # in registers at the same time, of 16 that include those to inputs and results
_FEWEST = 5  # uses of a pointer: to compute it takes the bytes that two or three save
_WIDE = "<8 x double>"
_SIZES = {"double": 8, "<2 x double>": 16, "<4 x double>": 32, _WIDE: 64}
_ADDRESS = re.compile(
    r" = getelementptr (double|<[248] x double>), ptr (%(?:scratch|waiting|lanes|sines|out|in)\d*), i64 (\d+)\n"
)
"""The end of a line that computes an address by a constant."""
_BORDER = re.compile(r"\n(?=[^ \n])([^\n]*)")  # a line that is no instruction: a label, the end of a function, …
_NEVER = 1 << 60

_Access = tuple[int, int, int, tuple[str, int]]
"""Where in the text an address is computed, from and to; how far it is behind the middle of a window; the window, which
is a pointer and the bytes from there to its middle."""


def short_addresses(text: str) -> str:
    """A text of IR with other addresses of the same places."""
    pieces: list[str] = []
    done = number = 0
    for start, end in _runs(text):
        accesses = list(_accesses(text, start, end))
        for place, until, new in _changes(text, accesses, number):
            pieces += [text[done:place], new]
            done = until
        number += len(accesses)
    return "".join([*pieces, text[done:]])


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Parts of a text that are executed from their beginning on, without a branch into them."""
    start = 0
    for border in _BORDER.finditer(text):
        # Where a program is cut into basic blocks, each is reached from the one before it alone.
        if not text.endswith(f"  br i1 %go, label %{border[1][:-1]}, label %stop", start, border.start()):
            yield start, border.start()
            start = border.start()
    yield start, len(text)


def _accesses(text: str, start: int, end: int) -> Iterator[_Access]:
    """The accesses by constants that are beyond the reach of their pointers."""
    for found in _ADDRESS.finditer(text, start, end):
        kind, pointer, index = found.groups()
        reach, offset = _WIDE_REACH if kind == _WIDE else _REACH, int(index) * _SIZES[kind]
        if offset >= reach:
            middle = offset - offset % (2 * reach) + reach
            yield *found.span(), offset - middle, (pointer, middle)


def _changes(text: str, accesses: list[_Access], number: int) -> Iterator[tuple[int, int, str]]:
    """What stands in place of which part of a text; pointers are numbered from ``number`` on."""
    turns: dict[tuple[str, int], list[int]] = defaultdict(list)  # of each window, the next one last
    for turn in range(len(accesses) - 1, -1, -1):
        turns[accesses[turn][3]].append(turn)
    held: dict[tuple[str, int], str] = {}
    next_use = {window: mine[-1] for window, mine in turns.items()}
    for start, end, offset, window in accesses:
        mine = turns[window]
        turn = mine.pop()
        next_use[window] = mine[-1] if mine else _NEVER
        name = held.get(window)
        if name is None:
            if len(mine) + 1 < _FEWEST:
                continue
            if len(held) == _POINTERS:
                furthest = max(held, key=next_use.__getitem__)
                if next_use[furthest] < mine[1 - _FEWEST]:
                    continue
                del held[furthest]
            name = held[window] = f"%near{number + turn}"
            line = text.rfind("\n", 0, start) + 1
            # LLVM, which would else add the constants up again, does not know what this empty piece of assembly does.
            new = f"  {name}_at = getelementptr i8, ptr {window[0]}, i64 {window[1]}\n"
            yield line, line, f'{new}  {name} = call ptr asm "", "=r,0"(ptr {name}_at)\n'
        yield start, end, f" = getelementptr i8, ptr {name}, i64 {offset}\n"
