"""What it costs to begin: importing the package, and loading the largest real robot at hand."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from benchmarks.measure import Result, least, least_import

LARGEST = "tiago_description/robots/tiago_dual.urdf"
"""101 degrees of freedom; the largest file of the package example-robot-data."""


def run() -> list[Result]:
    """Seconds to import dqdyn, and to load the largest URDF."""
    return [importing(), loading()]


def importing() -> Result:
    """``import dqdyn`` next to ``import numpy``, which it contains."""
    return Result(
        "import dqdyn",
        least_import("dqdyn", 10),
        "s",
        target=0.3,
        peer="import numpy",
        peer_measured=least_import("numpy", 10),
    )


def loading() -> Result:
    """From a URDF to a robot ready for use, next to Pinocchio's parser."""
    import pinocchio

    import dqdyn as dq

    path = _example_robots() / LARGEST

    def load() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dq.ModelWarning)
            dq.load(path)

    return Result(
        f"load {path.name}",
        least(load, 10),
        "s",
        target=1.0,
        peer="Pinocchio",
        peer_measured=least(lambda: pinocchio.buildModelFromUrdf(str(path)), 10),
    )


def _example_robots() -> Path:
    folders = (Path(entry) / "cmeel.prefix/share/example-robot-data/robots" for entry in sys.path)
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise SystemExit("example-robot-data is not installed: pip install 'dqdyn[test]'")
    return found
