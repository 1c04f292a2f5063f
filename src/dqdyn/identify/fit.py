"""From measurements to parameters: least squares over the base parameters, and a robot that can exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dqdyn.errors import StateError
from dqdyn.identify.base import BaseParameters, base_parameters
from dqdyn.identify.columns import TERMS
from dqdyn.identify.consistency import consistent
from dqdyn.identify.factors import Factor, factor
from dqdyn.identify.report import Report, Validation, validation_of
from dqdyn.identify.solution import Solution, require_enough, solve, whitened
from dqdyn.robot import Robot

_STILL = 1e-9  # rad or m, by which a joint that never moves may seem to
_AGAINST = -0.5  # correlation of torques with those the described robot needs, from which their sign is wrong
_FAR = 5.0  # times the noise, from which residuals are not noise
_EXACT = 1e-5  # of the torques: data without noise count no more than this
_UNEXPLAINED = 0.3  # share of the torques that is left over where they are another robot's


def fit(
    robot: Robot,
    data: Any,
    *,
    terms: Iterable[str] = TERMS,
    base: BaseParameters | None = None,
    validation: Any = None,
    prior: float = 1.0,
    check: bool = True,
) -> Report:
    """Parameters of a robot from measured motion and torques.

    ``data``: ``Data(q, v, a, tau, t)`` or a tuple of these arrays, one row per measurement; an iterable of such pieces,
    for data that do not fit into memory; or Dask arrays. They are read once. ``terms``: what the axes add beside the
    bodies' inertias; ``base``, if it is at hand, has them already. ``validation``: data of another motion, on which
    torques are predicted. ``prior``: by how many measurements the described inertias count where the data leave a
    choice. ``check=False`` accepts data that look like those of another robot.
    """
    base = base_parameters(robot, terms) if base is None else base
    found = factor(base, data)
    require_enough(base, found)
    if check:
        _require_motion(robot, found)
        _require_signs(robot, found)
    solution = solve(base, found)
    if check:
        _require_likeness(robot, found, solution)
    size = np.sqrt(found.likeness[1] / found.rows)
    r = whitened(found, 1.0 / np.maximum(solution.noise, _EXACT * size + 1e-12))
    parameters = consistent(base.columns, base.matrix, r[:-1, :-1], r[:-1, -1], prior)
    unseen = None if validation is None else validate(base, solution, validation)
    return Report(base, solution, parameters, found.rows, unseen)


def validate(base: BaseParameters, solution: Solution, data: Any) -> Validation:
    """How well the estimates predict torques that were not used for them."""
    return validation_of(factor(base, data), solution)


def _require_motion(robot: Robot, found: Factor) -> None:
    for joint in robot.joints:
        reach = found.upper[joint.q] - found.lower[joint.q]
        if not joint.is_mimic and joint.motion.nv and reach.max(initial=0.0) < _STILL:
            raise StateError(
                f"joint {joint.name!r} never moves in the data: move it, or identify the robot with it locked.",
                joint=joint.name,
            )


def _require_signs(robot: Robot, found: Factor) -> None:
    both, given, expected = found.likeness
    with np.errstate(all="ignore"):
        correlation = both / np.sqrt(given * expected)
    worst = int(np.nanargmin(correlation)) if np.isfinite(correlation).any() else 0
    if correlation[worst] < _AGAINST:
        name = _joint(robot, worst)
        raise StateError(
            f"the torque of joint {name!r} runs against what {robot.name!r} needs (correlation "
            f"{correlation[worst]:.2f}): turn its sign, check that the data are this robot's, in its order of joints, "
            "or pass check=False if its description is that far off.",
            joint=name,
        )


def _require_likeness(robot: Robot, found: Factor, solution: Solution) -> None:
    noise = np.sqrt(found.noise / found.rows)
    size = np.sqrt(found.likeness[1] / found.rows)
    odd = (solution.noise > _FAR * noise) & (solution.noise > _UNEXPLAINED * size)
    if odd.any():
        worst = int(np.where(odd, solution.noise / np.maximum(noise, 1e-300), 0.0).argmax())
        name = _joint(robot, worst)
        share = solution.noise[worst] / size[worst]
        raise StateError(
            f"no parameters of {robot.name!r} explain the torque of joint {name!r}: {100.0 * share:.0f} % are left, "
            "far above the noise: check that the data are this robot's, in its order of joints and SI units.",
            joint=name,
        )


def _joint(robot: Robot, axis: int) -> str:
    return next(j.name for j in robot.joints if not j.is_mimic and j.v.start <= axis < j.v.stop)
