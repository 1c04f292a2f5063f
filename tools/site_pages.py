"""A hook of mkdocs: pages of the site that no file of docs/ holds, and links that lead out of docs/.

The reference has one page per package, made of the docstrings. In the pages as they are read beside the sources, links
lead to sources and tests; on the site they lead to the reference, or become plain text.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
from package_map import BESIDE, FIRST_CORE, LAYERS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dqdyn"
OUTSIDE = {
    "benchmarks/README.md": "benchmarks.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Files of the repository that are pages of the site, and their names there."""
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>\.\./[^)#\s]+)\)")


def on_config(config: Any) -> Any:
    """The navigation gets one page per package."""
    reference = next(part["Reference"] for part in config.nav if "Reference" in part)
    reference += [{package: f"reference/{package}.md"} for package in packages()]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Pages that are made here."""
    made = {f"reference/{package}.md": package_page(package) for package in packages()}
    made["reference/index.md"] = reference_page()
    made |= {page: outside_page(ROOT / file) for file, page in OUTSIDE.items()}
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def outside_page(path: Path) -> str:
    """A page that stands outside of docs/, with its links as the site has them."""
    text = re.sub(r"\]\((?:\.\./)?docs/", "](", path.read_text(encoding="utf-8"))
    for file, page in OUTSIDE.items():
        text = text.replace(f"]({file})", f"]({page})")
    return re.sub(r"\[([^\]]*)\]\((?:\w+\.py|README\.md)\)", r"\1", text)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links out of docs/ lead to the reference or nowhere."""
    return _LINK.sub(_on_site, markdown)


def packages() -> list[str]:
    """The packages, lowest layer first; those unknown here stand behind."""
    order = [name for layer in reversed(LAYERS[FIRST_CORE:]) for name, _ in layer]
    order += [BESIDE[0], *(name for layer in reversed(LAYERS[:FIRST_CORE]) for name, _ in layer)]
    existing = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
    return [name for name in order if name in existing] + [name for name in existing if name not in order]


def modules(folder: Path) -> list[str]:
    """Dotted names of a package and its modules; those whose names begin with an underscore are left out."""
    paths = sorted(folder.rglob("*.py"), key=lambda path: (path.parent, path.name != "__init__.py", path.name))
    inside = (path for path in paths if (path.parent / "__init__.py").exists())
    return [_dotted(path) for path in inside if path.name == "__init__.py" or not path.name.startswith("_")]


def package_page(package: str) -> str:
    """One package: its modules one after the other."""
    parts = [f"# Package {package}"]
    for name in modules(SOURCE / package):
        members = "\n    options: {members: false}" if (SOURCE.parent / Path(*name.split("."))).is_dir() else ""
        parts.append(f"::: {name}{members}")
    return "\n\n".join(parts) + "\n"


def reference_page() -> str:
    """What is in the package dqdyn itself, and where the rest is."""
    rows = [
        f"| [dqdyn.{package}]({package}.md) | {_summary(SOURCE / package / '__init__.py')} |" for package in packages()
    ]
    head = "# Reference\n\nEvery public name of `dqdyn` comes from one of these packages.\n\n"
    head += "| Package | What it is |\n|---|---|\n"
    names = [_dotted(path) for path in sorted(SOURCE.glob("*.py")) if not path.name.startswith("_")]
    return head + "\n".join(rows) + "\n\n" + "\n\n".join(f"::: {name}" for name in names) + "\n"


def _dotted(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _summary(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def _on_site(match: re.Match[str]) -> str:
    text, target = match["text"], match["target"].removeprefix("../")
    if target in OUTSIDE:
        return f"[{text}]({OUTSIDE[target]})"
    name = text.strip("`")
    is_public = target.startswith("src/dqdyn/") and not any(part.startswith("_") for part in name.split("."))
    return f"[{text}][dqdyn.{name}]" if is_public else text
