"""The pages tell the truth: their code runs, their values are right, their links and names lead somewhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from snippets import ROOT, agrees, blocks, run_page

import dqdyn
from dqdyn.cli.app import app
from dqdyn.equations import packaged_index

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


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/releasing.md"])
def test_named_files_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|tools|docs|benchmarks)/[\w./]+)`", text)
    assert named
    for path in named:
        assert (ROOT / path).exists(), f"{name} names {path}"


def test_architecture_names_files_of_the_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+(?:/\w+)*(?:\.py|/))`", text)
    assert len(named) > 30
    for path in named:
        if not path.startswith("tests/"):
            assert (ROOT / "src" / "dqdyn" / path).exists(), f"the page names {path}"


def test_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (cited,) = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changes = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert dqdyn.__version__ == project["version"] == cited
    assert changes[:2] == ["Unreleased", dqdyn.__version__]


def test_citation_has_the_papers_of_the_index() -> None:
    text = " ".join((ROOT / "CITATION.cff").read_text(encoding="utf-8").split())
    for paper in packaged_index()["papers"].values():
        assert f"title: {paper['title']} " in text.replace(">- ", "")
        assert f"year: {paper['year']} " in text
        assert all(author.split()[-1] in text for author in paper["authors"])


@pytest.mark.parametrize("page", WITH_CODE, ids=code_ids)
def test_names_resolve(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\bdq\.((?:\w+\.)*\w+)", text):
        value: object = dqdyn
        for part in name.split("."):
            value = getattr(value, part)
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
