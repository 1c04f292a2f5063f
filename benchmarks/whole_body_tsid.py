"""The side of TSID: run by ``benchmarks.whole_body`` in an environment of its own, with NumPy, Pinocchio and TSID only.

The wheel of TSID keeps its module a folder deeper than Python looks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

sys.path += [str(Path(pinocchio.__file__).parent.parent / "tsid"), str(Path(__file__).parent)]
import tsid_pywrap as tsid
from whole_body_peer import PeerTalos, layout, serve


class Talos(PeerTalos):
    """The Talos in TSID's formulation by accelerations and forces."""

    def __init__(self, urdf: str, problem: dict[str, Any], feet: str) -> None:
        folders = pinocchio.StdVec_StdString()
        self.robot = robot = tsid.RobotWrapper(urdf, folders, pinocchio.JointModelFreeFlyer(), False)
        self.model = model = robot.model()
        self.q, self.v = self._states(problem)
        self.formulation = tsid.InverseDynamicsFormulationAccForce("tsid", robot, False)
        self.formulation.computeProblemData(0.0, self.q[0], self.v[0])
        gains = problem["stiffness"], problem["damping"]
        x, y = problem["half_length"], problem["half_width"]
        corners = np.array([[-x, -x, x, x], [-y, y, -y, y], [0.0] * 4])
        friction = problem["friction"] / np.sqrt(2.0)  # so that the pyramid is inside the round cone
        self.kept: list[Any] = []  # TSID does not keep what is added to it alive
        for foot, pose in zip(problem["feet"], problem["foot_poses"], strict=True):
            normal = np.array([0.0, 0.0, 1.0])
            contact = tsid.Contact6d(str(foot), robot, str(foot), corners, normal, friction, 0.0, 1e4)
            contact.setKp(gains[0] * np.ones(6))
            contact.setKd(gains[1] * np.ones(6))
            contact.setReference(pinocchio.SE3(pose))
            level, weight = (0, 1.0) if feet == "hard" else (1, problem["foot_weight"])
            self.formulation.addRigidContact(contact, problem["force_weight"], weight, level)
            self.kept.append(contact)
        self.center = self._add(tsid.TaskComEquality("center of mass", robot), problem["center_weight"], 3, gains)
        posture = self._add(tsid.TaskJointPosture("posture", robot), problem["posture_weight"], model.nv - 6, gains)
        posture.setReference(self._sample(self._angles(problem, problem["posture"][None])[0][0, 7:]))
        waist = tsid.TaskSE3Equality("waist", robot, str(problem["waist"]))
        waist.setMask(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
        self._add(waist, problem["waist_weight"], 6, gains)
        upright = tsid.TrajectorySample(12, 6)
        upright.value(np.r_[np.zeros(3), np.eye(3).ravel()])
        waist.setReference(upright)
        bounds, limits = tsid.TaskActuationBounds("torques", robot), model.effortLimit[6:]
        bounds.setBounds(-limits, limits)
        self.formulation.addActuationTask(bounds, 1.0, 0, 0.0)
        self.kept.append(bounds)
        self.solver = tsid.SolverHQuadProgFast("solver")
        self.solver.resize(self.formulation.nVar, self.formulation.nEq, self.formulation.nIn)
        names = ("center", "center_rate", "center_acceleration")
        self.references = [self._sample(*values) for values in zip(*(problem[name] for name in names), strict=True)]
        self.wanted, self.followed, self.limits = problem[names[2]], problem["followed"], limits

    def _add(self, task: Any, weight: float, size: int, gains: tuple[float, float]) -> Any:
        task.setKp(gains[0] * np.ones(size))
        task.setKd(gains[1] * np.ones(size))
        self.formulation.addMotionTask(task, weight, 1, 0.0)
        self.kept.append(task)
        return task

    def _sample(self, value: np.ndarray, *rates: np.ndarray) -> Any:
        sample = tsid.TrajectorySample(len(value))
        sample.value(value)
        velocity, acceleration = rates or (np.zeros(len(value)), np.zeros(len(value)))
        sample.derivative(velocity)
        sample.second_derivative(acceleration)
        return sample

    def solve(self, i: int) -> Any:
        self.center.setReference(self.references[i])
        solution = self.solver.solve(self.formulation.computeProblemData(0.0, self.q[i], self.v[i]))
        return solution, self.formulation.getActuatorForces(solution)

    def check(self) -> str:
        data = self.model.createData()
        for i in range(self.states):
            solution, torques = self.solve(i)
            a = self.formulation.getAccelerations(solution)
            pinocchio.centerOfMass(self.model, data, self.q[i], self.v[i], a)
            followed = np.abs(data.acom[0] - self.wanted[i]).max() <= self.followed
            if not (solution.status == 0 and followed and (np.abs(torques) <= self.limits + 1e-6).all()):
                raise SystemExit("TSID does not solve the problem")
        return f"{self.formulation.nVar} unknowns, {self.formulation.nIn} inequalities"

    def _states(self, problem: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        self.states = len(problem["base"])
        q, v = self._angles(problem, problem["angles"], problem["rates"])
        layout(problem, q, v)
        return q, v

    def _angles(
        self, problem: dict[str, Any], angles: np.ndarray, rates: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        q, v = np.zeros((len(angles), self.model.nq)), np.zeros((len(angles), self.model.nv))
        for k, name in enumerate(problem["names"].tolist()):
            joint = self.model.getJointId(name)
            q[:, self.model.idx_qs[joint]] = angles[:, k]
            if rates is not None:
                v[:, self.model.idx_vs[joint]] = rates[:, k]
        return q, v


if __name__ == "__main__":
    serve("tsid", Talos)
