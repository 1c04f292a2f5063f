"""Forces, accelerations, the mass matrix, energies, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dqdyn.algebra.scalar import Scalar, Scalars, is_known_zero, total
from dqdyn.constraints.forward import CONSTRAINED_FORWARD
from dqdyn.dynamics import methods
from dqdyn.dynamics.arguments import Wrenches
from dqdyn.dynamics.choice import Formulations
from dqdyn.dynamics.deferred import Deferred
from dqdyn.dynamics.joint_forces import armature, state_forces, turning_coriolis
from dqdyn.model.model import Model
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import Candidates, Result, RobotFunction, with_parameters

_LONG_SOLUTION = 30_000
"""Products for M⁻¹ ∂τ/∂q, about, from which on loops solve for derivatives of forward dynamics."""
Choice = Callable[[Model], Formulations]


def _joint_wrenches(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[list[Scalar]]:
    model, wrenches = methods.pulled(model, q, wrenches)
    transmitted, _ = Deferred("dynamics.formulations.newton_euler", "joint_wrenches")(model, q, v, a, wrenches)
    return [[*w.primary.vector, *w.dual.vector] for w in transmitted]


def _gauss(model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars) -> list[Scalar]:
    own = [ak * f for ak, f in zip(a, state_forces(model, q, v), strict=True)]
    of_bodies = Deferred("dynamics.formulations.gauss", "gauss_function")(model, q, v, a, tau)
    return [total([of_bodies, *own, *_rotors(model, a)])]


def _gibbs_appell(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    turning = [a[i] * (c * v[j]) for i, j, c in turning_coriolis(model, v)]
    of_bodies = Deferred("dynamics.formulations.gibbs_appell", "gibbs_appell_function")(model, q, v, a)
    return [total([of_bodies, *turning, *_rotors(model, a)])]


def _rotors(model: Model, a: Scalars) -> list[Scalar]:
    return [ak * ak * (0.5 * r) for ak, r in zip(a, armature(model), strict=True) if not is_known_zero(r)]


def _kinetic_energy(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    return [Deferred("dynamics.energy", "kinetic_energy")(model, q, v)]


def _potential_energy(model: Model, q: Scalars) -> list[Scalar]:
    return [Deferred("dynamics.energy", "potential_energy")(model, q)]


def _forward_derivatives(model: Model, options: Options) -> Candidates:
    if model.constraints:
        return [(_constrained_derivatives, model)]
    return [(methods.forward_derivatives, methods.regrouped(model.with_frames(())))]


def _forward_derivative_system(model: Model, options: Options) -> Candidates:
    """What gives the equations for these derivatives, where straight-line code of their solution would be long."""
    if model.constraints or 2 * model.nv * sum(methods.depths(model)) < _LONG_SOLUTION:
        return []
    candidates = methods.FORWARD.candidates(model.with_frames(()), "auto")
    return [(methods.ForwardDerivativeSystem(form), on) for form, on in candidates]


def _constrained_derivatives(model: Model, q: Scalars, v: Scalars, tau: Scalars) -> Any:
    forward = CONSTRAINED_FORWARD.form("auto")
    return Deferred("constraints.methods.derivatives", "forward_derivatives")(model, forward, q, v, tau)


def _inverse_mass_matrix(model: Model, options: Options) -> Candidates:
    return [(methods.inverse_mass_matrix, methods.regrouped(model.with_frames(())))]


def forward_formulations(model: Model) -> Formulations:
    """The formulations of forward dynamics: those that obey constraints, where there are any."""
    return CONSTRAINED_FORWARD if model.constraints else methods.FORWARD


def _by(name: str, inputs: str, result: Result, choice: Choice, options: str = "", **more: Any) -> RobotFunction:
    """A function that several formulations compute."""
    return _of(name, inputs, result, None, options, choice=choice, **more)


_of = RobotFunction.of
_WRENCHES = "wrench_frames wrench_expressed"
DYNAMICS = with_parameters(
    _by("inverse_dynamics", "q v a", "list", lambda model: methods.INVERSE, f"method {_WRENCHES}"),
    _by("forward_dynamics", "q v tau", "list", forward_formulations, f"method {_WRENCHES} time", divides="M"),
    _by("mass_matrix", "q", "matrix", lambda model: methods.MASS_MATRIX, "method packed"),
    _of("joint_wrenches", "q v a", "matrix", _joint_wrenches, _WRENCHES, columns=lambda model: 6),
    _by("bias_forces", "q v", "list", lambda model: methods.BIAS),
    _by("gravity_forces", "q", "list", lambda model: methods.GRAVITY),
    _of("gauss_function", "q v a tau", "list", _gauss, plain="number"),
    _of("gibbs_appell_function", "q v a", "list", _gibbs_appell, plain="number"),
    _of("kinetic_energy", "q v", "list", _kinetic_energy, plain="number"),
    _of("potential_energy", "q", "list", _potential_energy, plain="number"),
    _by("coriolis_matrix", "q v", "matrix", lambda model: methods.CORIOLIS, "method"),
    _by("inverse_dynamics_derivatives", "q v a", "matrices", lambda model: methods.INVERSE_DERIVATIVES, plain="parts"),
    _of(
        "forward_dynamics_derivatives",
        "q v tau",
        "matrices",
        candidates=_forward_derivatives,
        system=_forward_derivative_system,
        divides="M",
        plain="parts",
    ),
    _of("inverse_mass_matrix", "q", "matrix", candidates=_inverse_mass_matrix, divides="M"),
    _of("torque_regressor", "q v a", "matrix", Deferred("dynamics.fast.regressor", "torque_regressor")),
    without=("gauss_function",),  # which needs the inverse of tensors
)
