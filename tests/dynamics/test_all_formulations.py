"""The formulations against each other: apart in code and cost, alike in results."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from formulation_tools import array, count, model_state
from trees import assert_close

from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.jet import Jet, derivative
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.tracer import trace
from dqdyn.dynamics import arguments, wrenches
from dqdyn.dynamics.fast import body_frames, composite, coriolis, recursive, velocity_map
from dqdyn.dynamics.fast import point_accelerations as points
from dqdyn.dynamics.formulations import (
    closed_form,
    gauss,
    gibbs_appell,
    kane,
    lagrange,
    mass_centers,
    matrix_form,
    newton_euler,
    screw,
    speeds,
)
from dqdyn.dynamics.formulations.literal import farias, matrices, products, quiroz, quiroz_jacobians, silva
from dqdyn.dynamics.gravity import fields as gravity
from dqdyn.dynamics.methods import INVERSE

FORMULATIONS = {
    "newton-euler": newton_euler,
    "recursive": recursive,
    "screw": screw,
    "matrix": matrix_form,
    "closed-form": closed_form,
    "gauss": gauss,
    "gibbs-appell": gibbs_appell,
    "kane": kane,
    "lagrange": lagrange,
    "newton-euler-literal": silva,
    "screw-literal": farias,
    "gauss-literal": quiroz,
}
SHARED = (arguments, wrenches, mass_centers, gravity, speeds, points, products, matrices, quiroz_jacobians)
"""What formulations may share."""
COMPOSITES = (composite, velocity_map, body_frames)
"""What the quick form of the Coriolis matrix, which is no formulation of forces, is built of."""

# The step that makes each formulation what it is.
CORES = {
    "newton-euler": "body_wrench",
    "recursive": "wrench_on",
    "screw": "body_wrench",
    "matrix": "vectors",
    "closed-form": "_mass_matrix",
    "gauss": "constraint",
    "gibbs-appell": "acceleration_energy",
    "kane": "law_of_motion",
    "lagrange": "_velocity_gradient",
    "newton-euler-literal": "body_wrench",
    "screw-literal": "resultant",
    "gauss-literal": "mass_part",
}


def test_all_methods_are_here() -> None:
    assert set(FORMULATIONS) == set(CORES) == set(INVERSE)


@pytest.mark.parametrize("module", [*FORMULATIONS.values(), *SHARED, coriolis])
def test_no_formulation_uses_another(module: Any) -> None:
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    of_dynamics = {name for name in imported if name.startswith("dqdyn.dynamics")}
    packages = {shared.__name__.rpartition(".")[0] for shared in SHARED}
    allowed = (*SHARED, *(COMPOSITES if module is coriolis else ()))
    assert of_dynamics <= {shared.__name__ for shared in allowed} | packages
    assert not any(isinstance(node, ast.Import) and "dqdyn" in ast.unparse(node) for node in ast.walk(tree))


@pytest.mark.parametrize("broken", FORMULATIONS)
def test_a_fault_in_one_leaves_the_others_right(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, q, v, a = model_state("every kind")
    expected = array(newton_euler.inverse_dynamics(model, q, v, a))
    core = getattr(FORMULATIONS[broken], CORES[broken])

    def wrong(*arguments: Any) -> Any:
        value = core(*arguments)
        if isinstance(value, matrix_form.Vectors):
            return replace(value, tau=[t * 1.01 for t in value.tau])
        if isinstance(value, dict):
            return {k: s * 1.01 for k, s in value.items()}
        if isinstance(value, list):
            return [[e * 1.01 for e in row] for row in value]
        return value * 1.01

    monkeypatch.setattr(FORMULATIONS[broken], CORES[broken], wrong)
    for name, formulation in FORMULATIONS.items():
        found = array(formulation.inverse_dynamics(model, q, v, a))
        error = float(np.abs(found - expected).max() / np.abs(expected).max())
        assert (error < 1e-12) == (name != broken)


def test_counts_differ() -> None:
    """Operations as written: each is another algorithm; recursions cost least, differentiated functions most."""
    model = model_state("arm7")[0]
    totals = {name: count(formulation, model).total for name, formulation in FORMULATIONS.items()}
    assert len(set(totals.values())) == len(totals)
    recursions, differentiated = {"recursive", "screw", "newton-euler"}, {"gibbs-appell", "gauss", "gauss-literal"}
    others = [total for name, total in totals.items() if name not in recursions]
    assert max(totals[name] for name in recursions) < min(others)
    middle = [totals[name] for name in ("matrix", "kane", "lagrange", "screw-literal", "newton-euler-literal")]
    assert max(middle) < min(totals[name] for name in differentiated)
    for name in ("screw", "newton-euler", "gauss"):
        assert totals[name] < totals[f"{name}-literal"]


@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)
def test_jets_give_the_mass_matrix(formulation: Any) -> None:
    model, q, v, a = model_state("free base")
    tau = lambda acceleration: formulation.inverse_dynamics(model, q, v, acceleration)
    columns = [derivative(tau, a, unit) for unit in np.eye(model.nv).tolist()]
    assert_close(np.transpose(columns), array(composite.mass_matrix(model, q)), 1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)
def test_casadi(formulation: Any) -> None:
    model, q, v, a = model_state("moving subspaces")
    names = [casadi.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("a", model.nv))]
    parts = [casadi.vertsplit(x) for x in names]
    function = casadi.Function("tau", names, [casadi.vertcat(*formulation.inverse_dynamics(model, *parts))])
    expected = newton_euler.inverse_dynamics(model, q, v, a)
    assert_close(np.array(function(q, v, a)).ravel(), expected, 1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)
def test_traced(formulation: Any) -> None:
    model, q, v, a = model_state("free base")
    sizes = [("q", model.nq), ("v", model.nv), ("a", model.nv)]
    program = trace("tau", sizes, lambda *state: (formulation.inverse_dynamics(model, *state), (model.nv,)))
    expected = newton_euler.inverse_dynamics(model, q, v, a)
    assert_close(interpret(program, [q, v, a]), expected, 1e-12)


def test_jets_stay_jets_beside_counters_and_traces() -> None:
    """A derivative must not get lost where a scalar of another kind stands on the left."""
    others: list[Any] = [counters(1, Tally())[0]]

    def kept(x: list[Any]) -> tuple[list[Any], tuple[int, ...]]:
        others.append(x[0])
        return x, (1,)

    trace("f", [("x", 1)], kept)
    assert len(others) == 2
    for other in others:
        for mixed in (other * Jet(2.0, 1.0), other + Jet(2.0, 1.0), other - Jet(2.0, 1.0), Jet(2.0, 1.0) * other):
            assert isinstance(mixed, Jet)
