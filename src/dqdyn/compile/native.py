"""LLVM: from IR text to machine code in memory, by way of the cache. The only module that imports llvmlite."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dqdyn.compile import cache

_lock = threading.RLock()  # LLVM's global context is not thread-safe


@dataclass(frozen=True)
class Machine:
    """The processor that code is made for."""

    cpu: str
    features: str
    width: int
    fma: bool
    version: str


@lru_cache(maxsize=1)
def machine() -> Machine:
    """This processor; raises ImportError or OSError where LLVM is not to be had."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    width = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    library = ctypes.CDLL(None)
    llvm.add_symbol("atan2", ctypes.cast(library.atan2, ctypes.c_void_p).value)
    # Without this hint LLVM prefers 256-bit registers on processors with 512-bit ones.
    flat = features.flatten() + (",-prefer-256-bit" if width == 8 else "")
    return Machine(llvm.get_host_cpu_name(), flat, width, bool(features.get("fma")), str(llvmlite.__version__))


def _target_machine(optimisation: int) -> Any:
    import llvmlite.binding as llvm

    host = machine()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=host.cpu, features=host.features, opt=optimisation, jit=True
    )


class Library:
    """Machine code of one IR module, alive as long as this object."""

    def __init__(self, ir: str, key: str) -> None:
        import llvmlite.binding as llvm

        with _lock:
            host = machine()
            full_key = cache.digest(key, host.cpu, host.features, host.version)
            code = cache.read(full_key)
            self.from_cache = code is not None
            if code is None:
                code = _compiled(ir)
                cache.write(full_key, code)
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine(2))
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, function: str) -> int:
        """Where a function or global starts in memory."""
        with _lock:
            found = self._engine.get_function_address(function) or self._engine.get_global_value_address(function)
        if not found:
            raise RuntimeError(f"the compiled code has no symbol {function!r}.")
        return int(found)


_LARGE = 150_000  # lines of IR from which quick compilation matters more than the last third of speed


def _compiled(ir: str) -> bytes:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(ir)
    module.verify()
    return bytes(_target_machine(0 if ir.count("\n") > _LARGE else 2).emit_object(module))
