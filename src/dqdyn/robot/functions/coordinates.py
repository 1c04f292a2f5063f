"""Functions of a robot in other coordinates, in which every velocity is q̇."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.constraints.forward import CONSTRAINED_FORWARD, ConstrainedForward
from dqdyn.coordinates import minimal_form
from dqdyn.coordinates.tree import Matrix, TreeCoordinates
from dqdyn.dynamics import methods
from dqdyn.dynamics.choice import Form, Formulations
from dqdyn.dynamics.deferred import Deferred
from dqdyn.model.model import Model
from dqdyn.robot.functions.coordinate_constraints import COORDINATE_CONSTRAINTS
from dqdyn.robot.functions.coordinate_kinematics import COORDINATE_KINEMATICS
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import Candidates, Result, RobotFunction

Subject = TreeCoordinates


def _health(tree: Subject, q: Scalars) -> list[Scalar]:
    """Per condition its residual, then per chosen joint its regularity: enough to tell that a state is sound."""
    chosen = [part for part in tree.parts if part.by is not None]
    regular = [part.by.regularity(q[part.q]) for part in chosen if part.by is not None]
    return [*tree.constraint(q), *regular]


def _health_with_rates(tree: Subject, q: Scalars, qd: Scalars) -> list[Scalar]:
    """The same, and A q̇ in front."""
    drift = [total(a * r for a, r in zip(row, qd, strict=True)) for row in tree.constraint_matrix(q)]
    return [*drift, *_health(tree, q)]


def _velocity_matrix(tree: Subject, q: Scalars) -> Matrix:
    rows: Matrix = [[0.0] * tree.n for _ in range(tree.model.nv)]
    for i, column in enumerate(tree.velocity_columns(q)):
        for k, e in column:
            rows[k][i] = e
    return rows


def _rate_matrix(tree: Subject, q: Scalars) -> Matrix:
    nv = tree.model.nv
    columns = [tree.rate(q, [1.0 if i == k else 0.0 for i in range(nv)]) for k in range(nv)]
    return [list(row) for row in zip(*columns, strict=True)]


def _coriolis_matrix(tree: Subject, q: Scalars, qd: Scalars) -> Matrix:
    """N = Eᵀ(C E + M Ė) with Silva's C, which is the paper's sum over bodies."""
    own, E, E_rate = tree.minimal(q), tree.velocity_columns(q), tree.velocity_rate_columns(q, qd)
    C = methods.CORIOLIS["gauss"](tree.model, own, tree.velocity(q, qd))
    M = methods.MASS_MATRIX["composite-body"](tree.model, own)
    turning = [[total(row[k] * e for k, e in column) for column in E] for row in C]
    sliding = [[total(row[k] * e for k, e in column) for column in E_rate] for row in M]
    right = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(turning, sliding, strict=True)]
    return [[total(right[k][j] * e for k, e in column) for j in range(tree.n)] for column in E]


# --- dynamics through the fast forms in the robot's own variables -----------------------------------------------------


def _through(algorithm: Callable[..., Any], formulations: Formulations) -> Callable[[Subject, Options], Candidates]:
    """Candidates ``algorithm(tree, form, model, *inputs)`` for every fast form of the robot itself."""
    return lambda tree, options: [
        (partial(algorithm, tree, form), on) for form, on in formulations.candidates(tree.model, "auto")
    ]


def _mass_matrix(tree: Subject, form: Form, on: Model, q: Scalars) -> Matrix:
    return tree.quadratic(q, form(on, tree.minimal(q)))


def _gravity(tree: Subject, form: Form, on: Model, q: Scalars) -> list[Scalar]:
    zero = [0.0] * tree.model.nv
    return tree.forces(q, form(on, tree.minimal(q), zero, zero, None))


def _bias(tree: Subject, form: Form, on: Model, q: Scalars, qd: Scalars, **contacts: Any) -> list[Scalar]:
    return minimal_form.inverse_dynamics(tree, form, on, q, qd, [0.0] * tree.n, **contacts)


def _forward(tree: Subject, form: Form, on: Model, *state: Scalars, **contacts: Any) -> list[Scalar]:
    second, multiplier = minimal_form.forward_dynamics(tree, form, on, *state, **contacts)
    return [*second, *multiplier]


def _forward_by_kkt(
    tree: Subject, form: Form, on: Model, q: Scalars, qd: Scalars, tau: Scalars, **contacts: Any
) -> list[Scalar]:
    mass, light = methods.MASS_MATRIX.candidates(tree.model, "auto")[0]
    bias = _bias(tree, form, on, q, qd, **contacts)
    second, multiplier = minimal_form.forward_dynamics_by_kkt(tree, partial(mass, light), bias, q, qd, tau)
    return [*second, *multiplier]


_FORWARD = Formulations("forward_dynamics", {"minimal": _forward, "kkt": _forward_by_kkt}, "minimal")


_MULTIPLIERS = ConstrainedForward(Deferred("constraints.methods.kkt", "forward_and_multipliers"))
_constrained_forward = Deferred("coordinates.constrained", "forward_dynamics")


def _constrained_by_kkt(
    tree: Subject, form: Form, on: Model, q: Scalars, qd: Scalars, tau: Scalars, t: Scalar = 0.0, **contacts: Any
) -> Any:
    mass, light = methods.MASS_MATRIX.candidates(tree.model, "auto")[0]
    bias = _bias(tree, form, on, q, qd, **contacts)
    solve = Deferred("coordinates.constrained", "forward_dynamics_by_kkt")
    return solve(tree, partial(mass, light), bias, q, qd, tau, t)


def _forward_candidates(tree: Subject, options: Options) -> Candidates:
    if tree.model.constraints:
        if options.method == "kkt":
            return _through(_constrained_by_kkt, methods.INVERSE)(tree, options)[:1]
        return [
            (partial(_constrained_forward, tree, form), on)
            for form, on in CONSTRAINED_FORWARD.variants(_MULTIPLIERS, tree.model)
        ]
    if options.method == "kkt":
        return _through(_forward_by_kkt, methods.INVERSE)(tree, options)[:1]
    return _through(_forward, methods.FORWARD)(tree, options)


def _fast(name: str, inputs: str, result: Result, algorithm: Any, on: Formulations, options: str = "") -> RobotFunction:
    return _of(name, inputs, result, algorithm, options, candidates=_through(algorithm, on))


_of = RobotFunction.of
_DYNAMICS = RobotFunction.table(
    _of("health", "q", "list", _health),
    _of("health_with_rates", "q qd", "list", _health_with_rates),
    _of("minimal", "q", "list", Subject.minimal),
    _of("from_minimal", "own_q", "list", Subject.from_minimal),
    _of("velocity", "q qd", "list", Subject.velocity),
    _of("acceleration", "q qd qdd", "list", Subject.acceleration),
    _of("rate", "q v", "list", Subject.rate),
    _of("second_rate", "q qd v a", "list", Subject.second_rate),
    _of("forces", "q own_tau", "list", Subject.forces),
    _of("minimal_forces", "q tau", "list", Subject.minimal_forces),
    _of("velocity_matrix", "q", "matrix", _velocity_matrix),
    _of("rate_matrix", "q", "matrix", _rate_matrix),
    _of("constraint_residual", "q", "list", Subject.constraint),
    _of("constraint_matrix", "q", "matrix", Subject.constraint_matrix, columns=lambda tree: tree.n),
    _of("constraint_bias", "q qd", "list", Subject.constraint_bias),
    _of("coriolis_matrix", "q qd", "matrix", _coriolis_matrix),
    _fast("mass_matrix", "q", "matrix", _mass_matrix, methods.MASS_MATRIX),
    _fast("bias_forces", "q qd", "list", _bias, methods.INVERSE),
    _fast("gravity_forces", "q", "list", _gravity, methods.INVERSE),
    _fast("inverse_dynamics", "q qd qdd", "list", minimal_form.inverse_dynamics, methods.INVERSE, "contacts"),
    _of(
        "forward_dynamics",
        "q qd tau",
        "list",
        None,
        "method contacts time",
        choice=lambda model: _FORWARD,
        candidates=_forward_candidates,
    ),
)
COORDINATES = {**_DYNAMICS, **COORDINATE_KINEMATICS}
"""Functions that every robot in coordinates has."""
_UNDER_CONSTRAINTS = {**COORDINATES, **COORDINATE_CONSTRAINTS}


def functions_of(model: Model) -> Mapping[str, RobotFunction]:
    """The functions of a robot in coordinates by name."""
    return _UNDER_CONSTRAINTS if model.constraints else COORDINATES
