"""SRDF: named postures, groups of joints and pairs of links that may touch, for the robot of a URDF file.

``<group_state>`` is a posture, named as it is where no other group has a state of that name, else ``<group>/<state>``.
``<group>`` lists joints, links (the joints that move them), chains and other groups; fixed joints are left out.
``<disable_collisions>`` is a pair of links whose contact does not count. ``<virtual_joint>`` says the base unless one
is chosen in loading; its name, or ``root_joint``, stands for the base in states, by a position and (x, y, z, w) or by
x, y and an angle. ``<passive_joint>`` says that a joint has no motor. All else is in ``losses``. Files often name
joints, links and groups of other robots of a family: such entries are left out, and noted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from dqdyn.errors import LoadError, unknown_name
from dqdyn.formats import safe_xml
from dqdyn.formats.safe_xml import Element
from dqdyn.formats.urdf.values import QUATERNION_TOLERANCE, Values
from dqdyn.model.description import ROOT_JOINT, Description, Group, Joint, Posture
from dqdyn.model.joints import KINDS
from dqdyn.model.names import listed

_BASES = {"floating": "free", "planar": "planar", "fixed": "fixed"}
_READ = ("group", "group_state", "disable_collisions", "virtual_joint", "passive_joint")


def with_srdf(description: Description, source: str | Path) -> Description:
    """The description with what an SRDF file, or SRDF text, says of its robot."""
    return _Reader(description, source).description()


class _Reader:
    def __init__(self, description: Description, source: str | Path) -> None:
        document = safe_xml.parse(source)
        self.robot, self.root, self.file = description, document.root, document.file
        self.values = Values(document)
        if self.root.tag != "robot" or self.root.all("link"):
            what = "a URDF file" if self.root.all("link") else f"<{self.root.tag[:60]}>"
            raise LoadError(f"{self.file} is not SRDF but {what}: give it to dqdyn.load as the robot.", file=self.file)
        self.joints = {joint.name: joint for joint in description.joints}
        self.links = {link.name for link in description.links}
        self.above = {joint.child: joint for joint in description.joints}
        self.virtual = {one.attributes.get("name") for one in self.root.all("virtual_joint")}
        self.lost: list[str] = []

    def description(self) -> Description:
        robot = self.robot
        elements = {self.text(element, "name", "a group"): element for element in self.root.all("group")}
        groups = tuple(self.group(name, elements) for name in elements)
        passive = {self.known(element, "name", "joint", self.joints) for element in self.root.all("passive_joint")}
        joints = tuple(replace(j, motors=()) if j.name in passive and j.kind != "fixed" else j for j in robot.joints)
        postures = self.postures()
        given = [self.pair(element) for element in self.root.all("disable_collisions")]
        pairs = dict.fromkeys((one, two) for one, two in given if one is not None and two is not None)
        base, others = self.base(), [f"<{one.tag}>" for one in self.root.children if one.tag not in _READ]
        if others:
            self.lost.append(f"elements of SRDF are left out: {listed(dict.fromkeys(others), complete=True)}.")
        return robot.with_changes(
            joints=joints,
            base=base or robot.base,
            postures=(*robot.postures, *postures),
            groups=(*robot.groups, *groups),
            disabled_pairs=(*robot.disabled_pairs, *pairs),
            losses=(*robot.losses, *self.lost),
            notes=(*robot.notes, *(f"{self.file}: {note}" for note in self.values.notes())),
        )

    def base(self) -> str | None:
        """The base that a virtual joint of the root says."""
        for element in self.root.all("virtual_joint"):
            kind = self.text(element, "type", "a virtual joint")
            if kind not in _BASES:
                unknown = f"has an unknown type: {unknown_name('type', kind, _BASES)}"
                raise self.values.error(element, "a virtual joint", unknown)
            if self.known(element, "child_link", "link", self.links) == self.robot.root:
                return _BASES[kind]
        return None

    def pair(self, element: Element) -> tuple[str | None, str | None]:
        return self.known(element, "link1", "link", self.links), self.known(element, "link2", "link", self.links)

    # --- groups -----------------------------------------------------------------------------------------------------

    def group(self, name: str, groups: dict[str, Element]) -> Group:
        joints, links = self.members(name, groups, ())
        moving = [joint for joint in dict.fromkeys(joints) if KINDS[self.joints[joint].kind].nv]
        return Group(name, tuple(moving), tuple(dict.fromkeys(links)))

    def members(self, name: str, groups: dict[str, Element], within: Sequence[str]) -> tuple[list[str], list[str]]:
        """Joints and links of a group, those of the groups inside it too."""
        element = groups[name]
        if name in within:
            raise self.values.error(element, f"the group {name!r}", "is part of itself: take it out.")
        joints, links = list[str](), list[str]()
        for part in element.children:
            if part.tag == "joint" and not self.is_base(part):
                joints += self.each(self.known(part, "name", "joint", self.joints))
            elif part.tag == "link":
                own = self.each(self.known(part, "name", "link", self.links))
                links += own
                joints += [self.above[link].name for link in own if link in self.above]
            elif part.tag == "chain":
                path = self.chain(part)
                joints, links = joints + [joint.name for joint in path], links + [joint.child for joint in path]
            elif part.tag == "group":
                for inner in self.each(self.known(part, "name", "group", groups)):
                    more = self.members(inner, groups, (*within, name))
                    joints, links = joints + more[0], links + more[1]
        return joints, links

    def chain(self, element: Element) -> list[Joint]:
        """The joints from one link to another below it; none, and a note, where it is not below."""
        base, link = (self.known(element, end, "link", self.links) for end in ("base_link", "tip_link"))
        path = list[Joint]()
        while base is not None and link is not None and link != base:
            if link not in self.above:
                tip = path[0].child if path else link
                self.omit(f"the chain from {base!r} to {tip!r}", "its tip is not below its base")
                return []
            path.append(self.above[link])
            link = path[-1].parent
        return path[::-1]

    # --- postures ---------------------------------------------------------------------------------------------------

    def postures(self) -> list[Posture]:
        states = self.root.all("group_state")
        names = [self.text(state, "name", "a group state") for state in states]
        whole = [
            name if names.count(name) == 1 else f"{state.attributes.get('group', '')}/{name}"
            for state, name in zip(states, names, strict=True)
        ]
        return [self.posture(state, name) for state, name in zip(states, whole, strict=True)]

    def posture(self, state: Element, name: str) -> Posture:
        given: dict[str, tuple[float, ...]] = {}
        for element in state.all("joint"):
            if self.is_base(element):
                given[ROOT_JOINT] = self.base_coordinates(element, f"the state {name!r}")
                continue
            for joint in self.each(self.known(element, "name", "joint", self.joints)):
                size = KINDS[self.joints[joint].kind].nq
                if size:  # a fixed joint has no coordinate, whatever some files say
                    given[joint] = self.values.numbers(element, "value", f"the state {name!r}", size)
        return Posture(name, tuple(given), tuple(given.values()))

    def is_base(self, element: Element) -> bool:
        """Whether an element names the joint of the base: a virtual joint, or ``root_joint`` if the URDF has none."""
        name = element.attributes.get("name")
        return name not in self.joints and (name == ROOT_JOINT or name in self.virtual)

    def base_coordinates(self, element: Element, owner: str) -> tuple[float, ...]:
        """Of a planar base x, y and the angle; of a free one in our order, from a position and (x, y, z, w)."""
        if len(self.text(element, "value", owner).split()) == KINDS["planar"].nq:
            return self.values.numbers(element, "value", owner, KINDS["planar"].nq)
        *p, x, y, z, w = self.values.numbers(element, "value", owner, KINDS["free"].nq)
        size = math.hypot(w, x, y, z)
        if abs(size - 1.0) > QUATERNION_TOLERANCE:
            fault = f"has a quaternion of length {size:.6g} in <joint>: divide it by its length."
            raise self.values.error(element, owner, fault)
        return (w / size, x / size, y / size, z / size, *p)

    # --- names ------------------------------------------------------------------------------------------------------

    def text(self, element: Element, attribute: str, owner: str) -> str:
        return self.values.text(element, attribute, owner)

    def known(self, element: Element, attribute: str, kind: str, names: Iterable[str]) -> str | None:
        """The link, joint or group that an attribute names; None, and a note, where there is none."""
        name = self.text(element, attribute, f"<{element.tag}>")
        if name in names:
            return name
        self.omit(f"<{element.tag}> of {name!r}", f"there is no such {kind}")
        return None

    def each(self, name: str | None) -> list[str]:
        return [] if name is None else [name]

    def omit(self, what: str, why: str) -> None:
        self.values.doubt(what, f"{why}, so it is left out; correct the name.")
        self.lost.append(f"{what} of SRDF, since {why}")
