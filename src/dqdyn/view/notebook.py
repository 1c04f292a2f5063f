"""Robots and runs in notebooks, as HTML that needs no server, no network and no extension."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from dqdyn.errors import Error
from dqdyn.model.model import WORLD_BODY, TreeJoint
from dqdyn.robot import Robot
from dqdyn.simulate.trajectory import Trajectory
from dqdyn.view.html import html_page
from dqdyn.view.page import escape
from dqdyn.view.sweep import sweep

HEIGHT = 560
"""Of a view in a notebook, in pixels."""
MOST_FACES = 30_000
"""Of a robot in a notebook: every display is stored in the notebook's file."""
_MOST_BYTES = 8_000_000
_MOST_ROWS = 80  # joints in the table


def robot_html(robot: Robot) -> str:
    """What the robot is, its 3-D view with each joint moving in turn, its joints with their limits, and its tree."""
    facts = [f"nq = {robot.nq}", f"nv = {robot.nv}", f"base: {robot.base}", f"{robot.mass:.4g} kg"]
    facts += [f"{len(robot.constraints)} constraints"] if robot.constraints else []
    head = f"<p><b>{escape(robot.name)}</b> · {escape(' · '.join(facts))}</p>"
    return f"<div>{head}{_view(robot)}{_joint_table(robot)}{_tree(robot)}</div>"


def trajectory_html(run: Trajectory) -> str:
    """A player with the curves; of a batch, its first run."""
    head = f"<p>{escape(repr(run)[1:-1])}</p>"
    if not len(run) or (run.batch and not run.batch[0]):
        return head
    one = run.member(0) if run.batch else run
    note = "<p>Shown is the first run; .member(i) gives another.</p>" if run.batch else ""
    try:
        return head + note + _limited(html_page(one, most_faces=MOST_FACES), "write it with .to_html(path)", 780)
    except Error as problem:  # such as a run that ended in values that are not finite
        return f"{head}{note}<p>{escape(problem)}</p>"


def framed(page: str, height: int = HEIGHT) -> str:
    """A whole page inside of another one, which its scripts and styles cannot reach."""
    frame = f'sandbox="allow-scripts" style="width:100%;height:{height}px;border:0;border-radius:6px"'
    return f'<iframe srcdoc="{html.escape(page)}" {frame}></iframe>'


def _limited(page: str, remedy: str, height: int = HEIGHT) -> str:
    if len(page) > _MOST_BYTES:
        return f"<p>The 3-D view has {len(page) / 1e6:.3g} MB, too much for a notebook: {remedy}.</p>"
    return framed(page, height)


def _view(robot: Robot) -> str:
    try:
        return _limited(html_page(sweep(robot), curves=False, most_faces=MOST_FACES), "see dqdyn.view.serve(robot)")
    except Error as problem:
        return f"<p>{escape(problem)}</p>"


def _joint_table(robot: Robot) -> str:
    limits = ("lower (rad, m)", "upper (rad, m)", "velocity (rad/s, m/s)", "effort (N m, N)")
    names = ("joint", "kind", "moves", "q", "v", *limits)
    rows = [_joint_row(robot, joint) for joint in robot.joints[:_MOST_ROWS]]
    more = len(robot.joints) - len(rows)
    rest = f"<p>… and {more} more joints</p>" if more > 0 else ""
    return _table(names, rows) + rest


def _joint_row(robot: Robot, joint: TreeJoint) -> list[str]:
    own = [robot.bodies[joint.index].name]
    if joint.master is not None:
        return [joint.name, joint.kind, *own, f"follows {robot.joints[joint.master.joint].name}", *[""] * 5]
    limits = (_numbers(getattr(joint, name)) for name in ("lower", "upper", "velocity", "effort"))
    return [joint.name, joint.kind, *own, _places(joint.q), _places(joint.v), *limits]


def _places(part: slice) -> str:
    count = part.stop - part.start
    return str(part.start) if count == 1 else f"{part.start}:{part.stop}" if count else "–"


def _numbers(values: Sequence[float]) -> str:
    """Up to four digits each; "–" where there is no limit."""
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).any():
        return "–"
    return ", ".join(f"{x:.4g}".replace("-", "−") if np.isfinite(x) else "–" for x in array.tolist())


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _tree(robot: Robot) -> str:
    """Bodies below the bodies that carry them, each with its mass; to be unfolded."""
    lines = ["world"]
    children: dict[int, list[TreeJoint]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint)
    pending = [(joint, 1) for joint in reversed(children.get(WORLD_BODY, []))]
    while pending:
        joint, depth = pending.pop()
        body = robot.bodies[joint.index]
        lines.append(f"{'   ' * depth}└ {body.name} ({body.inertia.mass:.4g} kg), by {joint.name} ({joint.kind})")
        pending += [(child, depth + 1) for child in reversed(children.get(joint.index, []))]
    text = "\n".join(map(_indented, lines))
    bodies = "1 body" if len(robot.bodies) == 1 else f"{len(robot.bodies)} bodies"
    return f"<details><summary>tree of {bodies}</summary><pre>{text}</pre></details>"


def _indented(line: str) -> str:
    """Escaped without losing the spaces at its start."""
    rest = line.lstrip(" ")
    return " " * (len(line) - len(rest)) + escape(rest)
