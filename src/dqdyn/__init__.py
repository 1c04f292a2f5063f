"""dqdyn: dynamics and control of robots in dual-quaternion algebra.

>>> import dqdyn as dq
>>> robot = dq.robots.arm7()
>>> robot.pose("tool", robot.neutral()).translation.shape
(3,)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dqdyn import constraints, moved, robots
from dqdyn.algebra.any_pose import as_pose
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import (
    A_D,
    A_P,
    C4,
    C8,
    E_,
    L3,
    Q4,
    Q8,
    T4,
    T8,
    Ad,
    Adjoint,
    Adsharp,
    D,
    G,
    Im,
    P,
    Re,
    conj,
    conj_sharp,
    cross,
    crossmatrix4,
    dec_mult,
    dot,
    exp,
    generalized_jacobian,
    geodesic,
    haminus4,
    haminus8,
    hamiplus4,
    hamiplus8,
    i_,
    inertia_rows,
    inv,
    is_line,
    is_plane,
    is_pure,
    is_pure_quaternion,
    is_quaternion,
    is_real,
    is_real_number,
    is_unit,
    isclose,
    j_,
    k_,
    log,
    norm,
    normalize,
    pinv,
    pow,
    rotation,
    rotation_angle,
    rotation_axis,
    rotation_matrix,
    sclerp,
    screw_exp,
    screw_log,
    screw_pow,
    sharp,
    swap,
    tplus,
    translation,
    vec3,
    vec4,
    vec6,
    vec8,
)
from dqdyn.algebra.matrix import DQMatrix
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.rates import adjoint_rate, pose_rate, pow_rate, twist_of_rate
from dqdyn.algebra.values import Pose, Twist, Wrench
from dqdyn.errors import (
    Error,
    FormatError,
    LoadError,
    MissingExtraError,
    ModelError,
    ModelWarning,
    StateError,
    UnknownNameError,
)
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment
from dqdyn.loading import from_dh, from_screws, load
from dqdyn.model.description import Description, Group, Joint, Link, Mimic, NamedFrame, Posture, Shape, placement
from dqdyn.model.inertia import Inertia
from dqdyn.model.motors import Motor
from dqdyn.robot import Robot

del moved  # old names of modules are known now

if TYPE_CHECKING:
    from dqdyn import contacts, gym, identify, jax, references, scale, scenes, torch
    from dqdyn.scale.sweeping import sweep
    from dqdyn.scenes.scene import Scene
    from dqdyn.simulate.run import simulate
    from dqdyn.simulate.trajectory import Trajectory

__version__ = "0.1.0"

__all__ = [
    "A_D",
    "A_P",
    "C4",
    "C8",
    "DQ",
    "E_",
    "L3",
    "Q4",
    "Q8",
    "T4",
    "T8",
    "Ad",
    "Adjoint",
    "Adsharp",
    "D",
    "DQMatrix",
    "Description",
    "Error",
    "FormatError",
    "G",
    "Group",
    "Im",
    "Inertia",
    "Joint",
    "Line",
    "Link",
    "LoadError",
    "Mimic",
    "MissingExtraError",
    "ModelError",
    "ModelWarning",
    "Motor",
    "NamedFrame",
    "P",
    "Plane",
    "Point",
    "Pose",
    "Posture",
    "Quaternion",
    "Re",
    "Robot",
    "Scene",
    "Segment",
    "Shape",
    "StateError",
    "Trajectory",
    "Twist",
    "UnknownNameError",
    "Wrench",
    "adjoint_rate",
    "as_pose",
    "conj",
    "conj_sharp",
    "constraints",
    "contacts",
    "cross",
    "crossmatrix4",
    "dec_mult",
    "dot",
    "exp",
    "from_dh",
    "from_screws",
    "generalized_jacobian",
    "geodesic",
    "gym",
    "haminus4",
    "haminus8",
    "hamiplus4",
    "hamiplus8",
    "i_",
    "identify",
    "inertia_rows",
    "inv",
    "is_line",
    "is_plane",
    "is_pure",
    "is_pure_quaternion",
    "is_quaternion",
    "is_real",
    "is_real_number",
    "is_unit",
    "isclose",
    "j_",
    "jax",
    "k_",
    "load",
    "log",
    "norm",
    "normalize",
    "pinv",
    "placement",
    "pose_rate",
    "pow",
    "pow_rate",
    "references",
    "robots",
    "rotation",
    "rotation_angle",
    "rotation_axis",
    "rotation_matrix",
    "scale",
    "scenes",
    "sclerp",
    "screw_exp",
    "screw_log",
    "screw_pow",
    "sharp",
    "simulate",
    "swap",
    "sweep",
    "torch",
    "tplus",
    "translation",
    "twist_of_rate",
    "vec3",
    "vec4",
    "vec6",
    "vec8",
]

_LATER = {
    "Scene": "dqdyn.scenes.scene",
    "Trajectory": "dqdyn.simulate.trajectory",
    "contacts": "dqdyn.contacts",
    "gym": "dqdyn.gym",
    "identify": "dqdyn.identify",
    "jax": "dqdyn.jax",
    "references": "dqdyn.references",
    "scale": "dqdyn.scale",
    "scenes": "dqdyn.scenes",
    "simulate": "dqdyn.simulate",
    "sweep": "dqdyn.scale",
    "torch": "dqdyn.torch",
}
"""Names that are imported at first use: loading a robot stays quick."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name])
    return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
