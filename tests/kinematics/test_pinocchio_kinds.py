"""Every joint kind against Pinocchio's joint model: poses, Jacobians, their rates, integration, centers of mass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
import pytest
from joint_samples import L2, L
from pinocchio_tools import EXPRESSED, SHARED_KINDS, PinocchioState, homogeneous, pin_inertia, se3
from trees import (
    MOVING,
    assert_close,
    random_inertia,
    random_placement,
    random_q,
    random_state,
    random_v,
    rate_along,
    run,
)

from dqdyn.algebra.dual import DQ
from dqdyn.errors import FormatError
from dqdyn.model.description import Description, Joint, Link
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
AXIS = np.array(L)
ACROSS = np.cross(AXIS, L2) / np.linalg.norm(np.cross(AXIS, L2))  # Pinocchio's universal joint has a right angle

# name: our joint's kind and parameters, Pinocchio's joint model
PAIRS: dict[str, tuple[dict[str, Any], Any]] = {
    "RX": ({"kind": "revolute", "axis": X}, pinocchio.JointModelRX()),
    "RY": ({"kind": "revolute", "axis": Y}, pinocchio.JointModelRY()),
    "RZ": ({"kind": "revolute", "axis": Z}, pinocchio.JointModelRZ()),
    "RevoluteUnaligned": ({"kind": "revolute", "axis": L}, pinocchio.JointModelRevoluteUnaligned(AXIS)),
    "RUBX": ({"kind": "revolute", "axis": X}, pinocchio.JointModelRUBX()),
    "RUBY": ({"kind": "revolute", "axis": Y}, pinocchio.JointModelRUBY()),
    "RUBZ": ({"kind": "revolute", "axis": Z}, pinocchio.JointModelRUBZ()),
    "PX": ({"kind": "prismatic", "axis": X}, pinocchio.JointModelPX()),
    "PY": ({"kind": "prismatic", "axis": Y}, pinocchio.JointModelPY()),
    "PZ": ({"kind": "prismatic", "axis": Z}, pinocchio.JointModelPZ()),
    "PrismaticUnaligned": ({"kind": "prismatic", "axis": L}, pinocchio.JointModelPrismaticUnaligned(AXIS)),
    "HX": ({"kind": "helical", "axis": X, "pitch": 0.4}, pinocchio.JointModelHX(0.4)),
    "HZ": ({"kind": "helical", "axis": Z, "pitch": -0.4}, pinocchio.JointModelHZ(-0.4)),
    "HelicalUnaligned": (
        {"kind": "helical", "axis": L, "pitch": 0.4},
        pinocchio.JointModelHelicalUnaligned(AXIS, 0.4),
    ),
    "Universal": (
        {"kind": "universal", "axis": L, "second_axis": tuple(map(float, ACROSS))},
        pinocchio.JointModelUniversal(AXIS, ACROSS),
    ),
    "Spherical": ({"kind": "spherical"}, pinocchio.JointModelSpherical()),
    "Planar": ({"kind": "planar"}, pinocchio.JointModelPlanar()),
    "FreeFlyer": ({"kind": "free"}, pinocchio.JointModelFreeFlyer()),
}
WRONG_RATES = {"Universal"}
"""Joint models whose Jacobian time variation is wrong in Pinocchio; finite differences decide there."""


def both(name: str) -> tuple[Robot, pinocchio.Model]:
    """base – revolute – the joint – prismatic, in both libraries."""
    own, model = PAIRS[name]
    rng = np.random.default_rng(5)
    placements = [random_placement(rng) for _ in range(4)]
    inertias = [random_inertia(rng) for _ in range(3)]
    joints = (
        Joint("before", "revolute", "base", "a", origin=placements[0], axis=(0.0, 0.6, 0.8)),
        Joint("it", parent="a", child="b", origin=placements[1], **own),
        Joint("after", "prismatic", "b", "c", origin=placements[2], axis=(0.8, 0.0, 0.6)),
    )
    links = (Link("base"), *(Link(n, i) for n, i in zip("abc", inertias, strict=True)))
    ours = Robot.from_description(Description(name, links, joints), strict=True).add_frame("tip", "c", placements[3])
    theirs = pinocchio.Model()
    models = (
        pinocchio.JointModelRevoluteUnaligned(np.array([0.0, 0.6, 0.8])),
        model,
        pinocchio.JointModelPrismaticUnaligned(np.array([0.8, 0.0, 0.6])),
    )
    parent = 0
    for joint, pin_joint, inertia in zip(joints, models, inertias, strict=True):
        parent = theirs.addJoint(parent, pin_joint, se3(joint.origin), joint.name)
        theirs.appendBodyToJoint(parent, pin_inertia(inertia), pinocchio.SE3.Identity())
        theirs.addBodyFrame(joint.child, parent, pinocchio.SE3.Identity(), 0)
    theirs.addFrame(pinocchio.Frame("tip", parent, 0, se3(placements[3]), pinocchio.FrameType.OP_FRAME))
    return ours, theirs


def layout_of(name: str) -> tuple[Robot, pinocchio.Model, Layout]:
    ours, theirs = both(name)
    return ours, theirs, ours.to_pinocchio(theirs)


@pytest.mark.parametrize("kind", MOVING)
def test_every_kind_with_a_counterpart_is_compared(kind: str) -> None:
    """The others are refused beside every joint model of Pinocchio."""
    if kind in SHARED_KINDS:
        assert any(own["kind"] == kind for own, _ in PAIRS.values())
        return
    for _, model in PAIRS.values():
        refused(kind, model)


@pytest.mark.parametrize("name", PAIRS)
def test_poses_and_jacobians(name: str) -> None:
    ours, theirs, layout = layout_of(name)
    rng = np.random.default_rng(6)
    for _ in range(3):
        q, v, _a = random_state(ours, rng)
        state = PinocchioState(layout, theirs, q, v)
        for frame in ("a", "b", "c", "tip"):
            i = theirs.getFrameId(frame)
            x = ours.model.frame(frame)
            assert_close(homogeneous_of(ours, frame, q), state.pose(i))
            for expressed in EXPRESSED:
                options = {"frame": x, "expressed": expressed}
                assert_close(run(ours, "twist_jacobian", q, **options), state.jacobian(i, expressed))
                rates = run(ours, "twist_jacobian_derivative", q, v, **options)
                if name not in WRONG_RATES:
                    assert_close(rates, state.jacobian_derivative(i, expressed))


def homogeneous_of(robot: Robot, frame: str, q: np.ndarray) -> np.ndarray:
    return homogeneous(DQ(run(robot, "pose", q, frame=frame)))


@pytest.mark.parametrize("name", PAIRS)
def test_jacobian_rates_by_finite_differences(name: str) -> None:
    ours, _ = both(name)
    q, v, _a = random_state(ours, np.random.default_rng(7))
    for expressed in EXPRESSED:
        jacobian = lambda c, e=expressed: run(ours, "twist_jacobian", c, frame="tip", expressed=e)
        found = run(ours, "twist_jacobian_derivative", q, v, frame="tip", expressed=expressed)
        assert_close(found, rate_along(jacobian, ours, q, v), 1e-10)


@pytest.mark.parametrize("name", PAIRS)
def test_classical_accelerations(name: str) -> None:
    """ξ̇ = J a + J̇ v against Pinocchio's forward kinematics of second order, which is right for all joints."""
    ours, theirs, layout = layout_of(name)
    q, v, a = random_state(ours, np.random.default_rng(8))
    data = theirs.createData()
    pinocchio.forwardKinematics(theirs, data, layout.q(q), layout.v(q, v), layout.a(q, v, a))
    pinocchio.updateFramePlacements(theirs, data)
    i = theirs.getFrameId("tip")
    velocity = pinocchio.getFrameVelocity(theirs, data, i, pinocchio.LOCAL)
    acceleration = pinocchio.getFrameAcceleration(theirs, data, i, pinocchio.LOCAL)
    twist = np.concatenate([velocity.angular, velocity.linear])
    twist_rate = np.concatenate([acceleration.angular, acceleration.linear])
    assert_close(run(ours, "twist", q, v, frame="tip"), twist)
    assert_close(run(ours, "twist_rate", q, v, a, frame="tip"), twist_rate)


