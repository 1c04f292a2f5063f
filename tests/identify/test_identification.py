"""Identification of simulated robots: coverage, prediction, consistency, and data that do not fit."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import identify

NOISE = np.array([0.5, 0.4, 0.3])


@cache
def setting() -> tuple[Any, Any, Any, Any, Any]:
    """A described arm, the true one, its base parameters, a motion to learn from and one to predict."""
    table = [[0.0, 0.3, 0.05, np.pi / 2], [0.1, 0.0, 0.4, 0.0], [0.0, 0.1, 0.3, 0.3]]
    inertia = (2.0, [-0.1, 0.02, 0.01], np.diag([0.02, 0.03, 0.025]))
    described = dq.from_dh(table, inertias=[inertia] * 3, name="arm")
    rng = np.random.default_rng(0)
    own = described.parameters(["mass", "center_of_mass"])
    true = described.with_parameters(
        {
            "mass": own["mass"] * rng.uniform(0.8, 1.3, 3),
            "center_of_mass": own["center_of_mass"] + 0.02 * rng.normal(size=9),
            "damping": rng.uniform(0.3, 1.0, 3),
            "friction": rng.uniform(0.2, 0.5, 3),
            "armature": rng.uniform(0.05, 0.2, 3),
        }
    )
    base = identify.base_parameters(described)
    motions = [
        identify.excitation(
            described,
            base=base,
            velocity=3.0,
            acceleration=15.0,
            frequency=0.2,
            harmonics=4,
            starts=5,
            iterations=n,
            seed=n,
        )
        for n in (1, 0)
    ]
    return described, true, base, *motions


def measured(motion: Any, rows: int, seed: int, noise: Any = NOISE) -> identify.Data:
    true, rng = setting()[1], np.random.default_rng(seed)
    t = np.linspace(0.0, motion.duration, rows)
    q, v, a = motion.at(t)
    return identify.Data(q, v, a, true.inverse_dynamics(q, v, a) + noise * rng.normal(size=q.shape), t)


def truth() -> Any:
    _, true, base, *_ = setting()
    return base.matrix @ identify.Columns.of(true).values()


def test_estimates_are_as_sure_as_they_say() -> None:
    described, _, base, motion, other = setting()
    runs = [identify.fit(described, measured(motion, 800, seed), base=base) for seed in range(25)]
    inside = np.array([np.abs(run.estimate - truth()) <= 3.0 * run.deviations for run in runs])
    assert inside.mean() > 0.985
    assert inside.mean(axis=0).min() >= 0.85
    normalised = np.array([(run.estimate - truth()) / run.deviations for run in runs])
    assert 0.8 < normalised.std() < 1.2
    report = identify.fit(described, measured(motion, 4000, 99), base=base, validation=measured(other, 20_000, 100))
    assert report.validation is not None
    assert np.allclose(report.noise, NOISE, rtol=0.05)
    assert np.abs(report.validation.rms / NOISE - 1.0).max() < 0.02
    q, v, a = other.at(np.linspace(0.0, other.duration, 200))
    error = report.predict(q, v, a) - setting()[1].inverse_dynamics(q, v, a)
    assert np.sqrt(1.0 + ((error / NOISE) ** 2).mean()) < 1.01  # of the noise, with it


@pytest.mark.long
def test_panda_with_noise() -> None:
    """Friction, armature and offsets too: 69 base parameters, within three deviations as often as they should be."""
    from robot_data import urdf_file

    loaded = dq.load(urdf_file("panda")).without_friction()
    robot = loaded.lock(dict.fromkeys([j.name for j in loaded.joints if "finger" in j.name], 0.0))
    rng = np.random.default_rng(0)
    own = robot.parameters(["mass", "rotational_inertia"])
    changed = {"mass": own["mass"] * rng.uniform(0.8, 1.2, 7), "damping": rng.uniform(0.5, 2.0, 7)}
    changed |= {"friction": rng.uniform(0.2, 1.0, 7), "armature": rng.uniform(0.05, 0.3, 7)}
    true, offset, noise = robot.with_parameters(changed), rng.normal(size=7), rng.uniform(0.1, 0.5, 7)
    base = identify.base_parameters(robot)
    motion, other = (
        identify.excitation(
            robot, base=base, acceleration=8.0, starts=20, iterations=0, criterion="determinant", seed=k
        )
        for k in (0, 1)
    )
    parameters = identify.Columns.of(true).values()
    parameters[base.columns.part("offset")] = offset
    beta = base.matrix @ parameters
    t, q, v, a = motion.samples(200.0)
    tau = true.inverse_dynamics(q, v, a) + offset
    _, *unseen = other.samples(50.0)
    expected = true.inverse_dynamics(*unseen) + offset
    inside, errors = [], []
    for _ in range(8):
        report = identify.fit(robot, (q, v, a, tau + noise * rng.normal(size=q.shape), t), base=base)
        inside.append(np.abs(report.estimate - beta) <= 3.0 * report.deviations)
        errors.append(np.sqrt(1.0 + (((report.predict(*unseen) - expected) / noise) ** 2).mean()))
    assert len(base) == 69
    assert np.mean(inside) > 0.985
    assert np.mean(errors) < 1.01


def test_consistent_estimates() -> None:
    described, true, base, motion, other = setting()
    report = identify.fit(described, measured(motion, 2000, 5), base=base)
    assert (np.linalg.eigvalsh(report.pseudo_inertias()) > 0.0).all()
    robot = report.robot()
    q, v, a = other.at(np.linspace(0.0, other.duration, 200))
    offset = report.parameters[base.columns.part("offset")]
    error = robot.inverse_dynamics(q, v, a) + offset - true.inverse_dynamics(q, v, a)
    assert np.sqrt((error**2).mean(axis=0) / NOISE**2).max() < 0.3
    assert np.allclose(report.predict(q, v, a, consistent=True), robot.inverse_dynamics(q, v, a) + offset)
    # Far from data, the prior decides: without measurements to speak of, the robot stays as it is described.
    near = identify.fit(described, measured(motion, 2000, 5), base=base, prior=1e9, check=False)
    own = described.inertial_parameters()
    assert np.allclose(near.parameters[: own.size], own, atol=1e-2 * np.abs(own).max())
    with pytest.raises(dq.Error, match="weight of the prior"):
        identify.fit(described, measured(motion, 200, 5), base=base, prior=0.0)


def test_without_noise_and_in_pieces() -> None:
    described, _, base, motion, _ = setting()
    data = measured(motion, 1000, 0, noise=0.0)
    whole = identify.fit(described, data, base=base)
    assert np.allclose(whole.estimate, truth(), atol=1e-8)
    noisy = measured(motion, 1000, 3)
    whole = identify.fit(described, noisy, base=base)
    pieces = [tuple(getattr(noisy, n)[k : k + 77] for n in ("q", "v", "a", "tau")) for k in range(0, 1000, 77)]
    parts = identify.fit(described, iter(pieces), base=base)
    assert parts.rows == whole.rows == 1000
    assert np.allclose(parts.estimate, whole.estimate, atol=1e-10)
    assert np.allclose(parts.deviations, whole.deviations, rtol=1e-8)
    text, page = str(whole), whole._repr_html_()
    for words in ("base parameters of 42; 1000 measurements", "condition number", "not identifiable", "± std"):
        assert words in text
    assert page.count("<tr>") == 1 + len(base)
    assert set(whole.uncertain) <= set(base.labels)
    assert whole.hidden == base.hidden


def test_a_free_base_with_springs_and_turning_rotors() -> None:
    """Any tree, from states of one's own."""
    from trees import random_q, random_robot

    robot = random_robot(6, 2, ("spherical", "revolute"), base="free")
    name = next(j.name for j in robot.joints if j.kind == "revolute")
    robot = robot.with_springs({name: (3.0, 0.2)})
    rng = np.random.default_rng(0)
    q, (v, a) = random_q(robot, rng, (400,)), 2.0 * rng.normal(size=(2, 400, robot.nv))
    base = identify.base_parameters(robot)
    report = identify.fit(robot, (q, v, a, robot.inverse_dynamics(q, v, a)), base=base)
    assert np.allclose(report.estimate, base.values(), atol=1e-7)
    assert np.allclose(report.predict(q, v, a), robot.inverse_dynamics(q, v, a), atol=1e-7)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": lambda x: x[:, :2]}, "q (configuration) of 'arm' has 3 components"),
        ({"v": lambda x: x[:9]}, "9 rows of v and 300 of q: give as many of each"),
        ({"q": lambda x: x[0]}, "q of the data has shape (3,): give one row per measurement"),
        ({"tau": lambda x: np.where(np.arange(300)[:, None] == 7, np.nan, x)}, "tau[0] of the data is nan at row 7"),
        ({"t": lambda x: x[::-1]}, "the time of the data does not rise at row 1"),
        ({"t": lambda x: x[:5]}, "t of the data has shape (5,)"),
        ({"tau": lambda x: -x}, "runs against what 'arm' needs (correlation -"),
        ({"tau": lambda x: np.roll(x, 60, axis=0)}, "explain the torque of joint"),
        ({n: lambda x: x * [1, 1, 0] for n in "qva"}, "joint 'joint3' never moves in the data"),
        ({n: lambda x: x[:5] for n in ("q", "v", "a", "tau", "t")}, "5 measurements cannot show"),
        ({n: lambda x: 0 * x for n in "va"}, "the motion does not show the base parameter"),
        ({n: lambda x: x[:0] for n in ("q", "v", "a", "tau", "t")}, "the data have no rows"),
    ],
)
def test_data_that_do_not_fit_are_named(change: dict[str, Any], words: str) -> None:
    described, _, base, motion, _ = setting()
    data = measured(motion, 300, 1)
    given = {n: change.get(n, lambda x: x)(getattr(data, n)) for n in ("q", "v", "a", "tau", "t")}
    with pytest.raises(dq.Error) as problem:
        identify.fit(described, identify.Data(**given), base=base)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_what_is_no_data() -> None:
    described, _, base, *_ = setting()
    for given in ("text", 3, [1, 2]):
        with pytest.raises(dq.Error, match="Data"):
            identify.fit(described, given, base=base)


