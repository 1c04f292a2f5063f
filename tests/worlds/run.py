"""A run over many worlds: processes that are started, watched and started again, and the report at the end."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dqdyn

from .worker import PER_RUN, done, under_way

PATIENCE = 600.0
"""Seconds after which a world counts as hanging."""


class Run:
    """``worlds`` worlds of one seed in ``processes`` processes, results in a folder by seed and version of the code."""

    def __init__(self, worlds: int, seed: int, processes: int, seconds: float | None, folder: Path | None) -> None:
        self.worlds, self.seed, self.processes = worlds, seed, processes
        self.until = time.time() + seconds if seconds else float("inf")
        self.folder = (folder or Path(tempfile.gettempdir()) / "dqdyn-worlds") / f"seed-{seed}-{version()}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.known = len(self.verdicts())

    def file(self, k: int) -> Path:
        return self.folder / f"part-{k}-of-{self.processes}.jsonl"

    def verdicts(self) -> dict[int, dict[str, Any]]:
        """All so far, of this run and of runs that were stopped."""
        found: dict[int, dict[str, Any]] = {}
        for path in self.folder.glob("part-*.jsonl"):
            found |= done(path)
        wanted = range(self.seed * PER_RUN, self.seed * PER_RUN + self.worlds)
        return {seed: line for seed, line in found.items() if seed in wanted}

    def go(self) -> int:
        """Judge all worlds; 1 if any breaks a law, else 0."""
        start = shown = time.time()
        with tempfile.TemporaryDirectory() as cache:
            running = {k: self._started(k, cache) for k in range(self.processes)}
            try:
                while running:
                    time.sleep(0.5)
                    for k, process in list(running.items()):
                        if self._ended(k, process):
                            del running[k]
                            if process.returncode and time.time() < self.until:  # the world at fault has its verdict
                                running[k] = self._started(k, cache)
                    if time.time() >= shown + (1.0 if sys.stdout.isatty() else 30.0):
                        shown = time.time()
                        self._progress(start)
            finally:
                for process in running.values():
                    process.kill()
                    process.wait()
        print()
        return self.report(time.time() - start)

    def _started(self, k: int, cache: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.worlds", "--worker", str(k), "--folder", str(self.folder)]
        command += ["--worlds", str(self.worlds), "--seed", str(self.seed), "--processes", str(self.processes)]
        command += ["--until", str(self.until)]
        one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        return subprocess.Popen(command, env={**os.environ, **one, "DQDYN_CACHE_DIR": cache})

    def _ended(self, k: int, process: subprocess.Popen[bytes]) -> bool:
        """Whether a process is over; what it died of, or hung at, becomes the verdict of its world."""
        if process.poll() is None:
            at = under_way(self.file(k))
            if at is None or time.time() - at[1] < PATIENCE:
                return False
            process.kill()
            process.wait()
        at = under_way(self.file(k))
        if process.returncode and at is None:
            raise SystemExit(f"a process ended with {process.returncode} before it began a world")
        if process.returncode and at is not None:
            text = f"the process ended with {process.returncode} after {time.time() - at[1]:.0f} s"
            line = {"world": at[0], "broken": [text], "refused": [], "worst": {}, "ran": [], "seconds": 0.0}
            with self.file(k).open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
        return True

    def _progress(self, start: float) -> None:
        found = self.verdicts()
        broken = sum(bool(line["broken"]) for line in found.values())
        text = f"{len(found)} of {self.worlds} worlds, {broken} break a law, {time.time() - start:.0f} s"
        print(f"\r{text}" if sys.stdout.isatty() else text, end="" if sys.stdout.isatty() else "\n", flush=True)

    def report(self, seconds: float) -> int:
        """What was found, for people."""
        found = self.verdicts()
        print("\n".join(summary(found, self.seed, self.known, seconds)))
        return int(any(line["broken"] for line in found.values()))


def summary(found: dict[int, dict[str, Any]], seed: int, known: int, seconds: float) -> Iterator[str]:
    """The report, line by line."""
    spent = sum(line["seconds"] for line in found.values())
    yield f"{len(found)} worlds of seed {seed} ({known} of them judged before) in {seconds:.0f} s"
    yield f"{spent / max(len(found), 1):.3f} s of one core for a world"
    ran = Counter(name for line in found.values() for name in line["ran"])
    yield "compared with others: " + (", ".join(f"{name} {n}" for name, n in sorted(ran.items())) or "none")
    refused = Counter(text for line in found.values() for text in line["refused"])
    yield f"{sum(refused.values())} refusals of {len(refused)} kinds"
    yield from (f"  {n:5d}  {text}" for text, n in refused.most_common())
    worst: dict[str, tuple[float, int]] = {}
    for world, line in found.items():
        for law, ratio in line["worst"].items():
            worst[law] = max(worst.get(law, (0.0, 0)), (ratio, world))
    yield "laws nearest to their tolerance:"
    for law, (ratio, world) in sorted(worst.items(), key=lambda item: -item[1][0])[:5]:
        yield f"  {ratio:.2g} of it: {law}, world {world}"
    broken = {world: line["broken"] for world, line in sorted(found.items()) if line["broken"]}
    yield f"{len(broken)} worlds break a law" + (": rerun one by --world SEED" if broken else "")
    for world, texts in broken.items():
        yield f"  {world}: {texts[0].strip().splitlines()[-1]}" + (f" (and {len(texts) - 1} more)" if texts[1:] else "")


def version() -> str:
    """Of dqdyn and of the laws: results of other code are not taken for results of this."""
    here = Path(__file__).parent
    files = sorted([*Path(dqdyn.__file__).parent.rglob("*.py"), *here.glob("*.py")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
