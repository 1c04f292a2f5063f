"""Coordinates by name, for joints of both kinds that have them."""

from __future__ import annotations

from dqdyn.coordinates.dual_quaternion import UnitDualQuaternion
from dqdyn.coordinates.euler import SEQUENCES, Euler
from dqdyn.coordinates.joint_coordinates import JointCoordinates, PoseCoordinates, RotationCoordinates
from dqdyn.coordinates.parameterisation import Parameterisation
from dqdyn.coordinates.rotation_matrix import RotationMatrix
from dqdyn.coordinates.unit_quaternion import UnitQuaternion
from dqdyn.errors import Error, unknown_name
from dqdyn.model.model import TreeJoint

ROTATIONS: dict[str, Parameterisation] = {
    **{f"euler-{sequence}": Euler(sequence) for sequence in SEQUENCES},
    "quaternion": UnitQuaternion(),
    "rotation-matrix": RotationMatrix(),
}
NAMES = (*ROTATIONS, "dual-quaternion")
"""All names that :func:`coordinates_of` knows."""
CoordinateChoice = str | Parameterisation | UnitDualQuaternion
"""Coordinates by name, or parameters of your own."""


def coordinates_of(joint: TreeJoint, choice: CoordinateChoice) -> JointCoordinates:
    """The coordinates of a free or spherical joint by name, or by a parameterisation of rotations of your own."""
    if joint.motion.group is None:
        only = "only free and spherical joints have coordinates to choose"
        raise Error(f"joint {joint.name!r} is {joint.kind}, whose velocity is q̇ already: {only}.", joint=joint.name)
    if choice == "dual-quaternion" or isinstance(choice, UnitDualQuaternion):
        if joint.motion.group == "rotation":
            remedy = "a dual quaternion is a pose: use 'quaternion' for it"
            raise Error(f"joint {joint.name!r} is spherical, and {remedy}.", joint=joint.name)
        return UnitDualQuaternion()
    if isinstance(choice, str):
        if choice not in ROTATIONS:
            raise unknown_name("choice of coordinates", choice, NAMES)
        choice = ROTATIONS[choice]
    if not isinstance(choice, Parameterisation):
        expected = "coordinates are a name such as 'quaternion' or a Parameterisation"
        raise Error(f"{expected}; found {type(choice).__name__}.", found=choice)
    return PoseCoordinates(choice) if joint.motion.group == "pose" else RotationCoordinates(choice)
