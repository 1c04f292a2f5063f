"""Built-in robots: sizes, masses, symmetry, and the two-link arm's mass matrix against Pinocchio and the textbook."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio
import pytest

import dqdyn as dq
from dqdyn.errors import Error, UnknownNameError
from dqdyn.model.build import build
from dqdyn.model.description import Description, Joint, Link, NamedFrame, placement
from dqdyn.model.inertia import box, cylinder, sphere
from dqdyn.model.model import Model
from dqdyn.robots.builders import BUILDERS, describe, names
from dqdyn.robots.humanoids import STANDING_HEIGHT
from dqdyn.robots.parts import Limb, link, mirrored, rod

SIZES = {  # name: nq, nv, mass of what moves in kg
    "two_link": (2, 2, 2.0),
    "chain": (6, 6, 1.5),
    "arm6": (6, 6, 46.5),
    "arm7": (7, 7, 19.3),
    "holonomic_manipulator": (9, 9, 186.5),
    "nonholonomic_manipulator": (9, 9, 186.5),
    "bimanual": (16, 16, 31.6),
    "small_bimanual": (13, 13, 6.2),
    "mobile_bimanual": (16, 16, 16.9),
    "humanoid": (34, 33, 58.6),
    "multi_contact_humanoid": (34, 33, 62.2),
    "four_bar": (3, 3, 1.46),
    "five_bar": (4, 4, 2.4),
    "stewart_platform": (25, 24, 28.0),
}
TOOLS = {
    "bimanual": ("left_hand", "right_hand", "head"),
    "small_bimanual": ("left_hand", "right_hand", "head"),
    "mobile_bimanual": ("left_hand", "right_hand", "head"),
    "humanoid": ("left_hand", "right_hand", "left_foot", "right_foot", "head"),
    "multi_contact_humanoid": (
        *(f"{side}_{end}" for side in ("left", "right") for end in ("hand", "foot")),
        *(f"{side}_{end}_corner_{i}" for side in ("left", "right") for end in ("hand", "foot") for i in range(1, 5)),
        "head",
    ),
}
SHAPES: dict[str, Any] = {"box": box, "cylinder": cylinder, "sphere": sphere}


def model_of(name: str, *arguments: Any) -> Model:
    return build(describe(name, *arguments), strict=True)


def rotation(axis: Sequence[float], angle: float) -> np.ndarray:
    """Rodrigues' formula: a road to poses that uses no dual quaternions."""
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * (k @ k)


def home_matrix(x: Any) -> np.ndarray:
    w, a, b, c = (float(v) for v in x.primary.components)
    angle, axis = 2 * math.atan2(math.hypot(a, b, c), w), np.array([a, b, c])
    result = np.eye(4)
    result[:3, :3] = rotation(axis / np.linalg.norm(axis), angle) if axis.any() else np.eye(3)
    r, d = np.array([w, a, b, c]), np.array([float(v) for v in x.dual.components])
    result[:3, 3] = 2 * (-d[0] * r[1:] + r[0] * d[1:] - np.cross(d[1:], r[1:]))
    return result


def link_matrices(description: Description, angles: dict[str, float]) -> dict[str, np.ndarray]:
    """Homogeneous matrices of all links of a robot whose joints are revolute or fixed, by joint name."""
    children = {joint.child for joint in description.joints}
    result = {item.name: np.eye(4) for item in description.links if item.name not in children}
    for joint in description.joints:
        turn = np.eye(4)
        if joint.kind == "revolute":
            turn[:3, :3] = rotation(joint.axis, angles.get(joint.name, 0.0))
        result[joint.child] = result[joint.parent] @ home_matrix(joint.origin) @ turn @ home_matrix(joint.child_origin)
    return result


def frame_matrices(description: Description, angles: dict[str, float]) -> dict[str, np.ndarray]:
    links = link_matrices(description, angles)
    return {frame.name: links[frame.link] @ home_matrix(frame.origin) for frame in description.frames}


