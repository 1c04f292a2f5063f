"""How threads share a batch without the interpreter: a few functions in LLVM IR on words of shared memory.

Each worker looks at its mailbox, a word of memory. A caller cuts a batch into parts, one per thread, and puts the
address of a task into the mailboxes of workers that are free; then all of them take pieces of their own part, and when
that is done, pieces that others have left. None of them needs Python's lock for it. A worker that finds nothing for a
while notes that it is asleep, and waits until somebody wakes it.
"""

from __future__ import annotations

import ctypes
import platform
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

IDLE, ASLEEP, BUSY, STOP = range(4)
"""What a mailbox holds if not the address of a task."""

MOST = 256
"""Mailboxes."""

GROW = 1 << 62
"""In the answer: there were too few workers that were free, and there may be more of them."""

COUNT, LIMIT, PATIENCE, SLEEP, DOZE, WAKE, NEVER, POOL_SIZE = range(8)
"""Words of the pool: how many workers there are and may be; how often callers look before they doze; the addresses of
what takes a lock, takes it within a time, and opens it; a lock that is never open."""

LOCK, LINE = 1, 8
"""Words of a mailbox, which fills a cache line: after the first one the lock on which the worker sleeps."""

# A job: how many parts it has, what its code works on, of how many rows a piece is a multiple, and all answers; the
# parts follow, each in a line of its own: its next row, and where it ends.
_PARTS, _ARGUMENTS, _GRAIN, _ANSWER = range(4)
_NEXT, _END = range(2)
# A task, what a thread does for a job: its code, the job, the part to begin with, whether it is done, and for whom.
_CODE, _JOB, _OWN, _DONE, _MAILBOX = range(5)


def _breath() -> tuple[str, str]:
    """Declaration and call of what a waiting loop does to leave the core to others: nothing where it has no name."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
    if platform.machine().lower() in ("aarch64", "arm64"):
        return "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
    return "", ""


def _word(pointer: str, index: int, name: str, kind: str = "i64") -> list[str]:
    """``name`` is the word at an index from a pointer."""
    return [
        f"  {name}_at = getelementptr i64, ptr {pointer}, i64 {index}",
        f"  {name} = load {kind}, ptr {name}_at, align 8",
    ]


def _put(pointer: str, index: int, value: str, name: str) -> list[str]:
    """A word at an index from a pointer gets a value; ``name`` is one that is not in use."""
    return [f"  {name} = getelementptr i64, ptr {pointer}, i64 {index}", f"  store {value}, ptr {name}, align 8"]


def _head() -> list[str]:
    return [
        _breath()[0],
        "declare i64 @llvm.umin.i64(i64, i64)",
        f"@pool = dso_local global [{POOL_SIZE} x i64] zeroinitializer, align 64",
        f"@mailboxes = dso_local global [{MOST * LINE} x i64] zeroinitializer, align 64",
    ]


def _take() -> list[str]:
    """Work on the pieces of one's own part until there are no more, then on those that others have left."""
    return [
        "define internal void @take(ptr %task) noinline {",
        "entry:",
        *_word("%task", _CODE, "%code", "ptr"),
        *_word("%task", _JOB, "%job", "ptr"),
        *_word("%task", _OWN, "%own"),
        *_word("%job", _PARTS, "%parts"),
        *_word("%job", _ARGUMENTS, "%arguments", "ptr"),
        *_word("%job", _GRAIN, "%grain"),
        f"  %answers = getelementptr i64, ptr %job, i64 {_ANSWER}",
        "  br label %part",
        "part:",
        "  %visited = phi i64 [ 0, %entry ], [ %visits, %empty ]",
        "  %turn = phi i64 [ %own, %entry ], [ %following, %empty ]",
        "  %number = add i64 %turn, 1",
        f"  %line = mul i64 %number, {LINE}",
        "  %next = getelementptr i64, ptr %job, i64 %line",
        *_word("%next", _END, "%end"),
        "  %first = load atomic i64, ptr %next monotonic, align 8",
        "  br label %look",
        "look:",
        "  %start = phi i64 [ %first, %part ], [ %found, %claim ], [ %stop, %work ], [ %stop, %note ]",
        "  %some = icmp ult i64 %start, %end",
        "  br i1 %some, label %claim, label %empty",
        "claim:",  # a quarter of what is left: few pieces, and nobody waits long for the last
        "  %left = sub i64 %end, %start",
        "  %quarter = lshr i64 %left, 2",
        "  %grains = udiv i64 %quarter, %grain",
        "  %more_grains = add i64 %grains, 1",
        "  %size = mul i64 %more_grains, %grain",
        "  %far = add i64 %start, %size",
        "  %stop = call i64 @llvm.umin.i64(i64 %far, i64 %end)",
        "  %claimed = cmpxchg ptr %next, i64 %start, i64 %stop monotonic monotonic, align 8",
        "  %found = extractvalue { i64, i1 } %claimed, 0",
        "  %mine = extractvalue { i64, i1 } %claimed, 1",
        "  br i1 %mine, label %work, label %look",
        "work:",
        "  %answer = call i64 %code(ptr %arguments, i64 %start, i64 %stop)",
        "  %plain = icmp eq i64 %answer, 0",
        "  br i1 %plain, label %look, label %note",
        "note:",
        "  %noted = atomicrmw or ptr %answers, i64 %answer monotonic, align 8",
        "  br label %look",
        "empty:",
        "  %visits = add i64 %visited, 1",
        "  %around = icmp ult i64 %number, %parts",
        "  %following = select i1 %around, i64 %number, i64 0",
        "  %others = icmp ult i64 %visits, %parts",
        "  br i1 %others, label %part, label %done",
        "done:",
        "  ret void",
        "}",
    ]


