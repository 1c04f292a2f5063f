"""A first notebook: each cell ends with a value, which is shown; Jupyter and VS Code open this file as cells."""

# %%
import numpy as np

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import references as ref
from dqdyn.view.report import Report
from dqdyn.view.series import panels_of

robot = dq.robots.arm7()
robot  # facts, a 3-D view in which each joint moves in turn, joints with limits, the tree

# %%
program = robot.program("inverse_dynamics")
program  # what the compiler made of it, in counts
print(repr(program))

# %%
q0 = robot.q(joint2=0.5, joint4=1.2)
path = ref.between(robot, q0, robot.q(joint1=1.0, joint2=0.9, joint6=0.8), acceleration=4.0)  # as fast as limits allow
run = dq.simulate(robot, ct.computed_torque(robot, path, gains=(40.0, 400.0)), path.duration, 1e-3, q0=q0, every=10)
run  # a player with curves

# %%
figure = run.plot("positions", "energy")  # appears once, also from the midst of a cell
print(figure)

# %%
table = run.to_pandas()
table[["q joint2 [rad]", "kinetic [J]"]].tail()
print(table.shape)

# %%
report = Report("A reaching arm", [f"nv = {robot.nv}"])
report.section("Dynamics").matrix("Mass matrix at the start", robot.mass_matrix(q0))
report.section("Motion").text("Computed torque along a path within the limits.").curves(panels_of(run), run.time)
report  # the whole page; report.write("report.html") keeps it

# %%
# What a notebook shows of each value. The arm has kept to its path and to its limits.
for value in (robot, program, run, report):
    print(type(value).__name__, len(value._repr_html_()) // 1000, "kB of HTML")
assert run.status == "finished"
assert np.abs(path.sample(run.time).components - run.q).max() < 1e-3
