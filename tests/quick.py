"""The quick run: a few cases of every test that is not marked as long; ``pytest --full`` runs everything."""

from __future__ import annotations

from collections import defaultdict

import pytest

CASES = 1
"""Cases that the quick run takes of each test: the first, and others evenly spread."""


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep a few cases of every test, unless all are asked for or some are named."""
    named = any("::" in argument for argument in config.args)
    if config.getoption("--full") or named:
        return
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("long") is None:
            cases[item.nodeid.partition("[")[0]].append(item)
    kept = {item for of_test in cases.values() for item in spread(of_test)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def spread(of_test: list[pytest.Item]) -> list[pytest.Item]:
    """At most CASES items, evenly spread, with the first among them."""
    step = max(1.0, len(of_test) / CASES)
    return [of_test[int(k * step)] for k in range(min(CASES, len(of_test)))]
