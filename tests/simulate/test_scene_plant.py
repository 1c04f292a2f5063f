"""Scenes in MuJoCo against closed forms: slopes, pendulums, falling balls; contact forces; what is joined."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from robot_data import urdf_file
from simulated import floating_chain

import dqdyn as dq
from dqdyn import scenes
from dqdyn.scenes import SceneBody
from dqdyn.simulate.engine_state import EngineState
from dqdyn.simulate.mujoco_plant import engine_model
from dqdyn.simulate.observation import Observation

G = 9.81
FAR = dq.Pose(translation=(20.0, 0.0, 0.0))  # from the robot, where scenes are tested alone
IDLE = dq.robots.two_link()


def alone(*bodies: SceneBody, duration: float = 0.5, **options: Any) -> dq.Trajectory:
    """A scene in which the robot touches nothing."""
    return dq.simulate(IDLE, None, duration, 1e-3, plant="mujoco", scene=dq.Scene(bodies), **options)


@pytest.mark.parametrize("mu", [0.1, 0.4, 0.56, 0.59, 0.9])
def test_block_slides_above_the_angle_of_friction(mu: float) -> None:
    """s = ½ g (sin α − μ cos α) t² where μ < tan α, which is 0.577 for 30°; else it stays."""
    angle, t = math.pi / 6.0, 0.5
    tilt = FAR * scenes.ground(normal=(math.sin(angle), 0.0, math.cos(angle))).at()
    slope = SceneBody("slope", "plane", pose=tilt, friction=mu)
    block = scenes.box((0.4, 0.4, 0.1), tilt * dq.Pose(translation=(0.0, 0.0, 0.05)), mass=2.0, friction=mu)
    track = alone(slope, block).extra["scene_pose/box"][:, 4:]
    slid = np.linalg.norm(track[-1] - track[0])
    expected = max(0.0, 0.5 * G * (math.sin(angle) - mu * math.cos(angle)) * t**2)
    assert slid == pytest.approx(expected, rel=5e-3, abs=2e-4)


@pytest.mark.parametrize("angle", [0.05, 1.0, 2.5])
def test_period_of_a_pendulum(angle: float) -> None:
    """T = 2π √(I / (m g L)) / agm(1, cos(θ/2)), exact for all amplitudes θ."""
    body = scenes.pendulum(1.0, 2.0, (20.0, 0.0, 3.0), angle=angle, radius=0.1)
    run = alone(body, duration=6.0, method="RK4")
    x = run.extra["scene_pose/pendulum"][:, 4] - 20.0
    i = np.flatnonzero(x[:-1] * x[1:] < 0.0)
    crossings = run.time[i] + 1e-3 * x[i] / (x[i] - x[i + 1])
    a, b = 1.0, math.cos(angle / 2.0)
    for _ in range(20):
        a, b = (a + b) / 2.0, math.sqrt(a * b)
    period = 2.0 * math.pi * math.sqrt((1.0 + 0.4 * 0.1**2) / G) / a
    assert crossings[2] - crossings[0] == pytest.approx(period, rel=1e-5)
    np.testing.assert_allclose(np.hypot(x, run.extra["scene_pose/pendulum"][:, 6] - 3.0), 1.0, atol=1e-12)


def test_ball_falls_and_rests() -> None:
    run = alone(scenes.ground(-20.0), scenes.ball(0.1, (20.0, 0.0, -18.9), mass=0.5), duration=1.5)
    height = run.extra["scene_pose/ball"][:, 6] + 20.0 - 0.1
    assert run.time[np.argmax(height < 0.0)] == pytest.approx(math.sqrt(2.0 / G), abs=2e-3)
    assert abs(height[-1]) < 1e-3


@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.8, 0.95])
def test_ball_bounces(restitution: float) -> None:
    """To e² of the height from which it fell; either body may be the one that bounces."""
    bounce = {"restitution": restitution}
    for on_ball, on_ground in ((bounce, {}), ({}, bounce)):
        bodies = scenes.ground(-20.0, **on_ground), scenes.ball(0.1, (20.0, 0.0, -18.9), mass=0.5, **on_ball)
        run = alone(*bodies, duration=1.0, solref=(0.004, 1.0))
        height = run.extra["scene_pose/ball"][:, 6] + 20.0 - 0.1
        landed = int(np.argmax(height < 0.0))
        assert math.sqrt(height[landed + 20 :].max()) == pytest.approx(restitution, abs=0.03)


def test_thrown_ball() -> None:
    throw = {"velocity": (1.0, 2.0, 3.0), "angular_velocity": (0.0, 0.0, 2.0)}
    turned = dq.Pose(rotation=(0.5, 0.5, 0.5, 0.5), translation=(20.0, 0.0, 0.0))
    pose = alone(scenes.ball(0.1, turned, mass=1.0, **throw), method="RK4").extra["scene_pose/ball"]
    np.testing.assert_allclose(pose[-1, 4:], (20.5, 1.0, 1.5 - 0.125 * G), atol=1e-9)
    turn = dq.Pose(rotation=pose[-1, :4]) * turned.inverse()  # about z of the world, by 2 rad/s
    np.testing.assert_allclose(turn.rotation, (math.cos(0.5), 0, 0, math.sin(0.5)), atol=1e-9)


def test_moving_platform_carries_what_stands_on_it() -> None:
    def way(t: float) -> dq.Pose:
        turn = (math.cos(0.2 * t * t), 0.0, 0.0, math.sin(0.2 * t * t))
        return dq.Pose(rotation=turn, translation=(20.0 + 0.3 * t * t, 0.0, 0.5))

    platform = scenes.box((1.0, 1.0, 0.1), way, name="platform")
    cargo = scenes.box((0.2, 0.2, 0.2), (20.2, 0.1, 0.65), mass=3.0, name="cargo")
    run = alone(platform, cargo, duration=1.0)
    poses = {name: run.extra[f"scene_pose/{name}"] for name in ("platform", "cargo")}
    for i in (0, 500, 1000):
        x = way(run.time[i])
        np.testing.assert_allclose(poses["platform"][i], [*x.rotation, *x.translation], atol=1e-9)
    on = [
        (dq.Pose(rotation=p[:4], translation=p[4:]).inverse() * dq.Point(c[4:])).position
        for p, c in zip(poses["platform"], poses["cargo"], strict=True)
    ]
    np.testing.assert_allclose(on[-1], (0.2, 0.1, 0.15), atol=2e-3)


def test_friction_of_robot_and_scene() -> None:
    """A floating block of the robot slides on the ground: that of the body counts, or the robot's where given."""
    box = dq.Link("block", dq.Inertia(2.0, (0, 0, 0), ((0.02, 0, 0), (0, 0.02, 0), (0, 0, 0.02))))
    box = dq.Link(box.name, box.inertia, (), (dq.Shape("box", (0.2, 0.2, 0.1)),))
    robot = dq.Robot.from_description(dq.Description("sled", (box,)), base="free")
    q0, v0 = [1, 0, 0, 0, 0, 0, 0.05], [0, 0, 0, 1.0, 0, 0]
    for mu, own in ((0.2, None), (0.5, None), (0.2, 0.5), (0.9, 0.1)):
        scene = dq.Scene([scenes.ground(friction=mu)])
        run = dq.simulate(robot, None, 0.1, 1e-3, q0=q0, v0=v0, plant="mujoco", scene=scene, robot_friction=own)
        acting = mu if own is None else own
        assert 1.0 - run.v[-1, 3] == pytest.approx(acting * G * 0.1, rel=0.03)
        force = run.extra["contact_force/block"][50]
        assert force[0] == pytest.approx(-acting * run.extra["normal_force/block"][50], rel=1e-3)
        assert force[2] == pytest.approx(run.extra["normal_force/block"][50], rel=1e-6)
        assert run.about["touched"] == {"block": {"ground": 0.0}}


