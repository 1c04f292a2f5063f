"""Names of frames on values.

A pose x_ab is that of the *body* frame b in the *reference* frame a. A twist is that of a body against a reference, a
wrench acts on a body and is exerted by its reference; both are *expressed* in a frame: at its origin, in its axes. A
name that was not given is None and agrees with every other; a result has all names that follow from known ones.
"""

from __future__ import annotations

from typing import TypeAlias

from dqdyn.errors import Error

Name: TypeAlias = str | None
"""Of a frame; None where it was not given."""


def agree(a: Name, b: Name) -> bool:
    """Whether two names may be those of one frame."""
    return a is None or b is None or a == b


def known(a: Name, b: Name) -> Name:
    """The name of one frame that was named twice, or once, or never."""
    return b if a is None else a


def same(a: Name, b: Name) -> bool:
    """Whether two names are known to be those of one frame."""
    return a is not None and a == b


def aligned(frame: str, axes: str) -> str:
    """The name of the frame that has the origin of one frame and the axes of another."""
    return f"{frame} ({axes} axes)"


def require_names(names: tuple[Name, ...]) -> tuple[Name, ...]:
    """The names, or an :class:`Error` where one is neither text nor None."""
    for name in names:
        if not (name is None or isinstance(name, str)):
            raise Error(f"A frame of a value is given by its name, a text; found {name!r}.", found=name)
    return names
