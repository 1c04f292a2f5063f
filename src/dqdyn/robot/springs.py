"""Springs of a robot's joints, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dqdyn.errors import ModelError, unknown_name
from dqdyn.model.description import ROOT_JOINT, Description
from dqdyn.model.model import Model

Springs = Mapping[str, Any]
"""By the name of a joint: a stiffness in N m/rad or N/m, (stiffness, rest) with rest in rad or m, or None."""


def with_springs(model: Model, springs: Springs) -> Description:
    """The description with these springs; joints that are not named keep theirs."""
    if not isinstance(springs, Mapping):
        raise ModelError(f"with_springs takes a dictionary from joints to springs; found {springs!r}.", found=springs)
    description = model.description
    named = {joint.name: joint for joint in description.joints if joint.kind != "fixed"}
    for name, given in springs.items():
        if name == ROOT_JOINT and model.base != "fixed":
            raise ModelError(f"the base of {model.name!r} has no spring: use a wrench, or a joint.", joint=name)
        if name not in named:
            raise unknown_name(f"moving joint of {model.name!r}", name, named)
        stiffness, rest = _pair(name, given)
        named[name] = replace(named[name], stiffness=stiffness, rest=rest)
    joints = tuple(named.get(joint.name, joint) for joint in description.joints)
    return description.with_changes(joints=joints)


def _pair(name: str, given: Any) -> tuple[Any, Any]:
    if given is None:
        return 0.0, 0.0
    values = tuple(given) if isinstance(given, (tuple, list)) else (given, 0.0)
    each = [tuple(map(_number, v)) if isinstance(v, (tuple, list)) else _number(v) for v in values]
    if len(each) != 2 or None in each or any(None in v for v in each if isinstance(v, tuple)):
        what = "a stiffness in N m/rad or N/m, (stiffness, rest), each one number or one per axis, or None"
        raise ModelError(f"the spring of joint {name!r} is {what}; found {given!r}.", joint=name, found=given)
    return each[0], each[1]


def _number(value: Any) -> float | None:
    """A real number, else None; the model checks its range."""
    if isinstance(value, (bool, str, bytes, complex)):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
