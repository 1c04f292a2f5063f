"""Short runs of the validation; ``dqdyn validate`` makes the long ones."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from dqdyn.analysis import peers
from dqdyn.analysis.validation import vehicle
from dqdyn.analysis.validation.comparison import PLANTS, Validation, too_heavy, validate
from dqdyn.analysis.validation.silva_table import METHODS, PRINTED, Summary
from dqdyn.errors import MissingExtraError, StateError, UnknownNameError, install_command

pytest.importorskip("mujoco")
LEAST = {"arm": 0.999, "holonomic": 0.999, "nonholonomic": 0.95}


@pytest.fixture(scope="module", params=list(PLANTS))
def found(request: pytest.FixtureRequest) -> Validation:
    return validate(request.param, duration=1.0)


@pytest.mark.equation("Silva", "table 2")
@pytest.mark.equation("Quiroz", "fig. 6.23")
@pytest.mark.equation("Quiroz", "table 6.4")
def test_models_move_as_the_engine(found: Validation) -> None:
    for method, comparison in found.models.items():
        summary = comparison.summary
        assert summary.min >= LEAST[found.key], method
        assert summary.min > PRINTED[found.key, method].min
        assert summary.min <= summary.mean <= summary.max <= 1.0
    assert set(found.models) | set(found.missing) == {method for key, method in PRINTED if key == found.key}


def test_formulations_agree(found: Validation) -> None:
    first, *others = (comparison.accelerations for comparison in found.models.values())
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-7 * np.abs(first).max())


def test_one_wrong_mass_is_seen(found: Validation) -> None:
    assert found.control.summary.min < 0.9
    assert found.control.summary.mean < min(c.summary.mean for c in found.models.values())


def test_every_coordinate_moves(found: Validation) -> None:
    assert found.moved.min() > 0.05
    assert np.abs(found.measured).max(axis=0).min() > 0.1
    assert len(found.names) == found.measured.shape[1]
    assert len(found.time) == len(found.measured) == len(found.recording.q) - 2


def test_wheels_roll(found: Validation) -> None:
    slip = found.slip()
    if found.key != "nonholonomic":
        assert slip is None
        return
    assert slip is not None
    assert slip["speed"] > 0.1
    assert slip["sideways"] < 5e-3 * slip["speed"]
    assert slip["rolling"] < 1e-4 * slip["speed"]
    assert slip["fewest_contacts"] == 3


def test_on_ice_the_model_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds the vehicle is friction in the engine: with little of it the wheels slip and the model is wrong."""
    monkeypatch.setattr(vehicle, "FRICTION", 0.02)
    slippery = validate("nonholonomic", duration=1.0)
    slip = slippery.slip()
    assert slip is not None
    assert max(slip["sideways"], slip["rolling"]) > 0.05
    assert slippery.models["dqGP"].summary.min < LEAST["nonholonomic"]


def test_accelerations_of_the_engine_are_not_used() -> None:
    for path in Path(vehicle.__file__).parent.glob("*.py"):
        assert "qacc" not in path.read_text(encoding="utf-8")


def test_too_heavy() -> None:
    robot = PLANTS["holonomic"]().robot
    wrong = too_heavy(robot, "arm_forearm")
    assert wrong.mass == pytest.approx(robot.mass + 0.2 * 5.0)
    np.testing.assert_array_equal(too_heavy(robot, "arm_forearm", 0.0).mass, robot.mass)


def test_summary() -> None:
    assert Summary.of(np.array([0.5, 1.0])) == Summary(0.5, 0.75, pytest.approx(np.sqrt(0.125)), 1.0)
    assert Summary.of(np.array([0.5])).std == 0.0
    assert set(METHODS) == {method for _, method in PRINTED}


def test_without_the_toolbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "roboticstoolbox", None)
    assert not peers.toolbox_is_here()


def test_without_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command("mujoco", "mjcf"))):
        validate("holonomic")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"duration": 0.01}, "20 samples or more"),
        ({"duration": float("nan")}, "20 samples or more"),
        ({"cutoff": 250.0}, "half of the sampling rate"),
        ({"order": 0}, "order of a filter"),
        ({"every": 0}, "whole number of torques"),
    ],
)
def test_bad_input(options: dict[str, float], words: str) -> None:
    with pytest.raises(StateError, match=words):
        validate("holonomic", **options)


def test_unknown_robot() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'holonomic'"):
        validate("holonomc")
