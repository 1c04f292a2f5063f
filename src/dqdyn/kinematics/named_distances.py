"""The Jacobians and residuals of :data:`dqdyn.kinematics.distances.DISTANCES` under the names of DQ Robotics.

``point_to_line_distance_jacobian(J_p, p, line)`` and ``point_to_line_residual(p, line, line_rate)``, and their rates
along the motion of both things, for every pair. The first thing is on the robot, the second in the workspace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.kinematics.distances import (
    line_to_line,
    line_to_line_angle,
    line_to_line_phi,
    line_to_point,
    line_to_segment,
    plane_to_point,
    point_to_line,
    point_to_plane,
    point_to_point,
    point_to_segment,
    segment_to_plane,
    segment_to_segment,
)

point_to_point_distance_jacobian = point_to_point.jacobian
point_to_point_distance_jacobian_derivative = point_to_point.jacobian_derivative
point_to_point_residual = point_to_point.residual
point_to_point_residual_derivative = point_to_point.residual_derivative

point_to_line_distance_jacobian = point_to_line.jacobian
point_to_line_distance_jacobian_derivative = point_to_line.jacobian_derivative
point_to_line_residual = point_to_line.residual
point_to_line_residual_derivative = point_to_line.residual_derivative

point_to_plane_distance_jacobian = point_to_plane.jacobian
point_to_plane_distance_jacobian_derivative = point_to_plane.jacobian_derivative
point_to_plane_residual = point_to_plane.residual
point_to_plane_residual_derivative = point_to_plane.residual_derivative

point_to_segment_distance_jacobian = point_to_segment.jacobian
point_to_segment_distance_jacobian_derivative = point_to_segment.jacobian_derivative
point_to_segment_residual = point_to_segment.residual
point_to_segment_residual_derivative = point_to_segment.residual_derivative

line_to_point_distance_jacobian = line_to_point.jacobian
line_to_point_distance_jacobian_derivative = line_to_point.jacobian_derivative
line_to_point_residual = line_to_point.residual
line_to_point_residual_derivative = line_to_point.residual_derivative

line_to_line_distance_jacobian = line_to_line.jacobian
line_to_line_distance_jacobian_derivative = line_to_line.jacobian_derivative
line_to_line_residual = line_to_line.residual
line_to_line_residual_derivative = line_to_line.residual_derivative

line_to_segment_distance_jacobian = line_to_segment.jacobian
line_to_segment_distance_jacobian_derivative = line_to_segment.jacobian_derivative
line_to_segment_residual = line_to_segment.residual
line_to_segment_residual_derivative = line_to_segment.residual_derivative

plane_to_point_distance_jacobian = plane_to_point.jacobian
plane_to_point_distance_jacobian_derivative = plane_to_point.jacobian_derivative
plane_to_point_residual = plane_to_point.residual
plane_to_point_residual_derivative = plane_to_point.residual_derivative

segment_to_segment_distance_jacobian = segment_to_segment.jacobian
segment_to_segment_distance_jacobian_derivative = segment_to_segment.jacobian_derivative
segment_to_segment_residual = segment_to_segment.residual
segment_to_segment_residual_derivative = segment_to_segment.residual_derivative

segment_to_plane_distance_jacobian = segment_to_plane.jacobian
segment_to_plane_distance_jacobian_derivative = segment_to_plane.jacobian_derivative
segment_to_plane_residual = segment_to_plane.residual
segment_to_plane_residual_derivative = segment_to_plane.residual_derivative

line_to_line_angle_jacobian_derivative = line_to_line_angle.jacobian_derivative
line_to_line_angle_residual_derivative = line_to_line_angle.residual_derivative
line_to_line_phi_jacobian_derivative = line_to_line_phi.jacobian_derivative
line_to_line_phi_residual_derivative = line_to_line_phi.residual_derivative


def line_to_line_angle_jacobian(jacobian: Any, line: Any, other: Any) -> np.ndarray:
    """J (..., nv) of f = 2 − 2 cos φ, which is smooth at all angles [Quiroz, eq. (4.30)]."""
    return line_to_line_angle.jacobian(jacobian, line, other)


def line_to_line_angle_residual(line: Any, other: Any, other_rate: Any) -> Any:
    """ζ of f = 2 − 2 cos φ [Quiroz, eq. (4.30)]."""
    return line_to_line_angle.residual(line, other, other_rate)


def line_to_line_phi_jacobian(jacobian: Any, line: Any, other: Any) -> np.ndarray:
    """J (..., nv) of the angle φ in rad [Quiroz, eq. (4.27)]; 0 at φ = 0 and π, where φ has no derivative.

    As printed, −1/√(1 − ⟨l_z, l⟩²) multiplies the first term alone; it belongs to both.
    """
    return line_to_line_phi.jacobian(jacobian, line, other)


def line_to_line_phi_residual(line: Any, other: Any, other_rate: Any) -> Any:
    """ζ of the angle φ in rad [Quiroz, eq. (4.27)]."""
    return line_to_line_phi.residual(line, other, other_rate)
