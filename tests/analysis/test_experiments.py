"""The control experiments: their claims hold, and would not hold for runs that do otherwise."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.analysis.experiments import (
    Result,
    cup_on_table,
    experiment,
    mobile_bimanual,
    moving_obstacle,
    titles,
)
from dqdyn.analysis.experiments.cup_setting import START, TILT, Setting, beyond_limits, nine_joints, relative_error
from dqdyn.analysis.experiments.figures import effort, figure, room_to_limits
from dqdyn.analysis.experiments.running import follow
from dqdyn.simulate import Trajectory
from dqdyn.view.motion import body_poses
from dqdyn.view.shapes import appearance_of

# Long enough for what a claim is about, with steps as large as they may be.
SHORT = {
    "moving-obstacle": {"dt": 4e-3},
    "cup-on-table": {"dt_velocity": 0.02},
    "single-arm-cup": {"duration": 10.0},
    "bimanual-cup": {"duration": 8.0},
    "mobile-bimanual": {"duration": 12.0},
    "two-link": {"duration": 3.0, "dt": 5e-3},
    "torque-error": {"states": 200},
    "feet-and-hands": {"stages": 1},
    "walk": {"steps": 2, "pushes": 1, "higher": (), "substeps": (1,), "climbs": False},
}


@cache
def result(name: str) -> Result:
    return experiment(name, **SHORT[name])


def failing(found: Result) -> list[str]:
    return [f"{claim.text}: {claim.measured}" for claim in found.claims if not claim.holds]


@pytest.mark.parametrize("name", SHORT)
def test_claims_hold(name: str) -> None:
    found = result(name)
    assert failing(found) == []
    assert found.holds
    assert len(found.claims) >= 4
    data = json.loads(json.dumps(found.as_data(), allow_nan=False))
    assert [row["claim"] for row in data["claims"]] == [claim.text for claim in found.claims]
    assert all(run["status"] == "finished" for run in data["runs"].values())


def test_all_are_here() -> None:
    assert set(titles()) >= set(SHORT)  # those that take minutes have tests of their own
    with pytest.raises(dq.Error, match=r"no experiment named 'cup-on-tabel': did you mean 'cup-on-table'"):
        experiment("cup-on-tabel")
    with pytest.raises(dq.Error, match="mujoco has no wheels"):
        experiment("mobile-bimanual", "mujoco")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("two-link", {"dt": 0.0}, "dt must be a finite time above 0 s; found 0"),
        ("bimanual-cup", {"dt": "soon"}, "dt must be a finite time above 0 s; found 'soon'"),
        ("cup-on-table", {"dt_torque": None}, "dt_torque must be a finite time"),
        ("single-arm-cup", {"duration": float("nan")}, "duration must be a finite time"),
        ("two-link", {"durations": 1.0}, "no option of the experiment 'two-link' named 'durations'"),
        ("two-link", {"dt": 0.01, "plant": "mujco"}, "no plant named 'mujco'"),
    ],
)
def test_bad_options(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        experiment(name, **options)


@pytest.mark.parametrize("name", ["moving-obstacle", "bimanual-cup", "single-arm-cup", "two-link", "feet-and-hands"])
def test_claims_hold_on_the_engine(name: str) -> None:
    pytest.importorskip("mujoco")
    options = {
        "moving-obstacle": {"dt": 5e-3},
        "bimanual-cup": {"dt": 0.02, "duration": 6.5},
        "single-arm-cup": {"duration": 7.0},
        "two-link": {"duration": 3.0},
        "feet-and-hands": {"stages": 1},
    }[name]
    found = experiment(name, "mujoco", **options)
    assert failing(found) == []
    assert {run["plant"] for run in found.as_data()["runs"].values()} == {"mujoco"}


# --- moving obstacle --------------------------------------------------------------------------------------------------


def test_obstacle_moves_as_printed() -> None:
    t = 1.7
    np.testing.assert_allclose(moving_obstacle.obstacle(t), [0.23 - 0.2 * np.sin(0.6 * t), 0.24 - 0.1 * t, 0.8])


def test_obstacle_that_has_not_come_yet_supports_no_claim() -> None:
    found = moving_obstacle.experiment(duration=0.5, dt=0.01)
    assert [claim.holds for claim in found.claims[:3]] == [False, False, True]


# --- cup on a table ---------------------------------------------------------------------------------------------------


def runs() -> tuple[Setting, dict[str, Trajectory]]:
    found = result("cup-on-table")
    return Setting.above_the_table(nine_joints(), START), {case.name: case.trajectory for case in found.cases}


@pytest.mark.long
def test_the_drawn_table_is_below_the_cup_and_in_front_of_the_body() -> None:
    """Vertices of hips, waist and belly near the table's height stay behind its edge, in all runs."""
    setting, found = runs()
    for name, run in found.items():
        top = setting.table_top().arguments
        *center, height = top["center"]
        low, high = np.array(center) - 0.5 * top["side"], np.array(center) + 0.5 * top["side"]
        if name.startswith("CQP"):
            assert ((setting.hand(run)[:, :2] > low) & (setting.hand(run)[:, :2] < high)).all()
        poses = body_poses(setting.robot, run.q[::20])
        for part in appearance_of(setting.robot).meshes:
            if 0 <= part.body < 3:
                x = dq.Pose(rotation=poses[:, part.body, :4], translation=poses[:, part.body, 4:])
                places = np.einsum("nij,kj->nki", x.rotation_matrix, part.mesh.vertices) + x.translation[:, None]
                near = places[np.abs(places[..., 2] - height) < 0.05]
                assert near[:, 0].max(initial=-np.inf) < low[0], name


