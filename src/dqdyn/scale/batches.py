"""Batches of runs as tasks for workers, and the plan that they share in each process."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from dqdyn.errors import Error
from dqdyn.scale import disk
from dqdyn.scale.runs import Plan, Some
from dqdyn.scale.store import Store
from dqdyn.scale.workers import require_packages

PACKED = "plan.pickle"
"""The file of a plan that is too large to be sent with every task."""
_KEPT = 4
"""Plans that a process keeps."""
_plans: OrderedDict[str, Plan] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class Job:
    """Computes one batch of runs: task k is part k % parts of the cell k // parts of parameters × controllers."""

    digest: str
    packed: bytes | None
    output: str | None
    cells: tuple[int, int]
    runs: int
    rows: int

    @property
    def parts(self) -> int:
        """Batches of one cell."""
        return -(-self.runs // self.rows)

    @property
    def tasks(self) -> int:
        """Batches in all."""
        return self.cells[0] * self.cells[1] * self.parts

    def place(self, task: int) -> tuple[int, range]:
        """The cell of a task, and its runs there."""
        cell, part = divmod(task, self.parts)
        return cell, range(part * self.rows, min((part + 1) * self.rows, self.runs))

    def plan(self) -> Plan:
        """The plan, as this process has it: its robots and their compiled functions are those of earlier tasks."""
        with _lock:
            found = _plans.get(self.digest)
        if found is None:
            packed = self.packed if self.packed is not None else Path(self.output or "", PACKED).read_bytes()
            found = remember(self.digest, pickle.loads(packed))
        return found

    def __call__(self, task: int) -> Some | int:
        cell, runs = self.place(task)
        some = self.plan().some(*divmod(cell, self.cells[1]), runs)
        if self.output is None:
            return some
        try:
            Store(Path(self.output)).write(task, cell, runs, some)
        except OSError as problem:
            if disk.is_full(problem):
                raise disk.full(Path(self.output)) from None
            raise
        return len(runs)


def remember(digest: str, plan: Plan) -> Plan:
    """The plan that this process has under a digest; the one that was used longest ago is forgotten."""
    with _lock:
        kept = _plans.setdefault(digest, plan)
        _plans.move_to_end(digest)
        while len(_plans) > _KEPT:
            _plans.popitem(last=False)
        return kept


def pickled(plan: Plan) -> bytes:
    """A plan for other processes."""
    require_packages("running on several processes", "cloudpickle")
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(plan))
    except Exception as problem:  # whatever an object of a user raises
        text = f"this sweep cannot be sent to other processes ({problem})"
        raise Error(f"{text}: have controllers made there, by dq.scale.each_run, or pass workers=0.") from None
