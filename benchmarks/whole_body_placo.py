"""The side of placo: run by ``benchmarks.whole_body`` in an environment of its own, with NumPy and placo only.

``python whole_body_placo.py ROBOT.urdf PROBLEM.npz`` answers "hard 200" or "soft 200" by the seconds that 200 steps
took with feet that are hard constraints or soft tasks, and "check" by the sizes of both problems; in lines of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
import placo


class Talos:
    """Steps through the states of the problem, again and again; ``feet`` are "hard" or "soft"."""

    def __init__(self, urdf: str, problem: dict[str, Any], feet: str) -> None:
        self.robot = placo.RobotWrapper(urdf, placo.Flags.ignore_collisions)
        self.q, self.v = self._states(problem)
        self.centers = [problem[name] for name in ("center", "center_rate", "center_acceleration")]
        self._set(0)
        self.solver = solver = placo.DynamicsSolver(self.robot)
        solver.enable_torque_limits(True)
        self.contacts = []
        for foot, pose in zip(problem["feet"], problem["foot_poses"], strict=True):
            task = solver.add_frame_task(str(foot), pose)
            task.configure(str(foot), feet, problem["foot_weight"], problem["foot_weight"])
            for part in (task.position(), task.orientation()):
                part.kp, part.kd = problem["stiffness"], problem["damping"]
            contact = solver.add_planar_contact(task)
            contact.length, contact.width = 2.0 * problem["half_length"], 2.0 * problem["half_width"]
            contact.mu = problem["friction"] / np.sqrt(2.0)  # so that the pyramid is inside the round cone
            contact.weight_forces = contact.weight_moments = problem["force_weight"]
            self.contacts.append(contact)
        self.center = solver.add_com_task(self.centers[0][0])
        self.center.configure("center of mass", "soft", problem["center_weight"])
        waist = solver.add_orientation_task(str(problem["waist"]), np.eye(3))
        waist.configure("waist", "soft", problem["waist_weight"])
        posture = solver.add_joints_task()
        posture.set_joints(dict(zip(problem["names"].tolist(), problem["posture"].tolist(), strict=True)))
        posture.configure("posture", "soft", problem["posture_weight"])
        for task in (self.center, waist, posture):
            task.kp, task.kd = problem["stiffness"], problem["damping"]
        self.at, self.followed = 0, problem["followed"]

    def solve(self) -> Any:
        """One control step: the state and the references, then the torques."""
        i = self.at
        self.at = (i + 1) % len(self.q)
        self._set(i)
        center, (position, velocity, acceleration) = self.center, self.centers
        center.target_world, center.dtarget_world, center.ddtarget_world = position[i], velocity[i], acceleration[i]
        return self.solver.solve()

    def seconds(self, steps: int) -> float:
        """What some steps take."""
        start = time.perf_counter()
        for _ in range(steps):
            self.solve().tau  # noqa: B018  (a copy of the torques)
        return time.perf_counter() - start

    def check(self) -> str:
        """The size of the problem; an error where torques are beyond limits, or the center of mass goes elsewhere."""
        limits = self.robot.model.effortLimit[6:]
        for _ in range(len(self.q)):
            result, wanted = self.solve(), self.centers[2][self.at - 1]
            acceleration = self.robot.com_jacobian() @ result.qdd
            acceleration += self.robot.com_jacobian_time_variation() @ self.robot.state.qd
            followed = np.abs(acceleration - wanted).max() <= self.followed
            if not (result.success and followed and (np.abs(result.tau[6:]) <= limits + 1e-6).all()):
                raise SystemExit("placo does not solve the problem")
        problem = self.solver.problem
        return f"{problem.n_variables} unknowns, {problem.n_inequalities} inequalities"

    def _set(self, i: int) -> None:
        state = self.robot.state
        state.q, state.qd = self.q[i], self.v[i]
        self.robot.update_kinematics()

    def _states(self, problem: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Translation first, quaternions with w last, twists of the base with the linear part first."""
        robot, base, twist = self.robot, problem["base"], problem["base_twist"]
        q, v = np.zeros((len(base), robot.model.nq)), np.zeros((len(base), robot.model.nv))
        q[:, :3], q[:, 3:6], q[:, 6] = base[:, 4:], base[:, 1:4], base[:, 0]
        v[:, :3], v[:, 3:6] = twist[:, 3:], twist[:, :3]
        for k, name in enumerate(problem["names"].tolist()):
            q[:, robot.get_joint_offset(name)] = problem["angles"][:, k]
            v[:, robot.get_joint_v_offset(name)] = problem["rates"][:, k]
        return q, v


def main() -> None:
    with np.load(sys.argv[2]) as stored:
        problem = {name: stored[name] if stored[name].ndim else stored[name].item() for name in stored}
    both = {feet: Talos(sys.argv[1], problem, feet) for feet in ("hard", "soft")}
    print(json.dumps(version("placo")), flush=True)
    for line in sys.stdin:
        what, *steps = line.split()
        if what == "check":
            answer: Any = {feet: talos.check() for feet, talos in both.items()}
        else:
            answer = both[what].seconds(int(steps[0]))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
