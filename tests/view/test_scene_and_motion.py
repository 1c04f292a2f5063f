"""Poses, twists and markers against the robot's own answers; samples that are shown; curves and figures."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import TREES, random_state, run, tree

import dqdyn as dq
from dqdyn.errors import Error, UnknownNameError, install_command
from dqdyn.view import Markers, figure_of, save_figure
from dqdyn.view.motion import body_poses, body_twists, continuous, shown_samples
from dqdyn.view.overlays import acting_wrenches, overlays, placed
from dqdyn.view.series import panels_of
from dqdyn.view.solids import axes_with_z
from dqdyn.view.svg import _extremes, panel_figure, ticks
from dqdyn.view.sweep import sweep


@pytest.mark.parametrize("name", TREES)
def test_poses_and_twists_are_those_of_the_robot(name: str) -> None:
    robot = tree(name)
    q, v = random_state(robot, np.random.default_rng(5), (4,))[:2]
    poses, twists = body_poses(robot, q), body_twists(robot, q, v)
    for i, joint in enumerate(robot.joints):
        assert robot.frames[joint.name].body == i
        expected = dq.Pose(run(robot, "pose", q, frame=joint.name))
        assert np.abs(np.einsum("ni,ni->n", poses[:, i, :4], expected.rotation)) == pytest.approx(1.0)
        assert poses[:, i, 4:] == pytest.approx(expected.translation)
        assert twists[:, i] == pytest.approx(run(robot, "twist", q, v, frame=joint.name), abs=1e-9)


def test_quaternions_do_not_jump() -> None:
    robot = dq.robots.two_link()
    angles = np.linspace(0.0, 20.0, 200)
    poses = continuous(body_poses(robot, np.stack([np.arctan2(np.sin(angles), np.cos(angles)), angles], axis=-1)))
    assert np.abs(np.diff(poses[..., :4], axis=0)).max() < 0.2


class TestShownSamples:
    def test_short_runs_are_shown_whole(self) -> None:
        assert shown_samples(np.linspace(0, 1, 50)).tolist() == list(range(50))
        assert shown_samples(np.array([3.0])).tolist() == [0]

    @pytest.mark.parametrize("count", [61, 62, 100, 1001, 10_000])
    def test_at_most_sixty_per_second_with_both_ends(self, count: int) -> None:
        time = np.linspace(2.0, 3.0, count)
        shown = shown_samples(time)
        assert shown[0] == 0
        assert shown[-1] == count - 1
        assert len(shown) <= 61
        assert (np.diff(shown) > 0).all()

    def test_uneven_steps_and_very_long_runs(self) -> None:
        time = np.cumsum(np.random.default_rng(0).exponential(1e-3, 20_000))
        assert np.diff(time[shown_samples(time)]).max() < 0.05
        assert len(shown_samples(np.arange(0.0, 1000.0, 1e-2))) <= 6000


class TestScene:
    def test_markers_of_everything(self) -> None:
        line = dq.Line([0, 0, 1], [1, 0, 0])
        scene = (
            Markers()
            .point(dq.Point([1, 2, 3]))
            .line(line, length=4.0)
            .plane(dq.Plane([0, 0, 1], distance=0.5), side=2.0, center=(1, 1, 7))
            .sphere((0, 0, 0), 0.2)
            .frame(dq.Pose(translation=[0, 0, 1]))
            .arrow((0, 0, 0), (1, 0, 0))
            .twist(dq.Twist(angular=[0, 0, 2], linear=[1, 0, 0]), scale=0.5)
            .wrench([1, 0, 0, 0, 0, 3], scale=0.1, on="tool")
            .segment((0, 0, 0), (0, 1, 0))
            .path(np.zeros((3, 3)) + np.arange(3)[:, None])
        )
        by_group: dict[str, list[Any]] = {}
        for marker in scene.markers:
            by_group.setdefault(marker.group, []).append(marker)
        assert by_group["points"][0].at.tolist() == [[1, 2, 3]]
        assert by_group["lines"][0].at == pytest.approx(np.array([[1, 0, -2]]))
        assert by_group["lines"][0].along == pytest.approx(np.array([[0, 0, 4]]))
        assert by_group["planes"][0].at == pytest.approx(np.array([[1, 1, 0.5]]))
        assert [marker.along[0].tolist() for marker in by_group["added twists"]] == [[0, 0, 1], [0.5, 0, 0]]
        assert by_group["added wrenches"][1].along[0] == pytest.approx([0, 0, 0.3])
        assert len(by_group["added frames"]) == 3
        assert len(by_group["paths"]) == 2

    def test_batches_are_samples(self) -> None:
        track = np.zeros((7, 3))
        assert Markers().point(track).markers[0].samples == 7
        lines = dq.Line(np.tile([0.0, 0.0, 1.0], (7, 1)), track)
        assert Markers().line(lines).markers[0].samples == 7

    @pytest.mark.parametrize(
        ("add", "message"),
        [
            (lambda s: s.point([1, 2]), "needs 3 numbers"),
            (lambda s: s.point([1, 2, np.nan]), "finite"),
            (lambda s: s.sphere([0, 0, 0], 0.0), "is positive"),
            (lambda s: s.arrow(np.zeros((2, 3)), np.zeros((3, 3))), "one per sample"),
            (lambda s: s.point([0, 0, 0], color=(1, 2, 3)), "from 0 to 1"),
            (lambda s: s.path([[0, 0, 0]]), "at least two points"),
        ],
    )
    def test_bad_input(self, add: Any, message: str) -> None:
        with pytest.raises(Error, match=message):
            add(Markers())

    def test_things_on_frames_are_placed_on_bodies(self) -> None:
        robot = dq.robots.arm7()
        marker = Markers().arrow((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), on="tool").markers[0]
        body, fixed = placed(robot, marker, 1)
        at, along = fixed.at, fixed.along
        q = robot.random_configuration(1)
        x = dq.Pose(rotation=body_poses(robot, q)[body, :4], translation=body_poses(robot, q)[body, 4:])
        tool = robot.pose("tool", q)
        assert x.rotation_matrix @ at[0] + x.translation == pytest.approx(
            tool.rotation_matrix @ [0.1, 0, 0] + tool.translation
        )
        assert x.rotation_matrix @ along[0] == pytest.approx(tool.rotation_matrix @ [0, 0.2, 0])


class TestOverlays:
    @pytest.mark.parametrize("name", TREES)
    def test_every_joint_kind(self, name: str) -> None:
        robot = tree(name)
        q, v = random_state(robot, np.random.default_rng(6), (3,))[:2]
        frame = next(iter(robot.frames))
        markers = overlays(robot, q, v, v, {frame: np.ones((3, 6))})
        assert {"frames", "twists", "wrenches", "center of mass"} <= {marker.group for marker in markers}
        assert all(np.isfinite(marker.at).all() and np.isfinite(marker.along).all() for marker in markers)

    def test_wrenches_in_world_axes_are_drawn_as_such(self) -> None:
        robot = dq.robots.arm7()
        still = {"duration": 0.01, "dt": 1e-3, "q0": robot.random_configuration(4)}
        motion = dq.simulate(robot, **still, wrenches={"tool": [0, 0, 5, 0, 0, 0]}, expressed="aligned")
        motion = replace(motion, about={**motion.about, "expressed": "aligned"})
        local = acting_wrenches(motion)["tool"]
        turn = robot.pose("tool", motion.q).rotation_matrix
        assert np.einsum("nij,nj->ni", turn, local[:, :3]) == pytest.approx(np.tile([0.0, 0, 5], (11, 1)))

    def test_axes_are_where_the_joints_turn(self) -> None:
        """A point on a revolute joint's axis does not move when that joint turns."""
        robot = dq.robots.arm7()
        q = robot.random_configuration(2)
        axes = [marker for marker in overlays(robot, q[None]) if marker.group == "screw axes"]
        assert len(axes) == robot.nv
        for joint, marker in zip(robot.joints, axes, strict=True):
            v = np.zeros(robot.nv)
            v[joint.v] = 1.0
            turned = robot.integrate(q, v, 0.7)
            for end in (marker.at[0], marker.at[0] + marker.along[0]):
                before, after = (robot.point(joint.name, state, end).position for state in (q, turned))
                assert before == pytest.approx(after, abs=1e-9)


