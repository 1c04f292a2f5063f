"""The robot's part of MuJoCo's state, in our coordinates: a quick way for loops.

:class:`dqdyn.model.layouts.Layout` is the definition, with matrices; MuJoCo's coordinates are ours in another order
but for free joints, whose linear velocity is in world axes there. Tests hold the two together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.model.layouts import Layout


class EngineState:
    """Reads q and v out of MuJoCo's data, and writes generalized forces into it."""

    def __init__(self, engine: Any, layout: Layout) -> None:
        self.layout, self._rotate = layout, engine.mju_rotVecQuat
        nq, nv = layout.model.nq, layout.model.nv
        self._q, self._v = np.zeros(nq, dtype=int), np.zeros(nv, dtype=int)
        self._free: list[tuple[slice, slice, slice]] = []  # of our quaternion, our linear velocity, theirs
        for block in layout.blocks:
            joint = block.joint
            if joint.master is not None:
                continue
            there_q = block.back(np.arange(block.q.start, block.q.stop, dtype=float)).astype(int)
            self._q[joint.q] = there_q
            v = joint.v.start
            if joint.kind == "free":
                first = block.v.start
                self._v[v : v + 6] = [first + k for k in (3, 4, 5, 0, 1, 2)]
                self._free.append(
                    (slice(joint.q.start, joint.q.start + 4), slice(v + 3, v + 6), slice(first, first + 3))
                )
            else:
                self._v[joint.v] = np.arange(block.v.start, block.v.stop)
        self._turned, self._inverse = np.zeros(3), np.zeros(4)

    def read(self, data: Any) -> tuple[Array, Array]:
        """q and v, new arrays."""
        q, v = data.qpos[self._q], data.qvel[self._v]
        for rotation, linear, _ in self._free:
            w, x, y, z = q[rotation]
            self._inverse[:] = (w, -x, -y, -z)
            self._rotate(self._turned, v[linear], self._inverse)
            v[linear] = self._turned
        return q, v

    def apply(self, data: Any, q: Array, tau: Array) -> None:
        """Put generalized forces τ at q into ``qfrc_applied``."""
        data.qfrc_applied[self._v] = tau
        for rotation, linear, there in self._free:
            self._rotate(self._turned, tau[linear], q[rotation])
            data.qfrc_applied[there] = self._turned
