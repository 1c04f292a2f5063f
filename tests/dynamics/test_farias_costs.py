"""The cost tables of Farias: printed numbers, counted ones, and reasons where they differ."""

from __future__ import annotations

import re

import numpy as np
import pytest
from trees import assert_close, random_state, random_v

import dqdyn as dq
from dqdyn.algebra.adjoint import Ad
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose, translator
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.analysis.costs.farias import Cost, Row, farias_table_2, farias_table_3, farias_table_4, farias_total
from dqdyn.dynamics.formulations import newton_euler
from dqdyn.dynamics.formulations.literal import farias as steps
from dqdyn.errors import Error
from dqdyn.kinematics.center_frames import gravity_rate
from dqdyn.kinematics.tree import poses
from dqdyn.model.inertia import Inertia

DIFFERENT = {
    "table 2": {"cross product": (6, 3), "adjoint": (32, 24)},
    "table 3": {"inner product": (9, 7), "Hamilton operator (24)": (48, 40), "adjoint (36)": (27, 21)},
    "table 4": {"(40)": (33, 27), "(44)": (57, 45), "(46)": (27, 27), "total": (321, 246), "total, D-H": (417, 326)},
}
"""Multiplications and additions that are not those of the print, counted by hand."""
TABLES = {"table 2": farias_table_2, "table 3": farias_table_3, "table 4": farias_table_4}


def operations(cost: Cost) -> tuple[int, int]:
    return cost.mul, cost.add


@pytest.mark.equation("Farias", "24")
@pytest.mark.equation("Farias", "section 6")
@pytest.mark.equation("Farias", "table 2")
@pytest.mark.equation("Farias", "table 3")
@pytest.mark.equation("Farias", "table 4")
@pytest.mark.equation("Farias", "79")
@pytest.mark.parametrize("table", TABLES)
def test_counts(table: str) -> None:
    for row in TABLES[table]():
        if row.printed is None:
            continue
        expected = DIFFERENT[table].get(row.name, operations(row.printed))
        assert operations(row.counted) == expected, row.name
        assert (row.printed == row.counted) == (not row.reason), row.name


@pytest.mark.equation("Farias", "table 4")
def test_printed_totals_are_sums_of_the_printed_lines() -> None:
    rows = {row.name: row for row in farias_table_4()}
    joint = [row for name, row in rows.items() if re.fullmatch(r"\((34|40|44|45|46|48)\).*", name)]
    for first, total in (("(39)", "total"), ("(39), D-H", "total, D-H")):
        for kind in ("printed", "counted"):
            costs = [getattr(row, kind) for row in [rows[first], *joint]]
            assert sum(costs, Cost(0, 0, 0)) == getattr(rows[total], kind)
    assert rows["(38)"].printed is None
    assert operations(rows["(38)"].counted) == (48 + 7, 40 + 1)


@pytest.mark.equation("Farias", "algorithm 1")
@pytest.mark.equation("Farias", "table 4")
@pytest.mark.parametrize("n", [1, 2, 7, 42])
def test_the_whole_algorithm_costs_what_its_steps_cost(n: int) -> None:
    row = farias_total(n)
    rows = {line.name: line.counted for line in farias_table_4()}
    assert row.printed == Cost(171, 321, 273).times(n)
    assert operations(row.counted) == (328 * n, 247 * n)
    assert row.counted + rows["(39)"].times(n) == (rows["total"] + rows["(38)"]).times(n)


def test_an_arm_has_joints() -> None:
    with pytest.raises(Error, match="at least one joint"):
        farias_total(0)


def test_rows_are_values() -> None:
    assert farias_table_2() == farias_table_2()
    assert isinstance(farias_table_2()[0], Row)


@pytest.mark.equation("Farias", "38")
@pytest.mark.equation("Farias", "40")
@pytest.mark.equation("Farias", "44")
@pytest.mark.equation("Farias", "45")
@pytest.mark.equation("Farias", "46")
@pytest.mark.equation("Farias", "48")
@pytest.mark.equation("Farias", "algorithm 1")
def test_the_counted_steps_move_an_arm() -> None:
    """What is counted is the algorithm: on numbers it gives the forces of an arm that holds something."""
    robot = dq.robots.arm7()
    rng = np.random.default_rng(5)
    q, v, a = (x.tolist() for x in random_state(robot, rng))
    home = random_v(robot, rng).tolist()
    at_home, n = poses(robot.model, home), robot.nv
    center = {-1: DQ([1.0]), **{i: at_home[i] * translator(robot.bodies[i].inertia.center) for i in range(n)}}
    links = []
    for i, joint in enumerate(robot.joints):
        axis = Ad(center[i].conj() * at_home[i], joint.motion.subspace([home[i]])[0])
        inertia: Inertia = robot.bodies[i].inertia
        moved = steps.exponential(axis, q[i], home[i])
        placed = center[i - 1].conj() * center[i]
        links.append(steps.ScrewLink(i - 1, placed, moved, [(i, axis)], [], inertia.mass, inertia.rows))
    load, tool = DQ(rng.normal(size=6)), pose(Quaternion(0.6, 0.0, 0.8, 0.0), pure(0.1, 0.2, 0.3))
    held = {n - 1: (steps.adjoint_maps(tool), load)}
    found = steps.algorithm_1(links, v, a, gravity_rate(robot.model), held)
    on_last = -Ad(translator(robot.bodies[-1].inertia.center) * tool, load)
    expected = newton_euler.inverse_dynamics(robot.model, q, v, a, {n - 1: on_last})
    assert_close(found, expected, 1e-10)


@pytest.mark.equation("Farias", "34")
@pytest.mark.equation("Farias", "35")
@pytest.mark.equation("Farias", "36")
def test_maps_of_a_pose_and_of_its_inverse() -> None:
    rng = np.random.default_rng(6)
    r = rng.normal(size=4)
    x, y = pose(Quaternion(*(r / np.linalg.norm(r))), pure(*rng.normal(size=3))), DQ(rng.normal(size=6))
    maps = steps.adjoint_maps(x)
    assert_close(steps.adjoint_by_maps(maps, y).vec8(), Ad(x, y).vec8(), 1e-14)
    assert_close(steps.adjoint_by_maps(steps.inverse_maps(maps), y).vec8(), Ad(x.conj(), y).vec8(), 1e-14)
