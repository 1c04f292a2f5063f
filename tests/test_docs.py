"""The pages tell the truth: their code runs, their values are right, their links and names lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from snippets import ROOT, agrees, blocks, run_page

import dqdyn
from dqdyn.cli.app import app

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])
WITH_CODE = [page for page in PAGES if blocks(page, "python")]
ids = [page.relative_to(ROOT).as_posix() for page in PAGES]
code_ids = [page.relative_to(ROOT).as_posix() for page in WITH_CODE]


@pytest.mark.parametrize("page", WITH_CODE, ids=code_ids)
def test_code_runs_and_values_are_right(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(page) > 0


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", WITH_CODE, ids=code_ids)
def test_names_resolve(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\bdq\.((?:\w+\.)*\w+)", text):
        thing: object = dqdyn
        for part in name.split("."):
            thing = getattr(thing, part)
    for name in re.findall(r"\brobot\.(?!urdf|json|xml)(\w+)", text):
        assert hasattr(dqdyn.Robot, name), f"{page.name} names robot.{name}"


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_commands_exist(page: Path) -> None:
    commands = {command.callback.__name__ for command in app.registered_commands if command.callback}
    named = re.findall(r"(?:`|/)dqdyn ([a-z]\w*)", page.read_text(encoding="utf-8"))
    assert set(named) <= commands


def test_index_names_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    missing = [
        page.name for page in ROOT.glob("docs/*.md") if page.name != "index.md" and f"({page.name})" not in index
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        (np.array([0.0, 1e-12]), "[0, 0]", True),
        (np.array([0.0, 1e-3]), "[0, 0]", False),
        (np.array([0.0]), "[0, 0]", False),
        ((3, "a"), "(3, 'a')", True),
        ((3, "a"), "(3, 'b')", False),
        ([1.0, 2.0], "[1, 3]", False),
        (True, "False", False),
        (np.True_, "True", True),
        ("words", "words", True),
        ("words", "other words", False),
    ],
)
def test_stated_values_are_compared(value: object, text: str, expected: bool) -> None:
    assert agrees(value, text) is expected


def test_wrong_page_is_found(tmp_path: Path) -> None:
    page = tmp_path / "wrong.md"
    page.write_text("# Page\n```python\nx = 2\nx + 1  # → 4\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"wrong.md:4: stated 4, found 3"):
        run_page(page)
