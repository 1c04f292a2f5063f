"""What a whole-body controller commands where it has no solution: rest, as nearly as motors and contacts allow."""

from __future__ import annotations

import math

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.braking import RATE, Brake
from dqdyn.control.features.components import is_finite
from dqdyn.control.qp.solve import make_solver
from dqdyn.control.qp.solver import HOLDS, ProblemSize
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.control.whole_body.torques import Torques
from dqdyn.kinematics.configuration import difference

_STILL = 1e-3  # rad/s or m/s


class WholeBodyBrake(Brake):
    """Where there is no solution: v̇ = −k v − (k/2)² e as nearly as motors and contacts allow, in the metric of masses.

    e leads from where braking began to q, in unit time: the robot comes to rest there, and stays although a contact
    gives way a little. Where the state is not known, the last command is given once more.
    """

    _place: list[float] | None

    def __init__(self, composition: WholeBodyComposition, torques: Torques) -> None:
        super().__init__(composition.model, "torque", composition.design.constraints, torques)
        self._composition, self._torques = composition, torques
        has_limit = composition.effort < math.inf
        self.limit = np.where(has_limit, np.minimum(self.limit, composition.effort), self.limit)
        self._is_limited = True
        # Heavy bodies first: feet that rock on soft ground must not shake the body that they carry.
        neutral, still = composition.robot.neutral().tolist(), [0.0] * composition.model.nv
        assert composition.dynamics is not None
        mass = np.array(composition.dynamics(neutral, still)[0], dtype=float)
        self._metric = mass / max(composition.model.mass, 1e-3)
        rows = composition.own_bounds
        self._solver = make_solver("daqp", ProblemSize(composition.unknowns, False, rows, 0))

    def reset(self) -> None:
        super().reset()
        self._last, self._place = np.zeros(len(self.limit)), None

    def go_on(self, t: float, command: Array) -> None:
        """Take over the last command, from the brake of other contacts."""
        self.reset()
        self._t, self._last = t, command.copy()

    def remember(self, t: float, q: Array | None, v: Array, u: Array) -> None:
        self._t, self._last, self._place = t, self._torques._command, None

    def __call__(self, t: float, q: Array | None, v: Array | None) -> tuple[Array, bool]:
        if q is None or v is None:
            return self._last.copy(), False
        self._composition.evaluate(t, q, v, signals=False)  # one of them may be why there is no solution
        views, nv = self._composition.views, len(self.limit)
        Z, z0 = views["solution"], views["offset"].copy()
        self._place = q.tolist() if self._place is None else self._place
        moved = difference(self._composition.model, self._place, q.tolist())
        z0[:nv] += RATE * v + (0.5 * RATE) ** 2 * np.array(moved)
        weighted = np.vstack([self._metric @ Z[:nv], self._composition.force_damping**2 * Z[nv:]])
        first = self._composition.size.first
        own = slice(self._composition.size.equalities, self._composition.size.equalities + self._composition.own_bounds)
        sides = slice(first + own.start, first + own.stop)
        z = self._solver.solve(
            weighted.T @ Z, weighted.T @ z0, views["A"][own], views["upper"][sides], views["lower"][sides]
        )
        if z is None:  # no force of the contacts carries it: what the motors can do alone
            z = np.asarray(np.linalg.lstsq(weighted.T @ Z, -weighted.T @ z0, rcond=None)[0], dtype=float)
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
