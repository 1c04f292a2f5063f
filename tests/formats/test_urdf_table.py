"""The page of robots is what the tool writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "robot_table.py"


def test_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("robot_table", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    page = tool.PAGE.read_text()
    assert page == tool.table(), "run python tools/robot_table.py"
    assert "site-packages" not in page
