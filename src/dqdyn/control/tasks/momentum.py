"""A task on the centroidal momentum: of first order, as momentum is made of velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import RealArray
from dqdyn.constraints.methods.sparse import dot, sparse
from dqdyn.control.core.kinematics import Rows, SignalMotion, State
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.dynamics.fast.centroidal import centroidal_momentum_matrix
from dqdyn.errors import unknown_name
from dqdyn.kinematics import mass

MomentumPart = Literal["both", "linear", "angular"]
_ROWS = {"both": slice(0, 6), "linear": slice(0, 3), "angular": slice(3, 6)}


class MomentumTask(Task):
    """The centroidal momentum h = [p, L] at a target: ḣ = ḣ_d − k (h − h_d) with k = ``gain`` and ḣ = A v̇ + Ȧ v.

    p is the linear momentum in kg m/s, L the angular one about the center of mass in kg m²/s, in world axes, as
    ``robot.centroidal_momentum`` gives them. ``part`` chooses "linear" or "angular" (3 components) or "both" (6); the
    ``target`` has as many, by default zero. A controller by velocity has the momentum itself at the target, A v = h_d.
    """

    def __init__(
        self,
        target: SignalLike | None = None,
        *,
        part: MomentumPart = "both",
        gain: float | RealArray = 1.0,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        if not isinstance(part, str) or part not in _ROWS:
            raise unknown_name("part of the momentum", part, _ROWS)
        self._rows = _ROWS[part]
        what, size = "momentum" if part == "both" else f"{part} momentum", self._rows.stop - self._rows.start
        signal = as_signal("vector", [0.0] * size if target is None else target, f"the target of the {what}", size)
        super().__init__(what, (), (signal,), gain=gain, weight=weight, name=name)
        self.gains = (self.gain, 0.0)  # of first order: the rows below have h − h_d in the place of a rate

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [a - b for a, b in zip(robot[0], given[0], strict=True)]

    def rows(self, state: State, given: Sequence[SignalMotion]) -> Rows:
        model, q, v, part, target = state.model, state.q, state.v, self._rows, given[0]
        matrix = centroidal_momentum_matrix(model, q)[part]
        against = [-c for c in target.value]
        if v is None:
            return Rows([0.0] * len(against), matrix, against)
        momentum = [dot(sparse(row), sparse(v)) for row in matrix]
        error = self.error([momentum], [target.value])
        turning = mass.centroidal_momentum_drift(model, state.motion, state.twist_drifts).vector[part]  # Ȧ v
        drift = [a - b for a, b in zip(turning, target.rate, strict=True)]
        return self.chosen_rows(Rows(error, matrix, against, error, drift))