class Standing:
    """A humanoid held in its posture, that notes what it feels."""

    def __init__(self, robot: dq.Robot, q0: np.ndarray, kp: np.ndarray, kd: np.ndarray) -> None:
        self.robot, self.q0, self.kp, self.kd = robot, q0, kp, kd
        self.seen: list[Observation] = []

    def observe(self, observation: Observation) -> None:
        self.seen.append(observation)

    def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = self.kp * self.robot.difference(q, self.q0) - self.kd * v
        tau[:6] = 0.0
        return tau


def standing_humanoid() -> tuple[dq.Robot, np.ndarray, Standing]:
    robot = dq.robots.humanoid()
    q0 = robot.neutral()
    q0[6] = 0.859  # soles 1 mm deep
    mass = np.diag(robot.mass_matrix(q0))
    kp, kd = 900.0 * mass, 30.0 * mass
    for joint in robot.joints:
        if any(word in joint.name for word in ("hip", "knee", "ankle", "torso")):
            kp[joint.v], kd[joint.v] = 3000.0, 8.0
    return robot, q0, Standing(robot, q0, kp, kd)


@pytest.mark.long
def test_controller_feels_the_ground() -> None:
    robot, q0, controller = standing_humanoid()
    run = dq.simulate(robot, controller, 0.3, 1e-3, q0=q0, plant="mujoco", scene=dq.Scene([scenes.ground()]))
    feet = ("left_foot_link", "right_foot_link")
    assert set(run.about["touched"]) == set(feet)
    total = sum(run.extra[f"contact_force/{foot}"] for foot in feet)
    # Newton's law for the whole: contact forces and weight move the center of mass.
    momentum = np.array([robot.mass * robot.center_of_mass_velocity(q, v) for q, v in zip(run.q, run.v, strict=True)])
    rate = np.diff(momentum, axis=0) / 1e-3
    np.testing.assert_allclose(total[:-1] - [0, 0, G * robot.mass], rate, atol=0.02 * G * robot.mass)
    # Resting, the center of pressure is below the center of mass.
    pressed = np.array([run.extra[f"normal_force/{foot}"][-1] for foot in feet])
    centers = np.array([run.extra[f"contact_center/{foot}"][-1] for foot in feet])
    np.testing.assert_allclose(pressed @ centers[:, :2] / pressed.sum(), robot.center_of_mass(run.q[-1])[:2], atol=5e-3)
    # What is observed at a step is what the engine found for the step before.
    for k in (1, 10, 300):
        seen = controller.seen[k]
        assert seen.time == pytest.approx(k * 1e-3)
        for foot in feet:
            assert seen.normal_force(foot) == pytest.approx(run.extra[f"normal_force/{foot}"][k - 1])
            sole = foot.removesuffix("_link")  # a frame on that link
            assert seen.normal_force(sole) == seen.normal_force(foot)
            np.testing.assert_allclose(seen.force(sole), run.extra[f"contact_force/{foot}"][k - 1])
            assert seen.contacts[foot].partners == ("ground",)
            assert abs(seen.contacts[foot].center[2]) < 5e-3
    assert controller.seen[0].normal_force("left_foot_link") > 0.0
    assert controller.seen[0].normal_force("skull") == 0.0
    assert not controller.seen[0].force("skull").any()
    with pytest.raises(dq.UnknownNameError, match="frame of the robot named 'left_fot'"):
        controller.seen[0].normal_force("left_fot")


