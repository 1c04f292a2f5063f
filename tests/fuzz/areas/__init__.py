"""One file per area, each with a class ``Fuzzed``; they are imported when they are asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..cases import Area

AREAS = (
    "arrays",
    "json",
    "urdf",
    "mjcf",
    "dh",
    "screws",
    "meshes",
    "trajectories",
    "names",
    "cache",
    "control",
)
GROUPS = {"all": AREAS, "loaders": ("urdf", "mjcf", "dh", "screws")}
NAMES = (*(name for name in GROUPS if name != "all"), *AREAS)
_FILES = {"json": "json_files"}


@cache
def area_named(name: str) -> Area:
    """The area; a dotted name is a module elsewhere, as the tests of the runner have one."""
    module = import_module(name if "." in name else f"{__name__}.{_FILES.get(name, name)}")
    found: Area = module.Fuzzed()
    found.name = name
    return found


def areas_of(name: str) -> list[str]:
    """The areas that a name stands for."""
    return list(GROUPS.get(name, (name,)))
