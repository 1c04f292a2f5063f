"""The methods of :class:`dqdyn.Robot` that go by the names of joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.ros_messages import Message
from dqdyn.arrays import Array, Reals
from dqdyn.robot.base import RobotBase
from dqdyn.robot.joint_state import JointState, JointStateLike, Others, from_joint_state, to_joint_state
from dqdyn.robot.named_states import JointValue, Row, by_name, from_names, own_joints
from dqdyn.robot.state import as_state


class NamedMethods(RobotBase):
    """Configurations and velocities by name, and ROS's joint states."""

    __slots__ = ()

    def neutral(self) -> Array:
        """q at which every joint is at its origin, shape (nq,)."""
        return np.array([c for joint in own_joints(self.model) for c in joint.motion.neutral()], dtype=float)

    def q(self, values: Row | None = None, /, *, q0: Reals | None = None, **joints: JointValue) -> Array:
        """q (..., nq) by the names of joints: ``robot.q(shoulder=0.3)``, ``robot.q({"shoulder": 0.3})``.

        ``values`` is a dictionary, or a row or table of pandas, also one of ``Trajectory.to_pandas``. Joints that are
        not named stay as in q0 (default: neutral). A joint with several coordinates takes all of them, or each by its
        own name, as "root_joint.px"; a free joint also takes a pose. Arrays give batches.
        """
        start = self.neutral() if q0 is None else as_state(self.model, "q", q0)
        return as_state(self.model, "q", from_names(self.model, "q", values, joints, start))

    def v(self, values: Row | None = None, /, **joints: JointValue) -> Array:
        """v (..., nv) by the names of joints, as :meth:`q`; those that are not named are at rest."""
        return as_state(self.model, "v", from_names(self.model, "v", values, joints, np.zeros(self.model.nv)))

    def q_by_name(self, q: Reals, *, components: bool = False) -> dict[str, Any]:
        """The coordinates of each joint by its name: a number, or an array for a batch or several coordinates.

        ``components=True`` gives every coordinate by its own name, as "root_joint.px". :meth:`q` is the way back.
        """
        return by_name(self.model, "q", as_state(self.model, "q", q), components)

    def v_by_name(self, v: Reals, *, components: bool = False) -> dict[str, Any]:
        """The velocities of each joint by its name, as :meth:`q_by_name`; so too accelerations and forces."""
        return by_name(self.model, "v", as_state(self.model, "v", v), components)

    def to_joint_state(
        self, q: Reals, v: Reals | None = None, tau: Reals | None = None, *, t: float | None = None, mimic: bool = False
    ) -> Message:
        """One state as a dictionary with the fields of ROS's ``sensor_msgs/JointState``, with a stamp where t is given.

        The message holds the joints that have one coordinate: not the base, nor spherical or planar joints. With
        ``mimic=True`` it names also those that follow others.
        """
        return to_joint_state(self.model, q, v, tau, t, mimic)

    def from_joint_state(
        self, message: JointStateLike, q0: Reals | None = None, *, others: Others = "refuse", check: bool = True
    ) -> JointState:
        """q, v and τ of ROS's ``JointState``, a dictionary or the message itself; v and τ are None where it has none.

        q0 has the coordinates that it leaves out, which are at rest. Joints that follow others are not read.
        ``others="ignore"`` leaves out joints that the robot does not have.
        """
        return from_joint_state(self.model, message, q0, others, check)
