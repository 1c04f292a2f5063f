"""Machine code of every robot of example-robot-data, fixed and free, against Pinocchio.

``python -m tests.dynamics.all_compiled`` runs all of them, which takes some minutes for the compiler;
``python -m tests.dynamics.all_compiled --ten`` the ten of ``example_robots.LARGEST``, ``NAME...`` those named, and
``--small NV`` includes bias, Coriolis matrix and derivatives of robots up to that size. The exit code is 1 where one
deviates by more than 1e-9.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

TOLERANCE = 1e-9


def main(arguments: list[str] | None = None) -> int:
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here), str(here.parent)]  # as pytest does
    from compiled_robots import SMALL, compare
    from example_robots import BASES, LARGEST, ROBOTS, robot

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*ROBOTS, []], help="e.g. ur/ur5_robot")
    parser.add_argument("--ten", action="store_true", help="the ten largest and most different robots")
    parser.add_argument(
        "--small", type=int, default=SMALL, metavar="NV", help=f"every function up to this nv ({SMALL})"
    )
    options = parser.parse_args(arguments)
    names = options.names or (LARGEST if options.ten else ROBOTS)
    worst, failed, count = 0.0, [], 0
    for name in names:
        for base in BASES:
            if robot(name, base).nv == 0:
                continue
            outcome = compare(name, base, options.small)
            count += 1
            worst = max(worst, outcome.worst)
            if not outcome.worst <= TOLERANCE:
                failed.append(outcome.name)
            found = "  ".join(f"{f} {deviation:.1e}" for f, deviation in outcome.deviations.items())
            print(f"{outcome.name:50s} nv {outcome.nv:3d}  {outcome.seconds:6.1f} s  {found}", flush=True)
    print(f"{count} robots, largest deviation {worst:.2e}; beyond {TOLERANCE:g}: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