@pytest.mark.long
def test_what_is_drawn_in_red_is_what_was_violated() -> None:
    setting, found = runs()
    for name, run in found.items():
        flags = {d.arguments["name"]: np.asarray(d.violated) for d in setting.drawings(run) if d.violated is not None}
        assert set(flags) == {*(f"plane {k}" for k in (1, 2, 3, 4)), "cone", "zone around the torso", "forearm"}
        np.testing.assert_array_equal(flags["cone"], setting.tilt(run) > TILT * 1.001)
        assert any(values.any() for values in flags.values()) == (not name.startswith("CQP"))


@pytest.mark.long
def test_cup_claims_fail_for_the_other_run() -> None:
    setting, found = runs()
    free, bound = (found[name] for name in cup_on_table.TORQUE)
    assert not cup_on_table.broken(setting, "CQP", bound).holds
    assert not cup_on_table.respected(setting, "QP", {1e-3: free}).holds
    assert not cup_on_table.respected(setting, "CQP", {1e-3: free, 2e-3: bound}).holds
    assert not cup_on_table.decays(setting, cup_on_table.VELOCITY[0], free).holds
    swapped = dict(zip((*cup_on_table.TORQUE, cup_on_table.STOPPED), (bound, free, free), strict=True))
    assert [claim.holds for claim in cup_on_table.stops(swapped)] == [False, False, False]


def test_report_tells_of_steps_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside its limits only with one step per command: the report says so, with what finer steps measured."""
    _, found = runs()
    asked: list[int] = []

    def instead(robot: Any, law: Any, *rest: Any, every: int = 1, substeps: int = 1) -> Trajectory:
        asked.append(substeps)
        return found[cup_on_table.TORQUE[0 if substeps > 1 else 1]]

    monkeypatch.setattr(cup_on_table, "follow", instead)
    report = experiment("cup-on-table", "mujoco")
    assert set(asked) == {1, *cup_on_table.ENGINE_STEPS}
    assert any("one step of the engine per command" in text for text in report.text)
    table = report.tables[-1]
    assert [row[0] for row in table.rows] == ["1", "2", "4", "20"]
    assert all(part.endswith("inside") for part in table.rows[0][1:])
    assert all(part.endswith("beyond") for row in table.rows[1:] for part in row[1:])


def test_finer_steps_of_the_engine_are_that() -> None:
    pytest.importorskip("mujoco")
    setting = Setting.above_the_table(nine_joints(), START)
    law = cup_on_table.controller(setting, cup_on_table.TORQUE[1])
    coarse, fine = (follow(setting.robot, law, 0.1, 2e-3, START, "mujoco", substeps=n) for n in (1, 4))
    assert (coarse.about["substeps"], fine.about["substeps"]) == (1, 4)
    assert 1e-6 < np.abs(coarse.q[-1] - fine.q[-1]).max() < 1e-1


def test_what_is_measured_is_what_is_constrained() -> None:
    """Tilt, planes and torso by vectors equal the inequalities, which are by dual quaternions."""
    setting, found = runs()
    run = found["QP by torque"]
    cone, region, _, torso = setting.constraints()
    rows = [0, len(run) // 3, len(run) - 1]
    at = lambda constraint, k: ct.linearise(setting.robot, constraint)(0.0, run.q[k]).value
    for k in rows:
        tilt = setting.tilt(run)[k]
        np.testing.assert_allclose(at(cone, k), [2 * np.cos(tilt) - 2 * np.cos(TILT)], atol=1e-12)
        np.testing.assert_allclose(at(torso, k)[0], setting.to_torso(run)[k] ** 2 - 0.07**2, atol=1e-12)
        hand = setting.hand(run)[k]
        gaps = [float(plane.normal @ hand - plane.distance) - 0.01 for plane in setting.planes]
        np.testing.assert_allclose(at(region, k), gaps, atol=1e-12)


def test_effort_and_figures() -> None:
    t = np.linspace(0.0, 2.0, 2001)
    assert effort(t, np.column_stack([t, t])) == pytest.approx(np.sqrt(2 * 8 / 3), rel=1e-6)
    _, found = runs()
    run = found["QP by velocity"]
    shown = figure("room", "rad", {"QP": (run, room_to_limits(run))}, {"limit": 0.0})
    assert shown.curves["QP"].shape == shown.time.shape
    assert shown.limits["limit"] == 0.0
    assert shown.curves["QP"].min() < 0.0
    robot = run.robot
    q = np.tile(robot.limits.upper, (2, 1))
    assert beyond_limits(robot, q) == 0.0
    q[1, 3] += 0.04  # of a limit of 0.4
    assert beyond_limits(robot, q) == pytest.approx(0.1)


# --- two hands --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_grip_and_slip_are_seen_when_they_fail() -> None:
    found = result("mobile-bimanual").cases[1].trajectory
    held = found.extra["state"] == 0.0
    assert relative_error(found.robot, found.q[held]).max() < 1e-6
    assert relative_error(found.robot, found.q).max() > 0.02  # the hands open
    v = np.array(found.v)
    v[:, :2] += 1e-6 * np.column_stack([-np.sin(found.q[:, 2]), np.cos(found.q[:, 2])])
    pushed = replace(found, v=v)
    np.testing.assert_allclose(mobile_bimanual.slip(pushed), 1e-6, rtol=1e-6)
    claims = mobile_bimanual._claims("CQP", pushed, np.zeros(len(v)), held, np.linspace(0.1, 0.2, len(v)))
    assert [claim.holds for claim in claims] == [True, True, True, False]
