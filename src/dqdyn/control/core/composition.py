"""All that a controller evaluates at a state, as one compiled program.

Inputs are the time, the state, the signals with their rates, and the gains, so that targets and obstacles move and
gains change without a new program. Outputs are blocks of one array: the quadratic program itself (H, f, A and bounds),
and what a controller reports (errors, distances, their rates).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalar, less, select, total
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.constraints import assembled
from dqdyn.control.core.command_bound import Constraint, Context, Matrix, Side
from dqdyn.control.core.design import Design
from dqdyn.control.core.differentiate import Given, Rows
from dqdyn.control.core.task import Task
from dqdyn.control.features.signals import Board, Signal
from dqdyn.control.qp.rows import NamedRows
from dqdyn.control.qp.solver import INFINITE, Shape
from dqdyn.model.model import Model

Dynamics = Callable[[list[Scalar], list[Scalar]], tuple[Matrix, list[Scalar]]]


class Composition:
    """The program of a robot, a level ("velocity" or "acceleration") and the parts of a controller."""

    def __init__(self, model: Model, level: str, design: Design, dynamics: Dynamics | None = None) -> None:
        self.model, self.level, self.design, self.dynamics = model, level, design, dynamics
        self.board = Board(design.signals)
        task_gains = [(t.gain, 0.0) if level == "velocity" else t.gains for t in design.all_tasks]
        own = [gains for c in design.constraints for gains in c.initial_gains(model, level)]
        self.gains = np.array([*task_gains, *own, (0.0, 0.0)])  # the last: a program takes no empty input
        self.owners = [c for c in design.constraints for _ in c.initial_gains(model, level)]
        self.first_gain = len(task_gains)
        self._blocks: dict[str, tuple[slice, tuple[int, ...]]] = {}
        n, p = model.nv, self.board.size
        inputs = [("t", 1), ("q", model.nq), ("v", n), ("signals", p), ("rates", p), ("accelerations", p)]
        program = trace(f"{level}_control", [*inputs, ("gains", self.gains.size)], self._trace)
        self.program = program
        self.function = Function(program, summary="The quadratic program of a controller at a state.").fast
        self.out = np.zeros(program.shape)
        self.views = {name: self.out[part].reshape(shape) for name, (part, shape) in self._blocks.items()}
        self._gains = self.gains.reshape(-1)
        self._t = np.zeros(1)

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Compute all blocks; they are in :attr:`views`."""
        board = self.board
        board.update(t)
        self._t[0] = t
        self.function(self._t, q, v, board.value, board.rate, board.acceleration, self._gains, out=self.out)

    # --- tracing ----------------------------------------------------------------------------------------------------

    def _trace(self, *inputs: list[Scalar]) -> tuple[list[Scalar], tuple[int, ...]]:
        context = self._context(*inputs)
        tasks = {id(task): self._task_rows(context, task) for task in self.design.all_tasks}
        self.task_sizes = {key: len(residual) for key, (_, residual) in tasks.items()}
        first = [tasks[id(task)][0] for task in (self.design.tasks or ((),))[0]]
        context.task_errors = [c for rows in first for c in rows.value]
        context.task_rates = [c for rows in first for c in rows.rate or ()]
        sides = [side for c in self.design.constraints for side in self._named(c, c.sides(context))]
        blocks: dict[str, list[Any]] = {}
        for k, level in enumerate(self.design.tasks):
            blocks |= self._objective(k, [(task, *tasks[id(task)]) for task in level])
        equal = [pair for task in self.design.equalities for pair in zip(*self._hard(tasks[id(task)]), strict=True)]
        fixed, right = self._robot_constraints(context, inputs[0][0])
        self._collect(blocks, [*zip(fixed, right, strict=True), *equal], sides)
        for name, of in (("error", "value"), ("error_rate", "rate"), ("jacobian", "jacobian")):
            blocks[name] = [e for task in self.design.all_tasks for e in getattr(tasks[id(task)][0], of) or ()]
        return self._flat(blocks)

    def _context(self, *inputs: list[Scalar]) -> Context:
        t, q, v, value, rate, acceleration, gains = inputs
        where = self.board.where

        def given(signal: Signal) -> Given:
            if signal.inside:
                return signal.at(t[0])
            part = where[id(signal)]
            if not signal.moves:  # its rates are zero whatever its value: nothing to compute
                return Given(value[part], [0.0] * signal.size, [0.0] * signal.size)
            return Given(value[part], rate[part], acceleration[part])

        pairs = [(gains[2 * i], gains[2 * i + 1]) for i in range(len(self.gains))]
        return Context(self.model, self.level, q, v, given, pairs, dynamics=self.dynamics)

    def _task_rows(self, context: Context, task: Task) -> tuple[Rows, list[Scalar]]:
        """The task's rows, and r of its residual J u + r."""
        _, first, second = context.next_gains()
        rows = task.rows(context.state, [context.given(signal) for signal in task.signals])
        if rows.rate is None or rows.drift is None:  # ė = −η e [Quiroz, eq. (3.1)]
            return rows, [z + first * e for z, e in zip(rows.residual, rows.value, strict=True)]
        # ë = −k_d ė − k_p e [Quiroz, eq. (3.3)]
        parts = zip(rows.drift, rows.rate, rows.value, strict=True)
        return rows, [d + first * r + second * e for d, r, e in parts]

    def _hard(self, found: tuple[Rows, list[Scalar]]) -> tuple[list[list[Scalar]], list[Scalar]]:
        rows, right = found
        return rows.jacobian, [-r for r in right]

    def _robot_constraints(self, context: Context, t: Scalar) -> tuple[list[list[Scalar]], list[Scalar]]:
        """Those that the robot has by itself, such as a base that does not slip sideways."""
        if not self.model.constraints:
            return [], []
        if self.level == "velocity":
            return assembled.velocity(self.model, context.q, t)
        return assembled.acceleration(self.model, context.q, context.v, t)

    def _named(self, owner: Constraint, sides: list[Side]) -> list[tuple[Side, bool]]:
        may_give_way = owner.gives_way(self.level if self.dynamics is None else "torque")
        return [(side, may_give_way) for side in sides]

    def _objective(self, k: int, tasks: list[tuple[Task, Rows, list[Scalar]]]) -> dict[str, list[Any]]:
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

    def _collect(self, blocks: dict[str, list[Any]], equal: list[Any], sides: list[tuple[Side, bool]]) -> None:
        """A and the bounds in the solver's order, and the sides one by one for reports."""
        n = self.model.nv
        on_axes = [(s, r) for s, r in sides if s.axis is not None]
        general = [(s, r) for s, r in sides if s.axis is None]
        upper: list[Scalar] = [INFINITE] * n if on_axes else []
        lower: list[Scalar] = [-INFINITE] * n if on_axes else []
        for side, _ in on_axes:
            k = side.axis or 0
            if side.right is not None:
                upper[k] = _least(upper[k], side.right)
            if side.left is not None:
                lower[k] = -_least(-lower[k], -side.left)
        blocks["A"] = [row for row, _ in equal] + [side.normal for side, _ in general]
        rights = [INFINITE if side.right is None else side.right for side, _ in general]
        lefts = [-INFINITE if side.left is None else side.left for side, _ in general]
        blocks["upper"] = [*upper, *(right for _, right in equal), *rights]
        blocks["lower"] = [*lower, *(right for _, right in equal), *lefts]
        blocks["axis_right"] = [INFINITE if s.right is None else s.right for s, _ in on_axes]
        blocks["axis_left"] = [-INFINITE if s.left is None else s.left for s, _ in on_axes]
        self.shape = Shape(n, bool(on_axes), len(equal) + len(general), len(equal))
        self._on_axes, self._general = on_axes, general
        guarded = [side for side, _ in sides if side.h is not None]
        self.guards = [side.name for side in guarded]
        self.guard_gains = [side.gains for side in guarded]
        H = blocks.get("H0", [])
        blocks["squares"] = [total([c * c for row in H for c in row] or [0.0])]
        blocks["squares"] += [total([c * c for c in row]) for row in blocks["A"]]
        blocks["h"] = [side.h for side in guarded]
        blocks["h_rate"] = [side.rate for side in guarded if side.rate is not None]

    def _flat(self, blocks: dict[str, list[Any]]) -> tuple[list[Scalar], tuple[int, ...]]:
        entries: list[Scalar] = []
        for name, block in blocks.items():
            matrix = bool(block) and isinstance(block[0], list)
            flat = [c for row in block for c in row] if matrix else list(block)
            is_matrix = name in ("A", "jacobian") or name[0] in "HJ"
            shape = (len(block), self.model.nv) if is_matrix else (len(block),)
            self._blocks[name] = slice(len(entries), len(entries) + len(flat)), shape
            entries += flat
        return entries, (len(entries),)

    # --- for reports --------------------------------------------------------------------------------------------------

    def equality_names(self) -> list[str]:
        """The name behind each equality row."""
        sizes = self.task_sizes
        own = [t.name for t in self.design.equalities for _ in range(sizes[id(t)])]
        return [*(assembled.names(self.model) if self.model.constraints else []), *own]

    def sides_in_order(self) -> list[tuple[int, float, float]]:
        """(index into upper and lower, left, right) of every side at the last state, in the order of :meth:`rows`."""
        views, first = self.views, self.model.nv if self.shape.bounds else 0
        axes = [side.axis or 0 for side, _ in self._on_axes]
        lefts, rights = [*views["axis_left"], *views["lower"][first:]], [*views["axis_right"], *views["upper"][first:]]
        where = [*axes, *range(first, first + self.shape.rows)]
        return list(zip(where, lefts, rights, strict=True))

    def rows(self) -> NamedRows:
        """The bounds at the last state, one-sided and named."""
        n = self.model.nv
        normals = [*(np.eye(n)[side.axis or 0] for side, _ in self._on_axes), *self.views["A"].copy()]
        sides = [(side.name, may) for side, may in self._on_axes]
        sides += [*((name, False) for name in self.equality_names()), *((s.name, may) for s, may in self._general)]
        a, b, names, relaxable = [], [], [], []
        for row, (_, left, right), (name, may) in zip(normals, self.sides_in_order(), sides, strict=True):
            for sign, bound in ((1.0, right), (-1.0, -left)):
                if bound < INFINITE:
                    a.append(sign * row)
                    b.append(bound)
                    names.append(name)
                    relaxable.append(may)
        return NamedRows(np.array(a).reshape(-1, n), np.array(b), tuple(names), np.array(relaxable, dtype=bool))


def _least(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(a, float) and a >= INFINITE:
        return b
    return select(less(a, b), a, b)
