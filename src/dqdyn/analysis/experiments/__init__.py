"""Control experiments of the papers, each a short script that says what it claims and what it measured."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from types import ModuleType

from dqdyn.analysis.experiments import (
    bimanual_cup,
    cup_on_table,
    feet_and_hands,
    mobile_bimanual,
    moving_obstacle,
    pendulum_blow,
    single_arm_cup,
    torque_error,
    two_link,
    walk,
)
from dqdyn.analysis.experiments.experiment import Case, Claim, Drawing, Result, Table
from dqdyn.analysis.experiments.figure_kinds import Bars, Event, Figure, GridMap, Multiples, Picture, PlaneFigure, Span
from dqdyn.analysis.experiments.multi_contact import table as multi_contact_table
from dqdyn.analysis.experiments.multi_contact import wall as multi_contact_wall
from dqdyn.errors import unknown_name
from dqdyn.simulate.problem import positive

__all__ = [
    "EXPERIMENTS",
    "Bars",
    "Case",
    "Claim",
    "Drawing",
    "Event",
    "Figure",
    "GridMap",
    "Multiples",
    "Picture",
    "PlaneFigure",
    "Result",
    "Span",
    "Table",
    "experiment",
    "titles",
]

EXPERIMENTS: dict[str, ModuleType] = {
    module.NAME: module
    for module in (
        moving_obstacle,
        cup_on_table,
        single_arm_cup,
        bimanual_cup,
        mobile_bimanual,
        two_link,
        torque_error,
        feet_and_hands,
        walk,
        multi_contact_table,
        multi_contact_wall,
        pendulum_blow,
    )
}


def titles() -> dict[str, str]:
    """What each experiment is about."""
    return {name: module.TITLE for name, module in EXPERIMENTS.items()}


def experiment(name: str, plant: str | None = None, **options: float) -> Result:
    """Run an experiment by name, on our own dynamics or with ``plant="mujoco"``; ``options`` as duration and steps."""
    if name not in EXPERIMENTS:
        raise unknown_name("experiment", name, EXPERIMENTS)
    run: Callable[..., Result] = EXPERIMENTS[name].experiment
    known = dict(list(signature(run).parameters.items())[1:])  # without the plant
    anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for option, value in options.items():
        if option not in known and not anything:
            raise unknown_name(f"option of the experiment {name!r}", option, known)
        if option == "duration" or option.split("_")[0] == "dt":
            positive(option, value)
    return run(plant, **options)
