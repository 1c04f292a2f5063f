"""What is said where Dask and Zarr are absent, and of arrays that only look like Dask's: these tests need neither."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.errors import MissingExtraError
from dqdyn.scale import disk, map_zarr, workers
from dqdyn.scale.journal import Journal

ROBOT = dq.robots.two_link()


class LooksLazy:
    """Recognised by the module of its type, as Dask's arrays are."""

    ndim, shape, dtype = 2, (3, 2), np.dtype(float)


LooksLazy.__module__ = "dask.array.core"


def test_lazy_arrays_are_refused_where_numbers_are_needed() -> None:
    for call in (lambda x: dq.DQ(x), lambda x: dq.simulate(ROBOT, q0=x), lambda x: dq.Pose.of_array(x)):
        with pytest.raises(dq.StateError, match="Dask array"):
            call(LooksLazy())


@pytest.fixture
def _without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "find_spec", lambda name: None)


@pytest.mark.usefixtures("_without_packages")
def test_missing_packages_are_named() -> None:
    with pytest.raises(MissingExtraError, match=r"map_zarr needs the package 'zarr': install it with pip install"):
        map_zarr(ROBOT, "mass_matrix", {"q": "q.zarr"}, "M.zarr")
    for options in ({"workers": 2}, {"scheduler": "tcp://127.0.0.1:1"}, {}):
        with pytest.raises(MissingExtraError, match="running on several processes needs the package"):
            dq.sweep(ROBOT, duration=0.01, **options)
    with pytest.raises(MissingExtraError, match="a sweep with an output needs the package 'zarr'"):
        dq.sweep(ROBOT, duration=0.01, workers=0, output="x.zarr")


def test_what_does_not_pickle_says_what_to_do() -> None:
    pytest.importorskip("cloudpickle", reason="other processes need the package cloudpickle, which is missing")
    lock = threading.Lock()

    def control(t: float, q: Any, v: Any) -> Any:
        with lock:
            return np.zeros_like(v)

    with pytest.raises(dq.Error, match=r"cannot be sent to other processes .*each_run, or pass workers=0"):
        dq.sweep(ROBOT, control, duration=0.01, workers=1)
    assert dq.sweep(ROBOT, control, duration=0.01, workers=0).failed == 0


def test_room_on_the_disk_is_asked_for(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.require_room(tmp_path / "not" / "yet", 1)
    monkeypatch.setattr(disk, "free_bytes", lambda path: 3_100_000_000)
    with pytest.raises(
        disk.DiskFullError, match=r"needs 5.6 GB more, and its disk has 3.1 GB free: free some"
    ) as caught:
        disk.require_room(tmp_path, 5_600_000_000)
    assert caught.value.needed == 5_600_000_000


def test_a_journal_belongs_to_one_computation(tmp_path: Any) -> None:
    journal = Journal.begin(tmp_path / "journal", {"seed": 1}, "x.zarr")
    journal.complete(7, {"states": 3})
    (journal.folder / "00000008.json.12.partial").write_text("{", encoding="utf-8")
    again = Journal.begin(tmp_path / "journal", {"seed": 1}, "x.zarr")
    assert again.done() == {7}
    assert again.record(7) == {"states": 3}
    with pytest.raises(dq.Error, match=r"'x.zarr' was begun with another seed \(1, now 2\): choose another output"):
        Journal.begin(tmp_path / "journal", {"seed": 2}, "x.zarr")
    (journal.folder / "plan.json").write_text("{", encoding="utf-8")
    with pytest.raises(dq.Error, match="is damaged, so it is not known what was computed"):
        Journal.begin(tmp_path / "journal", {"seed": 1}, "x.zarr")
