"""IR that handles Python objects; its assumptions about CPython are in :mod:`~dqdyn.compile.runtime.python_abi`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.runtime.python_abi import CONTEXT, TYPE


class ObjectEmitter(Emitter):
    """Reads fields of objects, and calls functions of CPython by the table of addresses in ``@context``.

    The function has a block ``slow``, in which Python takes over, with untouched arguments.
    """

    def context(self, name: str) -> str:
        """An entry of the table: the address of a function or object."""
        return self.op(f"load ptr, ptr {self.at('@context', CONTEXT.index(name), 'ptr')}")

    def call(self, name: str, arguments: str, returns: str = "ptr") -> str:
        """The result of a function in the table."""
        return self.op(f"call {returns} {self.context(name)}({arguments})")

    def run(self, name: str, arguments: str) -> None:
        """Call a function in the table that returns nothing."""
        self.lines.append(f"  call void {self.context(name)}({arguments})")

    def field(self, base: str, offset: int, kind: str = "ptr") -> str:
        """What lies so many bytes behind the start of an object."""
        return self.op(f"load {kind}, ptr {self.at(base, offset, 'i8')}")

    def argument(self, index: int | str) -> str:
        return self.op(f"load ptr, ptr {self.at('%args', index, 'ptr')}")

    def replace(self, place: str, value: str) -> None:
        """Let a reference lead to another object; the former one may die, and run Python code, at the end."""
        old = self.load(place, "ptr")
        self.run("increase", f"ptr {value}")
        self.store(value, place, "ptr")
        self.run("decrease", f"ptr {old}")

    def require_equal(self, kind: str, value: str, expected: int | str, otherwise: str = "slow") -> None:
        """Go on where two integers or pointers are equal."""
        self.require(self.op(f"icmp eq {kind} {value}, {expected}"), otherwise)

    def require_type(self, value: str, name: str) -> None:
        """Go on where an object is of exactly the type with that name in the table."""
        self.require_equal("ptr", self.field(value, TYPE), self.context(name))

    @contextmanager
    def loop(self, name: str, count: str) -> Iterator[str]:
        """Repeat what is emitted inside for 0 … count − 1, which is the value given; ``count`` may be 0."""
        place = f"%{name}_number"
        self.store("0", place, "i64")
        self.jump(f"{name}_test")
        self.label(f"{name}_test")
        number = self.load(place, "i64")
        self.branch(self.op(f"icmp ult i64 {number}, {count}"), f"{name}_body", f"{name}_done")
        self.label(f"{name}_body")
        yield number
        self.store(self.op(f"add i64 {number}, 1"), place, "i64")
        self.jump(f"{name}_test")
        self.label(f"{name}_done")
