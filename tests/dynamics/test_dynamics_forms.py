"""The same robot in other frames, with regrouped inertias, or with joints split into axes: equal forces and poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trees import ONE_AXIS, TREES, assert_close, random_robot, random_state, run, tree

from dqdyn import robots
from dqdyn.compile.trace.tracer import trace
from dqdyn.dynamics.fast.derivatives import inverse_dynamics_derivatives_in_bodies
from dqdyn.dynamics.fast.regroup import regrouped
from dqdyn.dynamics.methods import FORWARD, INVERSE, MASS_MATRIX, longest_path
from dqdyn.model.canonical import canonical, in_cheap_frames
from dqdyn.model.joints.axis_joint import AxisJoint
from dqdyn.model.model import Model
from dqdyn.model.split import split
from dqdyn.robot import Robot

BUILT_IN = {
    "arm7": lambda: robots.arm7(),
    "humanoid": lambda: robots.humanoid().with_base("free"),
    "nonholonomic": lambda: robots.nonholonomic_manipulator(constrained=False),
    "long chain": lambda: random_robot(31, 26, ONE_AXIS),
    "revolute chain": lambda: random_robot(32, 9, ("revolute",)),
    "prismatic chain": lambda: random_robot(33, 5, ("prismatic", "revolute"), mimics=1),
}
NAMES = (*TREES, *BUILT_IN)
FORMS = {"canonical": canonical, "regrouped": regrouped, "split": split}


def robot(name: str) -> Robot:
    return tree(name) if name in TREES else BUILT_IN[name]()


def sample(ours: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return random_state(ours, np.random.default_rng(13))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["as it is", *FORMS])
def test_derivatives_are_the_same_in_the_frames_of_the_bodies(name: str, form: str) -> None:
    ours = robot(name)
    state = sample(ours)
    model = FORMS[form](ours.model) if form in FORMS else ours.model
    found = inverse_dynamics_derivatives_in_bodies(model, *state)
    assert_close(np.array(found, dtype=float), run(ours, "inverse_dynamics_derivatives", *state), 1e-9)


@pytest.mark.long
def test_named_formulations_get_frames_that_cost_less() -> None:
    """Frames anywhere cost more than normal ones; placements with zeros stay as they are."""
    ours = BUILT_IN["revolute chain"]()
    assert in_cheap_frames(ours.model) is not ours.model
    q, v, a = sample(ours)
    for method in INVERSE:
        assert_close(ours.inverse_dynamics(q, v, a, method=method), ours.inverse_dynamics(q, v, a), 1e-10)
    as_given = trace(
        "given", [("q", 9), ("v", 9), ("a", 9)], lambda *x: (INVERSE["newton-euler"](ours.model, *x), (9,))
    )
    assert ours.count("inverse_dynamics", method="newton-euler").total < 0.7 * as_given.counts.total
    sparse = robots.arm7().model
    assert in_cheap_frames(sparse) is sparse


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_dynamics_are_the_same(name: str, form: str) -> None:
    ours = robot(name)
    other = Robot(FORMS[form](ours.model))
    q, v, a = sample(ours)
    assert_close(run(other, "inverse_dynamics", q, v, a), run(ours, "inverse_dynamics", q, v, a), 1e-10)
    assert_close(run(other, "mass_matrix", q), run(ours, "mass_matrix", q), 1e-10)
    assert_close(run(other, "forward_dynamics", q, v, a), run(ours, "forward_dynamics", q, v, a), 1e-8)
    frames = ("tool",) if "tool" in ours.frames else (list(ours.frames)[-1],)
    wrench = np.arange(1.0, 7.0)
    for expressed in ("body", "aligned"):
        options: dict[str, Any] = {"wrench_frames": frames, "wrench_expressed": expressed}
        found = run(other, "inverse_dynamics", q, v, a, wrench, **options)
        assert_close(found, run(ours, "inverse_dynamics", q, v, a, wrench, **options), 1e-10)
    assert_close(
        run(other, "inverse_dynamics_derivatives", q, v, a), run(ours, "inverse_dynamics_derivatives", q, v, a), 1e-9
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_poses_are_the_same(name: str, form: str) -> None:
    """Of every frame, up to the sign that poses do not have."""
    ours = robot(name)
    other = Robot(FORMS[form](ours.model))
    q, v, _ = sample(ours)
    assert set(other.frames) == set(ours.frames)
    for frame in list(ours.frames)[::3]:
        expected, found = run(ours, "pose", q, frame=frame), run(other, "pose", q, frame=frame)
        assert_close(found * np.sign(found @ expected), expected, 1e-12)
        assert_close(run(other, "twist", q, v, frame=frame), run(ours, "twist", q, v, frame=frame), 1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_canonical_axes_are_along_z(name: str) -> None:
    for joint in canonical(robot(name).model).joints:
        if isinstance(joint.motion, AxisJoint):
            assert joint.motion.axis == (0.0, 0.0, 1.0), joint.name


@pytest.mark.parametrize("name", NAMES)
def test_split_subspaces_are_constant(name: str) -> None:
    ours = robot(name)
    other = split(ours.model)
    assert all(joint.motion.constant_subspace for joint in other.joints)
    assert (other.nq, other.nv) == (ours.nq, ours.nv)
    assert split(other) is other
    assert sum(body.inertia.mass for body in other.bodies) == pytest.approx(ours.mass, rel=1e-14)


def test_regrouping_leaves_fewer_parameters() -> None:
    """Of a body on a revolute joint: no mass, no m c_z, no Σ_zz; so programs get cheaper."""
    reduced = regrouped(robot("revolute chain").model)
    for body in reduced.bodies:
        inertia = body.inertia
        assert inertia.mass == inertia.first_moment.z == 0.0
        assert abs(inertia.second_moments[2][2]) == 0.0


def nonzero(model: Model) -> int:
    parts = [
        (b.inertia.mass, *b.inertia.first_moment.vector, *np.ravel(b.inertia.second_moments)) for b in model.bodies
    ]
    return int(np.count_nonzero(parts))


@pytest.mark.parametrize("name", NAMES)
def test_regrouping_never_adds_parameters(name: str) -> None:
    model = canonical(robot(name).model)
    assert nonzero(regrouped(model)) <= nonzero(model)


def test_candidates_depend_on_the_robot() -> None:
    """Articulated bodies for long chains without mimic joints, composite bodies for all others."""
    long, short, coupled = robot("long chain"), robot("arm7"), robot("every kind, mimic")
    forms = lambda ours: [form for form, _ in FORWARD.candidates(ours.model, "auto")]
    assert longest_path(short.model) == 7
    assert FORWARD["articulated-body"] in forms(robot("long chain")) or longest_path(long.model) < 12
    assert forms(short) == forms(coupled) == [FORWARD["composite-body"]]
    assert all(form is INVERSE["recursive"] for form, _ in INVERSE.candidates(long.model, "auto"))


@pytest.mark.parametrize("name", NAMES)
def test_methods_agree_on_regrouped_models(name: str) -> None:
    """The forms that may run on regrouped inertias, which no body could have."""
    ours = robot(name)
    reduced = Robot(regrouped(ours.model))
    q, v, a = sample(ours)
    expected = run(ours, "mass_matrix", q)
    for method in ("composite-body", "composite-body-root"):
        assert method in MASS_MATRIX
        assert_close(run(reduced, "mass_matrix", q, method=method), expected, 1e-10)
    accelerations = run(ours, "forward_dynamics", q, v, a)
    for method in FORWARD:
        if method == "articulated-body" and any(joint.is_mimic for joint in ours.joints):
            continue
        assert_close(run(reduced, "forward_dynamics", q, v, a, method=method), accelerations, 1e-8)
