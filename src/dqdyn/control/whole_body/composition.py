"""The quadratic program of a whole-body controller: accelerations and contact forces, with all equalities eliminated.

    min Σ w‖J a + r‖² + Σ w‖G φ + r‖² + λ²‖a‖² + λ_f²‖φ‖²   over a, φ
    under  M a + n = Sᵀτ + Jᵀ w(φ) + Aᵀ λ,  contacts that hold,  cones,  limits of motors, and all other constraints.

The unknowns z that are left after the elimination are as few as the robot has ways to choose.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array
from dqdyn.constraints.methods.sparse import sparse
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.command_constraint import CommandBound, Context
from dqdyn.control.core.composition import Blocks, Composition, Dynamics, Forms, GainPairs, Motion, shifted
from dqdyn.control.core.design import Design
from dqdyn.control.core.errors import ControlError
from dqdyn.control.core.kinematics import Rows
from dqdyn.control.core.task import Task
from dqdyn.control.features.features import CenterOfMass
from dqdyn.control.limits.coordinates import FREE, axes
from dqdyn.control.qp.conflict import NamedRows
from dqdyn.control.qp.solver import INFINITE
from dqdyn.control.tasks.robot import PostureTask
from dqdyn.control.whole_body.contact_motion import ANCHOR_SIZE, anchor_between
from dqdyn.control.whole_body.context import Contacts, WholeBodyContext, blocked_slides, doubly_held
from dqdyn.control.whole_body.elimination import Equality, Plan, is_zero, plan_for
from dqdyn.control.whole_body.falling import is_watched
from dqdyn.control.whole_body.force_task import ForceTask
from dqdyn.errors import StateError
from dqdyn.model.description import WORLD
from dqdyn.robot import Robot

RAMP, RATE = "normal force ramp", "torque rate"
"""In the names of bounds that give way before any other."""
_SAMPLES = 3  # states at which rows must depend on others to count as always dependent
_ENTRY = 1e-9  # of a row, in 1 or m, up to which it counts as zero


class WholeBodyComposition(Composition):
    """The program of a robot and its contacts.

    ``anchors`` (contacts, 12): where each contact holds. ``pressing`` (contacts,): the normal force in N up to which
    each may press, beside its own limit. ``torques`` (2, nv): between what the motors may give, lower then upper, where
    torques have a greatest rate (``has_rates``). All are inputs and may change while a loop runs.
    """

    has_squares = False  # machine code solves nearly all problems without

    def __init__(
        self,
        robot: Robot,
        design: Design,
        contacts: Contacts,
        dynamics: Dynamics,
        force_damping: float,
        has_rates: bool = False,
    ) -> None:
        self.robot, self.contacts, self.force_damping = robot, contacts, force_damping
        self.own_bounds, self.has_rates = 0, has_rates
        self.anchors = np.zeros((max(1, len(contacts.contacts)), ANCHOR_SIZE))
        self.pressing = np.full(max(1, len(contacts.contacts)), INFINITE)
        self.effort = np.array([0.0 if motor is None else motor.effort for motor in robot.motors])
        self.torques = np.array([-1.0, 1.0])[:, None] * np.minimum(self.effort, INFINITE)
        self.motors = [k for k, has_motor in enumerate(contacts.actuated) if has_motor]
        self.force_tasks = [task for task in design.all_tasks if isinstance(task, ForceTask)]
        self.is_watched = is_watched(robot.model, contacts)
        self.axis_names = axes(robot.model)
        self._of_forces: dict[int, list[tuple[list[Scalar], Scalar]]] = {}
        self.design_tasks = design.all_tasks
        self.plan, equalities = self._planned(dynamics)
        partly = self._partly_dependent(equalities)
        if partly:
            self.contacts = replace(contacts, mixed=partly)
            self.plan, _ = self._planned(dynamics)
        frames = {c.frame for c in contacts.contacts} | {c.partner for c in contacts.contacts if c.partner != WORLD}
        self._poses = {frame: robot.function("pose", frame=frame) for frame in frames}
        super().__init__(robot.model, "acceleration", design, dynamics)

    def anchor_at(self, contact: Contact, q: Array) -> Array:
        """(12,) where a contact is at q, by compiled poses: a loop may need it at any step."""
        frame = DQ.of8(self._poses[contact.frame](q).tolist())
        partner = IDENTITY if contact.partner == WORLD else DQ.of8(self._poses[contact.partner](q).tolist())
        return anchor_between(contact, frame, partner)

    @property
    def given(self) -> dict[str, Array]:
        rates = {"torques": self.torques.reshape(-1)} if self.has_rates else {}
        return {"anchors": self.anchors.reshape(-1), "pressing": self.pressing, **rates}

    @property
    def unknowns(self) -> int:
        return self._free

    @property
    def _equality_names(self) -> tuple[str, ...]:
        return ()

    def _planned(self, dynamics: Dynamics) -> tuple[Plan, list[Equality]]:
        """Which equalities depend on others: found at random states, and at postures that a robot is likely to take.

        And the equalities at one of the random states.
        """
        rng = np.random.default_rng(0)
        drawn = [self.robot.random_configuration(rng) for _ in range(_SAMPLES)]
        wanted = [task.signals[0].at(0.0).value for task in self.design_tasks if isinstance(task, PostureTask)]
        generic = [self._context_at(q, rng.standard_normal(self.robot.nv), dynamics) for q in drawn]
        special = [
            self._context_at(q, np.zeros(self.robot.nv), dynamics)
            for q in (self.robot.neutral(), *map(np.array, wanted))
        ]
        # Contacts that slide in one direction as a rule do so where the robot is upright, and nowhere else.
        for name in sorted(set.intersection(*(blocked_slides(context) for context in (*generic, *special)))):
            raise ControlError(
                f"the contact {name!r} slides in a direction in which other contacts or the robot's own constraints "
                "hold it: make it fixed, or let the others slide too.",
                contact=name,
            )
        for name in sorted(set.intersection(*(doubly_held(context) for context in generic))):
            raise ControlError(
                f"a contact holds what the robot's constraint {name!r} holds already, which leaves open how they share "
                "the force: leave out one of them.",
                constraint=name,
            )
        problems = ([(c.unknowns, c.equalities) for c in contexts] for contexts in (generic, special))
        return plan_for(*problems), generic[0].equalities

    def _partly_dependent(self, equalities: Sequence[Equality]) -> frozenset[str]:
        """Contacts and constraints, by name, of which some rows, but not all, always depend on others.

        Rows without entries, as those across the plane of a four-bar, are left out of account.
        """
        rows: dict[str, list[bool]] = {}
        for i, equality in enumerate(equalities):
            if equality.pivot is None and max(map(abs, equality.row.values()), default=0.0) > _ENTRY:
                rows.setdefault(equality.name, []).append(i in self.plan.dependent)
        return frozenset(name for name, depends in rows.items() if any(depends) and not all(depends))

    def _context_at(self, q: Array, v: Array, dynamics: Dynamics) -> WholeBodyContext:
        """A state of numbers, on the robot's own constraints if that is possible."""
        if self.robot.constraints:
            with contextlib.suppress(StateError):
                q, v = self.robot.project(q, v)
        anchors = self.anchors.reshape(-1).tolist()
        return WholeBodyContext(
            self.robot.model, "acceleration", q.tolist(), v.tolist(), lambda s: s.at(0.0), [], dynamics=dynamics,
            contacts=self.contacts, anchors=anchors,
        )  # fmt: skip

    # --- tracing ----------------------------------------------------------------------------------------------------

    def _context(
        self, t: Scalar, q: list[Scalar], v: list[Scalar], motion: Motion, gains: GainPairs, *given: list[Scalar]
    ) -> Context:
        anchors, self._pressing, *self._between = given
        self._at = context = WholeBodyContext(
            self.model, self.level, q, v, motion, gains, dynamics=self.dynamics,
            contacts=self.contacts, anchors=anchors, time=t, plan=self.plan,
        )  # fmt: skip
        self._free = len(context.elimination.free)
        self._equality_of = [equality.name for equality in context.equalities]
        return context

    def _robot_constraints(self, context: Context, t: Scalar) -> tuple[list[list[Scalar]], list[Scalar]]:
        return [], []  # eliminated

    def _in_unknowns(self, row: list[Scalar], constant: Scalar) -> tuple[list[Scalar], Scalar]:
        return self._at.elimination(sparse(row), constant)

    def _torque(self, k: int) -> tuple[list[Scalar], Scalar]:
        return self._at.elimination(*self._at.equations_of_motion[k])

    def _bound(self, context: Context, bound: CommandBound) -> CommandBound:
        self._units[bound.name] = self._unit(bound)
        if bound.torque is not None:
            return shifted(bound, *self._torque(bound.torque))
        row = {bound.axis: 1.0} if bound.axis is not None else sparse(bound.normal)
        normal, constant = self._at.elimination(row)
        moved = shifted(bound, normal, constant)
        alone = [i for i, c in enumerate(normal) if not is_zero(c)]
        if len(alone) == 1 and type(normal[alone[0]]) is float and normal[alone[0]] == 1.0:
            return replace(moved, normal=[], axis=alone[0])
        return moved

    def _own_bounds(self, context: Context) -> list[tuple[CommandBound, bool]]:
        bounds = [*self._motor_limits(), *self._cones()]
        self.own_bounds = len(bounds)
        self.ramp_places = [i for i, (bound, _) in enumerate(bounds) if bound.name.endswith(f": {RAMP}")]
        return bounds

    def _motor_limits(self) -> list[tuple[CommandBound, bool]]:
        names, nv = axes(self.model), self.model.nv
        self.limited = [k for k in self.motors if self.has_rates or self.effort[k] < FREE]
        result = []
        for k in self.limited:
            limit = float(self.effort[k])
            lower, upper = (self._between[0][i * nv + k] for i in range(2)) if self.has_rates else (-limit, limit)
            result.append((shifted(CommandBound(f"motor: {names[k]}", upper, lower), *self._torque(k)), False))
            self._units |= dict.fromkeys((f"motor: {names[k]}", f"{RATE}: {names[k]}"), self.torque_units[k])
        return result

    def _cones(self) -> list[tuple[CommandBound, bool]]:
        at, result = self._at, []
        for i, (contact, part) in enumerate(zip(self.contacts.contacts, self.contacts.parts, strict=True)):
            cone = contact.cone_rows
            rows = [(*each, False) for each in zip(cone.matrix.tolist(), cone.right.tolist(), cone.names, strict=True)]
            normal = self.contacts.bases[i][2].tolist()
            self._units |= dict(zip(cone.names, cone.units, strict=True)) | {f"{contact.name}: {RAMP}": "N"}
            rows.append((normal, self._pressing[i], f"{contact.name}: {RAMP}", True))
            for entries, right, name, may in rows:
                form = at.elimination(at.of_forces(self._placed(entries, part)))
                result.append((shifted(CommandBound(name, right), *form), may))
        return result

    def _placed(self, entries: list[float], part: slice) -> list[float]:
        row = [0.0] * self.contacts.forces
        row[part] = entries
        return row

    def _task_rows(self, context: Context, task: Task) -> tuple[Rows, list[Scalar]]:
        if not isinstance(task, ForceTask):
            return super()._task_rows(context, task)
        context.next_gains()
        matrix, residual = task.force_rows(self._at)
        forms = [self._at.elimination(self._at.of_forces(row), r) for row, r in zip(matrix, residual, strict=True)]
        self._of_forces[id(task)] = forms
        none = [[0.0] * self.model.nv for _ in residual]
        return Rows(residual, none, [0.0] * len(residual), [0.0] * len(residual)), list(residual)

    def _forms(self, task: Task, rows: Rows, right: list[Scalar]) -> list[tuple[list[Scalar], Scalar]]:
        return self._of_forces[id(task)] if isinstance(task, ForceTask) else super()._forms(task, rows, right)

    def _objective(self, k: int, tasks: list[tuple[Task, Rows, list[Scalar]]]) -> Blocks:
        forms = self._weighted_forms(k, tasks)
        damped = [(self.design.dampings[k] ** 2, *self._at.elimination({i: 1.0})) for i in range(self.model.nv)]
        pressed = [(self.force_damping**2, *form) for form in self._force_forms]
        return self._squares_of(k, forms, [*damped, *pressed, *self._idle_forms])

    @property
    def _idle_forms(self) -> Forms:
        """Squares of spare unknowns where nothing has freed them, so that the problem has one solution."""
        elimination = self._at.elimination
        rows = np.eye(self.unknowns)[elimination.spare].tolist()
        return [
            (1.0, [c * idle if c else 0.0 for c in row], 0.0) for row, idle in zip(rows, elimination.idle, strict=True)
        ]

    @property
    def _force_forms(self) -> list[tuple[list[Scalar], Scalar]]:
        units = np.eye(self.contacts.forces).tolist()
        return [self._at.elimination(self._at.of_forces(row)) for row in units]

    def _reported(self) -> Blocks:
        torques = [self._torque(k) for k in self.motors]
        on_forces = [form for task in self.force_tasks for form in self._of_forces[id(task)]]
        solution = [*(self._at.elimination({i: 1.0}) for i in range(self.model.nv)), *self._force_forms]
        return super()._reported() | {
            "torque": [row for row, _ in torques],
            "bias": [c for _, c in torques],
            "solution": [row for row, _ in solution],
            "offset": [c for _, c in solution],
            "force_task": [row for row, _ in on_forces],
            "force_task_bias": [c for _, c in on_forces],
            "margins": list(self._at.elimination.margins.values()),
            "center": self._center_of_mass(),
        }

    def _center_of_mass(self) -> list[Scalar]:
        """Where it is and its velocity, where someone watches whether the robot falls."""
        self.margin_names = [self._equality_of[i] for i in self._at.elimination.margins]
        if not self.is_watched:
            return []
        center = CenterOfMass().kinematics(self._at.state)
        return [*center.value, *(center.rate or ())]

    # --- for ramps of forces ----------------------------------------------------------------------------------------

    def normal_forces(self, u: Array) -> Array:
        """N of every contact for the unknowns u, at the last state."""
        nv = self.model.nv
        phi = self.views["solution"][nv:] @ u + self.views["offset"][nv:]
        parts = zip(self.contacts.bases, self.contacts.parts, strict=True)
        return np.array([float(basis[2] @ phi[part]) for basis, part in parts])

    def bounds_without_ramps(self, pressing: Array) -> tuple[Array, Array]:
        """``upper`` and ``lower`` of the last state with other limits (contacts,) of the normal forces, no rates."""
        upper, lower = self.views["upper"].copy(), self.views["lower"].copy()
        first = self.size.first + self.size.equalities
        at, forces = self.ramp_places, self.views["offset"][self.model.nv :]
        for i, part in enumerate(self.contacts.parts):
            constant = float(self.contacts.bases[i][2] @ forces[part])
            upper[first + at[i]] = pressing[i] - constant
        if self.has_rates:
            bias = dict(zip(self.motors, self.views["bias"].tolist(), strict=True))
            for place, k in enumerate(self.limited):
                effort = min(float(self.effort[k]), INFINITE)
                upper[first + place], lower[first + place] = effort - bias[k], -effort - bias[k]
        return upper, lower

    # --- for reports --------------------------------------------------------------------------------------------------

    no_way = "contacts, loops and axes without a motor"

    def damping_pull(self, k: int, u: Array) -> Array | None:
        return None

    def rows(self) -> NamedRows:
        """Of motors whose rate binds more than their limit, the rate is a row of its own, which may give way."""
        rows = super().rows()
        if not self.has_rates:
            return rows
        names, effort = axes(self.model), np.minimum(self.effort, INFINITE)
        first = self.size.first + self.size.equalities
        bias = dict(zip(self.motors, self.views["bias"].tolist(), strict=True))
        b, called, may = rows.b.copy(), list(rows.names), rows.relaxable.copy()
        further: list[int] = []
        for i in range(len(b)):
            place = int(rows.index[i]) - first
            if 0 <= place < len(self.limited):
                k = self.limited[place]
                sign = 1.0 if rows.is_upper[i] else -1.0
                if sign * self.torques[int(rows.is_upper[i]), k] < effort[k]:
                    b[i] = effort[k] - sign * bias[k]
                    further.append(i)
        axis = [names[self.limited[int(rows.index[i]) - first]] for i in further]
        kept = b < INFINITE
        every = np.r_[np.flatnonzero(kept), further].astype(int)
        return NamedRows(
            rows.a[every],
            np.r_[b[kept], rows.b[further]],
            (*(n for n, keep in zip(called, kept, strict=True) if keep), *(f"{RATE}: {n}" for n in axis)),
            np.r_[may[kept], np.ones(len(further), dtype=bool)],
            rows.index[every],
            rows.is_upper[every],
        )
