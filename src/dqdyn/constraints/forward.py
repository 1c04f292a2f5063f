"""Constrained forward dynamics by each method, and the mass matrices that are compared for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.dynamics import methods
from dqdyn.dynamics.arguments import Wrenches
from dqdyn.dynamics.choice import Candidate, Form, Formulations, Method
from dqdyn.dynamics.deferred import Deferred
from dqdyn.errors import Error
from dqdyn.model.model import Model

_FROM_ROOT = 8  # joints on one path from which the other composite-body algorithm is worth a try
_mass_is_singular = Deferred("constraints.undetermined", "mass_is_singular")


@dataclass(frozen=True)
class ConstrainedForward:
    """The acceleration that obeys the constraints, by one method and one form of the mass matrix.

    ``singular`` says whether M is singular in every configuration; None leaves it to the model.
    """

    method: Deferred
    mass_matrix: Deferred = Deferred("dynamics.fast.composite", "mass_matrix")
    singular: bool | None = None

    def __call__(
        self, model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Wrenches = None, t: Scalar = 0.0
    ) -> list[Scalar]:
        singular = _mass_is_singular(model) if self.singular is None else self.singular
        model, wrenches = methods.pulled(model, q, wrenches)
        a: list[Scalar] = self.method.loaded(model, q, v, tau, wrenches, t, self.mass_matrix.loaded, singular)
        return a


class ConstrainedFormulations(Formulations):
    """Methods that obey constraints; those that do not are refused by name."""

    def resolve(self, method: Method) -> Method:
        if isinstance(method, str) and method in methods.FORWARD:
            remedy = f"use {', '.join(map(repr, self))}, or robot.without_constraints()"
            raise Error(f"the method {method!r} ignores constraints: {remedy}.", method=method)
        return super().resolve(method)

    def variants(self, form: Form, model: Model) -> list[Candidate]:
        """On regrouped inertias, by the mass matrices that suit the length of the tree."""
        assert isinstance(form, ConstrainedForward)
        form = replace(form, singular=_mass_is_singular(model))
        forms = [form]
        if methods.longest_path(model) >= _FROM_ROOT and not form.singular:
            forms.append(replace(form, mass_matrix=Deferred("dynamics.fast.composite", "mass_matrix_from_root")))
        return [(f, methods.regrouped(model)) for f in forms]


_METHODS: Mapping[str, ConstrainedForward] = {
    "kkt": ConstrainedForward(Deferred("constraints.methods.kkt", "forward")),
    "udwadia-kalaba": ConstrainedForward(Deferred("constraints.methods.udwadia_kalaba", "forward")),
    "kane": ConstrainedForward(Deferred("constraints.methods.kane", "forward")),
}
CONSTRAINED_FORWARD = ConstrainedFormulations("forward_dynamics under constraints", _METHODS, "kkt")
