"""Which formulations serve which function, and the fast forms among which "auto" chooses by operation count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.scalar import Scalar, is_known_zero
from dqdyn.dynamics.arguments import Matrix, Scalars, Wrenches
from dqdyn.dynamics.choice import Candidate, Form, Formulations
from dqdyn.dynamics.deferred import Deferred
from dqdyn.dynamics.joint_forces import armature, state_forces, turning_coriolis
from dqdyn.dynamics.own_formulation import OwnFormulation
from dqdyn.errors import ModelError
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Model

MassMatrix = Callable[[Model, Scalars], Matrix]

_LONG = 12  # joints on one path from which forms for long chains are worth a try
VERY_LONG = 24
"""Joints on one path from which only they are."""
_OBLIQUE_LONG = 8  # the same for pairs of bodies, where most axes are oblique to each other

regrouped = Deferred("dynamics.fast.regroup", "regrouped")
_solve = Deferred("dynamics.fast.sparse_solve", "solve")
_recursive = Deferred("dynamics.fast.recursive", "inverse_dynamics")


def pulled(model: Model, q: Scalars, wrenches: Wrenches) -> tuple[Model, Wrenches]:
    """The robot and the wrenches on it; a gravity field becomes wrenches, so that formulations need not know it."""
    if not isinstance(model.gravity, FieldGravity):
        return model, wrenches
    under_gravity: tuple[Model, Wrenches] = Deferred("dynamics.gravity.field_dynamics", "pulled")(model, q, wrenches)
    return under_gravity


# --- formulations of the bodies, completed by what the joints contribute ----------------------------------------------


@dataclass(frozen=True)
class WithJointForces:
    """Inverse dynamics of the bodies, completed by armature, damping, friction and springs."""

    of_bodies: Deferred | OwnFormulation

    def __call__(self, model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
        model, wrenches = pulled(model, q, wrenches)
        tau = self.of_bodies.loaded(model, q, v, a, wrenches)
        rotor, own = armature(model), state_forces(model, q, v)
        return [t + (0.0 if is_known_zero(r) else ak * r) + f for t, ak, r, f in zip(tau, a, rotor, own, strict=True)]


@dataclass(frozen=True)
class WithArmature:
    """A mass matrix of the bodies, completed by armature."""

    of_bodies: Deferred | OwnFormulation

    def __call__(self, model: Model, q: Scalars) -> Matrix:
        matrix: Matrix = self.of_bodies.loaded(model, q)
        for k, r in enumerate(armature(model)):
            if not is_known_zero(r):
                matrix[k][k] = matrix[k][k] + r
        return matrix


@dataclass(frozen=True)
class WithTurningArmature:
    """A Coriolis matrix of the bodies, completed by armature that turns."""

    of_bodies: Deferred | OwnFormulation

    def __call__(self, model: Model, q: Scalars, v: Scalars) -> Matrix:
        matrix: Matrix = self.of_bodies.loaded(model, q, v)
        for i, j, c in turning_coriolis(model, v):
            matrix[i][j] = matrix[i][j] + c
        return matrix


@dataclass(frozen=True)
class WithFieldGravity:
    """Derivatives for uniform gravity, completed by what a gravity field changes with q."""

    of_bodies: Deferred
    in_field: str = "inverse_derivatives"

    def __call__(self, model: Model, *state: Scalars) -> Any:
        if not isinstance(model.gravity, FieldGravity):
            return self.of_bodies.loaded(model, *state)
        return Deferred("dynamics.gravity.field_dynamics", self.in_field)(self.of_bodies, model, *state)


def forward_by_mass_matrix(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Wrenches = None
) -> list[Scalar]:
    """Forward dynamics as M a = τ − bias."""
    model, wrenches = pulled(model, q, wrenches)
    bias = _recursive(model, q, v, [0.0] * model.nv, wrenches)
    right = [t - b - f for t, b, f in zip(tau, bias, state_forces(model, q, v), strict=True)]
    acceleration: list[Scalar] = _solve(MASS_MATRIX["composite-body"](model, q), right)
    return acceleration


def forward_by_articulated_bodies(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Wrenches = None
) -> list[Scalar]:
    """Forward dynamics joint by joint."""
    follower = next((joint.name for joint in model.joints if joint.is_mimic), None)
    if follower is not None:
        text = f"the method 'articulated-body' cannot treat joint {follower!r} of {model.name!r}, which mimics another"
        raise ModelError(f"{text}: use 'composite-body', or load the robot with mimic=False.", joint=follower)
    model, wrenches = pulled(model, q, wrenches)
    net = [t - f for t, f in zip(tau, state_forces(model, q, v), strict=True)]
    form = Deferred("dynamics.fast.articulated", "forward_dynamics")
    acceleration: list[Scalar] = form(model, q, v, net, wrenches, armature(model))
    return acceleration


def forward_derivatives(model: Model, q: Scalars, v: Scalars, tau: Scalars) -> tuple[Matrix, Matrix, Matrix]:
    """Derivatives of forward dynamics with respect to q (tangent), v and τ."""
    under_gravity, wrenches = pulled(model, q, None)
    bias = _recursive(under_gravity, q, v, [0.0] * model.nv, wrenches)
    right = [t - b - f for t, b, f in zip(tau, bias, state_forces(model, q, v), strict=True)]
    a = Deferred("dynamics.fast.responses", "solved")(model, q, right)
    matrices: tuple[Matrix, Matrix, Matrix] = _FORWARD_DERIVATIVES(model, q, v, a)
    return matrices


@dataclass(frozen=True)
class ForwardDerivativeSystem:
    """The linear equations that the derivatives of forward dynamics solve; see
    :func:`dqdyn.dynamics.fast.forward_derivatives.linear_system`. ``forward`` gives the acceleration."""

    forward: Callable[..., list[Scalar]]

    def __call__(self, model: Model, q: Scalars, v: Scalars, tau: Scalars) -> list[Matrix]:
        matrices: list[Matrix] = _FORWARD_DERIVATIVE_SYSTEM(model, q, v, self.forward(model, q, v, tau))
        return matrices


def inverse_mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M⁻¹ (nv×nv), symmetric, with armature."""
    matrix: Matrix = Deferred("dynamics.fast.responses", "inverse_mass_matrix")(model, q)
    return matrix


