"""Writes the C libraries that the examples next to this file link: ``python examples/deploy/generate.py folder``.

``arm`` has functions in single precision for bare_metal, ``hold`` a controller in double precision for ros2_effort.
"""

import sys
from pathlib import Path

import numpy as np

import dqdyn as dq
from dqdyn import control as ct

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
robot = dq.robots.arm7()

functions = {"arm_torques": "inverse_dynamics", "arm_hand": ("pose", {"frame": "tool"})}
print("wrote", robot.c_library(functions, "arm", precision="float32").write(folder / "arm"))

# Hold the hand where it is, and if possible the posture too; above a table and within limits, as far as possible.
q = np.array([0.3, 0.5, -0.2, 1.4, 0.1, 0.8, 0.0])
hand, posture = ct.TranslationTask("tool", robot.pose("tool", q).translation, gain=4.0), ct.PostureTask(q)
table = ct.KeepAbove("tool", dq.Plane([0, 0, 1], [0, 0, 0]), distance=0.05)
limits = [ct.JointLimits(), ct.VelocityLimits(1.0), ct.TorqueLimits(80.0)]
hold = ct.torque_controller(robot, [[hand], [posture]], [table, *limits])
print("wrote", hold.c_library("hold").write(folder / "hold"))
