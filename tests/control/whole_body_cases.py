"""Robots and sets of contacts on which whole-body control is proven."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from robot_data import urdf_file
from trees import random_robot

import dqdyn as dq
from dqdyn import contacts
from dqdyn.contacts import Contact

Case = tuple[dq.Robot, Sequence[Contact]]
FEET = [contacts.face(f, half_length=0.1, half_width=0.05) for f in ("left_foot", "right_foot")]
SMALL = {"half_length": 0.1, "half_width": 0.06}
WALL = {"normal": (1.0, 0.0, 0.0)}


def _tree(seed: int) -> dq.Robot:
    return random_robot(seed, 6, base="free")


def _talos() -> dq.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)  # of its grippers
        return dq.load(urdf_file("talos_reduced"), base="free")


CASES: dict[str, Callable[[], Case]] = {
    "humanoid, two feet": lambda: (dq.robots.humanoid(), FEET),
    "humanoid, a foot and a palm at a wall": lambda: (
        dq.robots.humanoid(),
        [FEET[0], contacts.point("right_palm", torsional_friction=0.02, edges=6, **WALL)],
    ),
    "humanoid, an edge and a sliding foot": lambda: (
        dq.robots.humanoid(),
        [contacts.edge("left_foot", [(0.1, 0.05, 0.0), (0.1, -0.05, 0.0)]), FEET[1].with_mode("sliding", [(1, 0, 0)])],
    ),
    "humanoid, a foot by corners, a redundant point": lambda: (
        dq.robots.humanoid(),
        [contacts.face("left_foot", **SMALL, cone="corners"), contacts.point("left_foot", (0.05, 0.0, 0.0), name="p")],
    ),
    "humanoid, palms against each other": lambda: (
        dq.robots.humanoid(),
        [*FEET, contacts.point("left_palm", partner="right_palm")],
    ),
    "Talos, two feet": lambda: (
        _talos(),
        [contacts.face(f"{side}_sole_link", **SMALL) for side in ("left", "right")],
    ),
    "arm at a wall": lambda: (dq.robots.arm7(), [contacts.point("tool", **WALL)]),
    "arm, a face at a wall": lambda: (dq.robots.arm7(), [contacts.face("tool", half_length=0.03, half_width=0.02)]),
    "tree of all kinds, a face and a point": lambda: (
        _tree(1),
        [contacts.face("link_0", **SMALL), contacts.point("tool")],
    ),
    "tree of all kinds, two points": lambda: (_tree(2), [contacts.point("link_0"), contacts.point("tool")]),
    "tree of all kinds, in flight": lambda: (_tree(3), []),
    "tree with mimic joints, a face and a point": lambda: (
        random_robot(11, 6, mimics=2, base="free"),
        [contacts.face("link_0", **SMALL), contacts.point("tool")],
    ),
    "tree on a planar base, a point": lambda: (random_robot(12, 6, mimics=2, base="planar"), [contacts.point("tool")]),
    "four-bar": lambda: (dq.robots.four_bar(), []),
    "five-bar": lambda: (dq.robots.five_bar(), []),
    "Stewart platform": lambda: (dq.robots.stewart_platform(), []),
    "nonholonomic manipulator": lambda: (dq.robots.nonholonomic_manipulator(), []),
}
