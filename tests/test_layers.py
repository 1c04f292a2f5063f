"""Each package imports only what stands to its left; importing dqdyn costs no optional package."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dqdyn

ROOT = Path(dqdyn.__file__).parent
CORE = (
    "algebra",
    "geometry",
    "model",
    "formats",
    "kinematics",
    "dynamics",
    "constraints",
    "coordinates",
    "quasi_velocities",
)
TOP = ("loading", "robots", "equations", "moved", "jax", "torch", "")  # beside the layers; "" is dqdyn itself
EVERYWHERE = ("errors", "caching", "arrays", "progress")  # what every package may import
EXTRAS = (
    *("mujoco", "sympy", "casadi", "pinocchio", "typer", "rich", "matplotlib", "defusedxml", "scipy"),
    *("dask", "zarr", "jax", "torch", "gymnasium"),
)


def rules() -> dict[str, set[str]]:
    """What each part of the package may import, apart from itself."""
    allowed: dict[str, set[str]] = {name: set() for name in EVERYWHERE}
    allowed["progress"] = allowed["arrays"] = {"errors"}
    known = set(EVERYWHERE)
    for name in CORE:
        allowed[name] = set(known)
        known.add(name)
    # Contacts and scenes stand beside the constraints: they need no dynamics.
    allowed["contacts"] = allowed["scenes"] = {*EVERYWHERE, "algebra", "geometry", "model", "kinematics"}
    # Polynomials of time know neither robots nor poses; footsteps and references are made of them.
    allowed["splines"] = {*EVERYWHERE, "algebra"}
    # Footsteps are poses of soles: they know neither robots nor controllers.
    allowed["footsteps"] = {*EVERYWHERE, "algebra", "geometry", "splines"}
    known |= {"contacts", "scenes", "splines", "footsteps"}
    allowed["compile"] = {*EVERYWHERE, "algebra.scalar", "algebra.counter", "algebra.real"}
    known.add("compile")
    allowed["robot"] = set(known)
    known.add("robot")
    # What a robot is to follow, and how: simulation and controllers take it.
    allowed["references"] = set(known)
    known.add("references")
    allowed["simulate"] = allowed["control"] = allowed["identify"] = set(known)
    # Many simulations and states at once, on many processes.
    allowed["scale"] = {*known, "simulate", "control"}
    for name in TOP:
        allowed[name] = {*known, *TOP, "simulate", "control", "identify", "scale"}
    known |= {"simulate", "control", "identify", "scale", *TOP}
    for name in ("analysis", "view", "gym", "cli", "__main__"):
        allowed[name] = set(known)
        known.add(name)
    allowed[""].add("gym")  # dqdyn itself has it as a name, imported at first use
    return allowed


RULES = rules()


def imports(source: str, module: str) -> Iterator[tuple[int, str]]:
    """(line, module inside dqdyn) of every import, also inside functions and behind TYPE_CHECKING."""
    package = module.split(".")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            stem = ".".join(["dqdyn", *package[: len(package) - node.level]]) if node.level else ""
            origin = ".".join(part for part in (stem, node.module) if part)
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name == "dqdyn" or name.startswith("dqdyn."):
                yield node.lineno, name.removeprefix("dqdyn").removeprefix(".")


def part_of(module: str) -> str:
    """The package or top-level module that a dotted name inside dqdyn belongs to."""
    first = module.partition(".")[0]
    return first if first in RULES else ""


def allows(importer: str, imported: str) -> bool:
    target = part_of(imported)
    if target == part_of(importer):
        return True
    allowed = RULES[part_of(importer)]
    return target in allowed or any(imported == name or imported.startswith(name + ".") for name in allowed if name)


def module_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def test_every_package_has_a_place() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    modules = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    assert packages | modules <= set(RULES)


def test_imports_stand_to_the_left() -> None:
    wrong = []
    for path in files():
        module = module_of(path)
        # A package's own __init__ counts as a module in it, so that relative imports are resolved the same way.
        inside = f"{module}.__init__" if path.name == "__init__.py" and module else module
        wrong += [
            f"{path.relative_to(ROOT)}:{line}: {part_of(module) or 'dqdyn'} must not import dqdyn.{name}"
            for line, name in imports(path.read_text(encoding="utf-8"), inside)
            if not allows(module, name)
        ]
    assert wrong == []


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("algebra.dual", "from dqdyn.geometry.primitives import Point"),
        ("algebra.dual", "def f():\n    import dqdyn.robot.robot"),
        ("geometry.segment", "if TYPE_CHECKING:\n    from dqdyn.model import model"),
        ("model.build", "from dqdyn import robots"),
        ("model.build", "from dqdyn import DQ"),
        ("model.build", "import dqdyn"),
        ("kinematics.tree", "from ..dynamics import newton"),
        ("dynamics.newton", "from dqdyn.compile import trace"),
        ("compile.trace", "from dqdyn.algebra.dual import DQ"),
        ("compile.trace", "from dqdyn.algebra import functions"),
        ("robot.robot", "from dqdyn.control import tasks"),
        ("control.task", "from dqdyn.simulate import world"),
        ("view.scene", "from dqdyn.cli.screen import emit"),
        ("errors", "from dqdyn.algebra.scalar import sin"),
    ],
)
def test_rule_finds_what_breaks_it(importer: str, source: str) -> None:
    assert [name for _, name in imports(source, importer) if not allows(importer, name)]


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("dynamics.newton", "from dqdyn.kinematics.tree import WorldMotion"),
        ("compile.trace", "from dqdyn.algebra import scalar\nfrom dqdyn.algebra.counter import Counted"),
        ("robot.robot", "from dqdyn.compile import trace"),
        ("cli.info", "import dqdyn\nfrom dqdyn.view import scene"),
        ("geometry.segment", "from .primitives import Point\nfrom ..errors import Error"),
    ],
)
def test_rule_lets_the_rest_pass(importer: str, source: str) -> None:
    assert [name for _, name in imports(source, importer) if not allows(importer, name)] == []


def test_test_modules_have_names_of_their_own() -> None:
    """Tests are imported by name alone: two modules of one name stop the collection."""
    stems = [path.stem for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(stems) == sorted(set(stems))


def test_import_takes_no_extras() -> None:
    code = "import json, sys, dqdyn; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    loaded = {name.partition(".")[0] for name in json.loads(result.stdout)}
    assert "numpy" in loaded
    assert loaded.isdisjoint(EXTRAS)


@pytest.mark.parametrize("name", dqdyn.__all__)
def test_public_names_resolve_and_are_documented(name: str) -> None:
    thing = getattr(dqdyn, name)
    assert (getattr(thing, "__doc__", None) or "").strip()
    if isinstance(thing, type):
        # A dataclass without a docstring gets its signature for one.
        assert not (thing.__doc__ or "").startswith(f"{thing.__name__}(")


def test_public_names_are_unique() -> None:
    assert len(set(dqdyn.__all__)) == len(dqdyn.__all__)
