"""The documentation site: every page is in it, and what the build changes in pages and docstrings."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

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


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pages, built as the site is but for the reference, which takes a minute."""
    pytest.importorskip("material", reason="the site needs mkdocs-material: pip install '.[docs]'")
    pytest.importorskip("latex2mathml", reason="the site needs latex2mathml: pip install '.[docs]'")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    (folder / "docs" / "stylesheets").mkdir(parents=True)
    (folder / "docs" / "index.md").write_text("# First\n\nAbout wheels.\n\n## Twist\n\nA wombat rolls.\n")
    page = "# Second\n\nIn a line $\\dot x$, and\n\n$$\n\\dot x = \\frac{1}{2} \\xi x\n$$\n\nnot `$y$`.\n"
    (folder / "docs" / "second.md").write_text(page)
    styles = "stylesheets/site.css"
    (folder / "docs" / styles).write_bytes((ROOT / "docs" / styles).read_bytes())
    config = load_config(
        str(ROOT / "mkdocs.yml"),
        docs_dir=str(folder / "docs"),
        site_dir=str(folder / "site"),
        hooks=[str(ROOT / "tools" / name) for name in ("site_search.py", "site_formulas.py")],
        plugins=["search"],
        nav=["index.md", "second.md"],
    )
    build(config)
    return folder / "site"


class TestFromFiles:
    """The site opened as a folder of files, in a browser."""

    @pytest.fixture
    def page(self, chromium: Any) -> Iterator[Any]:
        context = chromium.new_context(viewport={"width": 1000, "height": 700})
        page = context.new_page()
        self.asked: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda problem: self.errors.append(str(problem)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        yield page
        context.close()
        assert self.errors == []
        assert {url.partition(":")[0] for url in self.asked} <= {"file", "data", "blob"}

    def test_search_finds_a_section(self, page: Any, small_site: Path) -> None:
        page.goto((small_site / "second.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("wombat")
        results = page.locator(".md-search-result__item a")
        results.first.wait_for()
        assert [link.get_attribute("href").rpartition("/")[2] for link in results.all()] == [
            "index.html",
            "index.html#twist",
        ]
        results.last.click()
        assert "A wombat rolls" in page.inner_text("article")

    def test_search_finds_nothing_where_there_is_nothing(self, page: Any, small_site: Path) -> None:
        page.goto((small_site / "index.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("quokka")
        page.get_by_text("No matching documents").wait_for()

    def test_formulas_are_typeset(self, page: Any, small_site: Path) -> None:
        page.goto((small_site / "second.html").as_uri())
        formulas = page.locator("article math")
        assert formulas.count() == 2
        assert "$y$" in page.inner_text("article")
        numerator, denominator = (part.bounding_box() for part in page.locator("mfrac > *").all())
        assert denominator["y"] > numerator["y"] + 0.5 * numerator["height"]
        dot, letter = (
            page.locator(f".formula mover > :{which}-child").first.bounding_box() for which in ("last", "first")
        )
        assert dot["y"] < letter["y"] + letter["height"] / 2


def test_source_code_is_not_searched() -> None:
    search = tool("site_search", "mkdocs")
    html = '<p>text</p><details class="mkdocstrings-source"><summary>'
    assert search.on_page_content(html) == html.replace('source">', 'source" data-search-exclude>')


class TestFormulas:
    def test_formulas_of_all_pages_are_converted(self) -> None:
        formulas = tool("site_formulas", "latex2mathml")
        found = 0
        for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
            text = re.sub(r"```.*?```|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
            for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text, flags=re.DOTALL):
                assert "<math" in formulas.mathml(block or inline, is_block=bool(block))
                found += 1
        assert found > 40

    @pytest.mark.parametrize("latex", [r"\wombat x", r"\begin{aligned} a &= b \end{aligned}"])
    def test_unknown_commands_are_refused(self, latex: str) -> None:
        formulas = tool("site_formulas", "latex2mathml")
        with pytest.raises(ValueError, match="has what latex2mathml does not know, at"):
            formulas.mathml(latex, is_block=True)


PAGES = [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / name for name in ("CONTRIBUTING.md", "benchmarks/README.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_and_lists_stand_alone(page: Path) -> None:
    """Where the text above a table or list has no empty line behind it, the site shows them as text."""
    text = re.sub(r"^```.*?^```$", "```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^(?![|#]).*\S.*\n(?=\|)", text, flags=re.MULTILINE) == []
    assert re.findall(r"^(?![-#]|  |\d+\. ).*\S.*\n(?=- |\d+\. )", text, flags=re.MULTILINE) == []


def test_pictures_of_the_front_page_are_small_and_drawn_by_the_tool() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    shown = re.findall(r"\((figures/[^)]+)\)", index)
    assert len(shown) == 6
    assert sum((ROOT / "docs" / name).stat().st_size for name in shown) <= 600_000
    drawn = re.findall(r'FIGURES / "([^"]+)"', (ROOT / "tools" / "front_page_figures.py").read_text(encoding="utf-8"))
    assert sorted(f"figures/front/{name}" for name in drawn) == sorted(shown)


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
        assert "](README" not in text

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
