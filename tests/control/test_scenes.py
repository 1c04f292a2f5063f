"""A few of the random scenes; ``python tests/control/scenes.py 1000`` runs them all."""

from __future__ import annotations

import pytest
import scenes


@pytest.mark.parametrize("seed", [1, 4, 8, 10, 35, 38, 64])
def test_no_zone_is_entered_beyond_the_discretisation(seed: int) -> None:
    """Where the problem stays feasible, what is entered shrinks with the step; else the policy acts as promised."""
    outcome = scenes.run(seed)
    assert outcome.policy_kept
    if outcome.feasible:
        assert outcome.entries[-1] < 2e-3
        assert outcome.shrinks
    else:
        assert outcome.conflict
    assert len(scenes.summary([outcome]).splitlines()) >= (3 if outcome.feasible else 1)


def test_without_the_zones_they_would_be_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scenes are a challenge: the same ones with inequalities that do not act are entered deeply."""
    monkeypatch.setattr(scenes.ct.Inequality, "sides", _without_action)
    deep = [min(scenes.run(seed, 0).worst) for seed in (4, 35, 38, 46)]
    assert max(deep) < -1e-3


def _without_action(self: scenes.ct.Inequality, context: object) -> list[object]:
    rows = self.rows(context.state, [context.given(s) for s in self.signals])  # type: ignore[attr-defined]
    nothing = [0.0] * context.model.nv  # type: ignore[attr-defined]
    from dqdyn.control.constraint import Side

    sides = []
    for i, name in enumerate(self.row_names()):
        index, _, _ = context.next_gains()  # type: ignore[attr-defined]
        rate = None if rows.rate is None else rows.rate[i]
        sides.append(Side(name, 1.0, normal=nothing, h=rows.value[i], rate=rate, gains=index))
    return sides
