"""A robot as plain data: what ``dqdyn info`` prints and its JSON holds."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from dqdyn.cli.screen import attributes
from dqdyn.model.description import ROOT_JOINT, WORLD
from dqdyn.model.model import TreeJoint
from dqdyn.robot import Robot


def facts_of(robot: Robot) -> dict[str, Any]:
    """Names, sizes, joints, bodies, links, frames, constraints and warnings; SI units and radians."""
    return {
        **attributes(robot, "name", "base", "nq", "nv", "mass"),
        "source": robot.description.source,
        "gravity": robot.model.gravity,
        "joints": [_joint(robot, joint) for joint in robot.joints],
        "bodies": [{"name": b.name, "mass": b.inertia.mass, "center_of_mass": b.inertia.com} for b in robot.bodies],
        "links": _links(robot),
        "frames": [{**attributes(f, "name", "kind"), "body": _body_name(robot, f.body)} for f in robot.frames.values()],
        "constraints": [
            {"name": c.name, "kind": type(c).__name__, "rows": c.rows(robot.model)} for c in robot.constraints
        ],
        "warnings": robot.warnings,
    }


def _joint(robot: Robot, joint: TreeJoint) -> dict[str, Any]:
    motion, master = joint.motion, joint.master
    turning = motion.angular if motion.nq == motion.nv else (True, True, True, False, False, False)[: motion.nv]
    return {
        **attributes(joint, "name", "kind"),
        "parent": _body_name(robot, joint.parent),
        "child": robot.bodies[joint.index].name,
        "axes": [getattr(motion, name) for name in ("axis", "second_axis") if hasattr(motion, name)],
        "pitch": getattr(motion, "pitch", None),
        "q": [joint.q.start, joint.q.stop],
        "v": [joint.v.start, joint.v.stop],
        "angular": turning,  # per axis: rad and N m rather than m and N
        **attributes(
            joint, "lower", "upper", "velocity", "effort", "damping", "friction", "armature", "stiffness", "rest"
        ),
        "motors": [m and attributes(m, "effort", "velocity", "gear", "name") for m in joint.motors],  # per axis
        "mimic": master and {"joint": robot.joints[master.joint].name, **attributes(master, "ratio", "offset")},
    }


def _body_name(robot: Robot, body: int) -> str:
    return WORLD if body < 0 else robot.bodies[body].name


def _links(robot: Robot) -> list[dict[str, Any]]:
    """Every link with its parent, depth-first in the order of the description; fixed joints too."""
    description = robot.description
    masses = {link.name: link.inertia.mass for link in description.links}
    children = defaultdict(list)
    for joint in description.joints:
        children[joint.parent].append(joint)

    def entry(name: str, parent: str | None, joint: Any) -> dict[str, Any]:
        link = {"name": name, "parent": parent, "mass": masses[name]}
        return link | {"joint": joint and joint.name, "kind": joint and joint.kind}

    moved = {joint.child for joint in description.joints}
    root = next(name for name in masses if name not in moved)
    base = next((joint for joint in robot.joints if joint.name == ROOT_JOINT and robot.base != "fixed"), None)
    result, pending = [entry(root, WORLD if base else None, base)], children[root][::-1]
    while pending:
        joint = pending.pop()
        result.append(entry(joint.child, joint.parent, joint))
        pending += children[joint.child][::-1]
    return result