def centers(description: Description, angles: dict[str, float]) -> np.ndarray:
    """(n, 4): mass and center of mass of every link in the root frame."""
    links = link_matrices(description, angles)
    rows = [(item.inertia, links[item.name]) for item in description.links]
    return np.array([[i.mass, *(t[:3, :3] @ i.com + t[:3, 3])] for i, t in rows])


# --- all robots -------------------------------------------------------------------------------------------------------


def test_registry_names_all_builders() -> None:
    assert set(names()) == set(SIZES) == set(BUILDERS)
    assert describe("chain", 3) == BUILDERS["chain"](3)
    with pytest.raises(UnknownNameError, match=r"no built-in robot named 'arm8': did you mean .*'arm") as error:
        describe("arm8")
    assert set(error.value.matches) >= {"arm6", "arm7"}
    with pytest.raises(Error, match="'arm6' does not take these options"):
        describe("arm6", 3)


@pytest.mark.parametrize("name", SIZES)
def test_builds_strictly_with_the_size_and_mass_that_its_docstring_states(name: str) -> None:
    model = model_of(name)
    nq, nv, mass = SIZES[name]
    assert (model.nq, model.nv) == (nq, nv)
    assert model.mass == pytest.approx(mass, rel=1e-12)
    assert model.warnings == ()
    if name not in ("two_link", "chain"):
        assert f"{mass:g} kg" in (BUILDERS[name].__doc__ or "")
    for frame in TOOLS.get(name, ("tool",)):
        assert model.frames[frame].kind == "user"


@pytest.mark.parametrize("name", SIZES)
def test_every_moving_body_is_a_real_one(name: str) -> None:
    for body in model_of(name).bodies:
        a, b, c = body.inertia.principal_moments()
        assert body.inertia.mass > 0.0
        assert 0.0 < a <= b <= c < a + b


@pytest.mark.parametrize(
    "name", [name for name in SIZES if name != "two_link"]
)  # whose links are slender by definition
def test_looks_and_inertia_are_of_the_same_solids(name: str) -> None:
    for item in describe(name).links:
        assert item.visuals, item.name
        assert [s.origin for s in item.visuals] == [s.origin for s in item.collisions]
        # Masses of parts are not kept, so links of one part are compared: the tensor per mass follows from the shape.
        if len(item.visuals) == 1:
            (shape,) = item.visuals
            arguments = (shape.size,) if shape.kind == "box" else shape.size
            expected = SHAPES[shape.kind](item.inertia.mass, *arguments).moved_by(shape.origin)
            np.testing.assert_allclose(item.inertia.com, expected.com, atol=1e-12)
            np.testing.assert_allclose(item.inertia.tensor, expected.tensor, atol=1e-12)


@pytest.mark.parametrize("name", SIZES)
def test_limits_hold_zero_and_nothing_is_damped(name: str) -> None:
    for joint in model_of(name).joints:
        assert joint.damping == joint.friction == joint.armature == (0.0,) * joint.motion.nv
        if joint.motion.nq == 1:
            assert joint.lower[0] <= 0.0 <= joint.upper[0]
            assert joint.upper[0] > joint.lower[0]


@pytest.mark.parametrize("name", SIZES)
def test_descriptions_pickle(name: str) -> None:
    description = describe(name)
    assert pickle.loads(pickle.dumps(description)) == description


# --- two links --------------------------------------------------------------------------------------------------------


def textbook_mass_matrix(q: np.ndarray) -> np.ndarray:
    c = math.cos(q[1])
    return np.array([[5 / 3 + c, 1 / 3 + c / 2], [1 / 3 + c / 2, 1 / 3]])


