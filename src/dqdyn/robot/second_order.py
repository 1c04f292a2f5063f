"""The methods of :class:`dqdyn.Robot` for second derivatives of inverse dynamics, as optimal control needs them."""

from __future__ import annotations

import numpy as np

from dqdyn.arrays import Array, Out, Reals
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.errors import StateError
from dqdyn.robot.functions.second_order import HESSIAN
from dqdyn.robot.operational import OperationalMethods
from dqdyn.robot.options import DEFAULTS
from dqdyn.robot.state import as_state

_LARGEST_PROGRAM = 8  # nv up to which all second derivatives are one program
SecondDerivatives = tuple[Array, Array, Array, Array]
"""With respect to q and q, q and v, v and v, q and a."""


class SecondOrderMethods(OperationalMethods):
    """Second derivatives of τ, of a weighted sum of its entries, and their products with one direction.

    All are those of τ(``integrate(q, δq)``, v + δv, a + δa) with respect to the δ, at zero. With few joints they
    are one program. With more, that would take minutes to compile; then the program of the product with one direction
    is evaluated for all directions in a batch.
    """

    __slots__ = ()

    def inverse_dynamics_second_derivatives(
        self, q: Reals, v: Reals, a: Reals, *, check: bool = True
    ) -> SecondDerivatives:
        """∂²τ/∂q∂q, ∂²τ/∂q∂v, ∂²τ/∂v∂v and ∂²τ/∂q∂a, each (..., nv, nv, nv): entry [i, j, k] is that of τᵢ.

        The index of q comes before that of v or a: ∂²τᵢ/∂qⱼ∂aₖ = ∂Mᵢₖ/∂qⱼ. Those with respect to v and a, and to a
        twice, are zero. See :meth:`inverse_dynamics_hessian` for what a second derivative with respect to q is.
        """
        return self._second_derivatives(q, v, a, None, check)

    def inverse_dynamics_hessian(
        self, q: Reals, v: Reals, a: Reals, weights: Reals, *, check: bool = True
    ) -> SecondDerivatives:
        """∂²w/∂q∂q, ∂²w/∂q∂v, ∂²w/∂v∂v and ∂²w/∂q∂a, each (..., nv, nv), of w = λᵀτ with ``weights`` λ (nv).

        With respect to q it is the matrix of second derivatives of w(``integrate(q, δ)``) at δ = 0, which is symmetric.
        Differences of :meth:`inverse_dynamics_derivatives` at q moved along one axis give the same, but for pairs of
        axes of one spherical or free joint: those do not commute, and the mean of both orders is meant.
        """
        return self._second_derivatives(q, v, a, weights, check)

    @compiled_method(inputs=7)
    def inverse_dynamics_hessian_product(
        self,
        q: Reals,
        v: Reals,
        a: Reals,
        weights: Reals,
        dq: Reals,
        dv: Reals,
        da: Reals,
        *,
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """The rates of λᵀ∂τ/∂q, λᵀ∂τ/∂v and λᵀ∂τ/∂a, as rows (..., 3, nv), where q, v and a move with dq, dv and da.

        ``weights`` are λ; q moves as :meth:`integrate` moves it, and all of them have nv components.
        """
        return self._run("inverse_dynamics_hessian_product", (q, v, a, weights, dq, dv, da), out=out, check=check)

    def _second_derivatives(
        self, q: Reals, v: Reals, a: Reals, weights: Reals | None, check: bool
    ) -> SecondDerivatives:
        if weights is None:  # of every force
            q, v, a = (self._numbers(name, x, check)[..., None, :] for name, x in (("q", q), ("v", v), ("a", a)))
            weights = np.eye(self.model.nv)
        if self.model.nv > _LARGEST_PROGRAM:
            return self._by_products(q, v, a, weights, check)
        function = self._functions.get(HESSIAN, DEFAULTS).fast
        blocks = function(q, v, a, weights) if check else function(q, v, a, weights, check=False)
        return blocks[..., 0, :, :], blocks[..., 1, :, :], blocks[..., 2, :, :], blocks[..., 3, :, :]

    def _by_products(self, q: Reals, v: Reals, a: Reals, weights: Reals, check: bool) -> SecondDerivatives:
        """The products with the unit vectors of q and of v."""
        n, given = self.model.nv, (("q", q), ("v", v), ("a", a), ("weights", weights))
        inputs = [self._numbers(name, x, check)[..., None, :] for name, x in given]
        none = np.zeros((n, n))
        dq, dv = np.concatenate([np.eye(n), none]), np.concatenate([none, np.eye(n)])
        rates = self._run("inverse_dynamics_hessian_product", (*inputs, dq, dv, np.zeros(n)), check=check)
        twice, with_v, with_a = (rates[..., :n, row, :] for row in range(3))
        return 0.5 * (twice + np.swapaxes(twice, -1, -2)), with_v, rates[..., n:, 1, :], with_a

    def _numbers(self, name: str, value: Reals, check: bool) -> Array:
        array = as_state(self.model, name, value, check)
        if array.dtype == object:
            text = "second derivatives take numbers; inverse_dynamics_hessian_product takes symbols, too."
            raise StateError(text, argument=name)
        return array
