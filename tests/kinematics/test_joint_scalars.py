"""Every question to every joint kind over every scalar: batches, counters, SymPy, CasADi, jets of jets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
import pytest
import sympy
from joint_samples import JOINTS, MOVING, components, coordinates
from trees import assert_close

from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.jet import derivative
from dqdyn.model.joints import JointKind

State = tuple[list[Any], list[Any], list[Any], list[Any]]
"""q, v, a, and another q."""
Question = Callable[..., list[Any]]
QUESTIONS: dict[str, Question] = {
    "pose": lambda joint, q, v, a, q1: list(joint.pose(q).components),
    "subspace": lambda joint, q, v, a, q1: components(joint.subspace(q)),
    "subspace_rate": lambda joint, q, v, a, q1: components(joint.subspace_rate(q, v)),
    "twist": lambda joint, q, v, a, q1: list(joint.twist(q, v).components),
    "twist_rate": lambda joint, q, v, a, q1: list(joint.twist_rate(q, v, a).components),
    "rate": lambda joint, q, v, a, q1: joint.rate(q, v),
    "integrate": lambda joint, q, v, a, q1: joint.integrate(q, v, 0.3),
    "difference": lambda joint, q, v, a, q1: joint.difference(q, q1),
}
CASES = [(joint, question) for joint in MOVING for question in QUESTIONS]


def sample(joint: JointKind, seed: int = 0) -> State:
    rng = np.random.default_rng(seed)
    v, a = rng.normal(size=(2, joint.nv)).tolist()
    return coordinates(joint, 0.9 + seed / 10, rng), v, a, coordinates(joint, 2.5, rng)


def sizes(joint: JointKind) -> tuple[tuple[str, int], ...]:
    return ("q", joint.nq), ("v", joint.nv), ("a", joint.nv), ("p", joint.nq)


def numbers(entries: list[Any]) -> np.ndarray:
    return np.array([float(e) for e in entries])


@pytest.mark.parametrize(("name", "question"), CASES)
def test_batch_equals_one_by_one(name: str, question: str) -> None:
    joint, ask = JOINTS[name], QUESTIONS[question]
    rows = [sample(joint, seed) for seed in range(6)]
    arrays = [np.array([row[i] for row in rows]).reshape(3, 2, -1) for i in range(4)]
    answer = ask(joint, *([x[..., i] for i in range(x.shape[-1])] for x in arrays))
    found = np.array([np.broadcast_to(e, (3, 2)) for e in answer])
    expected = np.array([numbers(ask(joint, *row)) for row in rows]).T.reshape(-1, 3, 2)
    assert_close(found, expected, 1e-14)


@pytest.mark.parametrize(("name", "question"), CASES)
def test_counted(name: str, question: str) -> None:
    """Runs without a branch on a value, and costs something unless the answer is constant."""
    joint, tally = JOINTS[name], Tally()
    answer = QUESTIONS[question](joint, *(counters(n, tally) for _, n in sizes(joint)))
    constant = all(isinstance(e, float) for e in answer)
    given = question == "rate" and joint.quaternion is None  # q̇ = v costs nothing
    if joint.quaternion is not None and question == "pose":
        given = name == "spherical"
    assert (tally.total == 0) == (constant or given)


@pytest.mark.parametrize(("name", "question"), CASES)
def test_casadi(name: str, question: str) -> None:
    joint, ask = JOINTS[name], QUESTIONS[question]
    symbols = [casadi.SX.sym(s, n) for s, n in sizes(joint)]
    answer = ask(joint, *(casadi.vertsplit(s) for s in symbols))
    function = casadi.Function("f", symbols, [casadi.vertcat(*answer)])
    state = sample(joint)
    assert_close(np.array(function(*state)).ravel(), numbers(ask(joint, *state)), 1e-14)


@pytest.mark.parametrize(("name", "question"), CASES)
def test_sympy(name: str, question: str) -> None:
    joint, ask = JOINTS[name], QUESTIONS[question]
    symbols = [list(sympy.symbols(f"{s}:{n}")) for s, n in sizes(joint)]
    answer = ask(joint, *symbols)
    state = sample(joint)
    found = sympy.lambdify(symbols, answer, modules="math", cse=True)(*state)
    assert_close(found, numbers(ask(joint, *state)), 1e-12)


@pytest.mark.parametrize("name", MOVING)
def test_second_derivatives_by_jets_of_jets(name: str) -> None:
    """ẍ = ½(ẋξ + xξ̇) for a motion with velocity v and acceleration a."""
    joint = JOINTS[name]
    q, v, a, _ = sample(joint)
    n = joint.nq

    def velocity(c: list[Any]) -> list[Any]:
        return derivative(lambda s: joint.pose(s).components, c[:n], joint.rate(c[:n], c[n:]))

    found = derivative(velocity, [*q, *v], [*joint.rate(q, v), *a])
    x, twist = joint.pose(q), joint.twist(q, v)
    expected = (x * twist * 0.5 * twist + x * joint.twist_rate(q, v, a)) * 0.5
    assert_close(found, expected.vec8(), 1e-13)
