"""The side of placo: run by ``benchmarks.whole_body`` in an environment of its own, with NumPy and placo only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import placo

sys.path.append(str(Path(__file__).parent))
from whole_body_peer import PeerTalos, layout, serve


class Talos(PeerTalos):
    """The Talos in placo's ``DynamicsSolver``."""

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
        self.followed = problem["followed"]

    def solve(self, i: int) -> Any:
        self._set(i)
        center, (position, velocity, acceleration) = self.center, self.centers
        center.target_world, center.dtarget_world, center.ddtarget_world = position[i], velocity[i], acceleration[i]
        result = self.solver.solve()
        return result, result.tau

    def check(self) -> str:
        limits = self.robot.model.effortLimit[6:]
        for i, wanted in enumerate(self.centers[2]):
            result, torques = self.solve(i)
            acceleration = self.robot.com_jacobian() @ result.qdd
            acceleration += self.robot.com_jacobian_time_variation() @ self.robot.state.qd
            followed = np.abs(acceleration - wanted).max() <= self.followed
            if not (result.success and followed and (np.abs(torques[6:]) <= limits + 1e-6).all()):
                raise SystemExit("placo does not solve the problem")
        problem = self.solver.problem
        return f"{problem.n_variables} unknowns, {problem.n_inequalities} inequalities"

    def _set(self, i: int) -> None:
        state = self.robot.state
        state.q, state.qd = self.q[i], self.v[i]
        self.robot.update_kinematics()

    def _states(self, problem: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        robot, self.states = self.robot, len(problem["base"])
        q, v = np.zeros((self.states, robot.model.nq)), np.zeros((self.states, robot.model.nv))
        layout(problem, q, v)
        for k, name in enumerate(problem["names"].tolist()):
            q[:, robot.get_joint_offset(name)] = problem["angles"][:, k]
            v[:, robot.get_joint_v_offset(name)] = problem["rates"][:, k]
        return q, v


if __name__ == "__main__":
    serve("placo", Talos)
