"""The arm with two links: its curves, its claims, and that they fail for wrong curves and runs."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from dqdyn.analysis.experiments import two_link


def closed_form() -> np.ndarray:
    """The textbook's torques of two equal rods along the motion."""
    _, q, v, a = two_link.motion()
    c2, s2 = np.cos(q[:, 1]), np.sin(q[:, 1])
    c1, c12 = np.cos(q[:, 0]), np.cos(q[:, 0] + q[:, 1])
    coupling = 1.0 / 3.0 + c2 / 2.0
    first = (5.0 / 3.0 + c2) * a[:, 0] + coupling * a[:, 1] - s2 * (v[:, 0] * v[:, 1] + 0.5 * v[:, 1] ** 2)
    second = coupling * a[:, 0] + a[:, 1] / 3.0 + 0.5 * s2 * v[:, 0] ** 2
    return np.stack([first + 9.81 * (1.5 * c1 + 0.5 * c12), second + 9.81 * 0.5 * c12], axis=1)


@pytest.mark.equation("Farias", "fig. 1")
def test_torque_curves_are_the_textbooks() -> None:
    torques, missing = two_link.torques_along_motion()
    assert {*two_link.VERSIONS, two_link.MATRICES} <= set(torques)
    assert len(torques) + len(missing) == 6  # three versions, the matrices and two libraries
    for name, tau in torques.items():
        np.testing.assert_allclose(tau, closed_form(), atol=1e-12, err_msg=name)
    one, two, apart = two_link.torque_figures(torques)
    assert "fig. 1" in one.title
    np.testing.assert_array_equal(two.curves["closed equation"], torques["closed equation"][:, 1])
    assert set(apart.curves) == set(torques) - {two_link.MATRICES}
    assert all(claim.holds for claim in two_link.torque_claims(torques))
    wrong = {**torques, "matrix form": torques["matrix form"] + 1e-9}
    assert [claim.holds for claim in two_link.torque_claims(wrong)].count(False) == 1


@pytest.mark.equation("Farias", "fig. 2")
@pytest.mark.equation("Farias", "fig. 3")
def test_computed_torque() -> None:
    run = two_link.controlled(None, 3.0, 5e-3, 1)
    np.testing.assert_allclose(two_link.errors(run)[0], -np.array(two_link.OFF))
    assert all(claim.holds for claim in two_link.control_claims({1: run}))
    late = replace(run, time=1.1 * run.time)
    assert [claim.holds for claim in two_link.control_claims({1: late})] == [False, True]
    off = replace(run, q=run.q + 2e-4)
    assert [claim.holds for claim in two_link.control_claims({1: off})] == [True, False]
    start = [d.arguments for d in two_link.drawings(run) if d.arguments["name"] == "arm at the start"]
    np.testing.assert_allclose(start[0]["end"], [np.cos(0.3), 0.0, np.sin(0.3)])
    goal = [d.arguments for d in two_link.drawings(run) if d.arguments["name"] == "arm at its goal"]
    np.testing.assert_allclose(goal[1]["end"], [np.cos(1.2) + np.cos(0.3), 0.0, np.sin(1.2) + np.sin(0.3)])


def test_report_names_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "roboticstoolbox", None)
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    found = two_link.experiment(duration=0.1, dt=0.01)
    assert any("not compared: roboticstoolbox-python, pin." in text for text in found.text)
    assert sum("gives the torques" in claim.text for claim in found.claims) == 3
