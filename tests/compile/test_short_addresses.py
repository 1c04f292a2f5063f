"""Addresses measured from pointers nearby: the same places, within reach of one byte, and shorter code."""

from __future__ import annotations

import random
import re

import pytest
from compile_tools import MACHINE
from test_platforms import TARGETS, target

import dqdyn as dq
from dqdyn.compile.codegen import kernels
from dqdyn.compile.codegen.short_addresses import short_addresses
from dqdyn.compile.runtime import compiler
from dqdyn.compile.runtime.native import Library

POINTERS, FEWEST = 8, 5
SIZES = {"i8": 1, "double": 8, "<4 x double>": 32, "<8 x double>": 64}
REACH = {"double": 128, "<4 x double>": 128, "<8 x double>": 8192}


def _text(seed: int) -> str:
    """Loads from places drawn at random, in basic blocks of which some are reached by a branch."""
    draw = random.Random(seed)
    kind, names = draw.choice(("double", "<4 x double>", "<8 x double>")), iter(range(10_000))
    lines = ["define i64 @f(ptr %in0, ptr %out, ptr %scratch, ptr %lanes, i1 %go) {", "entry:"]
    for block in range(12):
        if draw.random() < 0.5:
            lines += [f"  br i1 %go, label %part{block}, label %stop", f"part{block}:"]
        else:
            lines += [f"  br i1 %some, label %part{block}, label %stop", f"part{block}:"]
        for _ in range(draw.randrange(200)):
            pointer = draw.choice(("%scratch", "%lanes", "%in0", "%t77"))
            place = draw.choice((draw.randrange(40), 304 + draw.randrange(8), draw.randrange(5000)))
            name = f"%t{100 + next(names)}"
            lines.append(f"  {name} = getelementptr {kind}, ptr {pointer}, i64 {place}")
            lines.append(f"  {name}v = load {kind}, ptr {name}, align 8")
    return "\n".join([*lines, "stop:", "  ret i64 0", "}", ""])


def _places(text: str) -> tuple[list[tuple[str, int]], list[int], int]:
    """What is loaded, as (pointer, bytes); how far from a pointer nearby; and the most pointers in use in one block."""
    found: dict[str, tuple[str, int]] = {}
    loaded, distances, most = [], [], 0
    uses: dict[str, list[int]] = {}
    for n, line in enumerate(text.split("\n")):
        if address := re.match(r"  (\S+) = getelementptr (.+), ptr (\S+), i64 (-?\d+)$", line):
            name, kind, pointer, index = address.groups()
            base, start = found.get(pointer, (pointer, 0))
            found[name] = base, start + SIZES[kind] * int(index)
            if pointer.startswith("%near"):
                distances.append(int(index))
                uses[pointer].append(n)
        elif hidden := re.match(r'  (\S+) = call ptr asm "", "=r,0"\(ptr (\S+)\)$', line):
            found[hidden[1]] = found[hidden[2]]
            uses[hidden[1]] = [n]
        elif load := re.match(r"  \S+ = load .*, ptr (\S+), align 8$", line):
            loaded.append(found[load[1]])
    for n in range(text.count("\n")):
        most = max(most, sum(min(lines) <= n <= max(lines) for lines in uses.values()))
    assert all(len(lines) > 1 for lines in uses.values()), "a pointer that nothing is measured from"
    return loaded, distances, most


@pytest.mark.parametrize("seed", range(20))
def test_places_are_the_same(seed: int) -> None:
    text = _text(seed)
    short = short_addresses(text)
    loaded, distances, most = _places(short)
    assert loaded == _places(text)[0]
    assert distances
    kind = re.search(r"getelementptr (.*?), ptr %scratch", text)
    assert kind is not None
    assert all(-REACH[kind[1]] <= d < REACH[kind[1]] for d in distances)
    assert most <= POINTERS
    names = re.findall(r"^  (%near\d+) = ", short, re.MULTILINE)
    assert len(set(names)) == len(names)


def test_pointers_end_where_others_branch_to() -> None:
    places = "".join(f"  %a{k} = getelementptr double, ptr %scratch, i64 {1000 + k}\n" for k in range(6))
    cut = "  br i1 %go, label %next, label %stop\nnext:\n"
    reached_by_others = "  br i1 %maybe, label %next, label %stop\nnext:\n"
    assert short_addresses(places + cut + places).count("asm") == 1
    assert short_addresses(places + reached_by_others + places).count("asm") == 2
    assert short_addresses(places + "}\ndefine i64 @g(ptr %scratch) {\nentry:\n" + places).count("asm") == 2


def test_few_places_and_near_ones_stay_as_they_are() -> None:
    few = "".join(f"  %a{k} = getelementptr double, ptr %scratch, i64 {1000 + k}\n" for k in range(FEWEST - 1))
    near = "".join(f"  %b{k} = getelementptr double, ptr %out, i64 {k}\n" for k in range(16))
    other = "".join(f"  %c{k} = getelementptr double, ptr %row, i64 {1000 + k}\n" for k in range(16))
    assert short_addresses(few + near + other) == few + near + other


def test_only_processors_that_gain_get_them() -> None:
    assert {name for name in TARGETS if target(name).is_x86} == {name for name in TARGETS if "arm" not in name}


@pytest.mark.skipif(not MACHINE.is_x86, reason="code for this processor has no distances of one byte")
@pytest.mark.parametrize("width", [1, MACHINE.width])
def test_code_is_shorter(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DQDYN_CACHE", "0")
    program = dq.robots.arm7().program("forward_dynamics_derivatives")

    def length() -> int:
        if width == 1:
            text = kernels.scalar_kernel(program, MACHINE.fma, True, width=MACHINE.width_for_one)
        else:
            text = kernels.batch_kernel(program, width, MACHINE.fma, True)
        return sum(map(len, Library(text, "length", width)._objects))

    short = length()
    monkeypatch.setattr(compiler, "short_addresses", lambda text: text)
    assert short < 0.98 * length()
