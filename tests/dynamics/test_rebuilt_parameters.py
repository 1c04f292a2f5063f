"""A program with parameters as inputs equals that of the robot rebuilt with their values; so do batches."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from robot_data import urdf_file
from trees import TREES, random_inertia, random_placement, random_q, random_robot, tree

import dqdyn as dq
from dqdyn.robot.catalog import CATALOG

ALL = ("inertia", "gravity", "damping", "friction", "armature", "stiffness", "rest", "joint_poses")
NATURAL = ("mass", "center_of_mass", "rotational_inertia", "joint_poses")
URDFS = ("panda", "ur5_robot", "double_pendulum", "kinova")
BUILT_IN = ("arm7", "two_link", "arm6", "holonomic_manipulator", "small_bimanual")
ROBOTS = (*TREES, *BUILT_IN, "random 11", "random 12", "dh", "mdh", *URDFS)
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "center_of_mass", "pose")


def _robot(name: str) -> Any:
    if name in TREES:
        return tree(name)
    if name.startswith("random"):
        return random_robot(int(name.split()[1]), 5)
    if name.endswith("dh"):
        return _dh(modified=name == "mdh")
    if name in URDFS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dq.ModelWarning)
            return dq.load(urdf_file(name))
    return getattr(dq.robots, name)()


def _dh(modified: bool) -> Any:
    """A serial robot with both kinds of joints on a base, and a load that is fixed to its tool."""
    rng = np.random.default_rng(5)
    table = np.column_stack([rng.normal(size=(4, 4)), [0, 1, 0, 1]])
    inertias = [random_inertia(rng) for _ in table]
    made = dq.from_dh(
        table,
        modified=modified,
        joints_in="rows",
        inertias=inertias,
        base=random_placement(rng),
        tool=random_placement(rng),
    )
    return made.with_payload("tool", 0.3, [0.1, 0.2, 0.3], [0.1, 0.1, 0.1])


def _changed(robot: Any, names: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Other values of the parameters, which the robot can have."""
    found = {}
    for name, own in robot.parameters(names).items():
        if name == "gravity":
            new = rng.normal(size=3)
        elif name in ("inertia", "rotational_inertia"):
            width = 10 if name == "inertia" else 6
            new = (own.reshape(-1, width) * rng.uniform(0.5, 2.0, size=(own.size // width, 1))).ravel()
        elif name == "mass":
            new = own * rng.uniform(0.5, 2.0, size=own.size)
        elif name == "joint_poses":
            new = own.reshape(-1, 7) + 0.3 * rng.normal(size=(own.size // 7, 7))
            new[:, :4] /= np.linalg.norm(new[:, :4], axis=1, keepdims=True)
            if robot.base != "fixed":
                new[0] = own[:7]
            new = new.ravel()
        elif name in ("center_of_mass", "dh"):
            new = own + 0.2 * rng.normal(size=own.size)
        else:
            new = rng.uniform(0.1, 1.0, size=own.size)
            for joint in robot.joints:
                springs = name in ("stiffness", "rest") and joint.motion.quaternion is not None
                if not joint.is_mimic and (springs or joint.name == "root_joint"):
                    new[joint.v] = 0.0
        found[name] = new
    return found


def _inputs(robot: Any, entry: Any, rng: np.random.Generator) -> list[np.ndarray]:
    line = np.array([0.0, 0.6, 0.8, 1.0, 0.0, 0.0])
    given = {"point": rng.normal(size=3), "line": line, "plane": np.array([0.0, 0.6, 0.8, 0.3])}
    given["wrench"] = rng.normal(size=6)
    given["goal"] = robot.pose(list(robot.frames)[-1], robot.neutral()).vec8()
    return [
        given[n] if n in given else random_q(robot, rng) if n == "q" else rng.normal(size=robot.nv)
        for n in entry.inputs
    ]


def _compare(robot: Any, names: Any, functions: Any, rng: np.random.Generator) -> None:
    values = _changed(robot, names, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        other = robot.with_parameters(values)
    frames = list(robot.frames)
    for function in functions:
        entry = CATALOG[function]
        options = {o: frames[-1 - k] for k, o in enumerate(o for o in entry.options if o.startswith("frame"))}
        given = _inputs(robot, entry, rng)
        expected = np.ravel(dq.Robot(other.model, native=False).function(function, **options)(*given))
        interpreted: Any = dq.Robot(robot.model, native=False).function(function, parameters=names, **options)
        order = [name for name, _ in interpreted.program.inputs[len(given) :]]
        found = np.ravel(interpreted(*given, *(values[name] for name in order)))
        assert np.abs(found - expected).max(initial=0.0) <= 1e-12 * (1.0 + np.abs(expected).max(initial=0.0)), function


@pytest.mark.parametrize("name", ROBOTS)
def test_programs_with_parameters_equal_rebuilt_robots(name: str) -> None:
    rng = np.random.default_rng(len(name))
    robot = _robot(name)
    sets = (("dh", "inertia", "armature"), ("dh", "mass")) if name.endswith("dh") else (ALL, NATURAL)
    for names in sets:
        _compare(robot, names, FUNCTIONS, rng)


@pytest.mark.long
@pytest.mark.parametrize("kinds", [("universal", "spherical", "prismatic"), ("revolute", "helical", "planar"), ("dh",)])
def test_every_function_takes_parameters(kinds: tuple[str, ...]) -> None:
    rng = np.random.default_rng(1)
    robot = _dh(modified=False) if kinds == ("dh",) else random_robot(8, 3, kinds, mimics=int("helical" in kinds))
    every = [f for f, entry in CATALOG.items() if "parameters" in entry.options]
    assert len(every) > 40
    if kinds == ("dh",):
        every = [f for f in every if f not in ("joint_wrenches", "torque_regressor")]
        _compare(robot, ("dh", "center_of_mass", "friction"), every, rng)
    else:
        _compare(robot, ALL if "universal" in kinds else NATURAL, every, rng)


def test_a_thousand_robots_in_one_call() -> None:
    robot, rng = _dh(modified=True), np.random.default_rng(2)
    names = ["mass", "gravity", "dh"]
    f = robot.function("inverse_dynamics", parameters=names)
    own = robot.parameters(names)
    rows = {n: own[n] * rng.uniform(0.8, 1.2, size=(1000, own[n].size)) for n in own}
    q, v, a = rng.normal(size=(3, 4))
    found = f(q, v, a, *(rows[n] for n in own))
    assert np.array_equal(found, f(q, v, a, *(rows[n] for n in own), threads=2))
    for k in (0, 7, 999):
        other = robot.with_parameters({n: rows[n][k] for n in own})
        assert np.allclose(found[k], other.inverse_dynamics(q, v, a), rtol=0, atol=1e-12 * np.abs(found).max())


def test_pinocchio_agrees_on_changed_robots() -> None:
    """Inertias, poses of joints, armature and gravity set in Pinocchio's model, and given as inputs here."""
    pinocchio = pytest.importorskip("pinocchio")
    robot, rng = dq.load(urdf_file("ur5_robot")).without_friction(), np.random.default_rng(4)
    names = ["mass", "center_of_mass", "rotational_inertia", "gravity", "armature", "joint_poses"]
    values = _changed(robot, names, rng)
    model = pinocchio.buildModelFromUrdf(str(urdf_file("ur5_robot")))
    for i, joint in enumerate(robot.joints):
        k = model.getJointId(joint.name)
        xx, xy, yy, xz, yz, zz = values["rotational_inertia"][6 * i : 6 * i + 6]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        center = values["center_of_mass"][3 * i : 3 * i + 3]
        model.inertias[k] = pinocchio.Inertia(float(values["mass"][i]), center, tensor)
        w, x, y, z, *p = values["joint_poses"][7 * i : 7 * i + 7]
        model.jointPlacements[k] = pinocchio.SE3(pinocchio.Quaternion(w, x, y, z).matrix(), np.array(p))
    model.gravity.linear = values["gravity"]
    model.armature = values["armature"]
    q, v, a = rng.normal(size=(3, 6))
    given = [values[name] for name in names]
    tau = pinocchio.rnea(model, model.createData(), q, v, a)
    assert np.allclose(robot.function("inverse_dynamics", parameters=names)(q, v, a, *given), tau, atol=1e-10)
    mass = pinocchio.crba(model, model.createData(), q)
    assert np.allclose(robot.function("mass_matrix", parameters=names)(q, *given), mass, atol=1e-10)


def test_own_values_give_the_same_robot() -> None:
    for robot in (_dh(modified=False), random_robot(3), dq.robots.arm7()):
        names = [*ALL[:-1], "dh" if robot.name == "dh" else "joint_poses"]
        same = robot.with_parameters(robot.parameters(names))
        for name, own in robot.parameters(names).items():
            assert np.allclose(same.parameters([name])[name], own, atol=1e-14)


def test_wrenches_act_at_frames_that_parameters_move() -> None:
    robot, rng = _dh(modified=False), np.random.default_rng(3)
    values = _changed(robot, ["dh"], rng)
    f = robot.function("inverse_dynamics", parameters=["dh"], wrench_frames=["tool"], wrench_expressed="aligned")
    q, v, a, w = *rng.normal(size=(3, 4)), rng.normal(size=6)
    expected = robot.with_parameters(values).inverse_dynamics(q, v, a, {"tool": w}, expressed="aligned")
    assert np.allclose(f(q, v, a, w, values["dh"]), expected, atol=1e-12)


def test_what_no_robot_has_is_refused() -> None:
    robot = dq.robots.arm7()
    own = robot.parameters(["mass", "rotational_inertia", "joint_poses"])
    f = robot.function("mass_matrix", parameters=list(own))
    q = np.zeros(7)
    mass, tensors, poses = (np.tile(x, (3, 1)) for x in own.values())
    mass[1, 2] = -0.5
    with pytest.raises(dq.Error, match=r"the mass of body '\w+' is -0.5 kg in row 1: masses are 0 or more"):
        f(q, mass, *(own[n] for n in list(own)[1:]))
    tensors[2, 6] = -1.0
    with pytest.raises(dq.Error, match=r"no distribution of mass has the inertia of body '\w+' in row 2"):
        f(q, own["mass"], tensors, own["joint_poses"])
    poses[1, 14] += 0.1
    with pytest.raises(dq.Error, match=r"the pose of joint 'joint3' of 'arm7' has a quaternion of norm .* at row 1"):
        f(q, own["mass"], own["rotational_inertia"], poses)
    with pytest.raises(dq.Error, match="'arm7' has no mass in row 1, so no center of mass"):
        robot.function("center_of_mass", parameters=["mass"])(q, np.array([own["mass"], np.zeros(7)]))
    with pytest.raises(dq.Error, match="pose of joint 'joint3'"):
        robot.with_parameters({"joint_poses": poses[1]})
    with pytest.raises(dq.Error, match="one row of numbers per parameter"):
        robot.with_parameters({"mass": np.abs(mass)})
    with pytest.raises(dq.Error, match="takes a dictionary"):
        robot.with_parameters(own["mass"])
    with pytest.raises(dq.Error, match=r"body '\w+' has a first moment m c but no mass"):
        robot.with_parameters({"inertia": [0.0, 1.0, *[0.0] * 68]})
    with pytest.raises(dq.Error, match="about the frames of the joints"):
        _dh(modified=False).function("joint_wrenches", parameters=["dh"])
    with pytest.raises(dq.Error, match="was changed since"):
        _dh(modified=False).with_base("free").function("inverse_dynamics", parameters=["dh"])
    floating = tree("free base")
    n = floating.nv
    with pytest.raises(dq.Error, match="stiffness of joint 'root_joint' is not 0"):
        floating.with_parameters({"stiffness": np.ones(n)})
    with pytest.raises(dq.Error, match="the base of 'tree_3' has no armature"):
        floating.with_parameters({"armature": np.ones(n)})
    moved = floating.parameters(["joint_poses"])["joint_poses"]
    moved[4] = 1.0
    with pytest.raises(dq.Error, match="leave the pose of 'root_joint' as it is"):
        floating.with_parameters({"joint_poses": moved})
