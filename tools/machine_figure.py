"""Draws docs/figures/state_machine_graph.svg and state_machine_history.svg: ``python tools/machine_figure.py``.

They are what the code of docs/state_machines.md saves.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from snippets import run_page  # noqa: E402


def main() -> None:
    """Run the page where the figures are."""
    os.chdir(ROOT / "docs" / "figures")
    run_page(ROOT / "docs" / "state_machines.md")


if __name__ == "__main__":
    main()
