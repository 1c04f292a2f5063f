"""Torques against other libraries: percentage errors, times, and what is said where a library is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.analysis import peers
from dqdyn.analysis.experiments import Claim, Result, torque_error
from dqdyn.view.experiment_report import write_experiment


@pytest.mark.equation("Quiroz", "6.5")
def test_percentage_errors() -> None:
    found, baseline = np.array([[1.01, -2.0], [0.98, 4.0]]), np.array([[1.0, -2.5], [1.0, 5.0]])
    np.testing.assert_allclose(torque_error.percentage_errors(found, baseline), [[1.0, 20.0], [2.0, 20.0]])


@pytest.mark.parametrize("package", ["pin", "roboticstoolbox-python"])
def test_peers_have_the_same_arm(package: str) -> None:
    """Every entry of the table and of the bodies counts: with random ones the torques are ours."""
    rng = np.random.default_rng(5)
    table = rng.uniform(-1.0, 1.0, (4, 4))
    clouds = rng.normal(size=(4, 3, 6))
    bodies = [
        (float(m), c, np.trace(x @ x.T) * np.eye(3) - x @ x.T)
        for m, c, x in zip(rng.uniform(1.0, 2.0, 4), rng.normal(size=(4, 3)), clouds, strict=True)
    ]
    gravity = rng.normal(size=3)
    try:
        peer = peers.PEERS[package](peers.SerialArm(table, bodies, gravity))
    except ImportError:
        pytest.skip(f"{package} is not installed")
    robot = dq.from_dh(table, inertias=bodies, joints_in="rows").with_gravity(gravity)
    states = rng.normal(size=(3, 5, 4))
    expected = robot.inverse_dynamics(*states)
    np.testing.assert_allclose(peer.torques(*states), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(peer.call(*(x[2].copy() for x in states)), expected[2], rtol=1e-10, atol=1e-10)


@pytest.mark.equation("Quiroz", "fig. 6.20")
@pytest.mark.equation("Quiroz", "fig. 6.21")
def test_tables_and_bars() -> None:
    errors = {"gauss": np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [3.0] * 7])}
    table = torque_error.error_table(errors)
    assert table.columns == ("method", *torque_error.JOINTS)
    assert table.rows[0][:2] == ("gauss", "2.0e+00 ± 1e+00")
    bars = torque_error.error_bars(errors["gauss"], "Robotics Toolbox")
    assert bars.title.endswith("(fig. 6.20)")
    assert bars.unit == "10⁻¹³ %"
    np.testing.assert_allclose(1e-13 * next(iter(bars.values.values())), [2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0])
    np.testing.assert_allclose(1e-13 * next(iter(bars.deviations.values())), [1.0, 0.5, 0.0, 0.5, 1.0, 1.5, 2.0])
    # another baseline than the paper's shows another quantity
    assert "fig." not in torque_error.error_bars(errors["gauss"], "Pinocchio").title
    times = {"rne": np.array([1.0, 3.0]), "gauss": np.array([0.5, 0.5])}
    assert torque_error.time_table(times).rows == (("rne", "2", "1", "2", "2"), ("gauss", "0.5", "0", "0.5", "2"))
    assert torque_error.time_bars(times).groups == ("rne", "gauss")


def test_every_state_is_timed_once() -> None:
    states, asked = torque_error.random_states(150), []
    calls = {"other": lambda q, v, a: None, torque_error.AS_PRINTED: lambda q, v, a: asked.append(q[0])}
    times = torque_error.times_per_call(calls, states)
    assert len(times["other"]) == 150
    assert (times["other"] >= 0.0).all()
    assert len(times[torque_error.AS_PRINTED]) == len(asked) - 1  # the first call is not counted
    again = torque_error.random_states(150)
    np.testing.assert_array_equal(states, again)


def test_claims_fail_for_wrong_torques() -> None:
    rounding = np.full((3, 7), 1e-13)
    assert torque_error.agrees("gauss", rounding, "Pinocchio").holds
    wrong = rounding + 1e-8 * np.eye(7)[2]
    assert not torque_error.agrees("gauss", wrong, "Pinocchio").holds
    assert "joint 3" in torque_error.agrees("gauss", wrong, "Pinocchio").measured
    assert not torque_error.seen(rounding).holds
    assert torque_error.seen(rounding + np.array([1.0] * 4 + [0.0] * 3)).holds
    assert not torque_error.seen(rounding + 1.0).holds


def test_python_runs_the_steps_of_the_paper() -> None:
    robot, states = torque_error.seven_joints(), torque_error.random_states(1)
    found = torque_error.plain_python(robot)(*(x[0] for x in states))
    np.testing.assert_allclose(found, robot.inverse_dynamics(*states)[0], rtol=1e-9)


@pytest.mark.long
def test_another_library_takes_the_place_of_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pinocchio")
    monkeypatch.setitem(sys.modules, "roboticstoolbox", None)
    found = torque_error.experiment(states=60)
    assert any("Pinocchio takes its place" in text for text in found.text)
    assert all("Pinocchio" in claim.text for claim in found.claims[:-1])


def test_without_other_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "so not compared" in torque_error.absent("pin")
    monkeypatch.setitem(sys.modules, "roboticstoolbox", None)
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(dq.MissingExtraError, match="pip install roboticstoolbox-python or pin"):
        torque_error.experiment(states=60)


@pytest.mark.parametrize("states", [1, 0, -3, 2.5, None, float("nan"), True])
def test_bad_number_of_states(states: object) -> None:
    with pytest.raises(dq.Error, match="whole number of states from 2 on"):
        torque_error.experiment(states=states)  # type: ignore[arg-type]


def test_plant_is_refused() -> None:
    with pytest.raises(dq.Error, match="nothing moves"):
        torque_error.experiment("mujoco")


def test_page_has_tables_and_no_runs(tmp_path: Path) -> None:
    """An experiment in which nothing moves has a page too."""
    table = torque_error.error_table({"gauss": np.ones((2, 7))})
    found = Result("torque-error", "Torques", "Quiroz", ("Text.",), (Claim("it is so", "1", True),), (), (), (table,))
    page = write_experiment(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert table.title in page
    assert ">The runs<" not in page
