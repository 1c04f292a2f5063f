"""Tests of the compiler never read what the user's cache holds, and tell apart what each of them warns of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from dqdyn.compile.runtime import cache, function

settings.register_profile(
    "compile", max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is compiled anew, since entries are named by the program, not by the code that compiled it."""
    monkeypatch.setenv("DQDYN_CACHE", "0")
    monkeypatch.delenv("DQDYN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DQDYN_NATIVE", raising=False)


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, switched on; the folder is not made yet."""
    monkeypatch.setenv("DQDYN_CACHE", "1")
    monkeypatch.setenv("DQDYN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def warns_again() -> Iterator[None]:
    """Each test sees the warning that comes once per process."""
    before, function._warned = function._warned, set()
    cache._warned.clear()
    yield
    function._warned = before
