"""The command ``python -m tests.worlds``; see the package."""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from pathlib import Path

from . import __doc__ as about


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m tests.worlds", description=about, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--worlds", type=int, help="how many; 5000 unless --seconds is given")
    parser.add_argument("--seed", type=int, help="of the run; the date, as 20260131, unless given")
    parser.add_argument("--seconds", type=float, help="begin no world after that time")
    parser.add_argument("--world", type=int, metavar="SEED", help="judge one world, and print it")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--folder", type=Path, help="where results are kept; in the folder for temporary files unless given"
    )
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=float("inf"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.world is not None:
        return _one(given.world)
    worlds = given.worlds or (10**6 if given.seconds else 5000)
    if given.worker is not None:
        from .worker import work

        path = given.folder / f"part-{given.worker}-of-{given.processes}.jsonl"
        work(path, given.seed, range(given.worker, worlds, given.processes), given.until)
        return 0
    from .run import Run

    seed = given.seed if given.seed is not None else int(datetime.date.today().strftime("%Y%m%d"))
    print(f"random worlds of seed {seed}", flush=True)
    return Run(worlds, seed, given.processes, given.seconds, given.folder).go()


def _one(seed: int) -> int:
    from .laws import judged

    start = time.perf_counter()
    case = judged(seed)
    print(case.world)
    for text in case.refused:
        print(f"refused: {text}")
    for law, ratio in sorted(case.worst.items(), key=lambda item: -item[1])[:5]:
        print(f"{ratio:.2g} of the tolerance: {law}")
    for text in case.broken:
        print(f"BROKEN {text}")
    print(f"{len(case.broken)} laws broken, {time.perf_counter() - start:.1f} s")
    return int(bool(case.broken))


if __name__ == "__main__":
    sys.exit(main())
