"""Errors and warnings of controllers."""

from __future__ import annotations

from dqdyn.errors import Error


class ControlError(Error):
    """A controller cannot go on; carries what it knows."""


class SignalError(ControlError):
    """Something given from outside has no value at the moment: ``what`` it is, and ``reason`` in words."""


class InfeasibleError(ControlError):
    """No command obeys all constraints; carries ``conflict``, a minimal set of their names."""


def no_value(what: str, problem: Exception) -> SignalError:
    """The error of a signal whose function or measurement failed."""
    reason = f"{what} has no value: {str(problem).rstrip('.')}"
    return SignalError(f"{reason[:1].upper()}{reason[1:]}.", what=what, reason=reason)


class ControlWarning(UserWarning):
    """A controller works, but not as it should: targets in forbidden zones, starts outside of the safe set, gains."""
