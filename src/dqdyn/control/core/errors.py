"""Errors and warnings of controllers."""

from __future__ import annotations

from typing import Any

from dqdyn.errors import Error, LibraryWarning


class ControlError(Error):
    """A controller cannot go on; carries what it knows."""


class SignalError(ControlError):
    """Something given from outside has no value at the moment: ``what`` it is, the ``signal``, and ``why`` in words."""


class InfeasibleError(ControlError):
    """No command obeys all constraints; carries ``conflict``, a minimal set of their names."""


def refused(wanted: str, found: Any, **data: Any) -> Error:
    """The error of an argument that is not what is wanted; carries what was ``found``."""
    return Error(f"{wanted}; found {found!r}.", found=found, **data)


def no_value(what: str, problem: Exception, signal: Any = None) -> SignalError:
    """The error of a signal whose function or measurement failed."""
    why = f"has no value: {in_words(problem)}"
    return SignalError(f"{what[:1].upper()}{what[1:]} {why}.", what=what, why=why, signal=signal)


def in_words(problem: Exception) -> str:
    """What a function of the user raised; of errors of this library the sentence alone."""
    text = str(problem).rstrip(".")
    return text if isinstance(problem, Error) else f"{type(problem).__name__}: {text}".removesuffix(": ")


class ControlWarning(LibraryWarning):
    """A controller works, but not as it should: targets in forbidden zones, starts outside of the safe set, gains."""
