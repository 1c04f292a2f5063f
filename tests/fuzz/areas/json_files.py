"""Damaged robots in JSON: what is accepted can be written and read again, and obeys the laws."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

from described import one_joint, rich
from trees import MOVING, random_description

from dqdyn.errors import FormatError
from dqdyn.formats.json.document import read_json, write_json
from dqdyn.model.build import build
from dqdyn.model.description import Description
from dqdyn.robot import Robot
from dqdyn.robots.builders import describe

from ..cases import Area, Case
from ..laws import check_laws
from ..mutate import damaged_text, damaged_value

BASES = ("fixed", "free", "planar", "differential")


def _descriptions() -> list[Description]:
    small = [one_joint(kind) for kind in MOVING]
    trees = [random_description(seed, 2, MOVING, base=base) for seed, base in enumerate(("fixed", "fixed", "free"))]
    mimic = random_description(9, 3, ("revolute", "prismatic"), mimics=1)
    return [*small, *trees, mimic, rich(), describe("four_bar")]


@cache
def texts() -> tuple[str, ...]:
    """Sound robots."""
    return tuple(write_json(Robot.from_description(d).model) for d in _descriptions())


class Fuzzed(Area):
    """A text; every eighth robot that is accepted must obey the laws."""

    weight, chunk = 34.0, 1000

    def prepare(self) -> None:
        texts()

    def make(self, rng: random.Random) -> Case:
        text = rng.choice(texts())
        if rng.random() < 0.75:
            text = json.dumps(damaged_value(rng, json.loads(text)), ensure_ascii=rng.random() < 0.5)
        else:
            text = damaged_text(rng, text)
        case: Case = {"text": text}
        if rng.random() < 0.125:
            case["laws"] = True
        if rng.random() < 0.1:
            case["base"] = rng.choice(BASES)
        if rng.random() < 0.1:
            case["mimic"] = False
        return case

    def check(self, case: Case) -> str:
        text = "{" + case["text"].lstrip("\ufeff \t\r\n{")  # without a brace it would be the name of a file
        options: dict[str, Any] = {key: case[key] for key in ("base", "mimic") if key in case}
        model = build(read_json(text), quiet=True, **options)
        try:
            again = write_json(model)
        except FormatError:
            return "accepted, but JSON cannot hold it"
        assert build(read_json(again), quiet=True, mimic=case.get("mimic", True)) == model, (
            "read again it is another robot"
        )
        return check_laws(Robot.from_description(read_json(text), **options)) if case.get("laws") else "accepted"
