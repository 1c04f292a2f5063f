"""The strategy on MuJoCo: torques of a whole-body controller follow the motion of the kinematic law.

The law says how the robot moves, not what carries it. On the engine contacts are real: the ground, and the table or
the wall, push as far as their friction lets them. The whole-body controller has both feet as contacts, and the palm as
soon as the law counts it as support; while the law lets it slide, it is a contact that slides. Its tasks follow the
joints, the center of mass and the palms of the law's motion, smoothed, since the law's velocities jump.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments.multi_contact.runs import Attempt
from dqdyn.analysis.experiments.multi_contact.setting import HAND, OTHER_HAND, Setting
from dqdyn.analysis.experiments.multi_contact.strategy import CONTACT, MAXIMISE, ON_HAND, SLIDE, palm_contact
from dqdyn.analysis.standing.setting import BORDER
from dqdyn.arrays import Array
from dqdyn.contacts import Contact, point
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.simulate import simulate

DT = 4e-3  # s, of the controller
SMOOTH = 10.0  # rad/s of the critically damped filter that the law's motion passes
PRESS = 3e-3  # m below the surface to which the palm is led before it counts as support
TOUCH = 0.5  # s that it is given for that
AFTER = 2.0  # s that the robot keeps its last posture for
POSTURE, CENTER, PALM, FORCES = 1.0, 1e3, 1e3, 1e-5
"""Weights of the tasks, for errors in rad/s², m/s² and N."""
_STILL = 1e-3  # m: a palm that slides less has no direction
FEET, LEANING = "feet", "feet and palm"


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of the kinematic law as targets over time: coordinates, center of mass, right and left palm in a row.

    ``time`` (n,) in s, ``values``, ``rates`` and ``accelerations`` (n, k), smoothed; ``states`` (n,) of the machine.
    """

    time: Array
    values: Array
    rates: Array
    accelerations: Array
    states: list[str]

    @classmethod
    def of(cls, tried: Attempt) -> Motion:
        """Of an attempt, with a pause after its end."""
        setting, run = tried.setting, tried.run
        robot = setting.robot
        palms = [np.asarray(robot.pose(frame, run.q).translation) for frame in (OTHER_HAND, HAND)]
        states = np.array(tried.states)
        # what is to touch is led a little deeper, or it would hover
        palms[1] = palms[1] - PRESS * np.outer(states == CONTACT, setting.surface.normal)
        center = np.array([robot.center_of_mass(q) for q in run.q])
        given = np.hstack([run.q, center, *palms])
        time = np.arange(0.0, run.time[-1] + AFTER, DT)
        wanted = np.column_stack([np.interp(time, run.time, column) for column in given.T])
        places = np.minimum(np.searchsorted(run.time, time), len(states) - 1)
        return cls(time, *_smoothed(wanted), [tried.states[i] for i in places])


def _smoothed(wanted: Array) -> tuple[Array, Array, Array]:
    """What a critically damped filter makes of (n, k) samples every DT: values, rates, accelerations."""
    x, v = wanted[0].copy(), np.zeros(wanted.shape[1])
    found = np.empty((3, *wanted.shape))
    for i, target in enumerate(wanted):
        a = SMOOTH**2 * (target - x) - 2.0 * SMOOTH * v
        found[:, i] = x, v, a
        v = v + DT * a
        x = x + DT * v
    return found[0], found[1], found[2]


