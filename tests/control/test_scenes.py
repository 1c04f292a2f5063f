"""A few of the random scenes; ``python tests/control/scenes.py 1000`` runs them all."""

from __future__ import annotations

import math

import pytest
import scenes

HARD = {
    "zone of a plane, by acceleration": 35,
    "segment above a plane": 38,
    "target inside of an obstacle": 46,
    "lines that come near to parallel, by acceleration": 515,
    "entry that shrinks late": 710,
}


@pytest.mark.parametrize("name", HARD)
def test_no_zone_is_entered_beyond_the_discretisation(name: str) -> None:
    """Zones are entered, and the entry vanishes or shrinks at first order as the step does."""
    outcome = scenes.run(HARD[name])
    assert outcome.feasible
    assert outcome.entered
    assert outcome.holds
    assert (outcome.lemma > 0) == (outcome.level == "acceleration")


@pytest.mark.parametrize("seed", [49, 95])
def test_policies_where_nothing_fits(seed: int) -> None:
    """Hold, relax and raise do what they promise, and the conflict that is named is minimal."""
    outcome = scenes.run(seed)
    assert outcome.conflict
    assert outcome.holds
    text = scenes.summary([outcome])
    assert f"scene {seed} by acceleration: in conflict {', '.join(outcome.conflict)}" in text


def test_lines_that_pass_by_parallel() -> None:
    """Infinite lines do so some km away, and a smaller step brings a deeper entry; within their reach there is none."""
    infinite = scenes.run(64, 2, reach=math.inf)
    assert [entry.zone for entry in infinite.entries] == 3 * ["KeepOut line_to_line"]
    assert 1e-4 < infinite.depths[0] < infinite.depths[1] < infinite.depths[2]
    assert not infinite.holds
    outcome = scenes.run(64)
    assert outcome.kinds == infinite.kinds
    assert outcome.holds
    assert not outcome.entered


def test_what_counts_as_shrinking() -> None:
    """Two halvings in a row at first order, or none left at two steps; one lucky step is not enough."""

    def shrinks(*depths: float) -> bool:
        return scenes.Outcome(0, "velocity", [scenes.Entry(d) for d in depths]).shrinks

    assert shrinks(0.0, 0.0)
    assert shrinks(4e-3, 2e-3, 1e-3)
    assert shrinks(4e-3, 2e-7, 9e-8, 5e-8)
    assert not shrinks(4e-3, 2e-3)
    assert not shrinks(4e-3, 1e-4, 9e-5)
    assert not shrinks(4e-3, 2e-3, 1.3e-3)
    assert not shrinks(4e-3, 2e-3, 0.0)
    assert not shrinks(4e-3, 0.0, 2e-3)


def test_without_the_zones_they_would_be_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scenes are a challenge: the same ones with inequalities that do not act are entered deeply and for good."""
    monkeypatch.setattr(scenes.ct.Inequality, "bounds", _without_action)
    for seed in (38, 46):
        outcome = scenes.run(seed, 2)
        assert outcome.depths[-1] > 1e-3
        assert not outcome.holds


def _without_action(self: scenes.ct.Inequality, context: object) -> list[object]:
    rows = self.rows(context.state, [context.given(s) for s in self.signals])  # type: ignore[attr-defined]
    nothing = [0.0] * context.model.nv  # type: ignore[attr-defined]
    from dqdyn.control.core.command_constraint import CommandBound

    sides = []
    for i, name in enumerate(self.row_names()):
        index, _ = context.next_gains()  # type: ignore[attr-defined]
        rate = None if rows.rate is None else rows.rate[i]
        sides.append(CommandBound(name, 1.0, normal=nothing, h=rows.value[i], rate=rate, gains=index))
    return sides
