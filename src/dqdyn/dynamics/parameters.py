"""Parameters of a robot as inputs: masses and inertias, gravity, and what the joints contribute.

A model whose numbers are scalars of any kind, traced ones too, runs in the fast forms, for these ask inertias for
nothing but mass, first moment and second moments. One program then serves robots that differ in these parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.caching import cached_property
from dqdyn.dynamics.fast.regressor import inertial_parameters
from dqdyn.dynamics.fast.regroup import Moments
from dqdyn.errors import Error, unknown_name
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Body, Model, constant_adjoint

PER_BODY = 10
"""m; m c_x, m c_y, m c_z; I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about the origin of the body's frame."""
PARAMETERS: Mapping[str, Callable[[Model], int]] = {
    "inertia": lambda model: PER_BODY * len(model.bodies),
    "gravity": lambda model: 3,
    "damping": lambda model: model.nv,
    "friction": lambda model: model.nv,
    "armature": lambda model: model.nv,
}
"""Length of each parameter that can be an input."""
_PLACES = ((0, 1, 3), (1, 2, 4), (3, 4, 5))  # of the tensor's entries


def checked_names(model: Model, names: Any, function: str) -> tuple[str, ...]:
    """Names of parameters in their own order, each once; an error for others, and for what the robot cannot have."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise Error(f"parameters is a list, as in ['inertia', 'gravity']; found {names!r}.", option="parameters")
    given = list(names)
    for name in given:
        if not isinstance(name, str) or name not in PARAMETERS:
            raise unknown_name(f"parameter of {function}", name, PARAMETERS)
    if given and isinstance(model.gravity, FieldGravity):
        text = f"{model.name!r} is in a gravity field, which sees its bodies, so {function} takes no parameters"
        raise Error(f"{text}: use with_gravity with a vector.", option="parameters")
    if given and model.constraints:
        text = f"{function} of {model.name!r}, which has constraints, takes no parameters as inputs"
        raise Error(f"{text}: use a robot without them.", option="parameters")
    axes = [name for name in given if name not in ("inertia", "gravity")]
    loose = [j.name for j in model.joints if j.is_mimic or (j.motion.quaternion is not None and "armature" in axes)]
    if axes and loose:
        text = f"{axes[0]} of {model.name!r} cannot be an input, for its joint {loose[0]!r}"
        raise Error(f"{text} mimics another or turns with its armature: leave it out.", option="parameters")
    return tuple(name for name in PARAMETERS if name in given)


def values(model: Model, names: Iterable[str]) -> dict[str, list[float]]:
    """The robot's own parameters, by name, in the order of the inputs."""
    result: dict[str, list[float]] = {}
    for name in names:
        if name == "inertia":
            result[name] = inertial_parameters(model).tolist()
        elif name == "gravity":
            assert not isinstance(model.gravity, FieldGravity)
            result[name] = list(model.gravity)
        else:
            result[name] = [e for joint in model.joints for e in getattr(joint, name)]
    return result


def with_parameters(model: Model, given: Mapping[str, Scalars]) -> Model:
    """The model with these parameters, which may be scalars of any kind."""
    if "gravity" in given:
        model = replace(model, gravity=tuple(given["gravity"]))
    if "inertia" in given:
        rows = [given["inertia"][PER_BODY * i : PER_BODY * (i + 1)] for i in range(len(model.bodies))]
        bodies = [Body(b.name, OpenMoments.of(row)) for b, row in zip(model.bodies, rows, strict=True)]  # type: ignore[arg-type]
        model = replace(model, bodies=tuple(bodies))
    for name in ("damping", "friction", "armature"):
        if name in given:
            own: Any = [{name: tuple(given[name][joint.v])} for joint in model.joints]
            joints = [replace(joint, **entries) for joint, entries in zip(model.joints, own, strict=True)]
            model = replace(model, joints=tuple(joints))
    return model


class OpenMoments(Moments):
    """Moments about the origin whose entries are scalars of any kind."""

    @classmethod
    def of(cls, entries: Scalars) -> OpenMoments:
        """From the ten parameters of a body."""
        tensor = np.array([[entries[4 + k] for k in row] for row in _PLACES], dtype=object)
        return cls(entries[0], np.array(list(entries[1:4]), dtype=object), tensor)

    @cached_property
    def first_moment(self) -> Quaternion:
        """m c, a pure quaternion."""
        return pure(*self.first)

    @cached_property
    def second_moments(self) -> Any:
        """Σ about the origin."""
        half = (self.origin_tensor[0, 0] + self.origin_tensor[1, 1] + self.origin_tensor[2, 2]) * 0.5
        rows = [[-e for e in row] for row in self.origin_tensor]
        for k in range(3):
            rows[k][k] = half - self.origin_tensor[k, k]
        return tuple(tuple(row) for row in rows)

    def moved_by(self, x: DQ) -> OpenMoments:
        """The same body seen from frame a, for x = x_ab and these moments in frame b."""
        ad = constant_adjoint(x)
        rotation = np.array([c.vector for c in ad.columns]).T
        return self.seen_from(rotation, np.array(ad.p.vector))

    def seen_from(self, rotation: np.ndarray, origin: np.ndarray) -> OpenMoments:
        turn, c = rotation.astype(object), origin.tolist()
        first = (turn @ self.first).tolist()
        tensor = (turn @ self.origin_tensor @ turn.T).tolist()
        lever = (c[0] * first[0] + c[1] * first[1] + c[2] * first[2]) * 2.0
        of_point = (float(origin @ origin) * np.eye(3) - np.outer(origin, origin)).tolist()
        for i in range(3):
            for j in range(3):
                added = self.mass * of_point[i][j] - (c[i] * first[j] + first[i] * c[j])
                tensor[i][j] = tensor[i][j] + (added + lever if i == j else added)
        moved = [first[i] + self.mass * c[i] for i in range(3)]
        return OpenMoments(self.mass, np.array(moved, dtype=object), np.array(tensor, dtype=object))

    def symmetric_part(self) -> OpenMoments:
        share = (self.origin_tensor[0, 0] + self.origin_tensor[1, 1] - self.origin_tensor[2, 2]) * 0.5
        none: Scalar = 0.0
        tensor = np.array([[share, none, none], [none, share, none], [none, none, none]], dtype=object)
        return OpenMoments(self.mass, np.array([none, none, self.first[2]], dtype=object), tensor)

    def turning_part(self) -> OpenMoments:
        """Nothing: what may be handed on would have to be divided by the mass."""
        return OpenMoments.of([0.0] * PER_BODY)

    def cleaned(self, original: Moments) -> OpenMoments:
        return self
