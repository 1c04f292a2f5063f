"""DH tables against DQ Robotics and against products of homogeneous matrices."""

from __future__ import annotations

import math
from typing import Any

import dqrobotics
import numpy as np
import pytest
from dqrobotics.robot_modeling import DQ_SerialManipulatorDH, DQ_SerialManipulatorMDH
from hypothesis import given, settings
from hypothesis import strategies as st
from serial_walk import distance, frame_pose, kinds, random_box

from dqdyn.algebra.values import Pose
from dqdyn.errors import Error, LoadError, UnknownNameError
from dqdyn.formats.serial.dh import describe_dh
from dqdyn.model.build import build
from dqdyn.model.description import Description, placement
from dqdyn.model.inertia import Inertia

ORACLES = {False: DQ_SerialManipulatorDH, True: DQ_SerialManipulatorMDH}


def random_table(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.column_stack([rng.uniform(-math.pi, math.pi, (n, 4)), rng.integers(0, 2, n)])


@pytest.mark.parametrize("modified", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 10])
def test_poses_are_those_of_dq_robotics(n: int, modified: bool) -> None:
    rng = np.random.default_rng(100 * n + modified)
    for _ in range(10):
        table, q = random_table(rng, n), rng.uniform(-3, 3, n)
        base, tool = (placement(rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3)) for _ in range(2))
        oracle = ORACLES[modified](table.T)
        oracle.set_reference_frame(dqrobotics.DQ(base.vec8()))
        oracle.set_effector(dqrobotics.DQ(tool.vec8()))
        model = build(describe_dh(table, modified=modified, joints_in="rows", base=base, tool=tool), strict=True)
        assert distance(frame_pose(model, "tool", q), oracle.fkm(q).vec8()) < 1e-12
        for i in range(n):
            link = frame_pose(model, f"link{i + 1}", q)
            assert distance(base.conj() * link, oracle.raw_fkm(q, i).vec8()) < 1e-12


def matrix(theta: float, d: float, a: float, alpha: float, modified: bool) -> np.ndarray:
    ct, st_, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    about_z = np.array([[ct, -st_, 0, 0], [st_, ct, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]])
    about_x = np.array([[1, 0, 0, a], [0, ca, -sa, 0], [0, sa, ca, 0], [0, 0, 0, 1]])
    return about_x @ about_z if modified else about_z @ about_x


@pytest.mark.parametrize("modified", [False, True])
def test_inertias_are_in_the_link_frames(modified: bool) -> None:
    rng = np.random.default_rng(7)
    n = 6
    table, q = random_table(rng, n), rng.uniform(-3, 3, n)
    inertias = [random_box(rng) for _ in range(n)]
    model = build(describe_dh(table, modified=modified, inertias=inertias), strict=True)
    t = np.eye(4)
    for i, (theta, d, a, alpha, kind) in enumerate(table):
        turned, moved = (theta, d + q[i]) if kind else (theta + q[i], d)
        t = t @ matrix(turned, moved, a, alpha, modified)
        body = Pose(frame_pose(model, f"joint{i + 1}", q)).matrix
        com = body[:3, :3] @ model.bodies[i].inertia.com + body[:3, 3]
        np.testing.assert_allclose(com, t[:3, :3] @ inertias[i].com + t[:3, 3], atol=1e-12)
        tensor = body[:3, :3] @ np.array(model.bodies[i].inertia.tensor) @ body[:3, :3].T
        np.testing.assert_allclose(tensor, t[:3, :3] @ np.array(inertias[i].tensor) @ t[:3, :3].T, atol=1e-12)
        assert model.bodies[i].inertia.mass == inertias[i].mass


def test_columns_as_in_dq_robotics() -> None:
    table = random_table(np.random.default_rng(3), 7)
    assert describe_dh(table.T, joints_in="columns") == describe_dh(table) == describe_dh(table, joints_in="rows")
    assert describe_dh(table[:, :4].T, joints_in="columns") == describe_dh(table[:, :4])


def test_names_and_types() -> None:
    d = describe_dh([[0, 0.1, 0, 0, 1], [0, 0, 1, 0, 0]], names=["slide", "turn"], name="gantry")
    assert (d.name, kinds(d), [j.name for j in d.joints]) == ("gantry", ["prismatic", "revolute"], ["slide", "turn"])
    assert [link.name for link in d.links] == ["base", "link1", "link2"]
    assert kinds(describe_dh([(0, 0, 1, 0)])) == ["revolute"]


