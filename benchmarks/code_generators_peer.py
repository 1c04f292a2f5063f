"""The Panda's inverse dynamics by adam-robotics, in an environment of its own; run by ``benchmarks.code_generators``.

``python code_generators_peer.py ROBOT.urdf STATES.npz`` answers the lines of standard input by lines of JSON: "check"
by torques of the first states, "c 1000" and "jax 3" by the seconds that so many calls took: of CasADi's C code for one
state, in a loop written in C, and of JAX for the whole batch.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

_LOOP = """
void repeat(const double** in, double** out, long n) {
  casadi_int iw[@IW@ + 1];
  casadi_real w[@W@ + 1];
  for (long k = 0; k < n; ++k) tau(in, out, iw, w, 0);
}
"""
_ONE_STATE = 8  # states that are checked


class InC:
    """M a + bias as C code of CasADi, compiled by the machine's compiler for this processor."""

    def __init__(self, urdf: str, joints: list[str]) -> None:
        import casadi as cs
        from adam.casadi import KinDynComputations

        robot = KinDynComputations(urdf, joints, gravity=np.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0]))
        q, v, a = (cs.SX.sym(name, len(joints)) for name in ("q", "v", "a"))
        base, still = cs.SX.eye(4), cs.SX.zeros(6)
        tau = robot.mass_matrix(base, q)[6:, 6:] @ a + robot.bias_force(base, q, still, v)[6:]
        function = cs.Function("tau", [q, v, a], [tau], {"cse": True})
        self.operations = function.n_instructions()
        self.folder = tempfile.TemporaryDirectory()
        source, library = Path(self.folder.name) / "tau.c", Path(self.folder.name) / "tau.so"
        function.generate("tau.c", {"with_header": False})
        Path("tau.c").rename(source)
        loop = _LOOP.replace("@IW@", str(function.sz_iw())).replace("@W@", str(function.sz_w()))
        source.write_text(source.read_text() + loop)
        flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
        self.repeat = ctypes.CDLL(str(library)).repeat

    def run(self, state: list[np.ndarray], n: int) -> np.ndarray:
        """n times the same state."""
        out = np.zeros(state[0].size)
        given = (ctypes.c_void_p * 3)(*(x.ctypes.data for x in state))
        result = (ctypes.c_void_p * 1)(out.ctypes.data)
        self.repeat(given, result, ctypes.c_long(n))
        return out


class InJax:
    """The same through JAX, mapped over a batch and compiled."""

    def __init__(self, urdf: str, joints: list[str], states: list[np.ndarray]) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp
        from adam.jax import KinDynComputations

        robot = KinDynComputations(urdf, joints, gravity=np.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0]))
        base, still = jnp.eye(4), jnp.zeros(6)

        def tau(q: Any, v: Any, a: Any) -> Any:
            return robot.mass_matrix(base, q)[6:, 6:] @ a + robot.bias_force(base, q, still, v)[6:]

        self.states = [jnp.asarray(x) for x in states]
        self.function = jax.jit(jax.vmap(tau))

    def run(self, n: int) -> np.ndarray:
        for _ in range(n):
            result = self.function(*self.states).block_until_ready()
        return np.asarray(result)


def main() -> None:
    with np.load(sys.argv[2]) as stored:
        joints, states = [str(name) for name in stored["joints"]], [stored[k] for k in ("q", "v", "a")]
    in_c, in_jax = InC(sys.argv[1], joints), InJax(sys.argv[1], joints, states)
    print(json.dumps({"version": version("adam-robotics"), "operations": in_c.operations}), flush=True)
    for line in sys.stdin:
        what, _, count = line.strip().partition(" ")
        one = [np.ascontiguousarray(x[0]) for x in states]
        if what == "check":
            by_c = [in_c.run([np.ascontiguousarray(x[k]) for x in states], 1).tolist() for k in range(_ONE_STATE)]
            print(json.dumps({"c": by_c, "jax": in_jax.run(1)[:_ONE_STATE].tolist()}), flush=True)
            continue
        start = time.perf_counter()
        if what == "c":
            in_c.run(one, int(count))
        else:
            in_jax.run(int(count))
        print(json.dumps(time.perf_counter() - start), flush=True)


if __name__ == "__main__":
    main()
