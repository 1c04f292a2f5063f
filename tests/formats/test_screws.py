"""Screws at home against matrix exponentials, against DH arms and against the pose formula of Farias."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serial_walk import distance, frame_pose, kinds, matrix_exponential, random_box, screw_matrix

from dqdyn.algebra.adjoint import Ad
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import screw_exp
from dqdyn.algebra.values import Pose
from dqdyn.errors import LoadError, ModelError, ModelWarning
from dqdyn.formats.serial.dh import describe_dh
from dqdyn.formats.serial.screws import describe_screws
from dqdyn.model.build import build
from dqdyn.model.description import placement
from dqdyn.model.inertia import Inertia

KINDS = ("revolute", "prismatic", "helical")


def random_screw(rng: np.random.Generator, kind: str) -> np.ndarray:
    l, p = rng.normal(size=3), rng.uniform(-1, 1, 3)
    l /= np.linalg.norm(l)
    if kind == "prismatic":
        return np.concatenate([np.zeros(3), l])
    return np.concatenate([l, np.cross(p, l) + (rng.uniform(0.01, 0.3) * l if kind == "helical" else 0.0)])


def random_pose(rng: np.random.Generator) -> DQ:
    return placement(rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))


@pytest.mark.equation("Farias", "39")
@pytest.mark.parametrize("seed", range(20))
def test_tool_pose_is_the_product_of_matrix_exponentials(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    chosen = [str(k) for k in rng.choice(KINDS, n)]
    axes = np.array([random_screw(rng, kind) for kind in chosen])
    home, q = random_pose(rng), rng.uniform(-2, 2, n)
    links = [random_pose(rng) for _ in range(n)] if seed % 2 else None
    description = describe_screws(axes, home, links=links)
    assert kinds(description) == chosen
    expected = np.eye(4)
    for screw, angle in zip(axes, q, strict=True):
        expected = expected @ matrix_exponential(screw_matrix(screw) * angle)
    found = Pose(frame_pose(build(description, strict=True), "tool", q)).matrix
    np.testing.assert_allclose(found, expected @ Pose(home).matrix, atol=1e-12)


@pytest.mark.equation("Farias", "37")
@pytest.mark.equation("Farias", "38")
@pytest.mark.parametrize("seed", range(10))
def test_links_move_as_the_corrected_formula_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 5
    axes = np.array([random_screw(rng, kind) for kind in rng.choice(KINDS, n)])
    at_home = [placement(), *(random_pose(rng) for _ in range(n))]
    q = rng.uniform(-2, 2, n)
    model = build(describe_screws(axes, random_pose(rng), links=at_home[1:]), strict=True)
    for i in range(n):
        delta = at_home[i].conj() * at_home[i + 1]
        a = Ad(at_home[i + 1].conj(), DQ([0.0, *axes[i, :3], 0.0, *axes[i, 3:]]))
        before = frame_pose(model, f"link{i}" if i else "base", q)
        moved = before.conj() * frame_pose(model, f"link{i + 1}", q)
        assert distance(moved, (delta * screw_exp(a * (q[i] / 2))).vec8()) < 1e-12
        assert distance(frame_pose(model, f"link{i + 1}", np.zeros(n)), at_home[i + 1].vec8()) < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_same_arm_as_its_dh_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 6
    table = np.column_stack([rng.uniform(-2, 2, (n, 4)), rng.integers(0, 2, n)])
    inertias = [random_box(rng) for _ in range(n)]
    dh = build(describe_dh(table, inertias=inertias))
    frames = ["base", *(f"link{i + 1}" for i in range(n))]
    at_home = [Pose(frame_pose(dh, frame, np.zeros(n))) for frame in frames]
    axes = []
    for i in range(n):  # a joint turns about, or slides along, z of the frame before it
        z, p = at_home[i].rotation_matrix[:, 2], at_home[i].translation
        axes.append([*np.zeros(3), *z] if table[i, 4] else [*z, *np.cross(p, z)])
    screws = build(describe_screws(axes, at_home[-1], inertias, links=at_home[1:]), strict=True)
    q = rng.uniform(-2, 2, n)
    for frame in (*frames, "tool"):
        assert distance(frame_pose(screws, frame, q), frame_pose(dh, frame, q).vec8()) < 1e-12
    for i in range(n):  # the same center of mass in the world, through frames of our own choice
        com = [
            Pose(frame_pose(model, f"joint{i + 1}", q)) * Pose(translation=model.bodies[i].inertia.com)
            for model in (screws, dh)
        ]
        np.testing.assert_allclose(com[0].translation, com[1].translation, atol=1e-12)


def test_inertias_without_link_poses_are_in_the_base_frame_at_home() -> None:
    inertias = [Inertia(1.0, (0.5, 0.0, 0.0)), Inertia(2.0, (1.5, 0.0, 0.2))]
    model = build(describe_screws([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0]], Pose(translation=[2, 0, 0]), inertias))
    quarter = Pose(frame_pose(model, "joint2", [0.0, math.pi / 2])) * Pose(translation=model.bodies[1].inertia.com)
    np.testing.assert_allclose(quarter.translation, [1.0, 0.5, 0.2], atol=1e-12)


def test_pitch_is_split_from_the_moment() -> None:
    d = describe_screws([[0, 0, 1, 0, -1.0, 0.02]], Pose())
    (joint,) = d.joints
    assert (joint.kind, joint.pitch, joint.axis) == ("helical", pytest.approx(0.02), (0.0, 0.0, 1.0))
    np.testing.assert_allclose(Pose(joint.origin).translation, [1.0, 0.0, 0.0], atol=1e-15)


def test_rounding_of_a_moment_is_no_pitch() -> None:
    l = np.array([1.0, 2.0, 3.0]) / math.sqrt(14)
    m = np.cross([0.3, 5.0, -7.0], l)
    assert abs(l @ m) < 1e-12
    assert kinds(describe_screws([[*l, *m]], Pose())) == ["revolute"]


def test_tiny_pitch_is_said() -> None:
    description = describe_screws([[0, 0, 1, 1, 0, 1e-7]], Pose())
    assert kinds(description) == ["helical"]
    with pytest.warns(ModelWarning, match="screw 1 has the tiny pitch 1e-07 m/rad and is helical"):
        build(description)
    with pytest.raises(ModelError, match="tiny pitch"):
        build(description, strict=True)


def test_axis_with_few_digits_is_said() -> None:
    description = describe_screws([[0.7071, 0.7071, 0, 0, 0, 0]], Pose())
    with pytest.warns(ModelWarning, match="used with length one"):
        build(description)


@given(
    size=st.floats(1e-6, 50.0).filter(lambda s: abs(s - 1.0) > 2e-3),
    row=st.integers(0, 3),
    prismatic=st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_screws_that_are_not_unit_are_named(size: float, row: int, prismatic: bool) -> None:
    axes = np.tile([0.0, 0, 1, 0, 0, 0], (4, 1))
    axes[row] = [0, 0, 0, 0, size, 0] if prismatic else [0, size, 0, 0, 0, 1]
    with pytest.raises(LoadError, match=f"Screw {row + 1} has a (direction|moment) .*divide the screw by it") as error:
        describe_screws(axes, Pose())
    assert (error.value.row, error.value.length) == (row, pytest.approx(size))


@pytest.mark.parametrize(
    ("axes", "options", "message"),
    [
        ([[0, 0, 0, 0, 0, 0]], {}, "Screw 1 is zero"),
        ([[0, 0, 1, 0, 0]], {}, r"six numbers.*\(1, 5\)"),
        ([[0, 0, 1, 0, 0, math.nan]], {}, "row 1, column 6: give a finite number"),
        ([], {}, "no rows"),
        (None, {}, "list of rows"),
        ([[0, 0, 1, 0, 0, 0]], {"links": []}, "1 screws but 0 link poses"),
        ([[0, 0, 1, 0, 0, 0]], {"links": [[1, 2, 3]]}, "The home pose of link 1 must be a Pose"),
        ([[0, 0, 1, 0, 0, 0]], {"inertias": [Inertia()] * 2}, "1 joints but 2 inertias"),
        ([[0, 0, 1, 0, 0, 0]], {"names": ["a", "b"]}, "1 joints but 2 names"),
    ],
)
def test_bad_input_is_refused(axes: object, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LoadError, match=message):
        describe_screws(axes, Pose(), **options)


def test_home_must_be_a_pose() -> None:
    with pytest.raises(LoadError, match=r"The home pose must be a Pose, a vec8 or a 4×4 matrix.*orthogonal"):
        describe_screws([[0, 0, 1, 0, 0, 0]], np.diag([2.0, 1.0, 1.0, 1.0]))