@pytest.mark.equation("Farias", "section 7")
@pytest.mark.parametrize("seed", range(5))
def test_two_link_kinetic_energy(seed: int) -> None:
    """M = Σ m Jᵀ J + Jωᵀ I Jω with J by central differences of the centers of mass; rotations add up in the plane."""
    description = describe("two_link")
    q, h = np.random.default_rng(seed).uniform(-3, 3, 2), 1e-5

    def at(q: np.ndarray) -> np.ndarray:
        return centers(description, {"joint1": q[0], "joint2": q[1]})

    expected = np.zeros((2, 2))
    for k, item in enumerate(description.links[1:], start=1):
        steps = [h * np.eye(2)[i] for i in range(2)]
        j = np.column_stack([(at(q + s)[k, 1:] - at(q - s)[k, 1:]) / (2 * h) for s in steps])
        turning = np.array([1.0, 1.0 if k == 2 else 0.0])
        expected += item.inertia.mass * j.T @ j + item.inertia.tensor[1][1] * np.outer(turning, turning)
    np.testing.assert_allclose(expected, textbook_mass_matrix(q), atol=1e-9)


def in_pinocchio(model: Model) -> pinocchio.Model:
    """The same tree of revolute joints, built by Pinocchio's own constructors."""
    result = pinocchio.Model()
    for joint, body in zip(model.joints, model.bodies, strict=True):
        t = home_matrix(joint.placement)
        kind = pinocchio.JointModelRevoluteUnaligned(*joint.motion.__dict__["axis"])
        index = result.addJoint(joint.parent + 1, kind, pinocchio.SE3(t[:3, :3], t[:3, 3]), joint.name)
        i = body.inertia
        result.appendBodyToJoint(
            index, pinocchio.Inertia(i.mass, np.array(i.com), np.array(i.tensor)), pinocchio.SE3.Identity()
        )
    return result


@pytest.mark.equation("Farias", "section 7")
@pytest.mark.parametrize("seed", range(5))
def test_two_link_in_pinocchio(seed: int) -> None:
    model = in_pinocchio(model_of("two_link"))
    data, q = model.createData(), np.random.default_rng(seed).uniform(-3, 3, 2)
    m = np.triu(pinocchio.crba(model, data, q))
    np.testing.assert_allclose(m, np.triu(textbook_mass_matrix(q)), atol=1e-12)
    g = pinocchio.computeGeneralizedGravity(model, data, q)
    lifting = 9.81 * np.array([1.5 * math.cos(q[0]) + 0.5 * math.cos(q.sum()), 0.5 * math.cos(q.sum())])
    np.testing.assert_allclose(g, lifting, atol=1e-12)


# --- chains -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 50])
@pytest.mark.parametrize("seed", [None, 0])
def test_chain_has_n_joints(n: int, seed: int | None) -> None:
    model = build(describe("chain", n, seed=seed), strict=True)
    assert model.nq == model.nv == n
    assert [joint.parent for joint in model.joints] == list(range(-1, n - 1))


def test_regular_chain_lies_along_x_with_alternating_axes() -> None:
    description = describe("chain", 50)
    assert [joint.axis for joint in description.joints[:4]] == [(0, 1, 0), (0, 0, 1)] * 2
    tool = frame_matrices(description, {})["tool"]
    np.testing.assert_allclose(tool, [[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-12)


def test_random_chain_follows_its_seed() -> None:
    assert describe("chain", 8, seed=3) == describe("chain", 8, seed=3)
    assert model_of("chain", 8, 3) != model_of("chain", 8, 4)
    for body in model_of("chain", 8, 3).bodies:
        assert min(abs(body.inertia.tensor[i][j]) for i in range(3) for j in range(i)) > 0.0


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "3", None])
def test_chain_refuses_other_sizes(n: object) -> None:
    with pytest.raises(Error, match="A chain has one link or more"):
        describe("chain", n)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "x"])
def test_chain_refuses_other_seeds(seed: object) -> None:
    with pytest.raises(Error, match="A seed is a whole number"):
        describe("chain", 3, seed=seed)


# --- arms -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meeting"), [("arm6", (1, 2)), ("arm6", (4, 5, 6)), ("arm7", (1, 2, 3)), ("arm7", (5, 6, 7))]
)
def test_axes_meet(name: str, meeting: tuple[int, ...]) -> None:
    description = describe(name)
    rng = np.random.default_rng(1)
    links = link_matrices(description, {joint.name: rng.uniform(-2, 2) for joint in description.joints})
    lines = [
        (links[joint.child][:3, :3] @ joint.axis, links[joint.child][:3, 3])
        for joint in description.joints
        if int(joint.name[-1]) in meeting
    ]
    a = sum(np.eye(3) - np.outer(l, l) for l, _ in lines)
    b = sum((np.eye(3) - np.outer(l, l)) @ p for l, p in lines)
    point = np.linalg.solve(a, b)  # the point nearest to all axes
    for l, p in lines:
        assert np.linalg.norm(np.cross(point - p, l)) < 1e-12


