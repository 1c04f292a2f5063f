"""Arrays embedded in a page: concatenated, compressed and encoded as text."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.view.triangles import Indices

Reference = list[Any]
"""Type, offset in bytes, and number of elements."""

_TYPES = {"float32": "<f4", "uint32": "<u4", "uint16": "<u2", "int8": "i1"}


class Blob:
    """Collects arrays; each is known to the page by its reference."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, values: Array | Indices, kind: str = "float32") -> Reference:
        data = np.ascontiguousarray(values, dtype=_TYPES[kind]).tobytes()
        reference = [kind, self.size, int(values.size)]
        padding = b"\0" * (-len(data) % 4)  # views in JavaScript start at multiples of their element's size
        self.parts += [data, padding]
        self.size += len(data) + len(padding)
        return reference

    def text(self) -> str:
        """zlib, then base64."""
        return base64.b64encode(zlib.compress(b"".join(self.parts), 9)).decode("ascii")
