"""A control engineer: a reference within limits, gains per joint or coupled, and how the error decays.

Run ``python examples/control_engineer.py``; it writes control_engineer.svg with units on every axis.
"""

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import references as ref

robot = dq.robots.arm6()
home, pick, place = robot.neutral(), [0.6, -0.5, 0.9, 0.3, 0.5, -0.4], [-0.4, 0.4, 0.3, -0.5, 0.1, 0.2]

# A reference that stops at each way point, in the least time within the limits of velocity, acceleration and jerk.
path = ref.time_optimal(robot, [home, pick, place, home], velocity=1.5, acceleration=4.0, jerk=40.0)
print(f"{path.duration:.3f} s; largest velocity {path.largest_velocity.max():.3f} rad/s")

# Critically damped gains (K_D, K_P) per joint, and matrices that couple the first two joints: K_D = 2 √K_P.
stiffness = np.array([60.0, 60.0, 80.0, 100.0, 100.0, 100.0])
coupled = np.diag(stiffness)
coupled[0, 1] = coupled[1, 0] = 20.0
values, axes_of = np.linalg.eigh(coupled)
designs = {
    "per joint": (2.0 * np.sqrt(stiffness), stiffness),
    "coupled": (2.0 * axes_of @ np.diag(np.sqrt(values)) @ axes_of.T, coupled),
}

# Each design starts 0.1 rad off the reference; the law is compiled into the step of the simulation.
figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
for ax, (name, gains) in zip(axes, designs.items(), strict=True):
    follow = ct.computed_torque(robot, path, gains=gains)
    run = dq.simulate(robot, follow.law(), path.duration, 1e-3, q0=home + [0.1, 0.0, 0.0, 0.0, 0.0, 0.0], every=10)
    error = path.sample(run.time).components - run.q
    ax.plot(run.time, error[:, :2], label=["joint1", "joint2"])
    ax.set(title=name, xlabel="time t (s)", ylabel="error (rad)", xlim=(0.0, 1.5))
    print(f"{name}: error at the end {np.abs(error[-1]).max():.1e} rad")
    assert np.abs(error[-1]).max() < 1e-6
axes[1].legend()
figure.savefig("control_engineer.svg")

# The same reference for the hand: a task in a torque controller that also keeps the hand above a table.
reach = robot.pose("tool", np.array(pick))
lowered = dq.Pose(rotation=reach.rotation, translation=reach.translation - [0.0, 0.0, 0.05])
hand = ref.between("pose", reach, lowered, velocity=0.2)
table = dq.Plane([0.0, 0.0, 1.0], distance=reach.translation[2] - 0.03)
tasks = [ct.PoseTask("tool", hand, gains=(20.0, 100.0))]  # critically damped: 20² = 4 · 100
controller = ct.torque_controller(robot, tasks, [ct.KeepAbove("tool", table, gain=10.0)])
run = dq.simulate(robot, controller, 1.5, 1e-3, q0=pick)
height = robot.pose("tool", run.q).translation[:, 2] - (reach.translation[2] - 0.03)
print(f"the hand stays {height.min() * 1e3:.2f} mm above the table, which blocks the last 20 mm")
print("what blocks it:", controller.stall)
assert height.min() > -1e-4
assert "plane" in controller.stall