@pytest.mark.parametrize(
    ("name", "tool"),
    [("arm6", (0.65, 0.0, 1.0)), ("arm7", (0.0, 0.0, 1.34)), ("holonomic_manipulator", (0.85, 0.0, 1.45))],
)
def test_tool_at_home_is_where_the_docstring_says(name: str, tool: tuple[float, float, float]) -> None:
    np.testing.assert_allclose(frame_matrices(describe(name), {})["tool"][:3, 3], tool, atol=1e-12)


def test_mobile_bases() -> None:
    holonomic, rolling = (dq.load(name).model for name in ("holonomic_manipulator", "nonholonomic_manipulator"))
    assert holonomic.joints[0].kind == rolling.joints[0].kind == "planar"
    assert (holonomic.base, holonomic.constraints) == ("planar", ())
    (constraint,) = rolling.constraints
    assert (rolling.base, constraint.joint) == ("differential", "root_joint")
    # The wheels that are drawn are the wheels of the constraint.
    wheels = [s for s in rolling.description.links[0].visuals if s.kind == "cylinder"]
    wheel = max(wheels, key=lambda s: s.size[0])
    assert wheel.size[0] == constraint.wheel_radius
    assert 2 * abs(home_matrix(wheel.origin)[1, 3]) == pytest.approx(constraint.wheel_distance)


# --- two-sided robots -------------------------------------------------------------------------------------------------


def symmetric_angles(description: Description, rng: np.random.Generator) -> dict[str, float]:
    """Equal angles on both sides, and zero for the joints in the middle that would turn the body to one side."""
    angles = {}
    for joint in description.joints:
        if joint.name.startswith("right_"):
            angles[joint.name] = angles["left_" + joint.name[6:]] = rng.uniform(-2, 2)
        elif joint.name.endswith("pitch") and not joint.name.startswith("left_"):
            angles[joint.name] = rng.uniform(-1, 1)
    return angles


@pytest.mark.parametrize("name", ["bimanual", "humanoid"])
def test_equal_angles_are_mirror_images(name: str) -> None:
    description = describe(name)
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    links = {item.name: item for item in description.links}
    for seed in range(5):
        angles = symmetric_angles(description, np.random.default_rng(seed))
        at = {**link_matrices(description, angles), **frame_matrices(description, angles)}
        right = [key for key in at if key.startswith("right_")]
        assert len(right) == len([key for key in at if key.startswith("left_")]) > 7
        for key in right:
            np.testing.assert_allclose(mirror @ at[key] @ mirror, at["left_" + key[6:]], atol=1e-12)
        mass, y = centers(description, angles)[:, [0, 2]].T
        assert abs(mass @ y) < 1e-12
    for key in (key for key in links if key.startswith("right_")):
        a, b = links[key].inertia, links["left_" + key[6:]].inertia
        flip = mirror[:3, :3]
        assert a.mass == b.mass
        np.testing.assert_array_equal(flip @ np.array(a.com), b.com)
        np.testing.assert_array_equal(flip @ np.array(a.tensor) @ flip, b.tensor)
        looks = zip(links[key].visuals, links["left_" + key[6:]].visuals, strict=True)
        assert all((p.kind, p.size) == (q.kind, q.size) for p, q in looks)


