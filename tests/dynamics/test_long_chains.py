"""Forward dynamics of chains long enough for articulated bodies, with a joint of each kind among revolute ones.

Each kind meets exact zeros in its own way: along a coordinate axis or skew to it, with armature and without.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trees import MOVING, assert_close, random_inertia, random_placement, random_state, run

from dqdyn.dynamics.methods import FORWARD
from dqdyn.model.description import Description, Joint, Link
from dqdyn.robot import Robot

AXES = {"along x": (1.0, 0.0, 0.0), "along -z": (0.0, 0.0, -1.0), "skew": (0.36, -0.48, 0.8)}


def chain(kind: str, axis: tuple[float, float, float], armature: float, pitch: float = 0.1) -> Robot:
    """Twelve joints, the sixth of another kind."""
    rng = np.random.default_rng(1)
    links, joints = [Link("link_0")], []
    for i in range(12):
        joint = Joint(f"j{i}", "revolute", f"link_{i}", f"link_{i + 1}", random_placement(rng), armature=armature)
        other = replace(joint, kind=kind, axis=axis, second_axis=(0.0, 0.6, -0.8), pitch=pitch)
        joints.append(other if i == 5 else joint)
        links.append(Link(f"link_{i + 1}", random_inertia(rng)))
    return Robot.from_description(Description("chain", tuple(links), tuple(joints)), strict=True)


@pytest.mark.parametrize("armature", [0.0, 0.1])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", MOVING)
def test_forward_undoes_inverse(kind: str, axis: str, armature: float) -> None:
    robot = chain(kind, AXES[axis], armature)
    q, v, a = random_state(robot, np.random.default_rng(2))
    tau = run(robot, "inverse_dynamics", q, v, a)
    for method in ("articulated-body", "composite-body"):
        assert_close(run(robot, "forward_dynamics", q, v, tau, method=method), a, 1e-9)
    forms = FORWARD.candidates(robot.model, "auto")  # what "auto" chooses from
    assert len(forms) == 2
    for form, model in forms:
        assert_close(form(model, list(q), list(v), list(tau), None), a, 1e-9)


@pytest.mark.parametrize("pitch", [1.0, -1.0, 1e-9, 0.0])
def test_any_pitch(pitch: float) -> None:
    """A pitch of ±1 m/rad makes both parts of the screw unit vectors, a pitch of 0 leaves a revolute joint."""
    robot = chain("helical", (0.0, 0.0, 1.0), 0.0, pitch)
    q, v, a = random_state(robot, np.random.default_rng(2))
    tau = run(robot, "inverse_dynamics", q, v, a)
    assert_close(run(robot, "forward_dynamics", q, v, tau, method="articulated-body"), a, 1e-9)
