"""Inverse dynamics of the Panda against other code generators: adam-robotics by CasADi's C code, and by JAX in batches.

adam-robotics lives in an environment of its own, in the user's cache folder, for it wants an older JAX. Both sides take
turns. Its C code runs in a loop written in C, ours is called from Python: the comparison favours the peer.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environments import CannotInstall, environment, variables
from benchmarks.measure import Result, Timed, side_by_side
from benchmarks.robots import panda
from dqdyn.formats.urdf.writer import write_urdf

REQUIREMENTS = ["adam-robotics==0.5.0", "jax<=0.6.0", "jaxlib<=0.6.0", "liecasadi"]
BATCH, ROUNDS = 10_000, 12
AT_LEAST = {"c": 5.0, "jax": 300.0}


def run() -> list[Result]:
    """Ours per call and per state of a batch, next to the peer's; nothing where the peer cannot be installed."""
    try:
        interpreter = environment(REQUIREMENTS)
    except CannotInstall as problem:
        print(f"skipped: {problem}")
        return []
    robot, _ = panda()
    rng = np.random.default_rng(0)
    q = np.array([robot.random_configuration(rng) for _ in range(BATCH)])
    v, a = rng.normal(size=(2, BATCH, robot.nv))
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "states.npz"
        np.savez(stored, q=q, v=v, a=a, joints=[joint.name for joint in robot.joints])
        script = Path(__file__).with_name("code_generators_peer.py")
        urdf = Path(folder) / "panda.urdf"  # with fixed fingers: adam-robotics fails on prismatic joints
        urdf.write_text(write_urdf(robot.model), encoding="utf-8")
        command = [str(interpreter), str(script), str(urdf), str(stored)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables(), cwd=folder
        )
        with process:
            return _compared(robot, (q, v, a), process)


def _compared(robot: Any, states: tuple[np.ndarray, ...], peer: subprocess.Popen[str]) -> list[Result]:
    assert peer.stdin is not None
    assert peer.stdout is not None
    hello = json.loads(peer.stdout.readline())

    def ask(question: str) -> Any:
        print(question, file=peer.stdin, flush=True)
        return json.loads(peer.stdout.readline())  # type: ignore[union-attr]

    f = robot.function("inverse_dynamics")
    expected = f(*states)
    for name, found in ask("check").items():
        if not np.allclose(found, expected[: len(found)], rtol=1e-8, atol=1e-8):
            raise SystemExit(f"adam-robotics by {name} computes something else: {found[0]} and {expected[0]}")
    one = dict(zip("qva", (x[0].copy() for x in states), strict=True))
    many = dict(zip("qva", states, strict=True))
    best = {"c": float("inf"), "jax": float("inf"), "one": float("inf"), "many": float("inf")}
    out = {"one": np.zeros(robot.nv), "many": np.zeros((BATCH, robot.nv))}
    for _ in range(ROUNDS):
        best["c"] = min(best["c"], ask("c 20000") / 20_000 * 1e9)
        best["jax"] = min(best["jax"], ask("jax 2") / (2 * BATCH) * 1e9)
        single, batch = side_by_side(
            Timed("f(q, v, a, out=o)", {"f": f, "o": out["one"], **one}),
            Timed("f(q, v, a, out=o)", {"f": f, "o": out["many"], **many}, number=2, untimed=1),
            rounds=5,
        )
        best["one"], best["many"] = min(best["one"], single), min(best["many"], batch / BATCH)
    peer.stdin.close()
    title, name = "panda inverse_dynamics", f"adam-robotics {hello['version']}"
    note = f"{robot.count('inverse_dynamics')}; CasADi {hello['operations']} instructions"
    return [
        Result(f"{title}, one state", best["one"], "ns", None, f"{name}, C of CasADi", best["c"], AT_LEAST["c"], note),
        Result(
            f"{title}, per state of {BATCH}", best["many"], "ns", None, f"{name}, JAX", best["jax"], AT_LEAST["jax"]
        ),
    ]
