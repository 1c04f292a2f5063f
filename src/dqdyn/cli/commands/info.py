"""``dqdyn info``: a robot at a glance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from rich.console import RenderableType
from rich.tree import Tree

from dqdyn.cli.command import Answer, command
from dqdyn.cli.facts import facts_of
from dqdyn.cli.options import option
from dqdyn.cli.screen import TextTable, count, escape, indented, number, table
from dqdyn.model.description import WORLD
from dqdyn.robot import Robot

Facts = dict[str, Any]


@command("Explore", warns=False)
def info(robot: Robot, depth: Annotated[int, option("Levels of the tree to draw.", min=1)] = 20) -> Iterator[Answer]:
    """Show a robot: its tree, joints, masses, frames and warnings.

    [dim]Examples:[/]

    \b
      dqdyn info arm7
      dqdyn info chain:50 --depth 5
      dqdyn info robot.urdf --base free
      dqdyn info robot.urdf --json
    """
    facts = facts_of(robot)
    yield facts, draw(facts, depth)


def draw(facts: Facts, depth: int) -> Iterator[RenderableType]:
    """The parts of the page, top down."""
    yield headline(facts)
    yield indented(tree(facts, depth))
    if facts["joints"]:
        yield indented(joints_table(facts["joints"]))
    if facts["bodies"]:
        yield indented(bodies_table(facts))
    yield indented(frames_line(facts["frames"]))
    if facts["constraints"]:
        yield indented(constraints_line(facts["constraints"]))
    for text in facts["warnings"]:
        yield f"[yellow]warning:[/] {escape(text)}"


def headline(facts: Facts) -> str:
    """Name, sizes and mass, and where it comes from."""
    sizes = f"nq = {facts['nq']}, nv = {facts['nv']}, {facts['base']} base, {number(facts['mass'])} kg moving"
    source = f"\n[dim]{escape(facts['source'])}[/]" if facts["source"] else ""
    return f"[bold]{escape(facts['name'])}[/]: {sizes}{source}\n"


def tree(facts: Facts, depth: int) -> Tree:
    """Links as a tree, each with the joint that moves it; cut below ``depth`` levels."""
    axes = {joint["name"]: _axes(joint) for joint in facts["joints"]}
    first, *rest = links = facts["links"]
    below = _descendants(links)
    on_world = first["parent"] == WORLD
    top = Tree("[dim]world[/]" if on_world else _link_label(first))
    nodes = {WORLD if on_world else first["name"]: (top, 1)}
    for link in links if on_world else rest:
        on, level = nodes.get(link["parent"], (None, 0))
        if on is not None and level < depth:
            nodes[link["name"]] = (on.add(f"{_joint_label(link, axes)} {_link_label(link)}"), level + 1)
        elif on is not None:
            on.add(f"[dim]… {count(below[link['name']] + 1, 'link')} more; see --depth[/]")
    return top


def _descendants(links: Sequence[Facts]) -> dict[str, int]:
    """How many links hang below each."""
    result = {link["name"]: 0 for link in links}
    for link in reversed(links):  # children follow their parents
        if link["parent"] in result:
            result[link["parent"]] += result[link["name"]] + 1
    return result


def _link_label(link: Facts) -> str:
    mass = f"  [dim]{number(link['mass'])} kg[/]" if link["mass"] else ""
    return f"[bold]{escape(link['name'])}[/]{mass}"


def _joint_label(link: Facts, axes: dict[str, str]) -> str:
    name = escape(link["joint"])
    if link["kind"] == "fixed":
        return f"[dim]{name} fixed →[/]"
    axis = axes.get(link["joint"], "")
    return f"[cyan]{name}[/] {link['kind']}{' ' + axis if axis else ''} [dim]→[/]"


def joints_table(joints: Sequence[Facts]) -> TextTable:
    """One line per joint; limits and coefficients with their units."""
    columns = ("joint", "kind", "axis", "q", "v", "limits", "speed ≤", "effort ≤", "motor", "damping", "mimics")
    limits, damping = (("velocity", "rad/s", "m/s"), ("effort", "N m", "N")), ("damping", "N m s/rad", "N s/m")
    rows = []
    for joint in joints:
        motion = joint["name"], joint["kind"], _axes(joint), _span(joint["q"]), _span(joint["v"]), _limits(joint)
        driven = (*(_per_axis(joint, *unit) for unit in limits), _motors(joint["motors"]))
        rows.append((*motion, *driven, _per_axis(joint, *damping), _mimic(joint["mimic"])))
    return table(f"{count(len(rows), 'joint')}", columns, rows, right=("q", "v"))


def _motors(motors: Sequence[Facts | None]) -> str:
    """Which axes have motors, and behind which gears."""
    driven = [motor for motor in motors if motor]
    gears = {f"gear {number(motor['gear'])}" for motor in driven if motor["gear"] != 1.0}
    some = "none" if not driven else "yes" if len(driven) == len(motors) else f"{len(driven)} of {len(motors)}"
    return ", ".join([some, *sorted(gears)]) if motors else ""


def _axes(joint: Facts) -> str:
    pitch = [] if joint["pitch"] is None else [f"{number(joint['pitch'])} m/rad"]
    return ", ".join([*map(_axis, joint["axes"]), *pitch])


def _axis(axis: Sequence[float]) -> str:
    """A letter where it is one of the coordinate axes."""
    for name, value in zip("xyz", axis, strict=True):
        if abs(value) == 1.0 == sum(map(abs, axis)):
            return name if value > 0.0 else f"-{name}"
    return "(" + ", ".join(f"{c:.3g}" for c in axis) + ")"


def _span(part: Sequence[int]) -> str:
    start, stop = part
    return str(start) if stop == start + 1 else f"{start}…{stop - 1}"


def _limits(joint: Facts) -> str:
    # A quaternion has no limits per component.
    if len(joint["lower"]) != len(joint["angular"]):
        return ""
    shown = []
    for low, high, angular in zip(joint["lower"], joint["upper"], joint["angular"], strict=True):
        if math.isinf(low) and math.isinf(high):
            shown.append("none")
        else:
            shown.append(f"{number(low)} … {number(high)} {'rad' if angular else 'm'}")
    return "" if set(shown) == {"none"} and len(shown) > 1 else ", ".join(shown)


def _per_axis(joint: Facts, name: str, turning: str, sliding: str) -> str:
    """Values with units, one where all axes share it; nothing for none."""
    values = zip(joint[name], joint["angular"], strict=True)
    shown = [f"{number(x)} {turning if angular else sliding}" for x, angular in values if x and not math.isinf(x)]
    return ", ".join(dict.fromkeys(shown))


def _mimic(mimic: Facts | None) -> str:
    if mimic is None:
        return ""
    offset = mimic["offset"]
    shift = f" {'+' if offset > 0 else '-'} {number(abs(offset))}" if offset else ""
    return f"{number(mimic['ratio'])} · {mimic['joint']}{shift}"


def bodies_table(facts: Facts) -> TextTable:
    """Masses and centers of mass of what moves, in the frame of each body's joint."""
    rows = []
    for body in facts["bodies"]:
        center = ", ".join(map(number, body["center_of_mass"]))
        rows.append((body["name"], f"{number(body['mass'])} kg", f"({center}) m"))
    title = f"{count(len(rows), 'moving body')}, {number(facts['mass'])} kg"
    return table(title, ("body", "mass", "center of mass"), rows, right=("mass",))


def constraints_line(constraints: Sequence[Facts]) -> str:
    """What binds the robot beside its joints."""
    each = [f"[bold]{escape(c['name'])}[/] ({c['kind']}, {count(c['rows'], 'row')})" for c in constraints]
    return f"[bold]{count(len(each), 'constraint')}[/]: {', '.join(each)}"


def frames_line(frames: Sequence[Facts]) -> str:
    """How many frames there are, and those that are neither link nor joint by name."""
    kinds = [frame["kind"] for frame in frames]
    named = [f"[bold]{escape(f['name'])}[/] on {escape(f['body'])}" for f in frames if f["kind"] == "user"]
    own = f"; {', '.join(named)}" if named else ""
    links, joints = count(kinds.count("link"), "link"), count(kinds.count("joint"), "joint")
    return f"[bold]{count(len(frames), 'frame')}[/]: world, {links}, {joints}{own}"
