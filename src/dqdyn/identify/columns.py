"""Everything that torques are linear in: ten parameters per body, and what each axis adds by friction and armature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dqdyn.algebra.scalar import stack, unstack
from dqdyn.arrays import Array, Reals
from dqdyn.dynamics.fast.regressor import PARAMETERS
from dqdyn.dynamics.joint_forces import armature, coulomb_forces, damping, spring_forces, velocity_forces
from dqdyn.errors import Error, unknown_name
from dqdyn.model.model import TreeJoint
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state

TERMS = ("damping", "friction", "offset", "armature")
"""What an axis may add: viscous and Coulomb friction, a constant torque, and the inertia of its rotor."""
PER_BODY = len(PARAMETERS)


@dataclass(frozen=True)
class Columns:
    """The columns of a robot's regressor: τ = Y π, with ten parameters per moving body, then one per axis and term."""

    robot: Robot
    terms: tuple[str, ...] = TERMS

    @classmethod
    def of(cls, robot: Robot, terms: Iterable[str] = TERMS) -> Columns:
        """Terms by name, in their own order; an error for a robot whose torques are not linear in all of this."""
        given = [terms] if isinstance(terms, str) else list(terms)
        for name in given:
            if name not in TERMS:
                raise unknown_name("term of identification", name, TERMS)
        if robot.constraints:
            raise Error(
                f"{robot.name!r} has constraints, whose forces its torques contain: identify it without_constraints() "
                "from data of the open tree."
            )
        return cls(robot, tuple(name for name in TERMS if name in given))

    @property
    def bodies(self) -> int:
        return len(self.robot.bodies)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name per column: m1, mcx1, … Izz1 of the first moving body, damping1, … of the first axis."""
        of_bodies = [f"{name}{i + 1}" for i in range(self.bodies) for name in PARAMETERS]
        return (*of_bodies, *(f"{term}{k + 1}" for term in self.terms for k in range(self.robot.nv)))

    def regressor(self, q: Reals, v: Reals, a: Reals, *, check: bool = True) -> Array:
        """Y (..., nv, p), of the robot's own gravity."""
        bodies = self.robot.torque_regressor(q, v, a, check=check)
        shape = (*bodies.shape[:-2], self.robot.nv)
        rate: Array = np.broadcast_to(np.asarray(v, float), shape)
        added = {"damping": rate, "friction": np.sign(rate), "offset": np.ones(shape), "armature": np.asarray(a, float)}
        parts: list[Array] = [
            np.broadcast_to(added[term], shape)[..., None] * np.eye(self.robot.nv) for term in self.terms
        ]
        if "armature" in self.terms:
            parts[-1] = parts[-1] + self._turning_rotors(rate)
        return np.concatenate([bodies, *parts], axis=-1)

    def _turning_rotors(self, v: Array) -> Array:
        """What armature needs beside r a where velocities turn with their body, by column."""
        turning = [j for j in self.robot.joints if j.motion.quaternion is not None and not j.is_mimic]
        if not turning:
            return np.zeros(())
        result = np.zeros((*v.shape, self.robot.nv))
        for joint in turning:
            for k in range(joint.v.start, joint.v.stop):
                unit = tuple(float(axis == k) for axis in range(joint.v.start, joint.v.stop))
                joints = [_without_losses(j) for j in self.robot.model.joints]
                joints[joint.index] = replace(joints[joint.index], armature=unit)
                alone = replace(self.robot.model, joints=tuple(joints))
                result[..., k] = stack(velocity_forces(alone, unstack(v, self.robot.nv)), batch=v.shape[:-1])
        return result

    def known(self, q: Reals) -> Array:
        """Torques (..., nv) that are not looked for: those of springs."""
        given = as_state(self.robot.model, "q", q, False)
        if not any(any(j.stiffness) for j in self.robot.joints):
            return np.zeros((*given.shape[:-1], self.robot.nv))
        return stack(spring_forces(self.robot.model, unstack(given, self.robot.nq)), batch=given.shape[:-1])

    def values(self) -> Array:
        """π (p,) of the robot as it is described; offsets are 0."""
        model = self.robot.model
        own = {
            "damping": damping(model),
            "friction": coulomb_forces(model, [1.0] * model.nv),
            "offset": [0.0] * model.nv,
            "armature": armature(model),
        }
        return np.concatenate([self.robot.inertial_parameters(), *(np.array(own[term]) for term in self.terms)])

    def part(self, term: str) -> slice:
        """Where a term's columns are."""
        start = PER_BODY * self.bodies + self.robot.nv * self.terms.index(term)
        return slice(start, start + self.robot.nv)


def _without_losses(joint: TreeJoint) -> TreeJoint:
    """A joint without damping, friction and armature."""
    none = (0.0,) * len(joint.damping)
    return replace(joint, damping=none, friction=none, armature=none)
