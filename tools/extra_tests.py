"""Run the tests of optional packages that the extra ``test`` leaves out, in an environment of their own.

``python tools/extra_tests.py`` makes the environment in the user's cache folder, installs the project with its extras
``test`` and ``scale`` and the packages below, and runs ``tests/scale`` and ``tests/learn`` in full. Arguments after
``--`` go to pytest. ``--if-made`` runs them only where the environment exists already, and says so where it does not.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("dask", "distributed", "zarr", "jax", "gymnasium", "torch")
"""PyTorch's wheel alone has half a gigabyte, and more where pip's index offers one for graphics cards."""
FOLDERS = ("tests/scale", "tests/learn")
READY = "installed.txt"
"""Written into the environment once it is complete: what it was made for."""


def environment() -> Path:
    """The folder of the environment, as XDG_CACHE_HOME says."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(chosen) if os.path.isabs(chosen) else Path.home() / ".cache"
    return cache / "dqdyn-extra-tests" / f"python{sys.version_info.major}.{sys.version_info.minor}"


def wanted() -> str:
    """What an environment must have been made for."""
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    return "\n".join([str(ROOT.resolve()), project, *PACKAGES]) + "\n"


def is_made(folder: Path) -> bool:
    """Whether an environment is complete and for this project as it is."""
    ready = folder / READY
    return ready.is_file() and ready.read_text(encoding="utf-8") == wanted()


def make(folder: Path) -> None:
    """A new environment; an old one is replaced."""
    print(f"installing {', '.join(PACKAGES)} in {folder} …", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "-e", f"{ROOT}[test,scale]", *PACKAGES], check=True)
    (folder / READY).write_text(wanted(), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/extra_tests.py", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--fresh", action="store_true", help="make the environment anew")
    parser.add_argument("--if-made", action="store_true", help="skip where the environment has not been made")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest, after --")
    options = parser.parse_args()
    folder = environment()
    if options.fresh or not is_made(folder):
        if options.if_made and not options.fresh:
            print(f"skipped: tests with {', '.join(PACKAGES)}, which python tools/extra_tests.py installs and runs")
            return 0
        make(folder)
    present = [name for name in FOLDERS if (ROOT / name).is_dir()]
    command = [str(folder / "bin/python"), "-m", "pytest", "-rs", "--full", *present, *options.pytest]
    return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