def _serve() -> list[str]:
    """A worker: do what comes, sleep when nothing does, return to end."""
    return [
        "define void @serve(ptr %mailbox, i64 %patience) {",
        "entry:",
        *_word("%mailbox", LOCK, "%lock", "ptr"),
        *_word("@pool", SLEEP, "%sleep", "ptr"),
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
        f"  {_breath()[1]}",
        "  br label %look",
        "late:",
        f"  %slept = cmpxchg ptr %mailbox, i64 {IDLE}, i64 {ASLEEP} acq_rel acquire, align 8",
        "  %asleep = extractvalue { i64, i1 } %slept, 1",
        "  br i1 %asleep, label %rest, label %look",
        "rest:",
        "  %woken = call i32 %sleep(ptr %lock, i32 1)",
        "  br label %fresh",
        "claim:",
        f"  %taken = cmpxchg ptr %mailbox, i64 %found, i64 {BUSY} acq_rel acquire, align 8",
        "  %mine = extractvalue { i64, i1 } %taken, 1",
        "  br i1 %mine, label %run, label %fresh",
        "run:",
        "  %task = inttoptr i64 %found to ptr",
        "  call void @take(ptr %task)",
        # Free first: whoever sees the task done may have the next one.
        f"  store atomic i64 {IDLE}, ptr %mailbox release, align 8",
        f"  %done = getelementptr i64, ptr %task, i64 {_DONE}",
        "  store atomic i64 1, ptr %done release, align 8",
        "  br label %fresh",
        "leave:",
        "  ret void",
        "}",
    ]


def _post() -> list[str]:
    """Put something into the mailbox of a worker that is free, and wake it if needed; whether it was free."""
    return [
        "define i64 @post(ptr %mailbox, i64 %what) {",
        "  %state = load atomic i64, ptr %mailbox acquire, align 8",
        f"  %free = icmp ule i64 %state, {ASLEEP}",
        "  br i1 %free, label %try, label %no",
        "try:",
        "  %posted = cmpxchg ptr %mailbox, i64 %state, i64 %what acq_rel acquire, align 8",
        "  %there = extractvalue { i64, i1 } %posted, 1",
        "  br i1 %there, label %yes, label %no",
        "yes:",
        f"  %asleep = icmp eq i64 %state, {ASLEEP}",
        "  br i1 %asleep, label %up, label %done",
        "up:",
        *_word("%mailbox", LOCK, "%lock", "ptr"),
        *_word("@pool", WAKE, "%wake", "ptr"),
        "  call void %wake(ptr %lock)",
        "  br label %done",
        "done:",
        "  ret i64 1",
        "no:",
        "  ret i64 0",
        "}",
    ]


