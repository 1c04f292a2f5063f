"""Progress bars: on a terminal and after a while only."""

from __future__ import annotations

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import progress
from dqdyn.progress import Progress


def test_silence_off_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    dq.simulate(dq.robots.two_link(), None, 0.5, 1e-3)
    assert capsys.readouterr() == ("", "")


def test_a_bar_where_it_is_wanted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with Progress(100, "simulating it", show=True) as bar:
        bar.at(40)
        assert bar._bar is not None
        assert bar._bar.tasks[0].completed == 40
    assert capsys.readouterr().out == ""


def test_short_runs_show_none() -> None:
    with Progress(100, "simulating it", show=True) as bar:
        bar.at(40)
        assert bar._bar is None


def test_time_starts_where_it_is_said() -> None:
    seen = []

    def note(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        seen.append(t)
        return [0.0, 0.0]

    for integrator in ("rkmk4", "adaptive"):
        seen.clear()
        run = dq.simulate(dq.robots.two_link(), note, 0.01, 1e-3, start=5.0, integrator=integrator)
        np.testing.assert_allclose(seen, 5.0 + 1e-3 * np.arange(11), atol=1e-12)
        np.testing.assert_allclose(run.time, seen, atol=1e-12)


def test_a_robot_without_joints_is_refused() -> None:
    with pytest.raises(dq.Error, match="no moving joint"):
        dq.simulate(dq.robots.two_link().lock({"joint1": 0.0, "joint2": 0.0}))


def test_runs_without_machine_code_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from dqdyn.simulate.integrators import RKMK4
    from dqdyn.simulate.integrators.integrator import _rollout

    native = dq.simulate(dq.robots.two_link(), None, 0.02, 1e-3, q0=[[0.3, 0.2], [0.1, 0.4]])
    monkeypatch.setenv("DQDYN_NATIVE", "0")
    _rollout.cache_clear()
    try:
        plain = dq.simulate(dq.robots.two_link(), None, 0.02, 1e-3, q0=[[0.3, 0.2], [0.1, 0.4]], integrator=RKMK4())
    finally:
        _rollout.cache_clear()
    np.testing.assert_allclose(plain.q, native.q, rtol=1e-13)
    np.testing.assert_allclose(plain.a, native.a, rtol=1e-12)
