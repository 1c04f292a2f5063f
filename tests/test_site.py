"""The documentation site: every page is in it, and what the build changes in pages and docstrings."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest
from snippets import ROOT


def tool(name: str, needs: str) -> ModuleType:
    pytest.importorskip(needs, reason=f"the site needs {needs}: pip install '.[docs]'")
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_navigation_names_every_page() -> None:
    named = re.findall(r": (\w+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} | {"benchmarks.md", "contributing.md", "changelog.md"}
    assert sorted(named) == sorted(pages)


def test_nothing_is_fetched() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in text
    assert "://" not in text
    for page in (ROOT / "docs").glob("*.md"):  # formulas are plain text, for they would need a script from elsewhere
        assert not re.findall(r"\$[^$\n]+\$", page.read_text(encoding="utf-8")), page.name


class TestPages:
    def test_links_to_sources_lead_to_the_reference(self) -> None:
        pages = tool("site_pages", "mkdocs")
        line = "[`algebra.dual.DQ`](../src/dqdyn/algebra/dual.py) [`test_x`](../tests/test_x.py) [c](conventions.md)"
        assert pages.on_page_markdown(line) == "[`algebra.dual.DQ`][dqdyn.algebra.dual.DQ] `test_x` [c](conventions.md)"
        assert pages.on_page_markdown("[b](../benchmarks/README.md)") == "[b](benchmarks.md)"

    def test_pages_from_outside_link_to_pages_of_the_site(self) -> None:
        pages = tool("site_pages", "mkdocs")
        assert pages.on_page_markdown("[c](../CONTRIBUTING.md)") == "[c](contributing.md)"
        text = pages.outside_page(ROOT / "CONTRIBUTING.md")
        assert "](architecture.md)" in text
        assert "](changelog.md)" in text
        assert "](docs/" not in text

    def test_private_names_are_no_links(self) -> None:
        pages = tool("site_pages", "mkdocs")
        assert pages.on_page_markdown("[`a.b._c`](../src/dqdyn/a/b.py)") == "`a.b._c`"

    def test_reference_has_every_package_and_module(self) -> None:
        pages = tool("site_pages", "mkdocs")
        assert pages.packages()[0] == "algebra"
        assert {"simulate", "view", "dynamics"} <= set(pages.packages())
        assert "::: dqdyn.dynamics.formulations.newton_euler\n" in pages.package_page("dynamics")
        assert "::: dqdyn.constraints.kinds.rolling\n" in pages.package_page("constraints")
        assert all(f"({package}.md)" in pages.reference_page() for package in pages.packages())


def test_map_shows_every_package() -> None:
    package_map = tool("package_map", "xml")
    existing = {path.parent.name for path in (ROOT / "src" / "dqdyn").glob("*/__init__.py")}
    assert package_map.packages() == existing
    figure = package_map.TARGET.read_text(encoding="utf-8")
    assert figure == package_map.drawing(), "run python tools/package_map.py"


def test_map_obeys_the_layers() -> None:
    """No package of the map imports from a layer above its own."""
    layers = [{name for name, _ in layer} for layer in tool("package_map", "xml").LAYERS]
    for k, layer in enumerate(layers):
        above = set().union(*layers[:k])
        for name in layer:
            for path in (ROOT / "src" / "dqdyn" / name).rglob("*.py"):
                imported = re.findall(r"^(?:from|import) dqdyn\.(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
                assert not above & set(imported), path


def test_docstrings_become_markdown() -> None:
    docstrings = tool("site_docstrings", "griffe")
    text = "See :class:`~dqdyn.Robot` and ``x``, [Farias, eq. (77)] [Farias, eq. (78)]; a[0]."
    expected = r"See `dqdyn.Robot` and ``x``, \[Farias, eq. (77)\] \[Farias, eq. (78)\]; a[0]."
    assert docstrings.markdown(text) == expected