def _finish() -> list[str]:
    """Look at a word some times until it is not zero; wait for a task, which is taken back where nobody has begun."""
    return [
        "define i64 @spin(ptr %word, i64 %times) {",
        "entry:",
        "  br label %look",
        "look:",
        "  %looks = phi i64 [ 0, %entry ], [ %further, %breathe ]",
        "  %state = load atomic i64, ptr %word acquire, align 8",
        "  %ready = icmp ne i64 %state, 0",
        "  br i1 %ready, label %end, label %not_yet",
        "not_yet:",
        "  %further = add i64 %looks, 1",
        "  %tired = icmp ugt i64 %further, %times",
        "  br i1 %tired, label %end, label %breathe",
        "breathe:",
        f"  {_breath()[1]}",
        "  br label %look",
        "end:",
        "  ret i64 %state",
        "}",
        "define internal void @finish(ptr %task) {",
        "entry:",
        *_word("%task", _MAILBOX, "%mailbox", "ptr"),
        "  %word = ptrtoint ptr %task to i64",
        f"  %back = cmpxchg ptr %mailbox, i64 %word, i64 {IDLE} acq_rel acquire, align 8",
        "  %unread = extractvalue { i64, i1 } %back, 1",
        "  br i1 %unread, label %end, label %wait",
        "wait:",
        f"  %done = getelementptr i64, ptr %task, i64 {_DONE}",
        *_word("@pool", PATIENCE, "%patience"),
        "  %state = call i64 @spin(ptr %done, i64 %patience)",
        "  %ready = icmp ne i64 %state, 0",
        "  br i1 %ready, label %end, label %doze",
        "doze:",  # perhaps the worker needs this core: leave it for some microseconds
        *_word("@pool", DOZE, "%sleep", "ptr"),
        *_word("@pool", NEVER, "%never", "ptr"),
        "  %nothing = call i32 %sleep(ptr %never, i64 50, i32 0)",
        "  br label %wait",
        "end:",
        "  ret void",
        "}",
    ]


def _share() -> list[str]:
    """Rows of a job on some threads, of which the caller is one; all answers of ``codes`` together, and ``GROW``."""
    return [
        "define i64 @share(ptr %codes, i64 %threads, ptr %arguments, i64 %rows, i64 %grain) {",
        "entry:",
        "  %above = add i64 %rows, %grain",
        "  %filled = sub i64 %above, 1",
        "  %pieces = udiv i64 %filled, %grain",
        "  %parts = call i64 @llvm.umin.i64(i64 %threads, i64 %pieces)",
        "  %lines = add i64 %parts, 1",
        f"  %job_size = mul i64 %lines, {LINE}",
        "  %job = alloca i64, i64 %job_size, align 64",
        f"  %tasks_size = mul i64 %parts, {LINE}",
        "  %tasks = alloca i64, i64 %tasks_size, align 64",
        *_put("%job", _PARTS, "i64 %parts", "%to_parts"),
        *_put("%job", _ARGUMENTS, "ptr %arguments", "%to_arguments"),
        *_put("%job", _GRAIN, "i64 %grain", "%to_grain"),
        *_put("%job", _ANSWER, "i64 0", "%to_answer"),
        "  br label %cut",
        "cut:",
        "  %k = phi i64 [ 0, %entry ], [ %k_next, %cut ]",
        "  %from = phi i64 [ 0, %entry ], [ %until, %cut ]",
        "  %k_next = add i64 %k, 1",
        "  %share = mul i64 %pieces, %k_next",
        "  %piece = udiv i64 %share, %parts",
        "  %row = mul i64 %piece, %grain",
        "  %until = call i64 @llvm.umin.i64(i64 %row, i64 %rows)",
        f"  %line = mul i64 %k_next, {LINE}",
        "  %part = getelementptr i64, ptr %job, i64 %line",
        *_put("%part", _NEXT, "i64 %from", "%to_next"),
        *_put("%part", _END, "i64 %until", "%to_end"),
        f"  %place = mul i64 %k, {LINE}",
        "  %task = getelementptr i64, ptr %tasks, i64 %place",
        "  %code_at = getelementptr i64, ptr %codes, i64 %k",
        "  %code = load i64, ptr %code_at, align 8",
        *_put("%task", _CODE, "i64 %code", "%to_code"),
        *_put("%task", _JOB, "ptr %job", "%to_job"),
        *_put("%task", _OWN, "i64 %k", "%to_own"),
        *_put("%task", _DONE, "i64 0", "%to_done"),
        "  %more = icmp ult i64 %k_next, %parts",
        "  br i1 %more, label %cut, label %call",
        "call:",
        f"  %count_at = getelementptr i64, ptr @pool, i64 {COUNT}",
        "  %count = load atomic i64, ptr %count_at acquire, align 8",
        "  br label %ask",
        "ask:",
        "  %helpers = phi i64 [ 1, %call ], [ %with, %asked ]",
        "  %worker = phi i64 [ 0, %call ], [ %after, %asked ]",
        "  %wanted = icmp ult i64 %helpers, %parts",
        "  %there = icmp ult i64 %worker, %count",
        "  %both = and i1 %wanted, %there",
        "  br i1 %both, label %one, label %begin",
        "one:",
        f"  %box = mul i64 %worker, {LINE}",
        "  %mailbox = getelementptr i64, ptr @mailboxes, i64 %box",
        f"  %its_place = mul i64 %helpers, {LINE}",
        "  %its_task = getelementptr i64, ptr %tasks, i64 %its_place",
        *_put("%its_task", _MAILBOX, "ptr %mailbox", "%to_mailbox"),
        "  %word = ptrtoint ptr %its_task to i64",
        "  %taken = call i64 @post(ptr %mailbox, i64 %word)",
        "  br label %asked",
        "asked:",
        "  %with = add i64 %helpers, %taken",
        "  %after = add i64 %worker, 1",
        "  br label %ask",
        "begin:",
        *_word("@pool", LIMIT, "%limit"),
        "  %possible = icmp ult i64 %count, %limit",
        "  %short = and i1 %wanted, %possible",
        f"  %grow = select i1 %short, i64 {GROW}, i64 0",
        "  call void @take(ptr %tasks)",
        "  br label %end",
        "end:",
        "  %j = phi i64 [ 1, %begin ], [ %j_next, %wait ]",
        "  %left = icmp ult i64 %j, %helpers",
        "  br i1 %left, label %wait, label %exit",
        "wait:",
        f"  %j_place = mul i64 %j, {LINE}",
        "  %j_task = getelementptr i64, ptr %tasks, i64 %j_place",
        "  call void @finish(ptr %j_task)",
        "  %j_next = add i64 %j, 1",
        "  br label %end",
        "exit:",
        *_word("%job", _ANSWER, "%answer"),
        "  %result = or i64 %answer, %grow",
        "  ret i64 %result",
        "}",
        "",
    ]


