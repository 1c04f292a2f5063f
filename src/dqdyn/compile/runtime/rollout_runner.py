"""The states of a running roll-out: as rows for the caller, component by component for machine code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.compile.codegen.rollout import Rollout
from dqdyn.compile.runtime.pacing import Pace
from dqdyn.compile.runtime.threads import share
from dqdyn.compile.trace.interpret import interpret

_FIRST = 2e6
"""Operations on one block of states in the first call: a millisecond, or ten on a very slow machine."""

_CALLS = 4
"""Calls in a patch of steps, so that work done once per patch costs little."""
_BLOCKS = 1000
"""Blocks that are copied at once, at first."""
_SHARE = 8
"""Blocks for each thread in one call, so that none waits for long."""


class Runner:
    """The states of a running roll-out, the inputs that act on them, and their memory.

    ``states`` (B, size), with ``batch=False`` one of them; components missing at their end are 0. ``inputs`` (steps or
    1, B or 1, inputs): one for all steps or one per step. Every ``every``-th state is recorded.
    """

    def __init__(
        self, rollout: Rollout, states: Array, start: float, dt: float, every: int = 1, batch: bool = True
    ) -> None:
        self.rollout, self.start, self.dt, self.every = rollout, float(start), float(dt), int(every)
        self.count, self.batch = len(states), batch
        self.native = rollout.function(batch)
        self.width = rollout.lanes(batch)
        self.blocks = -(-self.count // self.width)
        shape = self.blocks, rollout.size, self.width
        self.state, self._other = _aligned(shape), _aligned(shape)
        given = states.shape[1]
        for i, j in Pace(_BLOCKS).parts(self.blocks):
            self.state[i:j, :given] = self._lanes(states[i * self.width : j * self.width], j - i)
            self.state[i:j, given:] = 0.0
        self._held: Array | None = None
        operations = sum(rollout.programs[k].counts.total for k in rollout.order)
        self._pace = Pace(_FIRST / max(operations, 1))
        self.done = 0
        self.flags = 0

    def _lanes(self, rows: Array, blocks: int) -> Array:
        """(…, B, n) as (…, blocks, n, width); the last block repeats the last state."""
        rows = np.asarray(rows, dtype=float)
        missing = blocks * self.width - rows.shape[-2]
        if missing:
            rows = np.concatenate([rows, np.repeat(rows[..., -1:, :], missing, axis=-2)], axis=-2)
        apart = rows.reshape(*rows.shape[:-2], blocks, self.width, rows.shape[-1])
        return np.array(np.swapaxes(apart, -1, -2), order="C")

    def _rows(self, lanes: Array) -> Array:
        """(…, blocks, n, width) as (…, B, n)."""
        rows: Array = np.swapaxes(lanes, -1, -2)
        if self.width > 1:
            apart, rows = rows, np.empty(rows.shape)
            for start, end in Pace(_BLOCKS).parts(self.blocks):
                rows[..., start:end, :, :] = apart[..., start:end, :, :]
        return rows.reshape(*rows.shape[:-3], self.blocks * self.width, rows.shape[-1])[..., : self.count, :]

    @property
    def states(self) -> Array:
        """The states now, (B, size)."""
        return self.leading(self.rollout.size)

    def leading(self, components: int) -> Array:
        """The first components of the states now, (B, components)."""
        return self._rows(self.state[:, :components])

    def replace(self, which: npt.NDArray[np.intp], states: Array) -> None:
        """Put other states (n, given) in place of some, by their numbers (n,); components missing at the end are 0."""
        block, lane, given = which // self.width, which % self.width, states.shape[1]
        self.state[block, :given, lane] = states
        self.state[block, given:, lane] = 0.0

    def step(self, u: Array) -> Array:
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

    def run(self, inputs: Array | None, n: int, threads: int = 1, record: bool = True) -> Array:
        """``n`` steps; the states (records, B, kept) at those whose number is a multiple of ``every``.

        ``inputs`` None stands for those of :meth:`hold`. An exception of a signal handler may end this between two
        steps of some states; the states are then of different times, and only earlier results are valid.
        """
        r, records = self.rollout, (self.done + n) // self.every - self.done // self.every if record else 0
        out = np.empty((records, self.blocks, r.kept, self.width))
        many = self._held if inputs is None else self._inputs(inputs)
        assert many is not None
        work = self._interpret if self.native is None else self._native
        # Many steps of some blocks rather than a few of all: the states stay in cache.
        group = min(self.blocks, 1 if threads == 1 else _SHARE * threads)
        step, written = 0, 0
        while step < n:
            m = min(n - step, max(1, self._pace.amount // group))
            left = self.every - self.done % self.every  # steps to the next state that is recorded
            if record and left == self.every <= m:
                m -= m % self.every
                part, every = out[written : written + m // self.every], self.every
            else:
                m = min(m, left) if record else m
                part, every = out[:0], m + 1
            work(many if len(many) == 1 else many[step : step + m], m, part, every, threads)
            self.done, step, written = self.done + m, step + m, written + len(part)
            if record and not len(part) and m == left:
                out[written] = self.state[:, : r.kept]
                written += 1
        return self._rows(out)

    def hold(self, inputs: Array) -> None:
        """Inputs (1, B or 1, inputs) for all steps of the runs to come."""
        self._held = self._inputs(inputs)

    def _inputs(self, inputs: Array) -> Array:
        return self._lanes(np.broadcast_to(inputs, (len(inputs), self.count, self.rollout.inputs)), self.blocks)

    @property
    def patch(self) -> int:
        """Steps, one or more, after which a caller may want to inspect the states: those of some calls."""
        return max(1, _CALLS * self._pace.amount // self.blocks)

    def _native(self, inputs: Array, n: int, out: Array, every: int, threads: int) -> None:
        """``n`` steps of all blocks, in as many calls as the pace requires."""
        r, width = self.rollout, self.width
        stride = 0 if len(inputs) == 1 else self.blocks * r.inputs * width
        state, other, given, table, kept = (a.ctypes.data for a in (self.state, self._other, inputs, r.table, out))
        for start, end in self._pace.parts(self.blocks, n):
            skip = 8 * width * start  # bytes per component of the blocks before
            at = [state + skip * r.size, other + skip * r.size, given + skip * r.inputs, kept + skip * r.kept]
            arguments: list[float] = [*at[:3], stride, table, self.start, self.dt, self.done, n, every, at[3]]
            arguments.append(self.blocks * r.kept * width)
            if self.blocks == 1:
                self.flags |= self.native(*arguments)
            else:
                words = [int(np.float64(x).view(np.int64)) if isinstance(x, float) else x for x in arguments]
                self.flags |= share(r.blocks, words, end - start, threads, grain=1)

    def _interpret(self, inputs: Array, n: int, out: Array, every: int, threads: int) -> None:
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


def _aligned(shape: tuple[int, ...]) -> Array:
    """Memory aligned to cache lines, so that no vector crosses two."""
    size = math.prod(shape)
    memory = np.empty(size + 8)
    first = -(memory.ctypes.data // 8) % 8
    return memory[first : first + size].reshape(shape)
