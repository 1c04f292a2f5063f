"""A hook of mkdocs: search also works where the site is opened from a folder, without a server.

A page of file:// may neither fetch the index nor start the theme's search worker. The theme looks for the index as a
script there, ``search/search_index.js``; the source of the worker comes with the page, in a script that is loaded
before the theme's. Nothing comes from elsewhere, as it would with the theme's own plugin for this.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SHIM = "assets/javascripts/search_from_files.js"
_SOURCE = '<details class="mkdocstrings-source"'


def on_config(config: Any) -> Any:
    """Every page loads the script in its head."""
    config.extra["polyfills"] = [SHIM]
    return config


def on_page_content(html: str, **_: Any) -> str:
    """Source code in the reference is not searched: it would be most of the index."""
    return html.replace(_SOURCE, f"{_SOURCE} data-search-exclude")


def on_post_build(*, config: Any) -> None:
    """The index and the worker as scripts."""
    site = Path(config.site_dir)
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    (site / "search" / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.js")
    (site / SHIM).write_text(shim(worker.read_text(encoding="utf-8")), encoding="utf-8")


def shim(worker: str) -> str:
    """The script that starts the worker from its source, on pages of file://."""
    return f"""if (location.protocol === "file:") {{
  const source = URL.createObjectURL(new Blob([{json.dumps(worker)}], {{ type: "text/javascript" }}));
  window.Worker = class extends Worker {{ constructor() {{ super(source); }} }};
}}
"""
