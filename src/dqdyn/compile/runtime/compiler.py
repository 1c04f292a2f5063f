"""Modules of IR to object code, on all cores.

LLVM itself admits many threads, one context and target each; llvmlite holds one lock during every call. The one call
that takes long is therefore made without it, where llvmlite says which library it has loaded, and with it elsewhere.

Whoever compiles holds :data:`~dqdyn.compile.runtime.process_lock.LOCK` until all threads have finished, so that no
child process is forked meanwhile; the threads themselves never take it.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from dqdyn.compile.codegen.ir import DECLARATIONS, module
from dqdyn.compile.codegen.short_addresses import short_addresses
from dqdyn.compile.runtime.processor import Machine

_TURN = 5e-4  # s after which threads that compile, and need the interpreter for moments, may have their turn
_QUICK = 300_000  # lines of IR after which quick compilation matters more than speed


def target_machine(host: Machine, optimisation: int, features: str) -> Any:
    """A target for code that addresses its data relative to itself: half as long as with absolute addresses."""
    import llvmlite.binding as llvm

    return llvm.Target.from_triple(host.triple).create_target_machine(
        cpu=host.cpu, features=features, opt=optimisation, jit=True, codemodel="small", reloc="pic"
    )


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Compilation:
    """Modules on their way to object code; ``seconds`` of processor time, once they have arrived.

    The first module to be added may be compiled while others are emitted. Without an ``executor`` it has threads of its
    own, which end with it: no forked child waits for them in vain. They leave one core to the thread that emits, which
    takes part once it is done.
    """

    def __init__(self, host: Machine, features: str, executor: Executor | None = None) -> None:
        self._host, self._features, self._executor = host, features, executor
        self._own: ThreadPoolExecutor | None = None
        self._former = 0.0  # s until a thread has its turn
        self._first: Future[tuple[bytes, float]] | None = None
        self._parts: list[Future[tuple[bytes, float]]] = []
        self._jobs: list[tuple[str, Machine, str, int]] = []
        self._lines = 0
        self.seconds = 0.0

    def add(self, ir: str) -> None:
        """Begin to compile a module on another thread."""
        if self._executor is None:
            self._executor = self._own = ThreadPoolExecutor(max(1, cores() - 1), "dqdyn-compile")
            self._former = sys.getswitchinterval()
            sys.setswitchinterval(min(_TURN, self._former))
        self._jobs.append(self._job(ir, len(self._parts) + 1))
        self._parts.append(self._executor.submit(_compiled, *self._jobs[-1]))

    def add_first(self, ir: str) -> None:
        """Begin to compile, on another thread, the module that is the first of the objects."""
        assert self._executor is not None
        self._first = self._executor.submit(_compiled, *self._job(ir, 0))

    def objects(self, first: str) -> list[bytes]:
        """The object code of the first module, which this thread compiles unless another does, and of all others."""
        try:
            own = _compiled(*self._job(first, 0)) if self._first is None else self._first.result()
            # The last modules first: threads take them in order.
            taken = {k: _compiled(*self._jobs[k]) for k in reversed(self._unbegun()) if self._parts[k].cancel()}
            done = [own, *(taken.get(k) or part.result() for k, part in enumerate(self._parts))]
        finally:
            self.close()
        self.seconds = sum(seconds for _, seconds in done)
        return [code for code, _ in done]

    def _unbegun(self) -> range:
        """Modules that this thread may take from its own executor."""
        return range(len(self._parts) if self._own is not None and cores() > 1 else 0)

    def close(self) -> None:
        """End the threads; what has not begun is left out."""
        if self._own is not None:
            self._own.shutdown(wait=True, cancel_futures=True)
            if sys.getswitchinterval() <= _TURN:  # else somebody has set it meanwhile
                sys.setswitchinterval(self._former)

    def _job(self, ir: str, number: int) -> tuple[str, Machine, str, int]:
        self._lines += ir.count("\n")
        text = module(ir, number)
        if self._host.is_x86:
            text = short_addresses(text)
        if number and _admits_gaps():
            text = text.replace("%t", "%")  # of stages, which have no other names that begin so
        return text, self._host, self._features, 0 if self._lines > _QUICK else 1


def _compiled(ir: str, host: Machine, features: str, optimisation: int) -> tuple[bytes, float]:
    import llvmlite.binding as llvm

    start = time.thread_time()
    _refuse_names(ir)
    module = llvm.parse_assembly(ir, llvm.create_context())
    module.verify()
    code = _emitted(target_machine(host, optimisation, features), module)
    return code, time.thread_time() - start


def _refuse_names(ir: str) -> None:
    """An error where code refers to functions elsewhere by name: code and data are adjacent, other libraries are not.

    The text is asked, not LLVM: each question to it would wait for the thread that emits further code.
    """
    if ir.count("\ndeclare ") == _DECLARED:
        return
    for name in re.findall(r"^declare [^@]*@([-\w.$]+)", ir, re.MULTILINE):
        if not name.startswith("llvm.") or ".mem" in name:
            raise RuntimeError(f"emitted code must not call {name!r} by name.")


_DECLARED = DECLARATIONS.count("\ndeclare ")


@lru_cache(maxsize=1)
def _admits_gaps() -> bool:
    """Whether values may be numbered with gaps, as in later versions: numbers are parsed quicker than names."""
    import llvmlite.binding as llvm

    try:
        llvm.parse_assembly("define i64 @f(i64 %x) {\n  %7 = add i64 %x, 1\n  ret i64 %7\n}", llvm.create_context())
    except RuntimeError:
        return False
    return True


def _emitted(target: Any, module: Any) -> bytes:
    """``target.emit_object(module)``, which other threads may do at the same time."""
    emit = _unlocked_emit()
    if emit is None:
        return bytes(target.emit_object(module))
    from llvmlite.binding import ffi

    with ffi.OutputString() as problem:
        buffer = emit(target, module, 1, problem)
        if not buffer:
            raise RuntimeError(str(problem))
    try:
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


@lru_cache(maxsize=1)
def _unlocked_emit() -> Any:
    """The function of llvmlite's library behind ``emit_object``; None where it is not found."""
    try:
        from llvmlite.binding import ffi

        emit = ctypes.CDLL(ffi.lib._name).LLVMPY_TargetMachineEmitToMemory
        text = ctypes.POINTER(ctypes.c_char_p)
        emit.argtypes = [ffi.LLVMTargetMachineRef, ffi.LLVMModuleRef, ctypes.c_int, text]
        emit.restype = ffi.LLVMMemoryBufferRef
    except (AttributeError, ImportError, OSError):
        return None
    return emit
