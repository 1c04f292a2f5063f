"""Functions over arrays on disk: complete, resumable, checked by checksums."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask_cluster import PATIENCE, cluster

import dqdyn as dq
from dqdyn.scale import DiskFullError, WorkersLostError, disk, map_zarr, zarr_arrays
from dqdyn.scale.journal import Journal
from dqdyn.scale.mapping import prepared
from dqdyn.scale.workers import submitted

zarr = pytest.importorskip("zarr", reason="arrays on disk need the package zarr, which is missing")
pytest.importorskip("cloudpickle", reason="arrays on disk need the package cloudpickle, which is missing")

ROBOT = dq.robots.arm7()
STATES = 1000


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, str]:
    rng = np.random.default_rng(5)
    for name in "qva":
        array = zarr.create_array(str(tmp_path / f"{name}.zarr"), shape=(STATES, 7), chunks=(64, 7), dtype="f8")
        array[:] = rng.normal(size=(STATES, 7))
    return {name: str(tmp_path / f"{name}.zarr") for name in "qva"}


def expected(inputs: dict[str, str]) -> np.ndarray:
    return ROBOT.inverse_dynamics(*(zarr.open_array(path)[:] for path in inputs.values()))


def mapped(inputs: dict[str, Any], output: Path, **options: Any) -> Any:
    return map_zarr(ROBOT, "inverse_dynamics", inputs, output, **{"rows": 64, "workers": 0, **options})


def times(output: Path) -> dict[str, int]:
    """When each chunk was completed."""
    folder = Path(f"{output}.journal")
    return {entry.name: entry.stat().st_mtime_ns for entry in os.scandir(folder) if entry.name[0].isdigit()}


@pytest.mark.parametrize("options", [{}, {"rows": 100}, {"rows": None}, {"compressed": True}, {"check": False}])
def test_every_bit_is_that_of_one_call(inputs: dict[str, str], tmp_path: Path, options: dict[str, Any]) -> None:
    found = mapped(inputs, tmp_path / "tau.zarr", **options)
    np.testing.assert_array_equal(found[:], expected(inputs))


def test_inputs_may_be_numbers_and_options_are_those_of_the_function(inputs: dict[str, str], tmp_path: Path) -> None:
    q = zarr.open_array(inputs["q"])[:]
    still = {"q": inputs["q"], "v": np.zeros(7), "a": [0.0] * 7}
    np.testing.assert_array_equal(
        mapped(still, tmp_path / "g.zarr")[:], ROBOT.inverse_dynamics(q, np.zeros(7), np.zeros(7))
    )
    found = map_zarr(ROBOT, "twist_jacobian", {"q": inputs["q"]}, tmp_path / "J.zarr", workers=0, frame="tool")
    np.testing.assert_array_equal(found[:], ROBOT.twist_jacobian("tool", q))


def test_only_what_is_missing_is_computed_again(inputs: dict[str, str], tmp_path: Path) -> None:
    output = tmp_path / "tau.zarr"
    mapped(inputs, output)
    before = times(output)
    journal = Journal(Path(f"{output}.journal"))
    journal.forget(3)
    found = mapped(inputs, output)
    after = times(output)
    assert {name for name in after if after[name] != before[name]} == {"00000003.json"}
    np.testing.assert_array_equal(found[:], expected(inputs))


def test_damage_is_found_by_checksums(inputs: dict[str, str], tmp_path: Path) -> None:
    output = tmp_path / "tau.zarr"
    mapped(inputs, output)
    chunk = next(path for path in sorted((output / "c").rglob("*")) if path.is_file())
    data = bytearray(chunk.read_bytes())
    data[100] ^= 1
    chunk.write_bytes(bytes(data))
    assert not np.array_equal(mapped(inputs, output)[:], expected(inputs))  # the journal is trusted
    np.testing.assert_array_equal(mapped(inputs, output, verify=True)[:], expected(inputs))


def test_a_removed_array_is_computed_again(inputs: dict[str, str], tmp_path: Path) -> None:
    import shutil

    output = tmp_path / "tau.zarr"
    mapped(inputs, output)
    shutil.rmtree(output)
    np.testing.assert_array_equal(mapped(inputs, output)[:], expected(inputs))


def test_nan_is_named_by_chunk_row_and_state(inputs: dict[str, str], tmp_path: Path) -> None:
    zarr.open_array(inputs["v"], mode="r+")[200, 2] = np.nan
    with pytest.raises(dq.StateError, match=r"chunk 3 \(state 200 in all\), in a chunk of 64 rows: v\[2\].* at row 8"):
        mapped(inputs, tmp_path / "tau.zarr")
    found = mapped(inputs, tmp_path / "unchecked.zarr", check=False)[:]
    assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [200]


def test_a_full_disk_is_named_before_and_during_the_work(
    inputs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "tau.zarr"
    with monkeypatch.context() as patch:
        patch.setattr(disk, "free_bytes", lambda path: 1000)
        with pytest.raises(DiskFullError, match=r"needs 0.056 MB more, and its disk has 0.001 MB free: free some"):
            mapped(inputs, output)
    real, calls = zarr_arrays.kept_open, []

    class Full:
        def __setitem__(self, rows: slice, values: np.ndarray) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    def opened(folder: str, mode: str = "r") -> Any:
        calls.append(folder)
        return Full() if mode == "r+" and len(calls) > 20 else real(folder, mode)

    with monkeypatch.context() as patch:
        patch.setattr(zarr_arrays, "kept_open", opened)
        with pytest.raises(DiskFullError, match="is full: free some of it and run the same again"):
            mapped(inputs, output)
    kept = times(output)
    assert 0 < len(kept) < 16
    np.testing.assert_array_equal(mapped(inputs, output)[:], expected(inputs))
    assert {name: times(output)[name] for name in kept} == kept


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"inputs": {"q": "q"}}, "inverse_dynamics takes q, v, a: give 'v' in inputs"),
        ({"inputs": {"qq": "q"}}, "no input of inverse_dynamics named 'qq': did you mean 'q'"),
        ({"inputs": {"q": "nothing", "v": "v", "a": "a"}}, "q is a Zarr array; there is none in"),
        ({"inputs": {"q": "s3://bucket/q", "v": "v", "a": "a"}}, "found the address"),
        ({"inputs": {"q": [0.0] * 7, "v": [0.0] * 7, "a": [0.0] * 7}}, "none of the inputs is a Zarr array"),
        ({"inputs": {"q": [0.0] * 6, "v": "v", "a": "a"}}, "or 7 numbers; found shape"),
        ({"rows": 0}, "rows is how many states"),
        ({"workers": -1}, "workers is how many processes"),
        ({"workers": 1, "scheduler": "tcp://127.0.0.1:1"}, "leave out one of"),
        (
            {"scheduler": "tcp://127.0.0.1:1", "workers": None},
            "no Dask scheduler answers at 'tcp://127.0.0.1:1'.*start one",
        ),
        ({"robot": ROBOT.with_gravity([0, 0, 0])}, "was begun with another program"),
        ({"name": "nothing"}, "no function named 'nothing'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    inputs: dict[str, str], tmp_path: Path, change: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "scheduler" in change and change["workers"] is None:
        pytest.importorskip("distributed", reason="schedulers need the package distributed, which is missing")
        monkeypatch.setattr("dqdyn.scale.workers._CONNECT", 1.0)
    if "robot" in change:
        mapped(inputs, tmp_path / "tau.zarr")
    given = {"robot": ROBOT, "name": "inverse_dynamics", "inputs": inputs, "rows": 64, "workers": 0, **change}
    if "inputs" in change:
        given["inputs"] = {k: inputs.get(x, x) if isinstance(x, str) else x for k, x in change["inputs"].items()}
    with pytest.raises(dq.Error, match=says):
        map_zarr(given.pop("robot"), given.pop("name"), given.pop("inputs"), tmp_path / "tau.zarr", **given)


@pytest.mark.long
def test_a_killed_worker_and_a_killed_scheduler_lose_nothing(inputs: dict[str, str], tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="workers need the package distributed, which is missing")
    from slow_parts import Slow

    def killed_after(count: int, journal: Journal, pid: int, tasks: Any) -> None:
        for done, _ in enumerate(tasks, 1):
            if done == count:
                os.kill(pid, signal.SIGKILL)

    first, second = tmp_path / "first.zarr", tmp_path / "second.zarr"
    with cluster(tmp_path, workers=2) as (address, processes):
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
            job, missing = prepared(ROBOT, "inverse_dynamics", inputs, first, 20, False, True, 1e9, False, {})
            assert len(missing) == 50
            killed_after(5, Journal(Path(job.journal)), processes[1].pid, submitted(client, Slow(job), missing))
            assert processes[1].wait() == -signal.SIGKILL
            np.testing.assert_array_equal(zarr.open_array(str(first))[:], expected(inputs))
            job, missing = prepared(ROBOT, "inverse_dynamics", inputs, second, 20, False, True, 1e9, False, {})
            with pytest.raises(WorkersLostError, match="the scheduler was lost: start it again and run the same again"):
                killed_after(5, Journal(Path(job.journal)), processes[0].pid, submitted(client, Slow(job), missing))
        deadline = time.monotonic() + PATIENCE
        while processes[2].poll() is None and time.monotonic() < deadline:  # a worker ends without its scheduler
            time.sleep(0.1)
    kept = times(second)
    assert 5 <= len(kept) < 50
    found = map_zarr(ROBOT, "inverse_dynamics", inputs, second, rows=20, workers=0)
    assert {name: times(second)[name] for name in kept} == kept
    assert len(times(second)) == 50
    np.testing.assert_array_equal(found[:], expected(inputs))


def test_an_array_made_anew_is_opened_anew(inputs: dict[str, str], tmp_path: Path) -> None:
    import shutil

    mapped(inputs, tmp_path / "tau.zarr")
    for name in "qva":
        shutil.rmtree(inputs[name])
        array = zarr.create_array(inputs[name], shape=(50, 7), chunks=(8, 7), dtype="f8")
        array[:] = np.random.default_rng(1).normal(size=(50, 7))
    for left in ("tau.zarr", "tau.zarr.journal"):
        shutil.rmtree(tmp_path / left)
    np.testing.assert_array_equal(mapped(inputs, tmp_path / "tau.zarr", rows=8)[:], expected(inputs))


@pytest.mark.long
def test_a_scheduler_without_workers(inputs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="schedulers need the package distributed, which is missing")
    monkeypatch.setattr("dqdyn.scale.workers._WORKERS", 0.5)
    with (
        cluster(tmp_path, workers=0) as (address, _),
        pytest.raises(WorkersLostError, match="has no workers: start some"),
    ):
        mapped(inputs, tmp_path / "tau.zarr", workers=None, scheduler=address)
