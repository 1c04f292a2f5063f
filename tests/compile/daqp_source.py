"""DAQP in C for tests: the source distribution of the version that Python uses, from the package index, kept."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest
from c_compiler import compiled

NO_SOURCE = "the source distribution of DAQP cannot be downloaded: controllers in C are not run"


def daqp_source(cache: Path) -> Path:
    """The folder ``csrc`` of DAQP; given by DQDYN_DAQP_SOURCE, or unpacked into a folder that stays."""
    given = os.environ.get("DQDYN_DAQP_SOURCE")
    if given:
        return Path(given)
    name = f"daqp-{version('daqp')}"
    source = cache / name / "csrc"
    if not source.is_dir():
        with tempfile.TemporaryDirectory(dir=cache) as fresh:  # other processes see it when it is complete
            wanted = ["--no-deps", "--no-binary", "daqp", "--dest", fresh, f"daqp=={version('daqp')}"]
            command = [sys.executable, "-m", "pip", "download", "-q", *wanted]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            archive = Path(fresh) / f"{name}.tar.gz"
            if done.returncode or not archive.is_file():
                pytest.skip(NO_SOURCE)
            with tarfile.open(archive) as packed:
                packed.extractall(fresh, filter="data")
            with contextlib.suppress(OSError):  # another process was faster
                (Path(fresh) / name).rename(cache / name)
    return source


def daqp_objects(source: Path, folder: Path, *flags: str) -> list[str]:
    """Objects of DAQP, and where its headers are, as arguments of the compiler."""
    (folder / "include").mkdir(exist_ok=True)
    headers = folder / "include" / "daqp"
    if not headers.exists():
        headers.symlink_to((source / "include").resolve())
    parts = sorted((source / "src").glob("*.c"))  # they differ from version to version
    objects = [folder / f"{part.stem}.o" for part in parts]
    for part, target in zip(parts, objects, strict=True):
        compiled("-O1", "-g0", "-w", *flags, f"-I{source / 'include'}", "-c", part, "-o", target)
    return [f"-isystem{folder / 'include'}", *map(str, objects)]
