"""What an identification found, with how sure it is: prints as a table."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array, Reals
from dqdyn.identify.base import BaseParameters
from dqdyn.identify.columns import PER_BODY
from dqdyn.identify.factors import Factor
from dqdyn.identify.pseudo_inertia import pseudo_inertia
from dqdyn.identify.solution import Solution
from dqdyn.robot import Robot

_WIDE = 56  # characters of a label


@dataclass(frozen=True, eq=False)
class Validation:
    """Torques of unseen data: root mean square of the error (nv,) in N m or N, beside the noise of the fit."""

    rms: Array
    noise: Array
    rows: int

    @property
    def ratio(self) -> Array:
        """Error over noise (nv,): near 1 where the estimates predict all that can be predicted."""
        return np.asarray(self.rms / self.noise)


def validation_of(factor: Factor, solution: Solution) -> Validation:
    """From the factor of unseen data."""
    residual = factor.r @ np.append(solution.estimate, -1.0)
    return Validation(np.sqrt((residual**2).sum(axis=1) / factor.rows), solution.noise, factor.rows)


@dataclass(frozen=True, eq=False)
class Report:
    """Base parameters with standard deviations, and parameters π of a robot that can exist and is nearest to them."""

    base: BaseParameters
    solution: Solution
    parameters: Array
    """π (p,): ten per body, then those of the axes; every pseudo-inertia is positive definite."""
    rows: int
    validation: Validation | None = None

    @property
    def estimate(self) -> Array:
        """β (b,) by least squares."""
        return self.solution.estimate

    @property
    def deviations(self) -> Array:
        """Standard deviations (b,) of β."""
        return self.solution.deviations

    @property
    def noise(self) -> Array:
        """Standard deviation (nv,) of the torques' noise in N m or N."""
        return self.solution.noise

    @property
    def condition(self) -> float:
        """Condition number of the regressor with columns of unit length: below 100 is good."""
        return self.solution.condition

    @property
    def hidden(self) -> tuple[str, ...]:
        """Parameters that no torque depends on, which keep what the description says."""
        return self.base.hidden

    @property
    def uncertain(self) -> tuple[str, ...]:
        """Base parameters that the data leave within two standard deviations of zero."""
        pairs = zip(self.base.labels, np.abs(self.estimate) < 2.0 * self.deviations, strict=True)
        return tuple(label for label, unsure in pairs if unsure)

    def predict(self, q: Reals, v: Reals, a: Reals, *, consistent: bool = False) -> Array:
        """τ (..., nv) by the base parameters, or by those of the robot that can exist."""
        base = self.base
        beta = base.matrix @ self.parameters if consistent else self.estimate
        return np.asarray(base.regressor(q, v, a) @ beta + base.columns.known(q))

    def pseudo_inertias(self) -> Array:
        """J (bodies, 4, 4) of the consistent parameters."""
        count = self.base.columns.bodies
        return pseudo_inertia(self.parameters[: PER_BODY * count].reshape(count, PER_BODY))

    def robot(self) -> Robot:
        """The robot with the consistent parameters; offsets, which a robot has not, are left out."""
        columns = self.base.columns
        own = columns.robot
        values = {"inertia": self.parameters[: PER_BODY * columns.bodies]}
        for term in columns.terms:
            if term != "offset":
                # Joints that mimic others keep their share of what the axis has.
                of_followers = columns.values()[columns.part(term)] - own.parameters([term])[term]
                values[term] = np.maximum(self.parameters[columns.part(term)] - of_followers, 0.0)
                base_axes = [j.v for j in own.joints if j.name == "root_joint" and own.base != "fixed"]
                for axes in base_axes:
                    values[term][axes] = 0.0
        return own.with_parameters(values)

    def lines(self) -> list[tuple[str, float, float, float]]:
        """(label, estimate, standard deviation, value of the description) of each base parameter."""
        described = self.base.values()
        columns = zip(self.base.labels, self.estimate, self.deviations, described, strict=True)
        return [(label, float(e), float(s), float(d)) for label, e, s, d in columns]

    def facts(self) -> list[str]:
        """What stands above the table."""
        robot = self.base.columns.robot
        facts = [
            f"{robot.name}: {len(self.base)} base parameters of {self.base.matrix.shape[1]}; {self.rows} measurements",
            f"condition number {self.condition:.1f}; not identifiable: {_listed(self.hidden)}",
            f"noise per axis: {_numbers(self.noise)}",
        ]
        if self.validation is not None:
            worst = float(self.validation.ratio.max())
            facts.append(f"unseen data: error {_numbers(self.validation.rms)}, at most {worst:.3f} times the noise")
        return facts

    def __str__(self) -> str:
        rows = [f"{'base parameter':<{_WIDE}} {'estimate':>11} {'± std':>10} {'described':>11}"]
        rows += [f"{_short(n):<{_WIDE}} {e:>11.5g} {s:>10.2g} {d:>11.5g}" for n, e, s, d in self.lines()]
        return "\n".join([*self.facts(), "", *rows])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        head = "".join(f"<p>{html.escape(fact)}</p>" for fact in self.facts())
        titles = "".join(f"<th>{t}</th>" for t in ("base parameter", "estimate", "± std", "described"))
        body = "".join(
            f"<tr><td>{html.escape(n)}</td><td>{e:.5g}</td><td>{s:.2g}</td><td>{d:.5g}</td></tr>"
            for n, e, s, d in self.lines()
        )
        return f"<div>{head}<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"


def _short(label: str) -> str:
    return label if len(label) <= _WIDE else label[: _WIDE - 1] + "…"


def _numbers(values: Array) -> str:
    return ", ".join(f"{x:.3g}" for x in values.tolist())


def _listed(names: tuple[str, ...]) -> str:
    if not names:
        return "none"
    return ", ".join(names) if len(names) <= 12 else f"{', '.join(names[:11])} and {len(names) - 11} more"
