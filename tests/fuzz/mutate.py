"""Damage at random: numbers, texts, bytes, and values of JSON."""

from __future__ import annotations

import copy
import random
from typing import Any

_NUMBERS = """0 -0 1 -1 nan -nan inf -inf Infinity NaN 1e308 -1e308 1e309 1e-308 5e-324 1e30 1e31 1e-30 1e150 0x10 0b1
010 1_0 1,5 1.5.2 1e +1 .5 5. 1d3 true none ١ ２ ² ½ −1 3.141592653589793 1e-9 1e9 1e-17 4294967296 -2147483649"""
_MORE_NUMBERS = ("", " ", "1\u00a02", "1" + "0" * 400, "9" * 5000, "0." + "0" * 400 + "1", "\x00", "1\n")
ODD_NUMBERS = (*_NUMBERS.split(), *_MORE_NUMBERS)
ODD_TEXTS = (
    "",
    " ",
    "a b",
    "world",
    "é",
    "😀",
    "\u202e",
    "\u2028",
    "a\nb",
    "\t",
    "\x7f",
    "\x1b[2J",
    "'",
    '"',
    "<",
    "&amp;",
    "</script>",
    "*/",
    "{}",
    "%s%n",
    "../../etc/passwd",
    "file:///dev/zero",
    "a" * 300,
    "ﬁ",
    "\\u0000",
    "None",
    "\\",
)
ODD_VALUES = (None, True, False, 0, -1, 1e308, -0.0, 1e-320, 2**63, 10**400, "", "Infinity", "NaN", "x", [], {}, [[]])


def odd_number(rng: random.Random) -> str:
    """A number as a file may have it, or nearly one."""
    pick = rng.random()
    if pick < 0.6:
        return rng.choice(ODD_NUMBERS)
    if pick < 0.8:
        return repr(rng.uniform(-2.0, 2.0) * 10.0 ** rng.randint(-12, 12))
    return repr(rng.uniform(-2.0, 2.0))


def odd_text(rng: random.Random) -> str:
    """A name that nobody should give to anything."""
    if rng.random() < 0.6:
        return rng.choice(ODD_TEXTS)
    return "".join(
        chr(rng.choice((rng.randrange(128), rng.randrange(0x500), 0x2020))) for _ in range(rng.randint(1, 8))
    )


def damaged_text(rng: random.Random, text: str, most: int = 3) -> str:
    """Characters replaced, deleted, doubled or inserted in a few places."""
    for _ in range(rng.randint(1, most)):
        start = rng.randint(0, len(text))
        stop = min(len(text), start + rng.choice((0, 1, 1, 2, 5, 20, 200)))
        new = rng.choice(
            ("", "", odd_number(rng), odd_text(rng), text[start:stop] * 2, rng.choice("<>\"'{}[],:/=\\& "))
        )
        text = text[:start] + new + text[stop:]
    return text


def damaged_bytes(rng: random.Random, data: bytes, most: int = 3) -> bytes:
    """Bits flipped, runs deleted, doubled, zeroed or replaced, or the end cut off."""
    for _ in range(rng.randint(1, most)):
        start = rng.randint(0, len(data))
        stop = min(len(data), start + rng.choice((1, 1, 2, 4, 8, 50)))
        part = data[start:stop]
        how = rng.randrange(6)
        if how == 0:
            part = bytes(b ^ (1 << rng.randrange(8)) for b in part)
        elif how == 1:
            part = b""
        elif how == 2:
            part = part * rng.choice((2, 3, 100))
        elif how == 3:
            part = bytes([rng.choice((0, 0xFF, 0x80, 0x7F))]) * len(part)
        elif how == 4:
            part = rng.randbytes(len(part))
        else:
            return data[:start]
        data = data[:start] + part + data[stop:]
    return data


def as_text(data: bytes) -> str:
    """Bytes as text, one character each, so that a case can hold them."""
    return data.decode("latin-1")


def as_bytes(text: str) -> bytes:
    """Back; what no byte can be is encoded."""
    return text.encode("latin-1", errors="replace")


def damaged_value(rng: random.Random, value: Any, most: int = 3) -> Any:
    """A value of JSON with a few parts replaced, deleted, doubled or moved."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, most)):
        places = list(_places(value))
        if not places:
            return value
        box, key = rng.choice(places)
        how = rng.randrange(5)
        if how == 0:
            del box[key]
        elif how == 1 and isinstance(box, list):
            box.insert(key, copy.deepcopy(box[key]))
        elif how == 2:
            other, at = rng.choice(places)
            box[key] = copy.deepcopy(other[at]) if at in _keys(other) else None
        else:
            box[key] = odd_value(rng, box[key])
    return value


def odd_value(rng: random.Random, old: Any) -> Any:
    """Something in place of ``old``, often of its type."""
    if isinstance(old, (int, float)) and abs(old) < 1e290 and rng.random() < 0.6:
        return rng.choice((0, -0.0, -old, old * 1e9, old * 1e-9, 1e300, 5e-324, 10**400, rng.uniform(-2, 2), 1, -1))
    if isinstance(old, str) and rng.random() < 0.6:
        return odd_text(rng)
    return copy.deepcopy(rng.choice(ODD_VALUES))


def _keys(box: Any) -> Any:
    return range(len(box)) if isinstance(box, list) else box


def _places(value: Any) -> Any:
    """(container, key) of every part."""
    for key in list(_keys(value)) if isinstance(value, (list, dict)) else ():
        yield value, key
        yield from _places(value[key])
