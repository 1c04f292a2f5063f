"""Functions of a robot compiled before they are needed, several at a time.

One thread traces, which is Python and admits no other; LLVM compiles what was traced before on the other cores.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from dqdyn.compile.runtime.compiler import cores
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.process_lock import LOCK
from dqdyn.errors import Error
from dqdyn.progress import Progress
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.options import DEFAULTS, FRAMES, Options
from dqdyn.robot.robot_function import RobotFunction

Wanted = str | tuple[str, Mapping[str, Any]]
"""The name of a function, "name:frame", or its name and options."""


@dataclass(frozen=True)
class CompiledFunction:
    """One function: its operations, and the seconds to trace it and, of processor time, to compile it."""

    function: str
    frames: tuple[str, ...]
    operations: int
    tracing: float
    llvm: float
    from_cache: bool
    problem: str = ""
    """Why the robot does not have it."""

    @property
    def name(self) -> str:
        """With its frames, as it is asked for."""
        return self.function + (f":{','.join(self.frames)}" if self.frames else "")


@dataclass(frozen=True, repr=False)
class CompiledAhead:
    """What was compiled, in the order of tracing, and the seconds that all of it took; prints as a table."""

    robot: str
    functions: tuple[CompiledFunction, ...]
    batches: bool
    seconds: float

    def __str__(self) -> str:
        done = [f for f in self.functions if not f.problem]
        rows = [("function", "operations", "tracing", "LLVM", "from")]
        rows += [
            (f.name, str(f.operations), f"{f.tracing:.3f} s", f"{f.llvm:.3f} s", "cache" if f.from_cache else "source")
            for f in done
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{row[0]:<{widths[0]}}  " + "  ".join(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))
            for row in rows
        ]
        what = "single states and batches" if self.batches else "single states"
        lines.append(f"{len(done)} functions of {self.robot!r} for {what} in {self.seconds:.2f} s.")
        lines += [f"Without {f.name}: {f.problem}" for f in self.functions if f.problem]
        return "\n".join(lines)

    __repr__ = __str__


def compile_ahead(
    functions: CompiledFunctions,
    wanted: Iterable[Wanted] | None = None,
    batches: bool = False,
    progress: bool | None = None,
) -> CompiledAhead:
    """Compile functions on all cores; None: all that need no frame and that the robot can have."""
    start = time.perf_counter()
    table = functions.variables.functions
    if wanted is None:
        entries = [(f, DEFAULTS) for f in table.values() if not any(frame in f.options for frame in FRAMES)]
    else:
        entries = [functions.named(*_with_options(table, item)) for item in _listed(wanted)]
    rows: list[CompiledFunction] = []
    with LOCK, ThreadPoolExecutor(cores(), "dqdyn-compile") as executor:  # a fork waits until all of it is done
        bar = Progress(2 * len(entries), f"compiling {functions.variables.model.name}", progress)
        started: list[tuple[RobotFunction, Options, Function]] = []
        try:
            with bar:
                for k, (function, options) in enumerate(entries):
                    try:
                        if wanted is None:
                            function, options = functions.named(function.name, {})
                        compiled = functions.get(function, options)
                    except Error as error:
                        if wanted is not None:
                            raise _named(error, function) from error
                        rows.append(_row(function, options, problem=str(error)))
                        continue
                    compiled.start(executor, batches)
                    started.append((function, options, compiled))
                    bar.at(k + 1)
                for k, (function, options, compiled) in enumerate(started):
                    compiled.finish(batches)
                    made = functions.made.get((function.name, options), (0.0, False))
                    rows.append(_row(function, options, compiled, *made))
                    bar.at(len(entries) + k + 1)
        except BaseException:  # Ctrl-C, too: nobody waits for what was never begun
            executor.shutdown(wait=True, cancel_futures=True)
            for _, _, compiled in started:
                compiled.abandon()
            raise
    return CompiledAhead(functions.variables.model.name, tuple(rows), batches, time.perf_counter() - start)


def _row(
    function: RobotFunction,
    options: Options,
    compiled: Function | None = None,
    tracing: float = 0.0,
    known: bool = False,
    problem: str = "",
) -> CompiledFunction:
    frames = tuple(getattr(options, name).name for name in FRAMES if getattr(options, name) is not None)
    if compiled is None:
        return CompiledFunction(function.name, frames, 0, 0.0, 0.0, False, problem)
    libraries = compiled.libraries()
    from_cache = all(library.from_cache for library in libraries) if libraries else known
    llvm = sum(library.seconds for library in libraries)
    return CompiledFunction(function.name, frames, compiled.counts.total, tracing, llvm, from_cache)


def _named(error: Error, function: RobotFunction) -> Error:
    """The error, which says which function it is about."""
    text = str(error)
    return error if function.name in text else type(error)(f"{function.name}: {text}", **error.data)


def _listed(wanted: Any) -> list[Any]:
    if isinstance(wanted, (str, Mapping)) or not isinstance(wanted, Iterable):
        raise Error(f"robot.compile takes a list of functions, as ['inverse_dynamics', 'pose:tool']; found {wanted!r}.")
    return list(wanted)


def _with_options(table: Mapping[str, RobotFunction], item: Any) -> tuple[str, Mapping[str, Any]]:
    """Name and options of ``"pose"``, ``"pose:tool"``, ``"relative_pose:left,right"`` or ``("pose", {…})``."""
    if isinstance(item, str):
        name, colon, frames = item.partition(":")
        function = table.get(name)
        asked: Sequence[str] = [] if function is None else [frame for frame in FRAMES if frame in function.options]
        given = frames.split(",") if len(asked) > 1 else [frames] if colon else []
        if colon and function is not None and len(given) != len(asked):
            takes = f"{len(asked)} frames, as {name}:left,right" if asked else "no frame"
            raise Error(f"{name} takes {takes}; found {item!r}.", function=name)
        return name, dict(zip(asked, given, strict=True)) if colon and function is not None else {}
    from dqdyn.robot.export import name_and_options

    return name_and_options(item)
