"""What parameters as inputs cost: operations against the constant form, and a thousand robots by one program."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.measure import Result, Timed, side_by_side
from benchmarks.robots import panda

JOINTS = ("gravity", "damping", "friction", "armature")
NATURAL = ("mass", "center_of_mass", "rotational_inertia")
ROBOTS = 1000


def run() -> list[Result]:
    """Operations of the Panda with parameters as inputs, and the rate over different robots."""
    robot, _ = panda()
    by_table = panda_by_table(robot)
    cases: list[tuple[str, Any, tuple[str, ...], float]] = [
        ("inertia, gravity, friction, armature", robot, ("inertia", *JOINTS), 2.5),
        ("masses, centers, tensors, gravity, friction, armature", robot, (*NATURAL, *JOINTS), 2.5),
        ("these and poses of joints", robot, ("inertia", *JOINTS, "joint_poses"), 5.0),
        ("these and DH constants", by_table, ("inertia", *JOINTS, "dh"), 5.0),
    ]
    results = []
    for function in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        for words, on, names, most in cases:
            constant = on.count(function).total
            found = on.count(function, parameters=list(names))
            claim = most if function == "inverse_dynamics" else None
            note = f"{found}; {found.total} against {constant}"
            results.append(Result(f"{function} with {words}", found.total / constant, "×", claim, note=note))
    return [*results, *_different_robots(by_table)]


def panda_by_table(robot: Any) -> Any:
    """The Panda by its modified Denavit-Hartenberg table, with the same inertias: the URDF's frames are those of it."""
    import dqdyn as dq

    quarter = np.pi / 2
    d = [0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0]
    a = [0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088]
    alpha = [0.0, -quarter, quarter, quarter, -quarter, quarter, quarter]
    inertias = [body.inertia for body in robot.bodies]
    made = dq.from_dh(np.column_stack([np.zeros(7), d, a, alpha]), modified=True, inertias=inertias, name="panda_dh")
    state = np.random.default_rng(0).normal(size=(3, 7))
    if not np.allclose(made.inverse_dynamics(*state), robot.inverse_dynamics(*state), atol=1e-9):
        raise SystemExit("the Panda by its table is not the Panda of the URDF")
    return made


def _different_robots(robot: Any) -> list[Result]:
    """Inverse dynamics of a thousand robots that differ in all parameters, per robot, against rebuilding each."""
    names = ["inertia", *JOINTS, "dh"]
    rng = np.random.default_rng(1)
    own = robot.parameters(names)
    rows = {n: np.ascontiguousarray(x * rng.uniform(0.9, 1.1, size=(ROBOTS, 1))) for n, x in own.items()}
    f, plain = robot.function("inverse_dynamics", parameters=names), robot.function("inverse_dynamics")
    q, v, a = rng.normal(size=(3, ROBOTS, robot.nv))
    given = {"f": f, "q": q, "v": v, "a": a, "rows": tuple(rows.values()), "out": np.empty((ROBOTS, robot.nv))}
    call = "f(q, v, a, *rows, out=out, check=False, threads={})"
    timed = [Timed(call.format(k), given, number=5, untimed=1) for k in (1, 2)]
    same = Timed("f(q, v, a, out=out, check=False)", {**given, "f": plain}, number=5, untimed=1)
    one, two, constant = (t / ROBOTS for t in side_by_side(*timed, same, rounds=40))
    start, few = time.perf_counter(), 3
    for k in range(few):
        other = robot.with_parameters({n: x[k] for n, x in rows.items()})
        other.inverse_dynamics(q[k], v[k], a[k])
    rebuilt = (time.perf_counter() - start) / few * 1e9
    return [
        Result(
            f"{ROBOTS} different robots, per robot", one, "ns", None, "rebuilding and compiling each", rebuilt, 1000.0
        ),
        Result(f"{ROBOTS} different robots, two threads", two, "ns", None, "one thread", one),
        Result(f"{ROBOTS} states of one robot, per state", constant, "ns", None, "different robots", one),
    ]
