"""Record which functions a test enters: the evidence behind the equation index.

``python tools/equation_calls.py --root REPOSITORY < wanted.json > entered.json``. The input has "tests", which maps a
test ("file", "file::function" or "file::Class::function") to names such as "dqdyn.algebra.dual.DQ", and "constants", a
list of the names that are assigned. The output maps each of these tests to those of its names that it enters. A class
or module is entered by any of its functions; a constant or class also by a function that is entered and names it (an
annotation of a class does not count). Definitions are instrumented as they are imported. Every case of a
test runs in a process forked before any test ran, so no cache which another test has filled hides a call.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import functools
import importlib.abc
import importlib.machinery
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest


class Instrument(ast.NodeTransformer):
    """Puts a call of ``__entered__`` into the definitions of a module that are wanted by name."""

    def __init__(self, module: str, wanted: set[str], constants: dict[str, str]) -> None:
        self.path, self.wanted, self.constants = [module], wanted, constants

    def names(self, node: ast.FunctionDef) -> list[str]:
        """Wanted names that entering a function means: it, what it is part of, constants and classes that it names."""
        around = {".".join(self.path[: n + 1]) for n in range(len(self.path))} & self.wanted
        used = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(node)}
        inside = {getattr(n, "id", getattr(n, "attr", "")) for part in node.body for n in ast.walk(part)}
        constants = {name for short, name in self.constants.items() if short in used}
        classes = {name for name in self.wanted if (short := name.rpartition(".")[2])[0].isupper() and short in inside}
        return sorted(around | constants | classes)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.path.append(node.name)
        if names := self.names(node):
            has_docstring = ast.get_docstring(node, clean=False) is not None
            node.body.insert(int(has_docstring), ast.copy_location(report(names), node))
        self.path.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.path.append(node.name)
        self.generic_visit(node)
        if (name := ".".join(self.path)) in self.wanted:  # a dataclass may have no function of its own
            decorator = ast.parse(f"__made__({name!r})").body[0].value  # type: ignore[attr-defined]
            node.decorator_list.insert(0, decorator)
        self.path.pop()
        return node


def report(names: list[str]) -> ast.stmt:
    return ast.parse(f"__entered__({names!r})").body[0]


class Finder(importlib.abc.MetaPathFinder):
    """Imports the modules of the package with their wanted definitions instrumented."""

    def __init__(self, wanted: set[str], constants: dict[str, str]) -> None:
        self.wanted, self.constants = wanted, constants

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path) if fullname.startswith("dqdyn") else None
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path, self.wanted, self.constants)
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles one instrumented module; nothing is read from or written to ``__pycache__``."""

    def __init__(self, fullname: str, path: str, wanted: set[str], constants: dict[str, str]) -> None:
        super().__init__(fullname, path)
        self.wanted, self.constants = wanted, constants

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_text(encoding="utf-8")
        tree = Instrument(fullname, self.wanted, self.constants).visit(ast.parse(source))
        code: CodeType = compile(ast.fix_missing_locations(tree), self.path, "exec")
        return code


entered: set[str] = set()  # by the case that runs in this process


def made(name: str) -> Any:
    """A decorator of classes: an instance is made."""

    def decorate(cls: Any) -> Any:
        init = cls.__init__

        @functools.wraps(init)
        def counted(self: Any, *positional: Any, **named: Any) -> None:
            entered.add(name)
            init(self, *positional, **named)

        cls.__init__ = counted
        return cls

    return decorate


class Recorder:
    """A plugin of pytest that runs every case in a process of its own, several at a time."""

    def __init__(self, wanted: dict[str, list[str]], constants: dict[str, str], jobs: int) -> None:
        self.constants, self.jobs = constants, jobs
        self.wanted = {test: set(names) for test, names in wanted.items()}
        self.entered: dict[str, set[str]] = {}  # of the tests that were collected
        self.failed: list[str] = []
        self.reports: list[Any] = []
        self.running: dict[int, tuple[Any, int]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.reports.append(report)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            for test in self.tests_of(item):
                self.entered.setdefault(test, set())
            if self.missing(item):
                self.start(item)
            while len(self.running) >= self.jobs:
                self.finish_one()
        while self.running:
            self.finish_one()
        return True

    def tests_of(self, item: pytest.Item) -> Iterator[str]:
        """The wanted tests that an item is a case of: its file, its class, itself without parameters."""
        parts = item.nodeid.partition("[")[0].split("::")
        yield from (test for n in range(len(parts)) if (test := "::".join(parts[: n + 1])) in self.wanted)

    def missing(self, item: pytest.Item) -> set[str]:
        """Names that no case so far has entered."""
        return set().union(*(self.wanted[test] - self.entered[test] for test in self.tests_of(item)))

    def start(self, item: pytest.Item) -> None:
        reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child:
            os.close(writer)
            self.running[child] = (item, reader)
            return
        os.close(reader)
        entered.clear()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        failed = any(report.failed for report in self.reports)
        with os.fdopen(writer, "w") as pipe:
            json.dump({"failed": failed, "entered": sorted(entered | self.used_by(item))}, pipe)
        os._exit(0)

    def used_by(self, item: pytest.Item) -> set[str]:
        """Wanted constants that the test itself names."""
        code = getattr(getattr(item, "function", None), "__code__", None)
        return {name for short, name in self.constants.items() if code and short in code.co_names}

    def finish_one(self) -> None:
        child, _ = os.wait()
        if child not in self.running:
            return
        item, reader = self.running.pop(child)
        with os.fdopen(reader) as pipe:
            text = pipe.read()
        answer = json.loads(text) if text else {"failed": True, "entered": []}
        if answer["failed"]:
            self.failed.append(item.nodeid)
            return
        for test in self.tests_of(item):
            self.entered[test] |= self.wanted[test].intersection(answer["entered"])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, required=True, help="the repository")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    options = parser.parse_args()
    root = options.root.resolve()
    given = json.load(sys.stdin)
    constants = {name.rpartition(".")[2]: name for name in given["constants"]}
    recorder = Recorder(given["tests"], constants, options.jobs)
    answer, sys.stdout = sys.stdout, sys.stderr  # pytest's own lines go to the other stream
    os.chdir(root)
    sys.path.insert(0, str(root / "src"))
    sys.meta_path.insert(0, Finder({name for names in recorder.wanted.values() for name in names}, constants))
    vars(builtins).update(__entered__=entered.update, __made__=made)
    files = sorted({test.partition("::")[0] for test in recorder.wanted})
    options_of_pytest = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    os.environ.pop("PYTEST_ADDOPTS", None)  # options of the run that started this one are not for these tests
    every = ["--full"] if (root / "tests" / "quick.py").exists() else []
    code = pytest.main([*options_of_pytest, *every, *files], plugins=[recorder])
    faulty = {test for case in recorder.failed for test in recorder.entered if case.startswith(test)}
    json.dump({test: sorted(names) for test, names in sorted(recorder.entered.items()) if test not in faulty}, answer)
    for case in recorder.failed:
        print(f"{case} fails: its calls are not evidence", file=sys.stderr)
    return 1 if recorder.failed or code != pytest.ExitCode.OK else 0


if __name__ == "__main__":
    sys.exit(main())
