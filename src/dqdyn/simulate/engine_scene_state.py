"""Bodies of a scene that move, in MuJoCo's data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.quaternion import Quaternion
from dqdyn.arrays import Array
from dqdyn.scenes.body import SceneBody
from dqdyn.scenes.scene import Scene
from dqdyn.simulate.engine_scene import HEAVY, PREFIX


@dataclass
class _Driven:
    """A body that follows a function of time: where it is, and the velocity (6,) with which it came."""

    body: SceneBody
    q: int
    v: int
    here: Array
    velocity: Array | None = None


class SceneState:
    """Starts bodies, moves those that follow a function of time, and tells where all are."""

    def __init__(self, model: Any, data: Any, scene: Scene | None, start: float, dt: float) -> None:
        self.model, self.data, self.dt = model, data, dt
        moving = [body for body in scene or () if body.motion != "fixed"]
        self.names = [body.name for body in moving]
        self.joints = [PREFIX + name for name in self.names]
        self._bodies = [int(model.body(name).id) for name in self.joints]
        self._driven: list[_Driven] = []
        self._hinged: list[tuple[str, SceneBody, int]] = []
        self._free: list[tuple[str, int]] = []
        for body, name in zip(moving, self.joints, strict=True):
            joint = model.joint(name)
            q, v = int(joint.qposadr[0]), int(joint.dofadr[0])
            if body.hinge is not None:
                data.qvel[v] = body.hinge.speed
                self._hinged.append((body.name, body, q))
                continue
            self._free.append((body.name, q))
            x = body.at(start)
            data.qpos[q : q + 7] = (*x.translation, *x.rotation)
            if body.motion == "driven":
                self._driven.append(_Driven(body, q, v, _row(body, start)))
            else:
                data.qvel[v : v + 3] = body.velocity
                data.qvel[v + 3 : v + 6] = x.rotation_matrix.T @ body.angular_velocity

    def drive(self, t: float) -> None:
        """Bodies that follow a function of time get the velocity and the force that bring them where they go in dt.

        The force lets the engine know their acceleration: without it what they carry would lag behind.
        """
        for driven in self._driven:
            here, there = driven.here, _row(driven.body, t + self.dt)
            turn = Quaternion(*here[:4]).conj() * Quaternion(*there[:4])
            sign = -1.0 if turn.w < 0.0 else 1.0
            axis = sign * np.array([turn.x, turn.y, turn.z])
            sine = float(np.linalg.norm(axis))
            rate = 2.0 if sine < 1e-9 else 2.0 * np.arctan2(sine, sign * turn.w) / sine
            after = np.concatenate([there[4:] - here[4:], axis * rate]) / self.dt
            before = after if driven.velocity is None else driven.velocity
            q, v = driven.q, slice(driven.v, driven.v + 6)
            self.data.qpos[q : q + 3], self.data.qpos[q + 3 : q + 7] = here[4:], here[:4]
            self.data.qvel[v] = before
            self.data.qfrc_applied[v] = HEAVY * (after - before) / self.dt
            driven.here, driven.velocity = there, after

    def poses(self) -> dict[str, Array]:
        """[w, x, y, z | px, py, pz] of the bodies that move, in the state that the engine is in."""
        qpos = self.data.qpos
        result = {name: qpos[[q + 3, q + 4, q + 5, q + 6, q, q + 1, q + 2]] for name, q in self._free}
        for name, body, q in self._hinged:
            x = body.at_angle(float(qpos[q]))
            result[name] = np.concatenate([x.rotation, x.translation])
        return result

    def recorded(self) -> dict[str, Array]:
        """The same in the state for which the engine last computed forces."""
        data = self.data
        return {
            name: np.concatenate([data.xquat[i], data.xpos[i]])
            for name, i in zip(self.names, self._bodies, strict=True)
        }


def _row(body: SceneBody, t: float) -> Array:
    x = body.at(t)
    return np.concatenate([x.rotation, x.translation])
