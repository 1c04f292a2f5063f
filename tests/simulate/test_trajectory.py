"""Trajectories as values: shapes, files, tables, batches, and what their numbers mean."""

from __future__ import annotations

import csv
import inspect
import json
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from simulated import floating_chain, start_of

import dqdyn as dq
from dqdyn.errors import install_command
from dqdyn.simulate import trajectory as renderers
from dqdyn.simulate.tables import columns


@pytest.fixture(scope="module")
def run() -> dq.Trajectory:
    robot = floating_chain(2).with_motors({"root_joint": dq.Motor()})
    q0, v0 = start_of(robot)
    return dq.simulate(robot, np.full(robot.nv, 0.1), 0.1, 1e-3, q0=q0, v0=v0, wrenches={"tool": [0, 0, 1, 0, 0, 0]})


def test_shapes_and_names(run: dq.Trajectory) -> None:
    assert (run.q.shape, run.v.shape, run.a.shape, run.tau.shape) == ((101, 9), (101, 8), (101, 8), (101, 8))
    assert run.kinetic.shape == run.potential.shape == run.time.shape == (101,)
    assert run.residual.shape == (101, 0)
    assert run.wrenches["tool"].shape == (101, 6)
    assert len(run) == 101
    assert run.batch == ()
    assert run.status == "finished"
    assert run.duration == pytest.approx(0.1)
    assert "101 samples over 0.1 s, finished" in repr(run)
    np.testing.assert_allclose(run.time, 1e-3 * np.arange(101), atol=1e-15)


