"""What a joint kind answers.

A new kind is one class: ``name``, ``nq``, ``nv``, ``angular``, ``pose`` and ``subspace``. Defining the class registers
it in :data:`KINDS`, and every other answer has a default. Functions are written over any scalar, with the sine, cosine
and so on of :mod:`dqdyn.algebra.scalar`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.jet import Jet, derivative
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.errors import ModelError

Vector = tuple[float, float, float]
Coordinates = Sequence[Scalar]
DrawnAxis = tuple[Literal["parent", "child"], Vector]
"""An axis in the frame of the side that it is fixed to."""
Rows = list[list[Scalar]]
"""A matrix by rows."""
Column = tuple[str, str]
"""Label and unit of a component."""

UNITS = {"q": ("rad", "m"), "v": ("rad/s", "m/s"), "a": ("rad/s²", "m/s²"), "tau": ("N m", "N")}
"""Units of angular and of linear components."""

KINDS: dict[str, type[JointKind]] = {}
"""Every joint kind by its name, those defined outside this package too."""


@dataclass(frozen=True)
class JointKind(ABC):
    """The motion of a child frame against its parent frame, over any scalar.

    Defining identity: for q moving with q̇ = ``rate(q, v)``, the pose x = ``pose(q)`` obeys ẋ = ½ x ξ with
    ξ = ``twist(q, v)`` = Σ Sᵢ vᵢ, expressed in the child frame. Fields of a kind are parameters that it takes from
    the fields of the same names of a :class:`~dqdyn.model.description.Joint`, such as ``axis``.
    """

    name: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    angular: ClassVar[tuple[bool, ...]]  # per velocity: of an angle (rad) rather than of a length (m)
    labels: ClassVar[tuple[str, ...]] = ()  # of the coordinates, behind the joint's name; numbers where none are given
    velocity_labels: ClassVar[tuple[str, ...]] = ()  # of the velocities; those of the coordinates if nq = nv
    quaternion: ClassVar[slice | None] = None  # where q holds a unit quaternion
    group: ClassVar[Literal["rotation", "pose"] | None] = None  # what q is any element of, if v is its body twist
    actuated: ClassVar[bool] = True  # whether its axes have motors unless the robot says otherwise

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in cls.__dict__:
            _register(cls)

    # --- motion -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def pose(self, q: Coordinates) -> DQ:
        """x_pc: pose of the child side in the parent side."""

    def adjoint(self, q: Coordinates) -> Adjoint:
        """Ad(x_pc), directly from q where that is cheaper than through the pose."""
        return Adjoint(self.pose(q))

    @abstractmethod
    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        """Motion subspace S: nv pure dual quaternions in the child frame."""

    @property
    def constant_subspace(self) -> bool:
        """Whether S does not depend on q."""
        return _is_constant(self)

    def subspace_rate(self, q: Coordinates, v: Coordinates) -> tuple[DQ, ...]:
        """Ṡ: the rate of the components of S in the child frame."""
        if self.constant_subspace:
            return tuple(zero_twist() for _ in range(self.nv))
        rates = derivative(lambda c: [e for s in self.subspace(c) for e in s.components], q, self.rate(q, v))
        parts = [Quaternion(*rates[i : i + 4]) for i in range(0, len(rates), 4)]
        return tuple(DQ.of(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True))

    def twist(self, q: Coordinates, v: Coordinates) -> DQ:
        """ξ = Σ Sᵢ vᵢ of the child against the parent, in the child frame [Silva, table 1]."""
        twist: DQ = total(s * vi for s, vi in zip(self.subspace(q), v, strict=True))
        return twist

    def twist_rate(self, q: Coordinates, v: Coordinates, a: Coordinates) -> DQ:
        """ξ̇ = Σ Sᵢ aᵢ + Ṡᵢ vᵢ."""
        rate = self.twist(q, a)
        if self.constant_subspace:
            return rate
        drift: DQ = total(s * vi for s, vi in zip(self.subspace_rate(q, v), v, strict=True))
        return rate + drift

    # --- coordinates ------------------------------------------------------------------------------------------------

    def rate(self, q: Coordinates, v: Coordinates) -> list[Scalar]:
        """q̇ for the velocity v."""
        return list(v)

    def integrate(self, q: Coordinates, v: Coordinates, dt: Scalar) -> list[Scalar]:
        """q after following the constant v for the time dt in s."""
        return [qi + vi * dt for qi, vi in zip(q, v, strict=True)]

    def difference(self, q0: Coordinates, q1: Coordinates) -> list[Scalar]:
        """The v that leads from q0 to q1 in unit time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def integrate_jacobians(self, q: Coordinates, v: Coordinates, dt: Scalar) -> tuple[Rows, Rows]:
        """The derivatives (nv×nv) of ``integrate`` with respect to q and v, in the tangent spaces of q and the result.

        A tangent vector w of q stands for ``integrate(q, w, 1)``.
        """
        if type(self).integrate is JointKind.integrate:
            return _scaled_identity(self.nv, 1.0), _scaled_identity(self.nv, dt)
        end = self.integrate(q, v, dt)

        def moved(x: list[Scalar]) -> list[Scalar]:
            return self.difference(end, self.integrate(x[: self.nq], x[self.nq :], dt))

        still, units = [0.0] * self.nv, _scaled_identity(self.nv, 1.0)
        by_q = [derivative(moved, [*q, *v], [*self.rate(q, e), *still]) for e in units]
        by_v = [derivative(moved, [*q, *v], [*([0.0] * self.nq), *e]) for e in units]
        return _transposed(by_q), _transposed(by_v)

    def difference_jacobians(self, q0: Coordinates, q1: Coordinates) -> tuple[Rows, Rows]:
        """The derivatives (nv×nv) of ``difference`` with respect to q0 and q1, in their tangent spaces."""
        if type(self).difference is JointKind.difference:
            return _scaled_identity(self.nv, -1.0), _scaled_identity(self.nv, 1.0)
        units = _scaled_identity(self.nv, 1.0)
        by_q0 = [derivative(lambda x: self.difference(x, q1), q0, self.rate(q0, e)) for e in units]
        by_q1 = [derivative(lambda x: self.difference(q0, x), q1, self.rate(q1, e)) for e in units]
        return _transposed(by_q0), _transposed(by_q1)

    def exponential_rate(self, w: Coordinates, v: Coordinates, order: int) -> list[Scalar]:
        """ẇ with which ``integrate(q, w, 1)`` has the velocity v, as exactly as a method of that order needs it."""
        return list(v)

    def neutral(self) -> list[float]:
        """q at which parent and child side coincide."""
        return [0.0] * self.nq

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
        """q drawn uniformly between the limits; an angle without limits from ±π, a length from ±1 m."""
        result = []
        for angular, low, high in zip(self.angular, lower, upper, strict=True):
            reach = np.pi if angular else 1.0
            low_finite, high_finite = np.isfinite(low), np.isfinite(high)
            a = low if low_finite else (high - 2 * reach if high_finite else -reach)
            b = high if high_finite else (low + 2 * reach if low_finite else reach)
            # NumPy refuses an empty range where the upper end is −0, and one that is wider than the largest float.
            result.append(float(rng.uniform(a / 2.0 + 0.0, b / 2.0 + 0.0)) * 2.0)
        return result

    # --- tables, files and pictures ---------------------------------------------------------------------------------

    def columns(self, quantity: str) -> list[Column]:
        """Label and unit of each component of "q", "v", "a" or "tau"; a single one may have an empty label."""
        angle, length = UNITS[quantity]
        units = [angle if turns else length for turns in self.angular]
        if quantity == "q" and self.quaternion is not None:
            units = ["1"] * 4 + units[3:]
        labels = (quantity != "q" and self.velocity_labels) or self.labels
        if len(labels) != len(units):
            labels = tuple(str(i + 1) for i in range(len(units))) if len(units) > 1 else ("",)
        return list(zip(labels, units, strict=True))

    def expansion(self) -> tuple[ChainPart, ...]:
        """A chain of simpler joints with the same motion, for formats without this kind; empty if there is none."""
        return ()

    def single_axes(self) -> tuple[ChainPart, ...]:
        """The expansion if its parts take one coordinate each, in their order; else none."""
        parts, slots = self.expansion(), [slice(k, k + 1) for k in range(self.nv)]
        return parts if [part.q for part in parts] == slots == [part.v for part in parts] else ()

    def problem(self) -> str | None:
        """What is wrong with the parameters, as the end of a sentence about the joint."""
        return None

    def drawn_axes(self) -> tuple[DrawnAxis, ...]:
        """Axes that a picture shows, each in the frame of the side that it is fixed to."""
        return ()

    def chart(self, q: Coordinates) -> list[Scalar]:
        """nv numbers for sliders, zero at the neutral q."""
        return self.difference(self.neutral(), q)

    def from_chart(self, values: Coordinates) -> list[Scalar]:
        """q for the numbers of sliders."""
        return self.integrate(self.neutral(), values, 1.0)

    def chart_columns(self) -> list[Column]:
        """Label and unit of each slider."""
        if self.nq == self.nv:
            return self.columns("q")
        units = (UNITS["q"][0 if turns else 1] for turns in self.angular)
        return [(label, unit) for (label, _), unit in zip(self.columns("v"), units, strict=True)]


