"""Names of what is drawn around a robot: what each color and arrow means, and whether it shows at first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dqdyn.view.markers import Marker, MarkerKind
from dqdyn.view.triangles import Color


@dataclass(frozen=True)
class Symbol:
    """A shape in a color, and for arrows that stand for a quantity how long they are."""

    kind: MarkerKind | Literal["body"]
    color: Color
    note: str = ""


@dataclass(frozen=True)
class Entry:
    """Markers that are shown and hidden together. ``key`` tells which; ``on``: shown at first."""

    key: str
    name: str
    on: bool
    symbols: tuple[Symbol, ...]

    @property
    def label(self) -> str:
        """The name, and the scales of arrows."""
        notes = [symbol.note for symbol in self.symbols if symbol.note]
        return f"{self.name} ({', '.join(notes)})" if notes else self.name


def entries(own: Sequence[Marker], added: Sequence[Marker]) -> list[Entry]:
    """What the robot offers by group, hidden at first; then what the user added by name."""
    found: dict[str, list[Marker]] = {}
    for key, marker in keyed(own, added):
        found.setdefault(key, []).append(marker)
    count = len({key_of(marker, is_own=True) for marker in own})
    return [
        Entry(key, members[0].group if i < count else members[0].name, i >= count, _symbols(members))
        for i, (key, members) in enumerate(found.items())
    ]


def keyed(own: Sequence[Marker], added: Sequence[Marker]) -> Iterator[tuple[str, Marker]]:
    """Each marker with the key of its entry."""
    yield from ((key_of(marker, is_own=True), marker) for marker in own)
    yield from ((key_of(marker, is_own=False), marker) for marker in added)


def key_of(marker: Marker, is_own: bool) -> str:
    """The key of a marker's entry."""
    return f"group {marker.group}" if is_own else f"name {marker.name}"


def body_key(name: str) -> str:
    """The key of the entry of a scene's body."""
    return f"body {name}"


def scale_note(marker: Marker) -> str:
    """How long an arrow is, e.g. "500 N per m"."""
    if marker.kind != "arrow" or not marker.unit:
        return ""
    return f"{float(f'{1.0 / marker.scale:.3g}'):g} {marker.unit} per m"


def _symbols(markers: Sequence[Marker]) -> tuple[Symbol, ...]:
    """Distinct colors; edges of a polygon do not count beside its area."""
    areas = {marker.color[:3] for marker in markers if marker.kind == "triangle"}
    kept = [m for m in markers if m.kind == "triangle" or m.color[:3] not in areas]
    return tuple(dict.fromkeys(Symbol(m.kind, m.color, scale_note(m)) for m in kept))
