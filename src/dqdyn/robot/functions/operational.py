"""Inertia at a frame: J M⁻¹ Jᵀ, its inverse, and the inverse of the Jacobian that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.dynamics.choice import Candidate
from dqdyn.dynamics.deferred import Deferred
from dqdyn.model.model import Frame, Model
from dqdyn.robot.operational_checks import require_rank, require_tree, singular_states
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import Refuses, Requirement, RobotFunction


def _at_frame(name: str, algorithm: str, requires: Requirement, refuses: Refuses | None = None) -> RobotFunction:
    """A function of J M⁻¹ Jᵀ at a frame."""
    form = Deferred("dynamics.fast.operational", algorithm)

    def candidates(model: Model, options: Options) -> Sequence[Candidate]:
        assert isinstance(options.frame, Frame), "checked before"
        found: Sequence[Candidate] = Deferred("dynamics.fast.operational", "candidates")(form, model, options.frame)
        return found

    more = {"candidates": candidates, "divides": "M", "requires": requires, "refuses": refuses}
    return RobotFunction.of(name, "q", "matrix", None, "frame expressed", **more)


OPERATIONAL = RobotFunction.table(
    _at_frame("operational_space_inverse_inertia", "inverse_inertia", require_tree),
    _at_frame("operational_space_inertia", "inertia", require_rank, singular_states),
    _at_frame("dynamically_consistent_inverse", "consistent_inverse", require_rank, singular_states),
)
