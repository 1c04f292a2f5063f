"""Names of functions, arguments and components in exported code."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

from dqdyn.compile.trace.program import Program
from dqdyn.errors import Error

OUTPUT = "out"
"""Name of the result in every language."""

_IDENTIFIER = re.compile(r"[A-Za-z]\w*", re.ASCII)
_C = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
main INFINITY NAN
"""
# Headers are read by C++ too.
_CPP = """
alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t class compl concept const_cast
constexpr decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public reinterpret_cast requires static_assert static_cast template
this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq
"""
_PYTHON = """
as assert async await class def del elif except finally from global import in is lambda nonlocal pass raise with
yield
"""
_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint
lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn significand sin
sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""
_CASADI = "null jac hess"
_RESERVED = frozenset(
    [f"{name}{suffix}" for name in _MATH.split() for suffix in ("", "f", "l")]
    + f"{_C} {_CPP} {_PYTHON} {_CASADI}".split()
)


def is_identifier(name: str) -> bool:
    """Whether C, C++, CasADi and Python all take this as the name of a function."""
    return bool(_IDENTIFIER.fullmatch(name)) and "__" not in name and name not in _RESERVED


def identifier(text: str) -> str:
    """A name made of any text: other characters than ASCII letters and digits become one underscore."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    if not name or name[0].isdigit():
        name = f"dq_{name}".rstrip("_")
    return f"{name}_" if name in _RESERVED else name


def function_name(program: Program, name: str | None) -> str:
    """The name that the user chose, which must be one, or that of the program."""
    return identifier(program.name) if name is None else checked_name(name, "an exported function")


def checked_name(name: str, what: str) -> str:
    """The name that the user chose for ``what``, or an error that says how names are made."""
    if not isinstance(name, str) or not is_identifier(name):
        raise Error(
            f"{name!r} cannot name {what}: begin with a letter, go on with letters, digits and single underscores, "
            "and avoid words of C, C++, Python and math.h.",
            name=name,
        )
    return name


def argument_names(program: Program, taken: Collection[str] = (OUTPUT,)) -> list[str]:
    """One distinct name per input; those of the program wherever they can stay."""
    names: list[str] = []
    for name, _ in program.inputs:
        chosen = identifier(name)
        while chosen in taken or chosen in names:
            chosen += "_"
        names.append(chosen)
    return names


def component_names(program: Program) -> list[list[str]]:
    """Names of the scalars of every input: q0, q1, …; for an input whose name ends in a digit, q1_0, q1_1, …"""
    result: list[list[str]] = []
    taken: set[str] = set()
    for name, (_, size) in zip(argument_names(program), program.inputs, strict=True):
        stem = f"{name}_" if name[-1].isdigit() else name
        while any(f"{stem}{i}" in taken for i in range(size)):
            stem += "_"
        result.append([f"{stem}{i}" for i in range(size)])
        taken.update(result[-1])
    return result


def rows_and_columns(shape: Sequence[int]) -> tuple[int, int]:
    """The matrix that holds a result: a vector is a column; of more axes, all but the last count the rows."""
    if len(shape) < 2:
        return math.prod(shape), 1
    return math.prod(shape[:-1]), shape[-1]
