"""Parameters among the inputs that no robot can have, and states where with them a motion moves no inertia."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqdyn.algebra.rows import first_row
from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace import trace
from dqdyn.dynamics.parameters import PARAMETERS, PER_BODY, with_parameters
from dqdyn.errors import StateError
from dqdyn.model.model import Model
from dqdyn.robot.inertia_checks import InertiaChecks

_NOT_NEGATIVE = 1e-9  # of a body's moments, relative to their size: what rounding leaves


class ParameterChecks:
    """What functions with "inertia", or forward dynamics with "armature", require of their inputs, by ``names``."""

    def __init__(self, model: Model, names: Sequence[str], divides: bool, native: bool | None = None) -> None:
        self.model, self.names, self.divides, self.native = model, list(names), divides, native
        self.open = [name for name in ("inertia", "armature") if name in names]
        """Parameters among the inputs on which M depends."""
        self.alone = None if divides else self.names.index("inertia")
        """The one input that the check depends on; None where it depends on the state too."""

    def __call__(self, inputs: list[Array]) -> None:
        if "inertia" in self.open:
            inertia = inputs[self.names.index("inertia")]
            self._require_masses(inertia)
            self._require_bodies(inertia)
        if self.divides:
            given = [inputs[self.names.index(name)] for name in ("q", *self.open)]
            InertiaChecks(self.model, self.native).require_pivots(self._pivots(*given, check=False))

    def _require_masses(self, inertia: Array) -> None:
        """An error for a negative mass."""
        mass = inertia[..., ::PER_BODY]
        at = first_row(mass < 0.0)
        if at is not None:
            found, where = self._body(at)
            text = f"the mass of body {found!r} is {float(mass[at]):.6g} kg{where}: masses are 0 or more."
            raise StateError(text, argument="inertia", body=found)

    def _require_bodies(self, inertia: Array) -> None:
        """An error for moments that no distribution of mass has: those about the center of mass must not be negative.

        Bodies without mass are left out: their tensors stand for rotors.
        """
        entries = np.moveaxis(inertia.reshape(*inertia.shape[:-1], -1, PER_BODY), -1, 0)
        m, hx, hy, hz, xx, xy, yy, xz, yz, zz = np.ascontiguousarray(entries)
        half = 0.5 * (xx + yy + zz)
        shifted = half + _NOT_NEGATIVE * np.abs(half)
        with np.errstate(all="ignore"):
            # Σ about the center of mass, and its pivots: eigenvalues of many bodies take a hundred times longer.
            cx, cy, cz = hx / m, hy / m, hz / m
            sxy, sxz, syz = -xy - cx * hy, -xz - cx * hz, -yz - cy * hz
            first = shifted - xx - cx * hx
            second = shifted - yy - cy * hy - sxy * sxy / first
            mixed = syz - sxy * sxz / first
            third = shifted - zz - cz * hz - sxz * sxz / first - mixed * mixed / second
            is_body = (first >= 0.0) & (second >= 0.0) & (third >= 0.0)
        is_point = ~(entries[1:] != 0.0).any(axis=0)  # at the origin
        at = first_row((m > 0.0) & ~is_body & ~is_point)
        if at is not None:
            found, where = self._body(at)
            raise StateError(
                f"no distribution of mass has the inertia of body {found!r}{where}: its moments about the center of "
                "mass must obey the triangle inequality; pass check=False to compute with it all the same.",
                argument="inertia",
                body=found,
            )

    def _body(self, at: tuple[int, ...]) -> tuple[str, str]:
        """The name of a body, and in a batch in which row it is, by (row, body)."""
        row = at[:-1]
        return self.model.bodies[at[-1]].name, f" in row {row[0] if len(row) == 1 else row}" if row else ""

    @cached_property
    def _pivots(self) -> Function:
        from dqdyn.dynamics.massless_joints import pivots

        model, sizes = self.model, [(name, PARAMETERS[name](self.model)) for name in self.open]

        def entries(q: list, *given: list) -> tuple[list, tuple[int]]:  # type: ignore[type-arg]
            found = pivots(with_parameters(model, dict(zip(self.open, given, strict=True))), q)
            return found, (len(found),)

        return Function(trace("pivots", [("q", model.nq), *sizes], entries), native=self.native)