@dataclass(frozen=True)
class Mail:
    """The functions as Python calls them, which let other threads of Python run, and the words of the pool.

    ``share(codes, threads, arguments, rows, grain)``: rows of a batch on so many threads. ``codes`` are addresses of
    ``i64 f(ptr arguments, i64 start, i64 end)``, one per thread; the bits of all their answers come back, perhaps with
    ``GROW``. Pieces are multiples of ``grain`` rows.
    """

    share: Any
    serve: Any
    post: Any
    spin: Any
    pool: Any
    mailboxes: int
    share_address: int


@lru_cache(maxsize=1)
def _mail() -> Mail:
    from dqdyn.compile.native import Library

    library = Library("\n".join([*_head(), *_take(), *_serve(), *_post(), *_finish(), *_share()]), "mailbox 2")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # threads may be in it until the very end of the program
    pointer, word = ctypes.c_void_p, ctypes.c_int64
    pool = (word * POOL_SIZE).from_address(library.address("pool"))
    api = ctypes.pythonapi
    for place, function in (
        (SLEEP, api.PyThread_acquire_lock),
        (DOZE, api.PyThread_acquire_lock_timed),
        (WAKE, api.PyThread_release_lock),
    ):
        pool[place] = ctypes.cast(function, pointer).value or 0
    pool[NEVER] = new_lock()
    pool[LIMIT] = MOST
    share = library.address("share")
    return Mail(
        ctypes.CFUNCTYPE(word, pointer, word, pointer, word, word)(share),
        ctypes.CFUNCTYPE(None, pointer, word)(library.address("serve")),
        ctypes.CFUNCTYPE(word, pointer, word)(library.address("post")),
        ctypes.CFUNCTYPE(word, pointer, word)(library.address("spin")),
        pool,
        library.address("mailboxes"),
        share,
    )


_made = threading.Lock()


def mail() -> Mail:
    """The code and its pool, made at first use and never freed."""
    with _made:
        return _mail()


def new_lock() -> int:
    """The address of a lock of the operating system, taken."""
    make, take = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
    make.restype, take.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]
    lock = int(make())
    take(lock, 0)
    return lock
