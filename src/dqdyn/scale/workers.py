"""Where tasks run: in this process, in processes of this machine, or on the workers of a Dask scheduler.

Dask does the scheduling: it hands tasks to workers, and hands those of a worker that died to others.
"""

from __future__ import annotations

import logging
import os
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from itertools import islice
from typing import Any
from uuid import uuid4

from dqdyn.errors import Error, missing_extra

Job = Callable[[int], Any]
"""What computes a task, given its number; it pickles, and computing a task twice does no harm."""
_CONNECT, _WORKERS = 10.0, 60.0
"""s to wait for a scheduler, and for the first of its workers."""
_ORPHANED = 120
"""s after which processes of this machine end that have lost the one that started them."""
_AHEAD = 8
"""Bundles per thread that the scheduler knows at a time: enough to keep workers busy, whatever the number of tasks."""
_SHARES, _LONGEST = 20, 64
"""Where there are many tasks, they are bundled: so many bundles for each thread at least, and so many tasks in each at
most. A scheduler handles some hundred bundles a second, whatever their length."""


class WorkersLostError(Error):
    """The scheduler, or worker after worker, was lost; carries ``scheduler``. What was completed stays complete."""


def require_packages(purpose: str, *packages: str) -> None:
    """An error with the remedy where an optional package is missing."""
    for package in packages:
        if find_spec(package) is None:
            raise missing_extra(package, "scale", purpose)


def results(
    job: Job, tasks: Sequence[int], scheduler: str | None = None, workers: int | None = None
) -> Iterator[tuple[int, Any]]:
    """(task, result) of all tasks, as they are completed.

    ``scheduler`` is an address such as "tcp://10.0.0.1:8786". Without one, ``workers`` processes are started on this
    machine, one per processor by default; 0 computes in this process and needs no Dask.
    """
    if scheduler is not None and workers is not None:
        raise Error("workers are those of the scheduler: leave out one of scheduler=... and workers=...")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 0):
        raise Error(f"workers is how many processes to start, 0 for none; found {workers!r}.", argument="workers")
    if not tasks:
        return
    if workers == 0 and scheduler is None:
        for task in tasks:
            yield task, job(task)
        return
    require_packages("running on several processes", "dask", "distributed")
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        client = _started(workers, stack) if scheduler is None else stack.enter_context(_connected(scheduler))
        yield from submitted(client, job, tasks, scheduler)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the log of Dask's client, which shows tracebacks where a connection ends; errors say it in a sentence."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def _connected(scheduler: str) -> Any:
    """A client of a scheduler that has workers."""
    from distributed import Client

    start = "start one with 'dask scheduler' and workers with 'dask worker ADDRESS --nthreads 1'"
    try:
        client = Client(scheduler, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:  # of a host that is silent; of what is not an address
        text = f"no Dask scheduler answers at {scheduler!r} ({type(problem).__name__})"
        remedy = f"{start}, or leave out the scheduler to use processes of this machine"
        raise WorkersLostError(f"{text}: {remedy}.", scheduler=scheduler) from None
    try:
        client.wait_for_workers(1, timeout=_WORKERS)
    except TimeoutError:
        client.close()
        text = f"the scheduler at {scheduler!r} has no workers: start some with 'dask worker {scheduler} --nthreads 1'."
        raise WorkersLostError(text, scheduler=scheduler) from None
    return client


def _started(workers: int | None, stack: ExitStack) -> Any:
    """A client of processes of this machine. They do not import the main module, so that any script may start them."""
    from distributed import Client, LocalCluster
    from distributed.deploy.subprocess import SubprocessCluster

    given: dict[str, Any] = {"host": "127.0.0.1", "threads_per_worker": 1, "dashboard_address": None}
    given["silence_logs"] = logging.CRITICAL  # errors of tasks are raised here
    if os.name == "nt":
        cluster = LocalCluster(n_workers=workers or _processors(), **given)
    else:  # if this process is killed, they end by themselves
        given |= {"scheduler_kwargs": {"idle_timeout": _ORPHANED}, "worker_kwargs": {"death_timeout": _ORPHANED}}
        cluster = SubprocessCluster(n_workers=workers or _processors(), **given)
    return stack.enter_context(Client(stack.enter_context(cluster), set_as_default=False))


def _processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def submitted(client: Any, job: Job, tasks: Sequence[int], scheduler: str | None = None) -> Iterator[tuple[int, Any]]:
    """(task, result) as they are completed by a client of Dask; its scheduler knows some of them at a time."""
    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    lost = f"the scheduler {'' if scheduler is None else f'at {scheduler!r} '}was lost"
    token = uuid4().hex
    waiting: Iterator[tuple[int, ...]] = iter(())
    bundles: dict[Any, Sequence[int]] = {}

    def some(count: int) -> list[Any]:
        chosen = {f"{type(job).__name__}-{token}-{bundle[0]}": bundle for bundle in islice(waiting, count)}
        bundles.update(chosen)
        return [client.submit(bundled, job, bundle, key=key) for key, bundle in chosen.items()]

    try:
        threads = sum(client.nthreads().values())
        size = max(1, min(_LONGEST, len(tasks) // (_SHARES * max(1, threads))))
        waiting = (tuple(tasks[i : i + size]) for i in range(0, len(tasks), size))
        running = as_completed(some(max(_AHEAD * threads, 2)), raise_errors=False, loop=client.loop)
        for completed in running.batches():
            for future in completed:
                if future.status in ("cancelled", "lost"):
                    raise _lost(lost, scheduler)
                error = future.exception() if future.status == "error" else None
                if isinstance(error, KilledWorker):
                    part = bundles[future.key][0]
                    raise _lost(f"every worker that took part {part} was lost, perhaps for want of memory", scheduler)
                if error is not None:
                    raise error
            running.update(some(len(completed)))
            for future, found in zip(completed, client.gather(completed), strict=True):
                yield from zip(bundles.pop(future.key), found, strict=True)
    except (CommClosedError, CancelledError):
        raise _lost(lost, scheduler) from None


def bundled(job: Job, tasks: Sequence[int]) -> list[Any]:
    """Some tasks one after the other, as one for the scheduler."""
    return [job(task) for task in tasks]


def _lost(what: str, scheduler: str | None) -> WorkersLostError:
    remedy = "start it again and run the same again, which computes only what is missing"
    return WorkersLostError(f"{what}: {remedy}.", scheduler=scheduler)
