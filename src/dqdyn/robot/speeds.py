"""A robot in quasi-velocities of your choice: ``robot.in_speeds(B)`` with v = B(q) u, by Kane's equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.errors import Error, unknown_name
from dqdyn.kinematics.frames import EXPRESSIONS
from dqdyn.robot.speed_bindings import SpeedBindings
from dqdyn.robot.speed_functions import FUNCTIONS
from dqdyn.robot.wrench_input import no_wrenches, stacked_wrenches


class RobotInSpeeds(SpeedBindings):
    """A robot whose motion is told by m quasi-velocities u (Kane's generalized speeds); see ``Robot.in_speeds``.

    v = B(q) u, forces on u are Bᵀτ, and q stays the robot's own. With m < nv only motions v = B u are possible, as
    under constraints; what enforces them does no work along them and stays out of all forces here. Every method takes
    one state (n,) or a batch (..., n), ``out=`` receives the result, ``check=False`` lets bad numbers pass.
    """

    def matrix(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """B (..., nv, m) with v = B u."""
        return self._run("matrix", (q,), (), out, check)

    def velocity(self, q: Any, u: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """v = B u (..., nv)."""
        return self._run("velocity", (q, u), (), out, check)

    def speeds(self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """u (..., m) of the velocity v: Y v, or the solution of B u = v.

        Where B has fewer columns than rows, a v that is no B u is refused, not replaced by the nearest.
        """
        return self._run("speeds", (q, v), (), out, check)

    def acceleration(
        self, q: Any, u: Any, u_rate: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """a = B u̇ + Ḃ u (..., nv)."""
        return self._run("acceleration", (q, u, u_rate), (), out, check)

    def forces(self, q: Any, tau: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """Bᵀτ (..., m): forces of the robot's joints, (..., nv), as forces on u."""
        return self._run("forces", (q, tau), (), out, check)

    def mass_matrix(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """BᵀMB (..., m, m), with armature."""
        return self._run("mass_matrix", (q,), (), out, check)

    def bias_forces(self, q: Any, u: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """Bᵀτ (..., m) at u̇ = 0: what velocities, gravity, damping and friction ask for."""
        return self._run("bias_forces", (q, u), (), out, check)

    def inverse_dynamics(
        self,
        q: Any,
        u: Any,
        u_rate: Any,
        wrenches: Mapping[str, Any] | None = None,
        *,
        expressed: str = "body",
        out: np.ndarray | None = None,
        check: bool = True,
    ) -> np.ndarray:
        """Bᵀτ (..., m) that gives u̇, with damping, friction and armature; wrenches as in ``Robot.inverse_dynamics``."""
        options, given = self._wrenches(wrenches, expressed, check)
        return self._run("inverse_dynamics", (q, u, u_rate, *given), options, out, check)

    def forward_dynamics(
        self,
        q: Any,
        u: Any,
        forces: Any,
        wrenches: Mapping[str, Any] | None = None,
        *,
        expressed: str = "body",
        out: np.ndarray | None = None,
        check: bool = True,
    ) -> np.ndarray:
        """u̇ (..., m) under the forces Bᵀτ (..., m) on u, which :meth:`forces` makes of τ; wrenches likewise."""
        options, given = self._wrenches(wrenches, expressed, check)
        return self._run("forward_dynamics", (q, u, forces, *given), options, out, check)

    def partial_velocities(
        self,
        q: Any,
        frame: str | None = None,
        *,
        expressed: str = "body",
        out: np.ndarray | None = None,
        check: bool = True,
    ) -> np.ndarray:
        """∂ξ/∂u (..., 6, m) of a frame's twist ξ = [ω, v], expressed as in ``Robot.twist_jacobian``.

        Without a frame those of Kane's equations (..., bodies, 6, m): of every body in ``robot.bodies``, with the
        velocity of its center of mass, in the axes of the body.
        """
        name, options = self._partial(frame, expressed)
        return self._run(name, (q,), options, out, check)

    def function(self, name: str, **options: Any) -> Callable[..., np.ndarray]:
        """A compiled function for loops, by the name of a method; arguments as there, in order.

        Options are ``wrench_frames`` (the wrenches are then the last input, one after the other) and
        ``wrench_expressed`` for dynamics, ``frame`` and ``expressed`` for partial_velocities.
        """
        if name not in FUNCTIONS or name == "frame_velocities":
            raise unknown_name("function in quasi-velocities", name, [n for n in FUNCTIONS if n != "frame_velocities"])
        known = ("frame", "expressed") if name == "partial_velocities" else FUNCTIONS[name].options
        unknown = set(options) - set(known)
        if unknown:
            raise unknown_name(f"option of {name}", sorted(unknown)[0], known)
        values: tuple[Any, ...] = ()
        if name == "partial_velocities":
            name, values = self._partial(options.get("frame"), options.get("expressed", "body"))
        elif known:
            values = self._frames(options.get("wrench_frames", ()), options.get("wrench_expressed", "body"))
        fast: Callable[..., np.ndarray] = self._function(name, values).fast
        return fast

    def _partial(self, frame: Any, expressed: str) -> tuple[str, tuple[Any, ...]]:
        if expressed not in EXPRESSIONS:
            raise unknown_name("expression", expressed, EXPRESSIONS)
        if frame is None:
            return "partial_velocities", ()
        return "frame_velocities", (self.robot.model.frame(frame), expressed)

    def _wrenches(self, wrenches: Any, expressed: str, check: bool) -> tuple[tuple[Any, ...], tuple[np.ndarray, ...]]:
        if no_wrenches(wrenches, expressed):
            return ((), "body"), ()
        frames, stacked = stacked_wrenches(wrenches, check)
        return self._frames(frames, expressed), (stacked,)

    def _frames(self, frames: Sequence[str], expressed: str) -> tuple[Any, ...]:
        if isinstance(frames, str) or not isinstance(frames, Sequence):
            raise Error(f"wrench_frames is a list of frames, as in ['tool']; found {frames!r}.", option="wrench_frames")
        no_wrenches(None, expressed)
        return tuple(self.robot.model.frame(frame).name for frame in frames), expressed

    def __reduce__(self) -> Any:
        return _rebuilt, (self.robot, self._name, self._given)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RobotInSpeeds):
            return NotImplemented
        return (self.robot, self._name, self._given) == (other.robot, other._name, other._given)

    def __hash__(self) -> int:
        return hash((self.robot, self._name, self._given))

    def __repr__(self) -> str:
        by = "v = B(q) u" if self._name == "B" else "u = Y(q) v"
        return f"RobotInSpeeds({self.robot.name!r}, {by}, m={self.m}, nv={self.robot.nv})"


def _rebuilt(robot: Any, name: str, given: Any) -> RobotInSpeeds:
    return RobotInSpeeds(robot, **{name: given})