def test_errors_in_observe_tell_the_time() -> None:
    class Blind:
        def observe(self, observation: Observation) -> None:
            if observation.time > 0.0045:
                raise KeyError("eyes")

        def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.zeros(2)

    with pytest.raises(KeyError, match="eyes") as caught:
        dq.simulate(IDLE, Blind(), 0.01, 1e-3, plant="mujoco")
    assert caught.value.__notes__ == ["raised by observe of the controller at t = 0.005 s"]


def test_push_on_a_frame_for_some_time() -> None:
    """The impulse of a push that ends arrives: F T of momentum, in free fall."""
    robot = floating_chain(3)
    push = np.zeros((200, 6))
    push[50:100, :3] = (3.0, -2.0, 1.0)
    q0 = robot.neutral()
    frame = robot.description.links[-1].name
    options: dict[str, Any] = {
        "q0": q0,
        "plant": "mujoco",
        "wrenches": {frame: push},
        "expressed": "aligned",
        "method": "RK4",
    }
    run = dq.simulate(robot.with_gravity((0, 0, 0)), None, 0.2, 1e-3, scene=dq.Scene(), **options)
    moved = robot.mass * np.asarray(robot.center_of_mass_velocity(run.q[-1], run.v[-1]))
    np.testing.assert_allclose(moved, np.array([3.0, -2.0, 1.0]) * 0.05, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("make", [dq.robots.humanoid, dq.robots.arm7, dq.robots.holonomic_manipulator, floating_chain])
def test_quick_coordinates_are_those_of_the_layout(make: Any) -> None:
    import mujoco

    robot = make()
    rng = np.random.default_rng(3)
    scene = dq.Scene([scenes.ball(0.1, (9, 9, 9), mass=1.0), scenes.wheel(0.2, (5, 5, 5))])
    model = engine_model(robot, 1e-3, scene=scene)
    layout = dq.model.layouts.mujoco_layout(robot.model, model, ["scene:ball", "scene:wheel"])
    assert (model.nq, model.nv) == (layout.nq + 8, layout.nv + 7)
    state, data = EngineState(mujoco, layout), mujoco.MjData(model)
    for _ in range(5):
        q, v, tau = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        data.qpos[: layout.nq], data.qvel[: layout.nv] = layout.q(q), layout.v(q, v)
        state.apply(data, q, tau)
        for mine, theirs in zip(state.read(data), (q, v), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)
        np.testing.assert_allclose(data.qfrc_applied[: layout.nv], layout.tau(q, tau), atol=1e-12)
        assert not data.qfrc_applied[layout.nv :].any()


@pytest.mark.parametrize("kind", ["welds", "connects"])
def test_hand_joined_to_a_wheel(kind: str) -> None:
    """The engine's equality keeps the hand on the rim while the wheel turns."""
    robot = dq.robots.arm7().without_friction()
    q0 = np.array([0.3, 0.6, -0.2, -1.2, 0.4, 0.8, 0.1])
    hand, axes = robot.pose("tool", q0).translation, robot.pose("tool", q0).rotation_matrix
    wheel = scenes.wheel(0.2, hand + axes @ (0.2, 0.0, 0.05), axis=axes[:, 2], mass=3.0)  # in front of the arm
    options: dict[str, Any] = {"q0": q0, "plant": "mujoco", "scene": dq.Scene([wheel]), "method": "implicit"}
    run = dq.simulate(robot, None, 0.3, 1e-3, **{kind: [("tool", "wheel")]}, **options)
    assert run.about["touched"] == {}
    tools = robot.pose("tool", run.q)
    turned = [dq.Pose(rotation=p[:4], translation=p[4:]) for p in run.extra["scene_pose/wheel"]]
    at = (turned[0].inverse() * robot.pose("tool", q0)).translation
    rim = np.array([(x * dq.Point(at)).position for x in turned])
    assert np.abs(rim[-1] - rim[0]).max() > 0.01  # it moved
    assert np.abs(rim - tools.translation).max() < 2e-3
    if kind == "welds":
        relative = turned[-1].inverse() * robot.pose("tool", run.q[-1])
        start = turned[0].inverse() * robot.pose("tool", q0)
        np.testing.assert_allclose(relative.rotation_matrix, start.rotation_matrix, atol=2e-2)


@pytest.mark.long
def test_both_hands_on_a_wheel() -> None:
    """A closed loop over two hands: one arm lifts its hand, which turns the wheel, and the other hand goes along."""
    robot = dq.robots.humanoid().lock({"root_joint": [1, 0, 0, 0, 0, 0, 1.0]}).with_gravity((0, 0, 0))
    q0 = robot.neutral()
    for side in ("left", "right"):
        q0[robot.model.joint(f"{side}_shoulder_pitch").q] = -0.6
        q0[robot.model.joint(f"{side}_elbow").q] = -0.9
    hands = ("left_hand", "right_hand")
    grips = [robot.pose(hand, q0).translation for hand in hands]
    wheel = scenes.wheel(0.18, (grips[0] + grips[1]) / 2.0 + [0.1, 0.0, 0.0], mass=2.0)
    tau = robot.twist_jacobian("left_hand", q0, expressed="aligned")[3:].T @ (0.0, 0.0, 10.0)
    joined: dict[str, Any] = {"connects": [(hand, "wheel") for hand in hands], "method": "implicitfast"}
    run = dq.simulate(robot, tau, 0.25, 1e-3, q0=q0, plant="mujoco", scene=dq.Scene([wheel]), **joined)
    start, end = (dq.Pose(rotation=p[:4], translation=p[4:]) for p in run.extra["scene_pose/wheel"][[0, -1]])
    turn = end * start.inverse()
    assert np.linalg.norm(turn.rotation[1:]) > 0.03  # half the angle
    for hand, grip in zip(hands, grips, strict=True):
        moved = robot.pose(hand, run.q[-1]).translation
        assert np.linalg.norm(moved - grip) > 5e-3
        np.testing.assert_allclose(moved, (turn * dq.Point(grip)).position, atol=2e-3)


def test_links_touch_each_other_where_asked() -> None:
    ball = (dq.Shape("sphere", (0.1,)),)
    inertia = dq.Inertia(1.0, (0, 0, 0), ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.01)))
    links = (dq.Link("base"), dq.Link("left", inertia, (), ball), dq.Link("right", inertia, (), ball))
    slide = {"axis": (1.0, 0.0, 0.0)}
    joints = (
        dq.Joint("a", "prismatic", "base", "left", **slide),
        dq.Joint("b", "prismatic", "base", "right", origin=dq.placement((0.5, 0.0, 0.0)), **slide),
    )
    robot = dq.Robot.from_description(dq.Description("sliders", links, joints))
    start = {"v0": [1.0, -1.0], "plant": "mujoco"}
    free = dq.simulate(robot, None, 0.4, 1e-3, **start)
    np.testing.assert_allclose(free.v[-1], (1.0, -1.0))
    run = dq.simulate(robot, None, 0.4, 1e-3, self_contact=[("left", "right")], **start)
    assert run.about["touched"]["left"]["right"] == pytest.approx(0.15, abs=2e-3)
    assert run.v[-1, 0] <= 0.0 <= run.v[-1, 1]
    assert 0.5 + run.q[-1, 1] - run.q[-1, 0] > 0.18


