"""Virtual environments for peers that cannot live beside each other, kept in the user's cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

READY = "requirements.txt"
"""Written into an environment once it is complete: what it was made for."""


class CannotInstall(Exception):
    """Why an environment could not be made."""


def cache_folder() -> Path:
    """Where environments are kept, as XDG_CACHE_HOME says."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(chosen) if os.path.isabs(chosen) else Path.home() / ".cache") / "dqdyn-benchmarks"


def environment(requirements: list[str], fresh: bool = False) -> Path:
    """The interpreter of an environment that holds these requirements and nothing else; made if need be."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache_folder() / f"{requirements[0].replace('==', '-')}-python{version}"
    interpreter, asked = folder / "bin/python", "\n".join(requirements) + "\n"
    ready = folder / READY
    if not fresh and ready.is_file() and ready.read_text(encoding="utf-8") == asked:
        return interpreter
    print(f"installing {', '.join(requirements)} in {folder} …", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(folder)])
    _run([str(interpreter), "-m", "pip", "install", "--quiet", *requirements])
    ready.write_text(asked, encoding="utf-8")
    return interpreter


def variables() -> dict[str, str]:
    """Of a process in such an environment: none of ours leads to our packages, and linear algebra has one thread."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env=variables())
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        raise CannotInstall(f"{' '.join(command[1:])} failed: {said[-1]}")
