"""Former public names of control work for one release, with a warning."""

from __future__ import annotations

import pytest

import dqdyn as dq
from dqdyn import control as ct


def test_report() -> None:
    with pytest.warns(DeprecationWarning, match="is now called StepReport"):
        assert ct.Report is ct.StepReport
    assert isinstance(ct.velocity_controller(dq.robots.arm6(), ct.RestTask()).report, ct.StepReport)
    with pytest.raises(AttributeError, match="has no attribute 'Repord'"):
        ct.Repord  # noqa: B018


def test_features_of_a_function_task() -> None:
    def height(p: dq.DQ) -> object:
        return p.primary.z

    with pytest.warns(DeprecationWarning, match="is now called features"):
        task = ct.FunctionTask(height, things=ct.point("tool"))
    assert task.features == (ct.point("tool"),)
