"""A world with the quantities that many laws need, how large rounding errors may be there, and what was found.

Allowed errors come from the problem. A force is a sum over bodies of lever × mass × acceleration, so it is known to
ε times the sum of their absolute values, where levers and accelerations are those that some formulation may go
through: about the world's origin as well as about the body's own. ε is that of float64 times (10 + nv) operations on
the way, times 30 for all constants. Accelerations are known to |M⁻¹| times that of forces.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.dynamics.fast.regroup import regrouped
from dqdyn.dynamics.joint_forces import armature, damping, resisting_forces
from dqdyn.errors import Error
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import WORLD_BODY, Frame, Model
from dqdyn.robot import Robot

from .numbers import evaluate
from .world import World

MARGIN = 30.0
SNAP = 2e-13
"""Entries of placements that miss 0 or ±1 by 1e-13 are taken for these: turns as small as that are dropped."""


@dataclass(frozen=True)
class BodyMotion:
    """A body's center of mass in world axes: place, rotation, Jacobian rows [ω, v], twist and its rate."""

    mass: float
    tensor: np.ndarray  # in world axes
    place: np.ndarray
    jacobian: np.ndarray
    twist: np.ndarray
    rate: np.ndarray


@dataclass
class Case:
    """One world under judgement. ``check`` notes what breaks a law; ``refuse`` counts what dqdyn will not answer."""

    world: World
    broken: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    worst: dict[str, float] = field(default_factory=dict)
    ran: set[str] = field(default_factory=set)
    """What else it was compared with: "pinocchio", "compiled", …"""

    def check(self, law: str, found: Any, expected: Any, allowed: Any) -> None:
        """Every entry within ``allowed`` of the expected one."""
        found, expected = np.asarray(found), np.asarray(expected)
        if found.shape != expected.shape:
            self.broken.append(f"{law}: shape {found.shape}, expected {expected.shape}")
            return
        if not found.size:
            return
        floor = np.maximum(np.asarray(allowed, dtype=float), 1e-280)
        with np.errstate(all="ignore"):
            ratio = np.abs(found - expected) / floor
        worst = float(np.nan_to_num(ratio, nan=np.inf).max())
        self.worst[law] = max(self.worst.get(law, 0.0), worst)
        if not worst <= 1.0:
            at = tuple(int(i) for i in np.unravel_index(np.argmax(np.nan_to_num(ratio, nan=np.inf)), ratio.shape))
            self.broken.append(f"{law}: {found[at]!r} at {at}, expected {expected[at]!r}, {worst:.3g} × the tolerance")

    def require(self, law: str, holds: bool, text: str = "") -> None:
        """A law that holds or not."""
        if not holds:
            self.broken.append(f"{law}: {text}")

    def refuse(self, what: str, problem: Error) -> None:
        """Count a refusal by kind: names and numbers of this world left out."""
        words = str(problem).split("'")
        self.refused.append(f"{what}: {type(problem).__name__}: " + "…".join(words[::2])[:110])

    # --- the state ----------------------------------------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        return self.world.robot

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.world.q, self.world.v, self.world.a

    @property
    def uniform(self) -> bool:
        return not isinstance(self.robot.model.gravity, FieldGravity)

    @cached_property
    def eps(self) -> float:
        """Relative error of a sum on the way through the tree."""
        rounded = SNAP * len(self.robot.joints) if self.world.how.turned in ("tiny", "mixed") else 0.0
        return MARGIN * (10 + self.robot.nv) * float(np.finfo(float).eps) + rounded

    @cached_property
    def armature(self) -> np.ndarray:
        return np.array(armature(self.robot.model))

    @property
    def rotor(self) -> float:
        """The largest armature: axes of one joint exchange what turns with them."""
        return float(self.armature.max(initial=0.0))

    @cached_property
    def damping(self) -> np.ndarray:
        return np.array(damping(self.robot.model))

    @cached_property
    def resisting(self) -> np.ndarray:
        return np.array(resisting_forces(self.robot.model, list(self.world.v)), dtype=float)

    @cached_property
    def sticking(self) -> np.ndarray:
        """Dry friction (nv) of joints whose velocity is zero up to rounding, so that its sign may be any."""
        friction = np.array(resisting_forces(self.robot.model, [1.0] * self.robot.nv), dtype=float) - self.damping
        v = np.abs(self.world.v)
        return np.where((v <= 1e-9 * v.max(initial=0.0)) & v.any(), 2.0 * friction, 0.0)

    @cached_property
    def bodies(self) -> list[BodyMotion]:
        q, v, a = self.state
        found = []
        for i, body in enumerate(self.robot.bodies):
            at = Frame(f"center {i}", i, pose(Quaternion(1.0, 0.0, 0.0, 0.0), body.inertia.center), "body")
            x = np.array(evaluate(self.robot, "pose", q, frame=at))
            turn, place = _rotation(x[:4]), 2.0 * _product(x[4:], x[:4] * [1, -1, -1, -1])[1:]
            jacobian = evaluate(self.robot, "twist_jacobian", q, frame=at, expressed="aligned")
            rate = evaluate(self.robot, "twist_rate", q, v, a, frame=at, expressed="aligned")
            tensor = turn @ np.array(body.inertia.tensor) @ turn.T
            found.append(BodyMotion(body.inertia.mass, tensor, place, jacobian, jacobian @ v, rate))
        return found

    # --- sizes --------------------------------------------------------------------------------------------------------

    @cached_property
    def reach(self) -> float:
        """The longest lever that may occur, in m; at least 1."""
        arms = [np.linalg.norm(b.place) for b in self.bodies]
        own = [np.linalg.norm(b.inertia.com) for b in self.robot.bodies]
        return float(max([1.0, *arms, *own]))

    @cached_property
    def turning(self) -> float:
        """The largest angular velocity in rad/s."""
        return float(max([np.linalg.norm(b.twist[:3]) for b in self.bodies], default=0.0))

    @cached_property
    def speed(self) -> float:
        """The largest velocity of any point of reach, in m/s."""
        return float(max([np.linalg.norm(b.twist[3:]) for b in self.bodies], default=0.0)) + self.turning * self.reach

    @cached_property
    def spin(self) -> float:
        """The largest angular acceleration, with squares of angular velocities, in rad/s²."""
        return float(max([np.linalg.norm(b.rate[:3]) for b in self.bodies], default=0.0)) + self.turning**2

    @cached_property
    def acceleration(self) -> float:
        """The largest acceleration of any point of reach, with gravity, in m/s²."""
        own = float(max([np.linalg.norm(b.rate[3:]) for b in self.bodies], default=0.0))
        gravity = float(np.linalg.norm(self.robot.gravity)) if self.uniform else 30.0 + self.reach
        return own + self.spin * self.reach + self.turning * self.speed + gravity

    @cached_property
    def levers(self) -> tuple[np.ndarray, np.ndarray]:
        """How far and how much (bodies × nv) a unit velocity may move and turn each body."""
        shape = len(self.bodies), self.robot.nv
        turns = np.array([np.linalg.norm(b.jacobian[:3], axis=0) for b in self.bodies]).reshape(shape)
        moves = np.array([np.linalg.norm(b.jacobian[3:], axis=0) for b in self.bodies]).reshape(shape)
        moves += turns * self.reach
        for body, axis in self._moved_twice:  # the two motions may cancel, but not their rounding errors
            moves[body, axis], turns[body, axis] = moves[:, axis].max(), turns[:, axis].max()
        return moves, turns

    @property
    def _moved_twice(self) -> list[tuple[int, int]]:
        """Bodies and axes that move them by several joints, of which one follows another."""
        joints, found = self.robot.model.joints, []
        for body in range(len(joints)):
            axes, k = [], body
            while k != WORLD_BODY:
                axes += range(joints[k].v.start, joints[k].v.stop)
                k = joints[k].parent
            found += [(body, axis) for axis in dict.fromkeys(axes) if axes.count(axis) > 1]
        return found

    @cached_property
    def _masses(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array([b.mass for b in self.bodies]), np.array([np.abs(b.tensor).max() for b in self.bodies])

    @cached_property
    def mass_size(self) -> np.ndarray:
        """Size of the sums in M (nv×nv)."""
        (moves, turns), (m, t) = self.levers, self._masses
        return moves.T @ (m[:, None] * moves) + turns.T @ (t[:, None] * turns) + np.diag(self.armature)

    @cached_property
    def force_size(self) -> np.ndarray:
        """Size of the sums in τ (nv)."""
        (moves, turns), (m, t) = self.levers, self._masses
        inertial = moves.T @ m * self.acceleration + turns.T @ t * self.spin
        joints = self.armature * np.abs(self.world.a) + self.rotor * self.turning * self.speed + np.abs(self.resisting)
        return inertial + joints + self.wrench_size

    @cached_property
    def wrench_size(self) -> np.ndarray:
        moves, turns = self.levers
        if not self.world.frames or not len(moves):
            return np.zeros(self.robot.nv)
        f, t = self.world.wrenches.reshape(-1, 2, 3).transpose(1, 0, 2)
        force, torque = np.linalg.norm(f, axis=1).sum(), np.linalg.norm(t, axis=1).sum()
        return np.asarray(3.0 * (moves + turns * self.reach).max(0) * force + turns.max(0) * torque)

    @cached_property
    def coriolis_size(self) -> np.ndarray:
        """Size of the sums in C (nv×nv), which v enters once."""
        (moves, turns), (m, t) = self.levers, self._masses
        columns = moves.max(0, initial=0.0) + turns.max(0, initial=0.0)
        return np.outer(moves.T @ m + turns.T @ t + self.rotor, columns) * (self.turning + self.speed)

    # --- reference results --------------------------------------------------------------------------------------------

    def inverse(self, *state: np.ndarray, method: str = "newton-euler", robot: Robot | None = None) -> np.ndarray:
        """τ under the world's wrenches."""
        on = robot or self.robot
        if not self.world.frames:
            return evaluate(on, "inverse_dynamics", *state, method=method)
        given = (*state, self.world.wrenches)
        return evaluate(on, "inverse_dynamics", *given, method=method, **self.world.under)

    @cached_property
    def tau(self) -> np.ndarray:
        return self.inverse(*self.state)

    @cached_property
    def plain(self) -> np.ndarray:
        """τ without the world's wrenches."""
        return evaluate(self.robot, "inverse_dynamics", *self.state)

    @cached_property
    def reduced(self) -> Model:
        """The tree as compiled programs have it: in other frames, with regrouped inertias."""
        return regrouped(self.world.free.model.with_frames(()))

    @cached_property
    def mass(self) -> np.ndarray:
        return evaluate(self.robot, "mass_matrix", self.world.q)

    @cached_property
    def solvable(self) -> bool:
        """Whether dqdyn answers forward dynamics at this q, the constraints apart; notes where it refuses."""
        robot = Robot(self.world.free.model, native=False)
        try:
            robot.require_regular(self.world.q)
        except Error as problem:
            self.refuse("forward dynamics", problem)
            self.require("refused for a reason", self.condition > 1e7, f"M has the condition {self.condition:.3g}")
            return False
        return True

    @cached_property
    def condition(self) -> float:
        """Of M, whatever the units of its rows: of D M D with ones on the diagonal."""
        size = np.sqrt(np.abs(np.diag(self.mass)))
        if not size.all():
            return float("inf")
        return float(np.linalg.cond(self.mass / np.outer(size, size))) if len(size) else 1.0

    @cached_property
    def acceleration_error(self) -> np.ndarray:
        """How well the acceleration under τ can be known (nv)."""
        size = np.sqrt(np.diag(self.mass))
        inverse = np.abs(np.linalg.inv(self.mass / np.outer(size, size))) / np.outer(size, size)
        forces = self.force_size + self.mass_size @ np.abs(self.world.a)
        return np.asarray(self.eps * (inverse @ forces + np.abs(self.world.a)))


def _rotation(r: np.ndarray) -> np.ndarray:
    w, x, y, z = r
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + 2.0 * w * skew + 2.0 * skew @ skew)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])
