"""A roboticist's day: a robot by name, its poses, inverse kinematics, dynamics and a simulated motion."""

import sys

import numpy as np

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import references as ref

robot = dq.load(sys.argv[1] if len(sys.argv) > 1 else "arm7")  # a file, or the name of a built-in robot
frame = sys.argv[2] if len(sys.argv) > 2 else "tool"
print(robot)

# Joints by name; poses as rpy, matrices, quaternions in either order, dictionaries of ROS.
names = [joint.name for joint in robot.joints]
home = robot.q({names[1]: 0.4, names[3]: 1.2, names[5]: 0.6})
x = robot.pose(frame, home)
print(f"{frame} at {x.translation.round(3)} m, roll pitch yaw {x.rpy.round(3)} rad")
print("for ROS:", x.to_ros()["position"])

# A straight way for the hand: 10 cm down and a quarter turn, along a screw, and the joints that follow it.
goal = dq.Pose.from_rpy(x.rpy + [0.0, 0.0, np.pi / 2], x.translation - [0.0, 0.0, 0.1])
way = dq.sclerp(x, goal, np.linspace(0.0, 1.0, 20))
found = robot.inverse_kinematics(frame, way, home, posture=home)
print(found.reason, f"largest step {np.abs(np.diff(found.q, axis=0)).max():.3f} rad")

# A pen may turn about its own axis: one direction less to meet, and several solutions to choose from.
pen = robot.inverse_kinematics(frame, goal, home, mask=[1, 1, 0, 1, 1, 1], starts=10)
print(f"{len(pen.solutions)} solutions with the turn left free; the nearest is {pen.q.round(2)}")

# Dynamics at the end of the way, and how far it is from singular.
q = found.q[-1]
print("holding torques:", robot.gravity_forces(q).round(2), "N m")
print("masses felt by each joint:", np.diag(robot.mass_matrix(q)).round(3))
print(
    f"manipulability {robot.manipulability(frame, q):.4f}, gradient {robot.manipulability_gradient(frame, q).round(3)}"
)

# Follow the way within the limits of velocity (the robot's) and acceleration, by computed torque with clipped motors.
path = ref.cubic(robot, found.q, acceleration=4.0)
follow = ct.computed_torque(robot, path, gains=(40.0, 400.0))  # K_D in 1/s, K_P in 1/s²
run = dq.simulate(robot, follow, path.duration + 0.5, 1e-3, q0=found.q[0], efforts="clip")
off = np.linalg.norm(robot.pose(frame, run.q[-1]).translation - goal.translation)
print(f"{run.status} after {run.time[-1]:.2f} s; the hand is off by {1e3 * off:.4f} mm")
print("for a ROS driver:", robot.to_joint_state(run.q[-1], run.v[-1], t=run.time[-1])["position"][:3], "…")
assert found.success
assert off < 1e-4

# Keep the posture with the robot. A format that cannot hold all of it says what it would lose.
robot = robot.with_postures({"home": home})
for ending in ("json", "xml", "urdf"):
    try:
        print("wrote", robot.write(f"{robot.name}.{ending}"))
    except dq.FormatError as problem:
        print("not written:", problem.losses)
