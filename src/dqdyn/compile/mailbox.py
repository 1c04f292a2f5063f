"""How threads get pieces of a batch without the interpreter: a few functions in LLVM IR on words of shared memory.

A worker looks at its mailbox, a word of memory. A caller puts the address of a task there; the worker takes it, and
then pieces of the batch, one after the other, as does the caller. None of them needs Python's lock for it. A worker
that finds nothing for a while notes that it is asleep and returns to Python, where it waits until somebody wakes it.
"""

from __future__ import annotations

import ctypes
import platform
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

IDLE, ASLEEP, BUSY, STOP = range(4)
"""What a mailbox holds if not the address of a task."""

NEXT, COUNT, TABLE, ARGUMENTS, JOB_SIZE = 0, 8, 9, 10, 16
"""Words of a job: the next piece, alone in its cache line; how many there are; where they are; what they work on."""

FUNCTION, JOB, TASK_SIZE = 0, 1, 2
"""Words of a task, a worker's part in a job: the code to run, and the job."""

START, END, ANSWER, PIECE_SIZE = 0, 1, 2, 3
"""Words of a piece: rows from … to, and what the code answered."""


def _breath() -> tuple[str, str]:
    """Declaration and call of what a waiting loop does to leave the core to others: nothing where it has no name."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
    if platform.machine().lower() in ("aarch64", "arm64"):
        return "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
    return "", ""


def _word(pointer: str, index: int, name: str) -> list[str]:
    """``name`` is the word at an index from a pointer."""
    return [
        f"  {name}_at = getelementptr i64, ptr {pointer}, i64 {index}",
        f"  {name} = load i64, ptr {name}_at, align 8",
    ]


def _ir() -> str:
    declared, breath = _breath()
    return "\n".join(
        [
            declared,
            # Work on pieces until there are no more.
            "define void @take(ptr %task) {",
            "entry:",
            *_word("%task", FUNCTION, "%code"),
            "  %function = inttoptr i64 %code to ptr",
            *_word("%task", JOB, "%job_word"),
            "  %job = inttoptr i64 %job_word to ptr",
            *_word("%job", COUNT, "%count"),
            *_word("%job", TABLE, "%table_word"),
            "  %table = inttoptr i64 %table_word to ptr",
            *_word("%job", ARGUMENTS, "%arguments_word"),
            "  %arguments = inttoptr i64 %arguments_word to ptr",
            "  br label %again",
            "again:",
            f"  %next = getelementptr i64, ptr %job, i64 {NEXT}",
            "  %i = atomicrmw add ptr %next, i64 1 monotonic, align 8",
            "  %more = icmp ult i64 %i, %count",
            "  br i1 %more, label %work, label %done",
            "work:",
            f"  %place = mul i64 %i, {PIECE_SIZE}",
            "  %piece = getelementptr i64, ptr %table, i64 %place",
            *_word("%piece", START, "%start"),
            *_word("%piece", END, "%end"),
            "  %answer = call i64 %function(ptr %arguments, i64 %start, i64 %end)",
            f"  %answer_at = getelementptr i64, ptr %piece, i64 {ANSWER}",
            "  store i64 %answer, ptr %answer_at, align 8",
            "  br label %again",
            "done:",
            "  ret void",
            "}",
            # A worker: do what comes; back to Python to sleep (1), or to end (0).
            "define i64 @serve(ptr %mailbox, i64 %patience) {",
            "entry:",
            "  br label %fresh",
            "fresh:",
            "  br label %look",
            "look:",
            "  %looks = phi i64 [ 0, %fresh ], [ %further, %nothing ], [ %looks, %late ]",
            "  %found = load atomic i64, ptr %mailbox acquire, align 8",
            f"  %is_task = icmp ugt i64 %found, {STOP}",
            "  br i1 %is_task, label %claim, label %other",
            "other:",
            f"  %end = icmp eq i64 %found, {STOP}",
            "  br i1 %end, label %leave, label %wait",
            "wait:",
            "  %further = add i64 %looks, 1",
            "  %tired = icmp ugt i64 %further, %patience",
            "  br i1 %tired, label %late, label %nothing",
            "nothing:",
            f"  {breath}",
            "  br label %look",
            "late:",
            f"  %slept = cmpxchg ptr %mailbox, i64 {IDLE}, i64 {ASLEEP} acq_rel acquire, align 8",
            "  %asleep = extractvalue { i64, i1 } %slept, 1",
            "  br i1 %asleep, label %sleep, label %look",
            "claim:",
            f"  %taken = cmpxchg ptr %mailbox, i64 %found, i64 {BUSY} acq_rel acquire, align 8",
            "  %mine = extractvalue { i64, i1 } %taken, 1",
            "  br i1 %mine, label %run, label %fresh",
            "run:",
            "  %task = inttoptr i64 %found to ptr",
            "  call void @take(ptr %task)",
            f"  store atomic i64 {IDLE}, ptr %mailbox release, align 8",
            "  br label %fresh",
            "leave:",
            "  ret i64 0",
            "sleep:",
            "  ret i64 1",
            "}",
            # A caller: put something into a mailbox; what was there.
            "define i64 @post(ptr %mailbox, i64 %what) {",
            "  %before = atomicrmw xchg ptr %mailbox, i64 %what acq_rel, align 8",
            "  ret i64 %before",
            "}",
            # A caller, after its own part: 1 once a worker is done with a task, or will not begin with it any more.
            "define i64 @finish(ptr %mailbox, i64 %task, i64 %patience) {",
            "entry:",
            f"  %back = cmpxchg ptr %mailbox, i64 %task, i64 {IDLE} acq_rel acquire, align 8",
            "  %unread = extractvalue { i64, i1 } %back, 1",
            "  br i1 %unread, label %done, label %look",
            "look:",
            "  %looks = phi i64 [ 0, %entry ], [ %further, %wait ]",
            "  %found = load atomic i64, ptr %mailbox acquire, align 8",
            f"  %busy = icmp eq i64 %found, {BUSY}",
            "  br i1 %busy, label %wait, label %done",
            "wait:",
            f"  {breath}",
            "  %further = add i64 %looks, 1",
            "  %tired = icmp ugt i64 %further, %patience",
            "  br i1 %tired, label %still, label %look",
            "done:",
            "  ret i64 1",
            "still:",
            "  ret i64 0",
            "}",
            "",
        ]
    )


@dataclass(frozen=True)
class Mail:
    """The functions as Python calls them; ``take``, ``serve`` and ``finish`` let other threads of Python run."""

    take: Any
    serve: Any
    post: Any
    finish: Any


@lru_cache(maxsize=1)
def mail() -> Mail:
    """The code, made at first use, and never freed: threads may be in it until the very end of the program."""
    from dqdyn.compile.native import Library

    library = Library(_ir(), "mailbox 1")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    pointer, word = ctypes.c_void_p, ctypes.c_int64
    return Mail(
        ctypes.CFUNCTYPE(None, pointer)(library.address("take")),
        ctypes.CFUNCTYPE(word, pointer, word)(library.address("serve")),
        ctypes.PYFUNCTYPE(word, pointer, word)(library.address("post")),
        ctypes.CFUNCTYPE(word, pointer, word, word)(library.address("finish")),
    )
