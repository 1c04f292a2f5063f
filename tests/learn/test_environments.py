"""Gymnasium environments: its checker, seeds, batches against single ones, own dynamics against MuJoCo, refusals."""

from __future__ import annotations

import re
import runpy
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import random_robot

import dqdyn as dq
from dqdyn.errors import install_command
from dqdyn.gym import Observed, Reach, SwingUp, Task

gymnasium = pytest.importorskip("gymnasium")
NAMES = ("dqdyn/TwoLinkSwingUp-v0", "dqdyn/Arm7Reach-v0")
EXAMPLE = Path(__file__).parents[2] / "examples" / "learning" / "swing_up.py"


def vector(name: str, count: int, **options: Any) -> Any:
    return gymnasium.make_vec(name, num_envs=count, vectorization_mode="vector_entry_point", **options)


@pytest.mark.parametrize("name", NAMES)
def test_the_checker_of_gymnasium_passes(name: str) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name).unwrapped)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_the_same_as_gymnasiums_loop_over_single_ones(name: str) -> None:
    count, options = 11, {"horizon": 12, "substeps": 3}
    ours = vector(name, count, threads=2, **options)
    theirs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(name, **options)] * count)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert np.array_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    rng = np.random.default_rng(0)
    for _ in range(30):  # beyond two horizons
        action = rng.uniform(-1.5, 1.5, ours.action_space.shape)
        for found, expected in zip(ours.step(action)[:4], theirs.step(action)[:4], strict=True):
            assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_components_of_observations_have_units() -> None:
    observed = Reach("tool").observed(dq.robots.arm7())
    assert [(o.name, o.unit) for o in observed[6:8]] == [("q of joint7", "rad"), ("v of joint1", "rad/s")]
    assert [(o.name, o.unit) for o in observed[-1:]] == [("way z", "m")]


def test_seeds() -> None:
    one, two = (vector(NAMES[1], 4) for _ in range(2))
    assert np.array_equal(one.reset(seed=3)[0], two.reset(seed=[3, 4, 5, 6])[0])
    assert not np.array_equal(one.reset()[0], one.reset(seed=3)[0])
    first, again = one.reset(seed=3)[0], two.reset(seed=4)[0]
    assert np.array_equal(first[1:], again[:-1])