@pytest.mark.parametrize("name", PAIRS)
def test_mass_quantities(name: str) -> None:
    ours, theirs, layout = layout_of(name)
    q, v, _a = random_state(ours, np.random.default_rng(9))
    data = theirs.createData()
    pq, pv = layout.q(q), layout.v(q, v)
    t = layout.transform(q)
    assert_close(run(ours, "center_of_mass", q), np.array(pinocchio.centerOfMass(theirs, data, pq)))
    assert_close(
        run(ours, "center_of_mass_jacobian", q), np.array(pinocchio.jacobianCenterOfMass(theirs, data, pq)) @ t
    )
    assert_close(
        run(ours, "centroidal_momentum_matrix", q), np.array(pinocchio.computeCentroidalMap(theirs, data, pq)) @ t
    )
    momentum = pinocchio.computeCentroidalMomentum(theirs, data, pq, pv)
    assert_close(run(ours, "centroidal_momentum", q, v), np.concatenate([momentum.linear, momentum.angular]))


@pytest.mark.parametrize("name", PAIRS)
def test_integration_and_difference(name: str) -> None:
    """Pinocchio's follow a constant velocity in its own coordinates, so the planar joint is compared with the others
    of the chain only: there ours is constant in the parent's axes and its in the child's."""
    ours, theirs, layout = layout_of(name)
    rng = np.random.default_rng(10)
    for _ in range(3):
        q0, q1 = random_q(ours, rng), random_q(ours, rng)
        v = random_v(ours, rng) * 0.7
        moved = layout.q(run(ours, "integrate", q0, v, 0.8))
        expected = pinocchio.integrate(theirs, layout.q(q0), layout.v(q0, v) * 0.8)
        difference = layout.v(q0, run(ours, "difference", q0, q1))
        other = pinocchio.difference(theirs, layout.q(q0), layout.q(q1))
        if name == "Planar":
            turn, straight = 3, [0, 4]  # φ̇ and the joints before and after
            straight_q = [0, 5]
            assert_close(moved[straight_q], expected[straight_q])
            assert_close(np.arctan2(moved[4], moved[3]), np.arctan2(expected[4], expected[3]))
            assert_close(difference[straight], other[straight])
            angle = (difference[turn] - other[turn]) / (2 * np.pi)  # an unbounded angle here, a circle there
            assert abs(angle - round(angle)) < 1e-10
            continue
        assert_close(same_sign(ours, layout, moved, expected), expected)
        if name.startswith("RUB"):
            angle = (difference - other) / (2 * np.pi)
            assert np.abs(angle - np.round(angle)).max() < 1e-10
        else:
            assert_close(difference, other)