class Follower:
    """Torques that follow a motion; after a fall there are none."""

    level = "torque"

    def __init__(self, tried: Attempt) -> None:
        setting = self.setting = tried.setting
        self.motion = Motion.of(tried)
        robot, nq = setting.robot, setting.robot.nq
        first = self.motion.values[0]
        self.parts = {
            "posture": slice(0, nq),
            "center": slice(nq, nq + 3),
            OTHER_HAND: slice(nq + 3, nq + 6),
            HAND: slice(nq + 6, nq + 9),
        }
        self.targets = {name: ct.Measured(first[part]) for name, part in self.parts.items()}
        self.body = _controller(setting, self.targets, _sliding(tried))
        self.lowest = 0.6 * float(setting.q0[6])
        self.fell: float | None = None
        self._now, self._since = FEET, 0.0
        self._zero = np.zeros(robot.nv)

    def step(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv)."""
        if self.fell is not None or q[6] < self.lowest:
            self.fell = t if self.fell is None else self.fell
            return self._zero
        k = min(round(t / DT), len(self.motion.time) - 1)
        rows = (self.motion.values[k], self.motion.rates[k], self.motion.accelerations[k])
        for name, part in self.parts.items():
            self.targets[name].update(*(row[part] for row in rows))
        self._choose(t, self.motion.states[k])
        return self.body(t, q, v)

    def _choose(self, t: float, state: str) -> None:
        """The contacts that the law counts on; a palm that comes has time to touch."""
        if state[0] in "56" or state == self._now:
            self._since = t if state == self._now else self._since
        wanted = state if state in (MAXIMISE, SLIDE) else LEANING if state in ON_HAND else FEET
        if state[0] in "56":
            wanted = LEANING if self._now != FEET else FEET
        if wanted == self._now:
            self._since = t
        elif self._now != FEET or t - self._since >= TOUCH:
            self.body.switch(wanted, 0.3)
            self._now, self._since = wanted, t


def _controller(setting: Setting, targets: dict[str, ct.Measured], sliding: dict[str, Contact]) -> WholeBodyController:
    rate = (45.0, 400.0)  # 1/s and 1/s²: k_d, k_p of all that is followed

    def tasks(with_palm: bool) -> list[ct.Task]:
        left = [ct.TranslationTask(HAND, targets[HAND], gains=rate, weight=PALM)] if with_palm else []
        return [
            ct.PostureTask(targets["posture"], joints="motors", gains=rate, weight=POSTURE),
            ct.CenterOfMassTask(targets["center"], gains=rate, weight=CENTER),
            ct.TranslationTask(OTHER_HAND, targets[OTHER_HAND], gains=rate, weight=PALM),
            *left,
            ct.ForceRegularisation(components=("f_t1", "f_t2", "tau_t1", "tau_t2", "tau_n"), weight=FORCES),
        ]

    feet, limits = setting.standing.supports, [ct.JointLimits(gain=20.0)]
    body = ct.whole_body_controller(setting.robot, tasks(True), limits, contacts=feet, fall_margin=None)
    body.name_first_set(FEET)
    fixed = palm_contact(0.8 * friction(setting), BORDER)
    sets = {LEANING: (*feet, fixed), **{state: (*feet, palm) for state, palm in sliding.items()}}
    own = {name: tasks(name != LEANING) for name in sets}
    body.prepare(sets, own, progress=False)
    return body


def friction(setting: Setting) -> float:
    """μ of what the palm leans on."""
    return float(setting.scene[setting.scene.names[1]].friction)


def _sliding(tried: Attempt) -> dict[str, Contact]:
    """The palm in the states in which the law lets it slide: friction against the way from their begin to their end.

    It is a point, since the law turns the palm about the normal as it slides; what keeps it flat is the posture.
    """
    found, setting, states = {}, tried.setting, np.array(tried.states)
    palms, normal = setting.hand(tried.run), np.asarray(setting.surface.normal)
    for state in (MAXIMISE, SLIDE):
        at = np.flatnonzero(states == state)
        if len(at):
            way = palms[at[-1]] - palms[at[0]]
            along = way - (way @ normal) * normal
            if np.linalg.norm(along) < _STILL:
                along = np.cross(normal, (0.6, 0.64, 0.48))
            along = along / np.linalg.norm(along)
            palm = point(HAND, normal=tuple(normal), friction=friction(setting))
            found[state] = palm.with_mode("sliding", (tuple(along), tuple(np.cross(normal, along))))
    return found


def follow(tried: Attempt, substeps: int, **options: Any) -> tuple[Attempt, Follower]:
    """An attempt of the kinematic law, followed on MuJoCo with ``substeps`` of the engine per command."""
    setting, follower = tried.setting, Follower(tried)
    duration = float(follower.motion.time[-1])
    settings: dict[str, Any] = {"scene": setting.scene, "every": 10, "progress": False, "substeps": substeps} | options
    run = simulate(setting.robot, follower, duration, DT, q0=setting.q0, plant="mujoco", **settings)
    return Attempt(setting, run, tried.log), follower