@pytest.mark.parametrize("name", NAMES)
def test_own_dynamics_and_mujoco_agree(name: str) -> None:
    pytest.importorskip("mujoco")
    own, engine = (gymnasium.make(name, plant=plant) for plant in ("own", "mujoco"))
    assert np.allclose(own.reset(seed=2)[0], engine.reset(seed=2)[0], atol=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(20):
        action = rng.uniform(-0.3, 0.3, own.action_space.shape)
        found, expected = own.step(action), engine.step(action)
        assert np.allclose(found[0], expected[0], atol=1e-8)
        assert found[1:4] == pytest.approx(expected[1:4], abs=1e-8)


def test_many_robots_in_mujoco_are_single_ones() -> None:
    pytest.importorskip("mujoco")
    many = vector(NAMES[0], 3, plant="mujoco", threads=2)
    singles = [gymnasium.make(NAMES[0], plant="mujoco") for _ in range(3)]
    seen = np.stack([env.reset(seed=7 + k)[0] for k, env in enumerate(singles)])
    assert np.array_equal(many.reset(seed=7)[0], seen)
    action = np.full((3, 2), 0.5)
    assert np.array_equal(many.step(action)[0], np.stack([env.step(action[0])[0] for env in singles]))


class Stand(Task):
    """Of any robot: how fast it moves."""

    def start(self, robot: dq.Robot, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        return robot.random_configuration(rng), 0.1 * rng.normal(size=robot.nv), np.zeros(0)

    def observed(self, robot: dq.Robot) -> Sequence[Observed]:
        return [Observed(f"q[{k}]", "", -100.0, 100.0) for k in range(robot.nq)]

    def observation(self, robot: dq.Robot, q: Any, v: Any, goal: Any) -> list[Any]:
        return list(q)

    def reward(self, robot: dq.Robot, q: Any, v: Any, goal: Any, u: Any) -> Any:
        return -sum(x * x for x in v)

    def efforts(self, robot: dq.Robot) -> Any:
        return np.ones(robot.nv)


@pytest.mark.parametrize("base", ["free", "fixed"])
def test_any_robot_and_its_motors(base: str) -> None:
    robot = random_robot(8, 3, ("revolute", "spherical", "prismatic"), base=base)
    env = dq.gym.make_vec(robot, Stand(), 5, substeps=2)
    motors = sum(motor is not None for motor in robot.model.motors)
    assert env.single_action_space.shape == (motors,)
    seen, _ = env.reset(seed=1)
    state = [x.copy() for x in env.states]
    tau = np.zeros((5, robot.nv))
    tau[:, env.setting.driven] = 0.5
    after, reward, *_ = env.step(np.full((5, motors), 0.5))
    run = dq.simulate(robot, tau, 0.004, 0.002, q0=state[0], v0=state[1], integrator="semi-implicit-euler")
    assert np.allclose(after, run.q[-1], atol=1e-12)
    assert np.allclose(reward, -(run.v[-1] ** 2).sum(axis=-1))
    assert not np.array_equal(seen, after)


def test_diverged_states_end_their_episode_alone() -> None:
    env = vector(NAMES[0], 3)
    env.reset(seed=0)
    env.unwrapped._plant.put(np.array([1]), np.zeros((1, 2)), np.full((1, 2), 1e200))
    seen, reward, failed, *_ = env.step(np.zeros((3, 2)))
    assert failed.tolist() == [False, True, False]
    assert np.isfinite(seen).all()
    assert np.isfinite(reward).all()
    assert env.observation_space.contains(seen)
    assert not env.step(np.zeros((3, 2)))[2].any()


def test_a_scene_is_felt_and_drawn() -> None:
    pytest.importorskip("mujoco")
    free, bounded = (
        dq.gym.make(dq.robots.two_link(), SwingUp(), plant="mujoco", scene=scene, render_mode="rgb_array")
        for scene in (None, _table())
    )
    for env in (free, bounded):
        env.reset(seed=0, options={"q": [0.0, 0.0], "v": [0.0, 0.0]})
    for _ in range(60):
        ends = [env.step(np.zeros(2))[4]["q"] for env in (free, bounded)]
    assert np.abs(ends[0] - ends[1]).max() > 0.1
    pictures = [env.render() for env in (free, bounded)]
    assert pictures[0].shape == (360, 480, 3)
    assert not np.array_equal(*pictures)


def _table() -> dq.Scene:
    return dq.Scene([dq.scenes.box((4.0, 4.0, 0.2), dq.Pose(translation=(0.0, 0.0, -0.6)), name="table")])


def test_refusals() -> None:
    robot, task = dq.robots.two_link(), SwingUp()
    with pytest.raises(dq.Error, match="takes a task"):
        dq.gym.make(robot, "swing up")  # type: ignore[arg-type]
    with pytest.raises(dq.Error, match="takes a robot"):
        dq.gym.make("two_link", task)  # type: ignore[arg-type]
    with pytest.raises(dq.Error, match="substeps is a whole number"):
        dq.gym.make(robot, task, substeps=0)
    with pytest.raises(dq.Error, match="dt is the duration"):
        dq.gym.make(robot, task, dt=-0.1)
    with pytest.raises(dq.UnknownNameError, match="plant"):
        dq.gym.make(robot, task, plant="bullet")
    with pytest.raises(dq.UnknownNameError, match="render mode"):
        dq.gym.make(robot, task, render_mode="human")
    with pytest.raises(dq.Error, match="take plant='mujoco'"):
        dq.gym.make(robot, task, scene=_table())
    with pytest.raises(dq.StateError, match="num_envs"):
        dq.gym.make_vec(robot, task, 0)
    with pytest.raises(dq.Error, match="takes 7 angles hanging"):
        dq.gym.make(dq.robots.arm7(), task)
    many = dq.gym.make_vec(robot, task, 2)
    many.reset(seed=0)
    with pytest.raises(dq.StateError, match=re.escape("actions have shape (2, 2); found (2,)")):
        many.step(np.zeros(2))
    with pytest.raises(dq.StateError, match="after reset"):
        dq.gym.make_vec(robot, task, 2).step(np.zeros((2, 2)))
    with pytest.raises(dq.StateError, match="options q, v and goal; found 'speed'"):
        dq.gym.make(robot, task).reset(options={"speed": 1.0})
    assert Reach("tool").goal_size == 3


def test_without_gymnasium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("gymnasium", "gym"))):
        dq.gym.make(dq.robots.two_link(), SwingUp())


@pytest.mark.long
def test_the_example_learns() -> None:
    """With a small part of its budget: better than at the start, and the same every time."""
    example = runpy.run_path(str(EXAMPLE))
    weights, curve = example["learn"](12)
    assert np.mean(curve[-3:]) > np.mean(curve[:3]) + 0.03
    assert example["learn"](2)[1] == curve[:2]
    assert 0.0 <= example["swung_up"](weights, count=4) <= 1.0
