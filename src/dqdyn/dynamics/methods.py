"""Which formulation serves which function, and the fast forms among which "auto" chooses by operation count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.deferred import deferred
from dqdyn.dynamics.joint_forces import armature, turning_coriolis, velocity_forces
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Model

regrouped = deferred("dynamics.fast.regroup", "regrouped")

Wrenches = Mapping[int, DQ] | None
Inverse = Callable[[Model, Sequence[Scalar], Sequence[Scalar], Sequence[Scalar], Wrenches], list[Scalar]]
Forward = Callable[[Model, Sequence[Scalar], Sequence[Scalar], Sequence[Scalar], Wrenches], list[Scalar]]
MassMatrix = Callable[[Model, Sequence[Scalar]], list[list[Scalar]]]
CoriolisMatrix = Callable[[Model, Sequence[Scalar], Sequence[Scalar]], list[list[Scalar]]]

_LONG = 12  # joints on one path from which forms for long chains are worth a try
VERY_LONG = 24
"""Joints on one path from which only they are."""


def pulled(model: Model, q: Sequence[Scalar], wrenches: Wrenches) -> tuple[Model, Wrenches]:
    """The robot and the wrenches on it; a gravity field becomes wrenches, so that formulations need not know it."""
    if not isinstance(model.gravity, FieldGravity):
        return model, wrenches
    found: tuple[Model, Wrenches] = deferred("dynamics.gravity.field_dynamics", "pulled")(model, q, wrenches)
    return found


def inverse(formulation: Inverse) -> Inverse:
    """A formulation of the tree's bodies, completed by what the joints contribute."""

    def call(
        model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], wrenches: Wrenches = None
    ) -> list[Scalar]:
        model, wrenches = pulled(model, q, wrenches)
        tau = formulation(model, q, v, a, wrenches)
        rotor, own = armature(model), velocity_forces(model, v)
        return [t + (ak * r if r else 0.0) + f for t, ak, r, f in zip(tau, a, rotor, own, strict=True)]

    return call


def mass_matrix(formulation: MassMatrix) -> MassMatrix:
    """A mass matrix of the tree's bodies, completed by armature."""

    def call(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
        matrix = formulation(model, q)
        for k, r in enumerate(armature(model)):
            if r:
                matrix[k][k] = matrix[k][k] + r
        return matrix

    return call


def coriolis_matrix(formulation: CoriolisMatrix) -> CoriolisMatrix:
    """A Coriolis matrix of the tree's bodies, completed by armature that turns."""

    def call(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
        matrix = formulation(model, q, v)
        for i, j, c in turning_coriolis(model, v):
            matrix[i][j] = matrix[i][j] + c
        return matrix

    return call


def by_mass_matrix(form: MassMatrix) -> Forward:
    """Forward dynamics as M a = τ − bias."""
    complete, solve = mass_matrix(form), deferred("dynamics.fast.sparse_solve", "solve")

    def call(
        model: Model, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], wrenches: Wrenches = None
    ) -> list[Scalar]:
        model, wrenches = pulled(model, q, wrenches)
        bias = deferred("dynamics.fast.recursive", "inverse_dynamics")(model, q, v, [0.0] * model.nv, wrenches)
        right = [t - b - f for t, b, f in zip(tau, bias, velocity_forces(model, v), strict=True)]
        return solve(complete(model, q), right)

    return call


def by_articulated_bodies(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], wrenches: Wrenches = None
) -> list[Scalar]:
    """Forward dynamics joint by joint."""
    model, wrenches = pulled(model, q, wrenches)
    net = [t - f for t, f in zip(tau, velocity_forces(model, v), strict=True)]
    return deferred("dynamics.fast.articulated", "forward_dynamics")(model, q, v, net, wrenches, armature(model))


def derivatives(form: Callable[..., Any], which: str = "inverse_derivatives") -> Callable[..., Any]:
    """Derivatives for uniform gravity, completed by what a gravity field changes with q."""

    def call(model: Model, *state: Any) -> Any:
        if not isinstance(model.gravity, FieldGravity):
            return form(model, *state)
        return deferred("dynamics.gravity.field_dynamics", which)(form, model, *state)

    return call


