"""The functions of a robot in other coordinates as data: inputs, and the forms among which the compiler chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.scalar import Scalar, total
from dqdyn.coordinates import minimal_form as motion
from dqdyn.coordinates.minimal_form import Contact
from dqdyn.coordinates.tree import Matrix, TreeCoordinates
from dqdyn.dynamics import methods
from dqdyn.model.model import Model

Entries = tuple[list[Scalar], tuple[int, ...]]
Form = Callable[..., Entries]


@dataclass(frozen=True)
class CoordinateFunction:
    """``forms(tree, *options)`` are functions of the inputs that all compute the same; ``options`` may be contacts."""

    inputs: tuple[str, ...]
    forms: Callable[..., list[Form]]
    summary: str
    options: tuple[str, ...] = ()


def _vector(algorithm: Callable[..., list[Scalar]]) -> Callable[..., list[Form]]:
    def forms(tree: TreeCoordinates) -> list[Form]:
        def form(*inputs: Any) -> Entries:
            found = algorithm(tree, *inputs)
            return found, (len(found),)

        return [form]

    return forms


def _entries(matrix: Matrix, columns: int) -> Entries:
    return [e for row in matrix for e in row], (len(matrix), columns)


def _inverse_forms(tree: TreeCoordinates, contacts: tuple[Contact, ...] = ()) -> list[Form]:
    def bound(formulation: motion.Formulation, on: Model) -> Form:
        def form(q: Any, qd: Any, qdd: Any, forces: Any = ()) -> Entries:
            return motion.inverse_dynamics(tree, formulation, on, q, qd, qdd, contacts, forces), (tree.n,)

        return form

    return [bound(*pair) for pair in methods.inverse_candidates(tree.model)]


def _bias_forms(tree: TreeCoordinates) -> list[Form]:
    return [lambda q, qd, f=f: f(q, qd, [0.0] * tree.n) for f in _inverse_forms(tree)]


def _gravity_forms(tree: TreeCoordinates) -> list[Form]:
    zero = [0.0] * tree.model.nv

    def bound(formulation: motion.Formulation, on: Model) -> Form:
        return lambda q: (tree.forces(q, formulation(on, tree.minimal(q), zero, zero, None)), (tree.n,))

    return [bound(*pair) for pair in methods.inverse_candidates(tree.model)]


def _forward_forms(tree: TreeCoordinates, contacts: tuple[Contact, ...] = ()) -> list[Form]:
    def bound(formulation: motion.Formulation, on: Model) -> Form:
        def form(q: Any, qd: Any, tau: Any, forces: Any = ()) -> Entries:
            second, multiplier = motion.forward_dynamics(tree, formulation, on, q, qd, tau, contacts, forces)
            return [*second, *multiplier], (tree.n + tree.conditions,)

        return form

    return [bound(*pair) for pair in methods.forward_candidates(tree.model)]


def _kkt_forms(tree: TreeCoordinates, contacts: tuple[Contact, ...] = ()) -> list[Form]:
    mass, on = methods.mass_matrix_candidates(tree.model)[0]
    inverse = _inverse_forms(tree, contacts)[0]

    def form(q: Any, qd: Any, tau: Any, forces: Any = ()) -> Entries:
        bias, _ = inverse(q, qd, [0.0] * tree.n, forces)
        matrix = lambda own: mass(on, own)
        second, multiplier = motion.forward_dynamics_by_kkt(tree, matrix, bias, q, qd, tau)
        return [*second, *multiplier], (tree.n + tree.conditions,)

    return [form]


def _health(tree: TreeCoordinates, q: Any) -> list[Scalar]:
    """Per condition its residual, then per chosen joint its regularity: one look tells whether all is well."""
    chosen = [part for part in tree.parts if part.by is not None]
    regular = [part.by.regularity(q[part.q]) for part in chosen if part.by is not None]
    return [*tree.constraint(q), *regular]


def _health_with_rates(tree: TreeCoordinates, q: Any, qd: Any) -> list[Scalar]:
    """The same, and A q̇ in front."""
    drift = [total(a * r for a, r in zip(row, qd, strict=True)) for row in tree.constraint_matrix(q)]
    return [*drift, *_health(tree, q)]


def _mass_forms(tree: TreeCoordinates) -> list[Form]:
    pairs = methods.mass_matrix_candidates(tree.model)
    return [lambda q, f=f, on=on: _entries(tree.quadratic(q, f(on, tree.minimal(q))), tree.n) for f, on in pairs]


def _coriolis_forms(tree: TreeCoordinates) -> list[Form]:
    """N = Eᵀ(C E + M Ė) with Silva's C, which is the paper's sum over bodies."""
    coriolis, mass = methods.CORIOLIS["gauss"], methods.MASS_MATRIX["composite-body"]

    def form(q: Any, qd: Any) -> Entries:
        own, E, E_rate = tree.minimal(q), tree.velocity_columns(q), tree.velocity_rate_columns(q, qd)
        C, M = coriolis(tree.model, own, tree.velocity(q, qd)), mass(tree.model, own)
        turning = [[total(row[k] * e for k, e in column) for column in E] for row in C]
        sliding = [[total(row[k] * e for k, e in column) for column in E_rate] for row in M]
        right = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(turning, sliding, strict=True)]
        rows = [[total(right[k][j] * e for k, e in column) for j in range(tree.n)] for column in E]
        return _entries(rows, tree.n)

    return [form]


def _velocity_matrix(tree: TreeCoordinates) -> list[Form]:
    def form(q: Any) -> Entries:
        rows: Matrix = [[0.0] * tree.n for _ in range(tree.model.nv)]
        for i, column in enumerate(tree.velocity_columns(q)):
            for k, e in column:
                rows[k][i] = e
        return _entries(rows, tree.n)

    return [form]


def _rate_matrix(tree: TreeCoordinates) -> list[Form]:
    nv = tree.model.nv

    def form(q: Any) -> Entries:
        columns = [tree.rate(q, [1.0 if i == k else 0.0 for i in range(nv)]) for k in range(nv)]
        return _entries([list(row) for row in zip(*columns, strict=True)], nv)

    return [form]


def _point_jacobian(tree: TreeCoordinates, contacts: tuple[Contact, ...]) -> list[Form]:
    ((name, point),) = contacts

    def form(q: Any) -> Entries:
        from dqdyn.coordinates.equation_of_motion import EquationOfMotion

        columns = EquationOfMotion(tree, q, [0.0] * tree.n).point_jacobian(name, point)
        return _entries([[getattr(c, axis) for c in columns] for axis in "xyz"], tree.n)

    return [form]


def _constraint_matrix(tree: TreeCoordinates) -> list[Form]:
    return [lambda q: _entries(tree.constraint_matrix(q), tree.n)]


def _of(inputs: str, forms: Callable[..., list[Form]], summary: str, options: Sequence[str] = ()) -> CoordinateFunction:
    return CoordinateFunction(tuple(inputs.split()), forms, summary, tuple(options))


FUNCTIONS: dict[str, CoordinateFunction] = {
    "health": _of("q", _vector(_health), "Residuals and regularities."),
    "health_with_rates": _of("q qd", _vector(_health_with_rates), "A q̇, residuals and regularities."),
    "minimal": _of("q", _vector(TreeCoordinates.minimal), "The robot's own q."),
    "from_minimal": _of("own_q", _vector(TreeCoordinates.from_minimal), "q from the robot's own."),
    "velocity": _of("q qd", _vector(TreeCoordinates.velocity), "v = E q̇."),
    "acceleration": _of("q qd qdd", _vector(TreeCoordinates.acceleration), "v̇ = E q̈ + Ė q̇."),
    "rate": _of("q v", _vector(TreeCoordinates.rate), "q̇ = B v."),
    "second_rate": _of("q qd v a", _vector(TreeCoordinates.second_rate), "q̈ = B a + Ḃ v."),
    "forces": _of("q own_tau", _vector(TreeCoordinates.forces), "Eᵀτ."),
    "minimal_forces": _of("q tau", _vector(TreeCoordinates.minimal_forces), "Bᵀτ."),
    "velocity_matrix": _of("q", _velocity_matrix, "E (nv×nq)."),
    "rate_matrix": _of("q", _rate_matrix, "B (nq×nv)."),
    "constraint_residual": _of("q", _vector(TreeCoordinates.constraint), "C(q)."),
    "constraint_matrix": _of("q", _constraint_matrix, "A (nc×nq)."),
    "constraint_bias": _of("q qd", _vector(TreeCoordinates.constraint_bias), "b with A q̈ = b."),
    "mass_matrix": _of("q", _mass_forms, "M (nq×nq)."),
    "coriolis_matrix": _of("q qd", _coriolis_forms, "N (nq×nq)."),
    "bias_forces": _of("q qd", _bias_forms, "Forces at q̈ = 0."),
    "gravity_forces": _of("q", _gravity_forms, "Forces that hold the robot at rest."),
    "inverse_dynamics": _of("q qd qdd", _inverse_forms, "Forces that give q̈.", ["contacts"]),
    "forward_dynamics": _of("q qd tau", _forward_forms, "q̈ and λ, one after the other.", ["contacts"]),
    "forward_dynamics_by_kkt": _of("q qd tau", _kkt_forms, "q̈ and λ, one after the other.", ["contacts"]),
    "point_jacobian": _of("q", _point_jacobian, "J_t (3×nq) of a point.", ["contacts"]),
}
