"""Code for other systems: emitted, verified and complete, though it cannot run here; and where they keep functions."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from object_files import undefined_symbols

import dqdyn as dq
from dqdyn.algebra.scalar import atan2, cos, sin, sqrt
from dqdyn.compile.codegen.active_set import ActiveSetCode
from dqdyn.compile.codegen.rollout import Rollout
from dqdyn.compile.runtime import c_library, compiler, native
from dqdyn.compile.runtime import method as methods
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.native_code import NativeCode
from dqdyn.compile.runtime.processor import Machine, described
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace
from dqdyn.errors import CompileWarning

AVX2, AVX512 = {"avx": True, "avx2": True, "fma": True}, {"avx": True, "avx2": True, "avx512f": True, "fma": True}
TARGETS: dict[str, tuple[str, str, dict[str, bool]]] = {
    "Linux": ("x86_64-unknown-linux-gnu", "haswell", AVX2),
    "Linux, old": ("x86_64-unknown-linux-gnu", "x86-64", {"avx": False, "fma": False}),
    "Alpine": ("x86_64-alpine-linux-musl", "haswell", AVX2),
    "Linux, arm": ("aarch64-unknown-linux-gnu", "cortex-a72", {"neon": True, "fp-armv8": True}),
    "Windows": ("x86_64-pc-windows-msvc", "skylake-avx512", AVX512),
    "Windows, old": ("x86_64-pc-windows-msvc", "x86-64", {"fma": False}),
    "Windows, arm": ("aarch64-pc-windows-msvc", "generic", {}),
    "macOS": ("x86_64-apple-darwin22.4.0", "haswell", AVX2),
    "macOS, arm": ("arm64-apple-darwin22.4.0", "apple-m1", {}),  # LLVM lists no features there
}


def target(name: str) -> Machine:
    triple, cpu, features = TARGETS[name]
    return described(triple, cpu, features, "test")


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[bytes]]:
    """Compile for another machine from now on; the list collects the object files, which nobody loads."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()

    def compile_for(name: str) -> list[bytes]:
        host, files = target(name), []
        monkeypatch.setattr(native, "machine", lambda: host)
        monkeypatch.setattr(native.Library, "_loaded", lambda library: files.extend(library._objects))
        monkeypatch.setattr(native.Library, "__del__", lambda library: None)
        monkeypatch.setattr(native.Library, "address", lambda *_: 0)
        return files

    return compile_for


def all_operations(x: list[Any], y: list[Any]) -> tuple[list[Any], tuple[int, ...]]:
    """Sines, an angle, roots and quotients, and neighbours with the same formula, which share a vector."""
    turns = [f(a) for a in x for f in (sin, cos)]
    sums = [x[k] * y[0] + x[k + 1] * y[1] for k in range(4)]
    return [*turns, *sums, atan2(y[0], y[1]), sqrt(x[0] * x[0] + 1.0) / (y[1] * y[1] + 2.0)], (len(turns) + 6,)


def program_of_all_operations() -> Program:
    return trace("all_operations", [("x", 5), ("y", 2)], all_operations)


@pytest.mark.parametrize("name", TARGETS)
def test_code_for_each_system_is_complete(name: str, emitted: Callable[[str], list[bytes]]) -> None:
    files = emitted(name)
    robot = dq.robots.arm6()
    for program in (program_of_all_operations(), robot.program("forward_dynamics")):
        code = NativeCode(program, (), True)
        assert code.single is not None
        assert code.batch is not None
    step = trace(
        "step", [("x", 2), ("u", 1), ("p", 1), ("time", 2)], lambda x, u, p, t: ([x[1], sin(x[0]) * u[0]], (2,))
    )
    for width in (1, target(name).width):
        Rollout([step], [(0, [1.0])], kept=2)._compiled(width)
    host = target(name)
    qp = ActiveSetCode(7, 7, 3, host.width_for_one, host.fma)
    native.Library(qp.text(), qp.key, host.width_for_one)
    native.Library(f"{methods.abi.CONTEXT_IR}\n{methods.method_call(methods._OFFSET)}", "methods")
    assert len(files) == 8
    # COFF names _fltused in all code with floating point; the loader follows only what code refers to.
    known = {"__chkstk", "_fltused"} if "Windows" in name else set()
    assert set().union(*map(undefined_symbols, files)) <= known


@pytest.mark.parametrize("name", TARGETS)
def test_undefined_symbols_are_found(name: str, emitted: Callable[[str], list[bytes]]) -> None:
    emitted(name)
    module = llvm.parse_assembly(
        "declare double @elsewhere()\ndefine double @f() { %x = call double @elsewhere()\n ret double %x }"
    )
    data = bytes(compiler.target_machine(target(name), 2, target(name).features).emit_object(module))
    assert {symbol.lstrip("_") for symbol in undefined_symbols(data)} - {"fltused"} == {"elsewhere"}


def test_processors_without_the_name_fma_fuse_all_the_same() -> None:
    assert [target(name).fma for name in TARGETS] == [True, False, True, True, True, False, True, True, True]
    assert [target(name).width for name in TARGETS] == [4, 2, 4, 2, 8, 2, 2, 4, 2]