@dataclass(frozen=True)
class ChainPart:
    """One joint of a chain that stands for another: ``q`` and ``v`` say which of its coordinates the part takes over.

    A part with a ``ratio`` has no coordinate of its own, but that times the one of the :func:`leader`, which may come
    later in the chain. Of a joint with one coordinate the part that has it keeps the name, so that mimic joints still
    find it.
    """

    suffix: str  # behind the name of the joint
    motion: JointKind
    q: slice | None = None
    v: slice | None = None
    ratio: float | None = None


def one_axis(suffix: str, motion: JointKind, coordinate: int) -> ChainPart:
    """A part with one axis, whose q and v are the components of that index."""
    at = slice(coordinate, coordinate + 1)
    return ChainPart(suffix, motion, at, at)


def leader(parts: Sequence[ChainPart]) -> int | None:
    """Index of the part whose coordinate those with a ratio follow: the first that has a coordinate of its own."""
    return next((i for i, part in enumerate(parts) if part.q is not None and part.ratio is None), None)


def _scaled_identity(size: int, scale: Scalar) -> Rows:
    return [[scale if i == j else 0.0 for j in range(size)] for i in range(size)]


def _transposed(columns: Rows) -> Rows:
    return [list(row) for row in zip(*columns, strict=True)]


@cache
def _is_constant(kind: JointKind) -> bool:
    """Whether nothing of S was computed from q."""
    q = [Jet(c, 1.0) for c in kind.neutral()]
    return not any(isinstance(e, Jet) for s in kind.subspace(q) for e in s.components)


def _register(kind: type[JointKind]) -> None:
    known, problem = KINDS.get(kind.name), None
    missing = [n for n in ("nq", "nv", "angular") if not hasattr(kind, n)]
    missing += [f"{n}(q)" for n in ("pose", "subspace") if getattr(kind, n) is getattr(JointKind, n)]
    if missing:
        raise ModelError(f"the joint kind {kind.name!r} lacks {', '.join(missing)}: define it.", kind=kind.name)
    inherited = [n for n in ("rate", "integrate", "difference", "neutral") if getattr(kind, n) is getattr(JointKind, n)]
    if known is not None and (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        problem = f"there is a joint kind named {kind.name!r} already: choose another name."
    elif len(kind.angular) != kind.nv:
        found = f"{kind.nv} velocities and {len(kind.angular)} entries of angular"
        problem = f"the joint kind {kind.name!r} has {found}: give one per velocity."
    elif kind.nq != kind.nv and inherited:
        remedy = f"define {', '.join(inherited)}, whose defaults hold for q̇ = v"
        problem = f"the joint kind {kind.name!r} has {kind.nq} coordinates and {kind.nv} velocities: {remedy}."
    if problem:
        raise ModelError(problem, kind=kind.name)
    KINDS[kind.name] = kind