def test_excitations_keep_to_limits() -> None:
    robot = dq.robots.arm7()
    base = identify.base_parameters(robot, ())
    motion = identify.excitation(
        robot, base=base, acceleration=6.0, torque=80.0, starts=3, iterations=0, criterion="determinant", periods=2.0
    )
    t = np.linspace(-0.5, motion.duration + 0.5, 20_001)
    q, v, a = motion.at(t)
    assert (q >= robot.limits.lower - 1e-9).all()
    assert (q <= robot.limits.upper + 1e-9).all()
    assert (np.abs(v) <= robot.limits.velocity + 1e-9).all()
    assert np.abs(a).max() <= 6.0 + 1e-9
    assert np.abs(robot.inverse_dynamics(q, v, a)).max() <= 80.0 * 1.01
    assert not v[[0, -1]].any()
    assert not a[[0, -1]].any()
    step = t[1] - t[0]
    assert np.abs(np.gradient(q, step, axis=0) - v).max() < 1e-3
    assert np.abs(np.gradient(v, step, axis=0) - a)[2:-2].max() < 2e-2
    assert motion.condition < 1e4
    assert len(motion.samples(50.0)[0]) == int(np.ceil(motion.duration * 50.0))
    better = identify.excitation(robot, base=base, acceleration=6.0, starts=3, iterations=1)
    start = identify.excitation(robot, base=base, acceleration=6.0, starts=3, iterations=0)
    assert better.condition < start.condition


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"torque": 0.5}, "no motion keeps axis 1 of 'arm7' below 0.5 N m or N: holding it against gravity takes"),
        ({"velocity": 0.0}, "axis 0 of 'arm7' has a velocity limit of 0"),
        ({"acceleration": [1.0, 2.0]}, "acceleration of an excitation is a number or one per axis"),
        ({"reach": 0.0, "center": np.zeros(7)}, "has no room between its limits"),
        ({"criterion": "best"}, "'condition' or 'determinant'"),
        ({"frequency": 0.0}, "above 0"),
    ],
)
def test_impossible_excitations(options: dict[str, Any], words: str) -> None:
    robot = dq.robots.arm7()
    with pytest.raises(dq.Error) as problem:
        identify.excitation(robot, base=identify.base_parameters(robot, ()), starts=1, iterations=0, **options)
    assert words in str(problem.value)


def test_quaternions_need_data_of_ones_own() -> None:
    with pytest.raises(dq.Error, match="has quaternions in q"):
        identify.excitation(dq.robots.humanoid())


def test_dask_arrays_give_the_same() -> None:
    dask_array = pytest.importorskip("dask.array")
    described, _, base, motion, _ = setting()
    data = measured(motion, 1000, 3)
    arrays = [getattr(data, n) for n in ("q", "v", "a", "tau")]
    lazy = identify.Data(*(dask_array.from_array(x, chunks=(300, -1)) for x in arrays))
    whole, parts = (identify.fit(described, d, base=base, validation=d) for d in (data, lazy))
    assert np.allclose(whole.estimate, parts.estimate, atol=1e-10)
    assert parts.validation is not None
    assert whole.validation is not None
    assert np.allclose(whole.validation.rms, parts.validation.rms)
    cut = identify.Data(*(dask_array.from_array(x, chunks=(300, 2)) for x in arrays))
    with pytest.raises(dq.Error, match="cut through its rows"):
        identify.fit(described, cut, base=base)
