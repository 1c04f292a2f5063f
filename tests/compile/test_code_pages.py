"""Code that is moved to pages that bear each other stays where it is for its callers, and does the same."""

from __future__ import annotations

import ctypes
import importlib.util
import mmap
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compile_tools import assert_same_bits
from test_batch_results import INPUTS, made

from dqdyn.compile.codegen.ir import BEGIN, END
from dqdyn.compile.codegen.kernels import scalar_kernel
from dqdyn.compile.runtime import code_pages, native
from dqdyn.compile.runtime.native import Library
from dqdyn.compile.trace.interpret import interpret

pytestmark = pytest.mark.skipif(not code_pages.is_supported(), reason="code stays where it is here")

PROGRAM = made(1, 3000, 60)  # of some pages of code
X = np.random.default_rng(1).normal(size=INPUTS)
WANTED = interpret(PROGRAM, [[float(x) for x in X]])


@pytest.fixture(autouse=True)
def _own_arena(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    arena = code_pages._Arena()
    monkeypatch.setattr(code_pages, "_ARENA", arena)
    yield
    if arena.left and arena.owner == os.getpid():
        code_pages._libc().munmap(arena.start, arena.left)


def loaded() -> Library:
    return Library(scalar_kernel(PROGRAM, False, False), "a library for code pages")


def assert_right(library: Library) -> None:
    out = np.full(PROGRAM.size, np.nan)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(library.address("scalar"))
    assert function(X.ctypes.data, out.ctypes.data) == 0
    assert_same_bits(out, WANTED)


def frames(start: int, count: int) -> list[int]:
    """Numbers of physical pages; zeros where the system does not tell."""
    with Path("/proc/self/pagemap").open("rb") as file:
        file.seek(start // mmap.PAGESIZE * 8)
        return [int(entry) & ((1 << 55) - 1) for entry in np.frombuffer(file.read(8 * count), dtype=np.uint64)]


def range_of(address: int) -> tuple[int, int]:
    """The memory with code around an address, as the system sees it."""
    maps = Path("/proc/self/maps").read_text()
    found = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) r-xp", maps, re.MULTILINE)]
    return next(((start, end) for start, end in found if start <= address < end), (0, 0))


def borders(library: Library) -> list[tuple[int, int]]:
    return [(library.address(BEGIN), library.address(END))]


def test_code_is_in_other_pages_and_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    bring, moved = code_pages.bring_together, []

    def compared(ranges: Any) -> None:
        ((first, last),) = ranges
        start, count = first & -mmap.PAGESIZE, (last >> 12) - (first >> 12) + 1
        content, before = ctypes.string_at(start, count * mmap.PAGESIZE), frames(start, count)
        bring(ranges)
        assert ctypes.string_at(start, count * mmap.PAGESIZE) == content
        moved.append((before, frames(start, count)))

    monkeypatch.setattr(native, "bring_together", compared)
    for _ in range(20):
        assert_right(loaded())
    assert len(moved) == 20
    for before, after in moved:
        assert len(before) > 3
        assert not any(before) or not set(before) & set(after)


def slow(monkeypatch: pytest.MonkeyPatch, pairs: set[frozenset[int]]) -> None:
    """Let some pairs of pages push each other out, and no others."""

    def duration(arena: code_pages._Arena, page: int, other: int) -> int:
        return 100 * max(1, arena._usual) if frozenset((page, other)) in pairs else 1

    monkeypatch.setattr(code_pages._Arena, "_time", duration)


def test_pages_that_push_each_other_out_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = code_pages._ARENA
    first = arena.page([])
    assert first is not None
    second, third = first + mmap.PAGESIZE, first + 2 * mmap.PAGESIZE
    slow(monkeypatch, {frozenset((first, second))})
    assert arena.page([first]) == third
    assert (frames(second, 1), range_of(second)) == ([0], (0, 0))  # given back
    slow(monkeypatch, {frozenset((first, third + k * mmap.PAGESIZE)) for k in range(100)})
    assert arena.page([first]) is not None  # at last any of them
    monkeypatch.undo()
    for page in (first, third):
        code_pages._libc().munmap(page, mmap.PAGESIZE)


def test_code_goes_around_pages_that_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []

    def alternating(arena: code_pages._Arena, page: int, other: int) -> int:
        chosen.append(page)
        return 100 * max(1, arena._usual) if page // mmap.PAGESIZE % 2 else 1

    monkeypatch.setattr(code_pages._Arena, "_time", alternating)
    library = loaded()
    assert_right(library)
    assert len(chosen) > 10


def test_jumps_visit_every_line_and_come_back() -> None:
    arena = code_pages._ARENA
    page = arena.page([])
    assert page is not None
    for _ in range(3):
        assert arena._time(page, page) > 0
    assert len(code_pages._JUMPS) == mmap.PAGESIZE
    starts = [code_pages._JUMPS[k] for k in range(0, mmap.PAGESIZE, 64)]
    assert starts == [0xEB] * 63 + [0xC3]
    assert all(k + 2 + code_pages._JUMPS[k + 1] == k + 64 for k in range(0, mmap.PAGESIZE - 64, 64))


def test_code_cannot_be_written() -> None:
    library = loaded()
    start, _ = range_of(library.address("scalar"))
    (flags,) = re.findall(rf"^{start:x}-[0-9a-f]+ (\S+)", Path("/proc/self/maps").read_text(), re.MULTILINE)
    assert flags == "r-xp"


def test_the_memory_of_closed_libraries_is_free() -> None:
    library = loaded()
    address = library.address("scalar")
    assert range_of(address) != (0, 0)
    del library
    native._close_abandoned()
    assert range_of(address) == (0, 0)


@pytest.mark.parametrize("name", ["mmap", "mprotect", "mremap", "madvise"])
def test_code_stays_where_a_call_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failed = code_pages._libc(), []

    def fail(*given: Any) -> int:
        failed.append(name)
        if name == "mremap":  # the kernel takes away what is there before it moves anything
            real.munmap(given[-1], given[1])
        return -1 if name in ("mprotect", "madvise") else int(code_pages._FAILED or 0)

    names = ("mmap", "mprotect", "mremap", "madvise", "munmap")
    fake = SimpleNamespace(**{n: getattr(real, n) for n in names} | {name: fail})
    monkeypatch.setattr(code_pages, "_libc", lambda: fake)
    for _ in range(3):
        assert_right(loaded())
    assert failed


def test_a_child_process_has_pages_of_its_own() -> None:
    loaded()
    arena = code_pages._ARENA
    mine = arena.start
    assert arena.left > 0
    arena.owner += 1  # as if this were a child, which shares the pages of its parent until one of them writes
    other = arena.page([])
    assert other is not None
    assert abs(other - mine) >= mmap.PAGESIZE
    assert arena.owner == os.getpid()
    code_pages._libc().munmap(mine, mmap.PAGESIZE)


def test_pages_come_from_another_large_one_where_one_is_used_up() -> None:
    arena = code_pages._ARENA
    first = arena.page([])
    assert first is not None
    arena.left = mmap.PAGESIZE
    last, next_one = arena.page([]), arena.page([])
    assert last == first + mmap.PAGESIZE
    assert next_one is not None
    assert next_one & -code_pages._LARGE != first & -code_pages._LARGE
    assert range_of(first - mmap.PAGESIZE) == (0, 0)  # the page that called the others is free
    assert_right(loaded())
    for page in (first, last, next_one):
        code_pages._libc().munmap(page, mmap.PAGESIZE)


def test_all_code_of_a_module_is_between_its_borders() -> None:
    library = loaded()
    ((begin, end),) = borders(library)
    assert begin < library.address("scalar") < end
    start, stop = range_of(begin)
    assert start <= begin < start + mmap.PAGESIZE
    assert stop - mmap.PAGESIZE <= end < stop


def test_only_pages_of_code_are_moved() -> None:
    library = loaded()
    (mine,) = borders(library)
    arena = code_pages._ARENA
    before = arena.start
    code_pages.bring_together([(mine[0], mine[0] + 8), (mine[0], mine[0] + 2 * code_pages._LARGE), (0, 0)])
    assert arena.start == before  # a page alone, more than there can be, and nothing
    code_pages.bring_together([mine])
    assert arena.start - before >= (mine[1] & -mmap.PAGESIZE) - (mine[0] & -mmap.PAGESIZE) + mmap.PAGESIZE
    assert_right(library)


def test_the_module_can_be_imported_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in vars(mmap) if name.startswith(("PROT_", "MAP_", "MADV_"))]:
        monkeypatch.delattr(mmap, name)
    spec = importlib.util.spec_from_file_location("code_pages_elsewhere", code_pages.__file__)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    code_pages.is_supported.cache_clear()
    assert not code_pages.is_supported()
    monkeypatch.undo()
    code_pages.is_supported.cache_clear()
