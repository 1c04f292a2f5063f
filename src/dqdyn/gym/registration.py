"""Names under which Gymnasium makes environments of built-in robots: ``gymnasium.make("dqdyn/Arm7Reach-v0")``."""

from __future__ import annotations

from typing import Any

import gymnasium

from dqdyn import robots
from dqdyn.gym.environment import RobotEnv
from dqdyn.gym.reach import Reach
from dqdyn.gym.swing_up import SwingUp
from dqdyn.gym.task import Task
from dqdyn.gym.vector_environment import RobotVectorEnv
from dqdyn.robot import Robot

NAMES = ("dqdyn/TwoLinkSwingUp-v0", "dqdyn/Arm7Reach-v0")


def _made(name: str) -> tuple[Robot, Task]:
    if name == "TwoLinkSwingUp":
        return robots.two_link(), SwingUp()
    return robots.arm7(), Reach("tool")


def environment(name: str, **options: Any) -> RobotEnv:
    """One environment by the middle of its registered name."""
    return RobotEnv(*_made(name), **options)


def vector_environment(name: str, num_envs: int = 1, **options: Any) -> RobotVectorEnv:
    """Many environments by the middle of their registered name."""
    return RobotVectorEnv(*_made(name), num_envs, **options)


def register() -> None:
    """Make the names known to Gymnasium."""
    for name in NAMES:
        middle = name.partition("/")[2].partition("-")[0]
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="dqdyn.gym.registration:environment",
                vector_entry_point="dqdyn.gym.registration:vector_environment",
                kwargs={"name": middle},
            )
