"""Several functions of a robot as one program, which computes once what they share."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dqdyn.compile.codegen.results import ResultForm
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.named_results import are_fields
from dqdyn.compile.trace.merge import merged
from dqdyn.compile.trace.program import Program
from dqdyn.errors import Error
from dqdyn.model.model import Frame
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import RobotFunction
from dqdyn.robot.variables import Verify

_FIRST = ("q", "q1", "v", "qd", "u", "a", "qdd", "u_rate", "tau", "forces")
"""Inputs that come first, in this order; all others follow in the order of the functions."""
_MEANINGS = {
    "wrenches": ("wrench_frames", "wrench_expressed"),
    "contact_forces": ("contacts",),
    **dict.fromkeys(("point", "line", "plane", "goal"), ("frame",)),
}
"""Options that say what an input means: functions that share it must agree on them."""


@dataclass(frozen=True)
class JointEntry:
    """One of several functions, and the name of its result, if it was given one."""

    function: RobotFunction
    options: Options
    field: str | None = None

    @property
    def label(self) -> str:
        """Such as "twist_jacobian:hand"."""
        frame = self.options.frame
        return self.function.name + (f":{frame.name}" if isinstance(frame, Frame) else "")


class JointFunction(Function):
    """A function of several entries."""

    entries: tuple[JointEntry, ...] = ()


def read_entries(functions: CompiledFunctions, wanted: Any) -> list[JointEntry]:
    """The functions in a list or dict, checked."""
    if not isinstance(wanted, (Sequence, Mapping)) or isinstance(wanted, (str, bytes)):
        raise Error(f"functions are a name, or a list or dict of names, as in ['mass_matrix']; found {wanted!r}.")
    if not wanted:
        raise Error("the list of functions is empty: name at least one, as in ['mass_matrix', 'bias_forces'].")
    if isinstance(wanted, Mapping):
        if not all(isinstance(name, str) for name in wanted) or not are_fields(list(wanted)):
            text = "names of results are Python identifiers without a leading underscore, other than count and index"
            raise Error(f"{text}; found {', '.join(map(repr, wanted))}.", names=list(wanted))
        return [JointEntry(*functions.named(*_with_options(item)), name) for name, item in wanted.items()]
    return [JointEntry(*functions.named(*_with_options(item))) for item in wanted]


def _with_options(item: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(item, str):
        name, colon, frame = item.partition(":")
        return name, {"frame": frame} if colon else {}
    if isinstance(item, Sequence) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], Mapping):
        return item[0], item[1]
    raise Error(
        f"a function is 'name', 'name:frame' or a pair as ('twist', {{'frame': 'hand'}}); found {item!r}.", found=item
    )


def joint_function(functions: CompiledFunctions, entries: Sequence[JointEntry]) -> JointFunction:
    """One program of all entries, compiled at first use."""
    variables = functions.variables
    _require_agreement(entries)
    names = _inputs(entries)
    sizes = [(name, _size(functions, entries, name)) for name in names]
    checks = [(variables.require(e.function, e.options), e.function.all_inputs(e.options)) for e in entries]
    verify = _verify(names, [(check, inputs) for check, inputs in checks if check is not None])
    labels = [entry.label for entry in entries]
    chosen = _cheapest("+".join(labels), sizes, [functions.programs(e.function, e.options) for e in entries])
    program = merged("+".join(labels), sizes, chosen)
    parts = tuple(p.shape for p in chosen)
    form = ResultForm(parts, is_tuple=True, fields=_fields(entries))
    firsts = itertools.accumulate((p.size for p in chosen), initial=0)
    pairs = [(first, e.function.refuses, e) for first, e in zip(firsts, entries, strict=False)]
    result = JointFunction(
        program,
        partial(variables.read, program),
        variables.unit_quaternions(names),
        f"({', '.join(labels)}) in one program.",
        numbers=variables.times(names),
        verify=verify,
        refusals={first: refuses(e.function, e.options) for first, refuses, e in pairs if refuses is not None},
        native=variables.native,
        parts=parts,
        forms={"call": form},
    )
    result.entries = tuple(entries)
    return result


def _cheapest(name: str, sizes: list[tuple[str, int]], candidates: list[list[Program]]) -> list[Program]:
    """Of each function the candidate with which all of them together take the fewest operations.

    A candidate shares work with others where both use the same frames, so the cheapest alone need not be the best here.
    From those that are, one function after the other tries its other candidates, the longest first.
    """
    chosen = [min(programs, key=_operations) for programs in candidates]
    fewest = _operations(merged(name, sizes, chosen))
    for i in sorted(range(len(chosen)), key=lambda i: -_operations(chosen[i])):
        for program in candidates[i]:
            if program is chosen[i]:
                continue
            trial = [*chosen[:i], program, *chosen[i + 1 :]]
            count = _operations(merged(name, sizes, trial))
            if count < fewest:
                chosen, fewest = trial, count
    return chosen


def _operations(program: Program) -> int:
    return program.counts.total


def _inputs(entries: Sequence[JointEntry]) -> list[str]:
    """The inputs of all functions, each once."""
    found = dict.fromkeys(name for entry in entries for name in entry.function.all_inputs(entry.options))
    return [*(name for name in _FIRST if name in found), *(name for name in found if name not in _FIRST)]


def _size(functions: CompiledFunctions, entries: Sequence[JointEntry], name: str) -> int:
    owner = next(entry for entry in entries if name in entry.function.all_inputs(entry.options))
    return functions.variables.size(name, owner.options)


def _require_agreement(entries: Sequence[JointEntry]) -> None:
    """An error where an input would mean different things to two functions."""
    for name, options in _MEANINGS.items():
        users = [entry for entry in entries if name in entry.function.all_inputs(entry.options)]
        for option in options:
            if len({getattr(user.options, option) for user in users}) > 1:
                asked = " and ".join(user.label for user in users[:2])
                raise Error(
                    f"{asked} take {name} with different {option}: bind them one by one, or agree on {option}.",
                    argument=name,
                    option=option,
                )


def _fields(entries: Sequence[JointEntry]) -> tuple[str, ...]:
    """Names of the results: those given, or those of the functions where these differ; else none."""
    names = [entry.field or entry.function.name for entry in entries]
    repeated = {name for name in names if names.count(name) > 1}
    names = [
        entry.label.replace(":", "_") if name in repeated else name for entry, name in zip(entries, names, strict=True)
    ]
    return tuple(names) if are_fields(names) else ()


def _verify(names: list[str], checks: Sequence[tuple[Verify, tuple[str, ...]]]) -> Verify | None:
    """All that a state must fulfil, from the inputs of all functions."""
    if not checks:
        return None
    places = [(check, [names.index(name) for name in inputs]) for check, inputs in checks]

    def verify(arrays: list[np.ndarray]) -> None:
        for check, at in places:
            check([arrays[i] for i in at])

    alone = [getattr(check, "alone", None) for check, _ in places]
    if len(places) == 1 and alone[0] is not None:
        verify.alone = places[0][1][alone[0]]  # type: ignore[attr-defined]
    return verify
