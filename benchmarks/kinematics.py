"""Kinematics of the Panda per Python call and per state of a batch, against DQ Robotics and Pinocchio."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Result, Timed, per_call, side_by_side
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
    theirs_names: dict[str, object] = {"k": theirs, "q": q}
    their_names: dict[str, object] = {"f": pinocchio.computeFrameJacobian, "m": model, "d": data, "q": q, "i": frame}
    peers = {
        "pose": ("dqrobotics fkm", Timed("k.fkm(q)", theirs_names), 7.0),
        "pose_jacobian": ("dqrobotics pose_jacobian", Timed("k.pose_jacobian(q)", theirs_names), 10.0),
        "twist_jacobian": ("pinocchio computeFrameJacobian", Timed("f(m, d, q, i)", their_names), 5.0),
    }
    configurations = np.array([robot.random_configuration(i) for i in range(BATCH)])
    results = []
    for name, (peer, their_call, target) in peers.items():
        bound, shape = robot.function(name, frame=FRAME), robot.program(name, frame=FRAME).shape
        counts = str(robot.count(name, frame=FRAME))
        single, plain, state, time = side_by_side(
            Timed("f(q, out=o)", {"f": bound, "q": q, "o": np.zeros(shape)}),
            Timed(f"robot.{name}(frame, q)", {"robot": robot, "frame": FRAME, "q": q}),
            Timed("f(q, out=o)", {"f": bound, "q": configurations, "o": np.zeros((BATCH, *shape))}, number=5),
            their_call,
            rounds=150,
        )
        results += [
            Result(f"{name}, bound", single, "ns", None, peer, time, target, counts),
            Result(f"{name}, plain method", plain, "ns", None, peer, time, 2.5),
            Result(f"{name}, per state of {BATCH}", state / BATCH, "ns", None, peer, time, 30.0),
        ]
    return [*results, overhead()]


def overhead() -> Result:
    """A call with three inputs and ``out=`` of a program that does nothing to speak of."""
    from dqdyn.compile.runtime.function import Function
    from dqdyn.compile.trace.tracer import trace

    program = trace("empty", [("q", 7), ("v", 7), ("a", 7)], lambda q, v, a: ([q[0]], (1,)))
    x, out = np.zeros(7), np.zeros(1)
    time = per_call("f(x, x, x, out=o)", f=Function(program).fast, x=x, o=out)
    return Result("call overhead, three inputs and out=", time, "ns", target=60.0)


def _same(a: np.ndarray, b: np.ndarray) -> None:
    if not np.allclose(a, b, atol=1e-9):
        raise SystemExit(f"the results differ by {np.abs(a - b).max():.3g}: this would compare different things")
