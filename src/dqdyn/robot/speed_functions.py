"""The functions of a robot in quasi-velocities as data: inputs, options and the algorithm that computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn.dynamics.wrenches import on_bodies
from dqdyn.model.canonical import in_cheap_frames
from dqdyn.quasi_velocities.equations import QuasiVelocities
from dqdyn.robot.catalog import Entries, flatten


@dataclass(frozen=True)
class SpeedFunction:
    """``algorithm(speeds, *options, *inputs)`` gives the ``result``, one of those of the catalog.

    ``divides`` says by what: by B ("B"), or by BᵀMB as well ("M"), which must not be singular.
    """

    inputs: tuple[str, ...]
    result: str
    algorithm: Callable[..., Any]
    summary: str
    options: tuple[str, ...] = ()
    divides: str = ""

    def entries(self, speeds: QuasiVelocities, options: Sequence[Any], inputs: Sequence[Any]) -> Entries:
        """The result as scalars and their shape."""
        return flatten(self.result, self.algorithm(speeds, *options, *inputs))


_WITH = ("wrench_frames", "wrench_expressed")


def _under(method: Callable[..., Any]) -> Callable[..., Any]:
    """Dynamics in the frames that cost least; wrenches, if there are any, come last."""

    def call(s: QuasiVelocities, frames: tuple[str, ...], expressed: str, *inputs: Any) -> Any:
        on, (q, u, x, *given) = in_cheap_frames(s.model), inputs
        wrenches = on_bodies(on, frames, expressed, q, given[0]) if given else None
        return method(s, q, u, x, wrenches, on)

    return call


def _bias(s: QuasiVelocities, q: Any, u: Any) -> Any:
    return s.inverse_dynamics(q, u, [0.0] * s.size, None, in_cheap_frames(s.model))


def _mass(s: QuasiVelocities, q: Any) -> Any:
    return s.mass_matrix(q, in_cheap_frames(s.model))


def _of(inputs: str, result: str, algorithm: Any, summary: str, divides: str = "", options: Any = ()) -> SpeedFunction:
    return SpeedFunction(tuple(inputs.split()), result, algorithm, summary, tuple(options), divides)


_S = QuasiVelocities
FUNCTIONS: dict[str, SpeedFunction] = {
    "matrix": _of("q", "matrix", lambda s, q: s.b(q), "B (nv×m) with v = B u."),
    "velocity": _of("q u", "list", _S.velocity, "v = B u."),
    "acceleration": _of("q u u_rate", "list", _S.acceleration, "a = B u̇ + Ḃ u."),
    "speeds": _of("q v", "list", _S.speeds, "u of the velocity v.", "B"),
    "forces": _of("q tau", "list", _S.forces, "Bᵀτ."),
    "mass_matrix": _of("q", "matrix", _mass, "BᵀMB (m×m)."),
    "bias_forces": _of("q u", "list", _bias, "Bᵀτ at u̇ = 0."),
    "inverse_dynamics": _of("q u u_rate", "list", _under(_S.inverse_dynamics), "Bᵀτ that gives u̇.", "", _WITH),
    "forward_dynamics": _of("q u forces", "list", _under(_S.forward_dynamics), "u̇ under forces Bᵀτ.", "M", _WITH),
    "partial_velocities": _of("q", "matrices", _S.partial_velocities, "∂ν/∂u of every body, at its center of mass."),
    "frame_velocities": _of("q", "matrix", _S.frame_velocities, "∂ξ/∂u of a frame.", "", ["frame", "expressed"]),
}
CHECKS: dict[str, SpeedFunction] = {
    "independence": _of("q", "list", _S.independence, "How independent the columns of B or Y are."),
    "pivots": _of("q", "list", _S.pivots, "Pivots and diagonal of BᵀMB, and what u moves."),
    "drift": _of("q", "matrix", _S.drift, "A B and b of the constraints A v = b."),
    "missed": _of("q v", "list", _S.missed, "v − B u with the nearest u."),
}
