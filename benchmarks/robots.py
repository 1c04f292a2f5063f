"""The robots that benchmarks use, here and in the peers."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

PANDA = "panda_description/urdf/panda.urdf"
TALOS = "talos_data/robots/talos_reduced.urdf"


def example_robots() -> Path:
    """The folder of the package example-robot-data."""
    folders = (Path(entry) / "cmeel.prefix/share/example-robot-data/robots" for entry in sys.path)
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise SystemExit("example-robot-data is not installed: pip install 'dqdyn[test]'")
    return found


def panda() -> tuple[Any, Any]:
    """The Panda with both fingers locked at 0: our robot and Pinocchio's model. Friction is left out of both."""
    import pinocchio

    import dqdyn as dq

    path = example_robots() / PANDA
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        robot = dq.load(path).without_friction()
    fingers = [joint.name for joint in robot.joints if "finger" in joint.name]
    model = pinocchio.buildModelFromUrdf(str(path))
    ids = [model.getJointId(name) for name in fingers]
    return robot.lock(dict.fromkeys(fingers, 0.0)), pinocchio.buildReducedModel(model, ids, pinocchio.neutral(model))


def talos() -> tuple[Any, Any]:
    """The reduced Talos on a free base: our robot and Pinocchio's model."""
    import pinocchio

    import dqdyn as dq

    path = example_robots() / TALOS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        robot = dq.load(path, base="free").without_friction()
    return robot, pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())


def panda_of_dq_robotics() -> Any:
    """The Panda's kinematics by modified Denavit-Hartenberg parameters, to the flange."""
    import numpy as np
    from dqrobotics.robot_modeling import DQ_SerialManipulatorMDH

    quarter = np.pi / 2
    theta = [0.0] * 7
    d = [0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0]
    a = [0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088]
    alpha = [0.0, -quarter, quarter, quarter, -quarter, quarter, quarter]
    return DQ_SerialManipulatorMDH(np.array([theta, d, a, alpha, [0.0] * 7]))


def chain50() -> tuple[Any, Any]:
    """A random chain of 50 revolute joints: our robot, and Pinocchio's model of the URDF that we write."""
    import pinocchio

    import dqdyn as dq
    from dqdyn.formats.urdf.writer import write_urdf

    robot = dq.robots.chain(50, seed=1)
    return robot, pinocchio.buildModelFromXML(write_urdf(robot.model))
