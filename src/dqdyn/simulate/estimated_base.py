"""A controller without the truth: in a simulation it gets joints, an inertial sensor and contact forces, with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.simulate.base_estimator import BaseEstimator
from dqdyn.simulate.inertial_sensor import inertial_reading
from dqdyn.simulate.observation import Observation
from dqdyn.simulate.problem import number, shown


@dataclass(frozen=True)
class SensorNoise:
    """Standard deviations of a reading; ``gyroscope_bias`` (rad/s) is constant, in the sensor's axes.

    ``angle`` (rad, m) and ``speed`` (rad/s, m/s) of joints, ``gyroscope`` (rad/s), ``accelerometer`` (m/s²).
    """

    angle: float = 0.0
    speed: float = 0.0
    gyroscope: float = 0.0
    accelerometer: float = 0.0
    gyroscope_bias: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for field in ("angle", "speed", "gyroscope", "accelerometer"):
            if number(field, getattr(self, field), "a finite standard deviation") < 0.0:
                raise Error(
                    f"{field} is a standard deviation from 0 on; found {getattr(self, field):g}.", argument=field
                )
        bias = real_array(self.gyroscope_bias, "gyroscope_bias")
        if bias.shape != (3,) or not np.isfinite(bias).all():
            raise Error(f"gyroscope_bias has 3 finite numbers; found {shown(self.gyroscope_bias)}.")


class EstimatedBase:
    """``controller`` with the base that a :class:`BaseEstimator` finds in place of the simulated one.

    Contacts touch while the plant presses their frames by
    ``least_force`` N or more; a plant that tells no forces counts as touching everywhere. The first state is known.
    ``record`` adds "estimation_error" (6,), what the estimated base is off in rad and m, to the controller's.
    """

    level = "torque"

    def __init__(
        self,
        controller: Any,
        estimator: BaseEstimator,
        noise: SensorNoise | None = None,
        *,
        least_force: float = 20.0,
        seed: int = 0,
    ) -> None:
        if not isinstance(estimator, BaseEstimator):
            raise Error(f"the estimator is a BaseEstimator; found {shown(estimator)}.", argument="estimator")
        step = getattr(controller, "step", controller)
        if not callable(step):
            raise Error(f"the controller is a function (t, q, v) -> τ or has a step; found {shown(controller)}.")
        if noise is not None and not isinstance(noise, SensorNoise):
            raise Error(f"noise is a SensorNoise; found {shown(noise)}.", argument="noise")
        self.controller, self.estimator, self.noise, self.seed = controller, estimator, noise or SensorNoise(), seed
        self.least_force = number("least_force", least_force, "a finite force in N")
        self._step = step
        self.reset()

    def reset(self) -> None:
        """Forget the past; the controller too."""
        if callable(getattr(self.controller, "reset", None)):
            self.controller.reset()
        self._random = np.random.default_rng(self.seed)
        self._touching: dict[str, bool] | None = None
        self._last: Array | None = None
        self.error = np.zeros(6)

    def observe(self, observation: Observation) -> None:
        """Which contacts touch."""
        forces = {name: observation.normal_force(c.frame) for name, c in self.estimator.contacts.items()}
        self._touching = {name: force >= self.least_force for name, force in forces.items()}
        if callable(getattr(self.controller, "observe", None)):
            self.controller.observe(observation)

    def step(self, t: float, q: Array, v: Array) -> Any:
        """The command at the estimated state."""
        robot, noise, draw = self.estimator.robot, self.noise, self._random.normal
        if self._last is None:
            self.estimator.reset(q, v)
        else:
            a = (v - self._last) / self.estimator.dt
            gyroscope, force = inertial_reading(robot, self.estimator.imu, q, v, a)
            self.estimator.update(
                q[7:] + noise.angle * draw(size=len(q) - 7),
                v[6:] + noise.speed * draw(size=len(v) - 6),
                gyroscope + noise.gyroscope_bias + noise.gyroscope * draw(size=3),
                force + noise.accelerometer * draw(size=3),
                self._touching,
            )
        self._last = np.array(v)
        found = self.estimator.estimate
        self.error = robot.difference(q, found.q)[:6]
        return self._step(t, found.q.copy(), found.v.copy())

    def record(self) -> dict[str, Any]:
        """What the controller records, and the error of the estimate."""
        inner = getattr(self.controller, "record", None)
        return {**(inner() if callable(inner) else {}), "estimation_error": self.error}
