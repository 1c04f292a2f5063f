"""What the sides of peers in ``benchmarks.whole_body`` share; with the standard library and NumPy only."""

from __future__ import annotations

import json
import sys
import time
from abc import ABC, abstractmethod
from importlib.metadata import version
from typing import Any

import numpy as np


class PeerTalos(ABC):
    """The Talos in a peer, which steps through the states of a problem again and again.

    A class of this kind is made from the robot's file, the problem, and "hard" or "soft": whether its feet are
    constraints or tasks.
    """

    states: int
    at = 0

    @abstractmethod
    def __init__(self, urdf: str, problem: dict[str, Any], feet: str) -> None: ...

    @abstractmethod
    def solve(self, i: int) -> Any:
        """One control step: state i and its references, then the torques."""

    @abstractmethod
    def check(self) -> str:
        """The size of the problem, after all states; an error where an answer breaks limits or misses the motion."""

    def seconds(self, steps: int) -> float:
        """What some steps take."""
        start = time.perf_counter()
        for k in range(self.at, self.at + steps):
            self.solve(k % self.states)
        self.at += steps
        return time.perf_counter() - start


def layout(problem: dict[str, Any], q: np.ndarray, v: np.ndarray) -> None:
    """The base as Pinocchio has it: translation first, quaternions with w last, the linear part of twists first."""
    base, twist = problem["base"], problem["base_twist"]
    q[:, :3], q[:, 3:6], q[:, 6] = base[:, 4:], base[:, 1:4], base[:, 0]
    v[:, :3], v[:, 3:6] = twist[:, 3:], twist[:, :3]


def serve(package: str, kind: type[PeerTalos]) -> None:
    """``python peer.py ROBOT.urdf PROBLEM.npz``: answer the lines of standard input by lines of JSON.

    "hard 200" and "soft 200" by the seconds that 200 steps took, "check" by the sizes of both problems.
    """
    with np.load(sys.argv[2]) as stored:
        problem = {name: stored[name] if stored[name].ndim else stored[name].item() for name in stored}
    both = {feet: kind(sys.argv[1], problem, feet) for feet in ("hard", "soft")}
    print(json.dumps(version(package)), flush=True)
    for line in sys.stdin:
        what, *steps = line.split()
        if what == "check":
            answer: Any = {feet: talos.check() for feet, talos in both.items()}
        else:
            answer = both[what].seconds(int(steps[0]))
        print(json.dumps(answer), flush=True)
