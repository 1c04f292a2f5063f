"""Functions of a robot on Dask arrays: lazy, with the numbers of plain arrays bit for bit."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import catalog_cases
import numpy as np
import pytest

import dqdyn as dq
from dqdyn.errors import LazyArrayError, StateError
from dqdyn.robot import dask_arrays

da = pytest.importorskip("dask.array", reason="Dask arrays need the package dask, which is missing")
dask = pytest.importorskip("dask", reason="Dask arrays need the package dask, which is missing")

ROBOT = dq.robots.arm7()
ROWS = 23


@pytest.fixture(autouse=True)
def _in_this_process() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(size: int, key: int = 0) -> np.ndarray:
    return np.random.default_rng([ROWS, key]).normal(size=(ROWS, size))


def lazy(array: np.ndarray, chunk: int = 7) -> Any:
    return da.from_array(array, chunks=(chunk, *array.shape[1:]))


@pytest.mark.parametrize("name", catalog_cases.NAMES)
def test_every_function_stays_lazy_and_keeps_every_bit(name: str) -> None:
    choices = {"frame": "tool", "frame1": "tool", "frame2": "link4", "wrench_frames": ("tool", "link3")}
    choices["frame2"] = list(ROBOT.frames)[3]
    choices["wrench_frames"] = ("tool", list(ROBOT.frames)[4])
    options = catalog_cases.options_of(name, choices)
    function = ROBOT.function(catalog_cases.function_of(name).name, **options)
    program = ROBOT.program(catalog_cases.function_of(name).name, **options)
    given = [
        np.abs(rows(size, k)[:, 0]) if n in ("t", "dt") else rows(size, k) for k, (n, size) in enumerate(program.inputs)
    ]
    for k, (input_name, _) in enumerate(program.inputs):
        if input_name == "goal":
            given[k] = ROBOT.pose("tool", rows(7, 9)).vec8()
    result = function(*map(lazy, given))
    assert isinstance(result, da.Array)
    assert result.chunks[0] == (7, 7, 7, 2)
    np.testing.assert_array_equal(result.compute(), function(*given))


def test_methods_give_what_they_give_for_numbers() -> None:
    q, v, a = rows(7), rows(7, 1), rows(7, 2)
    lazily = [lazy(x) for x in (q, v, a)]
    for computed, part in zip(
        ROBOT.inverse_dynamics_derivatives(q, v, a), ROBOT.inverse_dynamics_derivatives(*lazily), strict=True
    ):
        np.testing.assert_array_equal(part.compute(), computed)
    np.testing.assert_array_equal(ROBOT.energy(*lazily[:2]).compute(), ROBOT.energy(q, v))
    np.testing.assert_array_equal(ROBOT.manipulability("tool", lazily[0]).compute(), ROBOT.manipulability("tool", q))
    w = {"tool": rows(6, 3)}
    found = ROBOT.inverse_dynamics(*lazily, wrenches={"tool": lazy(w["tool"], 5)})
    np.testing.assert_array_equal(found.compute(), ROBOT.inverse_dynamics(q, v, a, wrenches=w))
    ROBOT.mass_matrix(q[0])  # machine code for one state is there now: the same methods take another way
    np.testing.assert_array_equal(ROBOT.mass_matrix(lazily[0]).compute(), ROBOT.mass_matrix(q))


def test_inputs_may_be_mixed_and_broadcast() -> None:
    q, v, a = rows(7), rows(7, 1), rows(7, 2)
    expected = ROBOT.inverse_dynamics(q, v, a[0])
    np.testing.assert_array_equal(ROBOT.inverse_dynamics(lazy(q), v, a[0]).compute(), expected)
    np.testing.assert_array_equal(ROBOT.inverse_dynamics(lazy(q), lazy(v, 4), list(a[0])).compute(), expected)
    grid = q[:20].reshape(4, 5, 7)
    found = ROBOT.inverse_dynamics(da.from_array(grid, chunks=(3, 2, 7)), v[:5], a[0])
    np.testing.assert_array_equal(found.compute(), ROBOT.inverse_dynamics(grid, v[:5], a[0]))
    np.testing.assert_array_equal(ROBOT.integrate(lazy(q), v, 0.1).compute(), ROBOT.integrate(q, v, 0.1))
    times = np.linspace(0.0, 1.0, ROWS)
    found = ROBOT.integrate(lazy(q), v, da.from_array(times, chunks=7))
    np.testing.assert_array_equal(found.compute(), ROBOT.integrate(q, v, times))
    one = ROBOT.inverse_dynamics(da.from_array(q[0]), v[0], a[0])
    np.testing.assert_allclose(one.compute(), ROBOT.inverse_dynamics(q[0], v[0], a[0]), rtol=1e-12, atol=1e-12)


def test_free_bases_and_parameters_as_inputs() -> None:
    robot = dq.robots.chain(2).with_base("free")
    rng = np.random.default_rng(3)
    q = np.stack([robot.random_configuration(rng) for _ in range(ROWS)])
    v, a = (rng.normal(size=(ROWS, robot.nv)) for _ in range(2))
    found = robot.inverse_dynamics(lazy(q), lazy(v), lazy(a))
    np.testing.assert_array_equal(found.compute(), robot.inverse_dynamics(q, v, a))
    q[10] *= 1.1
    with pytest.raises(StateError, match=r"in a chunk of 7 rows: the quaternion of joint .* at row 3"):
        robot.mass_matrix(lazy(q)).compute()
    function = ROBOT.function("inverse_dynamics", parameters=["inertia"])
    given = [rows(7, k) for k in range(3)]
    inertia = ROBOT.inertial_parameters() * np.linspace(1.0, 2.0, ROWS)[:, None]
    expected = function(*given, inertia)
    np.testing.assert_array_equal(function(*map(lazy, given), lazy(inertia)).compute(), expected)
    light = inertia.copy()
    light[12, 0] = -1.0
    with pytest.raises(StateError, match=r"in a chunk of 7 rows: the mass of body .* is -1 kg"):
        function(*given, lazy(light)).compute()


@pytest.mark.long
def test_large_robots_have_derivatives_too() -> None:
    robot = dq.robots.chain(18)
    q, v, tau = (np.random.default_rng(k).normal(size=(5, 18)) for k in range(3))
    found = robot.forward_dynamics_derivatives(*(lazy(x, 2) for x in (q, v, tau)))
    for part, computed in zip(found, robot.forward_dynamics_derivatives(q, v, tau), strict=True):
        np.testing.assert_allclose(part.compute(), computed, rtol=1e-10, atol=1e-10)


def test_other_variables_travel_too() -> None:
    robot = dq.robots.arm7()
    q, u = rows(7), rows(7, 1)
    speeds = robot.in_speeds(B=lambda q: np.eye(7).tolist())
    found = speeds.velocity(lazy(q), lazy(u))
    np.testing.assert_array_equal(found.compute(), speeds.velocity(q, u))


def test_a_process_builds_a_robot_once() -> None:
    robot = dq.robots.chain(2)
    q = np.ones((6, 2))
    before = set(dask_arrays._robots)
    first = robot.mass_matrix(lazy(q, 2)).compute()
    built = set(dask_arrays._robots) - before
    assert len(built) == 1
    kept = dask_arrays._robots[next(iter(built))]
    again = dq.robots.chain(2).mass_matrix(lazy(q, 3)).compute()
    assert dask_arrays._robots[next(iter(built))] is kept
    np.testing.assert_array_equal(first, again)


def test_rows_are_whole() -> None:
    q = da.from_array(rows(7), chunks=(7, 4))
    with pytest.raises(StateError, match=r"chunks \(4, 3\) through its rows of 7 numbers: write q.rechunk\({1: -1}\)"):
        ROBOT.gravity_forces(q)
    ROBOT.gravity_forces(q.rechunk({1: -1})).compute()


def test_bad_numbers_name_row_and_chunk_or_pass() -> None:
    q = rows(7)
    q[9, 3] = np.nan
    with pytest.raises(StateError, match=r"in a chunk of 7 rows: q\[3\] \(joint 'joint4'\) of 'arm7' is nan at row 2"):
        ROBOT.gravity_forces(lazy(q)).compute()
    found = ROBOT.gravity_forces(lazy(q), check=False).compute()
    assert np.isnan(found[9]).any()
    assert np.isfinite(np.delete(found, 9, axis=0)).all()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda q: ROBOT.gravity_forces(q, out=np.empty((ROWS, 7))),
            "out of gravity_forces cannot receive a Dask array",
        ),
        (lambda q: ROBOT.gravity_forces(q[:, :6]), r"q of gravity_forces has shape \(7,\) or"),
        (lambda q: ROBOT.bias_forces(q, q[:5]), "batches that do not fit together"),
        (lambda q: ROBOT.gravity_forces(q.astype(complex)), "must be real numbers"),
        (lambda q: ROBOT.pose("tool", q), "a Pose holds numbers, not a Dask array"),
        (lambda q: ROBOT.twist("tool", q, q), "a value holds numbers, not a Dask array"),
        (lambda q: ROBOT.manipulability_gradient("tool", q), "numbers are needed here"),
        (lambda q: ROBOT.inverse_kinematics("tool", ROBOT.pose("tool", ROBOT.neutral()), q), "numbers are needed here"),
        (lambda q: dq.simulate(ROBOT, q0=q), "numbers are needed here"),
        (lambda q: dq.DQ(q), "is a Dask array"),
    ],
)
def test_what_needs_numbers_says_so(call: Any, says: str) -> None:
    with pytest.raises(dq.Error, match=says) as caught:
        call(lazy(rows(7)))
    assert caught.value.__cause__ is None


def test_lazy_rows_of_poses() -> None:
    q = rows(7)
    found = ROBOT.function("pose", frame="tool")(lazy(q))
    np.testing.assert_array_equal(found.compute(), ROBOT.pose("tool", q).vec8())
    assert issubclass(LazyArrayError, StateError)


def test_dask_is_imported_by_its_arrays_alone() -> None:
    use = "import sys, dqdyn as dq; r = dq.robots.chain(1); r.mass_matrix([[0.1]]); dq.sweep"
    code = f"{use}; assert 'dask' not in sys.modules; assert 'zarr' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
