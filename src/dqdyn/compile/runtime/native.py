"""LLVM: from IR text to machine code in memory, by way of the cache. The only module that imports llvmlite."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import lru_cache
from typing import Any

from dqdyn.compile.codegen.ir import ALLOCATION, DECLARATIONS
from dqdyn.compile.runtime import c_library, cache
from dqdyn.compile.runtime.process_lock import LOCK
from dqdyn.compile.runtime.processor import Machine, described


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


def _target_machine(optimisation: int, features: str) -> Any:
    """A target for code that addresses its data relative to itself: half as long as with absolute addresses."""
    import llvmlite.binding as llvm

    host = machine()
    return llvm.Target.from_triple(host.triple).create_target_machine(
        cpu=host.cpu, features=features, opt=optimisation, jit=True, codemodel="small", reloc="pic"
    )


class Library:
    """Machine code of one IR module, alive as long as this object."""

    def __init__(self, ir: str, key: str, width: int = 1) -> None:
        """``width`` is that of the vectors in the code, which LLVM then neither widens nor splits."""
        with LOCK:
            host = machine()
            features = host.features_for(width)
            full_key = cache.digest(key, host.triple, host.cpu, features, host.version)
            code = cache.read(full_key)
            self.from_cache = code is not None
            if code is None:
                allocation = ALLOCATION if "@allocate_at" in ir else ""
                code = _compiled(f"{DECLARATIONS}{allocation}{ir}", features)
                cache.write(full_key, code)
            self._features, self._code = features, code
            self._engines = [self._loaded()]

    def _loaded(self) -> Any:
        """A copy of the code in memory."""
        import llvmlite.binding as llvm

        # This memory manager puts code and data side by side, as the code expects them.
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine(2, self._features), use_lmm=True)
        engine.add_object_file(llvm.ObjectFileRef.from_data(self._code))
        engine.finalize_object()
        place = engine.get_global_value_address("atan2_at")
        if place:
            ctypes.c_void_p.from_address(place).value = c_library.atan2()
        for name, address in c_library.allocation().items():
            place = engine.get_global_value_address(name)
            if place:
                ctypes.c_void_p.from_address(place).value = address
        return engine

    def __del__(self, lock: Any = LOCK, is_finalizing: Any = sys.is_finalizing) -> None:
        # Under the lock, as all calls of LLVM: a child forked meanwhile would inherit LLVM's own lock, held by nobody.
        # At exit a thread that has been stopped may hold the lock, and memory need not be freed.
        if is_finalizing():
            return
        with lock:
            for engine in self.__dict__.get("_engines", ()):
                engine.close()

    def address(self, name: str) -> int:
        """Where a function or global starts in memory."""
        return self.addresses(name, 1)[0]

    def addresses(self, name: str, threads: int) -> list[int]:
        """Where a function starts, for each of some threads that run it at the same time.

        Cores that run the same code slow each other down where it exceeds their innermost caches (chain of fifty
        joints: by a sixth of the time on two cores), so each gets its own copy, loaded in 3 ms.
        """
        with LOCK:
            copies = min(threads, os.cpu_count() or 1) if len(self._code) > _INNERMOST else 1
            while len(self._engines) < copies:
                self._engines.append(self._loaded())
            starts = [e.get_function_address(name) or e.get_global_value_address(name) for e in self._engines[:copies]]
        if not all(starts):
            raise RuntimeError(f"the compiled code has no symbol {name!r}.")
        return [int(starts[k % copies]) for k in range(threads)]


_INNERMOST = 32 * 1024  # bytes of code in the cache next to a core
_LARGE = 300_000  # lines of IR from which quick compilation matters more than speed


def _compiled(ir: str, features: str) -> bytes:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(ir)
    module.verify()
    for function in module.functions:
        # Code and data are adjacent, other libraries are not: a reference to them by name may not be resolvable.
        if function.is_declaration and (not function.name.startswith("llvm.") or ".mem" in function.name):
            raise RuntimeError(f"emitted code must not call {function.name!r} by name.")
    return bytes(_target_machine(0 if ir.count("\n") > _LARGE else 2, features).emit_object(module))
