"""Puts this folder on the import path: tests in subfolders use the modules beside this file.

Seeds, Ctrl-C, and a browser.
"""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator
from typing import Any

import browser
import pytest
import quick
import seeds
from hypothesis import HealthCheck, core, settings


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fresh-seeds", action="store_true", help=f"draw from a new seed; {seeds.VARIABLE} gives one")
    parser.addoption("--full", action="store_true", help=f"run every case; without it, {quick.CASES} of each test")


def pytest_report_header(config: pytest.Config) -> str:
    few = f"{quick.CASES} case of each test that is not long; --full runs them all"
    return f"dqdyn: {'every case' if config.getoption('--full') else few}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    quick.select(config, items)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--fresh-seeds") and not os.environ.get(seeds.VARIABLE):
        os.environ[seeds.VARIABLE] = str(secrets.randbelow(2**31))  # processes of xdist take it from here
    # Time is no fault: a loaded machine is slow. What failed is found again by the seed, so nothing is written.
    patient: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}
    fresh = bool(os.environ.get(seeds.VARIABLE))
    settings.register_profile("dqdyn", derandomize=not fresh, **patient)
    settings.load_profile("dqdyn")
    if fresh:
        core.global_force_seed = seeds.seed()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if os.environ.get(seeds.VARIABLE):
        terminalreporter.write_line(f"Draws began at {seeds.VARIABLE}={seeds.seed()}; set it to have them again.")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where pytest was started with that signal ignored (``&``, nohup)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Chromium without a window; tests of pages are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are tested with playwright, which is missing")
    found = browser.executable()
    if not found:
        pytest.skip("pages are tested in Chromium, which is not installed: apt-get install chromium")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=found, args=browser.FLAGS)
        yield started
        started.close()
