"""Compiles C in tests. Without a compiler, tests that need one are skipped for the reasons stated here."""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dqdyn.compile.trace.program import Program

COMPILER = shutil.which(os.environ.get("CC", "cc"))
NO_COMPILER = "no C compiler: the export to C is not checked"
NO_SANITIZERS = "no sanitizers in the C compiler: the export to C is not checked for undefined behaviour"
NO_CPP = "no C++ compiler: headers of the export to C are not checked in C++"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror")

needs_compiler = pytest.mark.skipif(COMPILER is None, reason=NO_COMPILER)
_numbers = itertools.count()


def compiled(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the compiler; nothing may be said by it."""
    result = subprocess.run([str(COMPILER), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    return result


def library(folder: Path, source: str, *flags: str) -> ctypes.CDLL:
    """A shared object of that source, compiled with all warnings as errors."""
    name = f"code{next(_numbers)}"  # a library of the same name would not be loaded again
    path = folder / f"{name}.c"
    path.write_text(source, encoding="utf-8")
    shared = folder / f"{name}.so"
    compiled(*STRICT, *flags, "-shared", "-fPIC", path, "-o", shared, "-lm")
    return ctypes.CDLL(str(shared))


def call(function: Any, program: Program, inputs: Any) -> np.ndarray:
    """Call a C function on one state; it must not touch what stands around ``out``."""
    arrays = [np.array(a, dtype=np.float64).reshape(-1) for a in inputs]
    around = np.full(len(program.outputs) + 2, 7.25)
    out = around[1:-1]
    function.restype = None
    function(*(ctypes.c_void_p(a.ctypes.data) for a in [*arrays, out]))
    assert (around[0], around[-1]) == (7.25, 7.25)
    return out.reshape(program.shape)


def has_sanitizers(folder: Path) -> bool:
    """Whether a program can be built and run with them."""
    path = folder / "probe.c"
    path.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    command = [str(COMPILER), "-fsanitize=address,undefined", str(path), "-o", str(folder / "probe")]
    if subprocess.run(command, capture_output=True, timeout=120).returncode:
        return False
    return subprocess.run([folder / "probe"], capture_output=True, timeout=120).returncode == 0


def finds_leaks(folder: Path) -> bool:
    """Whether the sanitizer can look for memory that is lost, which needs a system that lets it trace itself."""
    path = folder / "leak.c"
    path.write_text(
        "#include <stdlib.h>\nint main(void) { void *volatile p = malloc(8); p = NULL; return p != NULL; }\n",
        encoding="utf-8",
    )
    command = [str(COMPILER), "-fsanitize=address", str(path), "-o", str(folder / "leak")]
    if subprocess.run(command, capture_output=True, timeout=120).returncode:
        return False
    settings = {"ASAN_OPTIONS": "detect_leaks=1"}
    found = subprocess.run([folder / "leak"], capture_output=True, env=settings, timeout=120)
    return found.returncode != 0 and b"detected memory leaks" in found.stderr
