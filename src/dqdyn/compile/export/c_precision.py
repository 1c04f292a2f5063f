"""The numbers of exported C: double as in Python, or float for processors that compute in single precision."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dqdyn.errors import Error, unknown_name

_SHORT = 10  # characters of a constant that is written in decimal


@dataclass(frozen=True)
class Precision:
    """A type of C, the suffix of its constants and functions, its size in bytes, and the macros that check it."""

    name: str
    c_type: str
    suffix: str
    size: int
    words: str
    check: str

    def rounded(self, x: float) -> float:
        """The nearest number of this type; an error where that is another size altogether."""
        if self.size == 8 or not math.isfinite(x) or x == 0.0:
            return x
        with np.errstate(over="ignore", under="ignore"):
            value = float(np.float32(x))
        if not math.isfinite(value) or abs(value) < float(np.finfo(np.float32).tiny):
            raise Error(
                f"The constant {x:.6g} is beyond the range of float32: export with precision='float64'.", constant=x
            )
        return value

    def literal(self, x: float) -> str:
        """A constant of exactly that value, rounded once: in decimal where few digits are exact, else hexadecimal."""
        if math.isnan(x):
            return f"({self.c_type})NAN"
        if math.isinf(x):
            return f"({self.c_type})INFINITY" if x > 0 else f"(-({self.c_type})INFINITY)"
        x = self.rounded(x)
        text = repr(x) if self.is_short(x) else re.sub(r"\.?0*p", "p", x.hex())
        return f"({text}{self.suffix})" if text.startswith("-") else text + self.suffix

    def is_short(self, x: float) -> bool:
        """Whether a constant is written in decimal."""
        x = self.rounded(x)
        return len(repr(x)) <= _SHORT and Decimal(repr(x)) == Decimal(x)


FLOAT64 = Precision(
    "float64",
    "double",
    "",
    8,
    "doubles",
    """#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024
#error "double must be the binary64 of IEEE 754"
#endif
""",
)
FLOAT32 = Precision(
    "float32",
    "float",
    "f",
    4,
    "floats",
    """#if FLT_RADIX != 2 || FLT_MANT_DIG != 24 || FLT_MAX_EXP != 128
#error "float must be the binary32 of IEEE 754"
#endif
""",
)
PRECISIONS = {precision.name: precision for precision in (FLOAT64, FLOAT32)}


def precision_named(name: str) -> Precision:
    """The precision "float64" or "float32"."""
    if not isinstance(name, str) or name not in PRECISIONS:
        raise unknown_name("precision of exported C", name, PRECISIONS)
    return PRECISIONS[name]
