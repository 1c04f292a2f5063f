"""Second derivatives of inverse dynamics, as products with one direction."""

from __future__ import annotations

from dqdyn.dynamics import methods
from dqdyn.dynamics.choice import Formulations
from dqdyn.dynamics.deferred import Deferred
from dqdyn.errors import Error
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Model
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import Result, RobotFunction


def _require_uniform_gravity(function: RobotFunction, model: Model, options: Options) -> None:
    """An error for a robot in a gravity field, whose second derivatives are not known."""
    if isinstance(model.gravity, FieldGravity):
        problem = f"second derivatives of inverse dynamics are available for uniform gravity, and {model.name!r} is in"
        raise Error(f"{problem} a field: use differences of inverse_dynamics_derivatives.", function=function.name)


def _on_regrouped(name: str, inputs: str, result: Result) -> RobotFunction:
    form = Deferred("dynamics.fast.second_derivatives", name)
    choice = Formulations(name, {"in-bodies": form}, "in-bodies", lambda model: [(form, methods.regrouped(model))])
    return RobotFunction.of(name, inputs, result, choice=lambda model: choice, requires=_require_uniform_gravity)


SECOND_ORDER = RobotFunction.table(
    _on_regrouped("inverse_dynamics_hessian_product", "q v a weights dq dv da", "matrix"),
)
HESSIAN = _on_regrouped("inverse_dynamics_hessian", "q v a weights", "matrices")
"""All of it in one program, for robots with few joints; the others have it from the product."""
