"""New arrays for results in emitted code, and those that can serve again: see :mod:`.fresh_results`."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.compile.codegen.python_objects import ObjectEmitter
from dqdyn.compile.runtime import python_abi as abi

LARGEST = 1 << 16
"""Numbers in an array that is remembered: half a megabyte, from where making it takes a small part of filling it."""


def emit_new_array(code: ObjectEmitter, shape: Sequence[str]) -> str:
    """NumPy's new array of that shape, null where memory is short; the function has ``%dims`` for its sizes."""
    for i, size in enumerate(shape):
        code.store(size, code.at("%dims", i, "i64"), "i64")
    descr, kind = code.context("descr"), code.context("array_type")
    code.run("increase", f"ptr {descr}")  # PyArray_NewFromDescr takes over one reference
    rest = "ptr null, ptr null, i32 0, ptr null"
    return code.call("new_array", f"ptr {kind}, ptr {descr}, i32 {len(shape)}, ptr %dims, {rest}")


def fresh_array(name: str, shape: Sequence[int]) -> str:
    """IR of ``ptr name(ptr former)``: a new reference to an array of that shape, null where memory is short.

    It is the ``former`` one, which may be null, where that is as it was made and has no more than one reference.
    """
    code = ObjectEmitter(1)
    code.require(code.op("icmp ne ptr %former, null"), otherwise="make")
    require_alone(code, "%former", code.context("array_type"), otherwise="make")
    require_untouched(code, "%former", shape, otherwise="make")
    code.run("increase", "ptr %former")
    code.lines.append("  ret ptr %former")
    code.label("make")
    code.lines.append(f"  ret ptr {emit_new_array(code, [str(size) for size in shape])}")
    head = f"define internal ptr @{name}(ptr %former) noinline {{"
    return "\n".join([head, "entry:", f"  %dims = alloca [{len(shape) + 1} x i64]", *code.lines, "}", ""])


def require_alone(code: ObjectEmitter, value: str, kind: str, otherwise: str) -> None:
    """Go on where an object is of exactly that type and has one reference."""
    same = code.op(f"icmp eq ptr {code.field(value, abi.TYPE)}, {kind}")
    alone = code.op(f"icmp eq i32 {code.field(value, abi.REFERENCES, 'i32')}, 1")
    code.require(code.op(f"and i1 {same}, {alone}"), otherwise)


def require_untouched(code: ObjectEmitter, array: str, shape: Sequence[int], otherwise: str) -> None:
    """Go on where an array is as it was made, of that shape, and nothing refers to it weakly."""
    good = code.op(f"icmp eq i32 {code.field(array, abi.NDIM, 'i32')}, {len(shape)}")
    mask = abi.AS_MADE | abi.NOT_AS_MADE
    flags = code.op(f"and i32 {code.field(array, abi.FLAGS, 'i32')}, {mask}")
    for test in (
        f"icmp eq i32 {flags}, {abi.AS_MADE}",
        f"icmp eq ptr {code.field(array, abi.DESCR)}, {code.context('descr')}",
        f"icmp eq ptr {code.field(array, abi.BASE)}, null",
        f"icmp eq ptr {code.field(array, abi.WEAK_REFERENCES)}, null",
    ):
        good = code.op(f"and i1 {good}, {code.op(test)}")
    code.require(good, otherwise)
    if not shape:
        return
    dims, good = code.field(array, abi.DIMS), "true"
    for i, size in enumerate(shape):
        same = code.op(f"icmp eq i64 {code.field(dims, 8 * i, 'i64')}, {size}")
        good = code.op(f"and i1 {good}, {same}")
    code.require(good, otherwise)
