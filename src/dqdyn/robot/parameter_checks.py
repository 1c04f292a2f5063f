"""Parameters among the inputs that no robot can have, and states where with them a motion moves no inertia."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from dqdyn.algebra.rows import at_row, first_row
from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace import trace
from dqdyn.dynamics.open_inertia import PER_BODY
from dqdyn.dynamics.parameters import IN_MASS_MATRIX, OF_BODIES, PARAMETERS, values, with_parameters
from dqdyn.errors import StateError
from dqdyn.model.model import Model
from dqdyn.robot.inertia_checks import InertiaChecks

_NOT_NEGATIVE = 1e-9  # of a body's moments, relative to their size: what rounding leaves


class ParameterChecks:
    """What functions with parameters of bodies or springs, or that divide by M, require of their inputs, by name."""

    def __init__(
        self,
        model: Model,
        names: Sequence[str],
        divides: bool = False,
        native: bool | None = None,
        weighs: bool = False,
    ) -> None:
        self.model, self.names, self.native, self.weighs = model, list(names), native, weighs
        self.open = [name for name in IN_MASS_MATRIX if name in names]
        """Parameters among the inputs on which M depends."""
        self.divides = divides and bool(self.open)
        self.of_bodies = [name for name in OF_BODIES if name in names]
        self.springs = [name for name in ("stiffness", "rest") if name in names and self._without_springs.size]
        checked = [*self.of_bodies, *self.springs]
        self.needed = bool(checked) or self.divides
        self.alone = None if self.divides else [self.names.index(name) for name in checked]
        """The inputs that the check depends on; None where these are all."""

    def __call__(self, inputs: list[Array]) -> None:
        given = dict(zip(self.names, inputs, strict=True))
        for name in self.springs:
            self._require_no_springs(name, given[name])
        if "inertia" in given:
            self._require_masses(given["inertia"][..., ::PER_BODY], "inertia")
            self._require_bodies(given["inertia"])
        elif self.of_bodies:
            if "mass" in given:
                self._require_masses(given["mass"], "mass")
            if "rotational_inertia" in given:
                self._require_tensors(given)
        if self.divides:
            state = [given[name] for name in ("q", *self.open)]
            InertiaChecks(self.model, self.native).require_moving(self._vanishing(*state, check=False))

    def _require_masses(self, mass: Array, argument: str) -> None:
        """An error for a negative mass among those of the bodies (..., n), and for no mass where it is divided by."""
        at = first_row(mass < 0.0)
        if at is not None:
            found = self.model.bodies[at[-1]].name
            text = f"the mass of body {found!r} is {float(mass[at]):.6g} kg{_where(at)}: masses are 0 or more."
            raise StateError(text, argument=argument, body=found)
        row = first_row(mass.sum(axis=-1) == 0.0) if self.weighs else None
        if row is not None:
            text = f"{self.model.name!r} has no mass{at_row(row, ' in row ')}, so no center of mass: give a body one."
            raise StateError(text, argument=argument)

    def _require_bodies(self, inertia: Array) -> None:
        """An error for moments that no distribution of mass has: those about the center of mass must not be negative.

        Bodies without mass are left out: their tensors stand for rotors.
        """
        entries = np.moveaxis(inertia.reshape(*inertia.shape[:-1], -1, PER_BODY), -1, 0)
        m, hx, hy, hz, xx, xy, yy, xz, yz, zz = np.ascontiguousarray(entries)
        with np.errstate(all="ignore"):
            cx, cy, cz = hx / m, hy / m, hz / m
            moved = (cy * hy + cz * hz, -cx * hy, cx * hx + cz * hz, -cx * hz, -cy * hz, cx * hx + cy * hy)
            own = [e - d for e, d in zip((xx, xy, yy, xz, yz, zz), moved, strict=True)]
        is_point = ~(entries[1:] != 0.0).any(axis=0)  # at the origin
        at = first_row((m > 0.0) & ~_is_body(own, 0.5 * (xx + yy + zz)) & ~is_point)
        if at is not None:
            self._no_body(at, "inertia")

    def _require_tensors(self, given: dict[str, Array]) -> None:
        """The same for tensors about the center of mass."""
        tensors = given["rotational_inertia"]
        mass = given.get("mass", np.array(values(self.model, ["mass"])["mass"]))
        entries = np.moveaxis(tensors.reshape(*tensors.shape[:-1], -1, 6), -1, 0)
        own = list(np.ascontiguousarray(entries))
        is_point = ~(entries != 0.0).any(axis=0)
        at = first_row((mass > 0.0) & ~_is_body(own, 0.5 * (own[0] + own[2] + own[5])) & ~is_point)
        if at is not None:
            self._no_body(at, "rotational_inertia")

    def _no_body(self, at: tuple[int, ...], argument: str) -> NoReturn:
        found = self.model.bodies[at[-1]].name
        raise StateError(
            f"no distribution of mass has the inertia of body {found!r}{_where(at)}: its moments about the center of "
            "mass must obey the triangle inequality; pass check=False to compute with it all the same.",
            argument=argument,
            body=found,
        )

    @cached_property
    def _without_springs(self) -> Array:
        """Velocities of joints with a quaternion, which have no spring."""
        turning = [j for j in self.model.joints if j.motion.quaternion is not None and not j.is_mimic]
        return np.array([k for j in turning for k in range(j.v.start, j.v.stop)], dtype=int)

    def _require_no_springs(self, name: str, entries: Array) -> None:
        at = first_row(entries[..., self._without_springs] != 0.0)
        if at is not None:
            velocity = int(self._without_springs[at[-1]])
            joint = next(j.name for j in self.model.joints if j.v.start <= velocity < j.v.stop)
            text = f"{name} of joint {joint!r}{_where(at)} is not 0, but joints with a quaternion have no spring"
            raise StateError(f"{text}: set it to 0.", argument=name, joint=joint)

    @cached_property
    def _vanishing(self) -> Function:
        from dqdyn.dynamics.massless_joints import pivots, vanishing

        model, sizes = self.model, [(name, PARAMETERS[name](self.model)) for name in self.open]

        def entries(q: list, *given: list) -> tuple[list, tuple[()]]:  # type: ignore[type-arg]
            return [vanishing(pivots(with_parameters(model, dict(zip(self.open, given, strict=True))), q))], ()

        return Function(trace("vanishing", [("q", model.nq), *sizes], entries), native=self.native)


def _where(at: tuple[int, ...]) -> str:
    """In which row of a batch, by (row, body or axis)."""
    return at_row(at[:-1], " in row ")


def _is_body(tensor: Sequence[Array], size: Array) -> npt.NDArray[np.bool_]:
    """Whether Σ = ½ tr I − I of tensors xx, xy, yy, xz, yz, zz about the center of mass has no negative moment.

    By its pivots: eigenvalues of many bodies take a hundred times longer. ``size`` is what rounding is relative to.
    """
    xx, xy, yy, xz, yz, zz = tensor
    with np.errstate(all="ignore"):
        shifted = 0.5 * (xx + yy + zz) + _NOT_NEGATIVE * np.abs(size)
        first = shifted - xx
        second = shifted - yy - xy * xy / first
        mixed = -yz - xy * xz / first
        third = shifted - zz - xz * xz / first - mixed * mixed / second
        found: npt.NDArray[np.bool_] = (first >= 0.0) & (second >= 0.0) & (third >= 0.0)
    return found
