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

    @property
    def width_for_one(self) -> int:
        """The vector width in code for one state.

        Processors slow down for some 200 µs when 512-bit instructions come after a pause of a millisecond: a batch
        does not mind, but one call in a control loop would take two to three times as long.
        """
        return min(self.width, 4)

    def features_for(self, width: int) -> str:
        """What LLVM may use in code with vectors of this width."""
        return self.features if self.width < 8 else f"{self.features},{'-' if width == 8 else '+'}prefer-256-bit"


@lru_cache(maxsize=1)
def machine() -> Machine:
    """This processor; raises ImportError or OSError where LLVM is not to be had."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    width = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    fma = bool(features.get("fma"))
    return Machine(llvm.get_host_cpu_name(), features.flatten(), width, fma, str(llvmlite.__version__))


def _target_machine(optimisation: int, features: str) -> Any:
    """Code that finds its data relative to itself, half as long as addresses in full."""
    import llvmlite.binding as llvm

    return llvm.Target.from_default_triple().create_target_machine(
        cpu=machine().cpu, features=features, opt=optimisation, jit=True, codemodel="small", reloc="pic"
    )


@lru_cache(maxsize=1)
def _atan2() -> int | None:
    """Address of the C library's atan2."""
    return ctypes.cast(ctypes.CDLL(None).atan2, ctypes.c_void_p).value


class Library:
    """Machine code of one IR module, alive as long as this object."""

    def __init__(self, ir: str, key: str, width: int = 1) -> None:
        """``width`` is that of the vectors in the code: LLVM then takes no wider ones on its own, or narrower ones."""
        import llvmlite.binding as llvm

        with _lock:
            host = machine()
            features = host.features_for(width)
            full_key = cache.digest(key, host.cpu, features, host.version)
            code = cache.read(full_key)
            self.from_cache = code is not None
            if code is None:
                code = _compiled(ir, features)
                cache.write(full_key, code)
            # This memory manager puts code and data side by side, as the code expects them.
            self._engine = llvm.create_mcjit_compiler(
                llvm.parse_assembly(""), _target_machine(2, features), use_lmm=True
            )
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
            place = self._engine.get_global_value_address("atan2_at")
            if place:
                ctypes.c_void_p.from_address(place).value = _atan2()

    def address(self, function: str) -> int:
        """Where a function or global starts in memory."""
        with _lock:
            found = self._engine.get_function_address(function) or self._engine.get_global_value_address(function)
        if not found:
            raise RuntimeError(f"the compiled code has no symbol {function!r}.")
        return int(found)


_LARGE = 300_000  # lines of IR from which quick compilation matters more than speed


def _compiled(ir: str, features: str) -> bytes:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(ir)
    module.verify()
    for function in module.functions:
        # Code and data lie together, other libraries do not: a reference to them by name could not be resolved.
        if function.is_declaration and (not function.name.startswith("llvm.") or ".mem" in function.name):
            raise RuntimeError(f"emitted code must not call {function.name!r} by name.")
    return bytes(_target_machine(0 if ir.count("\n") > _LARGE else 2, features).emit_object(module))
