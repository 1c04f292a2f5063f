"""A sweep as a file: TOML with the arguments of ``dq.sweep``; whatever it does not know is an error."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.errors import Error, unknown_name
from dqdyn.robot import Robot
from dqdyn.simulate.problem import shown

PASSED = ("duration", "dt", "every", "integrator", "efforts", "stiction", "seeds", "seed", "trajectories", "batch")
"""Keys that ``dq.sweep`` takes as they are."""
KEYS = ("robot", "base", "states", "parameters", "controllers", "limits", "output", *PASSED)
STATES = ("q", "v", "random", "speed")
PARAMETERS = ("payload", "gravity", "friction")
PAYLOAD = ("frame", "mass", "com", "inertia")
LIMITS = {"report": None, "stop": True, "ignore": False}


@dataclass(frozen=True)
class Spec:
    """What a file says: the robot as it is named there, names of controllers, and arguments of ``dq.sweep``."""

    robot: str
    base: str | None
    controllers: tuple[str, ...]
    output: Path | None
    arguments: Mapping[str, Any]
    states: Mapping[str, Any]
    parameters: Mapping[str, Mapping[str, Any]]

    def sweep_arguments(self, robot: Robot) -> dict[str, Any]:
        """States and parameters for a robot, and what is passed on."""
        cases = {name: changed(name, given) for name, given in self.parameters.items()} or None
        return {**self.arguments, "states": _states(robot, self.states), "parameters": cases}


def read(path: Path) -> Spec:
    """The spec in a file."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise Error(f"{str(path)!r} cannot be read: {problem.strerror}.", file=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise Error(f"{str(path)!r} is not TOML: {problem}.", file=str(path)) from None
    _require_known(given, KEYS, "key of a sweep")
    if not isinstance(given.get("robot"), str):
        raise Error(f'{str(path)!r} names no robot: write robot = "arm7", or a file.', file=str(path))
    robot = given["robot"]
    if Path(robot).suffix and (path.parent / robot).exists():
        robot = str(path.parent / robot)
    states = _table(given, "states")
    _require_known(states, STATES, "key of states")
    parameters = _table(given, "parameters")
    for name, case in parameters.items():
        _require_known(_table(parameters, name), PARAMETERS, f"key of parameters.{name}")
        if "payload" in case:
            _require_known(_table(case, "payload"), PAYLOAD, f"key of parameters.{name}.payload")
    arguments = {key: given[key] for key in PASSED if key in given}
    if "limits" in given:
        if given["limits"] not in LIMITS:
            raise unknown_name("treatment of limits", given["limits"], LIMITS)
        arguments["limits"] = LIMITS[given["limits"]]
    controllers = given.get("controllers", ["none"])
    if not isinstance(controllers, list) or not all(isinstance(name, str) for name in controllers):
        raise Error(f'controllers is a list of names, as ["none", "hold"]; found {shown(controllers)}.')
    output = path.parent / given["output"] if "output" in given else None
    return Spec(robot, given.get("base"), tuple(controllers), output, arguments, states, parameters)


def changed(name: str, given: Mapping[str, Any]) -> Callable[..., Robot]:
    """A parameter case: what changes a robot. A pair [low, high] of masses is drawn between them for every seed."""

    def change(robot: Robot, rng: np.random.Generator | None = None) -> Robot:
        if "payload" in given:
            payload = dict(given["payload"])
            if not {"frame", "mass"} <= set(payload):
                raise Error(f"the payload of {name!r} needs a frame and a mass.", parameters=name)
            if isinstance(payload["mass"], list):
                assert rng is not None
                payload["mass"] = rng.uniform(*payload["mass"])
            robot = robot.with_payload(**payload)
        if "gravity" in given:
            robot = robot.with_gravity(given["gravity"])
        return robot if given.get("friction", True) else robot.without_friction()

    mass = given.get("payload", {}).get("mass")
    if not isinstance(mass, list):
        return lambda robot: change(robot)
    if len(mass) != 2 or not all(isinstance(bound, (int, float)) for bound in mass):
        raise Error(f"the mass of {name!r} is a number, or [low, high] to draw from; found {shown(mass)}.")
    return lambda robot, rng: change(robot, rng)


def _states(robot: Robot, given: Mapping[str, Any]) -> Any:
    """Initial states as ``dq.sweep`` takes them."""
    if not given.get("random", False):
        if "speed" in given:
            raise Error("speed is the deviation of random velocities: write random = true, or give v.")
        q, v = given.get("q", robot.neutral()), given.get("v", np.zeros(robot.nv))
        return None if not given else (np.asarray(q, dtype=float), np.asarray(v, dtype=float))
    if "q" in given or "v" in given:
        raise Error("states are either random or given by q and v: leave out one of them.")
    speed = float(given.get("speed", 0.0))

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        return robot.random_configuration(rng), speed * rng.normal(size=robot.nv)

    return draw


def _table(given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = given.get(key, {})
    if not isinstance(found, dict):
        raise Error(f"{key} is a table, as [{key}] with lines below it; found {shown(found)}.", key=key)
    return found


def _require_known(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """An error for a key that means nothing: a misspelt one would silently be left out."""
    known = list(known)
    for key in given:
        if key not in known:
            raise unknown_name(what, key, known, room=20)
