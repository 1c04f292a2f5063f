"""What it costs to begin: importing the package, and loading the largest real robot at hand."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings

from benchmarks.measure import Result, least, least_import
from benchmarks.robots import TALOS, example_robots

LARGEST = "tiago_description/robots/tiago_dual.urdf"
"""101 degrees of freedom; the largest file of the package example-robot-data."""


def run() -> list[Result]:
    """Seconds to import dqdyn, and to load the largest URDF."""
    return [importing(), loading(), *first_pose()]


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

    path = example_robots() / LARGEST

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


_FIRST_POSE = """
import time, numpy, llvmlite.binding, warnings
start = time.perf_counter()
import dqdyn as dq
warnings.simplefilter("ignore")
robot = dq.load({path!r}, base="free")
robot.pose("gripper_left_joint", robot.neutral())
print(time.perf_counter() - start)
"""


def first_pose() -> list[Result]:
    """From a URDF to the first pose of the Talos, beyond ``import numpy, llvmlite.binding``: cold, and with a cache."""
    code = _FIRST_POSE.format(path=str(example_robots() / TALOS))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        environment |= {"PYTHONPYCACHEPREFIX": f"{folder}/bytecode", "DQDYN_CACHE_DIR": f"{folder}/cache"}

        def seconds(**changes: str) -> float:
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment | changes
            )
            return float(done.stdout)

        seconds()
        warm = min(seconds() for _ in range(10))
        cold = min(seconds(DQDYN_CACHE="0") for _ in range(10))
    return [
        Result("URDF to first pose of Talos, cold", cold, "s", target=0.7),
        Result("URDF to first pose of Talos, with cache", warm, "s", target=0.12),
    ]
