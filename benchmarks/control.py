"""The fifteen constraints of putting a cup on a table, and whole control steps, against DQ Robotics.

Nine joints (a torso of five, an arm of four): one cone for the cup, four planes, nine joint limits by cones of lines,
and torso against arm. Both sides solve the same quadratic program with DAQP, and their rows are compared first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dqdyn as dq
from benchmarks.measure import Result, Timed, side_by_side
from dqdyn import control as ct

# θ, d, a, α of a torso of five and an arm of four joints
TABLE = np.array(
    [
        [0.0, 0.15, 0.0, np.pi / 2],
        [np.pi / 2, 0.0, 0.1, 0.0],
        [0.0, 0.0, 0.12, np.pi / 2],
        [0.0, 0.1, 0.0, -np.pi / 2],
        [0.3, 0.05, 0.15, np.pi / 2],
        [-0.4, 0.02, 0.0, np.pi / 2],
        [0.5, 0.0, 0.05, -np.pi / 2],
        [0.2, 0.25, 0.0, np.pi / 2],
        [-0.3, 0.0, 0.2, 0.0],
    ]
)
N = len(TABLE)
REACH, TILT, GAIN, PLANE, TRUNK, DAMPING, RATE = 1.2, 0.6, 1.0, 0.01, 0.02, 0.01, 0.36
PLANES = [([1.0, 0.0, 0.0], -2.0), ([-1.0, 0.0, 0.0], -2.0), ([0.0, 1.0, 0.0], -2.0), ([0.0, -1.0, 0.0], -2.0)]
GOAL = ([0.0, 0.0, 1.0], 0.1)


def run() -> list[Result]:
    """Evaluation with Jacobians, the whole step, the share of the solver, and accelerations against velocities."""
    q, v = _start()
    ours, theirs = _ours(ct.velocity_controller), Theirs()
    second = _ours(ct.acceleration_controller)
    expected, found = theirs.command(q), ours(0.0, q)
    _same(ours.composition.views["A"][:15], theirs.A)  # behind them ours has rows for elbow and hand
    _same(ours.composition.views["upper"][:15], theirs.b)
    _same(found, expected, 1e-7)
    second(0.0, q, v)
    views, solve = ours.composition.views, ours.optimum
    names: dict[str, Any] = {"ours": ours, "c": ours.composition, "second": second, "theirs": theirs, "q": q, "v": v}
    names |= {"solve": solve, "views": views, "b": second.composition}
    evaluate, step, qp, other_evaluate, other_step, rows, faster = side_by_side(
        Timed("c.evaluate(0.0, q, v)", names),
        Timed("ours(0.0, q)", names, 500),
        Timed("solve(views)", names, 500),
        Timed("theirs.evaluate(q)", names, 20),
        Timed("theirs.command(q)", names, 20),
        Timed("b.evaluate(0.0, q, v)", names),
        Timed("second(0.0, q, v)", names, 500),
        rounds=60,
    )
    peer = "dqrobotics"
    counts, more = str(ours.composition.program.counts), str(second.composition.program.counts)
    return [
        Result(
            "15 constraints with Jacobians, and the objective", evaluate, "ns", None, peer, other_evaluate, 15.0, counts
        ),
        Result("whole step by velocity", step, "ns", None, f"{peer} and DAQP", other_step, 5.0),
        Result("share of the quadratic program in the step", 100.0 * qp / step, "%", None),
        Result("rows by acceleration, per rows by velocity", rows / evaluate, "×", 2.0, note=more),
        Result("whole step by acceleration, per step by velocity", faster / step, "×", 2.0),
    ]


def _start() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.uniform(-0.3, 0.3, N), rng.uniform(-0.1, 0.1, N)


def _ours(make: Callable[..., ct.Controller]) -> ct.Controller:
    robot = dq.from_dh(TABLE)
    tip = _tip(robot)
    planes = [dq.Plane(n, distance=d) for n, d in PLANES]
    zones: list[Any] = [
        ct.Cone(tip, _axis(), TILT, gain=GAIN),
        ct.Region(tip, planes, PLANE, gain=GAIN),
        ct.ConeJointLimits(np.full(N, -REACH), np.full(N, REACH), gain=GAIN),
        ct.TorsoArm(ct.line(_frame(robot, 3)), _frame(robot, 8), tip, TRUNK, gain=GAIN),
    ]
    task = ct.DistanceTask(tip, dq.Plane(GOAL[0], distance=GOAL[1]), gain=RATE)
    return make(robot, [task], zones, damping=DAMPING)


def _frame(robot: dq.Robot, i: int) -> str:
    """The frame after joint i, 1 to 9."""
    return list(robot.bodies)[i - 1].name


def _tip(robot: dq.Robot) -> str:
    return _frame(robot, N)


def _axis() -> list[float]:
    """Nearly upright for the cup at the start."""
    robot = dq.from_dh(TABLE)
    q, _ = _start()
    return [float(c) for c in robot.pose(_tip(robot), q + 0.02).rotation_matrix[:, 2]]


class Theirs:
    """The same rows by the functions of DQ Robotics, each Jacobian of a link computed once."""

    def __init__(self) -> None:
        from dqrobotics import DQ, k_
        from dqrobotics.robot_modeling import DQ_Kinematics, DQ_SerialManipulatorDH

        self.robot = DQ_SerialManipulatorDH(np.vstack([TABLE.T, np.zeros(N)]))
        self.k, self.of, self.DQ = DQ_Kinematics, k_, DQ
        self.axis = DQ([0.0, *_axis()])
        self.planes = [DQ([0.0, *n, d, 0.0, 0.0, 0.0]) for n, d in PLANES]
        self.goal = DQ([0.0, *GOAL[0], GOAL[1], 0.0, 0.0, 0.0])
        self.A, self.b = np.zeros((15, N)), np.zeros(15)
        self.f_tilt, self.f_reach = 2 - 2 * np.cos(TILT), 2 - 2 * np.cos(REACH)
        import daqp

        self._solve, self._kinds, self._lower = daqp.solve, np.zeros(15, dtype=np.int32), np.full(15, -1e30)

    def evaluate(self, q: np.ndarray) -> None:
        """W and w of the fifteen constraints, J and the error of the task."""
        k, n, A, b = self.k, N, self.A, self.b
        poses = [self.robot.fkm(q, i) for i in range(n)]
        jacobians = [self._wide(self.robot.pose_jacobian(q, i)) for i in range(n)]
        x, jx = poses[-1], jacobians[-1]
        p, jp = x.translation(), k.translation_jacobian(jx, x)
        # the cup
        line, jl = self._line(x), k.line_jacobian(jx, x, self.of)
        A[0] = k.line_to_line_angle_jacobian(jl, line, self.axis)
        b[0] = -GAIN * (self._f(line, self.axis) - self.f_tilt)
        # the planes
        for i, plane in enumerate(self.planes):
            A[1 + i] = -k.point_to_plane_distance_jacobian(jp, p, plane)[0]
            b[1 + i] = GAIN * (float(p.vec3() @ plane.P().vec3()) - plane.D().q[0] - PLANE)
        # joint limits: a line ⟂ to the axis on the link, against one at mid-range on its parent
        for i in range(n):
            A[5 + i], angle = self._limit(i, q, poses, jacobians)
            b[5 + i] = -GAIN * (angle - self.f_reach)
        # torso and arm
        A[14], b[14] = self._torso(poses, jacobians)
        self.J = k.point_to_plane_distance_jacobian(jp, p, self.goal)[0]
        self.error = float(p.vec3() @ self.goal.P().vec3()) - GOAL[1]

    def command(self, q: np.ndarray) -> np.ndarray:
        """The velocity of the same quadratic program."""
        self.evaluate(q)
        H = np.outer(self.J, self.J) + DAMPING**2 * np.eye(N)
        return self._solve(H, self.J * (RATE * self.error), self.A, self.b, self._lower, self._kinds)[0]

    def _wide(self, jacobian: np.ndarray) -> np.ndarray:
        """Columns of zeros for the joints behind the link."""
        result = np.zeros((8, N))
        result[:, : jacobian.shape[1]] = jacobian
        return result

    def _line(self, x: Any) -> Any:
        r, p = x.rotation(), x.translation()
        l = r * self.of * r.conj()
        return l + self.DQ([0, 0, 0, 0, *(0.5 * (p * l - l * p)).vec4()])

    def _f(self, a: Any, b: Any) -> float:
        d = a.P().vec3() - b.P().vec3()
        return float(d @ d)

    def _limit(self, i: int, q: np.ndarray, poses: list[Any], jacobians: list[np.ndarray]) -> tuple[np.ndarray, float]:
        """The x axis of the link behind joint i, against where it is at q_i = 0."""
        k, DQ = self.k, self.DQ
        x, j = poses[i], jacobians[i]
        parent = poses[i - 1] if i else DQ([1.0])
        j_parent = jacobians[i - 1] if i else np.zeros((8, N))
        theta = TABLE[i, 0]
        middle = DQ([0.0, np.cos(theta), np.sin(theta), 0.0])
        along = DQ([0.0, 1.0, 0.0, 0.0])
        moved = x.rotation() * along * x.rotation().conj()
        rest = parent.rotation() * middle * parent.rotation().conj()
        j_moved = k.line_jacobian(j, x, along)
        j_rest = k.line_jacobian(j_parent, parent, middle)
        return k.line_to_line_angle_jacobian(j_moved - j_rest, moved, rest)[0], self._f(moved, rest)

    def _torso(self, poses: list[Any], jacobians: list[np.ndarray]) -> tuple[np.ndarray, float]:
        """The nearer of elbow and hand to the line of the torso; at this state the perpendicular misses the forearm."""
        k = self.k
        trunk, j_trunk = self._line(poses[2]), k.line_jacobian(jacobians[2], poses[2], self.of)
        best: tuple[float, Any, Any] | None = None
        for i in (7, 8):
            p = poses[i].translation()
            m = trunk.D().vec3()
            d = np.cross(p.vec3(), trunk.P().vec3()) - m
            size = float(d @ d)
            if best is None or size < best[0]:
                best = size, p, k.translation_jacobian(jacobians[i], poses[i])
        assert best is not None
        size, p, jp = best
        row = (
            k.point_to_line_distance_jacobian(jp, p, trunk)[0] + k.line_to_point_distance_jacobian(j_trunk, trunk, p)[0]
        )
        return -row, GAIN * (size - TRUNK**2)


def _same(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-9) -> None:
    if not np.allclose(a, b, atol=tolerance):
        raise SystemExit(f"the results differ by {np.abs(a - b).max():.3g}: this would compare different things")
