"""A whole-body controller: the controller of a composition with contacts, whose command are torques of motors."""

from __future__ import annotations

import math

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.quaternion import pure
from dqdyn.arrays import Array
from dqdyn.contacts.axes import origin, partner_frame
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.braking import RATE, Brake
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.optimum import Optimise
from dqdyn.control.features.components import is_finite
from dqdyn.control.qp.solve import make_solver
from dqdyn.control.qp.solver import HOLDS, ProblemSize
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.kinematics.tree import frame_pose
from dqdyn.model.model import Model

_STILL = 1e-3  # rad/s or m/s


class WholeBodyController(Controller):
    """A function (t, q, v) → τ (nv,), zero on axes without a motor.

    ``accelerations`` (nv,) and ``contact_wrenches`` by name are those that the last command gives. Contacts hold where
    they were at the first step, and again after :meth:`reset`.
    """

    composition: WholeBodyComposition

    def __init__(self, composition: WholeBodyComposition, optimum: Optimise, infeasible: str) -> None:
        self._torques = Torques(composition)
        super().__init__("torque", composition, optimum, infeasible, self._torques)

    def reset(self) -> None:
        super().reset()
        self._has_anchors = False

    def _make_brake(self) -> Brake:
        return WholeBodyBrake(self.composition, self._torques)

    def _begin(self, q: Array, v: Array) -> None:
        if not self._has_anchors:
            for i, contact in enumerate(self.composition.contacts.contacts):
                self.composition.anchors[i] = anchor_of(self.model, contact, q)
            self._has_anchors = True

    @property
    def accelerations(self) -> Array:
        """v̇ (nv,) of the last step."""
        return self._torques.solution()[: self.model.nv]

    @property
    def errors(self) -> dict[str, Array]:
        """Errors of the tasks at the last step, by name; of tasks on forces with the forces of that step."""
        found, start = super().errors, 0
        of_forces = self._torques.force_errors()
        for task in self.composition.force_tasks:
            size = len(found[task.name])
            found[task.name] = of_forces[start : start + size]
            start += size
        return found

    @property
    def contact_forces(self) -> dict[str, Array]:
        """φ (k,) of every contact at the last step, by name; see :class:`dqdyn.contacts.Contact`."""
        phi, contacts = self._torques.solution()[self.model.nv :], self.composition.contacts
        return {c.name: phi[part] for c, part in zip(contacts.contacts, contacts.parts, strict=True)}

    @property
    def contact_wrenches(self) -> dict[str, Array]:
        """[f_t1, f_t2, f_n, τ_t1, τ_t2, τ_n] in N and N m of every contact at the last step, by name."""
        contacts = self.composition.contacts.contacts
        return {c.name: c.wrench(phi) for c, phi in zip(contacts, self.contact_forces.values(), strict=True)}


class Torques:
    """τ (nv,) of the unknowns of a whole-body problem."""

    def __init__(self, composition: WholeBodyComposition) -> None:
        self.composition = composition
        self._motors = np.array(composition.motors, dtype=int)
        self._z = np.zeros(composition.unknowns)
        self._command = np.zeros(composition.model.nv)

    def __call__(self, q: Array, v: Array, u: Array) -> Array:
        views = self.composition.views
        self._z = u
        self._command[self._motors] = views["torque"] @ u + views["bias"]
        return self._command

    def later(self, q: Array, v: Array, dt: float) -> Array:
        """q after dt (s) at v."""
        return np.asarray(self.composition.robot.integrate(q, v, dt, check=False))

    def force_errors(self) -> Array:
        """G φ + r of all tasks on forces at the last command."""
        views = self.composition.views
        return np.asarray(views["force_task"] @ self._z + views["force_task_bias"])

    def solution(self) -> Array:
        """[v̇, φ] of the last command."""
        views = self.composition.views
        return np.asarray(views["solution"] @ self._z + views["offset"])


class WholeBodyBrake(Brake):
    """Where there is no solution: v̇ = −k v as nearly as motors and contacts allow, then still.

    Where the state is not known, the last command is given once more.
    """

    def __init__(self, composition: WholeBodyComposition, torques: Torques) -> None:
        super().__init__(composition.model, "torque", composition.design.constraints, torques)
        self._composition, self._torques = composition, torques
        has_limit = composition.effort < math.inf
        self.limit = np.where(has_limit, np.minimum(self.limit, composition.effort), self.limit)
        self._is_limited = True
        rows = composition.own_bounds
        self._solver = make_solver("daqp", ProblemSize(composition.unknowns, False, rows, 0))

    def reset(self) -> None:
        super().reset()
        self._last = np.zeros(len(self.limit))

    def remember(self, t: float, q: Array | None, v: Array, u: Array) -> None:
        self._t, self._last = t, self._torques._command

    def __call__(self, t: float, q: Array | None, v: Array | None) -> tuple[Array, bool]:
        if q is None or v is None:
            return self._last.copy(), False
        self._composition.evaluate(t, q, v)
        views, nv = self._composition.views, len(self.limit)
        Z, z0 = views["solution"], views["offset"].copy()
        z0[:nv] += RATE * v
        weights = np.concatenate([np.ones(nv), np.full(len(z0) - nv, self._composition.force_damping**2)])
        weighted = Z * weights[:, None]
        first = self._composition.size.first
        own = slice(self._composition.size.equalities, self._composition.size.equalities + self._composition.own_bounds)
        sides = slice(first + own.start, first + own.stop)
        z = self._solver.solve(
            weighted.T @ Z, weighted.T @ z0, views["A"][own], views["upper"][sides], views["lower"][sides]
        )
        if z is None:  # no force of the contacts carries it: what the motors can do alone
            z = np.linalg.lstsq(weighted.T @ Z, -weighted.T @ z0, rcond=None)[0]
        command = self._torques(q, v, z)
        if not is_finite(command):
            return self._last.copy(), False
        self._last = self._cut(command)
        return self._last.copy(), bool(np.abs(v).max(initial=0.0) < _STILL)

    def accepts(self, command: Array) -> bool:
        if not is_finite(command):
            return False
        over = np.abs(command) - self.limit
        if over.item(over.argmax()) > 0.0:
            cut = self._cut(command)
            if np.abs(cut - command).max() > HOLDS * max(1.0, float(np.abs(command).max())):
                return False
            command[:] = cut
        return True


def anchor_of(model: Model, contact: Contact, q: Array) -> Array:
    """(12,) where a contact is at q: its origin and the axes of its frame, as seen from the partner."""
    body, partner = (
        Adjoint(frame_pose(model, f, q.tolist())) for f in (model.frame(contact.frame), partner_frame(contact, model))
    )
    at = body.p + body.rotate(pure(*origin(contact).tolist()))
    columns = [c for column in body.columns for c in partner.rotate_back(column).vector]
    return np.array([*partner.rotate_back(at - partner.p).vector, *columns])
