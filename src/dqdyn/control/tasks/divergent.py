"""Balance: feedback on the divergent component of motion of the linear inverted pendulum."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array, RealArray
from dqdyn.contacts.support_polygon import SupportPolygon, convex_hull
from dqdyn.control.core.build import require_robot
from dqdyn.control.core.errors import refused
from dqdyn.control.core.kinematics import Rows, SignalMotion, State
from dqdyn.control.core.settings import number, positive
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import CenterOfMass
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.errors import Error
from dqdyn.geometry.polygon import nearest_in_polygon
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Model
from dqdyn.robot import Robot

_LEVEL = 1e-9  # m/s², of gravity along x and y
_FLAT = 1e-9  # of the square of the largest extent: polygons of less area have none


class DivergentComponentTask(Task):
    """The divergent component of motion ξ = c + ċ/ω₀ at a target ξ_d, horizontally: ξ̇ = ξ̇_d − k (ξ − ξ_d).

    c is the center of mass and k = ``gain`` in 1/s. As ξ̇ = ċ + c̈/ω₀ the task asks for c̈ = ω₀ (ξ̇_d − k (ξ − ξ_d) − ċ),
    and c follows ξ by itself at the rate ω₀: ċ = ω₀ (ξ − c). The target has two components, x and y in m, and may move;
    a constant one is where the center of mass comes to rest.

    ω₀ is ``omega`` in rad/s or √(g/``height``) with the height of the center of mass above the ground in m. The ground
    pushes at the zero-moment point z = ξ − ξ̇/ω₀: ``support``, a :class:`~dqdyn.contacts.SupportPolygon` or points
    (n, 2) of the ground in m, keeps the one that the task asks for in their convex hull, at the point of it next to
    what feedback without limits asks for. The error of the task is ξ − ξ_d in m.
    """

    instead_of_velocities = "use CenterOfMassTask there"
    _omega: float

    def __init__(
        self,
        target: SignalLike,
        *,
        height: float | None = None,
        omega: float | None = None,
        support: SupportPolygon | RealArray | None = None,
        gain: float | RealArray = 3.0,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        what = "divergent component"
        signal = as_signal("vector", target, f"the target of the {what}", 2)
        super().__init__(what, (CenterOfMass(),), (signal,), gain=gain, weight=weight, name=name)
        if (height is None) == (omega is None):
            wanted = "takes the height of the center of mass in m or omega in rad/s, one of them"
            raise refused(f"{self.name} {wanted}", (height, omega))
        self.height = None if height is None else positive(height, f"height of {self.name}")
        self.omega = None if omega is None else positive(omega, f"omega of {self.name}")
        self.support = None if support is None else _polygon(support, self.name)
        self.gains = (self.gain, 0.0)  # of first order: the rows below have ξ − ξ_d in the place of a rate

    def bound_to(self, model: Model) -> Self:
        result = copy.copy(super().bound_to(model))
        result._omega = self.natural_frequency(model)
        return result

    def natural_frequency(self, model: Model) -> float:
        """ω₀ in rad/s: the rate at which ξ leaves the zero-moment point."""
        if isinstance(model.gravity, FieldGravity):
            raise Error(f"{self.name} needs the same gravity everywhere: use robot.with_gravity([0, 0, -g]).")
        x, y, z = model.gravity
        if math.hypot(x, y) > _LEVEL or (self.omega is None and z >= 0.0):
            wanted = f"{self.name} needs gravity along -z: turn the world by robot.with_gravity([0, 0, -g])"
            raise refused(wanted, tuple(model.gravity))
        return math.sqrt(-z / self.height) if self.omega is None and self.height is not None else self.omega or 0.0

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [a - b for a, b in zip(robot[0], given[0], strict=True)]

    def rows(self, state: State, given: Sequence[SignalMotion]) -> Rows:
        center, target, omega = CenterOfMass().kinematics(state), given[0], self._omega
        axes = range(state.model.nv)
        jacobian = [[center.columns[k][i] * (1.0 / omega) for k in axes] for i in range(2)]
        residual = [c - d for c, d in zip(center.value, target.value, strict=False)]
        if center.rate is None or center.drift is None:
            return Rows([0.0] * 2, jacobian, residual)
        xi = [c + rate * (1.0 / omega) for c, rate in zip(center.value[:2], center.rate, strict=False)]
        error = self.error([xi], [target.value])
        moved = zip(center.drift, center.rate, target.rate, strict=False)
        drift = [d * (1.0 / omega) + rate - wanted for d, rate, wanted in moved]
        if self.support is not None:
            unlimited = self._zero_moment_point(xi, error, target.rate, omega)
            limited = nearest_in_polygon(self.support.tolist(), unlimited)
            # ξ̇ = ω₀ (ξ − z): with another z the rate asked for is another.
            drift = [d + omega * (b - a) for d, a, b in zip(drift, unlimited, limited, strict=True)]
        return self.chosen_rows(Rows(error, jacobian, residual, error, drift))

    def zero_moment_point(self, robot: Robot, t: float, q: RealArray, v: RealArray) -> Array:
        """The zero-moment point (2,) in m that the task asks for at time t (s), q (nq,) and v (nv,)."""
        require_robot(robot)
        omega, target = self.natural_frequency(robot.model), self.signals[0].at(number(t, "The time"))
        component = robot.center_of_mass(q) + robot.center_of_mass_velocity(q, v) / omega
        if component.ndim != 1:
            raise refused("zero_moment_point takes one state at a time", component.shape)
        xi = component[:2].tolist()
        z = self._zero_moment_point(xi, self.error([xi], [target.value]), target.rate, omega)
        return np.array(z if self.support is None else nearest_in_polygon(self.support.tolist(), z))

    def _zero_moment_point(
        self, xi: list[Scalar], error: list[Scalar], target_rate: list[Scalar], omega: float
    ) -> list[Scalar]:
        """z = ξ − (ξ̇_d − k (ξ − ξ_d))/ω₀, without limits."""
        gains = [self.gain] * 2 if self.gain_factors is None else self.gain_factors.tolist()
        each = zip(xi, error, target_rate, gains, strict=True)
        return [x - (rate - k * e) * (1.0 / omega) for x, e, rate, k in each]


def _polygon(support: Any, name: str) -> Array:
    """The corners of the convex hull, counter-clockwise."""
    points = real_array(support.corners if isinstance(support, SupportPolygon) else support, f"support of {name}")
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise refused(f"support of {name} are points of the ground (n, 2), finite and in m", support)
    corners = convex_hull(points).reshape(-1, 2)
    x, y = corners.T
    area = 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    if len(corners) < 3 or area <= _FLAT * float(np.ptp(corners, axis=0).max()) ** 2:
        raise refused(f"support of {name} has no area: give at least three points that are not on one line", support)
    return corners
