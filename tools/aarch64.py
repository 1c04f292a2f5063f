"""Run the project's tests on an emulated 64-bit ARM processor: Debian's arm64 Python under qemu, on any x86-64 Linux.

    python3 tools/aarch64.py                                     make the folder where needed, run the usual tests
    python3 tools/aarch64.py tests/compile/test_methods.py       other tests, or any other words for pytest
    python3 tools/aarch64.py --run -c 'import dqdyn'             any command of Python

Nothing is installed on this machine, and no rights of root are needed to run: qemu comes out of its Debian package,
Python out of the packages that debootstrap (as root) fetches, the rest from wheels. Emulation costs a factor of ten or
more, so this checks results, not times.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from debian_root import RootError, debian_mirror, locked, passed_on
from pythons import PROJECT, default_cache

SUITE, PYTHON = "bookworm", "3.11"
WHEELS = ("numpy", "llvmlite", "defusedxml", "typer", "rich", "pytest", "hypothesis", "mpmath", "sympy")
TESTS = tuple(
    f"tests/compile/test_{name}.py"
    for name in ("platforms", "call_path", "native_sincos", "vector_sines", "packed_sums", "random_programs", "methods")
)


def said(command: list[str], where: Path, log: Path) -> None:
    """Run a command; what it prints goes to the log."""
    with log.open("ab") as file:
        environment = {**os.environ, **passed_on(), "PATH": f"{os.environ['PATH']}{os.pathsep}/usr/sbin"}
        done = subprocess.run(command, cwd=where, stdout=file, stderr=file, env=environment, check=False)
    if done.returncode:
        raise RootError(f"{' '.join(command[:2])} failed with {done.returncode}; what it said is in {log}")


def make(folder: Path, mirror: str) -> None:
    """qemu, a root folder with Python, and the wheels; under another name until complete."""
    part, log = folder.with_name(f"{folder.name}.part"), folder.with_name(f"{folder.name}.log")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    log.write_bytes(b"")
    said(["apt-get", "download", "qemu-user-static"], part, log)
    said(["dpkg-deb", "-x", next(part.glob("qemu*.deb")).name, "qemu"], part, log)
    fetch = ["debootstrap", "--arch=arm64", "--foreign", "--variant=minbase", "--include=python3"]
    said([*fetch, SUITE, str(part / "root"), mirror], part, log)
    for package in sorted((part / "root/var/cache/apt/archives").glob("*.deb")):
        said(["dpkg-deb", "-x", str(package), "root"], part, log)
    platforms = [f"--platform=manylinux_2_{version}_aarch64" for version in (17, 27, 28)]
    of_arm = ["--only-binary=:all:", f"--python-version={PYTHON}", *platforms]
    said([sys.executable, "-m", "pip", "install", "-q", "--target", "site", *of_arm, *WHEELS], part, log)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def wrapper(folder: Path) -> Path:
    """A script that stands for the emulated Python; programs that Python starts are to run it, too."""
    libraries = ":".join(str(folder / "root" / path / "aarch64-linux-gnu") for path in ("lib", "usr/lib"))
    script = folder / "python"
    script.write_text(
        "#!/bin/sh\n"
        f'exec "{folder}/qemu/usr/bin/qemu-aarch64-static" -L "{folder}/root" -E "LD_LIBRARY_PATH={libraries}" '
        f'"{folder}/root/usr/bin/python{PYTHON}" "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    (folder / "site/sitecustomize.py").write_text(f"import sys\n\nsys.executable = {str(script)!r}\n", encoding="utf-8")
    return script


def main() -> int:
    what, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(description=what, epilog=more, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cache", type=Path, default=default_cache(), help="default: %(default)s")
    parser.add_argument("--mirror", help="address of a Debian mirror; default: that of apt on this machine")
    parser.add_argument("--anew", action="store_true", help="make the folder anew in any case")
    parser.add_argument("--run", nargs=argparse.REMAINDER, metavar="WORD", help="arguments of Python in place of tests")
    options, words = parser.parse_known_args()
    folder = options.cache.absolute() / "aarch64"
    try:
        with locked(folder.with_name("aarch64.lock")):
            if options.anew or not (folder / "site").is_dir():
                begin = time.perf_counter()
                make(folder, options.mirror or debian_mirror())
                print(f"{folder}: made in {time.perf_counter() - begin:.0f} s", flush=True)
    except RootError as error:
        print(f"nothing is checked on aarch64: {error}", file=sys.stderr)
        return 1
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *(words or TESTS)]
    paths = os.pathsep.join((str(folder / "site"), str(PROJECT / "src")))
    environment = {**os.environ, "PYTHONPATH": paths, "DQDYN_CACHE_DIR": str(folder / "compiled")}
    command = [str(wrapper(folder)), *(options.run or tests)]
    return subprocess.run(command, cwd=PROJECT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
