"""Times calls of arm7 on the Python that runs this, one round per line of input; :mod:`benchmarks.pythons` asks.

Needs nothing but the installed package: it runs in root folders with little else.
"""

from __future__ import annotations

import json
import sys
import timeit

import numpy as np

import dqdyn as dq

NUMBER = 2000  # calls at a time
STATEMENTS = {
    "loop": "pass",
    "bound, out=": "bound(q, out=out)",
    "plain, out=": "robot.mass_matrix(q, out=out)",
    "bound": "bound(q)",
    "plain": "robot.mass_matrix(q)",
}


def main() -> None:
    """Prints, per line of input, the ns per execution of each statement as JSON; first NumPy's version, when ready."""
    robot = dq.robots.arm7()
    names = {
        "robot": robot,
        "bound": robot.function("mass_matrix"),
        "q": robot.random_configuration(1),
        "out": np.zeros((robot.nv, robot.nv)),
    }
    timers = {name: timeit.Timer(statement, globals=names) for name, statement in STATEMENTS.items()}
    for timer in timers.values():  # compiles, and fills the memory of the methods
        timer.timeit(10)
    print(np.__version__, flush=True)
    for _ in sys.stdin:
        print(json.dumps({name: timer.timeit(NUMBER) / NUMBER * 1e9 for name, timer in timers.items()}), flush=True)


if __name__ == "__main__":
    main()
