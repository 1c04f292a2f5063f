"""Learning: what a state costs in JAX and PyTorch, forward and with its gradient, and steps of Gymnasium environments.

Needs jax, torch, gymnasium and mujoco beside the extra test. ``python -m benchmarks.learning`` prints costs as a table.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any

import numpy as np

from benchmarks.gymnasium_peer import engine_rollouts, sync_rate
from benchmarks.measure import Result, Timed, least, side_by_side
from benchmarks.robots import panda

STATES = (1, 1_000, 100_000)
ENVIRONMENTS = 1024
NEEDED = ("jax", "torch", "gymnasium", "mujoco")


def run() -> list[Result]:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"learning: skipped, for {', '.join(missing)} is not installed", file=sys.stderr)
        return []
    return [*frameworks(), *environments()]


def frameworks() -> list[Result]:
    """Inverse dynamics of the Panda, ns per state: JAX export, native JAX, PyTorch, ours; with gradients too."""
    import jax
    import torch

    import dqdyn as dq

    jax.config.update("jax_enable_x64", True)
    robot, _ = panda()
    name, own = "inverse_dynamics", robot.function("inverse_dynamics")
    exported, native, tensors = robot.export("jax", name), dq.jax.function(robot, name), dq.torch.function(robot, name)
    adjoint = tensors.native.adjoint((0, 1, 2))
    rng, results = np.random.default_rng(0), []

    def gradient(function: Any) -> Any:
        """The result, and the gradients of its product with w."""

        def both(q: Any, v: Any, a: Any, w: Any) -> Any:
            result, pull_back = jax.vjp(function, q, v, a)
            return result, pull_back(w)

        return jax.jit(both)

    for n in STATES:
        q, v, a, w = rng.normal(size=(4, 7) if n == 1 else (4, n, 7))
        given = {"q": q, "v": v, "a": a, "w": w, "own": own, "adjoint": adjoint, "block": jax.block_until_ready}
        given |= {f"j{k}": jax.numpy.asarray(x) for k, x in zip("qvaw", (q, v, a, w), strict=True)}
        given |= {f"t{k}": torch.from_numpy(x).requires_grad_() for k, x in zip("qva", (q, v, a), strict=True)}
        given["tw"] = torch.from_numpy(w)
        arrays = [given[f"j{k}"] for k in "qvaw"]
        start = time.perf_counter()
        given["exported"] = jax.jit(exported).lower(*arrays[:3]).compile()
        taken = time.perf_counter() - start
        given |= {"native": jax.jit(native), "tensors": tensors, "grad": torch.autograd.grad}
        given |= {"exported_gradient": gradient(exported), "native_gradient": gradient(native)}
        statements = {
            "own": "own(q, v, a)",
            "jax export": "block(exported(jq, jv, ja))",
            "jax native": "block(native(jq, jv, ja))",
            "torch": "tensors(tq, tv, ta)",
            "own with gradient": "own(q, v, a); adjoint(q, v, a, w)",
            "jax export with gradient": "block(exported_gradient(jq, jv, ja, jw))",
            "jax native with gradient": "block(native_gradient(jq, jv, ja, jw))",
            "torch with gradient": "grad(tensors(tq, tv, ta), (tq, tv, ta), tw)",
        }
        rounds = 12 if n > 1_000 else 60
        often = {kind: 100 if n == 1 and "own" in kind else 1 for kind in statements}
        timed = [Timed(text, given, often[kind], untimed=1) for kind, text in statements.items()]
        found = dict(zip(statements, side_by_side(*timed, rounds=rounds), strict=True))
        largest = n == STATES[-1]
        for kind, ns in found.items():
            peer = "own with gradient" if kind.endswith("gradient") else "own"
            target, ratio = None, None
            if largest and kind == "jax export":
                target = 1000.0
            if largest and kind in ("jax native", "torch"):
                ratio = 1.0 / 1.5
            against = None if kind == peer else found[peer] / n
            results.append(Result(f"{kind}, {n} states", ns / n, "ns per state", target, peer, against, ratio))
        results.append(Result(f"jax export, {n} states, compiled", taken, "s", 5.0))
    return results


def environments() -> list[Result]:
    """Steps of 1,024 environments of arm7, µs per step of one: ours, Gymnasium's over MuJoCo, mujoco.rollout."""
    import dqdyn as dq

    envs = dq.gym.make_vec(dq.robots.arm7(), dq.gym.Reach("tool"), ENVIRONMENTS, threads=2)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-0.3, 0.3, (ENVIRONMENTS, 7))
    ours = least(lambda: envs.step(actions), 1000) / ENVIRONMENTS * 1e6
    one, two = 1e6 / sync_rate(ENVIRONMENTS, 1), 1e6 / sync_rate(ENVIRONMENTS, 2)
    engine = 1e6 / engine_rollouts(ENVIRONMENTS, threads=2)
    what, unit = f"{ENVIRONMENTS} environments of arm7, two threads", "µs per step"
    peers = {
        "gymnasium.SyncVectorEnv over MuJoCo, one process": (one, None),
        "gymnasium.SyncVectorEnv over MuJoCo, half in each of two processes": (two, 20.0),
        "mujoco.rollout alone, two threads": (engine, None),
    }
    return [
        Result(f"{what}, against {peer}", ours, unit, peer=peer, peer_measured=measured, at_least=ratio)
        for peer, (measured, ratio) in peers.items()
    ]


if __name__ == "__main__":
    from benchmarks.__main__ import show

    sys.exit(show({"learning": run()}))
