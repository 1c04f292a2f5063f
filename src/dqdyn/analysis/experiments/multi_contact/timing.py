"""How long the control steps of a run take: the kinematic law with its quadratic program."""

from __future__ import annotations

import time

import numpy as np

from dqdyn.analysis.experiments.experiment import Table
from dqdyn.analysis.experiments.multi_contact.runs import Attempt
from dqdyn.analysis.experiments.multi_contact.setting import Setting
from dqdyn.analysis.experiments.multi_contact.strategy import ATTEMPTS, Strategy

_STEPS = 1500  # of each state at most


def step_times(setting: Setting, tried: Attempt) -> Table:
    """Of each state of the maximised attempt, over the configurations that it passed: the least, the median, 99 %."""
    machine = Strategy(setting).machine(ATTEMPTS["maximised"])
    seconds: dict[str, list[float]] = {}
    for t, q in zip(tried.run.time - tried.run.time[0], tried.run.q, strict=True):
        name = machine.state
        if machine.ended or len(seconds.setdefault(name, [])) >= _STEPS:
            continue
        begin = time.perf_counter()
        machine(float(t), q)
        seconds[name].append(time.perf_counter() - begin)
    rows = tuple(
        (name, f"{len(s)}", *(f"{1e3 * x:.3f} ms" for x in (min(s), np.median(s), np.quantile(s, 0.99))))
        for name, s in seconds.items()
        if s
    )
    return Table(
        "Time of a control step, its quadratic program included", ("state", "steps", "least", "median", "99 %"), rows
    )
