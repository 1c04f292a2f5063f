"""Names and units of the components of q, v, a and τ, for tables and plots."""

from __future__ import annotations

from dqdyn.model.model import Model


def columns(model: Model, kind: str) -> list[tuple[str, str]]:
    """(name, unit) of every component: ``kind`` is "q", "v", "a" or "tau". Quaternions have the unit "1"."""
    return [
        (f"{joint.name}.{label}" if label else joint.name, unit)
        for joint in model.joints
        if joint.master is None
        for label, unit in joint.motion.columns(kind)
    ]
