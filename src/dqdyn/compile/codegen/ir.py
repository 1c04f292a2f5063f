"""Lines of LLVM IR: names for new values, memory, and arithmetic on vectors of doubles."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Collection, Iterator, Sequence


class Emitter:
    """Writes IR on vectors of ``width`` doubles; ``fma``: the machine fuses multiply-add."""

    def __init__(self, width: int, fma: bool = False) -> None:
        self.width, self.fma = width, fma
        self.real, self.integer, self.boolean = (_vector(width, kind) for kind in ("double", "i64", "i1"))
        self.suffix = "f64" if width == 1 else f"v{width}f64"
        self.lines: list[str] = []
        self._names: Iterator[int] = itertools.count(1)

    def op(self, text: str) -> str:
        """A new value."""
        name = f"%t{next(self._names)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self, name: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{name}:")

    def new_label(self, what: str) -> str:
        """A name for a basic block."""
        return f"{what}{next(self._names)}"

    def jump(self, name: str) -> None:
        """End the basic block."""
        self.lines.append(f"  br label %{name}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """End the basic block."""
        self.lines.append(f"  br i1 {condition}, label %{yes}, label %{no}")

    def require(self, condition: str, otherwise: str = "slow") -> None:
        """Go on where an i1 holds, which is nearly always; else branch to the block ``otherwise``."""
        name = f"ok{next(self._names)}"
        self.lines.append(f"  br i1 {condition}, label %{name}, label %{otherwise}, !prof !0")
        self.label(name)

    # --- constants ---

    def const(self, value: float) -> str:
        return self._splat("double", bits_of(value))

    def constants(self, values: Sequence[float]) -> str:
        """A vector of different constants."""
        return f"<{', '.join(f'double {bits_of(value)}' for value in values)}>"

    def const_int(self, value: int) -> str:
        return self._splat("i64", str(value))

    def _splat(self, kind: str, text: str) -> str:
        return text if self.width == 1 else f"<{', '.join([f'{kind} {text}'] * self.width)}>"

    # --- memory; one double, unless another type is named ---

    def at(self, pointer: str, index: int | str, kind: str = "double") -> str:
        """The address of an entry of an array."""
        return self.op(f"getelementptr {kind}, ptr {pointer}, i64 {index}")

    def load(self, pointer: str, kind: str = "double", align: int = 8) -> str:
        return self.op(f"load {kind}, ptr {pointer}, align {align}")

    def store(self, value: str, pointer: str, kind: str = "double", align: int = 8) -> None:
        self.lines.append(f"  store {kind} {value}, ptr {pointer}, align {align}")

    def load_lanes(self, pointer: str, lanes: Collection[int]) -> str:
        """A vector of which only some lanes are read; the others are zero."""
        if len(lanes) == self.width:
            return self.load(pointer, self.real)
        arguments = f"ptr {pointer}, i32 8, {self.boolean} {self._mask(lanes)}, {self.real} zeroinitializer"
        return self.op(f"call {self.real} @llvm.masked.load.{self.suffix}.p0({arguments})")

    def store_lanes(self, value: str, pointer: str, lanes: Collection[int]) -> None:
        """Write some lanes of a vector."""
        if len(lanes) == self.width:
            return self.store(value, pointer, self.real)
        self.store_where(value, pointer, self._mask(lanes))

    def store_where(self, value: str, pointer: str, mask: str) -> None:
        """Write the lanes of a vector for which a vector of conditions holds."""
        arguments = f"{self.real} {value}, ptr {pointer}, i32 8, {self.boolean} {mask}"
        self.lines.append(f"  call void @llvm.masked.store.{self.suffix}.p0({arguments})")

    def store_past_caches(self, value: str, pointer: str) -> None:
        """Write a vector that fills a line of the caches, aligned, to memory."""
        self.lines.append(f"  store {self.real} {value}, ptr {pointer}, align {8 * self.width}, !nontemporal !1")

    def _mask(self, lanes: Collection[int]) -> str:
        bits = ", ".join(f"i1 {'true' if lane in lanes else 'false'}" for lane in range(self.width))
        return f"<{bits}>"

    # --- arithmetic; on vectors of doubles, unless another type is named ---

    def binary(self, operation: str, a: str, b: str, kind: str | None = None) -> str:
        return self.op(f"{operation} {kind or self.real} {a}, {b}")

    def intrinsic(self, name: str, *arguments: str) -> str:
        values = ", ".join(f"{self.real} {x}" for x in arguments)
        return self.op(f"call {self.real} @llvm.{name}.{self.suffix}({values})")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.op(f"select {self.boolean} {condition}, {self.real} {a}, {self.real} {b}")

    def spread(self, value: str) -> str:
        """A vector of one double in all lanes."""
        if self.width == 1:
            return value
        first = self.op(f"insertelement {self.real} poison, double {value}, i64 0")
        return self.op(f"shufflevector {self.real} {first}, {self.real} poison, <{self.width} x i32> zeroinitializer")

    def any_lane(self, condition: str) -> str:
        """An i1: whether a condition holds in any lane."""
        if self.width == 1:
            return condition
        bits = self.op(f"bitcast {self.boolean} {condition} to i{self.width}")
        return self.op(f"icmp ne i{self.width} {bits}, 0")


def _vector(width: int, kind: str) -> str:
    return kind if width == 1 else f"<{width} x {kind}>"


def bits_of(value: float) -> str:
    """A double in IR, exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _declarations() -> str:
    lines = [
        "declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)",
        "declare i64 @llvm.umin.i64(i64, i64)",
        "declare i64 @llvm.umax.i64(i64, i64)",
        "declare i64 @llvm.smax.i64(i64, i64)",
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
        '!0 = !{!"branch_weights", i32 10000, i32 1}',
        "!1 = !{i32 1}",
    ]
    for width in (1, 2, 4, 8):
        e = Emitter(width)
        lines += [f"declare {e.real} @llvm.{name}.{e.suffix}({e.real})" for name in ("fabs", "sqrt")]
        lines.append(f"declare {e.real} @llvm.fma.{e.suffix}({e.real}, {e.real}, {e.real})")
        if width > 1:
            lines.append(f"declare {e.real} @llvm.masked.load.{e.suffix}.p0(ptr, i32, {e.boolean}, {e.real})")
            lines.append(f"declare void @llvm.masked.store.{e.suffix}.p0({e.real}, ptr, i32, {e.boolean})")
    return "\n".join([*lines, ""])


DECLARATIONS = _declarations()
"""What functions in a module of IR may refer to."""

ADDRESSES = ("atan2_at", "allocate_at", "release_at")
"""Globals for the addresses of functions outside, which the loader fills in where code refers to them."""


BEGIN, END = "code_begin", "code_end"
"""The first and the last function of each module, between which its code is in memory."""


def module(code: str, number: int) -> str:
    """A module of IR around functions. Those of one program are numbered, so that each has globals of its own."""
    used = [name for name in ADDRESSES if f"@{name}" in code]
    for name in used if number else ():
        code = code.replace(f"@{name}", f"@{own_name(name, number)}")
    addresses = "".join(f"@{own_name(name, number)} = dso_local global ptr null\n" for name in used)
    begin, end = (f"define void @{own_name(name, number)}() {{\n  ret void\n}}\n" for name in (BEGIN, END))
    return f"{DECLARATIONS}{addresses}{begin}{code}\n{end}"


def own_name(name: str, number: int) -> str:
    """The global of a module that is called so in the first one."""
    return f"{name}{number}" if number else name
