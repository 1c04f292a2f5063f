"""Gymnasium environments from a robot and a task, one or thousands at a time.

>>> import dqdyn as dq
>>> environment = dq.gym.make(dq.robots.two_link(), dq.gym.SwingUp())  # doctest: +SKIP
>>> many = dq.gym.make_vec(dq.robots.arm7(), dq.gym.Reach("tool"), 1024, threads=2)  # doctest: +SKIP

Importing this registers ``dqdyn/TwoLinkSwingUp-v0`` and ``dqdyn/Arm7Reach-v0`` with Gymnasium, if it is installed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from dqdyn.errors import missing_extra
from dqdyn.gym.reach import Reach
from dqdyn.gym.swing_up import SwingUp
from dqdyn.gym.task import Observed, Task
from dqdyn.robot import Robot

__all__ = ["Observed", "Reach", "SwingUp", "Task", "make", "make_vec"]


def make(robot: Robot, task: Task, **options: Any) -> Any:
    """A ``gymnasium.Env``; ``options`` are those of :class:`dqdyn.gym.setting.Setting`, and ``render_mode``."""
    _require()
    from dqdyn.gym.environment import RobotEnv

    return RobotEnv(robot, task, **options)


def make_vec(robot: Robot, task: Task, num_envs: int, **options: Any) -> Any:
    """A ``gymnasium.vector.VectorEnv`` of ``num_envs`` environments that are computed as one batch."""
    _require()
    from dqdyn.gym.vector_environment import RobotVectorEnv

    return RobotVectorEnv(robot, task, num_envs, **options)


def _require() -> None:
    try:
        import gymnasium  # noqa: F401
    except ImportError:
        raise missing_extra("gymnasium", "gym", "dqdyn.gym") from None


with suppress(ImportError):
    from dqdyn.gym.registration import register

    register()
