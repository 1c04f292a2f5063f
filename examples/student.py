"""A student: a two-link arm, its equations of motion, computed torque, and a plot.

Run ``python examples/student.py``; it writes student.svg.
"""

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import references as ref

# Two slender rods of 1 m and 1 kg that move in a vertical plane (Farias, section 7).
robot = dq.robots.two_link()
q, v = np.array([0.3, -0.2]), np.array([0.5, 0.1])
print("M =", robot.mass_matrix(q).round(4).tolist(), "kg m²")
print("C v =", (robot.coriolis_matrix(q, v) @ v).round(4), "N m;  g =", robot.gravity_forces(q).round(4), "N m")

# M(q) v̇ + C(q, v) v + g(q) = τ, and back.
tau = robot.mass_matrix(q) @ [1.0, 0.0] + robot.coriolis_matrix(q, v) @ v + robot.gravity_forces(q)
assert np.allclose(robot.forward_dynamics(q, v, tau), [1.0, 0.0])

# Where is the hand, and how does it move?
hand = robot.pose("tool", q).translation
expected = [np.cos(0.3) + np.cos(0.1), 0.0, np.sin(0.3) + np.sin(0.1)]
assert np.allclose(hand, expected)
print("the hand is at", hand.round(4), "m and moves at", robot.twist("tool", q, v).linear.round(4), "m/s, in its axes")

# Computed torque along a swing of 2 s from rest to rest; the arm starts off its reference.
path = ref.between(robot, [0.0, 0.0], [1.2, -0.9], 2.0)
follow = ct.computed_torque(robot, path, gains=(20.0, 100.0))  # K_D in 1/s, K_P in 1/s²
run = dq.simulate(robot, follow, 3.0, 1e-3, q0=q)
print(
    f"error at the start {abs(run.extra['error'][0]).max():.2f} rad, at the end {abs(run.extra['error'][-1]).max():.1e}"
)
assert abs(run.q[-1] - [1.2, -0.9]).max() < 1e-5

# The error of a critically damped joint is e₀ (1 + 10 t) e^(−10 t).
decay = (1.0 + 10.0 * run.time) * np.exp(-10.0 * run.time)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.plot(run.time, run.q, label=["shoulder", "elbow"])
left.plot(run.time, path.sample(run.time).components, "k:", linewidth=0.8)
left.set(xlabel="time t (s)", ylabel="angle q (rad)", title="followed, and wanted (dotted)")
left.legend()
right.plot(run.time, run.extra["error"], label=["shoulder", "elbow"])
right.plot(run.time, -0.3 * decay, "k:", linewidth=0.8, label="theory")
right.set(xlabel="time t (s)", ylabel="error (rad)", xlim=(0.0, 1.0), title="K_P = 100 1/s², K_D = 20 1/s")
right.legend()
figure.savefig("student.svg")
