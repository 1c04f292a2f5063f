"""Functions of a robot under constraints, for the catalog: algorithms, and the forms that the compiler compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dqdyn.algebra.scalar import Scalar, total
from dqdyn.dynamics import methods
from dqdyn.dynamics.deferred import deferred
from dqdyn.dynamics.wrenches import on_bodies
from dqdyn.errors import Error, ModelError, unknown_name
from dqdyn.model.model import Model

FORMS: dict[str, Callable[..., Any]] = {
    "kkt": deferred("constraints.methods.kkt", "forward"),
    "udwadia-kalaba": deferred("constraints.methods.udwadia_kalaba", "forward"),
    "kane": deferred("constraints.methods.kane", "forward"),
}
"""Methods of constrained forward dynamics: ``form(model, q, v, tau, wrenches, t, mass_matrix, singular)``."""
METHODS = ("auto", *FORMS)

_assembled = {
    name: deferred("constraints.assembled", name)
    for name in ("velocity", "acceleration", "residual", "violation", "matrix_rate")
}
_mass_is_singular = deferred("constraints.undetermined", "mass_is_singular")
_kkt = {
    name: deferred("constraints.methods.kkt", name)
    for name in ("forward_and_multipliers", "projected_velocity", "step_to_position")
}
_mass_matrix, _mass_matrix_from_root = (
    deferred("dynamics.fast.composite", n) for n in ("mass_matrix", "mass_matrix_from_root")
)


def forward(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Any = None,
    t: Scalar = 0.0,
    method: str = "auto",
) -> list[Scalar]:
    """The acceleration that obeys the constraints, if there are any."""
    if not model.constraints:
        return methods.FORWARD["composite-body"](model, q, v, tau, wrenches)
    form = _obeying(method, _mass_matrix, _mass_is_singular(model))
    return form(model, q, v, tau, wrenches, t)


def forward_candidates(model: Model, method: str = "auto") -> list[tuple[Any, Model]]:
    """Forms of forward dynamics to compare; under constraints those of the method, which also take the time."""
    if not model.constraints:
        return methods.forward_candidates(model)
    reduced, singular = methods.regrouped(model), _mass_is_singular(model)
    masses = [_mass_matrix]
    if methods.longest_path(model) >= 8 and not singular:
        masses.append(_mass_matrix_from_root)
    return [(_obeying(method, mass, singular), reduced) for mass in masses]


def _obeying(method: str, mass: Callable[..., Any], singular: bool) -> Callable[..., list[Scalar]]:
    """A method with its mass matrix."""
    form = FORMS["kkt" if method == "auto" else method]

    def call(model: Model, q: Any, v: Any, tau: Any, wrenches: Any = None, t: Scalar = 0.0) -> list[Scalar]:
        model, wrenches = methods.pulled(model, q, wrenches)
        return form(model, q, v, tau, wrenches, t, mass, singular)

    return call


def forward_derivatives(model: Model, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar]) -> Any:
    """∂a/∂q (tangent), ∂a/∂v, ∂a/∂τ under constraints, by jets through the whole solution."""
    return deferred("constraints.methods.derivatives", "forward_derivatives")(model, forward, q, v, tau)


# --- doors ------------------------------------------------------------------------------------------------------------


def constrained_method(model: Model, method: str) -> str:
    """The method of constrained forward dynamics by the name of its program; "kkt" is what "auto" means."""
    if not isinstance(method, str):
        raise Error(f"the method of forward_dynamics is a name, such as 'kkt'; found {method!r}.", method=method)
    if method in ("auto", "kkt"):
        return "auto"
    if method in FORMS:
        return method
    if method in methods.FORWARD:
        raise Error(
            f"the method {method!r} knows no constraints, and {model.name!r} has {model.constraints[0].name!r}: use "
            f"{', '.join(map(repr, METHODS[1:]))}, or robot.without_constraints().",
            method=method,
        )
    raise unknown_name("method of forward_dynamics under constraints", method, METHODS)


def require_determined(model: Model) -> None:
    """An error where the constraints leave a motion free that moves no inertia."""
    joint = deferred("constraints.undetermined", "free_without_inertia")(model)
    if joint is not None:
        raise ModelError(
            f"forward dynamics of {model.name!r} is impossible: its constraints leave joint {joint!r} free to move "
            "without inertia; give its links mass, lock it, or constrain it.",
            joint=joint,
        )


def require_untimed(model: Model, name: str, inputs: Sequence[str]) -> None:
    """An error where a function has no place for the time that a constraint needs."""
    timed = next((c.name for c in model.constraints if c.timed), None)
    if timed is not None and "t" not in inputs:
        raise Error(
            f"the constraint {timed!r} of {model.name!r} depends on the time, for which {name} has no place: use "
            f"{name}_at, or robot.forward_dynamics(q, v, tau, t=...).",
            constraint=timed,
        )


# --- functions of the catalog -------------------------------------------------------------------------------------


def _at(model: Model, method: str, q: Any, v: Any, tau: Any, t: Any) -> Any:
    return forward(model, q, v, tau, None, t[0], method)


def _at_candidates(model: Model, method: str) -> list[Callable[..., Any]]:
    return [
        lambda q, v, tau, t, form=form, on=on: form(on, q, v, tau, None, t[0])
        for form, on in forward_candidates(model, method)
    ]


def _with_wrenches_at(
    model: Model, method: str, frames: Any, expressed: str, q: Any, v: Any, tau: Any, wrenches: Any, t: Any
) -> Any:
    return forward(model, q, v, tau, on_bodies(model, frames, expressed, q, wrenches), t[0], method)


def _with_wrenches_at_candidates(model: Model, method: str, frames: Any, expressed: str) -> list[Callable[..., Any]]:
    return [
        lambda q, v, tau, wrenches, t, form=form, on=on: form(
            on, q, v, tau, on_bodies(on, frames, expressed, q, wrenches), t[0]
        )
        for form, on in forward_candidates(model, method)
    ]


def _multipliers(model: Model, q: Any, v: Any, tau: Any, t: Any) -> Any:
    if not model.constraints:
        return []
    singular = _mass_is_singular(model)
    model, wrenches = methods.pulled(model, q, None)
    return _kkt["forward_and_multipliers"](model, q, v, tau, wrenches, t[0], _mass_matrix, singular)[1]


def _forces(model: Model, q: Any, v: Any, tau: Any, t: Any) -> Any:
    lam = _multipliers(model, q, v, tau, t)
    if not lam:
        return [0.0] * model.nv
    a, _ = _assembled["velocity"](model, q, t[0])
    return [total(row[k] * c for row, c in zip(a, lam, strict=True)) for k in range(model.nv)]


def _projected(model: Model, q: Any, v: Any, t: Any) -> Any:
    return _kkt["projected_velocity"](model, q, v, t[0], _mass_is_singular(model)) if model.constraints else list(v)


def _step(model: Model, q: Any, t: Any) -> Any:
    if not any(c.holonomic for c in model.constraints):
        return [0.0] * model.nv
    return _kkt["step_to_position"](model, q, t[0], _mass_is_singular(model))


ENTRIES: list[tuple[Any, ...]] = [
    (
        "forward_dynamics_at",
        "q v tau t",
        "method",
        "list",
        _at,
        "Acceleration (nv) under the forces tau at the state (q, v) and the time t in s.",
        _at_candidates,
    ),
    (
        "forward_dynamics_with_wrenches_at",
        "q v tau wrenches t",
        "method wrench_frames wrench_expressed",
        "list",
        _with_wrenches_at,
        "Acceleration (nv) as forward_dynamics_with_wrenches gives it, at the time t in s.",
        _with_wrenches_at_candidates,
    ),
    (
        "constraint_matrix",
        "q t",
        "",
        "matrix",
        lambda model, q, t: _assembled["velocity"](model, q, t[0])[0],
        "A (m×nv) of A v = b and of A a = b.",
    ),
    (
        "constraint_matrix_rate",
        "q v t",
        "",
        "matrix",
        lambda model, q, v, t: _assembled["matrix_rate"](model, q, v, t[0]),
        "Ȧ (m×nv) along the motion.",
    ),
    (
        "constraint_speed",
        "q t",
        "",
        "list",
        lambda model, q, t: _assembled["velocity"](model, q, t[0])[1],
        "b (m) of A v = b.",
    ),
    (
        "constraint_bias",
        "q v t",
        "",
        "list",
        lambda model, q, v, t: _assembled["acceleration"](model, q, v, t[0])[1],
        "b (m) of A a = b, with the robot's stabilisation.",
    ),
    (
        "constraint_residual",
        "q t",
        "",
        "list",
        lambda model, q, t: _assembled["residual"](model, q, t[0]),
        "What must vanish at q, of the holonomic constraints, in m and rad.",
    ),
    (
        "constraint_velocity",
        "q v t",
        "",
        "list",
        lambda model, q, v, t: _assembled["violation"](model, q, v, t[0]),
        "A v − b (m), which must vanish.",
    ),
    ("constraint_multipliers", "q v tau t", "", "list", _multipliers, "λ (m) of M a = τ − bias + Aᵀλ."),
    ("constraint_forces", "q v tau t", "", "list", _forces, "Aᵀλ (nv): generalized forces of the constraints."),
    ("projected_velocity", "q v t", "", "list", _projected, "The admissible velocity nearest to v by kinetic energy."),
    ("step_to_position", "q t", "", "list", _step, "The shortest step (nv) that takes the residual away."),
]
