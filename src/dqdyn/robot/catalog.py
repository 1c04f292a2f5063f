"""Every numeric function of a robot as data: inputs, result and the algorithm that computes it.

``Robot`` methods, ``robot.function`` and exports all go through this table, so a function is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dqdyn.algebra.scalar import Scalar, total
from dqdyn.dynamics import methods
from dqdyn.dynamics.deferred import deferred
from dqdyn.dynamics.joint_forces import armature, turning_coriolis, velocity_forces
from dqdyn.dynamics.wrenches import on_bodies
from dqdyn.kinematics import attached, configuration, cooperative, frames, mass
from dqdyn.model.model import Frame, Model
from dqdyn.robot import constrained_catalog as constrained

INPUT_SIZES: dict[str, int | str] = {
    "q": "nq",
    "q1": "nq",
    "v": "nv",
    "a": "nv",
    "tau": "nv",
    "dt": 1,
    "t": 1,
    "point": 3,
    "line": 6,
    "plane": 4,
}
"""Length of each input: a number, or the name of the model's."""

Entries = tuple[list[Scalar], tuple[int, ...]]
"""Scalars in row-major order and the shape that they fill."""


@dataclass(frozen=True)
class Quantity:
    """A function of the state: ``algorithm(model, *options, *inputs)`` gives the ``result``.

    ``inputs`` are names such as "q" and "v"; ``options`` are frames and choices fixed when the function is bound;
    ``result`` is "dq" (8), "twist" (6), "vector" (3), "matrix", "rows of six", "matrices" (of one shape) or "list".
    """

    name: str
    inputs: tuple[str, ...]
    options: tuple[str, ...]
    result: str
    algorithm: Callable[..., Any]
    summary: str
    candidates: Callable[..., list[Callable[..., Any]]] | None = None

    def variants(self, model: Model, options: Sequence[Any]) -> list[Callable[..., Entries]]:
        """Functions of the inputs that all compute this quantity; the compiler takes the cheapest."""
        if self.candidates is None:
            return [lambda *inputs: self.run(model, options, inputs)]
        found = self.candidates(model, *options)
        return [lambda *inputs, form=form: flatten(self.result, form(*inputs)) for form in found]

    def run(self, model: Model, options: Sequence[Any], inputs: Sequence[Sequence[Scalar]]) -> Entries:
        """The algorithm on scalars of any kind."""
        return flatten(self.result, self.algorithm(model, *options, *inputs))


def flatten(result: str, value: Any) -> Entries:
    """A result of the algebra as scalars and a shape."""
    if result == "matrix":
        return [c for row in value for c in row], (len(value), len(value[0]) if value else 0)
    if result == "rows of six":  # also where there are no rows
        return [c for row in value for c in row], (len(value), 6)
    if result == "matrices":
        parts = [flatten("matrix", matrix) for matrix in value]
        return [c for entries, _ in parts for c in entries], (len(parts), *parts[0][1])
    entries = _FLAT[result](value)
    return entries, (len(entries),)


_FLAT: dict[str, Callable[[Any], list[Scalar]]] = {
    "dq": lambda x: list(x.components),
    "twist": lambda x: [*x.primary.vector, *x.dual.vector],
    "vector": lambda x: list(x.vector),
    "list": list,
}

CATALOG: dict[str, Quantity] = {}
CONSTRAINED: dict[str, Quantity] = {}
"""Functions that only robots with constraints have."""
METHODS: dict[str, dict[str, Any]] = {}
"""Formulations by name, for the functions that have a choice; "auto" is always there too."""


def _add(
    name: str,
    inputs: str,
    options: str,
    result: str,
    algorithm: Callable[..., Any],
    summary: str | None = None,
    candidates: Callable[..., list[Callable[..., Any]]] | None = None,
) -> None:
    text = summary if summary is not None else (algorithm.__doc__ or "").strip()
    CATALOG[name] = Quantity(name, tuple(inputs.split()), tuple(options.split()), result, algorithm, text, candidates)


