"""Where groups stand among scalar instructions: after all that their lanes need, and before all that uses a lane."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from dqdyn.compile.trace.program import Program

_ANYWHERE = ("sin", "cos")  # are computed somewhere else than in the order of the program


class GroupOrder:
    """Positions of nodes: scalar instructions by their index, groups by the complement of their number."""

    def __init__(self, program: Program, scalars: Collection[int]) -> None:
        self._instructions = program.instructions
        self.position = dict(zip(scalars, scalars, strict=True))
        self._group: dict[int, int] = {}  # value → the group that computes it
        self._lanes: dict[int, Sequence[int]] = {}  # group → values
        self._needs: dict[int, Collection[int]] = {}  # group → values
        self._users: defaultdict[int, list[int]] = defaultdict(list)  # value → nodes
        users = self._users
        for i in scalars:
            op, operands, _ = program.instructions[i]
            if op != "input":
                for k in operands:
                    users[k].append(i)

    def users(self, k: int) -> list[int]:
        """The nodes that use a value."""
        return [node for node in self._users.get(k, ()) if node in self.position]

    def can_merge(self, lanes: Sequence[int]) -> bool:
        """Whether a group may compute ``lanes``.

        Not where a lane is used before another one is computed: moving what uses it costs more than the group saves.
        """
        position = self.position
        if not all(k in position for k in lanes):
            return False
        end = max(position[k] for k in lanes)
        users = [n for k in lanes for n in self.users(k)]
        return all(position[n] > end and (n < 0 or self._instructions[n][0] not in _ANYWHERE) for n in users)

    def merge(self, number: int, lanes: Sequence[int], inside: Collection[int], needs: Collection[int]) -> None:
        """Let a group compute ``lanes``, with what is ``inside`` of their formulas, from what it ``needs``."""
        position, node = self.position, ~number
        end = max(position[k] for k in lanes)
        for k in {*lanes, *inside}:
            del position[k]
        position[node] = end
        self._lanes[node], self._needs[node] = lanes, needs
        self._group.update(dict.fromkeys(lanes, node))
        for k in needs:
            self._users[k].append(node)

    def places(self) -> tuple[dict[int, list[int]], list[tuple[int, int]]]:
        """The groups before each scalar instruction, and (level, group) of those that none needs, which come after all.

        A group stands just before the first instruction that needs it: to read as a vector what has just been stored
        one by one takes long.
        """
        groups = sorted(self._lanes, key=self.position.__getitem__)
        before: dict[int, list[int]] = {}
        place: dict[int, int] = {}
        for group in reversed(groups):
            users = [n for k in self._lanes[group] for n in self.users(k)]
            places = [n if n >= 0 else place[n] for n in users if n >= 0 or n in place]
            if places:
                place[group] = min(places)
                before.setdefault(place[group], []).insert(0, ~group)
        levels: dict[int, int] = {}
        for group in groups:
            if group not in place:
                sources = (self._group.get(k, k) for k in self._needs[group])
                levels[group] = 1 + max((levels.get(n, 0) for n in sources), default=0)
        return before, [(level, ~group) for group, level in levels.items()]
