"""Contacts as values: points, edges and faces of a robot that touch the world or another of its bodies.

from dqdyn import contacts
sole = contacts.face("left_sole", half_length=0.1, half_width=0.05, friction=0.7)
hand = contacts.point("right_hand", normal=(0, 1, 0), friction=0.5)
sole.wrench_basis, sole.motion_rows, sole.cone_rows
"""

from __future__ import annotations

from dqdyn.contacts.build import edge, face, point
from dqdyn.contacts.cone_rows import ConeRows
from dqdyn.contacts.contact import Contact
from dqdyn.contacts.margins import Margin
from dqdyn.contacts.support_polygon import SupportPolygon, support_polygon

__all__ = ["ConeRows", "Contact", "Margin", "SupportPolygon", "edge", "face", "point", "support_polygon"]
