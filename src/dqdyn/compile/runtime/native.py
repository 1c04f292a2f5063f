"""Machine code in memory: from the cache, or compiled from IR text and then cached."""

from __future__ import annotations

import ctypes
import itertools
import os
import struct
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import lru_cache
from typing import Any

from dqdyn.compile.codegen.ir import ADDRESSES, BEGIN, END, own_name
from dqdyn.compile.codegen.stages import NEXT_MODULE, TABLE, stage_name
from dqdyn.compile.runtime import c_library, cache
from dqdyn.compile.runtime.code_pages import bring_together
from dqdyn.compile.runtime.compiler import Compilation, target_machine
from dqdyn.compile.runtime.process_lock import LOCK
from dqdyn.compile.runtime.processor import Machine, described
from dqdyn.compile.trace.collection import no_collection


@lru_cache(maxsize=1)
def machine() -> Machine:
    """This processor; raises ImportError or OSError where LLVM is unavailable."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    probe = c_library.stack_probe()
    if probe is not None:
        llvm.add_symbol(*probe)
    try:
        features = dict(llvm.get_host_cpu_features())
    except RuntimeError:  # LLVM cannot ask this system
        features = {}
    return described(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, str(llvmlite.__version__))


Emit = Callable[[Callable[[str], None]], str]
"""Emits modules: takes a function to hand over parts, returns the text of the module that calls them."""


class Library:
    """Machine code of one or several modules of IR, alive as long as this object.

    ``ir`` is their text, or a function that emits it, called where the cache has no code: it hands modules over as they
    are complete and returns the first one last. ``width`` is that of the vectors in the code, which LLVM then neither
    widens nor splits. With an ``executor`` the code is compiled there, and :meth:`finish` waits for it.
    """

    def __init__(self, ir: str | Emit, key: str, width: int = 1, executor: Executor | None = None) -> None:
        with LOCK:
            _close_abandoned()
            host = machine()
            self._features = host.features_for(width)
            self._key = cache.digest(key, host.triple, host.cpu, self._features, host.version)
            self._objects = _unpacked(cache.read(self._key))
            self.from_cache = bool(self._objects)
            self._copies: list[int] = []  # keys of _LOADED
            self.seconds = 0.0  # of processor time that LLVM took
            self._pending: Compilation | None = None
            self._main = ""
            if not self._objects:
                self._pending = Compilation(host, self._features, executor)
                self._emit(ir, self._pending, executor is not None)
            if executor is None:
                self.finish()

    def _emit(self, ir: str | Emit, compilation: Compilation, ahead: bool) -> None:
        try:
            with no_collection():
                first, *others = (ir if isinstance(ir, str) else ir(compilation.add)).split(NEXT_MODULE)
            for text in others:
                compilation.add(text)
            if ahead:
                compilation.add_first(first)
            self._main = first
        except BaseException:
            compilation.close()
            raise

    def finish(self) -> None:
        """Wait until the code is compiled, and load it."""
        with LOCK:
            if self._pending is not None:
                self._objects, self.seconds = self._pending.objects(self._main), self._pending.seconds
                self._pending, self._main = None, ""
                cache.write(self._key, _packed(self._objects))
            if not self._copies:
                self._load()

    def _load(self) -> None:
        """One more copy of the code in memory."""
        key = next(_KEYS)
        _LOADED[key] = self._loaded()
        self._copies.append(key)

    def _loaded(self) -> Any:
        """A copy of the code in memory: an engine with all modules, the first of which knows the stages of the others.

        Each is finished before the next one comes: then its code and data are side by side, as the code expects them.
        """
        import llvmlite.binding as llvm

        target = target_machine(machine(), 2, self._features)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target, use_lmm=True)
        table, k = 0, 0
        for number, code in enumerate(self._objects):
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            _fill_in(engine, code, number)
            if number == 0 and len(self._objects) > 1:
                table = engine.get_global_value_address(TABLE)
            while number and (stage := engine.get_function_address(stage_name(k))):
                ctypes.c_void_p.from_address(table + k * ctypes.sizeof(ctypes.c_void_p)).value = stage
                k += 1
        if sum(map(len, self._objects)) > _SMALL:
            borders = [[own_name(name, n) for name in (BEGIN, END)] for n in range(len(self._objects))]
            bring_together([tuple(map(engine.get_function_address, names)) for names in borders])
        return engine

    def __del__(self, is_finalizing: Any = sys.is_finalizing) -> None:
        # At exit a thread that has been stopped may hold the lock, and memory need not be freed.
        if not is_finalizing():
            _ABANDONED.extend(self.__dict__.get("_copies", ()))
            _close_abandoned()

    def address(self, name: str) -> int:
        """Where a function or global starts in memory."""
        return self.addresses(name, 1)[0]

    def addresses(self, name: str, threads: int) -> list[int]:
        """Where a function starts, for each of some threads that run it at the same time.

        Cores that run the same code slow each other down where it exceeds their innermost caches (chain of fifty
        joints: by a sixth of the time on two cores), so each gets its own copy, loaded in some milliseconds.
        """
        with LOCK:
            size = sum(map(len, self._objects))
            copies = min(threads, os.cpu_count() or 1) if size > _INNERMOST else 1
            while len(self._copies) < copies:
                self._load()
            engines = [_LOADED[key] for key in self._copies[:copies]]
            starts = [e.get_function_address(name) or e.get_global_value_address(name) for e in engines]
        if not all(starts):
            raise RuntimeError(f"the compiled code has no symbol {name!r}.")
        return [int(starts[k % copies]) for k in range(threads)]


_INNERMOST = 32 * 1024  # bytes of code in the cache next to a core
_SMALL = 8 * 1024  # bytes of code that are in a page or two
_LOADED: dict[int, Any] = {}
"""Engines by key. Were they parts of a library, then a garbage collector that finds both would finalize both, each on
its own: an engine might be closed by two threads at the same time."""
_KEYS = itertools.count()
_ABANDONED: list[int] = []  # keys of engines whose libraries are gone


def _close_abandoned() -> None:
    """Free engines under the lock, as all calls of LLVM: a child forked meanwhile would inherit LLVM's own lock, held
    by nobody. Where another thread has the lock they wait for the next call: that thread may wait for this one, since
    garbage is collected on any thread, those that compile included."""
    if _ABANDONED and LOCK.acquire(blocking=False):
        try:
            while _ABANDONED:
                _LOADED.pop(_ABANDONED.pop()).close()
        finally:
            LOCK.release()


def _fill_in(engine: Any, code: bytes, number: int) -> None:
    """Tell a module that was loaded the addresses of functions outside that it refers to."""
    for name in ADDRESSES:
        if name.encode() in code:
            place = engine.get_global_value_address(own_name(name, number))
            address = c_library.atan2() if name == "atan2_at" else c_library.allocation()[name]
            ctypes.c_void_p.from_address(place).value = address


def _packed(objects: Sequence[bytes]) -> bytes:
    """Several object files as one entry of the cache."""
    return struct.pack(f"<{len(objects) + 1}Q", len(objects), *map(len, objects)) + b"".join(objects)


def _unpacked(entry: bytes | None) -> list[bytes]:
    """The object files of an entry; none where there is no entry, or not this kind."""
    if entry is None or len(entry) < 8:
        return []
    (count,) = struct.unpack_from("<Q", entry)
    start = 8 * (count + 1)
    if not 0 < count < len(entry) // 8:
        return []
    sizes = struct.unpack_from(f"<{count}Q", entry, 8)
    if start + sum(sizes) != len(entry):
        return []
    ends = list(itertools.accumulate(sizes, initial=start))
    return [entry[a:b] for a, b in itertools.pairwise(ends)]
