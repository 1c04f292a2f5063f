"""Examples in docstrings run: every module with ``>>>`` in it, and the module that this file must at least find."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import dqdyn

SOURCE = Path(dqdyn.__file__).parent


def modules_with_examples() -> list[str]:
    paths = sorted(path for path in SOURCE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))
    names = [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


def test_package_begins_with_an_example() -> None:
    assert "dqdyn" in modules_with_examples()


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(import_module(name), raise_on_error=False)
    assert results.attempted > 0
    assert results.failed == 0
