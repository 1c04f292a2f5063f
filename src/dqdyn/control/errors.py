"""Errors and warnings of controllers."""

from __future__ import annotations

from dqdyn.errors import Error


class ControlError(Error):
    """A controller cannot go on; carries what it knows."""


class InfeasibleError(ControlError):
    """No command obeys all constraints; carries ``conflict``, a minimal set of their names."""


class ControlWarning(UserWarning):
    """A controller works, but not as it should: targets in forbidden zones, starts outside of the safe set, gains."""
