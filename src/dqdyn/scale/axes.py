"""The axes of a sweep: parameters × controllers × states × seeds, and what a seed draws.

A seed is an index n: whatever a run draws comes from the n-th child of the sweep's seed sequence, in a stream of its
own for states, parameters and controllers. So runs with the same seed meet the same draws under every controller, and
any run can be had again alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, StateError
from dqdyn.robot import Robot
from dqdyn.robot.control_law import ControlLaw
from dqdyn.robot.state import as_state
from dqdyn.simulate.problem import shown

AXES = ("parameters", "controllers", "states", "seeds")
"""The axes of results, in their order."""
_STREAMS = {"states": 0, "parameters": 1, "controllers": 2}
Draw = Callable[[np.random.Generator], Any]
"""``draw(rng)`` gives (q0, v0)."""
Case = Robot | Callable[..., Robot]
"""A robot; a function (robot) → robot; or one (robot, rng) → robot, which draws another robot for every seed."""


def generator(seed: int, index: int, purpose: str) -> np.random.Generator:
    """What the seed ``index`` of a sweep draws from, for "states", "parameters" or "controllers".

    It is ``SeedSequence(seed).spawn(n)[index].spawn(3)[k]`` for any n above the index.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, _STREAMS[purpose])))


@dataclass(frozen=True)
class EachRun:
    """A controller for every run: ``make(robot, q0, v0, rng)``; the runs are then simulated one by one."""

    make: Callable[[Robot, Array, Array, np.random.Generator], Any]


def each_run(make: Callable[[Robot, Array, Array, np.random.Generator], Any]) -> EachRun:
    """Controllers of a sweep that depend on the run: ``make(robot, q0, v0, rng)`` gives one for each.

    The robot is that of the run. Runs under such controllers are simulated one by one, not in native batches.
    """
    if not callable(make):
        raise Error(f"each_run takes a function (robot, q0, v0, rng) -> controller; found {shown(make)}.")
    return EachRun(make)


@dataclass(frozen=True)
class Batched:
    """A controller in Python that takes a batch of runs at once."""

    controller: Any


def batched(controller: Any) -> Batched:
    """A controller of a sweep, in Python, that takes all runs of a batch at once: q (B, nq), v (B, nv) → (B, nv).

    Other functions and objects are asked for one run at a time, and their runs are simulated one by one.
    """
    if not callable(controller) and not callable(getattr(controller, "step", None)):
        raise Error(f"batched takes a function (t, q, v) or an object with step(t, q, v); found {shown(controller)}.")
    return Batched(controller)


def takes_batches(controller: Any) -> bool:
    """Whether a controller serves all runs of a batch: it is compiled, given numbers, or says that it takes them."""
    if controller is None or isinstance(controller, (ControlLaw, Batched, np.ndarray)):
        return True
    return not isinstance(controller, EachRun) and not callable(getattr(controller, "step", controller))


def labelled(what: str, given: Any, single: str) -> dict[str, Any]:
    """Values of an axis by their names: those of a mapping, or numbers; one value alone is named ``single``."""
    if isinstance(given, Mapping):
        named = {str(name): value for name, value in given.items()}
    elif isinstance(given, Sequence) and not isinstance(given, str):
        named = {str(k): value for k, value in enumerate(given)}
    else:
        named = {single: given}
    if not named:
        raise Error(f"{what} is empty: give one or leave it out.", argument=what)
    return named


def draws(case: Case) -> bool:
    """Whether a parameter case is another robot for every seed."""
    if isinstance(case, Robot):
        return False
    if not callable(case):
        raise Error(f"parameters are robots or functions (robot) or (robot, rng) -> robot; found {shown(case)}.")
    return len(inspect.signature(case).parameters) > 1


def built(name: str, case: Any, robot: Robot, *rng: np.random.Generator) -> Robot:
    """The robot of a case; an error that names the case."""
    try:
        result = case if isinstance(case, Robot) else case(robot, *rng)
    except Error as error:
        raise type(error)(f"parameters {name!r}: {error}", **error.data) from None
    if not isinstance(result, Robot):
        raise Error(f"parameters {name!r} give a robot, as robot.with_payload(...) does; found {shown(result)}.")
    if (result.nq, result.nv) != (robot.nq, robot.nv):
        sizes = f"nq = {result.nq} and nv = {result.nv}, not {robot.nq} and {robot.nv}"
        raise Error(f"parameters {name!r} give a robot with {sizes}: parameters keep the joints.")
    return result


@dataclass(frozen=True)
class States:
    """Initial states: ``q`` (S, nq) and ``v`` (S, nv), or one that ``draw`` gives for every seed."""

    q: Array
    v: Array
    draw: Draw | None = None

    @classmethod
    def of(cls, robot: Robot, given: Any) -> States:
        """States from None (neutral, at rest), "random" (within limits, at rest), q, (q, v) or a function of rng."""
        q, v = robot.neutral()[None], np.zeros((1, robot.nv))
        if given is None:
            return cls(q, v)
        if isinstance(given, str):
            if given != "random":
                raise Error(f'states are arrays, "random" or a function of rng; found {given!r}.', argument="states")
            return cls(q, v, at_random(robot))
        if callable(given):
            return cls(q, v, given)
        pair = given if isinstance(given, tuple) and len(given) == 2 else (given, np.zeros(robot.nv))
        arrays = [np.atleast_2d(as_state(robot.model, name, x)) for name, x in zip("qv", pair, strict=True)]
        try:
            (count,) = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        except ValueError:
            found = " and ".join(str(array.shape) for array in arrays)
            raise StateError(f"states are q (S, nq), or q and v with equally many rows; found {found}.") from None
        q, v = (np.ascontiguousarray(np.broadcast_to(array, (count, array.shape[-1]))) for array in arrays)
        return cls(q, v)

    def __len__(self) -> int:
        return len(self.q)


def drawn_state(robot: Robot, draw: Draw, rng: np.random.Generator) -> tuple[Array, Array]:
    """(q0, v0) of one run; a function may give q0 alone, for a robot at rest."""
    given = draw(rng)
    q, v = given if isinstance(given, tuple) else (given, np.zeros(robot.nv))
    return np.asarray(q, dtype=float), np.asarray(v, dtype=float)


def at_random(robot: Robot) -> Draw:
    """A configuration within the limits of a robot, at rest."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array]:
        return robot.random_configuration(rng), np.zeros(robot.nv)

    return draw