def test_mirror_image_of_an_oblique_limb() -> None:
    """A limb whose frames, axes and solids are along no coordinate axis, so that no sign can hide."""
    mirror = np.diag([1.0, -1.0, 1.0])
    body = link("right_arm", rod(2.0, 0.05, (0.1, 0.2, 0.3), (-0.3, 0.5, 0.6)))
    at, tip = placement((0.4, -0.3, 0.2), (0.5, -0.7, 1.1)), placement((0.1, 0.2, 0.3), (1.0, 0.4, -0.2))
    joint = Joint("right_joint", "revolute", "base", "right_arm", at, axis=(0.48, 0.6, 0.64), child_origin=tip)
    right = Limb((body,), (joint,), (NamedFrame("right_hand", "right_arm", tip),))
    left = mirrored(right)
    root = Link("base")
    for angle in (0.0, 0.7, -2.0):
        sides = []
        for limb, name in ((right, "right"), (left, "left")):
            description = Description("one_sided", (root, *limb.links), limb.joints, limb.frames)
            frame = frame_matrices(description, {f"{name}_joint": angle})[f"{name}_hand"]
            t = link_matrices(description, {f"{name}_joint": angle})[f"{name}_arm"]
            (item,) = limb.links
            looks = t @ home_matrix(item.visuals[0].origin)
            tensor = t[:3, :3] @ np.array(item.inertia.tensor) @ t[:3, :3].T
            along = looks[:3, 2:3] @ looks[:3, 2:3].T  # a cylinder has an axis, but no sense along it
            com = t[:3, :3] @ item.inertia.com + t[:3, 3]
            sides.append((frame[:3, :3], tensor, along, frame[:3, 3], com, looks[:3, 3]))
        for a, b in zip(*sides, strict=True):
            np.testing.assert_allclose(mirror @ a @ mirror if a.ndim == 2 else mirror @ a, b, atol=1e-12)


@pytest.mark.parametrize("name", ["bimanual", "humanoid"])
def test_limits_are_equal_on_both_sides(name: str) -> None:
    joints = {joint.name: joint for joint in describe(name).joints}
    for key in (key for key in joints if key.startswith("right_")):
        a, b = joints[key], joints["left_" + key[6:]]
        assert (a.lower, a.upper, a.velocity, a.effort) == (b.lower, b.upper, b.velocity, b.effort)


def test_humanoid_has_27_joints_split_as_documented() -> None:
    joints = [joint.name for joint in describe("humanoid").joints]
    arms = ("shoulder", "upper_arm", "elbow", "forearm", "wrist")
    count = {
        "legs": sum(any(part in name for part in ("hip", "knee", "ankle")) for name in joints),
        "torso": sum(name.startswith("torso") for name in joints),
        "arms": sum(any(part in name for part in arms) for name in joints),
        "head": sum(name.startswith("head") for name in joints),
    }
    assert count == {"legs": 12, "torso": 2, "arms": 12, "head": 1}
    assert len(joints) == 27
    assert model_of("humanoid").joints[0].kind == "free"


def test_humanoid_stands_on_its_soles() -> None:
    at = frame_matrices(describe("humanoid"), {})
    for side, y in (("left", 0.1), ("right", -0.1)):
        np.testing.assert_allclose(at[f"{side}_foot"][:3, 3], [0.03, y, -STANDING_HEIGHT], atol=1e-12)
    assert at["head"][2, 3] + STANDING_HEIGHT + 0.1 == pytest.approx(1.58)  # the top of the skull
    mass, x, y, _ = centers(describe("humanoid"), {}).T
    com = np.array([mass @ x, mass @ y]) / mass.sum()
    assert abs(com[0] - 0.03) < 0.11  # over the feet, which are 0.22 m long
    assert abs(com[1]) < 1e-15


def test_bimanual_hands_work_before_the_chest() -> None:
    """Bent elbows bring both hands forward; turning the upper arms inward brings the hands together."""
    bent = {"left_elbow": -math.pi / 2, "right_elbow": -math.pi / 2}
    gaps = []
    for yaw in (0.0, 0.5):
        at = frame_matrices(describe("bimanual"), {**bent, "left_upper_arm_yaw": yaw, "right_upper_arm_yaw": yaw})
        assert at["left_hand"][0, 3] > 0.3
        gaps.append(at["left_hand"][1, 3] - at["right_hand"][1, 3])
    assert 0.0 < gaps[1] < gaps[0]
