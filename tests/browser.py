"""How the tests and the figures start Chromium without a window."""

from __future__ import annotations

import os
import shutil

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--no-first-run",
]


def executable() -> str | None:
    """The program, which ``DQDYN_CHROMIUM`` may name; None where there is none."""
    return os.environ.get("DQDYN_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
