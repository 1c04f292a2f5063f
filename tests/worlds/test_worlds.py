"""A few random worlds in the plain suite, and the command's own promises; the rest is ``python -m tests.worlds``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dqdyn.dynamics.fast import articulated

from . import worker
from .laws import judged
from .run import Run, summary
from .world import world


@pytest.mark.parametrize("seed", range(1, 13))
def test_worlds_obey_the_laws(seed: int) -> None:
    case = judged(seed)
    assert not case.broken, f"{case.world}\n" + "\n".join(case.broken)
    assert len(case.worst) > 20


def test_a_world_is_its_seed() -> None:
    one, two = world(7), world(7)
    assert one.robot == two.robot
    assert str(one) == str(two)
    assert str(one) != str(world(8))
    np.testing.assert_array_equal(one.q, two.q)


def test_a_fault_of_one_method_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that helical joints once met: entries cleared that are not zero."""
    monkeypatch.setattr(articulated, "_is_zero", lambda a: True)
    broken = [seed for seed in range(1, 60) if _has_screw(seed) and judged(seed).broken][:1]
    assert broken


def _has_screw(seed: int) -> bool:
    robot = world(seed).robot
    return robot.nv < 8 and any(j.kind == "helical" and not any(j.armature) for j in robot.joints)


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    """Lines of verdicts are kept, a line cut short is not taken for one, and what is missing is judged."""
    part = tmp_path / "part-0-of-1.jsonl"
    worker.work(part, 5, range(1), float("inf"))
    first = part.read_text(encoding="utf-8")
    part.write_text(first + '{"world": 5000001, "beg', encoding="utf-8")
    worker.work(part, 5, range(2), float("inf"))
    assert part.read_text(encoding="utf-8").startswith(first)
    found = worker.done(part)
    assert sorted(found) == [5000000, 5000001]
    assert worker.under_way(part) is None
    assert any("2 worlds of seed 5" in line for line in summary(found, 5, 1, 1.0))


def test_results_of_other_code_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Run(10, 5, 2, None, tmp_path).folder
    monkeypatch.setattr("worlds.run.version", lambda: "other")
    assert Run(10, 5, 2, None, tmp_path).folder != folder
