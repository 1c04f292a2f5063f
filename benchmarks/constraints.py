"""Constrained forward dynamics of a four-bar and of the Talos on both feet, against Pinocchio in one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import Result, Timed, side_by_side
from benchmarks.robots import talos

BATCH = 4096
FEET = ("left_sole_link", "right_sole_link")
TARGETS = {"four-bar": (6, 15), "talos on both feet": (2.5, 6)}  # times faster: per call, per state of a batch
OTHERS = ("udwadia-kalaba", "kane")  # methods to compare with the default


@dataclass
class Case:
    """A robot here, and in Pinocchio with its constraints; the same states on the constraints."""

    name: str
    robot: Any
    model: Any
    constraints: Any

    def __post_init__(self) -> None:
        import pinocchio as pin

        rng = np.random.default_rng(0)
        robot, n = self.robot, self.robot.nv
        near = robot.integrate(robot.neutral(), 0.2 * rng.normal(size=(BATCH, n)), 1.0)
        self.q, self.v = robot.project(near, rng.normal(size=(BATCH, n)))
        self.tau = rng.normal(size=(BATCH, n))
        self.layout, self.data = robot.to_pinocchio(self.model), self.model.createData()
        self.datas = [c.createData() for c in self.constraints]
        self.constraints = pin.StdVec_RigidConstraintModel(self.constraints)
        self.datas = pin.StdVec_RigidConstraintData(self.datas)
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.datas)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)


def run() -> list[Result]:
    """Bound functions with ``out=``; Pinocchio in a Python loop with its ``Data`` reused; results compared first."""
    return [result for case in (four_bar_case(), talos_case()) for result in measured(case)]


def four_bar_case() -> Case:
    """The built-in four-bar; in Pinocchio its tree from our URDF with one point constraint."""
    import pinocchio as pin

    import dqdyn as dq
    from dqdyn.formats.urdf.writer import write_urdf

    robot = dq.robots.four_bar()
    model = pin.buildModelFromXML(write_urdf(robot.without_constraints().model))
    ends = [_placed(robot, model, frame) for frame in ("coupler_end", "rocker_end")]
    pinned = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *ends[0], *ends[1], pin.ReferenceFrame.LOCAL)
    # The row across the plane is zero; Pinocchio needs damping to divide by it, which its result does not show.
    case = Case("four-bar", robot, model, [pinned])
    case.settings = pin.ProximalSettings(1e-12, 1e-9, 1)
    return case


def talos_case() -> Case:
    """Both soles held, twelve rows."""
    import pinocchio as pin

    import dqdyn as dq

    robot, model = talos()
    held = []
    for foot in FEET:
        held.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *_placed(robot, model, foot)))
    standing = robot.with_constraints(*(dq.constraints.FaceContact(foot) for foot in FEET))
    return Case("talos on both feet", standing, model, held)


def measured(case: Case) -> list[Result]:
    """Per call, and per state of a batch; by default, and by the other methods, for which there is no target."""
    import pinocchio as pin

    robot = case.robot
    q, v, tau = case.q[0].copy(), case.v[0].copy(), case.tau[0].copy()
    theirs = case.layout.q(q), case.layout.v(q, v), case.layout.tau(q, tau)
    bound = {method: robot.function("forward_dynamics", method=method) for method in ("auto", *OTHERS)}
    found = pin.constraintDynamics(case.model, case.data, *theirs, case.constraints, case.datas, case.settings)
    expected = case.layout.a_from(q, v, found)
    for method, f in bound.items():
        off = np.abs(f(q, v, tau) - expected).max()
        if off > 1e-6 * np.abs(expected).max():
            raise SystemExit(f"results by {method} differ by {off:.3g}: this would compare different things")
    names = {"f": pin.constraintDynamics, "m": case.model, "d": case.data, "c": case.constraints, "e": case.datas}
    names |= {"q": theirs[0], "v": theirs[1], "t": theirs[2], "s": case.settings}
    peer = Timed("f(m, d, q, v, t, c, e, s)", names, 200)
    single, batch = {"q": q, "v": v, "t": tau}, {"q": case.q, "v": case.v, "t": case.tau}
    ours = []
    for f in bound.values():
        ours.append(Timed("f(q, v, t, out=o)", {"f": f, "o": np.zeros(robot.nv)} | single, 200))
        ours.append(Timed("f(q, v, t, out=o)", {"f": f, "o": np.zeros_like(case.v)} | batch, 1))
    *times, other = side_by_side(*ours, peer)
    results, whose = [], "constraintDynamics"
    for k, method in enumerate(bound):
        title = f"{case.name} forward_dynamics" + ("" if method == "auto" else f" by {method}")
        once, each = TARGETS[case.name] if method == "auto" else (None, None)
        operations = str(robot.count("forward_dynamics", method=method))
        results.append(Result(title, times[2 * k], "ns", None, whose, other, once, operations))
        per_state = times[2 * k + 1] / BATCH
        results.append(Result(f"{title}, per state of {BATCH}", per_state, "ns", None, whose, other, each))
    return results


def _placed(robot: Any, model: Any, frame: str) -> tuple[int, Any]:
    """Pinocchio's joint that carries one of our frames, and the frame's placement on it."""
    import pinocchio as pin

    if model.existFrame(frame):
        found = model.frames[model.getFrameId(frame)]
        return found.parentJoint, found.placement
    ours = robot.frames[frame]
    from dqdyn.algebra.values import Pose

    placement = Pose.of(ours.placement)
    return model.getJointId(robot.joints[ours.body].name), pin.SE3(placement.rotation_matrix, placement.translation)