def test_rotations_for_markers() -> None:
    rng = np.random.default_rng(0)
    for direction in (*rng.normal(size=(20, 3)), np.array([0.0, 0, 1]), np.array([0.0, 0, -1]), np.array([1.0, 0, 0])):
        matrix = axes_with_z(direction)
        assert matrix.T @ matrix == pytest.approx(np.eye(3), abs=1e-12)
        assert np.linalg.det(matrix) == pytest.approx(1.0)
        assert matrix[:, 2] == pytest.approx(direction / np.linalg.norm(direction))


class TestCurves:
    def test_panels_have_units_and_names(self) -> None:
        robot = dq.robots.nonholonomic_manipulator()
        motion = dq.simulate(robot, duration=0.05, dt=1e-3)
        labels = {panel.label: list(panel.curves) for panel in panels_of(motion)}
        assert labels["positions (m)"] == ["root_joint.x", "root_joint.y"]
        assert "arm_joint3" in labels["positions (rad)"]
        assert {"velocities (rad/s)", "velocities (m/s)", "joint efforts (N m)", "joint efforts (N)"} <= set(labels)
        assert labels["energy (J)"] == ["kinetic", "potential", "total"]
        assert labels["constraint velocities (m/s or rad/s)"] == ["rolling"]

    def test_residuals_of_loops_are_named(self) -> None:
        motion = dq.simulate(dq.robots.four_bar(), duration=0.02, dt=1e-3)
        titles = [panel.title for panel in panels_of(motion)]
        assert titles[-2:] == ["constraint residuals", "constraint velocities"]

    def test_figure_and_files(self, swing: Any, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        figure = swing.plot()
        labels = [axis.get_ylabel() for axis in figure.axes]
        assert labels == ["positions (rad)", "velocities (rad/s)", "joint efforts (N m)", "energy (J)"]
        assert all(axis.get_xlabel() == "time (s)" for axis in figure.axes)
        assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["turn"]
        assert len(figure_of(swing, ["energy"]).axes) == 1
        for ending in ("png", "svg", "pdf"):
            assert save_figure(swing, tmp_path / f"run.{ending}").stat().st_size > 5000
        with pytest.raises(UnknownNameError, match="did you mean 'positions'"):
            swing.plot("position")
        with pytest.raises(UnknownNameError, match="png"):
            save_figure(swing, tmp_path / "run.gif")

    def test_missing_matplotlib_names_the_command(self, swing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("matplotlib", "matplotlib.figure", "matplotlib.pyplot"):
            monkeypatch.setitem(__import__("sys").modules, name, None)
        with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("matplotlib", "plot"))):
            swing.plot()

    def test_thinned_curves_keep_their_extremes(self) -> None:
        values = np.random.default_rng(0).normal(size=100_000)
        values[31_415] = 50.0
        kept = _extremes(values)
        assert len(kept) < 1000
        assert values[kept].max() == 50.0
        assert values[kept].min() == values.min()

    @pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 17.0), (1e-9, 2e-9), (-1e6, 3e6), (0.999, 1.001)])
    def test_ticks_are_round_and_inside(self, low: float, high: float) -> None:
        found = ticks(low, high, 5)
        assert 2 <= len(found) <= 7
        assert min(found) >= low - 1e-9 * (high - low)
        assert max(found) <= high + 1e-9 * (high - low)

    def test_constant_and_empty_values(self, swing: Any) -> None:
        from dqdyn.view.series import Panel

        for value in (0.0, -5.0, 1e15, np.nan):
            text = panel_figure(Panel("a & b", "", {"<c>": np.full(301, value)}), swing.time)
            assert "nan" not in text
            assert "a &amp; b" in text
            assert "&lt;c&gt;" in text


def test_sweep_stays_within_the_limits_and_moves_each_joint() -> None:
    robot = dq.robots.humanoid()
    motion = sweep(robot)
    limits = robot.limits
    assert (motion.q >= limits.lower - 1e-9).all()
    assert (motion.q <= limits.upper + 1e-9).all()
    assert (np.ptp(motion.v, axis=0) > 0.1).all()
    rates = robot.difference(motion.q[:-1], motion.q[1:]) / np.diff(motion.time)[:, None]
    assert np.abs(rates - 0.5 * (motion.v[1:] + motion.v[:-1])).max() < 0.15 * np.abs(motion.v).max()
