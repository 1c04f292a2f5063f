"""The methods of :class:`dqdyn.Robot` for control in operational space."""

from __future__ import annotations

from dqdyn.arrays import Array, Out, Reals
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.kinematics.frames import Expressed
from dqdyn.robot.dynamic import DynamicMethods
from dqdyn.robot.options import FrameName, Options


class OperationalMethods(DynamicMethods):
    """Inertia at a frame, and the inverse of the Jacobian that belongs to it."""

    __slots__ = ()

    @compiled_method(inputs=1, option="expressed")
    def operational_space_inverse_inertia(
        self, frame: FrameName, q: Reals, expressed: Expressed = "body", *, out: Out = None, check: bool = True
    ) -> Array:
        """J M⁻¹ Jᵀ (..., 6, 6): the rate of the twist [ω, v] of a frame per wrench [τ, f] on it; it always exists.

        Rows and columns are those of :meth:`twist_jacobian`, so moments come before forces.
        """
        options = Options(frame=frame, expressed=expressed)
        return self._run("operational_space_inverse_inertia", (q,), options, out=out, check=check)

    @compiled_method(inputs=1, option="expressed")
    def operational_space_inertia(
        self, frame: FrameName, q: Reals, expressed: Expressed = "body", *, out: Out = None, check: bool = True
    ) -> Array:
        """Λ = (J M⁻¹ Jᵀ)⁻¹ (..., 6, 6), the inertia of the robot at a frame, in kg m², kg m and kg.

        An error where J has not the rank six, as with fewer than six axes or in a singular configuration.
        """
        options = Options(frame=frame, expressed=expressed)
        return self._run("operational_space_inertia", (q,), options, out=out, check=check)

    @compiled_method(inputs=1, option="expressed")
    def dynamically_consistent_inverse(
        self, frame: FrameName, q: Reals, expressed: Expressed = "body", *, out: Out = None, check: bool = True
    ) -> Array:
        """J̄ = M⁻¹ Jᵀ Λ (..., nv, 6), the right inverse of the twist Jacobian with the least kinetic energy.

        Torques (1 − Jᵀ J̄ᵀ) τ do not accelerate the frame. An error where :meth:`operational_space_inertia` has one.
        """
        options = Options(frame=frame, expressed=expressed)
        return self._run("dynamically_consistent_inverse", (q,), options, out=out, check=check)
