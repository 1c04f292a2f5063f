"""Cartesian impedance: a frame or a point that moves like a mass with spring and damper about a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import exp
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import ZERO, Quaternion, dot3, pure
from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array, RealArray
from dqdyn.constraints.methods.sparse import dot, sparse
from dqdyn.control.core.errors import refused
from dqdyn.control.core.kinematics import Matrix, Rows, SignalMotion, State
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Feature, FramePose
from dqdyn.control.features.hands import HandsPose, OnHands
from dqdyn.control.features.on_robot import PointLike
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.control.tasks.target import PoseTask, TargetTask, TranslationTask
from dqdyn.dynamics import methods
from dqdyn.dynamics.fast.sparse_solve import factored, substitute
from dqdyn.errors import Error
from dqdyn.model.model import Model

_ROUNDING = 1e-9  # relative to the largest entry, of symmetry and of eigenvalues


class ImpedanceTask(Task):
    """M ë + D ė + K e = F for the error e of a frame (6) or of a point of the robot (3) against a target.

    ``ImpedanceTask("tool", pose, stiffness=…)`` has the error of :class:`PoseTask`, e = [φn, p] in rad and m in the
    axes of the target; ``ImpedanceTask(ct.point("tool"), position, …)`` that of :class:`TranslationTask`, p − p_d in
    world axes. ``stiffness`` K (N m/rad, then N/m), ``damping`` D (N m s/rad, N s/m) and ``inertia`` M (kg m², kg) are
    one number, one per component, or symmetric matrices. Without ``damping`` it is critical, D = 2 M^½ (M^-½ K M^-½)^½
    M^½.

    ``force`` F is what acts on the robot from outside, as measured: the wrench [f, τ] in N and N m at the origin of the
    frame, or the force f at the point, in world axes. It enters by its power, so that the energy ½ ėᵀM ė + ½ eᵀK e
    changes by what the force does and the damper takes, whatever the angle.

    A force that is not measured deflects the robot by its own inertia instead of M. ``inertia="natural"`` takes that
    one, M = (J M_q⁻¹ Jᵀ)⁻¹, and needs no ``force``: at rest K e = F, whoever pushes. It is for robots with a motor on
    every axis.
    """

    instead_of_velocities = "use PoseTask or TranslationTask there"

    def __init__(
        self,
        frame: PointLike,
        target: SignalLike,
        *,
        stiffness: float | RealArray,
        damping: float | RealArray | None = None,
        inertia: float | RealArray | Literal["natural"] = 1.0,
        force: SignalLike | None = None,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        is_point = isinstance(frame, Feature) and frame.kind == "point"
        if not is_point and not isinstance(frame, (str, FramePose, HandsPose)):
            raise refused("An ImpedanceTask moves a frame, or a point of the robot, ct.point(frame, …)", frame)
        self._of: TargetTask = TranslationTask(frame, target) if is_point else PoseTask(frame, target)  # type: ignore[arg-type]
        feature, self._size = self._of.features[0], 3 if is_point else 6
        what = f"impedance of {feature.place}"
        super().__init__(what, self._of.features, self._of.signals, weight=weight, name=name)
        self.gains = (1.0, 1.0)  # the matrices are the gains
        self.stiffness = _matrix(stiffness, self._size, f"stiffness of {self.name}")
        self.is_natural = isinstance(inertia, str)
        if self.is_natural and inertia != "natural":
            raise refused(f"inertia of {self.name} is 'natural' or numbers", inertia)
        self.inertia = None if self.is_natural else _matrix(inertia, self._size, f"inertia of {self.name}", above=True)
        if damping is None and self.inertia is None:
            raise Error(f"{self.name} needs a damping: critical is that of an inertia that does not change.")
        self.damping = (
            _critical(self.inertia, self.stiffness)
            if damping is None and self.inertia is not None
            else _matrix(damping, self._size, f"damping of {self.name}")
        )
        if force is not None:
            self._take_force(force, feature)

    def _take_force(self, force: SignalLike, feature: Feature) -> None:
        if self.is_natural:
            raise Error(f"{self.name} has its natural inertia, with which a force acts by itself: leave force out.")
        if isinstance(feature, (HandsPose, OnHands)):
            raise Error(f"{self.name} takes a force at one frame: leave it out for {feature.place}.")
        self.signals = (*self.signals, as_signal("vector", force, f"the force of {self.name}", self._size))

    def bound_to(self, model: Model) -> Self:
        idle = next((joint.name for joint in model.joints if None in joint.motors), None)
        if self.is_natural and (idle is not None or model.constraints):
            why = f"joint {idle!r} has none" if idle is not None else f"the constraints of {model.name!r} bear forces"
            way = "give an inertia, and the force as it is measured"
            raise Error(f"{self.name} has its natural inertia where all axes have motors, but {why}: {way}.")
        return super().bound_to(model)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return self._of.error(robot, given[:1])

    def components_at_target(self, feature: Feature) -> list[Scalar] | None:
        return self._of.components_at_target(feature)

    def rows(self, state: State, given: Sequence[SignalMotion]) -> Rows:
        rows = super().rows(state, given)
        if rows.drift is None:
            return rows
        mobility = self._mobility(state, rows.jacobian)
        drift = rows.drift
        if len(given) > 1:
            force = self._generalised(rows.value, given[0].value, given[1].value)
            drift = [d - dot(sparse(row), sparse(force)) for d, row in zip(drift, mobility, strict=True)]
        of_rate, of_value = (_product(mobility, matrix.tolist()) for matrix in (self.damping, self.stiffness))
        return replace(rows, drift=drift, gain_matrices=(of_rate, of_value))

    def _mobility(self, state: State, jacobian: Matrix) -> Matrix:
        """M⁻¹, or J M_q⁻¹ Jᵀ."""
        if self.inertia is not None:
            inverse: Matrix = np.linalg.inv(self.inertia).tolist()
            return inverse
        form, model = methods.MASS_MATRIX.candidates(state.model, "auto")[0]
        lower, inverse_diagonal = factored(form(model, state.q))
        columns = [sparse(substitute(lower, inverse_diagonal, row)) for row in jacobian]
        return [[dot(sparse(row), column) for column in columns] for row in jacobian]

    def _generalised(self, error: list[Scalar], target: list[Scalar], force: list[Scalar]) -> list[Scalar]:
        """The force that does at ė the work that f, or f and τ, do at the velocity of the point or frame."""
        if self._size == 3:
            return force
        turn = DQ.of8(target).primary
        f, torque = ((turn.conj() * pure(*c) * turn) for c in (force[:3], force[3:]))
        phi = error[:3]
        r = _turned(phi)
        turning = []  # 2 ṙ r* for φ̇ along each axis
        for axis in range(3):
            rate = derivative(lambda c: _turned(c).components, phi, [1.0 if i == axis else 0.0 for i in range(3)])
            turning.append(Quaternion(*rate) * r.conj() * 2.0)
        return [*(dot3(torque, omega) for omega in turning), *f.vector]


def _turned(phi: Sequence[Scalar]) -> Quaternion:
    """exp(φn/2)."""
    return exp(DQ.of(pure(*phi) * 0.5, ZERO)).primary


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = [sparse([row[k] for row in b]) for k in range(len(b[0]))]
    return [[dot(sparse(row), column) for column in columns] for row in a]


def _matrix(given: Any, size: int, what: str, *, above: bool = False) -> Array:
    """A symmetric matrix out of a number, a diagonal or a matrix, without negative eigenvalues; all ``above`` 0."""
    array = real_array(given, f"The {what}")
    if array.shape not in ((), (size,), (size, size)) or not np.isfinite(array).all():
        wanted = f"The {what} is one number, {size} of them, or a matrix ({size}, {size}), all finite"
        raise refused(wanted, given, expected=size)
    matrix = array if array.ndim == 2 else np.diag(np.broadcast_to(array, size))
    scale = float(np.abs(matrix).max())
    if np.abs(matrix - matrix.T).max() > _ROUNDING * scale:
        raise refused(f"The {what} must be symmetric", given)
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -_ROUNDING * scale or (above and least <= _ROUNDING * scale):
        wanted = f"The {what} must be positive {'definite' if above else 'semidefinite'}"
        raise Error(f"{wanted}: its least eigenvalue is {least:.6g}.", found=given, least=least)
    return np.array(matrix)


def _critical(inertia: Array, stiffness: Array) -> Array:
    """D with which all motions of M and K come to rest as fast as they can without swinging."""
    root = _square_root(inertia)
    inverse = np.linalg.inv(root)
    result: Array = 2.0 * root @ _square_root(inverse @ stiffness @ inverse) @ root
    return result


def _square_root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    result: Array = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return result
