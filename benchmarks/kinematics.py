"""Kinematics of the Panda per Python call and per state of a batch, against DQ Robotics and Pinocchio."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Result, per_call
from benchmarks.robots import panda, panda_of_dq_robotics

FRAME = "panda_link7"  # the frame that DQ Robotics' parameters lead to
BATCH = 4096


def run() -> list[Result]:
    """Bound functions with ``out=``, plain methods, and batches on one core; results are compared first."""
    import pinocchio

    robot, model = panda()
    theirs, data = panda_of_dq_robotics(), model.createData()
    frame = model.getFrameId(FRAME)
    q = robot.random_configuration(1)
    _same(np.abs(robot.pose(FRAME, q).vec8()), np.abs(theirs.fkm(q).vec8()))
    jacobian = pinocchio.computeFrameJacobian(model, data, q, frame)
    _same(robot.twist_jacobian(FRAME, q), jacobian[[3, 4, 5, 0, 1, 2]])
    peers = {
        "pose": ("dqrobotics fkm", per_call("k.fkm(q)", k=theirs, q=q), 7.0),
        "pose_jacobian": ("dqrobotics pose_jacobian", per_call("k.pose_jacobian(q)", k=theirs, q=q), 10.0),
        "twist_jacobian": (
            "pinocchio computeFrameJacobian",
            per_call("f(m, d, q, i)", f=pinocchio.computeFrameJacobian, m=model, d=data, q=q, i=frame),
            5.0,
        ),
    }
    configurations = np.array([robot.random_configuration(i) for i in range(BATCH)])
    results = []
    for name, (peer, time, target) in peers.items():
        bound = robot.function(name, frame=FRAME)
        counts = str(robot.count(name, frame=FRAME))
        out = np.zeros(robot.program(name, frame=FRAME).shape)
        many = np.zeros((BATCH, *out.shape))
        single = per_call("f(q, out=o)", f=bound, q=q, o=out)
        plain = per_call(f"robot.{name}(frame, q)", robot=robot, frame=FRAME, q=q)
        state = per_call("f(q, out=o)", number=1, repeats=200, f=bound, q=configurations, o=many) / BATCH
        results += [
            Result(f"{name}, bound", single, "ns", None, peer, time, target, counts),
            Result(f"{name}, plain method", plain, "ns", None, peer, time, 2.5),
            Result(f"{name}, per state of {BATCH}", state, "ns", None, peer, time, 30.0),
        ]
    return [*results, overhead()]


def overhead() -> Result:
    """A call with three inputs and ``out=`` of a program that does nothing to speak of."""
    from dqdyn.compile.function import Function
    from dqdyn.compile.trace import trace

    program = trace("empty", [("q", 7), ("v", 7), ("a", 7)], lambda q, v, a: ([q[0]], (1,)))
    x, out = np.zeros(7), np.zeros(1)
    time = per_call("f(x, x, x, out=o)", f=Function(program).fast, x=x, o=out)
    return Result("call overhead, three inputs and out=", time, "ns", target=60.0)


def _same(a: np.ndarray, b: np.ndarray) -> None:
    if not np.allclose(a, b, atol=1e-9):
        raise SystemExit(f"the results differ by {np.abs(a - b).max():.3g}: this would compare different things")
