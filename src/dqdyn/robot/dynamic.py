"""The dynamic methods of :class:`dqdyn.Robot`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.algebra.scalar import stack, unstack
from dqdyn.arrays import Array, Out, Reals, Times
from dqdyn.compile.runtime.array_memory import check_out
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.errors import Error
from dqdyn.robot.kinematic import KinematicMethods
from dqdyn.robot.options import CoriolisMethod, ForwardMethod, InverseMethod, MassMatrixMethod, Options, WrenchAxes
from dqdyn.robot.state import as_state
from dqdyn.robot.wrench_input import Wrenches, wrench_input

if TYPE_CHECKING:
    from dqdyn.dynamics.gravity.fields import Field
    from dqdyn.robot.robot import Robot

_CONSTRAINED = 16
"""Up to this nv forward dynamics under constraints is differentiated."""


class DynamicMethods(KinematicMethods):
    """Forces, accelerations, the mass matrix, energies."""

    __slots__ = ()

    @compiled_method(inputs=3, option="method")
    def inverse_dynamics(
        self,
        q: Reals,
        v: Reals,
        a: Reals,
        wrenches: Wrenches | None = None,
        method: InverseMethod = "auto",
        *,
        expressed: WrenchAxes = "body",
        actuated: str | Sequence[str] | None = None,
        t: Times = 0.0,
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """τ (..., nv) in N m or N that gives the acceleration a (..., nv) at the state (q, v).

        ``wrenches`` maps a frame to [f, τ] of shape (..., 6), acting on the robot at that frame's origin in its axes,
        or in world axes with ``expressed="aligned"``. ``method`` names a formulation; "auto" takes the cheapest.
        A function in its place, ``method(model, q, v, a[, wrenches])`` over any scalar, gives τ of the bodies alone.

        Constraints need not carry anything in this τ. With ``actuated``, they carry what they can: the result is the
        smallest τ of the robot's motors ("motors"), of all axes ("all"), or of the joints with these names; an error
        says if a breaks a constraint or is out of reach.
        """
        if actuated is not None:
            from dqdyn.robot.actuation import least_torques

            needed = self.inverse_dynamics(q, v, a, wrenches, method, expressed=expressed, check=check)
            tau = least_torques(self, q, v, a, needed, actuated, t)
            return np.asarray(tau) if out is None else _copied(tau, out)
        options, stacked = wrench_input(wrenches, expressed, check, method)
        return self._run("inverse_dynamics", (q, v, a, *stacked), options, out, check)

    @compiled_method(inputs=3, option="method")
    def forward_dynamics(
        self,
        q: Reals,
        v: Reals,
        tau: Reals,
        wrenches: Wrenches | None = None,
        method: ForwardMethod = "auto",
        *,
        expressed: WrenchAxes = "body",
        t: Times = 0.0,
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """Acceleration (..., nv) under the generalized forces tau (..., nv); ``wrenches`` as in inverse_dynamics.

        It obeys the robot's constraints; ``method`` is then "auto" (multipliers, "kkt"), "udwadia-kalaba" or "kane".
        ``t`` in s matters to constraints that depend on the time.
        """
        timed = any(c.timed for c in self.model.constraints)
        options, stacked = wrench_input(wrenches, expressed, check, method, timed)
        inputs = (q, v, tau, *stacked, t) if timed else (q, v, tau, *stacked)
        return self._run("forward_dynamics", inputs, options, out, check)

    def require_regular(self, q: Reals) -> None:
        """A :class:`ModelError` with the joint's name where the mass matrix is singular at q (..., nq), so that forward
        dynamics has no answer; links without mass may make it so in some configurations."""
        inertia = self._functions.variables.inertia
        inertia.require_inertia()
        inertia.require_regular([as_state(self.model, "q", q)])

    @compiled_method(inputs=3)
    def joint_wrenches(
        self,
        q: Reals,
        v: Reals,
        a: Reals,
        wrenches: Wrenches | None = None,
        *,
        expressed: WrenchAxes = "body",
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """[f, τ] (..., joints, 6) in N and N m that each joint transmits to its body, by Newton-Euler.

        Row i belongs to ``joints[i]`` and ``bodies[i]``, at the body's origin in its axes. The torque of a joint is its
        share along the joint's axis; the rest is borne by the bearing. ``wrenches`` as in :meth:`inverse_dynamics`.
        """
        options, stacked = wrench_input(wrenches, expressed, check)
        return self._run("joint_wrenches", (q, v, a, *stacked), options, out, check)

    @compiled_method(inputs=1, option="method")
    def mass_matrix(self, q: Reals, method: MassMatrixMethod = "auto", *, out: Out = None, check: bool = True) -> Array:
        """M (..., nv, nv), full and symmetric, with armature; a function ``method(model, q)`` gives that of bodies."""
        return self._run("mass_matrix", (q,), Options(method=method), out=out, check=check)

    @compiled_method(inputs=1)
    def inverse_mass_matrix(self, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """M⁻¹ (..., nv, nv), full and symmetric, with armature: the acceleration per unit of each generalized force.

        Constraints are not obeyed; see :meth:`forward_dynamics_derivatives` for ∂a/∂τ under them.
        """
        return self._run("inverse_mass_matrix", (q,), out=out, check=check)

    @compiled_method(inputs=2, option="method")
    def coriolis_matrix(
        self, q: Reals, v: Reals, method: CoriolisMethod = "auto", *, out: Out = None, check: bool = True
    ) -> Array:
        """C (..., nv, nv) with Ṁ − 2C skew-symmetric, so that C v + gravity (+ friction) is the bias.

        The Christoffel matrix unless ``method`` is "gauss" (Silva's) or "lagrange" (Parsa's); it is their mean.
        """
        return self._run("coriolis_matrix", (q, v), Options(method=method), out=out, check=check)

    @compiled_method(inputs=2)
    def bias_forces(self, q: Reals, v: Reals, *, out: Out = None, check: bool = True) -> Array:
        """τ (..., nv) at zero acceleration: Coriolis, centrifugal, gravity, damping, friction and springs."""
        return self._run("bias_forces", (q, v), out=out, check=check)

    @compiled_method(inputs=1)
    def gravity_forces(self, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """τ (..., nv) that holds the robot at rest against gravity and springs."""
        return self._run("gravity_forces", (q,), out=out, check=check)

    @compiled_method(inputs=3)
    def inverse_dynamics_derivatives(
        self, q: Reals, v: Reals, a: Reals, *, check: bool = True
    ) -> tuple[Array, Array, Array]:
        """∂τ/∂q, ∂τ/∂v, ∂τ/∂a, each (..., nv, nv); q in the tangent space, as :meth:`integrate` moves it.

        Without external wrenches, and without ``out``: the bound function takes one array (..., 3, nv, nv).
        """
        parts: tuple[Array, Array, Array] = self._run_plain("inverse_dynamics_derivatives", (q, v, a), check=check)
        return parts

    @compiled_method(inputs=3)
    def forward_dynamics_derivatives(
        self, q: Reals, v: Reals, tau: Reals, *, check: bool = True
    ) -> tuple[Array, Array, Array]:
        """∂a/∂q, ∂a/∂v, ∂a/∂τ, each (..., nv, nv); q in the tangent space. Without constraints ∂a/∂τ is M⁻¹.

        Without external wrenches, and without ``out``: the bound function takes one array (..., 3, nv, nv).
        """
        self._functions.variables.inertia.require_inertia()
        constraints, n = self.model.constraints, self.model.nv
        if constraints and (n > _CONSTRAINED or any(c.timed for c in constraints)):
            raise Error(
                f"derivatives of forward dynamics under constraints are available up to nv = {_CONSTRAINED} and for "
                f"constraints without time; {self.model.name!r} has nv = {n}: use finite differences."
            )
        parts: tuple[Array, Array, Array] = self._run_plain("forward_dynamics_derivatives", (q, v, tau), check=check)
        return parts

    @compiled_method(inputs=3)
    def torque_regressor(self, q: Reals, v: Reals, a: Reals, *, out: Out = None, check: bool = True) -> Array:
        """Y (..., nv, 10 per moving body) with τ = Y π for :meth:`inertial_parameters` π; of the bodies alone."""
        return self._run("torque_regressor", (q, v, a), out=out, check=check)

    def parameters(self, names: Iterable[str] = ("inertia", "gravity")) -> dict[str, Array]:
        """The robot's own values of what functions take as inputs by ``parameters=names``, in the order of the inputs.

        "inertia" is :meth:`inertial_parameters`, ten per body; in its place "mass", "center_of_mass" (3 per body) and
        "rotational_inertia" (xx, xy, yy, xz, yz, zz about the center of mass). "gravity" (3,) in m/s²; "damping",
        "friction", "armature", "stiffness" and "rest" (nv,). "joint_poses": w, x, y, z and the translation of each
        joint in its parent's body; in its place "dh": θ, d, a, α per joint of a robot of :func:`dqdyn.from_dh`.
        """
        from dqdyn.dynamics.parameters import checked_names, values

        found = values(self.model, checked_names(self.model, names, "dynamics"))
        return {name: np.array(entries) for name, entries in found.items()}

    def with_parameters(self, values: Mapping[str, Reals]) -> Robot:
        """The same robot with other values of :meth:`parameters`: ``robot.with_parameters({"mass": 1.1 * masses})``.

        The inertia of a body becomes that of the link its joint moves; links fixed to it have none any more.
        """
        from dqdyn.robot.parameter_edit import with_parameters

        return with_parameters(self, values)

    def inertial_parameters(self) -> Array:
        """π: m, m c, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz of every moving body about its frame's origin."""
        from dqdyn.dynamics.fast.regressor import inertial_parameters

        return inertial_parameters(self.model)

    @compiled_method(inputs=4)
    def gauss_function(self, q: Reals, v: Reals, a: Reals, tau: Reals, *, check: bool = True) -> Array:
        """Gauss's function in kg m²/s⁴, shape (...,): of all accelerations a, the motion under tau makes it least.

        Its gradient in a is inverse dynamics less tau, with damping, friction and armature.
        """
        return self._run("gauss_function", (q, v, a, tau), check=check)

    @compiled_method(inputs=3)
    def gibbs_appell_function(self, q: Reals, v: Reals, a: Reals, *, check: bool = True) -> Array:
        """Energy of acceleration in kg m²/s⁴, shape (...,), up to a term without a: its gradient in a is M a + C v."""
        return self._run("gibbs_appell_function", (q, v, a), check=check)

    def gravity_wrenches(self, field: Field, q: Reals, *, check: bool = True) -> dict[str, Array]:
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

    @compiled_method(inputs=2)
    def kinetic_energy(self, q: Reals, v: Reals, *, check: bool = True) -> Array:
        """½ vᵀ M v in J, shape (...,)."""
        return self._run("kinetic_energy", (q, v), check=check)

    @compiled_method(inputs=1)
    def potential_energy(self, q: Reals, *, check: bool = True) -> Array:
        """Energy in the field of gravity in J, shape (...,); zero with all masses at the height of the world origin.

        In a field that the robot was given, the energy is the field's, with its own zero.
        """
        return self._run("potential_energy", (q,), check=check)

    def energy(self, q: Reals, v: Reals, *, check: bool = True) -> Array:
        """Kinetic plus potential energy in J, shape (...,)."""
        return self.kinetic_energy(q, v, check=check) + self.potential_energy(q, check=check)


def _copied(tau: Array, out: Array) -> Array:
    """``out`` with tau in it."""
    check_out("inverse_dynamics", out, tau.shape)
    out[...] = tau
    return np.asarray(out)