def bias_forces(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """τ (nv) at zero acceleration: Coriolis, centrifugal, gravity, damping, friction and springs."""
    return _INVERSE["recursive"](model, q, v, [0.0] * model.nv)


def gravity_forces(model: Model, q: Scalars) -> list[Scalar]:
    """τ (nv) that holds the robot at rest against gravity and springs."""
    zero = [0.0] * model.nv
    return _INVERSE["recursive"](model, q, zero, zero)


# --- what "auto" compares ---------------------------------------------------------------------------------------------


def longest_path(model: Model) -> int:
    """Joints from the root to the farthest body."""
    depth: list[int] = []
    for joint in model.joints:
        depth.append(1 + (depth[joint.parent] if joint.parent >= 0 else 0))
    return max(depth, default=0)


def depths(model: Model) -> list[int]:
    """How many axes move the body behind each axis (nv): the entries in its row of M, up to the diagonal."""
    moved: list[int] = []
    result: list[int] = []
    for joint in model.joints:
        above = moved[joint.parent] if joint.parent >= 0 else 0
        own = 0 if joint.is_mimic else joint.motion.nv
        moved.append(above + own)
        result += range(above + 1, above + own + 1)
    return result


@dataclass(frozen=True)
class _OnTwoModels:
    """One form on the robot with regrouped inertias and on the robot itself."""

    form: Form

    def __call__(self, model: Model) -> list[Candidate]:
        return [(self.form, regrouped(model)), (self.form, model)]


def _mass_matrices(model: Model) -> list[Candidate]:
    names = ["composite-body-root", "composite-body"] if longest_path(model) >= _LONG else ["composite-body"]
    return [(MASS_MATRIX[name], regrouped(model)) for name in names]


def _forward(model: Model) -> list[Candidate]:
    """Mimic joints couple branches, so M is needed."""
    length, names = longest_path(model), ["composite-body"]
    if not any(joint.is_mimic for joint in model.joints):
        if length >= VERY_LONG:
            names = ["articulated-body"]
        elif length >= _LONG or model.nv > 30:
            names = ["articulated-body", "composite-body"]
    return [(FORWARD[name], regrouped(model)) for name in names]


def _christoffel(model: Model) -> list[Candidate]:
    on = regrouped(model)
    return [(CORIOLIS["christoffel-root" if from_root_pays(on) else "christoffel"], on)]


def _inverse_derivatives(model: Model) -> list[Candidate]:
    on = regrouped(model)
    return [(INVERSE_DERIVATIVES["in-world" if from_root_pays(on) else "in-bodies"], on)]


def cheap_mass_matrix(model: Model) -> str:
    """The form of M that costs less."""
    return "composite-body-root" if from_root_pays(model) else "composite-body"


def from_root_pays(model: Model) -> bool:
    """Whether pairs of bodies cost less in the frame of the root body than in those of the bodies.

    There nothing is carried from body to body, but axes and inertias are dense. The path from which it pays depends on
    what it costs to carry: little where neighbouring axes are parallel or at right angles, as in most robots.
    """
    return longest_path(model) >= (_OBLIQUE_LONG if has_oblique_axes(model) else VERY_LONG)


def has_oblique_axes(model: Model) -> bool:
    """Whether most axes are neither parallel nor at right angles to those before them."""
    entries = ([e for column in j.placement_adjoint.columns for e in column.vector] for j in model.joints)
    # A placement that is an input is as oblique as it may be.
    known = (all(isinstance(e, (int, float)) and e in (0.0, 1.0, -1.0) for e in rotation) for rotation in entries)
    return 2 * sum(not right for right in known) > len(model.joints)


# --- the tables -------------------------------------------------------------------------------------------------------

_INVERSE: dict[str, WithJointForces] = {
    "newton-euler": WithJointForces(Deferred("dynamics.formulations.newton_euler", "inverse_dynamics")),
    "recursive": WithJointForces(_recursive),
    "screw": WithJointForces(Deferred("dynamics.formulations.screw", "inverse_dynamics")),
    "matrix": WithJointForces(Deferred("dynamics.formulations.matrix_form", "inverse_dynamics")),
    "closed-form": WithJointForces(Deferred("dynamics.formulations.closed_form", "inverse_dynamics")),
    "gauss": WithJointForces(Deferred("dynamics.formulations.gauss", "inverse_dynamics")),
    "gibbs-appell": WithJointForces(Deferred("dynamics.formulations.gibbs_appell", "inverse_dynamics")),
    "kane": WithJointForces(Deferred("dynamics.formulations.kane", "inverse_dynamics")),
    "lagrange": WithJointForces(Deferred("dynamics.formulations.lagrange", "inverse_dynamics")),
    "newton-euler-literal": WithJointForces(Deferred("dynamics.formulations.literal.silva", "inverse_dynamics")),
    "screw-literal": WithJointForces(Deferred("dynamics.formulations.literal.farias", "inverse_dynamics")),
    "gauss-literal": WithJointForces(Deferred("dynamics.formulations.literal.quiroz", "inverse_dynamics")),
}
INVERSE = Formulations("inverse_dynamics", _INVERSE, "recursive", _OnTwoModels(_INVERSE["recursive"]), WithJointForces)
FORWARD = Formulations(
    "forward_dynamics",
    {"composite-body": forward_by_mass_matrix, "articulated-body": forward_by_articulated_bodies},
    "composite-body",
    _forward,
)
MASS_MATRIX = Formulations(
    "mass_matrix",
    {
        "composite-body": WithArmature(Deferred("dynamics.fast.composite", "mass_matrix")),
        "composite-body-root": WithArmature(Deferred("dynamics.fast.composite", "mass_matrix_from_root")),
        "closed-form": WithArmature(Deferred("dynamics.formulations.closed_form", "mass_matrix")),
        "gauss": WithArmature(Deferred("dynamics.formulations.gauss", "mass_matrix")),
        "lagrange": WithArmature(Deferred("dynamics.formulations.lagrange", "mass_matrix")),
        "gauss-literal": WithArmature(Deferred("dynamics.formulations.literal.quiroz", "mass_matrix")),
    },
    "composite-body",
    _mass_matrices,
    WithArmature,
    axes=2,
)
CORIOLIS = Formulations(
    "coriolis_matrix",
    {
        "christoffel": WithTurningArmature(Deferred("dynamics.fast.coriolis", "coriolis_matrix")),
        "christoffel-root": WithTurningArmature(Deferred("dynamics.fast.coriolis", "coriolis_matrix_from_root")),
        "gauss": WithTurningArmature(Deferred("dynamics.formulations.gauss", "coriolis_matrix")),
        "lagrange": WithTurningArmature(Deferred("dynamics.formulations.lagrange", "coriolis_matrix")),
        "gauss-literal": WithTurningArmature(Deferred("dynamics.formulations.literal.quiroz", "coriolis_matrix")),
    },
    "christoffel",
    _christoffel,
    WithTurningArmature,
    axes=2,
)
BIAS = Formulations("bias_forces", {"recursive": bias_forces}, "recursive", _OnTwoModels(bias_forces))
GRAVITY = Formulations("gravity_forces", {"recursive": gravity_forces}, "recursive", _OnTwoModels(gravity_forces))
INVERSE_DERIVATIVES = Formulations(
    "inverse_dynamics_derivatives",
    {
        "in-world": WithFieldGravity(Deferred("dynamics.fast.derivatives", "inverse_dynamics_derivatives")),
        "in-bodies": WithFieldGravity(Deferred("dynamics.fast.derivatives", "inverse_dynamics_derivatives_in_bodies")),
    },
    "in-world",
    _inverse_derivatives,
)
_FORWARD_DERIVATIVES = WithFieldGravity(
    Deferred("dynamics.fast.forward_derivatives", "forward_dynamics_derivatives"), "forward_derivatives"
)
_FORWARD_DERIVATIVE_SYSTEM = WithFieldGravity(
    Deferred("dynamics.fast.forward_derivatives", "linear_system"), "forward_derivative_system"
)
