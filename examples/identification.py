"""Identification: how heavy are the links of an arm, and how much friction have its joints?

Run ``python examples/identification.py``; it prints a table.
"""

import numpy as np

import dqdyn as dq
from dqdyn import identify

# The arm as its maker describes it, and as it is: other masses, and friction that the description leaves out.
robot = dq.robots.arm6().without_friction()
rng = np.random.default_rng(1)
masses = robot.parameters(["mass"])["mass"]
friction = {"damping": rng.uniform(0.2, 0.8, robot.nv), "friction": rng.uniform(0.1, 0.5, robot.nv)}
real = robot.with_parameters({"mass": masses * rng.uniform(0.8, 1.2, masses.size), **friction})

# Which sums of parameters do torques show?
base = identify.base_parameters(robot, terms=["damping", "friction"])
print(base, "such as", base.labels[0])

# A motion that shows them, and another one to check the result on.
options = {"base": base, "velocity": 2.0, "acceleration": 8.0, "iterations": 0}
learn, check = (identify.excitation(robot, seed=seed, starts=10, **options) for seed in (1, 2))
print(f"condition number of the motion: {learn.condition:.0f}")


def measured(motion: identify.Excitation) -> identify.Data:
    """What sensors would tell, 200 times a second."""
    t, q, v, a = motion.samples(200.0)
    return identify.Data(q, v, a, real.inverse_dynamics(q, v, a) + 0.1 * rng.normal(size=q.shape), t)


report = identify.fit(robot, measured(learn), base=base, validation=measured(check))
print(report)
assert report.validation.ratio.max() < 1.1

# A robot with these parameters, whose bodies can exist.
found = report.robot()
print("masses as described:", masses.round(3), "found:", found.parameters(["mass"])["mass"].round(3))
q = robot.random_configuration(3)
print("torques against gravity:", real.gravity_forces(q).round(2), "found:", found.gravity_forces(q).round(2))
