"""Polynomials of time, piece by piece: quintics, extremes, and profiles within limits; nothing here knows robots."""

from __future__ import annotations

from dqdyn.splines.piecewise import Piecewise
from dqdyn.splines.profiles import profile
from dqdyn.splines.quintic import Quintic, quintic_coefficients

__all__ = ["Piecewise", "Quintic", "profile", "quintic_coefficients"]
