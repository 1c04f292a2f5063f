"""Frames and states at which an inertia in operational space does not exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dqdyn.algebra.rows import at_state, first_row, row_number
from dqdyn.caching import cached_property
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace import trace
from dqdyn.errors import Error, StateError
from dqdyn.model.model import Frame, Model
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import RobotFunction

_INSTEAD = "operational_space_inverse_inertia, J M⁻¹ Jᵀ, exists everywhere"


def require_tree(function: RobotFunction, model: Model, options: Options, native: bool | None) -> None:
    """An error for a robot with constraints, under which its frames move otherwise than M and J say."""
    if model.constraints:
        name = model.constraints[0].name
        problem = f"{function.name} of {model.name!r} would leave out its constraint {name!r}"
        raise Error(f"{problem}: use robot.without_constraints() for that of the tree.", constraint=name)


def require_rank(function: RobotFunction, model: Model, options: Options, native: bool | None) -> RankCheck | None:
    """An error where the Jacobian of a frame has not the rank six in any state; else what to ask at every state.

    With a free joint before the frame it has that rank everywhere.
    """
    require_tree(function, model, options, native)
    assert isinstance(options.frame, Frame), "checked before"
    frame, joints = options.frame, [model.joints[i] for i in model.path(options.frame.body)]
    axes = {k for joint in joints for k in range(joint.v.start, joint.v.stop)}
    if len(axes) < 6:
        axis = "one axis" if len(axes) == 1 else f"{len(axes)} axes"
        why = f"{axis} cannot move it in six directions" if axes else "no axis moves it"
        problem = f"{function.name} of the frame {frame.name!r} of {model.name!r} does not exist"
        raise Error(f"{problem}: {why}; {_INSTEAD}.", axes=len(axes))
    return None if any(joint.motion.group == "pose" for joint in joints) else RankCheck(function, model, frame, native)


class RankCheck:
    """An error at a state where the Jacobian of a frame has not the rank six."""

    def __init__(self, function: RobotFunction, model: Model, frame: Frame, native: bool | None) -> None:
        self.function, self.model, self.frame, self.native = function, model, frame, native

    def __call__(self, inputs: Sequence[np.ndarray]) -> None:
        q = inputs[0]
        found = self._loss(q) if q.ndim == 1 else self._loss(q, check=False)
        row = first_row(self._is_singular(found))
        if row is not None:
            problem = f"{self.function.name} of the frame {self.frame.name!r} does not exist at {at_state(row)}"
            raise StateError(
                f"{problem}, where the Jacobian of the frame is singular: leave this configuration; {_INSTEAD}.",
                frame=self.frame.name,
                row=row_number(row),
            )

    @cached_property
    def _is_singular(self) -> Callable[[np.ndarray], np.ndarray]:
        from dqdyn.dynamics.fast.operational import is_singular

        return is_singular

    @cached_property
    def _loss(self) -> Callable[..., np.ndarray]:
        from dqdyn.dynamics.fast.operational import candidates, loss

        # Whether J loses rank does not depend on the axes in which it is expressed; seen from the frame it is cheapest.
        (form, model), *_ = candidates(loss, self.model, self.frame)
        program = trace("loss", [("q", model.nq)], lambda q: (form(model, q, frame=self.frame), (1,)))
        return Function(program, native=self.native).fast
