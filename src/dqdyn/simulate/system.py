"""A robot as a system of differential equations on its manifold, over any scalar: what integrators are written on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalars, is_numeric, is_scalar
from dqdyn.caching import cached_property
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program
from dqdyn.constraints.stabilisation import Projection
from dqdyn.errors import Error, one_line
from dqdyn.kinematics.configuration import integrate
from dqdyn.model.model import Model
from dqdyn.model.motors import said_by
from dqdyn.robot import Robot
from dqdyn.robot.control_law import Law
from dqdyn.robot.options import Option
from dqdyn.simulate.problem import axis_of, joint_of

_LARGEST = sys.float_info.max


def law_forces(law: Law, model: Model, t: Any, q: Scalars, v: Scalars) -> list[Any]:
    """What a law gives, checked."""
    given, nv = law(t, q, v), model.nv
    try:
        forces = list(given)
    except TypeError:
        forces = []
    if len(forces) != nv or isinstance(given, (str, bytes)) or not all(_is_force(x) for x in forces):
        found = one_line(repr(given), 100)
        raise Error(f"a control law gives {nv} scalars, one per velocity; found {found}.", found=given)
    for k, (motor, force) in enumerate(zip(model.motors, forces, strict=True)):
        if motor is None and not (is_numeric(force) and force == 0.0):
            joint, (axis, _) = joint_of(model, k), axis_of(model, k)
            what = f"the control law gives a force on {axis!r} of {model.name!r}, which has no motor"
            remedy = f"give the number 0.0 there, or, if it has one, say so by {said_by(joint)}"
            raise Error(f"{what}: {remedy}.", joint=joint, axis=axis)
    return forces


def _is_force(x: Any) -> bool:
    return is_scalar(x) and not isinstance(x, np.ndarray) and not (isinstance(x, int) and abs(x) > _LARGEST)


@dataclass(unsafe_hash=True, repr=False)
class System:
    """q̇ = v, v̇ = a(t, q, v, u). The input u is [τ, wrenches at ``frames``], constant during a step.

    With a ``law``, its forces are added to τ at every stage. Programs of the robot are run on the scalars of the
    integrator, so a traced step contains them.
    """

    robot: Robot
    frames: tuple[str, ...] = ()
    expressed: str = "body"
    law: Law | None = None

    def __post_init__(self) -> None:
        self.model: Model = self.robot.model
        self.nq, self.nv = self.model.nq, self.model.nv
        self.inputs = self.nv + 6 * len(self.frames)

    @cached_property
    def timed(self) -> bool:
        """Whether the time enters some constraint."""
        return any(constraint.timed for constraint in self.robot.constraints)

    @cached_property
    def projects(self) -> bool:
        """Whether every state is to be brought back onto the constraints."""
        return bool(self.robot.constraints) and isinstance(self.robot.stabilisation, Projection)

    @cached_property
    def _forward(self) -> Program:
        return self._with_wrenches("forward_dynamics", time=self.timed)

    def _with_wrenches(self, name: str, **options: Option) -> Program:
        """The program of a function that the wrenches of the input enter."""
        return self.robot.program(name, wrench_frames=self.frames, wrench_expressed=self.expressed, **options)

    def forces(self, t: Any, q: Scalars, v: Scalars, u: Scalars) -> list[Any]:
        """τ (nv): that of the input, and that of the law."""
        tau = list(u[: self.nv])
        if self.law is None:
            return tau
        return [a + b for a, b in zip(tau, law_forces(self.law, self.model, t, q, v), strict=True)]

    def acceleration(self, t: Any, q: Scalars, v: Scalars, u: Scalars) -> list[Any]:
        """v̇ (nv) at the time t in s."""
        named = {"q": q, "v": v, "tau": self.forces(t, q, v, u), "wrenches": u[self.nv :], "t": [t]}
        return interpret(self._forward, [named[name] for name, _ in self._forward.inputs])

    def holding(self, q: Scalars, u: Scalars) -> list[Any]:
        """τ (nv) that holds the robot at rest at q against gravity and the wrenches of the input."""
        if not self.frames:
            return self.quantity("gravity_forces", q)
        zero = [0.0] * self.nv
        return interpret(self._with_wrenches("inverse_dynamics"), [q, zero, zero, u[self.nv :]])

    def quantity(self, name: str, *inputs: Scalars) -> list[Any]:
        """A function of the robot, e.g. ``quantity("mass_matrix", q)``, entry by entry."""
        return interpret(self.robot.program(name), list(inputs))

    def onto_constraints(self, t: Any, q: Scalars, v: Scalars) -> tuple[list[Any], list[Any]]:
        """One Newton step of q towards the constraints, and v projected on them there."""
        if any(constraint.holonomic for constraint in self.robot.constraints):
            q = self.moved(q, self.quantity("step_to_position", q, [t]))
        return list(q), self.quantity("projected_velocity", q, v, [t])

    def moved(self, q: Scalars, w: Scalars) -> list[Any]:
        """q after following w for unit time, by the exact exponential of each joint."""
        return integrate(self.model, q, w, 1.0)

    def corrected(self, w: Scalars, v: Scalars, order: int) -> list[Any]:
        """The rate of w for which ``moved(q, w)`` has the velocity v, up to terms of w of the given order."""
        own = [joint for joint in self.model.joints if joint.master is None]
        return [c for j in own for c in j.motion.exponential_rate(w[j.v], v[j.v], order)]