INVERSE: dict[str, Inverse] = {
    "newton-euler": inverse(deferred("dynamics.formulations.newton_euler", "inverse_dynamics")),
    "recursive": inverse(deferred("dynamics.fast.recursive", "inverse_dynamics")),
    "screw": inverse(deferred("dynamics.formulations.screw", "inverse_dynamics")),
    "matrix": inverse(deferred("dynamics.formulations.matrix_form", "inverse_dynamics")),
    "closed-form": inverse(deferred("dynamics.formulations.closed_form", "inverse_dynamics")),
    "gauss": inverse(deferred("dynamics.formulations.gauss", "inverse_dynamics")),
    "gibbs-appell": inverse(deferred("dynamics.formulations.gibbs_appell", "inverse_dynamics")),
    "kane": inverse(deferred("dynamics.formulations.kane", "inverse_dynamics")),
    "lagrange": inverse(deferred("dynamics.formulations.lagrange", "inverse_dynamics")),
    "newton-euler-literal": inverse(deferred("dynamics.formulations.literal.silva", "inverse_dynamics")),
    "screw-literal": inverse(deferred("dynamics.formulations.literal.farias", "inverse_dynamics")),
    "gauss-literal": inverse(deferred("dynamics.formulations.literal.quiroz", "inverse_dynamics")),
}
FORWARD: dict[str, Forward] = {
    "composite-body": by_mass_matrix(deferred("dynamics.fast.composite", "mass_matrix")),
    "articulated-body": by_articulated_bodies,
}
MASS_MATRIX: dict[str, MassMatrix] = {
    "composite-body": mass_matrix(deferred("dynamics.fast.composite", "mass_matrix")),
    "composite-body-root": mass_matrix(deferred("dynamics.fast.composite", "mass_matrix_from_root")),
    "closed-form": mass_matrix(deferred("dynamics.formulations.closed_form", "mass_matrix")),
    "gauss": mass_matrix(deferred("dynamics.formulations.gauss", "mass_matrix")),
    "lagrange": mass_matrix(deferred("dynamics.formulations.lagrange", "mass_matrix")),
    "gauss-literal": mass_matrix(deferred("dynamics.formulations.literal.quiroz", "mass_matrix")),
}
CORIOLIS: dict[str, CoriolisMatrix] = {
    "christoffel": coriolis_matrix(deferred("dynamics.fast.coriolis", "coriolis_matrix")),
    "gauss": coriolis_matrix(deferred("dynamics.formulations.gauss", "coriolis_matrix")),
    "lagrange": coriolis_matrix(deferred("dynamics.formulations.lagrange", "coriolis_matrix")),
    "gauss-literal": coriolis_matrix(deferred("dynamics.formulations.literal.quiroz", "coriolis_matrix")),
}


def longest_path(model: Model) -> int:
    """Joints from the root to the farthest body."""
    depth: list[int] = []
    for joint in model.joints:
        depth.append(1 + (depth[joint.parent] if joint.parent >= 0 else 0))
    return max(depth, default=0)


def inverse_candidates(model: Model) -> list[tuple[Inverse, Model]]:
    """The forms of inverse dynamics to compare for this robot."""
    return [(INVERSE["recursive"], regrouped(model)), (INVERSE["recursive"], model)]


def derivatives_candidates(model: Model) -> list[tuple[Callable[..., Any], Model]]:
    """The forms of the derivatives of inverse dynamics to compare for this robot."""
    names = ["", "_in_bodies"] if longest_path(model) < VERY_LONG else [""]
    forms = [
        derivatives(deferred("dynamics.fast.derivatives", f"inverse_dynamics_derivatives{name}")) for name in names
    ]
    return [(form, regrouped(model)) for form in forms]


def mass_matrix_candidates(model: Model) -> list[tuple[MassMatrix, Model]]:
    """The forms of the mass matrix to compare for this robot."""
    reduced = regrouped(model)
    if longest_path(model) >= _LONG:
        return [(MASS_MATRIX["composite-body-root"], reduced), (MASS_MATRIX["composite-body"], reduced)]
    return [(MASS_MATRIX["composite-body"], reduced)]


def forward_candidates(model: Model) -> list[tuple[Forward, Model]]:
    """The forms of forward dynamics to compare for this robot; mimic joints couple branches, so M is needed."""
    reduced = regrouped(model)
    if any(joint.is_mimic for joint in model.joints):
        return [(FORWARD["composite-body"], reduced)]
    if longest_path(model) >= VERY_LONG:
        return [(FORWARD["articulated-body"], reduced)]
    if longest_path(model) >= _LONG or model.nv > 30:
        return [(FORWARD["articulated-body"], reduced), (FORWARD["composite-body"], reduced)]
    return [(FORWARD["composite-body"], reduced)]
