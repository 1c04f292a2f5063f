"""Fast forms where axes are parallel, opposite, nearly so, intersecting or at right angles, in frames turned anyhow.

Random axes have a common normal nearby; these have none, many, or one that is very far away.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from trees import assert_close, random_inertia, random_state, run

from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.dynamics.fast.regroup import regrouped
from dqdyn.model.canonical import canonical
from dqdyn.model.description import Description, Joint, Link
from dqdyn.robot import Robot

ANGLES = {
    "parallel": 0.0,
    "opposite": math.pi,
    "right": math.pi / 2,
    "nearly right": 1.5708,
    "nearly opposite": 3.1416,
    **{f"{e:g} rad": e for e in (1e-14, 1e-12, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2, 0.05, 0.2)},
}
PLACES = {"apart": 0.5, "intersecting": 0.0}


def chain(angle: float, reach: float, kinds: tuple[str, ...], seed: int = 1) -> Robot:
    """Axes at an angle to the one before, but for two that make the placements dense: else frames stay as they are."""
    rng = np.random.default_rng(seed)
    links, joints = [Link("link_0", random_inertia(rng))], []
    for i, kind in enumerate(kinds):
        turn = about(float(rng.uniform(-3.0, 3.0)), 2) * about(0.7 if i in (0, 3) else angle, 0)
        place = pose(turn, pure(*(float(c) for c in rng.uniform(-reach, reach, 3))))
        joints.append(Joint(f"j{i}", kind, links[-1].name, f"link_{i + 1}", place))
        links.append(Link(f"link_{i + 1}", random_inertia(rng)))
    return Robot.from_description(Description("special axes", tuple(links), tuple(joints)), strict=True)


def about(angle: float, axis: int) -> Quaternion:
    vector = [0.0, 0.0, 0.0]
    vector[axis] = math.sin(angle / 2)
    return Quaternion(math.cos(angle / 2), *vector)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kinds", [("revolute",) * 6, ("revolute", "prismatic", "revolute") * 2])
def test_forces_and_poses(angle: str, place: str, kinds: tuple[str, ...]) -> None:
    ours = chain(ANGLES[angle], PLACES[place], kinds)
    q, v, a = random_state(ours, np.random.default_rng(2))
    expected, mass = run(ours, "inverse_dynamics", q, v, a), run(ours, "mass_matrix", q)
    assert canonical(ours.model) is not ours.model
    for form in (canonical, regrouped):
        other = Robot(form(ours.model))
        assert_close(run(other, "inverse_dynamics", q, v, a), expected, 1e-11)
        assert_close(run(other, "mass_matrix", q), mass, 1e-11)
        for frame in ours.frames:
            x = run(ours, "pose", q, frame=frame)
            found = run(other, "pose", q, frame=frame)
            assert_close(found * np.sign(found @ x), x, 1e-12)


def test_frames_stay_near_the_robot() -> None:
    """Axes of a file that rounds π/2 are nearly parallel: their common normal is 100 km away."""
    model = canonical(chain(1.5708 - math.pi / 2, 0.5, ("revolute",) * 6).model)
    assert max(abs(c) for joint in model.joints for c in joint.placement_adjoint.p.vector) < 30.0
