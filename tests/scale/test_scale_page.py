"""The page on scale: its code that needs Dask and Zarr, which other tests of pages leave out, runs and says what is."""

from __future__ import annotations

from pathlib import Path

import pytest
from snippets import ROOT, run_page


def test_code_with_dask_and_zarr_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dask", reason="this code of the page needs the package dask, which is missing")
    pytest.importorskip("zarr", reason="this code of the page needs the package zarr, which is missing")
    monkeypatch.chdir(tmp_path)
    assert run_page(ROOT / "docs" / "scale.md", "py") == 2
