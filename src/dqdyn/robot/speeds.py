"""A robot in quasi-velocities of your choice: ``robot.in_speeds(B)`` with v = B(q) u, by Kane's equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.arrays import Array, Out, Reals
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.dynamics.formulations.speeds import Speeds
from dqdyn.errors import unknown_name
from dqdyn.kinematics.frames import EXPRESSIONS, Expressed
from dqdyn.robot.base import WithFunctions
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.functions.quasi_velocities import QUASI_VELOCITIES
from dqdyn.robot.options import Options, WrenchAxes
from dqdyn.robot.speed_variables import SpeedVariables
from dqdyn.robot.wrench_input import Wrenches, wrench_input

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


class RobotInSpeeds(WithFunctions):
    """A robot whose motion is described by m quasi-velocities u (Kane's generalized speeds); see ``Robot.in_speeds``.

    v = B(q) u, forces on u are Bᵀτ, and q stays the robot's own. With m < nv only motions v = B u are possible, as
    under constraints; what enforces them does no work along them and stays out of all forces here. Every method takes
    one state (n,) or a batch (..., n), ``out=`` receives the result, ``check=False`` lets bad numbers pass.
    """

    def __init__(self, robot: Robot, B: Speeds | None = None, Y: Speeds | None = None) -> None:
        self._variables = SpeedVariables(robot, B, Y)
        self.robot, self._key = robot, (robot, B, Y)
        self._set_functions(CompiledFunctions(self._variables, RobotInSpeeds))
        self._variables.evaluate = self._evaluate
        self._variables.require_independent()

    @property
    def m(self) -> int:
        """Number of quasi-velocities."""
        return self._variables.speeds.size

    @compiled_method(inputs=1)
    def matrix(self, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """B (..., nv, m) with v = B u."""
        return self._run("matrix", (q,), out=out, check=check)

    @compiled_method(inputs=2)
    def velocity(self, q: Reals, u: Reals, *, out: Out = None, check: bool = True) -> Array:
        """v = B u (..., nv)."""
        return self._run("velocity", (q, u), out=out, check=check)

    @compiled_method(inputs=2)
    def speeds(self, q: Reals, v: Reals, *, out: Out = None, check: bool = True) -> Array:
        """u (..., m) of the velocity v: Y v, or the solution of B u = v.

        Where B has fewer columns than rows, a v outside the range of B is refused, not replaced by the nearest.
        """
        return self._run("speeds", (q, v), out=out, check=check)

    @compiled_method(inputs=3)
    def acceleration(self, q: Reals, u: Reals, u_rate: Reals, *, out: Out = None, check: bool = True) -> Array:
        """a = B u̇ + Ḃ u (..., nv)."""
        return self._run("acceleration", (q, u, u_rate), out=out, check=check)

    @compiled_method(inputs=2)
    def forces(self, q: Reals, tau: Reals, *, out: Out = None, check: bool = True) -> Array:
        """Bᵀτ (..., m): forces of the robot's joints, (..., nv), as forces on u."""
        return self._run("forces", (q, tau), out=out, check=check)

    @compiled_method(inputs=1)
    def mass_matrix(self, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """BᵀMB (..., m, m), with armature."""
        return self._run("mass_matrix", (q,), out=out, check=check)

    @compiled_method(inputs=2)
    def bias_forces(self, q: Reals, u: Reals, *, out: Out = None, check: bool = True) -> Array:
        """Bᵀτ (..., m) at u̇ = 0: what velocities, gravity, damping, friction and springs ask for."""
        return self._run("bias_forces", (q, u), out=out, check=check)

    def inverse_dynamics(
        self,
        q: Reals,
        u: Reals,
        u_rate: Reals,
        wrenches: Wrenches | None = None,
        *,
        expressed: WrenchAxes = "body",
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """Bᵀτ (..., m) that gives u̇, with damping, friction and armature; wrenches as in ``Robot.inverse_dynamics``."""
        options, stacked = wrench_input(wrenches, expressed, check)
        return self._run("inverse_dynamics", (q, u, u_rate, *stacked), options, out, check)

    def forward_dynamics(
        self,
        q: Reals,
        u: Reals,
        forces: Reals,
        wrenches: Wrenches | None = None,
        *,
        expressed: WrenchAxes = "body",
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """u̇ (..., m) under the forces Bᵀτ (..., m) on u, which :meth:`forces` computes from τ; wrenches likewise."""
        options, stacked = wrench_input(wrenches, expressed, check)
        return self._run("forward_dynamics", (q, u, forces, *stacked), options, out, check)

    def partial_velocities(
        self, q: Reals, frame: str | None = None, *, expressed: Expressed = "body", out: Out = None, check: bool = True
    ) -> Array:
        """∂ξ/∂u (..., 6, m) of a frame's twist ξ = [ω, v], expressed as in ``Robot.twist_jacobian``.

        Without a frame those of Kane's equations (..., bodies, 6, m): of every body in ``robot.bodies``, with the
        velocity of its center of mass, in the axes of the body.
        """
        if frame is not None:
            return self._run("frame_velocities", (q,), Options(frame=frame, expressed=expressed), out, check)
        if expressed not in EXPRESSIONS:
            raise unknown_name("expression", expressed, EXPRESSIONS)
        return self._run("partial_velocities", (q,), out=out, check=check)

    def function(self, name: Any, **options: Any) -> Callable[..., Any]:
        """A compiled function for loops, by the name of a method; arguments as there, in order.

        A list of functions is compiled as one, as in ``Robot.function``.

        Options are ``wrench_frames`` (the wrenches are then the last input, one after the other) and
        ``wrench_expressed`` for dynamics, ``frame`` and ``expressed`` for partial_velocities.
        """
        if not isinstance(name, str):
            return super().function(name, **options)
        if name not in QUASI_VELOCITIES:
            raise unknown_name("function in quasi-velocities", name, QUASI_VELOCITIES)
        if name == "partial_velocities":
            for option in options:
                if option not in ("frame", "expressed"):
                    raise unknown_name(f"option of {name}", option, ("frame", "expressed"))
            if options.get("frame") is not None:
                return super().function("frame_velocities", **options)
            if options.get("expressed", "body") not in EXPRESSIONS:
                raise unknown_name("expression", options["expressed"], EXPRESSIONS)
            options = {}
        return super().function(name, **options)

    def _evaluate(self, name: str, *inputs: np.ndarray) -> Array:
        return self._run(name, inputs, check=inputs[0].ndim == 1)

    def __reduce__(self) -> Any:
        return RobotInSpeeds, self._key

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, RobotInSpeeds) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        by = "v = B(q) u" if self._variables.matrix_name == "B" else "u = Y(q) v"
        return f"RobotInSpeeds({self.robot.name!r}, {by}, m={self.m}, nv={self.robot.nv})"
