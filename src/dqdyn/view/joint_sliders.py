"""A slider per degree of freedom, within its limits; balls and free bases turn by a rotation vector."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from dqdyn.errors import StateError, one_line
from dqdyn.model.model import TreeJoint
from dqdyn.robot import Robot
from dqdyn.view.sweep import reach_of, resting


class JointSliders:
    """Sliders hold the coordinates; ``moved(q, i)`` is called with the index into v of the one that moved."""

    def __init__(self, server: Any, robot: Robot, q: np.ndarray, moved: Callable[[np.ndarray, int], None]) -> None:
        self.robot, self.moved = robot, moved
        self.q = q
        self.handles: list[tuple[int, Any]] = []
        self._lock = threading.RLock()
        self.joints = [joint for joint in robot.joints if not joint.is_mimic]
        self.labels = [pair for joint in self.joints for pair in _labels(joint)]
        low, high = (reach + self._values(resting(robot)) for reach in reach_of(robot))
        values = self._values(self.q)
        with server.gui.add_folder(one_line(f"{robot.name}: joints")):
            for i, (name, unit) in enumerate(self.labels):
                step = 1e-3 if unit == "rad" else 1e-4
                # Whole steps within the limits; a configuration beyond them widens the range.
                least = min(math.ceil(low[i] / step - 1e-6), math.floor(values[i] / step + 1e-6)) * step
                most = max(math.floor(high[i] / step + 1e-6), math.ceil(values[i] / step - 1e-6)) * step
                if most - least < step:
                    continue
                value = min(max(round(values[i] / step) * step, least), most)
                label = one_line(f"{name} ({unit})")
                handle = server.gui.add_slider(label, round(least, 6), round(most, 6), step, round(value, 6))
                handle.on_update(lambda _, i=i, handle=handle: self._changed(i, handle))
                self.handles.append((i, handle))
            reset = server.gui.add_button("reset")
            reset.on_click(lambda _: self.show(resting(robot)))

    def show(self, q: np.ndarray) -> None:
        """Move to q, the sliders too."""
        if q.shape != (self.robot.nq,):
            raise StateError(f"q has {self.robot.nq} components; found shape {q.shape}.", argument="q")
        values = self._values(q)
        with self._lock:
            self.q = q
            for i, handle in self.handles:
                handle.value = float(np.clip(values[i], handle.min, handle.max))
            self.moved(q, 0)

    def _changed(self, i: int, handle: Any) -> None:
        # Callbacks run in threads: the value is read inside of the lock, so that the last one to move wins.
        with self._lock:
            values = self._values(self.q)
            if abs(handle.value - np.clip(values[i], handle.min, handle.max)) < 1e-9:  # an echo of show()
                return
            values[i] = float(handle.value)
            self.q = self._configuration(values)
            self.moved(self.q, i)

    def _values(self, q: np.ndarray) -> np.ndarray:
        """What sliders show: coordinates themselves, and for quaternions the rotation vector."""
        values = np.zeros(self.robot.nv)
        for joint in self.joints:
            values[joint.v] = joint.motion.chart(q[joint.q].tolist())
        return values

    def _configuration(self, values: np.ndarray) -> np.ndarray:
        q = np.array(self.q)
        for joint in self.joints:
            q[joint.q] = joint.motion.from_chart(values[joint.v].tolist())
        return q


def _labels(joint: TreeJoint) -> list[tuple[str, str]]:
    """(name, unit) per velocity coordinate."""
    between = "." if joint.motion.nq == joint.motion.nv else " "
    return [(f"{joint.name}{between if label else ''}{label}", unit) for label, unit in joint.motion.chart_columns()]
