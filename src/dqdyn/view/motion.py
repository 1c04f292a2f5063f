"""Where the bodies of a robot are at each sample, and which samples an animation shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import stack
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import Error
from dqdyn.kinematics import tree
from dqdyn.model.model import TreeJoint
from dqdyn.robot import Robot
from dqdyn.view.triangles import Indices

FASTEST = 60.0
"""Frames per second; screens show no more."""
MOST_FRAMES = 6000
"""Of one animation; the player interpolates between frames, so long runs get fewer per second."""


def body_poses(robot: Robot, q: RealArray) -> Array:
    """Quaternion (w, x, y, z) and position in m of every moving body in the world: (..., bodies, 7)."""
    q = real_array(q, "q")
    poses = tree.poses_apart(robot.model, list(np.moveaxis(q, -1, 0)))
    rows = [(*poses[i][0].components, *poses[i][1].vector) for i in range(len(robot.bodies))]
    return stack([c for row in rows for c in row], (len(rows), 7), q.shape[:-1])


def body_twists(robot: Robot, q: RealArray, v: RealArray) -> Array:
    """[ω, v] of every moving body, at its origin and in its axes: (..., bodies, 6)."""
    q, v = real_array(q, "q"), real_array(v, "v")
    coordinates, rates = (list(np.moveaxis(x, -1, 0)) for x in (q, v))

    def step(joint: TreeJoint, parent: DQ) -> DQ:
        own = joint.motion.twist(joint.coordinates(coordinates), joint.rates(rates))
        return joint.adjoint(coordinates).inverse()(parent) + own

    twists = tree.forward(robot.model, zero_twist(), step)
    rows = [(*twists[i].primary.vector, *twists[i].dual.vector) for i in range(len(robot.bodies))]
    return stack([c for row in rows for c in row], (len(rows), 6), q.shape[:-1])


def continuous(poses: Array) -> Array:
    """Poses (n, bodies, 7) whose quaternions do not jump to their negatives, so that they can be interpolated."""
    result = np.array(poses)
    flips = np.einsum("nbi,nbi->nb", result[1:, :, :4], result[:-1, :, :4]) < 0.0
    signs = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    result[1:, :, :4] *= signs[..., None]
    return result


def shown_samples(time: Array) -> Indices:
    """Indices of the samples that an animation shows: first and last, and at most 60 per second between them."""
    count, length = len(time), float(time[-1] - time[0])
    most = min(MOST_FRAMES, int(np.ceil(length * FASTEST)) + 1)
    if count <= max(most, 2):
        return np.arange(count)
    even = np.linspace(time[0], time[-1], most)
    return np.unique([0, *np.searchsorted(time, even[1:-1]), count - 1])


def require_same_joints(trajectory: Any, robot: Robot) -> None:
    """An error where the trajectory is one of a robot with other joints."""
    if [joint.name for joint in trajectory.robot.joints] != [joint.name for joint in robot.joints]:
        what = f"The trajectory belongs to {trajectory.robot.name!r}, whose joints differ from those of {robot.name!r}"
        raise Error(f"{what}: show it with the robot that it was made with, and with its base.", robot=robot.name)


def checked(trajectory: Any) -> Any:
    """The trajectory, if it can be shown: at least one sample, increasing times, finite configurations."""
    time, q = real_array(trajectory.time, "the time of a trajectory"), real_array(trajectory.q, "q of a trajectory")
    robot = trajectory.robot
    if time.ndim != 1 or q.shape != (len(time), robot.nq):
        needed = f"A trajectory of {robot.name!r} needs time (n,) and q (n, {robot.nq}) to be shown"
        text = f"{needed}; found {time.shape} and {q.shape}: take one run out of a batch with .member(0)."
        raise Error(text, expected=(len(time), robot.nq), found=q.shape)
    if not len(time):
        raise Error(f"The trajectory of {robot.name!r} has no samples: there is nothing to show.")
    if not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
        raise Error("The times of a trajectory must increase from sample to sample: sort them and drop repeated ones.")
    bad = ~np.isfinite(q).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        what = f"Sample {row} of the trajectory, at {time[row]:g} s, has a configuration that is not finite"
        raise Error(f"{what}: show the samples before it.", row=row)
    return trajectory