@pytest.mark.parametrize("shape", [(4, 4), (4, 5), (5, 4), (5, 5)])
def test_ambiguous_shapes_are_refused_until_told(shape: tuple[int, int]) -> None:
    with pytest.raises(LoadError, match=r"joints_in='rows' or joints_in='columns'") as error:
        describe_dh(np.zeros(shape))
    assert error.value.shape == shape
    assert len(describe_dh(np.zeros(shape), joints_in="rows").joints) == shape[0]
    assert len(describe_dh(np.zeros(shape), joints_in="columns").joints) == shape[1]


def test_transposed_table_is_not_guessed() -> None:
    with pytest.raises(LoadError, match="pass joints_in='columns'"):
        describe_dh(np.zeros((5, 7)))
    with pytest.raises(LoadError, match=r"4 or 5 numbers per joint.*5×7 with joints_in='rows'"):
        describe_dh(np.zeros((5, 7)), joints_in="rows")
    with pytest.raises(UnknownNameError, match=r"'row'.*did you mean 'rows'"):
        describe_dh(np.zeros((7, 4)), joints_in="row")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (3.0, "list of rows"),
        ([], "no rows"),
        ([1.0, 2.0], "list of rows"),
        ([[0, 0, 1]], "4 or 5 numbers per joint"),
        ([[0, 0, 1, 0], [0, 0, 1]], "4 numbers in row 1 and 3 in row 2"),
        ([[0, 0, 1, 0], [0, "x", 1, 0]], "'x' in row 2, column 2"),
        ([[0, 0, 1, 0], [0, 0, None, 0]], "None in row 2, column 3"),
        ([[0, 0, 1j, 0]], "row 1, column 3"),
        (np.zeros((3, 4, 1)), "row 1, column 1"),
    ],
)
def test_what_is_no_table_is_refused(table: object, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        describe_dh(table)


@given(
    n=st.integers(1, 9).filter(lambda n: n not in (4, 5)),
    width=st.sampled_from([4, 5]),
    data=st.data(),
    bad=st.sampled_from([math.nan, math.inf, -math.inf]),
)
@settings(max_examples=50, deadline=None)
def test_numbers_that_are_not_finite_are_named(n: int, width: int, data: st.DataObject, bad: float) -> None:
    row, column = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, width - 1))
    table = np.zeros((n, width))
    table[row, column] = bad
    with pytest.raises(LoadError, match=f"row {row + 1}, column {column + 1}: give a finite number") as error:
        describe_dh(table)
    assert (error.value.row, error.value.column) == (row, column)


@given(n=st.integers(1, 9), bad=st.floats(-9, 9).filter(lambda x: x not in (0.0, 1.0)), data=st.data())
@settings(max_examples=50, deadline=None)
def test_unknown_joint_types_are_named(n: int, bad: float, data: st.DataObject) -> None:
    table = np.zeros((n, 5))
    row = data.draw(st.integers(0, n - 1))
    table[row, 4] = bad
    with pytest.raises(LoadError, match=f"Joint {row + 1} .*0 for revolute or 1 for prismatic") as error:
        describe_dh(table, joints_in="rows")
    assert error.value.row == row


junk = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3), lambda x: st.lists(x, max_size=5), max_leaves=30
)


@given(table=junk, joints_in=st.sampled_from([None, "rows", "columns"]))
@settings(max_examples=150, deadline=None)
def test_junk_gives_a_robot_or_one_of_our_errors(table: object, joints_in: str | None) -> None:
    try:
        result = describe_dh(table, joints_in=joints_in)
    except Error:
        return
    assert isinstance(result, Description)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"]}, "2 joints but 1 names"),
        ({"names": "ab"}, "2 joints but 1 names"),
        ({"inertias": [Inertia()]}, "2 joints but 1 inertias"),
        ({"inertias": [Inertia(), (1.0, (0, 0))]}, "inertia of 'link2' must be"),
        ({"inertias": [(1.0, (0, 0, 0), [[1, 1, 0], [0, 1, 0], [0, 0, 1]]), Inertia()]}, "'link1' is not symmetric"),
        ({"base": "free"}, "The base of a DH robot must be a Pose"),
        ({"tool": [2, 0, 0, 0, 0, 0, 0, 0]}, "The tool of a DH robot must be a Pose.*unit"),
        ({"tool": np.zeros((4, 4))}, "last row of a 4×4 matrix"),
        ({"tool": np.tile([1.0, 0, 0, 0, 0, 0, 0, 0], (2, 1))}, r"one pose; found a batch of shape \(2,\)"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LoadError, match=message):
        describe_dh([[0, 0, 1, 0], [0, 0, 1, 0]], **options)


def test_poses_may_be_given_in_three_ways() -> None:
    x = placement((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    ways = [describe_dh([[0, 0, 1, 0]], tool=tool) for tool in (x, Pose(x), x.vec8(), Pose(x).matrix)]
    for way in ways:
        assert distance(way.frames[0].origin, x.vec8()) < 1e-15
