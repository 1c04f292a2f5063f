"""Models of real robots against Pinocchio, joint by joint, body by body, frame by frame."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from robot_data import short_name, urdf_files

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position, rotation_matrix
from dqdyn.errors import Error
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.model.description import ROOT_JOINT
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint

REFUSED = {
    "ur/ur3": "lacks the attribute 'name' in <robot>",
    "alex/alex_psyonic_hands": "'Left_index_q2' mimics a missing joint: There is no joint named 'index_q1'",
}
"""Files that are no robots, and what the message says."""

FILES = {short_name(path): path for path in urdf_files()}
ROBOTS = [name for name in FILES if name not in REFUSED]


def matrix(x: DQ) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rotation_matrix(x), position(x).vector
    return result


@cache
def both(path: Path, base: str) -> tuple[Model, pinocchio.Model]:
    """Our model, with free mimic joints, and Pinocchio's, which ignores mimic."""
    ours = build(read_urdf(path), base=base, mimic=False, quiet=True)
    if base == "free":
        return ours, pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
    return ours, pinocchio.buildModelFromUrdf(str(path))


def pairs(ours: Model, theirs: pinocchio.Model) -> list[tuple[TreeJoint, int]]:
    """Our joints with the index of Pinocchio's joint of the same name; all of them on both sides."""
    names = list(theirs.names)[1:]
    assert sorted(names) == sorted(joint.name for joint in ours.joints)
    return [(joint, theirs.getJointId(joint.name)) for joint in ours.joints]


def test_there_are_many_robots() -> None:
    assert len(FILES) >= 69
    assert len(FILES) == len(urdf_files())


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_reason(name: str) -> None:
    with pytest.raises(Error) as caught:
        build(read_urdf(FILES[name]), quiet=True)
    assert REFUSED[name] in str(caught.value)
    assert FILES[name].name in str(caught.value)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", ROBOTS)
def test_joints_equal_pinocchio(name: str, base: str) -> None:
    ours, theirs = both(FILES[name], base)
    for joint, i in pairs(ours, theirs):
        parent = "universe" if joint.parent == WORLD_BODY else ours.joints[joint.parent].name
        assert theirs.names[theirs.parents[i]] == parent
        np.testing.assert_allclose(matrix(joint.placement), theirs.jointPlacements[i].homogeneous, atol=1e-12, rtol=0)
        # Kind and axis at once: the motion subspace at the neutral configuration, rows [v, ω] there and [ω, v] here.
        data = theirs.joints[i].createData()
        theirs.joints[i].calc(data, pinocchio.neutral(theirs))
        mine = np.array([np.roll(s.vec6(), 3) for s in joint.motion.subspace(joint.motion.neutral())]).T
        other = np.asarray(data.S).reshape(6, -1)
        other = other[:, [3, 4, 5, 0, 1, 2]] if joint.kind == "free" else other
        np.testing.assert_allclose(mine, other, atol=1e-12, rtol=0)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", ROBOTS)
def test_inertias_equal_pinocchio(name: str, base: str) -> None:
    ours, theirs = both(FILES[name], base)
    for joint, i in pairs(ours, theirs):
        mine, other = ours.bodies[joint.index].inertia, theirs.inertias[i]
        assert mine.mass == pytest.approx(other.mass, rel=1e-12)
        if mine.mass > 0.0:
            np.testing.assert_allclose(mine.com, other.lever, atol=1e-12, rtol=0)
        # Moments about the joint bound those about the center of mass, and their rounding.
        scale = max(np.abs(other.inertia).max(), other.mass * float(other.lever @ other.lever), 1e-12)
        np.testing.assert_allclose(mine.tensor, other.inertia, atol=1e-10 * scale, rtol=0)


@pytest.mark.parametrize("name", ROBOTS)
def test_limits_equal_pinocchio(name: str) -> None:
    ours, theirs = both(FILES[name], "fixed")
    described = {joint.name: joint for joint in ours.description.joints}
    for joint, i in pairs(ours, theirs):
        if joint.kind not in ("revolute", "prismatic"):
            continue
        q, v = theirs.joints[i].idx_q, theirs.joints[i].idx_v
        for mine, given, other in (
            (joint.lower, described[joint.name].lower, theirs.lowerPositionLimit[q]),
            (joint.upper, described[joint.name].upper, theirs.upperPositionLimit[q]),
        ):
            if theirs.joints[i].nq == 2:  # continuous
                assert given is None
                assert np.isinf(mine)
            elif given is None:  # Pinocchio takes 0, which would lock the joint
                assert np.isinf(mine)
                assert other == 0.0
                assert any("lower or upper limit" in text for text in ours.warnings)
            else:
                assert mine == (other,)
        for what, other in (("velocity", theirs.velocityLimit[v]), ("effort", theirs.effortLimit[v])):
            if other == 0.0:  # stands for "unset" in files
                assert getattr(joint, what) == (np.inf,)
                assert any(f'{what}="0" in <limit> is taken as no limit' in text for text in ours.warnings)
            else:
                assert getattr(joint, what) == (other,)
        assert joint.damping == (theirs.damping[v],)
        assert joint.friction == (theirs.upperDryFrictionLimit[v],)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", ROBOTS)
def test_frames_equal_pinocchio(name: str, base: str) -> None:
    ours, theirs = both(FILES[name], base)
    links = {link.name for link in ours.description.links}
    compared = 0
    for frame in theirs.frames:
        is_joint = frame.type != pinocchio.FrameType.BODY
        if frame.name in ("universe", ROOT_JOINT) or (is_joint and frame.name in links):
            continue  # where a link and a joint share a name, ours is the link's
        mine = ours.frames[frame.name]
        body = "universe" if mine.body == WORLD_BODY else ours.joints[mine.body].name
        assert body == theirs.names[frame.parentJoint]
        np.testing.assert_allclose(matrix(mine.placement), frame.placement.homogeneous, atol=1e-12, rtol=0)
        compared += 1
    assert compared >= len(links)


@pytest.mark.parametrize("name", ROBOTS)
def test_mimic_joints_lose_their_coordinates(name: str) -> None:
    description = read_urdf(FILES[name])
    free, driven = build(description, mimic=False, quiet=True), build(description, quiet=True)
    mimics = [joint for joint in description.joints if joint.mimic is not None]
    assert driven.nv == free.nv - len(mimics)
    for joint in mimics:
        assert driven.joint(joint.name).is_mimic


@pytest.mark.parametrize("name", ROBOTS)
def test_meshes_are_found_where_installed(name: str) -> None:
    shapes = [s for link in read_urdf(FILES[name]).links for s in link.visuals + link.collisions if s.kind == "mesh"]
    for shape in shapes:
        assert shape.mesh is not None
        if shape.mesh.startswith("file:///"):  # of the author's machine
            assert shape.path is None
        else:
            assert shape.path is not None
            assert shape.path.name == Path(shape.mesh).name
