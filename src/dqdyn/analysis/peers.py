"""Torques of a serial arm by other libraries, from its Denavit-Hartenberg table: where they are installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.arrays import Array

Body = tuple[float, Any, Any]
"""Mass in kg, center of mass (3,) in m and tensor about it (3, 3) in kg m², in the link's frame."""
Torques = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True, eq=False)
class SerialArm:
    """Revolute joints: ``table`` (n, 4) holds θ, d, a, α of each; ``gravity`` (3,) in m/s² is that of frame 0."""

    table: Array
    bodies: Sequence[Body]
    gravity: Array


@dataclass(frozen=True, eq=False)
class Peer:
    """Another library: ``torques`` of states (n, joints), ``call`` for one state (joints,)."""

    name: str
    function: str
    torques: Torques
    call: Torques


def robotics_toolbox(arm: SerialArm) -> Peer:
    """The Robotics Toolbox for Python, whose ``rne`` is compiled; an ImportError where it is not installed."""
    toolbox = imported_toolbox()
    links = [
        toolbox.RevoluteDH(offset=theta, d=d, a=a, alpha=alpha, m=m, r=c, I=np.array(tensor), Jm=0.0, G=1.0, B=0.0)
        for (theta, d, a, alpha), (m, c, tensor) in zip(arm.table.tolist(), arm.bodies, strict=True)
    ]
    robot, gravity = toolbox.DHRobot(links), np.array(arm.gravity)

    def call(q: Array, v: Array, a: Array) -> Array:
        return np.asarray(robot.rne(q, v, a, gravity=gravity))

    def torques(q: Array, v: Array, a: Array) -> Array:
        # Copies: read-only arrays would send the toolbox from its C code to its Python code, a thousand times slower.
        return np.reshape(call(np.array(q), np.array(v), np.array(a)), q.shape)

    return Peer("Robotics Toolbox", "rne", torques, call)


def pinocchio(arm: SerialArm) -> Peer:
    """Pinocchio's ``rnea``, on a model made joint by joint; an ImportError where it is not installed."""
    import pinocchio as pin

    model, parent, before = pin.Model(), 0, pin.SE3.Identity()
    model.gravity.linear = np.array(arm.gravity)
    for k, ((theta, d, a, alpha), (mass, com, tensor)) in enumerate(zip(arm.table.tolist(), arm.bodies, strict=True)):
        parent = model.addJoint(parent, pin.JointModelRZ(), before, f"joint{k + 1}")
        turn = pin.SE3(pin.utils.rotate("z", theta), np.array([0.0, 0.0, d]))
        before = turn * pin.SE3(pin.utils.rotate("x", alpha), np.array([a, 0.0, 0.0]))
        model.appendBodyToJoint(parent, pin.Inertia(mass, np.array(com), np.array(tensor)), before)
    data = model.createData()

    def call(q: Array, v: Array, a: Array) -> Array:
        return np.asarray(pin.rnea(model, data, q, v, a))

    def torques(q: Array, v: Array, a: Array) -> Array:
        # Copies: Pinocchio returns a view into its data.
        return np.array([call(*state).copy() for state in zip(q, v, a, strict=True)])

    return Peer("Pinocchio", "rnea", torques, call)


PEERS = {"roboticstoolbox-python": robotics_toolbox, "pin": pinocchio}
"""By the package to install; the papers compare with the first."""


def installed_peers(arm: SerialArm) -> tuple[list[Peer], list[str]]:
    """Those that are installed, and the packages of the others."""
    found, missing = [], []
    for package, make in PEERS.items():
        try:
            found.append(make(arm))
        except ImportError:
            missing.append(package)
    return found, missing


def toolbox_is_here() -> bool:
    """Whether the Robotics Toolbox for Python can be imported."""
    try:
        imported_toolbox()
    except ImportError:
        return False
    return True


def imported_toolbox() -> Any:
    """The Robotics Toolbox for Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of that package, about its own dependencies
        import roboticstoolbox
    return roboticstoolbox
