"""Controllers as new users write them: with other arguments, and too stiff for the step."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import dqdyn as dq

ARM = dq.robots.arm6()


class Holder:
    """A controller as an object."""

    def step(self, q: Any, v: Any) -> Any:
        return -q - v


def test_other_arguments_are_refused_before_the_run() -> None:
    sentence = (
        r"a controller is called with the time t, q and v, but .* takes other arguments: write it as a function of"
    )
    for wrong in (lambda q, v: -q - v, lambda: np.zeros(6), Holder(), lambda q, v, a, b: q):
        with pytest.raises(dq.Error, match=sentence):
            dq.simulate(ARM, wrong, 0.01, 1e-3)


def test_other_ways_to_take_three_arguments_are_taken() -> None:
    def law(gain: float, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -gain * q - v

    for right in (lambda *state: -state[1], lambda t, q, v, more=1.0: -q * more, functools.partial(law, 2.0)):
        assert dq.simulate(ARM, right, 0.01, 1e-3).finished


def test_a_stiff_function_with_the_implicit_integrator_is_told_to_be_a_law() -> None:
    """The integrator knows laws alone; a function is asked once per step whatever the integrator."""
    with pytest.warns(UserWarning, match="diverged"):
        run = dq.simulate(ARM, lambda t, q, v: -1e6 * (q - 0.1) - 1e4 * v, 0.05, 1e-3, integrator="implicit")
    assert "make it a dq.simulate.ControlLaw, which integrator='implicit' solves for" in run.status
