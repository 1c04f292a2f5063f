"""The public names as text, a line each: ``python tests/public_names.py`` records them in public_names.txt."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_suffix(".txt")
MODULES = (
    "dqdyn",
    "dqdyn.constraints",
    "dqdyn.contacts",
    "dqdyn.control",
    "dqdyn.dynamics.gravity",
    "dqdyn.footsteps",
    "dqdyn.gym",
    "dqdyn.identify",
    "dqdyn.jax",
    "dqdyn.references",
    "dqdyn.scale",
    "dqdyn.scenes",
    "dqdyn.simulate",
    "dqdyn.torch",
    "dqdyn.view",
)
"""Modules whose ``__all__`` is public; the methods of ``dqdyn.Robot`` are too."""


def listing() -> list[str]:
    """Every public name with the names of its parameters."""
    lines = []
    for module in MODULES:
        held = importlib.import_module(module)
        lines += [f"{module}.{name}{_parameters(getattr(held, name))}" for name in held.__all__]
    robot = importlib.import_module("dqdyn").Robot
    lines += [f"dqdyn.Robot.{name}{_parameters(getattr(robot, name))}" for name in dir(robot) if name[0] != "_"]
    return sorted(lines)


def _parameters(value: Any) -> str:
    if not callable(value):
        return ""
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):  # such as exceptions, whose signature is that of a built-in
        return "(…)"
    return f"({', '.join(name for name in parameters if name != 'self')})"


if __name__ == "__main__":
    RECORD.write_text("\n".join(listing()) + "\n", encoding="utf-8")
    print(f"recorded {len(listing())} names in {RECORD.name}")
