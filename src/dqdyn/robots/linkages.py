"""Planar linkages with a closed loop, in the plane y = 0, assembled at q = 0."""

from __future__ import annotations

import math
from dataclasses import replace

from dqdyn.errors import ModelError
from dqdyn.model.description import Description, Joint, Link, Loop, NamedFrame, placement
from dqdyn.robots.parts import BLUE, ORANGE, STEEL, Color, block, hinge, link, rod

THICKNESS = 0.01
"""Radius of the bars in m."""
LINEAR_DENSITY = 2.0
"""Mass of the bars in kg/m."""

Point = tuple[float, float]
"""x and z in m."""


def four_bar(crank: float = 0.1, coupler: float = 0.38, rocker: float = 0.25, ground: float = 0.3) -> Description:
    """One degree of freedom from three joints and a closed loop: crank, coupler and rocker on the ground; 1.46 kg.

    Lengths in m; bars are uniform cylinders of 2 kg/m. At q = 0 the crank stands upright and the loop is closed. With
    the lengths of the default the crank turns all the way round. The hinges turn about y; frames "coupler_end" and
    "rocker_end" meet in the loop "pin"; frame "tool" there too. A motor turns the crank alone. No damping, no friction.
    """
    a, b, d = (0.0, 0.0), (0.0, crank), (ground, 0.0)
    c = _meeting("four_bar", b, coupler, d, rocker)
    bars = [("crank", "ground", a, b, STEEL), ("coupler", "crank", b, c, ORANGE), ("rocker", "ground", d, c, BLUE)]
    pin = Loop("pin", "point", ("coupler_end", "rocker_end"))
    return _linkage("four_bar", ground, bars, pin, "coupler", ("crank",))


def five_bar(proximal: float = 0.25, distal: float = 0.35, ground: float = 0.2) -> Description:
    """Two degrees of freedom from four joints and a closed loop: two arms of two bars that hold one point; 2.4 kg.

    Lengths in m; bars are uniform cylinders of 2 kg/m. At q = 0 the proximal bars stand upright and the distal bars
    meet above the middle of the ground in the loop "pin", at the frames "left_distal_end" (also "tool") and
    "right_distal_end". The hinges turn about y; motors turn the two proximal bars. No damping, no friction.
    """
    left, right = (0.0, 0.0), (ground, 0.0)
    left_elbow, right_elbow = (0.0, proximal), (ground, proximal)
    tool = _meeting("five_bar", left_elbow, distal, right_elbow, distal)
    bars = [
        ("left_proximal", "ground", left, left_elbow, STEEL),
        ("left_distal", "left_proximal", left_elbow, tool, ORANGE),
        ("right_proximal", "ground", right, right_elbow, STEEL),
        ("right_distal", "right_proximal", right_elbow, tool, BLUE),
    ]
    pin = Loop("pin", "point", ("left_distal_end", "right_distal_end"))
    return _linkage("five_bar", ground, bars, pin, "left_distal", ("left_proximal", "right_proximal"))


Bar = tuple[str, str, Point, Point, Color]
"""Name, the bar that carries it, where it begins and ends at q = 0, and its color."""


def _linkage(name: str, ground: float, bars: list[Bar], pin: Loop, tool: str, driven: tuple[str, ...]) -> Description:
    links: list[Link] = [link("ground", block(1.0, (ground + 0.1, 0.05, 0.02), (ground / 2, 0.0, -0.02)))]
    joints: list[Joint] = []
    frames: list[NamedFrame] = []
    begins = {"ground": (0.0, 0.0)}
    for bar, carrier, begin, end, color in bars:
        begins[bar] = begin
        reach = (end[0] - begin[0], 0.0, end[1] - begin[1])
        at = (begin[0] - begins[carrier][0], 0.0, begin[1] - begins[carrier][1])
        links.append(link(bar, rod(LINEAR_DENSITY * math.hypot(*reach), THICKNESS, (0.0, 0.0, 0.0), reach, color)))
        hinged = hinge(f"{bar}_joint", at, "y", parent=carrier, child=bar)
        joints.append(hinged if bar in driven else replace(hinged, motors=()))
        frames.append(NamedFrame(f"{bar}_end", bar, placement(reach)))
        if bar == tool:
            frames.append(NamedFrame("tool", bar, placement(reach)))
    return Description(name, tuple(links), tuple(joints), tuple(frames), loops=(pin,))


def _meeting(name: str, a: Point, from_a: float, b: Point, from_b: float) -> Point:
    """The point above the line from a to b at these distances."""
    apart = math.dist(a, b)
    if not all(0.0 < length < math.inf for length in (from_a, from_b, apart)):
        raise ModelError(f"the lengths of {name!r} must be above 0 m and finite.", name=name)
    along = (from_a**2 - from_b**2 + apart**2) / (2.0 * apart)
    height = from_a**2 - along**2
    if height <= 0.0:
        gap = f"bars of {from_a:g} m and {from_b:g} m do not bridge {apart:.4g} m"
        raise ModelError(f"{name!r} cannot be assembled: {gap}; make them longer.", name=name)
    x, z = (b[0] - a[0]) / apart, (b[1] - a[1]) / apart
    up = math.sqrt(height) if x >= 0.0 else -math.sqrt(height)
    return a[0] + along * x - up * z, a[1] + along * z + up * x
