"""A bound and a plain call of arm7 on this Python and on those that ``tools/pythons.py`` has made, in turns.

New arrays of NumPy, which some calls make, differ in cost between its versions. Pythons are compared fairly
with one NumPy on all: ``tools/pythons.py 3.13 3.14 --with numpy==2.4.6``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Result

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tools"))
from debian_root import missing_rights  # noqa: E402
from pythons import SUITES, default_cache, root_of, variables  # noqa: E402

ROUNDS = 200
BETWEEN_PYTHONS = 1.2  # bound calls: the slowest by the fastest
PLAIN_MORE = 100.0  # ns that a plain call may take above a bound one


def run() -> list[Result]:
    """The least of many rounds, each of which visits every Python; free-threaded ones are shown without a target."""
    with workers() as found:
        notes = {version: f"NumPy {_line(worker).strip()}" for version, worker in found.items()}  # all are ready
        rounds = [{version: ask(worker) for version, worker in found.items()} for _ in range(ROUNDS)]
    best = {version: least([answers[version] for answers in rounds]) for version in found}
    results = []
    for kind in ("out=", ""):
        bound, plain = (f"{call}, {kind}".removesuffix(", ") for call in ("bound", "plain"))
        judged = {version: times for version, times in best.items() if not version.endswith("t")}
        results += [
            Result(f"{bound}, {version}", times[bound], "ns", note=notes[version]) for version, times in best.items()
        ]
        for version, times in best.items():
            target = PLAIN_MORE if version in judged else None
            results.append(Result(f"{plain}, beyond bound, {version}", times[plain] - times[bound], "ns", target))
        if len(judged) > 1:
            all_bound = [times[bound] for times in judged.values()]
            ratio = max(all_bound) / min(all_bound)
            results.append(Result(f"{bound}, slowest by fastest Python", ratio, "×", BETWEEN_PYTHONS))
    return results


def least(answers: list[dict[str, float]]) -> dict[str, float]:
    """The least of each statement over all rounds, without the loop around it, whose least is taken likewise."""
    best = {name: min(answer[name] for answer in answers) for name in answers[0]}
    loop = best.pop("loop")
    return {name: time - loop for name, time in best.items()}


@contextmanager
def workers() -> Iterator[dict[str, subprocess.Popen[str]]]:
    """A process on each Python that has the project's packages."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = ["-m", "benchmarks.python_calls"]
    commands = {here: [sys.executable, *command]}
    if missing_rights() is None:
        for version in SUITES:
            root = root_of(version, default_cache(), mirror="")
            if (root.folder / "venv/bin/python").is_symlink() and version != here:
                inside = {**variables(), "PYTHONPATH": "/project/src:/project"}
                commands[version] = root.command(["python", *command], inside, {PROJECT: "/project"})
    pipe = subprocess.PIPE
    found = {v: subprocess.Popen(c, stdin=pipe, stdout=pipe, text=True, cwd=PROJECT) for v, c in commands.items()}
    try:
        yield found
    finally:
        for worker in found.values():
            worker.kill()
            worker.wait()


def ask(worker: subprocess.Popen[str]) -> dict[str, float]:
    """One round on one Python: ns per call."""
    assert worker.stdin is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    return json.loads(_line(worker))


def _line(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    if not line:
        raise SystemExit(f"{worker.args} ended without an answer")
    return line
