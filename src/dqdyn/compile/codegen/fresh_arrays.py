"""New arrays for results in emitted code, where arrays of earlier calls that nobody holds any more serve again.

A call of a small function takes less time than NumPy takes to make an array and to free it. So a function remembers
the last two arrays that it made: two, since in ``x = f(x)`` the former result is still held while the next is computed.
One of them is handed out again where nothing else refers to it and it is as it was made; else a new one takes its
place. Callers cannot tell the difference, but that ``resize`` in place finds one more reference.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.compile.codegen.python_objects import ObjectEmitter
from dqdyn.compile.runtime import python_abi as abi

REMEMBERED = 2
"""Arrays that are remembered of each part of a result."""
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
    """IR of ``ptr name(ptr remembered)``: a new reference to an array of that shape, null where memory is short.

    ``remembered`` is null, or the start of ``REMEMBERED`` references to any objects.
    """
    code = ObjectEmitter(1)
    sizes = [str(size) for size in shape]
    code.branch(code.op("icmp eq ptr %remembered, null"), "make", "try0")
    for k in range(REMEMBERED):
        code.label(f"try{k}")
        array = code.load(code.at("%remembered", k, "ptr"), "ptr")
        _require_untouched(code, array, shape, otherwise=f"try{k + 1}" if k + 1 < REMEMBERED else "make")
        code.run("increase", f"ptr {array}")
        code.lines.append(f"  ret ptr {array}")
    code.label("make")
    new = emit_new_array(code, sizes)
    nothing, nowhere = code.op(f"icmp eq ptr {new}, null"), code.op("icmp eq ptr %remembered, null")
    code.branch(code.op(f"or i1 {nothing}, {nowhere}"), "done", "remember")
    code.label("done")
    code.lines.append(f"  ret ptr {new}")
    code.label("remember")
    code.run("increase", f"ptr {new}")
    before = new
    for k, array in enumerate(code.load(code.at("%remembered", k, "ptr"), "ptr") for k in range(REMEMBERED)):
        code.store(before, code.at("%remembered", k, "ptr"), "ptr")
        before = array
    code.run("decrease", f"ptr {before}")  # last: what dies with it may run Python code
    code.lines.append(f"  ret ptr {new}")
    head = f"define internal ptr @{name}(ptr %remembered) noinline {{"
    return "\n".join([head, "entry:", f"  %dims = alloca [{len(sizes) + 1} x i64]", *code.lines, "}", ""])


def _require_untouched(code: ObjectEmitter, array: str, shape: Sequence[int], otherwise: str) -> None:
    """Go on where an object is an array as it was made, of that shape, to which nothing else refers."""
    kind = code.op(f"icmp eq ptr {code.field(array, abi.TYPE)}, {code.context('array_type')}")
    alone = code.op(f"icmp eq i32 {code.field(array, abi.REFERENCES, 'i32')}, 1")
    code.require(code.op(f"and i1 {kind}, {alone}"), otherwise)
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
