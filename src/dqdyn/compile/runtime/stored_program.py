"""Traced programs on disk, so that the next process neither traces nor reads what it does not need.

An entry of the cache has a header with what calls need, and the instructions as arrays. The rules of
:mod:`dqdyn.compile.runtime.cache` apply; nothing in an entry is executed. Instructions are unpacked when somebody asks
for them, and believed where their digest is that of the header.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from dqdyn.compile.trace.program import Counts, Instruction, Program

_OPERATIONS = ("const", "input", "add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos", "atan2", "less", "select")
_OPERANDS = dict(zip(_OPERATIONS, (0, 2, 2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 3), strict=True))


class StoredProgram(Program):
    """A program whose instructions and outputs are read at first use; equal to the program that was stored."""

    def __init__(self, header: Mapping[str, Any], body: bytes, again: Callable[[], Program]) -> None:
        """``again`` traces the program where the body turns out to be damaged."""
        self.__dict__.update(
            name=header["name"],
            inputs=tuple((name, size) for name, size in header["inputs"]),
            shape=tuple(header["shape"]),
            counts=Counts(**header["counts"]),
            digest=header["digest"],
            size=header["size"],
            _body=body,
            _again=again,
        )

    def __getattr__(self, name: str) -> Any:
        if name not in ("instructions", "outputs"):
            raise AttributeError(name)
        body, again = self.__dict__["_body"], self.__dict__["_again"]
        instructions, outputs = _unpacked(body)
        found = Program(self.name, self.inputs, instructions, outputs, self.shape)
        if found.digest != self.digest:
            found = again()
        self.__dict__.update(instructions=found.instructions, outputs=found.outputs, _body=b"")
        return self.__dict__[name]

    def __reduce__(self) -> Any:
        return Program, (self.name, self.inputs, self.instructions, self.outputs, self.shape)


def packed(program: Program, **more: Any) -> bytes:
    """An entry for a program; ``more`` goes to the header."""
    header = {
        "name": program.name,
        "inputs": program.inputs,
        "shape": program.shape,
        "counts": asdict(program.counts),
        "digest": program.digest,
        "size": program.size,
        "lengths": [],
        **more,
    }
    number = {op: k for k, op in enumerate(_OPERATIONS)}
    arrays = (
        np.array([number[op] for op, _, _ in program.instructions], dtype="<u1"),
        np.array([k for _, operands, _ in program.instructions for k in operands], dtype="<i4"),
        np.array([c for op, _, c in program.instructions if op == "const"], dtype="<f8"),
        np.array(program.outputs, dtype="<i4"),
    )
    body = struct.pack("<4Q", *map(len, arrays)) + b"".join(a.tobytes() for a in arrays)
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body


def header_of(entry: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the body of an entry; raises ValueError, KeyError, TypeError or struct.error for anything else."""
    (length,) = struct.unpack_from("<Q", entry)
    header = json.loads(entry[8 : 8 + length])
    if not isinstance(header, dict):
        raise ValueError("no header")
    return header, entry[8 + length :]


def _unpacked(body: bytes) -> tuple[tuple[Instruction, ...], tuple[int, ...]]:
    """Instructions and outputs; nothing where the body does not have its form."""
    lengths = struct.unpack_from("<4Q", body) if len(body) >= 32 else (0, 0, 0, 0)
    if 32 + sum(n * size for n, size in zip(lengths, (1, 4, 8, 4), strict=True)) != len(body):
        return (), ()
    at, arrays = 32, []
    for count, kind in zip(lengths, ("<u1", "<i4", "<f8", "<i4"), strict=True):
        array = np.frombuffer(body, kind, count, at)
        arrays.append(array.tolist())
        at += array.nbytes
    numbers, operands, constants, outputs = arrays
    instructions: list[Instruction] = []
    start, values = 0, iter(constants)
    for number in numbers:
        op = _OPERATIONS[number] if number < len(_OPERATIONS) else "const"
        end = start + _OPERANDS[op]
        instructions.append((op, tuple(operands[start:end]), next(values, 0.0) if op == "const" else 0.0))
        start = end
    return tuple(instructions), tuple(outputs)
