"""The states of a running roll-out: as rows for the caller, component by component for the machine code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dqdyn.caching import cached_property
from dqdyn.compile.interpret import interpret
from dqdyn.compile.rollout import Rollout
from dqdyn.compile.threads import share


class Runner:
    """The states of a running roll-out, the inputs that act on them, and the memory that they need.

    ``states`` (B, size), with ``batch=False`` one of them; ``inputs`` (steps or 1, B or 1, inputs): one for all steps
    or one per step. Every ``every``-th state is recorded.
    """

    def __init__(
        self, rollout: Rollout, states: np.ndarray, start: float, dt: float, every: int = 1, batch: bool = True
    ) -> None:
        self.rollout, self.start, self.dt, self.every = rollout, float(start), float(dt), int(every)
        self.count, self.batch = len(states), batch
        self.native = rollout.function(batch)
        self.width = rollout.lanes(batch)
        self.blocks = -(-self.count // self.width)
        first = self._lanes(states)
        self.state, self._other = _aligned(first.shape), _aligned(first.shape)
        self.state[...] = first
        self.done = 0
        self.flags = 0

    def _lanes(self, rows: np.ndarray) -> np.ndarray:
        """(…, B, n) as (…, blocks, n, width); the last block repeats the last state."""
        rows = np.asarray(rows, dtype=float)
        missing = self.blocks * self.width - rows.shape[-2]
        if missing:
            rows = np.concatenate([rows, np.repeat(rows[..., -1:, :], missing, axis=-2)], axis=-2)
        blocks = rows.reshape(*rows.shape[:-2], self.blocks, self.width, rows.shape[-1])
        return np.array(np.swapaxes(blocks, -1, -2), order="C")

    def _rows(self, lanes: np.ndarray) -> np.ndarray:
        rows = np.swapaxes(lanes, -1, -2)
        return rows.reshape(*rows.shape[:-3], self.blocks * self.width, rows.shape[-1])[..., : self.count, :]

    @property
    def states(self) -> np.ndarray:
        """The states now, (B, size)."""
        return self._rows(self.state)

    def step(self, u: np.ndarray) -> np.ndarray:
        """One step under the inputs u (B, inputs), nothing recorded; the states (B, size)."""
        if self.native is None or self.blocks * self.width > 1:
            self.run(u[None], 1, record=False)
            return self.states
        fixed = self._single
        self._single_input[...] = u[0]
        self.flags |= self.native(*fixed, self.done, 1, 2, 0, 0)
        self.done += 1
        return self._single_state

    @cached_property
    def _single(self) -> tuple[Any, ...]:
        """Arguments of the loop that do not change, for one state."""
        self._single_input, self._single_state = np.empty(self.rollout.inputs), self.state.reshape(1, -1)
        at = [a.ctypes.data for a in (self.state, self._other, self._single_input)]
        return (*at, 0, self.rollout.table.ctypes.data, self.start, self.dt)

    def run(self, inputs: np.ndarray, n: int, threads: int = 1, record: bool = True) -> np.ndarray:
        """``n`` steps; the recorded states (records, B, kept). ``n`` is a multiple of ``every``."""
        r, records = self.rollout, n // self.every if record else 0
        every = self.every if record else n + 1
        out = np.empty((records, self.blocks, r.kept, self.width))
        many = self._lanes(np.broadcast_to(inputs, (len(inputs), self.count, r.inputs)))
        stride = 0 if len(many) == 1 else self.blocks * r.inputs * self.width
        if self.native is None:
            self._interpret(many, n, out, every)
        elif n:
            self._native(many, stride, n, out, every, threads)
        self.done += n
        return self._rows(out)

    def _native(self, inputs: np.ndarray, stride: int, n: int, out: np.ndarray, every: int, threads: int) -> None:
        r = self.rollout
        state, other, given, table, kept = (a.ctypes.data for a in (self.state, self._other, inputs, r.table, out))
        arguments: list[float] = [state, other, given, stride, table, self.start, self.dt, self.done, n, every, kept]
        arguments.append(self.blocks * r.kept * self.width)
        if self.blocks == 1:
            self.flags |= self.native(*arguments)
            return
        words = [int(np.float64(x).view(np.int64)) if isinstance(x, float) else x for x in arguments]
        self.flags |= share(r.blocks, words, self.blocks, threads, grain=1)

    def _interpret(self, inputs: np.ndarray, n: int, out: np.ndarray, every: int) -> None:
        r = self.rollout
        state = [self.state[:, c, 0] for c in range(r.size)]
        for k in range(n):
            given = inputs[0 if len(inputs) == 1 else k]
            u = [given[:, c, 0] for c in range(r.inputs)]
            time = [self.start + (self.done + k) * self.dt, self.dt]
            with np.errstate(all="ignore"):
                for program, row in zip(r.order, r.table.tolist(), strict=True):
                    state = interpret(r.programs[program], [state, u, row, time])
            if (k + 1) % every == 0:
                for c in range(r.kept):
                    out[k // every, :, c, 0] = state[c]
        for c in range(r.size):
            self.state[:, c, 0] = state[c]


def _aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Memory that starts with a cache line, so that no vector lies across two."""
    size = math.prod(shape)
    memory = np.empty(size + 8)
    first = -(memory.ctypes.data // 8) % 8
    return memory[first : first + size].reshape(shape)
