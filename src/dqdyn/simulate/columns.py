"""Names and units of the components of q, v, a and τ, for tables and plots."""

from __future__ import annotations

from dqdyn.model.model import Model, TreeJoint

_UNITS = {"q": ("rad", "m"), "v": ("rad/s", "m/s"), "a": ("rad/s²", "m/s²"), "tau": ("N m", "N")}
_PARTS = {
    "cylindrical": ("turn", "slide"),
    "universal": ("first", "second"),
    "planar": ("x", "y", "phi"),
}
_CONFIGURATION = {"spherical": ("w", "x", "y", "z"), "free": ("rw", "rx", "ry", "rz", "px", "py", "pz")}
_VELOCITY = {"spherical": ("x", "y", "z"), "free": ("wx", "wy", "wz", "vx", "vy", "vz")}
_TURNING = {"spherical": (True,) * 3, "free": (True,) * 3 + (False,) * 3}


def columns(model: Model, kind: str) -> list[tuple[str, str]]:
    """(name, unit) of every component: ``kind`` is "q", "v", "a" or "tau". Quaternions have the unit "1"."""
    return [pair for joint in model.joints if joint.master is None for pair in _of_joint(joint, kind)]


def _of_joint(joint: TreeJoint, kind: str) -> list[tuple[str, str]]:
    turn, slide = _UNITS[kind]
    if kind == "q" and joint.kind in _CONFIGURATION:
        parts = _CONFIGURATION[joint.kind]
        units = ["1" if i < 4 else slide for i in range(len(parts))]
    else:
        angular = _TURNING.get(joint.kind, joint.motion.angular)
        parts = _VELOCITY.get(joint.kind) or _PARTS.get(joint.kind, ("",))
        units = [turn if a else slide for a in angular]
    return [(f"{joint.name}.{part}" if part else joint.name, unit) for part, unit in zip(parts, units, strict=True)]
