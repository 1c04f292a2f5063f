"""Data of a page as one text: JSON with references into arrays that are concatenated, compressed and encoded."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.view.page import inline_json
from dqdyn.view.triangles import Indices

Reference = list[Any]
"""Type, offset in bytes, and number of elements; for "smooth" numbers of rows and columns."""
_TYPES = {"float32": "<f4", "uint32": "<u4", "uint16": "<u2", "int8": "i1", "uint8": "u1"}
_STEPS = 65535


class Blob:
    """Arrays embedded in a page: concatenated, compressed and encoded as text; each is known by its reference."""

    def __init__(self) -> None:
        self.data = bytearray()

    def add(self, values: Array | Indices, kind: str = "float32") -> Reference:
        """An array of any shape."""
        return self._append(kind, np.asarray(values, dtype=_TYPES[kind]).tobytes(), int(values.size))

    def add_text(self, text: str) -> Reference:
        """A text in UTF-8."""
        encoded = text.encode()
        return self._append("text", encoded, len(encoded))

    def add_smooth(self, values: Array) -> Reference:
        """Rows over time (n, k): each column in 65535 steps of its range, as differences from row to row.

        What moves smoothly has small differences, which compress to a quarter of what floats need.
        """
        rows = np.asarray(values, dtype=float).reshape(len(values), -1)
        low = rows.min(axis=0).astype(np.float32)
        step = (np.ptp(rows, axis=0) / _STEPS).astype(np.float32)
        safe = np.where(step > 0.0, step, 1.0).astype(float)
        counts = np.clip(np.round((rows - low) / safe), 0, _STEPS).astype(np.int64)
        changes = (np.diff(counts, axis=0, prepend=0) % (_STEPS + 1)).T.reshape(-1).astype(np.uint16)
        planes = [(changes & 255).astype(np.uint8), (changes >> 8).astype(np.uint8)]
        raw = low.astype("<f4").tobytes() + step.astype("<f4").tobytes() + b"".join(plane.tobytes() for plane in planes)
        return [*self._append("smooth", raw, len(rows)), rows.shape[1]]

    def text(self) -> str:
        """zlib, then base64."""
        return base64.b64encode(zlib.compress(self.data, 9)).decode("ascii")

    def _append(self, kind: str, raw: bytes, count: int) -> Reference:
        reference = [kind, len(self.data), count]
        self.data += raw
        self.data += b"\0" * (-len(self.data) % 4)  # views in JavaScript start at multiples of their element's size
        return reference


def packed(data: Any, blob: Blob) -> str:
    """The text of a script element that holds the data and what they refer to."""
    return inline_json({"data": data, "blob": blob.text()})
