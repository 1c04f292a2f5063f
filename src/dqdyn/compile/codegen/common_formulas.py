"""What neighbouring values have in common: the formula of a vector, and what it costs beside scalar instructions."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from dqdyn.compile.codegen.vector_groups import Factor, Formula, Lanes, Packing, added, signed
from dqdyn.compile.trace.program import Program

_SPREAD = 0.3  # instructions to spread a common factor, which groups may share
_COPIED = 2.0  # instructions to copy a value from elsewhere into an array
_ALIKE = 8.0  # operands that are alike for sure
_DEEPEST = 100  # operations within operations in a formula; the rest of a longer sum is an array
_SUMS = ("add", "sub")
_KINDS = {"sub": "add"}  # what may stand beside each other in lanes

Pairs = dict[int, tuple[int, ...]]
"""The operands in every lane."""


class Match(NamedTuple):
    """A formula of arrays not yet made, ("lanes", values): whether it is negated, its cost, and what it replaces."""

    formula: Formula
    minus: bool
    cost: float
    inside: tuple[int, ...] = ()


class CommonFormulas:
    """Formulas of lanes; ``places`` counts those of each value in memory."""

    def __init__(self, program: Program, packing: Packing, places: Counter[int]) -> None:
        self.program, self.packing, self.uses, self.places = program, packing, packing.uses, places
        self.instructions, self.results = program.instructions, set(program.outputs)
        self.is_own = [count == 1 for count in self.uses]  # used by one other instruction, and no result itself
        for k in self.results:
            self.is_own[k] = False
        self.cost = self._all_costs()
        self._depth = 0

    def _match(self, nodes: Lanes) -> Match:
        """What lanes have in common, down to arrays of values that are used elsewhere, too."""
        simple = self._simple(nodes)
        if simple is not None:
            return simple
        leaf, is_own = self._leaf(nodes), self.is_own
        if self._depth == _DEEPEST or False in [is_own[i] for i, _ in nodes.values()]:
            return leaf
        self._depth += 1
        found = self.formula(nodes)
        self._depth -= 1
        return leaf if found is None or leaf.cost <= found.cost else found

    def formula(self, nodes: Lanes) -> Match | None:
        """The operation that all lanes have in common."""
        ops = {self.instructions[i][0] for i, _ in nodes.values()}
        if ops == {"mul"}:
            found = self._product(nodes)
        elif ops <= {"add", "sub"}:
            found = self._sum(nodes)
        elif "neg" in ops:
            found = self._match({lane: self._without_sign(*node) for lane, node in nodes.items()})
        else:
            return None
        formula, minus, cost, inside = found
        return Match(formula, minus, cost, (*inside, *[i for i, _ in nodes.values()]))

    def _without_sign(self, k: int, negated: bool) -> Factor:
        op, operands, _ = self.instructions[k]
        return (operands[0], not negated) if op == "neg" else (k, negated)

    def _simple(self, nodes: Lanes) -> Match | None:
        """Constants, neighbouring inputs, or one value in all lanes."""
        instructions, width = self.instructions, self.packing.width
        (k, minus), *others = nodes.values()
        op = instructions[k][0]
        if op == "const" and all(instructions[i][0] == "const" for i, _ in others):
            values = {lane: -instructions[i][2] if n else instructions[i][2] for lane, (i, n) in nodes.items()}
            return Match(("constants", tuple(values.get(lane, 0.0) for lane in range(width))), False, 0.0)
        if all(i == k and n == minus for i, n in others):
            return Match(("spread", k), minus, _SPREAD)
        if op == "input" and all(instructions[i][0] == "input" and n == minus for i, n in others):
            starts = {(a, c - lane) for lane, (i, _) in nodes.items() for a, c in [instructions[i][1]]}
            argument, start = next(iter(starts))
            if len(starts) == 1 and start >= 0 and start + width <= self.program.inputs[argument][1]:
                return Match(("inputs", argument, start), minus, 0.0)
        return None

    def _leaf(self, nodes: Lanes) -> Match:
        """An array of the values themselves."""
        wanted, minus = signed(nodes)
        cost = 0.0 if self.packing.known(wanted) is not None else sum([self._to_place(k) for k, _ in wanted.values()])
        return Match(("lanes", wanted), minus, cost)

    def _to_place(self, k: int) -> float:
        """Instructions to have a value in an array; what is used several times would be kept in memory anyway."""
        if self.instructions[k][0] in ("input", "const", "sin", "cos"):
            return _COPIED
        if self.uses[k] == 1:
            return self.cost[k] + 1.0
        return 1.0 if self.places[k] else 0.5

    def _product(self, nodes: Lanes) -> Match:
        pairs: Pairs = {lane: self.instructions[k][1] for lane, (k, _) in nodes.items()}
        shared = set.intersection(*(set(pair) for pair in pairs.values()))
        if shared:
            common = min(shared)
            ordered: Pairs = {lane: (common, b if a == common else a) for lane, (a, b) in pairs.items()}
        else:
            ordered = self._aligned(pairs)
        a = self._match({lane: (pair[0], False) for lane, pair in ordered.items()})
        b = self._match({lane: (pair[1], nodes[lane][1]) for lane, pair in ordered.items()})
        formula = "fmul", a.formula, b.formula
        return Match(formula, a.minus ^ b.minus, a.cost + b.cost + 1.0, (*a.inside, *b.inside))

    def _sum(self, nodes: Lanes) -> Match:
        pairs: Pairs = {lane: self.instructions[k][1] for lane, (k, _) in nodes.items()}
        parts: list[Lanes] = [{}, {}]
        for lane, pair in self._aligned(pairs).items():
            k, negated = nodes[lane]
            is_difference = self.instructions[k][0] == "sub"
            swapped = pair != pairs[lane]
            for n, (part, term) in enumerate(zip(parts, pair, strict=True)):
                part[lane] = term, negated ^ (is_difference and n != swapped)
        a, b = (self._match(part) for part in parts)
        formula, minus = added((a.formula, a.minus), (b.formula, b.minus))
        fused = "fmul" in (a.formula[0], b.formula[0])
        return Match(formula, minus, a.cost + b.cost + (0.0 if fused else 1.0), (*a.inside, *b.inside))

    def _aligned(self, pairs: Pairs) -> Pairs:
        """Operands in an order in which those of all lanes are alike."""
        (lane, (first, second)), *others = pairs.items()
        result: Pairs = {lane: (first, second)}
        for lane, (a, b) in others:
            straight = self._alike(first, a) + self._alike(second, b)
            is_swapped = straight < _ALIKE and self._alike(first, b) + self._alike(second, a) > straight
            result[lane] = (b, a) if is_swapped else (a, b)
        return result

    def _alike(self, i: int, k: int) -> float:
        if i == k:
            return 4.0
        (op, a, _), (other, b, _) = self.instructions[i], self.instructions[k]
        if op != other and _KINDS.get(op, op) != _KINDS.get(other, other):
            return 0.0
        is_own = self.uses[i] == 1
        if is_own != (self.uses[k] == 1):
            return 0.0
        if is_own:
            shared = op == "mul" and (a[0] in b or a[1] in b)
            return 1.0 + (self.cost[i] == self.cost[k]) + 2.0 * shared
        return 1.0

    def _all_costs(self) -> list[float]:
        """About the scalar instructions that only this value needs, for each of the program."""
        instructions, is_own = self.instructions, self.is_own
        costs: list[float] = []
        for op, operands, _ in instructions:
            if op in _SUMS:
                a, b = operands
                own_a, own_b = is_own[a], is_own[b]
                fused = (own_a and instructions[a][0] == "mul") or (own_b and instructions[b][0] == "mul")
                costs.append((costs[a] if own_a else 0.0) + (costs[b] if own_b else 0.0) + (0.0 if fused else 1.0))
            elif op == "mul":
                a, b = operands
                costs.append((costs[a] if is_own[a] else 0.0) + (costs[b] if is_own[b] else 0.0) + 1.0)
            elif op in ("input", "const"):
                costs.append(0.0)
            else:
                costs.append(sum([costs[k] for k in operands if is_own[k]]) + (0.0 if op == "neg" else 1.0))
        return costs
