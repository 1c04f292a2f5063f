"""The dynamic methods of :class:`dqdyn.Robot`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.algebra.scalar import stack, unstack
from dqdyn.compile.runtime.function import check_out
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.errors import Error
from dqdyn.robot.base import RobotBase
from dqdyn.robot.constrained_catalog import constrained_method
from dqdyn.robot.state import as_state
from dqdyn.robot.wrench_input import no_wrenches, stacked_wrenches

if TYPE_CHECKING:
    from dqdyn.dynamics.gravity.fields import Field

_COMPILED_SOLVE = 16
"""Up to this nv the linear systems of derivatives are part of the compiled program."""


class DynamicMethods(RobotBase):
    """Forces, accelerations, the mass matrix, energies."""

    @compiled_method(inputs=3)
    def inverse_dynamics(
        self,
        q: Any,
        v: Any,
        a: Any,
        wrenches: Mapping[str, Any] | None = None,
        method: str = "auto",
        *,
        expressed: str = "body",
        actuated: Any = None,
        t: Any = 0.0,
        out: np.ndarray | None = None,
        check: bool = True,
    ) -> np.ndarray:
        """τ (..., nv) in N m or N that gives the acceleration a (..., nv) at the state (q, v).

        ``wrenches`` maps a frame to [f, τ] of shape (..., 6), acting on the robot at that frame's origin in its axes,
        or in world axes with ``expressed="aligned"``. ``method`` names a formulation; "auto" takes the cheapest.

        Constraints need not carry anything in this τ. With ``actuated``, names of joints or "all", they carry what they
        can: the result is the smallest τ of those joints; an error says if a breaks a constraint or is out of reach.
        """
        if actuated is not None:
            need = self.inverse_dynamics(q, v, a, wrenches, method, expressed=expressed, check=check)
            tau = self._least_torques(q, v, a, need, actuated, t)  # type: ignore[attr-defined]
            return np.asarray(tau) if out is None else _copied(tau, out)
        if no_wrenches(wrenches, expressed):
            return self._run(("inverse_dynamics", method), (q, v, a), out, check)
        frames, stacked = stacked_wrenches(wrenches, check)
        return self._run(("inverse_dynamics_with_wrenches", method, frames, expressed), (q, v, a, stacked), out, check)

    @compiled_method(inputs=3)
    def forward_dynamics(
        self,
        q: Any,
        v: Any,
        tau: Any,
        wrenches: Mapping[str, Any] | None = None,
        method: str = "auto",
        *,
        expressed: str = "body",
        t: Any = 0.0,
        out: np.ndarray | None = None,
        check: bool = True,
    ) -> np.ndarray:
        """Acceleration (..., nv) under the generalized forces tau (..., nv); ``wrenches`` as in inverse_dynamics.

        It obeys the robot's constraints; ``method`` is then "auto" (multipliers, "kkt"), "udwadia-kalaba" or "kane".
        ``t`` in s matters to constraints that depend on the time.
        """
        if self.model.constraints:
            return self._constrained_forward(q, v, tau, wrenches, method, expressed, t, out, check)
        return self._free_forward(q, v, tau, wrenches, method, expressed, out, check)

    def _constrained_forward(
        self, q: Any, v: Any, tau: Any, wrenches: Any, method: str, expressed: str, t: Any, out: Any, check: bool
    ) -> np.ndarray:
        method = constrained_method(self.model, method)
        if not any(c.timed for c in self.model.constraints):
            return self._free_forward(q, v, tau, wrenches, method, expressed, out, check)
        if no_wrenches(wrenches, expressed):
            return self._run(("forward_dynamics_at", method), (q, v, tau, t), out, check)
        frames, stacked = stacked_wrenches(wrenches, check)
        key = ("forward_dynamics_with_wrenches_at", method, frames, expressed)
        return self._run(key, (q, v, tau, stacked, t), out, check)

    def _free_forward(
        self, q: Any, v: Any, tau: Any, wrenches: Any, method: str, expressed: str, out: Any, check: bool
    ) -> np.ndarray:
        """Forward dynamics where the time does not enter."""
        if no_wrenches(wrenches, expressed):
            return self._run(("forward_dynamics", method), (q, v, tau), out, check)
        frames, stacked = stacked_wrenches(wrenches, check)
        key = ("forward_dynamics_with_wrenches", method, frames, expressed)
        return self._run(key, (q, v, tau, stacked), out, check)

    def require_regular(self, q: Any) -> None:
        """A :class:`ModelError` with the joint's name where the mass matrix is singular at q (..., nq), so that forward
        dynamics has no answer; links without mass may make it so in some configurations."""
        self._bindings.require_inertia()
        self._bindings.require_regular([as_state(self.model, "q", q)])

    @compiled_method(inputs=3)
    def joint_wrenches(
        self,
        q: Any,
        v: Any,
        a: Any,
        wrenches: Mapping[str, Any] | None = None,
        *,
        expressed: str = "body",
        out: np.ndarray | None = None,
        check: bool = True,
    ) -> np.ndarray:
        """[f, τ] (..., joints, 6) in N and N m that each joint transmits to its body, by Newton-Euler.

        Row i belongs to ``joints[i]`` and ``bodies[i]``, at the body's origin in its axes. The torque of a joint is its
        share along the joint's axis; the rest is borne by the bearing. ``wrenches`` as in :meth:`inverse_dynamics`.
        """
        if no_wrenches(wrenches, expressed):
            return self._run(("joint_wrenches",), (q, v, a), out, check)
        frames, stacked = stacked_wrenches(wrenches, check)
        return self._run(("joint_wrenches_with_wrenches", frames, expressed), (q, v, a, stacked), out, check)

    @compiled_method(inputs=1)
    def mass_matrix(
        self, q: Any, method: str = "auto", *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """M (..., nv, nv), full and symmetric, with armature."""
        return self._run(("mass_matrix", method), (q,), out, check)

    @compiled_method(inputs=2)
    def coriolis_matrix(
        self, q: Any, v: Any, method: str = "auto", *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """C (..., nv, nv) with Ṁ − 2C skew-symmetric, so that C v + gravity (+ friction) is the bias.

        The Christoffel matrix unless ``method`` is "gauss" (Silva's) or "lagrange" (Parsa's); it is their mean.
        """
        return self._run(("coriolis_matrix", method), (q, v), out, check)

    @compiled_method(inputs=2)
    def bias_forces(self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """τ (..., nv) at zero acceleration: Coriolis, centrifugal, gravity, damping and friction."""
        return self._run(("bias_forces",), (q, v), out, check)

    @compiled_method(inputs=1)
    def gravity_forces(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """τ (..., nv) that holds the robot at rest against gravity."""
        return self._run(("gravity_forces",), (q,), out, check)

    def inverse_dynamics_derivatives(
        self, q: Any, v: Any, a: Any, *, check: bool = True
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """∂τ/∂q, ∂τ/∂v, ∂τ/∂a, each (..., nv, nv); q in the tangent space, as :meth:`integrate` moves it.

        Without external wrenches, and without ``out``: the three are views of one new array (..., 3, nv, nv), so in a
        batch they are not contiguous.
        """
        return _parts(self._run(("inverse_dynamics_derivatives",), (q, v, a), None, check))

    def forward_dynamics_derivatives(
        self, q: Any, v: Any, tau: Any, *, check: bool = True
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """∂a/∂q, ∂a/∂v, ∂a/∂τ, each (..., nv, nv); q in the tangent space. Without constraints ∂a/∂τ is M⁻¹.

        Without external wrenches, and without ``out``: the three are views of one new array and need not be contiguous.
        """
        self._bindings.require_inertia()
        if self.model.constraints and (self.model.nv > _COMPILED_SOLVE or any(c.timed for c in self.model.constraints)):
            raise Error(
                f"derivatives of forward dynamics under constraints are there up to nv = {_COMPILED_SOLVE} and for "
                f"constraints without time; {self.model.name!r} has nv = {self.model.nv}: use finite differences."
            )
        if self.model.nv <= _COMPILED_SOLVE:
            return _parts(self._run(("forward_dynamics_derivatives",), (q, v, tau), None, check))
        # Straight-line code for n³ operations would take long to compile; LAPACK has loops.
        a = self.forward_dynamics(q, v, tau, check=check)
        d_dq, d_dv, mass = self.inverse_dynamics_derivatives(q, v, a, check=check)
        n = self.model.nv
        identity = np.broadcast_to(np.eye(n), mass.shape)
        solved = np.linalg.solve(mass, np.concatenate([-d_dq, -d_dv, identity], axis=-1))
        return solved[..., :n], solved[..., n : 2 * n], solved[..., 2 * n :]

    @compiled_method(inputs=3)
    def torque_regressor(
        self, q: Any, v: Any, a: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """Y (..., nv, 10 per moving body) with τ = Y π for :meth:`inertial_parameters` π; no friction, no armature."""
        return self._run(("torque_regressor",), (q, v, a), out, check)

    def inertial_parameters(self) -> np.ndarray:
        """π: m, m c, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz of every moving body about its frame's origin."""
        from dqdyn.dynamics.fast.regressor import inertial_parameters

        return inertial_parameters(self.model)

    def gauss_function(self, q: Any, v: Any, a: Any, tau: Any, *, check: bool = True) -> Any:
        """Gauss's function in kg m²/s⁴, shape (...,): of all accelerations a, the motion under tau makes it least.

        Its gradient in a is inverse dynamics less tau, with damping, friction and armature.
        """
        return self._run(("gauss_function",), (q, v, a, tau), None, check)[..., 0]

    def gibbs_appell_function(self, q: Any, v: Any, a: Any, *, check: bool = True) -> Any:
        """Energy of acceleration in kg m²/s⁴, shape (...,), up to a term without a: its gradient in a is M a + C v."""
        return self._run(("gibbs_appell_function",), (q, v, a), None, check)[..., 0]

    def gravity_wrenches(self, field: Field, q: Any, *, check: bool = True) -> dict[str, np.ndarray]:
        """[f, τ] (..., 6) by which a field of :mod:`dqdyn.dynamics.gravity` pulls each moving body, by its name.

        They are ``wrenches`` for the dynamics of this robot ``with_gravity([0, 0, 0])``, by every method.
        """
        from dqdyn.dynamics.gravity.fields import as_field, on_bodies

        field = as_field(field)
        given = as_state(self.model, "q", q, check)
        result = {}
        for i, wrench in on_bodies(self.model, unstack(given, self.model.nq), field).items():
            name = self.model.bodies[i].name
            at_frame = self.model.frames[name].adjoint.back(wrench)
            parts = (*at_frame.primary.vector, *at_frame.dual.vector)
            result[name] = stack(parts, batch=given.shape[:-1])
        return result

    def kinetic_energy(self, q: Any, v: Any, *, check: bool = True) -> Any:
        """½ vᵀ M v in J, shape (...,)."""
        return self._run(("kinetic_energy",), (q, v), None, check)[..., 0]

    def potential_energy(self, q: Any, *, check: bool = True) -> Any:
        """Energy in the field of gravity in J, shape (...,); zero with all masses at the height of the world origin.

        In a field that the robot was given, the energy is the field's, with its own zero.
        """
        return self._run(("potential_energy",), (q,), None, check)[..., 0]

    def energy(self, q: Any, v: Any, *, check: bool = True) -> Any:
        """Kinetic plus potential energy in J, shape (...,)."""
        return self.kinetic_energy(q, v, check=check) + self.potential_energy(q, check=check)


def _parts(stacked: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return stacked[..., 0, :, :], stacked[..., 1, :, :], stacked[..., 2, :, :]


def _copied(tau: np.ndarray, out: Any) -> np.ndarray:
    """``out`` with tau in it."""
    check_out("inverse_dynamics", out, tau.shape)
    out[...] = tau
    return np.asarray(out)
