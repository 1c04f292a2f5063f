"""The Jacobians and residuals of :data:`dqdyn.kinematics.distances.DISTANCES` under the names of DQ Robotics.

``point_to_line_distance_jacobian(J_p, p, line)`` and ``point_to_line_residual(p, line, line_rate)``, and their rates
along the motion of both, ``..._jacobian_derivative`` and ``..._residual_derivative``, for every pair. The first of a
pair is on the robot, the second in the workspace. Angles have no ``distance`` in their names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dqdyn.arrays import Array, RealArray
from dqdyn.kinematics.distances import DISTANCES, Argument, line_to_line_angle, line_to_line_phi

ANGLES = (line_to_line_angle.name, line_to_line_phi.name)
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{name}{'' if part.startswith('residual') or name in ANGLES else '_distance'}_{part}": getattr(distance, part)
    for name, distance in DISTANCES.items()
    for part in ("jacobian", "jacobian_derivative", "residual", "residual_derivative")
}


def __getattr__(name: str) -> Callable[..., Any]:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)


def line_to_line_angle_jacobian(jacobian: RealArray, line: Argument, other: Argument) -> Array:
    """J (..., nv) of f = 2 − 2 cos φ, which is smooth at all angles [Quiroz, eq. (4.30)]."""
    return line_to_line_angle.jacobian(jacobian, line, other)


def line_to_line_angle_residual(line: Argument, other: Argument, other_rate: Argument) -> Any:
    """ζ of f = 2 − 2 cos φ [Quiroz, eq. (4.30)]."""
    return line_to_line_angle.residual(line, other, other_rate)


def line_to_line_phi_jacobian(jacobian: RealArray, line: Argument, other: Argument) -> Array:
    """J (..., nv) of the angle φ in rad [Quiroz, eq. (4.27)]; 0 at φ = 0 and π, where φ has no derivative.

    As printed, −1/√(1 − ⟨l_z, l⟩²) multiplies the first term alone; it belongs to both.
    """
    return line_to_line_phi.jacobian(jacobian, line, other)


def line_to_line_phi_residual(line: Argument, other: Argument, other_rate: Argument) -> Any:
    """ζ of the angle φ in rad [Quiroz, eq. (4.27)]."""
    return line_to_line_phi.residual(line, other, other_rate)
