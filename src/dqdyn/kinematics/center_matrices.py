"""A whole tree in vectors and matrices of dual quaternions, with frames at the centers of mass [Farias, section 5.3].

Rows belong to bodies, columns of A and C to velocities. For the paper's serial arms with one axis per joint these are
square and diagonal; here a joint with several axes has several columns, and a mimic joint shares that of its master.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.inertia_maps import G
from dqdyn.algebra.matrix import DQMatrix
from dqdyn.algebra.parts import swap
from dqdyn.algebra.products import cross
from dqdyn.algebra.scalar import Scalar, Scalars, total, unstack
from dqdyn.caching import cached_property
from dqdyn.kinematics.center_frames import CenterFrames, to_center
from dqdyn.kinematics.propagation import Propagation
from dqdyn.kinematics.tree import AxisTwists
from dqdyn.model.model import WORLD_BODY, Model


class CenterMatrices:
    """A, A_S, L and what else a formulation needs of the tree at a configuration."""

    def __init__(self, model: Model, q: Scalars) -> None:
        self.model, self.at = model, CenterFrames(model, q)
        self.L = Propagation(self.at)

    @cached_property
    def A(self) -> DQMatrix:
        """The axes, bodies × velocities, zero where a velocity does not belong to a body's joint [Farias, eq. (57)]."""
        return self._columns(self.at.axes)

    def C(self, twists: DQMatrix, v: Scalars) -> DQMatrix:
        """ω × a in the places of A [Farias, eq. (58)], and ȧ added where the axes depend on q."""
        rows: list[AxisTwists] = []
        for joint in self.model.joints:
            row = {k: cross(twists[joint.index], axis) for k, axis in self.at.axes[joint.index]}
            for k, rate in self.at.axis_rates(joint, v):
                row[k] = row[k] + rate
            rows.append(list(row.items()))
        return self._columns(rows)

    @cached_property
    def A_S(self) -> DQMatrix:
        """A with the parts of every axis swapped, D(a) + εP(a) [Farias, eq. (57)]; the paper's has one column."""
        return self.A.map(swap)

    @cached_property
    def _bodies(self) -> list[list[int]]:
        """Per velocity the bodies whose joints it moves: one, or several where joints mimic."""
        return [[i for i, axes in enumerate(self.at.axes) if k in dict(axes)] for k in range(self.model.nv)]

    def on_axes(self, wrenches: DQMatrix) -> list[Scalar]:
        """A_S ⊛ F = F ⊛ A_S of wrenches F (bodies): a force per velocity [Farias, eq. (17)] [Farias, eq. (64)].

        Element by element down each column of A_S; what mimic joints take counts for their master.
        """
        return [total(unstack(self.A_S[i, k].geodesic(wrenches[i]), len(i))) for k, i in enumerate(self._bodies)]

    def G(self, vectors: DQMatrix) -> DQMatrix:
        """The inertia of body i on every element of row i, of a vector or a matrix [Farias, eq. (32)]."""
        result = np.empty(vectors.shape, dtype=object)
        for index in np.ndindex(vectors.shape):
            inertia = self.model.bodies[index[0]].inertia
            result[index] = G(inertia.mass, inertia.rows, vectors[index])
        return DQMatrix(result)

    def at_roots(self, motion: DQ) -> DQMatrix:
        """W_BASE: a motion of the world, seen from the bodies that hang on it; 0 for the others."""
        return _elements(
            self.at.relative[i].back(motion) if joint.parent == WORLD_BODY else zero_twist()
            for i, joint in enumerate(self.model.joints)
        )

    def loads(self, wrenches: Mapping[int, DQ] | None) -> DQMatrix:
        """F_BASE: what the bodies exert on their surroundings, minus the wrenches that these exert at their frames."""
        given = wrenches or {}
        return _elements(
            -to_center(body.inertia, given[i]) if i in given else zero_twist()
            for i, body in enumerate(self.model.bodies)
        )

    def _columns(self, rows: Sequence[AxisTwists]) -> DQMatrix:
        result = np.empty((len(rows), self.model.nv), dtype=object)
        result.fill(zero_twist())
        for i, row in enumerate(rows):
            for k, column in row:
                result[i, k] = column
        return DQMatrix(result)


def scalars(values: Sequence[Any]) -> np.ndarray:
    """A vector to multiply with a DQMatrix; a batch stays one element, where NumPy would add axes."""
    result = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        result[i] = value
    return result


def _elements(values: Iterable[DQ]) -> DQMatrix:
    return DQMatrix(scalars(list(values)))
