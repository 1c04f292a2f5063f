"""Models against a physics engine, as the papers validate theirs."""

from dqdyn.analysis.validation.comparison import Comparison, Validation, validate

__all__ = ["Comparison", "Validation", "validate"]
