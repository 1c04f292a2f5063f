"""Bounds of a quadratic program below another one, as strict levels have them, in machine code."""

from __future__ import annotations

from dqdyn.compile.codegen.active_bounds import ActiveBounds
from dqdyn.compile.codegen.active_rows import ActiveRows

_POINTERS = ("A", "u", "upper", "lower", "own_upper", "own_lower", "memory")
HELD = dict.fromkeys(_POINTERS, "ptr") | {"held": "i64", "equalities": "i64", "room": "double"}
"""Words that ``hold`` reads, and their types."""


def hold(code: ActiveRows) -> str:
    """``hold(ptr arguments)`` with the words of :data:`HELD`: bounds of a problem below another one.

    Its first rows keep the values that u gives them, equalities stay, and what u takes up of the other bounds
    stays allowed in spite of rounding errors, by ``room``. The problem above has all rows but the first.
    """
    e = code.emitter()
    given = {name: e.load(e.at("%arguments", k, "i64"), kind) for k, (name, kind) in enumerate(HELD.items())}
    e.lines.append(f"  %memory = getelementptr i8, ptr {given['memory']}, i64 0")
    bounds = ActiveBounds(code, e, given)
    bounds.copy(given["u"], bounds.at["x"])
    values, _ = bounds.measured()
    held, free = given["held"], e.op(f"add i64 {given['held']}, {given['equalities']}")
    sides = (("upper", "own_upper", "ogt", "fadd"), ("lower", "own_lower", "olt", "fsub"))

    def farther(i: str, source: str, value: str, room: bool) -> None:
        for name, own, comparison, operation in sides:
            bound = e.load(e.at(given[name], source))
            beyond = e.op(f"fcmp {comparison} double {value}, {bound}")
            taken = e.op(f"select i1 {beyond}, double {value}, double {bound}")
            e.store(e.scalar(operation, taken, given["room"]) if room else taken, e.at(given[own], i))

    def of_unknown(i: str, _: list[str]) -> list[str]:
        farther(i, i, e.load(e.at(given["u"], i)), False)
        return []

    def of_level(k: str, _: list[str]) -> list[str]:
        for _name, own, *_rest in sides:
            e.store(e.load(e.at(values, k)), e.at(given[own], e.op(f"add i64 {k}, {code.bounded}")))
        return []

    def equality(k: str, _: list[str]) -> list[str]:
        i = e.op(f"add i64 {k}, {code.bounded}")
        for name, own, *_rest in sides:
            e.store(e.load(e.at(given[name], e.op(f"sub i64 {i}, {held}"))), e.at(given[own], i))
        return []

    def inequality(k: str, _: list[str]) -> list[str]:
        i = e.op(f"add i64 {k}, {code.bounded}")
        farther(i, e.op(f"sub i64 {i}, {held}"), e.load(e.at(values, k)), True)
        return []

    e.repeat(0, code.bounded, of_unknown)
    e.repeat(0, held, of_level)
    e.repeat(held, free, equality)
    e.repeat(free, code.rows, inequality)
    return e.define("void @hold(ptr %arguments)", "ret void")
