"""All that a controller evaluates at a state, as one compiled program.

Inputs are the time, the state, the signals with their rates, and the gains, so that targets and obstacles move and
gains change without a new program. Outputs are blocks of one array: the quadratic program itself (H, f, A and bounds),
and what a controller reports (errors, distances, their rates).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from dqdyn.algebra.scalar import Scalar, less, select, total
from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.constraints import assembled
from dqdyn.control.core.command_constraint import CommandBound, Context, MassAndBias, Matrix
from dqdyn.control.core.design import Design
from dqdyn.control.core.kinematics import Rows
from dqdyn.control.core.task import Task
from dqdyn.control.features.signals import SignalBuffer
from dqdyn.control.qp.conflict import NamedRows
from dqdyn.control.qp.solver import INFINITE, ProblemSize
from dqdyn.model.model import Model

Dynamics = Callable[[list[Scalar], list[Scalar]], MassAndBias]
Blocks = dict[str, Matrix | list[Scalar]]


class Composition:
    """The program of a robot, a level ("velocity" or "acceleration") and the parts of a controller."""

    def __init__(self, model: Model, level: str, design: Design, dynamics: Dynamics | None = None) -> None:
        self.model, self.level, self.design, self.dynamics = model, level, design, dynamics
        self.buffer = SignalBuffer(design.signals)
        task_gains = [(t.gain, 0.0) if level == "velocity" else t.gains for t in design.all_tasks]
        own_gains = [gains for c in design.constraints for gains in c.initial_gains(model, level)]
        self.gains = np.array([*task_gains, *own_gains, (0.0, 0.0)])  # a program takes no empty input
        self._blocks: dict[str, tuple[slice, tuple[int, ...]]] = {}
        inputs = [*self.buffer.inputs(model), ("gains", self.gains.size)]
        self.program = trace(f"{level}_control", inputs, self._trace)
        self.function = Function(self.program, summary="The quadratic program of a controller at a state.").fast
        self.out = np.zeros(self.program.shape)
        self.views = {name: self.out[part].reshape(shape) for name, (part, shape) in self._blocks.items()}
        self._gains = self.gains.reshape(-1)
        self._t = np.zeros(1)

    def evaluate(self, t: float, q: Array, v: Array) -> None:
        """Compute all blocks; they are in :attr:`views`."""
        buffer = self.buffer
        buffer.update(t)
        self._t[0] = t
        self.function(self._t, q, v, buffer.value, buffer.rate, buffer.acceleration, self._gains, out=self.out)

    # --- tracing ----------------------------------------------------------------------------------------------------

    def _trace(self, *inputs: list[Scalar]) -> tuple[list[Scalar], tuple[int, ...]]:
        t, q, v, *signals, gains = inputs
        given = lambda signal: self.buffer.motion(signal, t[0], *signals)
        pairs = list(zip(gains[::2], gains[1::2], strict=True))
        context = Context(self.model, self.level, q, v, given, pairs, dynamics=self.dynamics)
        tasks = {id(task): self._task_rows(context, task) for task in self.design.all_tasks}
        self.task_sizes = {key: len(residual) for key, (_, residual) in tasks.items()}
        first = [tasks[id(task)][0] for task in (self.design.tasks or ((),))[0]]
        context.task_errors = [c for rows in first for c in rows.value]
        context.task_rates = [c for rows in first for c in rows.rate or ()]
        level = self.level if self.dynamics is None else "torque"
        owned = [(bound, c) for c in self.design.constraints for bound in c.bounds(context)]
        self.guard_owners = [c for bound, c in owned if bound.gains is not None]
        bounds = [(bound, c.gives_way(level)) for bound, c in owned]
        blocks: Blocks = {}
        for k, of_level in enumerate(self.design.tasks):
            blocks |= self._objective(k, [(task, *tasks[id(task)]) for task in of_level])
        equal = list(zip(*self._robot_constraints(context, t[0]), strict=True))
        for rows, residual in (tasks[id(task)] for task in self.design.equalities):
            equal += [(row, -r) for row, r in zip(rows.jacobian, residual, strict=True)]
        self._collect(blocks, equal, bounds)
        for name, of in (("error", "value"), ("error_rate", "rate"), ("jacobian", "jacobian")):
            blocks[name] = [e for task in self.design.all_tasks for e in getattr(tasks[id(task)][0], of) or ()]
        return self._flat(blocks)

    def _task_rows(self, context: Context, task: Task) -> tuple[Rows, list[Scalar]]:
        """The task's rows, and r of its residual J u + r."""
        _, gains = context.next_gains()
        rows = task.rows(context.state, [context.given(signal) for signal in task.signals])
        return rows, [rows.decay(i, gains) for i in range(len(rows.value))]

    def _robot_constraints(self, context: Context, t: Scalar) -> tuple[Matrix, list[Scalar]]:
        """Those of the robot itself, such as a base that does not slip sideways."""
        if not self.model.constraints:
            return [], []
        if self.level == "velocity":
            return assembled.velocity(self.model, context.q, t)
        return assembled.acceleration(self.model, context.q, context.v, t)

    def _objective(self, k: int, tasks: list[tuple[Task, Rows, list[Scalar]]]) -> Blocks:
        """H = Σ w JᵀJ + λ² and f = Σ w Jᵀr of one level."""
        n, damping = self.model.nv, self.design.damping**2
        jacobian = [(task.weight, row) for task, rows, _ in tasks for row in rows.jacobian]
        residual = [c for _, _, right in tasks for c in right]
        H: Matrix = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i, n):
                entry: Scalar = damping if i == j else 0.0
                for weight, row in jacobian:
                    entry = entry + weight * (row[i] * row[j])
                H[i][j] = H[j][i] = entry
        f: list[Scalar] = [0.0] * n
        for (weight, row), r in zip(jacobian, residual, strict=True):
            f = [fk + weight * (c * r) for fk, c in zip(f, row, strict=True)]
        return {f"H{k}": H, f"f{k}": f, f"J{k}": [row for _, row in jacobian]}

    def _collect(
        self, blocks: Blocks, equal: Sequence[tuple[list[Scalar], Scalar]], bounds: list[tuple[CommandBound, bool]]
    ) -> None:
        """A and its bounds in the solver's order, and the bounds on axes one by one for reports."""
        n = self.model.nv
        self._on_axes = [(b, may) for b, may in bounds if b.axis is not None]
        self._general = [(b, may) for b, may in bounds if b.axis is None]
        upper: list[Scalar] = [INFINITE] * n if self._on_axes else []
        lower: list[Scalar] = [-INFINITE] * n if self._on_axes else []
        for bound, _ in self._on_axes:
            k = bound.axis or 0
            upper[k], lower[k] = _least(upper[k], bound.right), -_least(-lower[k], -bound.left)
        A = blocks["A"] = [row for row, _ in equal] + [bound.normal for bound, _ in self._general]
        blocks["upper"] = [*upper, *(right for _, right in equal), *(bound.right for bound, _ in self._general)]
        blocks["lower"] = [*lower, *(right for _, right in equal), *(bound.left for bound, _ in self._general)]
        blocks["axis_right"] = [bound.right for bound, _ in self._on_axes]
        blocks["axis_left"] = [bound.left for bound, _ in self._on_axes]
        self.size = ProblemSize(n, bool(self._on_axes), len(A), len(equal))
        guarded = [bound for bound, _ in bounds if bound.gains is not None]
        self.guards = [bound.name for bound in guarded]
        self.guard_gains = [bound.gains for bound in guarded]
        blocks["squares"] = [_squares(blocks.get("H0", [])), *(_squares([row]) for row in A)]
        blocks["h"] = [bound.h for bound in guarded]
        blocks["h_rate"] = [bound.rate for bound in guarded if bound.rate is not None]

    def _flat(self, blocks: Blocks) -> tuple[list[Scalar], tuple[int, ...]]:
        entries: list[Scalar] = []
        for name, block in blocks.items():
            is_matrix = name in ("A", "jacobian") or name[0] in "HJ"
            flat = [c for row in block for c in row] if is_matrix else block
            shape = (len(block), self.model.nv) if is_matrix else (len(block),)
            self._blocks[name] = slice(len(entries), len(entries) + len(flat)), shape
            entries += flat
        return entries, (len(entries),)

    # --- for reports --------------------------------------------------------------------------------------------------

    def rows(self) -> NamedRows:
        """The bounds at the last state, one-sided and named."""
        views, n, first = self.views, self.model.nv, self.size.first
        axes = [bound.axis or 0 for bound, _ in self._on_axes]
        tasks = [task.name for task in self.design.equalities for _ in range(self.task_sizes[id(task)])]
        named = [
            *((bound.name, may) for bound, may in self._on_axes),
            *((name, False) for name in (*assembled.names(self.model), *tasks)),
            *((bound.name, may) for bound, may in self._general),
        ]
        normals = np.vstack([np.eye(n)[axes], views["A"]])
        right = np.concatenate([views["axis_right"], views["upper"][first:]])
        left = np.concatenate([views["axis_left"], views["lower"][first:]])
        a, b = np.stack([normals, -normals], axis=1).reshape(-1, n), np.stack([right, -left], axis=1).ravel()
        index = np.repeat([*axes, *range(first, self.size.sides)], 2).astype(int)
        bounded = np.flatnonzero(b < INFINITE)
        names, may = tuple(named[i // 2][0] for i in bounded), [named[i // 2][1] for i in bounded]
        relaxable = np.array(may, dtype=bool)
        return NamedRows(a[bounded], b[bounded], names, relaxable, index[bounded], bounded % 2 == 0)


def _squares(rows: Iterable[list[Scalar]]) -> Scalar:
    return total([c * c for row in rows for c in row] or [0.0])


def _least(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(b, float) and b >= INFINITE:
        return a
    if isinstance(a, float) and a >= INFINITE:
        return b
    return select(less(a, b), a, b)