def talos() -> dq.Robot:
    sole = dq.Shape("box", (0.20, 0.13, 0.02), dq.placement((0.0, 0.0, 0.01)))
    feet = {"left_sole_link": [sole], "right_sole_link": [sole], "leg_left_6_link": [], "leg_right_6_link": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        return dq.load(urdf_file("talos_reduced"), base="free").with_collisions(feet)


@pytest.mark.long
def test_talos_stands_on_boxes() -> None:
    robot = talos()
    q0 = robot.neutral()
    for side in ("left", "right"):
        for number, angle in ((3, -0.411354), (4, 0.859395), (5, -0.448041)):
            q0[robot.model.joint(f"leg_{side}_{number}_joint").q] = angle
    q0[6] -= robot.pose("left_sole_link", q0).translation[2]
    mass = np.diag(robot.mass_matrix(q0))
    kp, kd = 900.0 * mass, 30.0 * mass
    for joint in robot.joints:
        if joint.name.startswith("leg"):
            kp[joint.v], kd[joint.v] = 3000.0, 10.0
        elif joint.name.startswith("torso"):
            kp[joint.v], kd[joint.v] = 6000.0, 60.0
    controller = Standing(robot, q0, kp, kd)
    scene = dq.Scene([scenes.ground(friction=0.7)])
    run = dq.simulate(robot, controller, 0.5, 1e-3, q0=q0, plant="mujoco", scene=scene)
    assert run.status == "finished"
    assert set(run.about["touched"]) == {"left_sole_link", "right_sole_link"}
    assert abs(robot.center_of_mass(run.q[-1]) - robot.center_of_mass(q0)).max() < 0.03
    pressed = sum(run.extra[f"normal_force/{foot}"][-1] for foot in run.about["touched"])
    assert pressed == pytest.approx(robot.mass * G, rel=0.01)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "scene": ({"scene": "ground"}, "scene is a Scene or None"),
    "two grounds": ({"ground": 0.0}, "the scene has a 'ground' already"),
    "cone": ({"cone": "round"}, "options for cone are elliptic, pyramidal"),
    "friction": ({"robot_friction": -1.0}, "robot_friction must not be below 0"),
    "NaN friction": ({"robot_friction": math.nan}, "robot_friction is a finite number"),
    "solref": ({"solref": (1.0,)}, "solref is 2 finite numbers"),
    "short solref": ({"solref": (1e-4, 1.0)}, "shorter than two steps of 0.001 s"),
    "mixed solref": ({"solref": (-1e-4, 1.0)}, "two numbers above 0, or two below"),
    "itself": ({"self_contact": [("link1", "link1")]}, "cannot touch itself"),
    "joint_solimp": ({"joint_solimp": None}, "joint_solimp must be real numbers"),
    "iterations": ({"noslip_iterations": 1.5}, "noslip_iterations is a whole number"),
    "links": ({"self_contact": [("link1", "lnk2")]}, "no link for self_contact named 'lnk2'"),
    "pairs": ({"self_contact": "ab"}, "self_contact is a list of pairs"),
    "weld": ({"welds": [("tool", "gruond")]}, "no body of the scene for welds named 'gruond'"),
    "frame": ({"connects": [("tol", "ground")]}, "no frame of 'two_link' named 'tol'"),
    "option": ({"scenery": 1}, "no option of plant='mujoco' named 'scenery'"),
    "moving plane": (
        {"scene": dq.Scene([SceneBody("lift", "plane", pose=lambda t: (0, 0, t))])},
        "no planes that move",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    options, sentence = REFUSED[case]
    with pytest.raises(dq.Error, match=sentence):
        dq.simulate(IDLE, plant="mujoco", **{"scene": dq.Scene([scenes.ground(-9.0)]), **options})


def test_collisions_are_checked() -> None:
    for shapes, sentence in (
        ({"nolink": []}, "no link named 'nolink'"),
        ({"link1": [dq.Shape("box", (1.0, 0.0, 1.0))]}, "box on link 'link1' has 3 lengths above 0"),
        ({"link1": [3]}, "link 'link1' touches with Shape values"),
        ({"link1": [dq.Shape("cone", (1.0,))]}, "no kind of shape for link 'link1' named 'cone'"),
        (None, "collisions map links"),
    ):
        with pytest.raises(dq.Error, match=sentence):
            IDLE.with_collisions(shapes)
