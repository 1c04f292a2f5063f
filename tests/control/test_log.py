"""What the library has to say goes to the logger ``dqdyn``, which is silent until an application listens."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct


def test_a_controller_that_holds_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    robot = dq.robots.two_link()
    controller = ct.velocity_controller(robot, [ct.RestTask()], infeasible="hold")
    with caplog.at_level(logging.WARNING, logger="dqdyn"):
        controller(0.0, np.zeros(2))
        controller(0.1, np.full(2, np.nan))
        controller(0.2, np.full(2, np.nan))
        controller(0.3, np.zeros(2))
    assert [record.name for record in caplog.records] == ["dqdyn.control.core.controller"]
    assert caplog.messages[0].startswith("control of two_link by velocity is held from t = 0.1 s on: q of the robot is")


def test_tracing_is_logged_for_those_who_look(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DQDYN_CACHE", "0")  # a program that is read from there is not traced
    with caplog.at_level(logging.DEBUG, logger="dqdyn"):
        dq.robots.chain(2).function("mass_matrix")
    assert any(message.startswith("traced mass_matrix of ") for message in caplog.messages)


def test_nothing_is_printed_by_default() -> None:
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("dqdyn").handlers)