def _expressed(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Options come first in the table; in the algorithm ``expressed`` is the last argument."""

    def call(model: Model, frame: Frame, expressed: str, *inputs: Any) -> Any:
        return algorithm(model, frame, *inputs, expressed)

    call.__doc__ = algorithm.__doc__
    return call


_add("pose", "q", "frame", "dq", frames.pose)
_add("poses", "q", "", "matrix", frames.poses)
_add("twist", "q v", "frame expressed", "twist", _expressed(frames.twist))
_add("twist_rate", "q v a", "frame expressed", "twist", _expressed(frames.twist_rate))
_add("twist_jacobian", "q", "frame expressed", "matrix", _expressed(frames.twist_jacobian))
_add("twist_jacobian_derivative", "q v", "frame expressed", "matrix", _expressed(frames.twist_jacobian_derivative))
_add("pose_jacobian", "q", "frame", "matrix", frames.pose_jacobian)
_add("pose_jacobian_derivative", "q v", "frame", "matrix", frames.pose_jacobian_derivative)
_add("center_of_mass", "q", "", "vector", mass.center_of_mass)
_add("center_of_mass_velocity", "q v", "", "vector", mass.center_of_mass_velocity)
_add("center_of_mass_jacobian", "q", "", "matrix", mass.center_of_mass_jacobian)
_add("center_of_mass_jacobian_derivative", "q v", "", "matrix", mass.center_of_mass_jacobian_derivative)
_add("centroidal_momentum", "q v", "", "twist", mass.centroidal_momentum)
_add("centroidal_momentum_matrix", "q", "", "matrix", mass.centroidal_momentum_matrix)
_add("centroidal_momentum_matrix_derivative", "q v", "", "matrix", mass.centroidal_momentum_matrix_derivative)


def _rotation_rows(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, frame, *inputs: algorithm(model, frame, *inputs)[:4]


_add("rotation_jacobian", "q", "frame", "matrix", _rotation_rows(frames.pose_jacobian), "J (4×nv) with vec4 ṙ = J v.")
_add(
    "rotation_jacobian_derivative",
    "q v",
    "frame",
    "matrix",
    _rotation_rows(frames.pose_jacobian_derivative),
    "J̇ (4×nv) along v, so that vec4 r̈ = J a + J̇ v.",
)


def _attached(kind: str, algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """The primitive is the last input, so that one program serves all of them; the algorithm takes it first."""
    return lambda model, frame, *inputs: algorithm(kind, model, frame, inputs[-1], *inputs[:-1])


def _at_origin(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, frame, *inputs: algorithm("point", model, frame, (0.0, 0.0, 0.0), *inputs)


_add("translation_jacobian", "q", "frame", "matrix", _at_origin(attached.jacobian), "J (3×nv) with ṗ = J v.")
_add(
    "translation_jacobian_derivative",
    "q v",
    "frame",
    "matrix",
    _at_origin(attached.jacobian_derivative),
    "J̇ (3×nv) along v, so that p̈ = J a + J̇ v.",
)
for _kind, _what in (("point", "p"), ("line", "[l, m]"), ("plane", "[n, d]")):
    _add(
        f"{_kind}_on",
        f"q {_kind}",
        "frame",
        "list",
        _attached(_kind, attached.value),
        f"World components {_what} of a {_kind} fixed to the frame.",
    )
    _add(
        f"{_kind}_jacobian",
        f"q {_kind}",
        "frame",
        "matrix",
        _attached(_kind, attached.jacobian),
        f"J with d/dt {_what} = J v for a {_kind} fixed to the frame.",
    )
    _add(
        f"{_kind}_jacobian_derivative",
        f"q v {_kind}",
        "frame",
        "matrix",
        _attached(_kind, attached.jacobian_derivative),
        f"J̇ along v of the Jacobian of a {_kind} fixed to the frame.",
    )


def _cooperative(pair: cooperative.Pair, algorithm: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, frame1, frame2, *inputs: algorithm(pair, model, frame1, frame2, *inputs)


for _name, _pair in (("relative", cooperative.relative), ("absolute", cooperative.absolute)):
    _doc = (_pair.__doc__ or "").strip()
    _add(f"{_name}_pose", "q", "frame1 frame2", "dq", _cooperative(_pair, cooperative.pair_pose), _doc)
    _add(
        f"{_name}_pose_jacobian",
        "q",
        "frame1 frame2",
        "matrix",
        _cooperative(_pair, cooperative.pair_jacobian),
        f"Exact J (8×nv) with vec8 ẋ = J v for {_doc}",
    )
    _add(
        f"{_name}_pose_jacobian_derivative",
        "q v",
        "frame1 frame2",
        "matrix",
        _cooperative(_pair, cooperative.pair_jacobian_derivative),
        f"J̇ (8×nv) along v for {_doc}",
    )


_add(
    "integrate",
    "q v dt",
    "",
    "list",
    lambda model, q, v, dt: configuration.integrate(model, q, v, dt[0]),
    configuration.integrate.__doc__,
)
_add("difference", "q q1", "", "list", configuration.difference)
_add("configuration_rate", "q v", "", "list", configuration.configuration_rate)


_kinetic_energy, _potential_energy = (
    deferred("dynamics.energy", "kinetic_energy"),
    deferred("dynamics.energy", "potential_energy"),
)

# --- dynamics -----------------------------------------------------------------------------------------------------


Found = Callable[..., list[tuple[Any, Model]]]


def _chosen(table: dict[str, Any], auto: Any) -> Callable[[str], Any]:
    """The formulation that a method names; "auto" stands for one of the fast forms, named or given.

    Any other method is one of robots with constraints, which the given form knows.
    """
    fast = table[auto] if isinstance(auto, str) else auto
    return lambda method: fast if method == "auto" else table.get(method) or partial(fast, method=method)


def _pairs(table: dict[str, Any], found: Found, model: Model, method: str) -> list[tuple[Any, Model]]:
    """Forms to compare, each with its model. A formulation holds in any frames: it gets those that cost less."""
    from dqdyn.model.canonical import in_cheap_frames

    if method in table:
        return [(table[method], in_cheap_frames(model))]
    return found(model) if method == "auto" else found(model, method)


def _forms(table: dict[str, Any], found: Found) -> Callable[..., Any]:
    """Candidates for a program: the fast forms for "auto", else the formulation that was named."""

    def candidates(model: Model, method: str) -> list[Callable[..., Any]]:
        pairs = _pairs(table, found, model.with_frames(()), method)
        return [lambda *inputs, form=form, on=on: form(on, *inputs) for form, on in pairs]

    return candidates


def _forms_with_wrenches(table: dict[str, Any], found: Found) -> Callable[..., Any]:
    def candidates(model: Model, method: str, frames: tuple[str, ...], expressed: str) -> list[Callable[..., Any]]:
        pairs = _pairs(table, found, model.with_frames(frames), method)

        def bound(form: Any, on: Model) -> Callable[..., Any]:
            def call(q: Any, v: Any, a: Any, wrenches: Any) -> Any:
                return form(on, q, v, a, on_bodies(on, frames, expressed, q, wrenches))

            return call

        return [bound(form, on) for form, on in pairs]

    return candidates


def _dynamics(name: str, inputs: str, table: dict[str, Any], auto: Any, found: Any, result: str, summary: str) -> None:
    choose = _chosen(table, auto)
    METHODS[name] = table
    _add(
        name,
        inputs,
        "method",
        result,
        lambda model, method, *values: choose(method)(model, *values),
        summary,
        _forms(table, found),
    )


_INVERSE_SUMMARY = "τ (nv) in N m or N that gives the acceleration a at the state (q, v)."
_FORWARD_SUMMARY = "Acceleration (nv) under the generalized forces tau at the state (q, v)."
_dynamics(
    "inverse_dynamics", "q v a", methods.INVERSE, "recursive", methods.inverse_candidates, "list", _INVERSE_SUMMARY
)
_dynamics(
    "forward_dynamics",
    "q v tau",
    methods.FORWARD,
    constrained.forward,
    constrained.forward_candidates,
    "list",
    _FORWARD_SUMMARY,
)
_dynamics(
    "mass_matrix",
    "q",
    methods.MASS_MATRIX,
    "composite-body",
    methods.mass_matrix_candidates,
    "matrix",
    "M (nv×nv), full and symmetric, with armature.",
)


def _with_wrenches(name: str, inputs: str, table: dict[str, Any], auto: Any, found: Any, summary: str) -> None:
    choose = _chosen(table, auto)
    METHODS[f"{name}_with_wrenches"] = table

    def algorithm(
        model: Model, method: str, frames: tuple[str, ...], expressed: str, q: Any, v: Any, a: Any, wrenches: Any
    ) -> Any:
        return choose(method)(model, q, v, a, on_bodies(model, frames, expressed, q, wrenches))

    _add(
        f"{name}_with_wrenches",
        f"{inputs} wrenches",
        "method wrench_frames wrench_expressed",
        "list",
        algorithm,
        summary + " External wrenches: [f, τ] per frame, one after the other.",
        _forms_with_wrenches(table, found),
    )


_with_wrenches("inverse_dynamics", "q v a", methods.INVERSE, "recursive", methods.inverse_candidates, _INVERSE_SUMMARY)
_with_wrenches(
    "forward_dynamics",
    "q v tau",
    methods.FORWARD,
    constrained.forward,
    constrained.forward_candidates,
    _FORWARD_SUMMARY,
)


def _bias(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """τ (nv) at zero acceleration: Coriolis, centrifugal, gravity, damping and friction."""
    return methods.INVERSE["recursive"](model, q, v, [0.0] * model.nv, None)


def _gravity(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """τ (nv) that holds the robot at rest against gravity."""
    zero = [0.0] * model.nv
    return methods.INVERSE["recursive"](model, q, zero, zero, None)


def _on_models(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Candidates that differ only in the model: regrouped or as it is."""

    def candidates(model: Model) -> list[Callable[..., Any]]:
        models = [on for _, on in methods.inverse_candidates(model.with_frames(()))]
        return [lambda *inputs, on=on: algorithm(on, *inputs) for on in models]

    return candidates


_joint_wrenches = deferred("dynamics.formulations.newton_euler", "joint_wrenches")


def _wrench_rows(model: Model, q: Any, v: Any, a: Any, on: Any = None) -> list[list[Scalar]]:
    """One row [f, τ] per joint."""
    model, on = methods.pulled(model, q, on)
    found, _ = _joint_wrenches(model, q, v, a, on)
    return [[*w.primary.vector, *w.dual.vector] for w in found]


def _wrench_rows_under(model: Model, frames: Any, expressed: str, q: Any, v: Any, a: Any, wrenches: Any) -> Any:
    return _wrench_rows(model, q, v, a, on_bodies(model, frames, expressed, q, wrenches))


_WRENCHES_SUMMARY = "[f, τ] (joints × 6) in N and N m that each joint transmits to its body, in the body's frame."
_add("joint_wrenches", "q v a", "", "rows of six", _wrench_rows, _WRENCHES_SUMMARY)
_add(
    "joint_wrenches_with_wrenches",
    "q v a wrenches",
    "wrench_frames wrench_expressed",
    "rows of six",
    _wrench_rows_under,
    _WRENCHES_SUMMARY + " External wrenches: [f, τ] per frame, one after the other.",
)
_add("bias_forces", "q v", "", "list", _bias, candidates=_on_models(_bias))
_add("gravity_forces", "q", "", "list", _gravity, candidates=_on_models(_gravity))


def _gauss(model: Model, q: Any, v: Any, a: Any, tau: Any) -> list[Scalar]:
    """Gauss's function in kg m²/s⁴, with the joints' own forces: its gradient in a is inverse dynamics less tau."""
    own = [ak * f for ak, f in zip(a, velocity_forces(model, v), strict=True)]
    return [
        total(
            [deferred("dynamics.formulations.gauss", "gauss_function")(model, q, v, a, tau), *own, *_rotors(model, a)]
        )
    ]


def _gibbs_appell(model: Model, q: Any, v: Any, a: Any) -> list[Scalar]:
    """Gibbs's and Appell's function in kg m²/s⁴, with armature: its gradient in a is M a + C v."""
    turning = [a[i] * (c * v[j]) for i, j, c in turning_coriolis(model, v)]
    found = deferred("dynamics.formulations.gibbs_appell", "gibbs_appell_function")(model, q, v, a)
    return [total([found, *turning, *_rotors(model, a)])]


def _rotors(model: Model, a: Any) -> list[Scalar]:
    return [ak * ak * (0.5 * r) for ak, r in zip(a, armature(model), strict=True) if r]


_add("gauss_function", "q v a tau", "", "list", _gauss)
_add("gibbs_appell_function", "q v a", "", "list", _gibbs_appell)
_add("kinetic_energy", "q v", "", "list", lambda model, q, v: [_kinetic_energy(model, q, v)], "½ vᵀ M v in J.")
_add("potential_energy", "q", "", "list", lambda model, q: [_potential_energy(model, q)], "In J.")
_dynamics(
    "coriolis_matrix",
    "q v",
    methods.CORIOLIS,
    "christoffel",
    lambda model: [(methods.CORIOLIS["christoffel"], model)],
    "matrix",
    "C (nv×nv) with Ṁ − 2C skew-symmetric; the Christoffel one unless method names Silva's or Parsa's.",
)
_inverse_derivatives = methods.derivatives(deferred("dynamics.fast.derivatives", "inverse_dynamics_derivatives"))
_add(
    "inverse_dynamics_derivatives",
    "q v a",
    "",
    "matrices",
    _inverse_derivatives,
    "∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂a: (3, nv, nv).",
    lambda model: [partial(form, on) for form, on in methods.derivatives_candidates(model.with_frames(()))],
)


def _forward_derivatives(model: Model, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar]) -> Any:
    """∂a/∂q (tangent), ∂a/∂v, ∂a/∂τ: (3, nv, nv)."""
    if model.constraints:
        return constrained.forward_derivatives(model, q, v, tau)
    a = methods.FORWARD["composite-body"](model, q, v, tau, None)
    form = deferred("dynamics.fast.derivatives", "forward_dynamics_derivatives")
    return methods.derivatives(form, "forward_derivatives")(model, q, v, a)


_add("forward_dynamics_derivatives", "q v tau", "", "matrices", _forward_derivatives)
_add(
    "torque_regressor",
    "q v a",
    "",
    "matrix",
    deferred("dynamics.fast.regressor", "torque_regressor"),
    "Y (nv × 10 per moving body) with τ = Y π for the inertial parameters π.",
)

# --- constraints --------------------------------------------------------------------------------------------------

for _name, _inputs, _options, _result, _algorithm, _summary, *_more in constrained.ENTRIES:
    CONSTRAINED[_name] = Quantity(
        _name, tuple(_inputs.split()), tuple(_options.split()), _result, _algorithm, _summary, *_more
    )
METHODS["forward_dynamics_at"] = METHODS["forward_dynamics_with_wrenches_at"] = methods.FORWARD


def quantities(model: Model) -> dict[str, Quantity]:
    """The functions of a robot by name."""
    return _EVERYTHING if model.constraints else CATALOG


_EVERYTHING = CATALOG | CONSTRAINED
