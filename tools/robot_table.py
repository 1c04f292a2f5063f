"""Writes docs/urdf_table.md: what dqdyn makes of every URDF of the package example-robot-data.

Run it as ``python tools/robot_table.py``; ``table()`` is compared with the page in the tests.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "urdf_table.md"
sys.path.insert(0, str(ROOT / "tests"))

from robot_data import short_name, urdf_files  # noqa: E402

from dqdyn.errors import Error  # noqa: E402
from dqdyn.formats.urdf.reader import read_urdf  # noqa: E402
from dqdyn.model.build import build  # noqa: E402

HEAD = """# Robots that load

Every URDF of the package example-robot-data (Pinocchio's test robots), with a fixed base and mimic joints that follow
their masters. Joints are those that move; the mass is that of all links, in kg; warnings are what `robot.warnings`
holds. Written by `tools/robot_table.py`.

| Robot | Joints | nq | nv | Mass | Warnings |
|---|---|---|---|---|---|
"""


def row(path: Path) -> str:
    """The line of one file: its figures, or why it is refused."""
    try:
        model = build(read_urdf(path), quiet=True)
    except Error as error:
        reason = re.sub(r"(<\w+>)", r"`\1`", str(error).replace(str(path), path.name))
        return f"| {short_name(path)} | refused: {reason} | | | | |"
    mass = sum(link.inertia.mass for link in model.description.links)
    return (
        f"| {short_name(path)} | {len(model.joints)} | {model.nq} | {model.nv} | {mass:.3f} | {len(model.warnings)} |"
    )


def table() -> str:
    """The whole page."""
    return HEAD + "\n".join(row(path) for path in urdf_files()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table())
    print(f"{PAGE.name}: {len(urdf_files())} robots")
