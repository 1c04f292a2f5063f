"""The tables of docs/formulations.md: what each step of the recursion costs as printed and as regrouped."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import dqdyn as dq
from dqdyn.algebra.adjoint import Factored
from dqdyn.algebra.products import cross, dot
from dqdyn.analysis.costs.operands import Operands, count
from dqdyn.dynamics.formulations import newton_euler
from dqdyn.dynamics.formulations.literal import silva
from dqdyn.dynamics.formulations.literal.products import adjoint, conjugate
from dqdyn.dynamics.wrenches import power

PAGE = (Path(__file__).parents[2] / "docs" / "formulations.md").read_text(encoding="utf-8")
ARM = dq.from_dh([[0.1, 0.2, 0.3, 0.4]] * 3, inertias=[(1.0, (0.1, 0.2, 0.3), np.eye(3))] * 3)
JOINT, INERTIA = ARM.joints[2], ARM.bodies[2].inertia


def rows(title: str) -> list[list[str]]:
    """The cells of the table whose first row begins so."""
    table = PAGE[PAGE.index(title) :].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def operations(run: Callable[[Operands], Any]) -> tuple[int, int]:
    tally = count(run)
    return tally.mul, tally.add


def printed(run: Callable[[Operands, silva.SilvaLink], Any]) -> tuple[int, int]:
    """Of a step of Silva; quaternions that are pure have a real part by then, which is computed too."""

    def step(c: Operands) -> None:
        twists = c("pure"), c("pure")
        run(c, silva.SilvaLink(0, c("dual"), c("dual"), *twists, [], c("scalar"), c("columns")))

    return operations(step)


def regrouped(run: Callable[[Operands, Factored], Any]) -> tuple[int, int]:
    """Of a step of ours, without the map of the joint that it takes."""
    whole, shared = operations(lambda c: run(c, JOINT.transform(c(3)))), operations(lambda c: JOINT.transform(c(3)))
    return whole[0] - shared[0], whole[1] - shared[1]


def twist_and_rate(c: Operands, x: Factored) -> None:
    own, carried = JOINT.motion.twist(c(1), c(1)), x.back(c("pure"))
    carried + own
    x.back(c("pure")) + JOINT.motion.twist_rate(c(1), c(1), c(1)) - cross(own, carried)


STEPS = [
    (printed(lambda c, link: silva.center_pose(link, c("dual"))), operations(lambda c: JOINT.transform(c(3)))),
    (operations(lambda c: conjugate(c("dual")) * c("dual")), (0, 0)),
    (
        printed(lambda c, link: silva.twist_and_rate(link, c("dual"), c("dual"), c("dual"))),
        regrouped(twist_and_rate),
    ),
    (
        printed(lambda c, link: silva.body_wrench(link, c("dual"), c("dual"), c("dual"), c("vector"))),
        regrouped(lambda c, x: newton_euler.body_wrench(INERTIA, c("pure"), c("pure"))),
    ),
    (
        printed(lambda c, link: silva.transmitted(link, c("dual"), adjoint(link.from_joint, c("dual")))),
        regrouped(lambda c, x: c("pure") + x(c("pure"))),
    ),
    (
        operations(lambda c: dot(c("dual"), c("pure"))),
        regrouped(lambda c, x: c("scalar") + power(JOINT.motion.subspace(c(1))[0], c("pure"))),
    ),
]


def test_what_a_joint_costs_step_by_step() -> None:
    *stated, total = [[int(n) for n in row[2:]] for row in rows("| Step | Equation |")]
    assert stated == [[*step, *ours] for step, ours in STEPS]
    assert total == [sum(column) for column in zip(*stated, strict=True)]
    assert total[:2] == [871, 704]  # Silva's steps for one joint of the cost tables


def test_what_each_change_saves() -> None:
    ladder = [[int(n) for n in row[2:] if n] for row in rows("| | Newton–Euler of the arm")]
    assert len(ladder) == 6
    for before, after in pairwise(ladder):
        assert after[2:] == [before[0] - after[0], before[1] - after[1]]
    values = {int(n) for pair in re.findall(r"# → (.*)", PAGE) for n in re.findall(r"\d+", pair)}
    assert {n for row in ladder for n in row[:2]} <= values  # which the code of the page computes
