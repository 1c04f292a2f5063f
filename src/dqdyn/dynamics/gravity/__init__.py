"""Gravity: uniform, of a ball, or any potential; and the dynamics of robots in such fields."""

from dqdyn.dynamics.gravity.fields import Central, Field, Potential, Uniform, as_field, on_bodies

__all__ = ["Central", "Field", "Potential", "Uniform", "as_field", "on_bodies"]