def test_wide_vectors_for_one_state_are_for_long_rows_on_processors_that_were_measured() -> None:
    zen5, intel = (described("x86_64-unknown-linux-gnu", cpu, AVX512, "test") for cpu in ("znver5", "skylake-avx512"))
    assert [zen5.width_for_rows(columns) for columns in (0, 38, 47, 48, 200)] == [4, 4, 4, 8, 8]
    assert {intel.width_for_rows(columns) for columns in (0, 47, 48, 200)} == {4}
    old = described("x86_64-unknown-linux-gnu", "znver5", AVX2, "test")  # as in a virtual machine that hides AVX-512
    assert {old.width_for_rows(columns) for columns in (0, 48)} == {4}
    assert [machine.has_whole_vectors for machine in (zen5, intel, old)] == [True, False, False]
    assert [target(name).registers for name in TARGETS] == [16, 16, 16, 32, 32, 16, 32, 16, 32]


def test_arm_code_fuses(emitted: Callable[[str], list[bytes]]) -> None:
    emitted("Linux, arm")
    from dqdyn.compile.codegen import kernels

    host = native.machine()
    text = kernels.scalar_kernel(program_of_all_operations(), host.fma, True, width=host.width_for_one)
    module = llvm.parse_assembly(compiler.module(text, 0))
    assert "fmla" in compiler.target_machine(host, 2, host.features).emit_assembly(module)


def test_other_processors_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match=r"^code is emitted for x86_64 and aarch64, not for riscv64$"):
        described("riscv64-unknown-linux-gnu", "generic", {"d": True}, "test")
    native.machine.cache_clear()
    monkeypatch.setattr(llvm, "get_process_triple", lambda: "riscv64-unknown-linux-gnu")
    with pytest.warns(CompileWarning, match="not for riscv64.*functions run on NumPy"):
        assert Function(program_of_all_operations()).fast(np.ones(5), np.ones(2)).shape == (16,)
    native.machine.cache_clear()


def test_this_machine_is_described_though_llvm_cannot_tell_its_features(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise RuntimeError("cannot ask")

    native.machine.cache_clear()
    monkeypatch.setattr(llvm, "get_host_cpu_features", fail)
    assert native.machine().width == 2
    native.machine.cache_clear()


# --- functions of the system -----------------------------------------------------------------------------------------


class Loader:
    """Stands for ctypes.CDLL on another system: libraries by name, and whether None is the process."""

    def __init__(self, libraries: dict[str | None, dict[str, Any]], process: bool) -> None:
        self.libraries, self.process, self.asked = libraries, process, []

    def __call__(self, name: str | None) -> Any:
        self.asked.append(name)
        if name is None and not self.process:
            raise TypeError("bad argument type for built-in operation")  # as on Windows
        if name not in self.libraries:
            raise OSError(f"no {name}")
        return type("Library", (), self.libraries[name])


AN_ATAN2 = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(math.atan2)
HAS, LACKS = {"atan2": AN_ATAN2}, dict[str, Any]()
SYSTEMS: dict[str, tuple[str, dict[str | None, dict[str, Any]], list[str | None]]] = {
    "Windows": ("win32", {"ucrtbase": HAS}, ["ucrtbase"]),
    "Windows, old": ("win32", {"msvcrt": HAS}, ["ucrtbase", "msvcrt"]),
    "Linux": ("linux", {None: HAS}, [None]),
    "static": ("linux", {None: LACKS, "libm.so.6": HAS}, [None, "libm.so.6"]),
    "macOS": ("darwin", {None: HAS}, [None]),
    "FreeBSD": ("freebsd14", {None: HAS}, [None]),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_atan2_is_found(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    platform, libraries, asked = SYSTEMS[system]
    loader = Loader(libraries, process=platform != "win32")
    monkeypatch.setattr(ctypes, "CDLL", loader)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(c_library, "atan2", c_library.atan2.__wrapped__)
    assert c_library.atan2() == ctypes.cast(AN_ATAN2, ctypes.c_void_p).value
    assert loader.asked == asked


def test_without_a_library_python_gives_the_angle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_library, "places", lambda platform: ("no such library",))
    monkeypatch.setattr(c_library, "atan2", c_library.atan2.__wrapped__)
    function = Function(trace("angle", [("x", 2)], lambda x: ([atan2(x[0], x[1])], (1,))))
    points = np.random.default_rng(3).normal(size=(50, 2))
    with pytest.warns(CompileWarning, match="no atan2 was found in the C library: native code calls Python's"):
        one = function.fast(points[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        each, many = [function.fast(point)[0] for point in points], function.fast(points, threads=2)
    assert function.native is not None
    np.testing.assert_array_equal(each, [math.atan2(*point) for point in points])
    np.testing.assert_allclose(many[:, 0], each, rtol=5e-16)  # batches have arctangents of their own
    assert one == each[0]


def test_stack_probes_are_looked_up_on_windows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = Loader({"ntdll": {"__chkstk": AN_ATAN2}}, process=False)
    monkeypatch.setattr(ctypes, "CDLL", loader)
    address = ctypes.cast(AN_ATAN2, ctypes.c_void_p).value
    assert c_library.stack_probe("win32") == ("__chkstk", address)
    assert loader.asked == ["ntdll"]
    assert c_library.stack_probe("linux") is None
    loader.libraries.clear()
    assert c_library.stack_probe("win32") is None


@pytest.mark.skipif(os.name != "posix", reason="the real library of this system")
def test_the_real_atan2() -> None:
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
    assert kind(c_library.atan2())(1.0, -1.0) == math.atan2(1.0, -1.0)
