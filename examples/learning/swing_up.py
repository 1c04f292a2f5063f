"""Learn to swing up the two-link arm: evolution strategies on a thousand environments that are computed as one batch.

    python examples/learning/swing_up.py

The motors are too weak to lift the arm at once, so it has to gather momentum. A small neural network commands them; its
weights follow the estimated gradient of the reward [Salimans et al., Evolution strategies as a scalable alternative to
reinforcement learning, 2017]. Needs NumPy and Gymnasium: pip install 'dqdyn[gym]'. Same seed, same result.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import dqdyn as dq

PAIRS, EACH = 64, 8  # pairs of opposite changes of the weights, and environments in which each is tried
HIDDEN, STEPS, SPEED = 24, 250, 10.0
SIZES = [(6, HIDDEN), (1, HIDDEN), (HIDDEN, 2), (1, 2)]


def policy(weights: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Actions (n, EACH, 2) of n networks, each with the observations of its own environments."""
    ends = np.cumsum([rows * columns for rows, columns in SIZES])
    parts = np.split(weights, ends[:-1], axis=-1)
    inner, shift, outer, last = (p.reshape(-1, *size) for p, size in zip(parts, SIZES, strict=True))
    scaled = seen * np.array([1.0, 1.0, 1.0, 1.0, 1.0 / SPEED, 1.0 / SPEED])
    return np.tanh(np.tanh(scaled @ inner + shift) @ outer + last)


def rewards(envs: object, weights: np.ndarray, seed: int, steps: int = STEPS) -> np.ndarray:
    """Mean reward per step (n, EACH) of n networks."""
    n = len(weights)
    seen, _ = envs.reset(seed=seed)
    total, alive = np.zeros(n * EACH), np.ones(n * EACH, dtype=bool)
    for _ in range(steps):
        action = policy(weights, seen.reshape(n, EACH, -1)).reshape(n * EACH, -1)
        seen, reward, failed, _, _ = envs.step(action)
        total += np.where(alive, reward, 0.0)
        alive &= ~failed
    return (total / steps).reshape(n, EACH)


def learn(generations: int, seed: int = 0, rate: float = 0.05, width: float = 0.1) -> tuple[np.ndarray, list[float]]:
    """The weights, and the mean reward of each generation."""
    rng = np.random.default_rng(seed)
    robot, task = dq.robots.two_link(), dq.gym.SwingUp()
    envs = dq.gym.make_vec(robot, task, 2 * PAIRS * EACH, threads=2, horizon=STEPS + 1)
    center = rng.normal(size=sum(rows * columns for rows, columns in SIZES)) * 0.3
    first, second, curve = np.zeros_like(center), np.zeros_like(center), []
    for generation in range(1, generations + 1):
        change = rng.normal(size=(PAIRS, len(center)))
        found = rewards(envs, center + width * np.concatenate([change, -change]), seed=10_000 * generation).mean(axis=1)
        rank = np.argsort(np.argsort(found)) / (2 * PAIRS - 1) - 0.5  # outliers count no more than the rest
        gradient = (rank[:PAIRS] - rank[PAIRS:]) @ change / PAIRS
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        step = first / (1.0 - 0.9**generation) / (np.sqrt(second / (1.0 - 0.99**generation)) + 1e-8)
        center = center + rate * step
        curve.append(float(found.mean()))
        if generation % 20 == 0:
            print(f"generation {generation:4d}: mean reward {curve[-1]:.3f}, best {found.max():.3f}", flush=True)
    return center, curve


def swung_up(weights: np.ndarray, seed: int = 1, count: int = 64) -> float:
    """The share of unseen starts from which the tip is above 1.8 m, of 2 m, during the whole last second of 8 s."""
    robot = dq.robots.two_link()
    envs = dq.gym.make_vec(robot, dq.gym.SwingUp(), count, horizon=1000)
    seen, _ = envs.reset(seed=seed)
    up = np.ones(count, dtype=bool)
    for k in range(400):
        seen, _, failed, _, _ = envs.step(policy(weights[None], seen[None])[0])
        up &= ~failed
        if k >= 350:
            up &= robot.pose("tool", envs.states[0]).translation[:, 2] > 1.8
    return float(up.mean())


def main(generations: int = 300) -> None:
    start = time.perf_counter()
    weights, curve = learn(generations)
    share = swung_up(weights)
    print(f"mean reward from {curve[0]:.3f} to {curve[-1]:.3f} in {time.perf_counter() - start:.0f} s")
    print(f"{share:.0%} of 64 unseen starts end on top")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
