"""Install the project under other Pythons and check it there: 3.13, 3.14, and 3.14t, the one without the global lock.

    python3 tools/pythons.py 3.14                          make the root folder where needed, install, check
    python3 tools/pythons.py 3.13 3.14 3.14t --tests       the full command: also the tests of calls, threads, pickling
    python3 tools/pythons.py 3.14 --make                   only make the root folder where it is missing or damaged
    python3 tools/pythons.py 3.14 --run python -V          any command there; the project is /project

Debian gives the Pythons, debootstrap makes their root folders (300 MB each, kept in the cache folder), and the
mirror is that of apt on this machine. 3.14t is built from Debian's source package, which takes ten minutes on two
cores. All of this needs the rights of root, for chroot.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from debian_root import DebianRoot, RootError, debian_mirror, locked, missing_rights, pip_settings

PROJECT = Path(__file__).resolve().parent.parent
SUITES = {"3.13": "trixie", "3.14": "forky", "3.14t": "forky"}
TO_BUILD = (
    *("build-essential", "debian-keyring", "pkgconf"),
    *("libbz2-dev", "libffi-dev", "liblzma-dev", "libsqlite3-dev", "libssl-dev", "zlib1g-dev"),
)
TESTS = (  # files below tests/: what depends on the interpreter, and needs no package that some Python lacks
    *("compile/test_call*.py", "compile/test_method*.py", "compile/test_batch*.py", "compile/test_*threads.py"),
    *("compile/test_fresh_*.py", "robot/test_values_of_methods.py"),
    *("compile/test_developer_mode.py", "compile/test_unknown_layout.py", "compile/test_object_cache.py"),
    *("compile/test_fallback.py", "robot/test_robot_value.py"),
)
FOR_TESTS = ("pytest", "hypothesis", "mpmath", "sympy")


def root_of(version: str, cache: Path, mirror: str) -> DebianRoot:
    """The recipe of the root folder with a Python."""
    plain = version.removesuffix("t")
    packages: tuple[str, ...] = ("ca-certificates", f"python{plain}", f"python{plain}-venv")
    if plain == version:
        return DebianRoot(cache / version, SUITES[version], packages, mirror)
    script = (PROJECT / "tools" / "free_threaded.sh").read_text(encoding="utf-8")
    return DebianRoot(cache / version, SUITES[version], (*packages, *TO_BUILD), mirror, f"PYTHON={plain}\n{script}")


def default_cache() -> Path:
    """Where root folders are kept, as XDG_CACHE_HOME says."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(chosen) if os.path.isabs(chosen) else Path.home() / ".cache") / "dqdyn-pythons"


def installed(root: DebianRoot, version: str, extra: list[str]) -> None:
    """Install the project, not editable, into a new virtual environment of the root."""
    said = time.perf_counter()
    settings = {**pip_settings(), "PIP_ROOT_USER_ACTION": "ignore", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    interpreter = f"python{version}"
    for command in (
        [interpreter, "-m", "venv", "--clear", "/venv"],
        ["/venv/bin/pip", "install", "-q", "--only-binary=:all:", "--no-binary=dqdyn", "/project", *extra],
    ):
        run(root, command, settings)
    print(f"{version}: installed in {time.perf_counter() - said:.0f} s", flush=True)


def test_files() -> list[str]:
    """The files of ``TESTS`` under their names in a root."""
    files_of = {pattern: sorted((PROJECT / "tests").glob(pattern)) for pattern in TESTS}
    if missing := [pattern for pattern, files in files_of.items() if not files]:
        raise SystemExit(f"tests/{missing[0]}: there is no such test; mend TESTS in {Path(__file__).name}")
    return [f"/project/{file.relative_to(PROJECT)}" for files in files_of.values() for file in files]


def variables() -> dict[str, str]:
    """The environment of commands that use the installed project."""
    return {
        "PATH": "/venv/bin:/usr/local/bin:/usr/bin:/bin",
        "DQDYN_CACHE_DIR": "/tmp/dqdyn",
        "HYPOTHESIS_STORAGE_DIRECTORY": "/tmp/hypothesis",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
    }


def run(root: DebianRoot, command: list[str], settings: Mapping[str, str] | None = None) -> None:
    """Run a command beside the installed project, which is to be read as /project; end this program where it fails."""
    done = root.run(command, {**variables(), **(settings or {})}, {PROJECT: "/project"})
    if done.returncode:
        raise SystemExit(f"{root.folder.name}: failed with {done.returncode}: {' '.join(command)}")


def made(root: DebianRoot, anew: bool) -> None:
    """Make the root folder unless it is there and intact."""
    fault = "is to be made anew" if anew else root.fault()
    if fault:
        print(f"{root.folder} {fault}: making it from Debian {root.suite} …", flush=True)
        begin = time.perf_counter()
        root.make()
        print(f"{root.folder.name}: made in {time.perf_counter() - begin:.0f} s", flush=True)


def main() -> int:
    what, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(description=what, epilog=more, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("versions", nargs="+", choices=SUITES, metavar="VERSION", help=", ".join(SUITES))
    parser.add_argument("--cache", type=Path, default=default_cache(), help="default: %(default)s")
    parser.add_argument("--mirror", help="address of a Debian mirror; default: that of apt on this machine")
    parser.add_argument("--anew", action="store_true", help="make the root folder anew in any case")
    parser.add_argument("--make", action="store_true", help="make the root folder, nothing else")
    parser.add_argument("--tests", action="store_true", help="also run the tests that depend on the interpreter")
    parser.add_argument("--with", nargs="+", default=[], dest="extra", metavar="PACKAGE", help="also install these")
    parser.add_argument("--run", nargs=argparse.REMAINDER, metavar="WORD", help="run this command instead of the check")
    options = parser.parse_args()
    os.environ["PATH"] += os.pathsep + "/usr/sbin"  # where debootstrap and chroot are
    if reason := missing_rights():
        print(f"other Pythons are not checked: {reason}", file=sys.stderr)
        return 2
    try:
        mirror = options.mirror or debian_mirror()
        for version in options.versions:
            root = root_of(version, options.cache.absolute(), mirror)
            with locked(root.beside("lock")):
                made(root, options.anew)
                if not options.make:
                    needed = FOR_TESTS if options.tests or options.run else ()
                    installed(root, version, [*needed, *options.extra])
                    checked(root, version, options.tests, options.run)
    except RootError as error:
        print(f"other Pythons are not checked: {error}", file=sys.stderr)
        return 1
    return 0


def checked(root: DebianRoot, version: str, tests: bool, command: list[str] | None) -> None:
    """Run the check and the tests, or the command."""
    if command:
        return run(root, command)
    lenient = ["--fallback"] if version.endswith("t") else []
    run(root, ["python", "/project/tools/python_check.py", *lenient])
    if tests:
        run(root, ["pytest", "-p", "no:cacheprovider", *test_files()])
    return None


if __name__ == "__main__":
    sys.exit(main())