def test_numbers_are_those_of_the_robot(run: dq.Trajectory) -> None:
    robot, k = run.robot, 50
    force = {"tool": run.wrenches["tool"][k]}
    np.testing.assert_allclose(run.a[k], robot.forward_dynamics(run.q[k], run.v[k], run.tau[k], force), rtol=1e-10)
    assert run.kinetic[k] == pytest.approx(robot.kinetic_energy(run.q[k], run.v[k]))
    assert run.energy[k] == pytest.approx(robot.energy(run.q[k], run.v[k]))
    middle = (run.v[k + 1] - run.v[k - 1]) / 2e-3
    np.testing.assert_allclose(run.a[k], middle, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(robot.difference(run.q[k - 1], run.q[k + 1]) / 2e-3, run.v[k], rtol=1e-3, atol=1e-3)


def test_values_cannot_be_changed(run: dq.Trajectory) -> None:
    with pytest.raises(ValueError, match="read-only"):
        run.q[0, 0] = 1.0
    with pytest.raises(AttributeError):
        run.status = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        run.extra["x"] = np.zeros(3)  # type: ignore[index]


def test_file(run: dq.Trajectory, tmp_path: Path) -> None:
    path = run.save(tmp_path / "run.npz")
    again = dq.Trajectory.load(path)
    assert again == run
    assert again.robot == run.robot
    assert dict(again.about) == dict(run.about)
    assert again != run.part(slice(None, None, 2))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.npz"]
    with np.load(path, allow_pickle=False) as file:  # any program can read it
        assert json.loads(str(file["robot"]))["format"] == "dqdyn robot"
        np.testing.assert_array_equal(file["q"], run.q)


def test_file_of_a_constrained_robot_and_of_events(tmp_path: Path) -> None:
    robot = dq.robots.four_bar()
    q0, v0 = robot.project(robot.neutral())

    def low(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return v[0]

    run = dq.simulate(robot, None, 1.0, 0.05, q0=q0, v0=v0, integrator="adaptive", events=[low])
    again = dq.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert again == run
    assert again.robot.constraints == robot.constraints
    assert len(again.events["low"]) > 0


@pytest.mark.parametrize("damage", ["empty", "text", "other zip", "cut", "no robot"])
def test_damaged_files_are_refused(run: dq.Trajectory, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "run.npz"
    if damage == "empty":
        path.write_bytes(b"")
    elif damage == "text":
        path.write_text("no arrays")
    elif damage == "other zip":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("a.txt", "b")
    elif damage == "cut":
        run.save(path)
        path.write_bytes(path.read_bytes()[:1000])
    else:
        np.savez(path, q=run.q)
    with pytest.raises(dq.LoadError, match=r"run\.npz"):
        dq.Trajectory.load(path)


def test_files_have_a_format_and_a_place(run: dq.Trajectory, tmp_path: Path) -> None:
    with pytest.raises(dq.FormatError, match=r"saved as \.npz"):
        run.save(tmp_path / "run.xlsx")
    with pytest.raises(dq.LoadError, match="No file"):
        dq.Trajectory.load(tmp_path / "none.npz")


def test_tables_as_files(run: dq.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others read the same numbers, to the last bit, under the same names."""
    pandas = pytest.importorskip("pandas", reason="reads the tables")
    table = run.to_pandas()
    names, *rows = csv.reader(run.save(tmp_path / "run.csv").read_text("utf-8").splitlines())
    assert names == ["time [s]", *table.columns]
    np.testing.assert_array_equal(np.array(rows, dtype=float), np.column_stack([run.time, table.to_numpy()]))
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    read = pandas.read_parquet(run.save(tmp_path / "run.parquet")).set_index("time [s]")
    pandas.testing.assert_frame_equal(read, table, check_exact=True)
    with pytest.raises(dq.LoadError, match=r"is a table for other programs, without the robot: load the \.npz"):
        dq.Trajectory.load(tmp_path / "run.csv")
    with pytest.raises(dq.FormatError, match=r"saved as \.npz, \.csv or \.parquet, by the ending; found 'run\.txt'"):
        run.save(tmp_path / "run.txt")
    with pytest.raises(dq.FormatError, match="give its path; found None"):
        run.save(None)  # type: ignore[arg-type]
    batch = dq.simulate(dq.robots.two_link(), duration=0.002, q0=np.zeros((2, 2)))
    with pytest.raises(dq.StateError, match=r"a table holds one run: take trajectory\.member\(i\)"):
        batch.save(tmp_path / "batch.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("pyarrow", "parquet"))):
        run.save(tmp_path / "again.parquet")
    assert not (tmp_path / "again.parquet").exists()


def test_table(run: dq.Trajectory) -> None:
    pytest.importorskip("pandas", reason="tables need pandas")
    table = run.to_pandas()
    assert table.index.name == "time [s]"
    assert len(table) == 101
    np.testing.assert_array_equal(table["q joint1 [rad]"], run.q[:, 7])
    np.testing.assert_array_equal(table["q root_joint.px [m]"], run.q[:, 4])
    np.testing.assert_array_equal(table["tau root_joint.wx [N m]"], run.tau[:, 0])
    np.testing.assert_array_equal(table["wrench tool fz [N]"], run.wrenches["tool"][:, 2])
    assert {"kinetic [J]", "potential [J]"} <= set(table.columns)


def test_without_pandas_the_extra_is_named(run: dq.Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("pandas", "pandas"))):
        run.to_pandas()


def test_columns_of_every_kind() -> None:
    from trees import tree

    model = tree("every kind").model
    for kind, size in (("q", model.nq), ("v", model.nv), ("a", model.nv), ("tau", model.nv)):
        found = columns(model, kind)
        assert len(found) == len(set(found)) == size


def test_batches() -> None:
    robot = dq.robots.arm6()
    rng = np.random.default_rng(1)
    q0 = np.array([robot.random_configuration(rng) for _ in range(11)])
    many = dq.simulate(robot, None, 0.05, 1e-3, q0=q0, threads=2)
    assert many.q.shape == (51, 11, 6)
    assert many.kinetic.shape == (51, 11)
    assert many.batch == (11,)
    for i in (0, 10):
        one = dq.simulate(robot, None, 0.05, 1e-3, q0=q0[i])
        member = many.member(i)
        np.testing.assert_allclose(member.q, one.q, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(member.a, one.a, rtol=1e-8, atol=1e-8)
    with pytest.raises(dq.StateError, match="threads must be a whole number from 1; found 0"):
        dq.simulate(robot, None, 0.05, 1e-3, q0=q0, threads=0)
    with pytest.raises(dq.StateError, match="11 runs"):
        many.member(11)
    with pytest.raises(dq.StateError, match="not a batch"):
        one.member(0)
    with pytest.raises(dq.StateError, match=r"member\(i\)"):
        many.to_pandas()


@pytest.mark.parametrize("integrator", ["adaptive", "variational", "semi-implicit-euler"])
def test_batches_of_every_integrator(integrator: str) -> None:
    robot = dq.robots.two_link()
    q0 = np.array([[0.1, 0.2], [0.3, -0.4], [1.0, 1.0]])
    tau = np.random.default_rng(1).normal(size=(20, 3, 2))
    many = dq.simulate(robot, tau, 0.02, 1e-3, q0=q0, v0=[0.1, -0.1], integrator=integrator)
    for i in range(3):
        one = dq.simulate(robot, tau[:, i], 0.02, 1e-3, q0=q0[i], v0=[0.1, -0.1], integrator=integrator)
        np.testing.assert_allclose(many.member(i).q, one.q, rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(many.member(i).tau, one.tau)


def test_drawing_is_registered(run: dq.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderers, "_RENDERERS", {})
    monkeypatch.setattr(renderers, "_DRAWING", "json")  # a module that registers nothing
    with pytest.raises(dq.Error, match=r"cannot do Trajectory\.plot"):
        run.plot()
    renderers.register("to_html", lambda trajectory, path, **options: path)
    renderers.register("plot", lambda trajectory, *what, **options: (what, options))
    assert run.to_html(tmp_path / "a.html") == tmp_path / "a.html"
    assert run.plot("q", width=3) == (("q",), {"width": 3})


def test_the_package_is_its_function() -> None:
    import dqdyn.simulate as package
    from dqdyn.simulate.run import simulate

    assert dq.simulate is package
    assert inspect.signature(package) == inspect.signature(simulate)
    assert package.Trajectory is dq.Trajectory
    with pytest.raises(AttributeError, match="simulater"):
        dq.simulater  # noqa: B018


def test_importing_dqdyn_does_not_import_it() -> None:
    code = "import sys, dqdyn; print('dqdyn.simulate' in sys.modules, 'simulate' in dir(dqdyn))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["False", "True"]


def test_trajectories_pickle(run: dq.Trajectory) -> None:
    assert pickle.loads(pickle.dumps(run)) == run
