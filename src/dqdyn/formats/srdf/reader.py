"""SRDF: named postures, groups of joints and pairs of links that may touch, for the robot of a URDF file.

``<group_state>`` is a posture, named as it is where no other group has a state of that name, else ``<group>/<state>``.
``<group>`` lists joints, links (the joints that move them), chains and other groups; fixed joints are left out.
``<disable_collisions>`` is a pair of links whose contact does not count. ``<virtual_joint>`` says the base unless one
is chosen in loading, and ``<passive_joint>`` that a joint has no motor. All else is in ``losses``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dqdyn.errors import LoadError, unknown_name
from dqdyn.formats import safe_xml
from dqdyn.formats.safe_xml import Element
from dqdyn.formats.urdf.values import Values
from dqdyn.model.description import Description, Group, Joint, Posture
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

    def description(self) -> Description:
        robot = self.robot
        elements = {self.text(element, "name", "a group"): element for element in self.root.all("group")}
        groups = tuple(self.group(name, elements) for name in elements)
        passive = {self.known(element, "name", "joint", self.joints) for element in self.root.all("passive_joint")}
        joints = tuple(replace(j, motors=()) if j.name in passive else j for j in robot.joints)
        others: dict[str, int] = {}
        for element in self.root.children:
            if element.tag not in _READ:
                others[f"<{element.tag}>"] = others.get(f"<{element.tag}>", 0) + 1
        lost = [f"elements of SRDF are left out: {listed(others, complete=True)}."] if others else []
        return robot.with_changes(
            joints=joints,
            base=self.base() or robot.base,
            postures=(*robot.postures, *self.postures(elements)),
            groups=(*robot.groups, *groups),
            disabled_pairs=(*robot.disabled_pairs, *map(self.pair, self.root.all("disable_collisions"))),
            losses=(*robot.losses, *lost),
        )

    def base(self) -> str | None:
        """The base that a virtual joint of the root says."""
        for element in self.root.all("virtual_joint"):
            kind = self.text(element, "type", "a virtual joint")
            if kind not in _BASES:
                raise self.values.error(element, "a virtual joint", str(unknown_name("type", kind, _BASES)))
            if self.known(element, "child_link", "link", self.links) == self.robot.root:
                return _BASES[kind]
        return None

    def pair(self, element: Element) -> tuple[str, str]:
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
            if part.tag == "joint":
                joints.append(self.known(part, "name", "joint", self.joints))
            elif part.tag == "link":
                links.append(self.known(part, "name", "link", self.links))
                joints += [self.above[links[-1]].name] if links[-1] in self.above else []
            elif part.tag == "chain":
                path = self.chain(part)
                joints, links = joints + [joint.name for joint in path], links + [joint.child for joint in path]
            elif part.tag == "group":
                inner = self.members(self.known(part, "name", "group", groups), groups, (*within, name))
                joints, links = joints + inner[0], links + inner[1]
        return joints, links

    def chain(self, element: Element) -> list[Joint]:
        """The joints from one link to another below it."""
        base, tip = (self.known(element, end, "link", self.links) for end in ("base_link", "tip_link"))
        path, link = list[Joint](), tip
        while link != base:
            if link not in self.above:
                raise self.values.error(
                    element, "a chain", f"leads to {tip!r}, which is not below {base!r}: correct it."
                )
            path.append(self.above[link])
            link = path[-1].parent
        return path[::-1]

    # --- postures ---------------------------------------------------------------------------------------------------

    def postures(self, groups: dict[str, Element]) -> list[Posture]:
        states = self.root.all("group_state")
        names = [self.text(state, "name", "a group state") for state in states]
        return [
            self.posture(state, name, groups, names.count(name) == 1) for state, name in zip(states, names, strict=True)
        ]

    def posture(self, state: Element, name: str, groups: dict[str, Element], alone: bool) -> Posture:
        group = self.known(state, "group", "group", groups)
        given: dict[str, tuple[float, ...]] = {}
        for element in state.all("joint"):
            joint = self.known(element, "name", "joint", self.joints)
            size = KINDS[self.joints[joint].kind].nq
            if size:  # a fixed joint has no coordinate, whatever some files say
                given[joint] = self.values.numbers(element, "value", f"the state {name!r}", size)
        return Posture(name if alone else f"{group}/{name}", tuple(given), tuple(given.values()))

    # --- names ------------------------------------------------------------------------------------------------------

    def text(self, element: Element, attribute: str, owner: str) -> str:
        return self.values.text(element, attribute, owner)

    def known(self, element: Element, attribute: str, kind: str, names: object) -> str:
        """The value of an attribute that names a link, a joint or a group that there is."""
        name = self.text(element, attribute, f"<{element.tag}>")
        if name not in names:  # type: ignore[operator]
            file, line = self.file, element.line
            unknown = unknown_name(kind, name, names)  # type: ignore[arg-type]
            raise LoadError(f"{file}, line {line}: {unknown}", file=file, line=line, element=name)
        return name
