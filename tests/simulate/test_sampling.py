"""When a run is sampled: at the start, after every so many steps, and at its end, which is that of the duration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dqdyn as dq

Q0 = [0.3, 0.2]


class Still:
    """A controller at velocity level that records the time."""

    level = "velocity"
    now = 0.0

    def step(self, t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        self.now = t
        return [0.1, -0.1]

    def record(self) -> dict[str, float]:
        return {"asked": self.now}


class Brake(Still):
    level = "torque"

    def step(self, t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        self.now = t
        return [-0.1, -0.1]


RUNS: dict[str, dict[str, Any]] = {
    "native": {},
    "batch": {"q0": [Q0, [0.1, 0.0], Q0]},
    "forces per step": {"controller": np.full((100, 2), 0.1)},
    "controller": {"controller": Brake()},
    "batch under a controller": {"controller": lambda t, q, v: -v, "q0": [Q0, [0.1, 0.0], Q0]},
    "velocity level": {"controller": Still()},
    "law": {"controller": dq.simulate.ControlLaw(lambda t, q, v: [-v[0], -v[1]])},
    "variational": {"integrator": "variational"},
    "adaptive": {"integrator": "adaptive"},
    "adaptive under a controller": {"integrator": "adaptive", "controller": Brake()},
    "mujoco": {"plant": "mujoco"},
    "mujoco under a controller": {"plant": "mujoco", "controller": Brake()},
}


@pytest.mark.parametrize("kind", RUNS)
def test_a_run_lasts_as_long_as_it_was_asked_to(kind: str) -> None:
    if "mujoco" in kind:
        pytest.importorskip("mujoco", reason="the plant is MuJoCo")
    options = {"q0": Q0, **RUNS[kind]}
    all_steps = dq.simulate(dq.robots.two_link(), duration=0.1, dt=1e-3, **options)
    assert len(all_steps) == 101
    for every, steps in ((1000, [0, 100]), (100, [0, 100]), (30, [0, 30, 60, 90, 100])):
        run = dq.simulate(dq.robots.two_link(), duration=0.1, dt=1e-3, every=every, **options)
        assert run.status == "finished"
        np.testing.assert_allclose(run.time, 1e-3 * np.array(steps), atol=1e-15)
        for name in ("q", "v", "a", "tau"):
            if kind != "velocity level" or name in ("q", "v"):  # its accelerations are differences of the samples
                expected = getattr(all_steps, name)[steps]
                np.testing.assert_allclose(
                    getattr(run, name), expected, rtol=0, atol=1e-12 if "adaptive" in kind else 0
                )
        for name, values in run.extra.items():
            np.testing.assert_array_equal(values, all_steps.extra[name][steps])


def test_a_step_longer_than_the_rest_ends_after_the_duration() -> None:
    """The last step is whole: 0.1 s in steps of 0.03 s are four."""
    run = dq.simulate(dq.robots.two_link(), None, 0.1, 0.03, q0=Q0, every=3)
    np.testing.assert_allclose(run.time, [0.0, 0.09, 0.12], atol=1e-15)