def same_sign(ours: Robot, layout: Layout, found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Quaternions r and −r are one rotation."""
    result = found.copy()
    for block in layout.blocks:
        if block.joint.motion.quaternion is not None:
            part = slice(block.q.stop - 4, block.q.stop)
            result[part] *= np.sign(found[part] @ expected[part])
    return result


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        ("cylindrical", pinocchio.JointModelRZ()),
        ("spherical", pinocchio.JointModelSphericalZYX()),
        ("free", pinocchio.JointModelTranslation()),
        ("revolute", pinocchio.JointModelPlanar()),
        ("planar", pinocchio.JointModelRX()),
        ("prismatic", pinocchio.JointModelUniversal(np.array(X), np.array(Y))),
    ],
)
def test_other_pairs_are_refused(kind: str, model: Any) -> None:
    refused(kind, model)


def refused(kind: str, model: Any) -> None:
    theirs = pinocchio.Model()
    theirs.addJoint(0, model, pinocchio.SE3.Identity(), "it")
    ours = Robot.from_description(Description("one", (Link("a"), Link("b")), (Joint("it", kind, "a", "b"),)))
    with pytest.raises(FormatError, match="'it'") as caught:
        ours.to_pinocchio(theirs)
    assert caught.value.joint == "it"


def test_planar_joint_about_another_axis_is_refused() -> None:
    theirs = pinocchio.Model()
    theirs.addJoint(0, pinocchio.JointModelPlanar(), pinocchio.SE3.Identity(), "it")
    joint = Joint("it", "planar", "a", "b", axis=X)
    ours = Robot.from_description(Description("one", (Link("a"), Link("b")), (joint,)))
    with pytest.raises(FormatError, match="axis"):
        ours.to_pinocchio(theirs)
