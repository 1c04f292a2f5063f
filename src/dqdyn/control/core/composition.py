"""All that a controller evaluates at a state, as one compiled program.

Inputs are the time, the state, the signals with their rates, and the gains, so that targets and obstacles move and
gains change without a new program. Outputs are blocks of one array: the quadratic program itself (H, f, A and bounds),
and what a controller reports (errors, distances, their rates).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from dqdyn.algebra.scalar import Scalar, less, select, total
from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.constraints import assembled
from dqdyn.constraints.methods.sparse import is_zero
from dqdyn.control.core.command_constraint import CommandBound, Context, MassAndBias, Matrix
from dqdyn.control.core.design import Design
from dqdyn.control.core.kinematics import Rows, SignalMotion
from dqdyn.control.core.task import Task
from dqdyn.control.features.signals import Signal, SignalBuffer
from dqdyn.control.qp.conflict import NamedRows
from dqdyn.control.qp.solver import INFINITE, ProblemSize
from dqdyn.model.joints.joint_kind import UNITS
from dqdyn.model.model import Model

Dynamics = Callable[[list[Scalar], list[Scalar]], MassAndBias]
Blocks = dict[str, Matrix | list[Scalar]]
Motion = Callable[[Signal], SignalMotion]
GainPairs = list[tuple[Scalar, Scalar]]
Forms = list[tuple[float, list[Scalar], Scalar]]
"""Weight, row and constant of squares."""
MATRICES = ("A", "jacobian", "torque", "solution", "force_task")
"""Blocks with two axes, beside H and J of every level."""


class Composition:
    """The program of a robot, a level ("velocity" or "acceleration") and the parts of a controller."""

    no_way = "the robot itself, which has no motion that serves it here: a singularity, or a target out of reach"
    """What holds a task back where neither constraints nor other tasks do, in words."""
    has_squares = True
    """Whether squares of H and of the rows are computed, which solvers ask for at every step."""

    def __init__(self, model: Model, level: str, design: Design, dynamics: Dynamics | None = None) -> None:
        self.model, self.level, self.design, self.dynamics = model, level, design, dynamics
        self.buffer = buffer = SignalBuffer(design.signals)
        task_gains = [(t.gain, 0.0) if level == "velocity" else t.gains for t in design.all_tasks]
        own_gains, self.progress_gains = list[tuple[float, float]](), list[int]()
        for constraint in design.constraints:
            if constraint.follows_progress:
                self.progress_gains.append(len(task_gains) + len(own_gains))
            own_gains += constraint.initial_gains(model, level)
        self.gains = np.array([*task_gains, *own_gains, (0.0, 0.0)])  # a program takes no empty input
        self._looking = [part for part in design.constraints if part.looks]
        self._blocks: dict[str, tuple[slice, tuple[int, ...]]] = {}
        self._constants: dict[int, list[Scalar]] = {}
        self._units: dict[str, str] = {}
        angular = [is_angle for joint in model.joints if joint.master is None for is_angle in joint.motion.angular]
        self.axis_units, self.torque_units = (
            [UNITS[name][0 if is_angle else 1] for is_angle in angular]
            for name in ("v" if level == "velocity" else "a", "tau")
        )
        inputs = [*self.buffer.inputs(model), ("gains", self.gains.size), *((n, a.size) for n, a in self.given.items())]
        self.program = trace(f"{level}_control", inputs, self._trace)
        self.function = Function(self.program, summary="The quadratic program of a controller at a state.").fast
        self.out = np.zeros(self.program.shape)
        self.views = {name: self.out[part].reshape(shape) for name, (part, shape) in self._blocks.items()}
        for k in range(1, len(design.tasks)):  # A with the rows of all levels above level k in front
            rows = self.out[self._blocks[f"J{k - 1}"][0].start : self._blocks["A"][0].stop]
            self.views[f"A{k}"] = rows.reshape(-1, self.unknowns)
        self._gains = self.gains.reshape(-1)
        self._t = np.full(1, np.nan)
        self._arrays = (buffer.value, buffer.rate, buffer.acceleration, self._gains, *self.given.values())

    @property
    def given(self) -> dict[str, Array]:
        """Further inputs of the program, by name."""
        return {}

    @property
    def layout(self) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Where each block stands in :attr:`out`, and its shape."""
        return dict(self._blocks)

    @property
    def evaluated_at(self) -> Array:
        """Time (1,) in s of the last evaluation; NaN before the first one, and after :meth:`forget`."""
        return self._t

    def forget(self) -> None:
        """What was evaluated last no longer counts."""
        self._t[0] = np.nan

    def evaluate(self, t: float, q: Array, v: Array, *, signals: bool = True) -> None:
        """Compute all blocks; they are in :attr:`views`. Without ``signals`` these are as they were last."""
        if signals:
            for part in self._looking:
                part.look_around(t, q)
            self.buffer.update(t)
        self._t[0] = t
        self.function(self._t, q, v, *self._arrays, out=self.out)

    # --- tracing ----------------------------------------------------------------------------------------------------

    def _trace(self, *inputs: list[Scalar]) -> tuple[list[Scalar], tuple[int, ...]]:
        (t, q, v), signals, (gains, *given) = inputs[:3], inputs[3:6], inputs[6:]
        motion = lambda signal: self.buffer.motion(signal, t[0], *signals)
        pairs = list(zip(gains[::2], gains[1::2], strict=True))
        context = self._context(t[0], q, v, motion, pairs, *given)
        tasks = {id(task): self._task_rows(context, task) for task in self.design.all_tasks}
        self.task_sizes = {key: len(residual) for key, (_, residual) in tasks.items()}
        first = [tasks[id(task)][0] for task in (self.design.tasks or ((),))[0]]
        context.task_errors = [c for rows in first for c in rows.value]
        context.task_rates = [c for rows in first for c in rows.rate or ()]
        owned = [(bound, c) for c in self.design.constraints for bound in c.bounds(context)]
        self.guard_owners = [c for bound, c in owned if bound.gains is not None]
        bounds = [(self._bound(context, bound), c.gives_way(self.commanded)) for bound, c in owned]
        bounds = [*self._own_bounds(context), *bounds]
        blocks: Blocks = {}
        for k, of_level in enumerate(self.design.tasks):
            blocks |= self._objective(k, [(task, *tasks[id(task)]) for task in of_level])
        equal = list(zip(*self._robot_constraints(context, t[0]), strict=True))
        for task in self.design.equalities:
            equal += [(row, -r) for row, r in self._forms(task, *tasks[id(task)])]
        self._collect(blocks, equal, bounds)
        blocks |= self._reported()
        if self.progress_gains:
            blocks["task_pulls"] = [c for task in self.design.tasks[0] for c in tasks[id(task)][0].pulls(task.gains)]
        for name, of in (("error", "value"), ("error_rate", "rate"), ("jacobian", "jacobian")):
            blocks[name] = [e for task in self.design.all_tasks for e in getattr(tasks[id(task)][0], of) or ()]
        return self._flat(blocks)

    # --- what whole-body control replaces: there the unknowns are not the command ------------------------------------

    @property
    def commanded(self) -> str:
        """The level of the command: limits of it do not give way."""
        return self.level if self.dynamics is None else "torque"

    @property
    def unknowns(self) -> int:
        """How many numbers there are to choose: here v, or v̇."""
        return self.model.nv

    def _context(
        self, t: Scalar, q: list[Scalar], v: list[Scalar], motion: Motion, gains: GainPairs, *given: list[Scalar]
    ) -> Context:
        return Context(self.model, self.level, q, v, motion, gains, dynamics=self.dynamics)

    def _in_unknowns(self, row: list[Scalar], constant: Scalar) -> tuple[list[Scalar], Scalar]:
        """A form in the velocities or accelerations as one in the unknowns."""
        return row, constant

    def _forms(self, task: Task, rows: Rows, right: list[Scalar]) -> list[tuple[list[Scalar], Scalar]]:
        """What a task makes small, as forms in the unknowns."""
        return [self._in_unknowns(row, r) for row, r in zip(rows.jacobian, right, strict=True)]

    def _bound(self, context: Context, bound: CommandBound) -> CommandBound:
        """A bound on velocities, accelerations or torques as one on the unknowns."""
        self._units[bound.name] = self._unit(bound)
        if bound.torque is None:
            return bound
        matrix, bias = context.mass_and_bias
        return shifted(bound, list(matrix[bound.torque]), bias[bound.torque])

    def _unit(self, bound: CommandBound) -> str:
        """The unit of a bound on velocities, accelerations or torques."""
        if bound.torque is not None:
            return self.torque_units[bound.torque]
        per = "s" if self.level == "velocity" else "s²"
        return f"unit of its h per {per}" if bound.axis is None else self.axis_units[bound.axis]

    def _own_bounds(self, context: Context) -> list[tuple[CommandBound, bool]]:
        """Bounds that the controller itself adds, and whether they give way."""
        return []

    def _reported(self) -> Blocks:
        """Further blocks: r of J u + r of all tasks, the highest level first."""
        return {"task_constants": [c for k in sorted(self._constants) for c in self._constants[k]]}

    @property
    def _equality_names(self) -> Sequence[str]:
        """Names of the robot's own constraints among the equalities."""
        return assembled.names(self.model)

    # --- the problem -------------------------------------------------------------------------------------------------

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
        forms = self._weighted_forms(k, tasks)
        unit = np.eye(self.unknowns).tolist()
        return self._squares_of(k, forms, [(self.design.dampings[k] ** 2, row, 0.0) for row in unit])

    def _weighted_forms(self, k: int, tasks: list[tuple[Task, Rows, list[Scalar]]]) -> Forms:
        """Squares of the tasks of a level; their constants are kept for reports."""
        result: Forms = []
        for task, rows, right in tasks:
            forms = self._forms(task, rows, right)
            result += [(w, *form) for w, form in zip(task.row_weights(len(forms)), forms, strict=True)]
        self._constants[k] = [constant for _, _, constant in result]
        return result

    def _squares_of(self, k: int, tasks: Forms, damping: Forms) -> Blocks:
        """½ Σ weight (row · u + constant)² as H and f, and J, the rows of the tasks."""
        n = self.unknowns
        H: Matrix = [[0.0] * n for _ in range(n)]
        f: list[Scalar] = [0.0] * n
        for row, squares in _by_row([*damping, *tasks]):
            weight, moment = (total(terms) for terms in zip(*squares, strict=True))
            for place, (i, c) in enumerate(row):
                weighted = weight * c
                f[i] = f[i] + c * moment
                for j, d in row[place:]:
                    H[i][j] = H[i][j] + weighted * d
        for i in range(n):
            H[i][:i] = [H[j][i] for j in range(i)]
        return {f"H{k}": H, f"f{k}": f, f"J{k}": [row for _, row, _ in tasks]}

    def _collect(
        self, blocks: Blocks, equal: Sequence[tuple[list[Scalar], Scalar]], bounds: list[tuple[CommandBound, bool]]
    ) -> None:
        """A and its bounds in the solver's order, and the bounds on axes one by one for reports."""
        n = self.unknowns
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
        if self.has_squares:
            blocks["squares"] = [_squares(blocks.get("H0", [])), *(_squares([row]) for row in A)]
        blocks["h"] = [bound.h for bound in guarded]
        blocks["h_rate"] = [bound.rate for bound in guarded if bound.rate is not None]

    def _flat(self, blocks: Blocks) -> tuple[list[Scalar], tuple[int, ...]]:
        entries: list[Scalar] = []
        # Rows of the tasks stand in front of A, the lowest level first, so that those of all levels above one and A are
        # one matrix.
        tasks = [f"J{k}" for k in reversed(range(len(self.design.tasks)))]
        for name in [*(n for n in blocks if n not in tasks and n != "A"), *tasks, "A"]:
            block = blocks[name]
            is_matrix = name in MATRICES or name[0] in "HJ"
            flat = [c for row in block for c in row] if is_matrix else block
            width = self.model.nv if name == "jacobian" else self.unknowns
            shape = (len(block), width) if is_matrix else (len(block),)
            self._blocks[name] = slice(len(entries), len(entries) + len(flat)), shape
            entries += flat
        return entries, (len(entries),)

    # --- for reports --------------------------------------------------------------------------------------------------

    def unit_of(self, name: str) -> str:
        """The unit of a bound by its name; equalities of tasks have that of their rate or acceleration."""
        if name in self._units:
            return self._units[name]
        return "unit of its error per s" if self.level == "velocity" else "unit of its error per s²"

    def damping_pull(self, k: int, u: Array) -> Array | None:
        """The slope of the damping's share of the cost of level k at u; None where it is not known apart."""
        return self.design.dampings[k] ** 2 * u

    def pulls(self, multipliers: Array) -> Array:
        """λ times its row over the unknowns, (sides, n)."""
        rows = np.vstack([np.eye(self.size.first, self.unknowns), self.views["A"]])
        return np.asarray(multipliers[:, None] * rows)

    @property
    def bounded_axes(self) -> list[int]:
        """The axes of the bounds on axes, one by one."""
        return [bound.axis or 0 for bound, _ in self._on_axes]

    @property
    def named_bounds(self) -> list[tuple[str, bool]]:
        """Name, and whether it may give way, of the bounds on axes one by one, then of the rows of A."""
        tasks = [task.name for task in self.design.equalities for _ in range(self.task_sizes[id(task)])]
        return [
            *((bound.name, may) for bound, may in self._on_axes),
            *((name, False) for name in (*self._equality_names, *tasks)),
            *((bound.name, may) for bound, may in self._general),
        ]

    def rows(self) -> NamedRows:
        """The bounds at the last state, one-sided and named."""
        views, n, first = self.views, self.unknowns, self.size.first
        axes, named = self.bounded_axes, self.named_bounds
        normals = np.vstack([np.eye(n)[axes], views["A"]])
        right = np.concatenate([views["axis_right"], views["upper"][first:]])
        left = np.concatenate([views["axis_left"], views["lower"][first:]])
        a, b = np.stack([normals, -normals], axis=1).reshape(-1, n), np.stack([right, -left], axis=1).ravel()
        index = np.repeat([*axes, *range(first, self.size.sides)], 2).astype(int)
        bounded = np.flatnonzero(b < INFINITE)
        names, may = tuple(named[i // 2][0] for i in bounded), [named[i // 2][1] for i in bounded]
        relaxable = np.array(may, dtype=bool)
        return NamedRows(a[bounded], b[bounded], names, relaxable, index[bounded], bounded % 2 == 0)


def shifted(bound: CommandBound, normal: list[Scalar], constant: Scalar) -> CommandBound:
    """The bound on ``normal`` · u + constant."""
    right = bound.right if _is_infinite(bound.right) else bound.right - constant
    left = bound.left if _is_infinite(bound.left) else bound.left - constant
    return replace(bound, right=right, left=left, normal=normal, axis=None, torque=None)


def _is_infinite(side: Scalar) -> bool:
    return isinstance(side, float) and abs(side) >= INFINITE


def _by_row(forms: Forms) -> Iterable[tuple[list[tuple[int, Scalar]], list[tuple[Scalar, Scalar]]]]:
    """Each row by its entries once, with weight and weight · constant of all forms that have it."""
    rows: dict[tuple[tuple[int, object], ...], list[tuple[int, Scalar]]] = {}
    squares: dict[tuple[tuple[int, object], ...], list[tuple[Scalar, Scalar]]] = {}
    for weight, row, constant in forms:
        entries = [(i, c) for i, c in enumerate(row) if not is_zero(c)]
        key = tuple((i, getattr(c, "index", c)) for i, c in entries)
        rows[key] = entries
        squares.setdefault(key, []).append((weight, weight * constant))
    return ((rows[key], squares[key]) for key in rows)


def _squares(rows: Iterable[list[Scalar]]) -> Scalar:
    return total([c * c for row in rows for c in row] or [0.0])


def _least(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(b, float) and b >= INFINITE:
        return a
    if isinstance(a, float) and a >= INFINITE:
        return b
    return select(less(a, b), a, b)
