"""Every equality of a whole-body problem holds for every choice that its elimination leaves: none is dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from biped import biped

import dqdyn as dq
from dqdyn import contacts
from dqdyn.contacts.contact import Contact
from dqdyn.control.controllers.torque import mass_and_bias
from dqdyn.control.whole_body.context import Contacts, WholeBodyContext
from dqdyn.control.whole_body.controller import anchor_of
from dqdyn.control.whole_body.elimination import Elimination, Equality, Plan, plan_for

ENDS = ((-0.05, 0.02, 0.0), (0.05, 0.0, 0.01))
FACE: dict[str, Any] = {"half_length": 0.1, "half_width": 0.05}
KINDS: dict[str, Any] = {
    "point": lambda frame: contacts.point(frame, (0.01, 0.02, 0.0)),
    "point with torsion": lambda frame: contacts.point(frame, torsional_friction=0.02),
    "edge": lambda frame: contacts.edge(frame, ENDS),
    "face": lambda frame: contacts.face(frame, **FACE),
    "corners": lambda frame: contacts.face(frame, **FACE, cone="corners"),
    "sliding point": lambda frame: contacts.point(frame, mode="sliding", directions=[(1.0, 0.0, 0.0)]),
    "sliding face": lambda frame: contacts.face(frame, **FACE, mode="sliding", directions=[(0.0, 1.0, 0.0)]),
    "sliding edge": lambda frame: contacts.edge(frame, ENDS, mode="sliding", directions=[(1.0, 0.0, 0.0)]),
}
SETS = [(a,) for a in KINDS] + [(a, b) for a in KINDS for b in KINDS]


def worst_residual(robot: dq.Robot, given: tuple[Contact, ...], seed: int) -> float | None:
    """The largest coefficient that is left of an equality, against its own; None where some depend on others."""
    rng = np.random.default_rng(seed)
    q = robot.random_configuration(rng)
    v = rng.normal(size=robot.nv)
    held = Contacts(robot.model, tuple(robot.actuated.tolist()), given, 10.0)
    anchors = np.concatenate([anchor_of(robot.model, c, q) for c in given]).tolist()
    context = WholeBodyContext(
        robot.model, "acceleration", q.tolist(), v.tolist(), lambda s: s.at(0.0), [], dynamics=mass_and_bias(robot),
        contacts=held, anchors=anchors,
    )  # fmt: skip
    rows = np.array([[e.row.get(k, 0.0) for k in range(context.unknowns)] for e in context.equalities])
    if np.linalg.matrix_rank(rows, 1e-9) < len(rows):
        return None
    plan = plan_for([(context.unknowns, context.equalities)], [])
    assert not plan.dependent
    elimination, worst = Elimination(context.unknowns, context.equalities, plan), 0.0
    for equality in context.equalities:
        row, constant = elimination(equality.row, -equality.right)
        size = max(abs(c) for c in equality.row.values()) + abs(equality.right)
        worst = max(worst, *(abs(x) / size for x in (*row, constant)))
    return worst


@pytest.mark.parametrize("names", SETS, ids="-".join)
def test_all_hold_on_a_biped(names: tuple[str, ...]) -> None:
    given = tuple(KINDS[name](f"{side}_sole") for name, side in zip(names, ("left", "right"), strict=False))
    found = [worst_residual(biped(), given, seed) for seed in range(3)]
    assert all(worst is None or worst < 1e-7 for worst in found), found
    if len(names) == 1:
        assert None not in found


def test_confined_rows_follow_what_earlier_ones_turned() -> None:
    """The first row exchanges two unknowns; the second, that had one of them, still asks for what it did."""
    rows = [Equality({0: 1e-20, 1: 1.0}, 2.0, is_motion=True), Equality({0: 1.0}, 3.0, is_motion=True)]
    elimination = Elimination(3, rows, Plan(confined=frozenset({0, 1})))
    assert elimination.free == [2]
    assert elimination.margins[1] == pytest.approx(1.0)
    for row, value in (({0: 1.0}, 3.0), ({1: 1.0}, 2.0)):
        assert elimination(row) == ([pytest.approx(0.0, abs=1e-15)], pytest.approx(value))
