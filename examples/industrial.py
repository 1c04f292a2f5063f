"""An industrial user: a controller and the dynamics of an arm as C libraries, built with cc and compared with Python.

Run ``python examples/industrial.py``; it writes the folders arm_c and control_c. To run the controller itself, build
control_c with CMake and your DAQP.
"""

import ctypes
import shutil
import subprocess

import numpy as np

import dqdyn as dq
from dqdyn import control as ct

robot = dq.robots.arm7()
rng = np.random.default_rng(0)

# Several functions in one library. What the arm carries and how it is mounted are inputs: one library for a fleet.
options = {"parameters": ["inertia", "gravity"]}
functions = {"arm_torques": ("inverse_dynamics", options), "arm_hand": ("pose", {"frame": "tool"})}
folder = robot.c_library(functions, "arm").write("arm_c")
single = robot.c_library(functions, "armf", precision="float32").write("armf_c")
print("wrote", ", ".join(sorted(path.name for path in folder.iterdir())))

# The step of a controller: hold the hand, keep it above a table, respect the limits; brake where that is impossible.
q = np.array([0.3, 0.5, -0.2, 1.4, 0.1, 0.8, 0.0])
task = ct.TranslationTask("tool", robot.pose("tool", q).translation)
table = ct.KeepAbove("tool", dq.Plane([0, 0, 1], [0, 0, 0]), distance=0.05)
hold = ct.torque_controller(robot, [task], [table, ct.JointLimits(), ct.TorqueLimits(80.0)], infeasible="hold")
print(hold.c_library("hold").write("control_c"), "holds the controller; its CMake file looks for DAQP")

compiler = shutil.which("cc")
if compiler is None:
    raise SystemExit("no C compiler: nothing to compare")

# Build, load, and compare with Python: a payload of 3 kg, the arm mounted on a slope.
for name, path in (("arm", folder), ("armf", single)):
    command = [compiler, "-std=c99", "-O2", "-shared", "-fPIC", path / f"{name}.c", "-o", f"{name}.so", "-lm"]
    subprocess.run(command, check=True)
loaded = robot.with_payload("tool", 3.0, [0, 0, 0.1]).with_gravity([1.0, 0.0, -9.76])
given = loaded.parameters(options["parameters"]).values()
worst = {np.float64: 0.0, np.float32: 0.0}
for dtype, name in ((np.float64, "arm"), (np.float32, "armf")):
    torques = ctypes.CDLL(f"./{name}.so").arm_torques
    for _ in range(1000):
        q, v, a = robot.random_configuration(rng), rng.normal(size=7), rng.normal(size=7)
        inputs = [np.asarray(x, dtype=dtype) for x in (q, v, a, *given)]
        tau = np.zeros(7, dtype=dtype)
        torques(*(ctypes.c_void_p(x.ctypes.data) for x in (*inputs, tau)))
        worst[dtype] = max(worst[dtype], abs(tau - loaded.inverse_dynamics(q, v, a)).max())
print(f"torques in C differ by {worst[np.float64]:.1e} N m in double, {worst[np.float32]:.1e} N m in single precision")
assert worst[np.float64] < 1e-11
assert worst[np.float32] < 1e-2
