"""Frames and states at which an inertia in operational space does not exist."""

from __future__ import annotations

import numpy as np

from dqdyn.algebra.rows import at_state, first_row, row_number
from dqdyn.compile.runtime.function import Refusal
from dqdyn.errors import Error, StateError
from dqdyn.model.model import Frame, Model
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import RobotFunction

_INSTEAD = "operational_space_inverse_inertia, J M⁻¹ Jᵀ, exists everywhere"


def require_tree(function: RobotFunction, model: Model, options: Options) -> None:
    """An error for a robot with constraints, under which its frames move otherwise than M and J say."""
    if model.constraints:
        name = model.constraints[0].name
        problem = f"{function.name} of {model.name!r} would leave out its constraint {name!r}"
        raise Error(f"{problem}: use robot.without_constraints() for that of the tree.", constraint=name)


def require_rank(function: RobotFunction, model: Model, options: Options) -> None:
    """An error where the Jacobian of a frame has not the rank six in any state."""
    require_tree(function, model, options)
    assert isinstance(options.frame, Frame), "checked before"
    frame, joints = options.frame, [model.joints[i] for i in model.path(options.frame.body)]
    axes = {k for joint in joints for k in range(joint.v.start, joint.v.stop)}
    if len(axes) < 6:
        axis = "one axis" if len(axes) == 1 else f"{len(axes)} axes"
        why = f"{axis} cannot move it in six directions" if axes else "no axis moves it"
        problem = f"{function.name} of the frame {frame.name!r} of {model.name!r} does not exist"
        raise Error(f"{problem}: {why}; {_INSTEAD}.", axes=len(axes))


def singular_states(function: RobotFunction, options: Options) -> Refusal:
    """What raises at states where the Jacobian of a frame has not the rank six, given where that is."""
    assert isinstance(options.frame, Frame), "checked before"
    name = options.frame.name

    def refuse(is_singular: np.ndarray) -> None:
        row = first_row(is_singular)
        if row is not None:
            problem = f"{function.name} of the frame {name!r} does not exist at {at_state(row)}"
            raise StateError(
                f"{problem}, where the Jacobian of the frame is singular: leave this configuration; {_INSTEAD}.",
                frame=name,
                row=row_number(row),
            )

    return refuse
