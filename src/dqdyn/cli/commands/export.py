"""``dqdyn export``: a function of a robot as C, CasADi or SymPy code."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, cast

from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import argument, option, output_option
from dqdyn.cli.screen import Verbatim, escape, indented, table, without_tags, written
from dqdyn.compile.export.languages import LANGUAGES
from dqdyn.errors import Error, UnknownNameError, unknown_name
from dqdyn.formats.whole_file import write_whole
from dqdyn.robot import Robot
from dqdyn.robot.catalog import CATALOG

WRITTEN = [name for name in LANGUAGES if name != "jax"]
"""Languages that a file can hold."""


@command("Write files")
def export(
    robot: Robot,
    source: str,
    function: Annotated[str | None, argument("The function; default: list all.", "FUNCTION")] = None,
    language: Annotated[str, option(f"The language: {', '.join(WRITTEN)}.", "--lang")] = "c",
    output: Annotated[Path | None, output_option("File to write; default: print.")] = None,
    frame: Annotated[str | None, option("The frame, for functions of one frame.")] = None,
    frame1: Annotated[str | None, option("The first frame, for functions of two frames.")] = None,
    frame2: Annotated[str | None, option("The second frame, for functions of two frames.")] = None,
    expressed: Annotated[str | None, option("Frame of twists: body, world or aligned.")] = None,
    wrench_frame: Annotated[list[str] | None, option("A frame at which a wrench acts; repeatable.")] = None,
    wrench_expressed: Annotated[str | None, option("Frame of wrenches: body or aligned.")] = None,
    method: Annotated[str | None, option("The formulation, where a function has several.")] = None,
    symbol: Annotated[str | None, option("Name of the function in C or CasADi.")] = None,
    header: Annotated[bool, option("Write the C header instead of the source.", "--header")] = False,
    constants: Annotated[str | None, option("In SymPy: float, rational or decimal (0.1 becomes 1/10).")] = None,
) -> Iterator[Answer]:
    """Write a function of a robot as C99, CasADi or SymPy code.

    C is source text without dependencies; CasADi is a serialized function for casadi.Function.load (from a file) or
    deserialize (from text); SymPy is Python code. An existing file is replaced.

    [dim]Examples:[/]

    \b
      dqdyn export arm7
      dqdyn export arm7 twist_jacobian --frame tool
      dqdyn export arm7 pose --frame tool -o pose.c
      dqdyn export arm7 center_of_mass --lang casadi -o com.casadi
      dqdyn export two_link pose --frame tool --lang sympy --constants decimal
    """
    if function is None:
        yield _list()
        return
    if function not in CATALOG:
        error = unknown_name("function", function, CATALOG)
        raise UnknownNameError(f"{error} All of them: dqdyn export {source}.", **error.data)
    if language not in LANGUAGES:
        raise unknown_name("language to export to", language, WRITTEN)
    if language == "jax":
        raise Error(f"a function of JAX is not a file: in Python, robot.export('jax', {function!r}) gives it.")
    given: dict[str, Any] = {"frame": frame, "frame1": frame1, "frame2": frame2, "expressed": expressed}
    given |= {"wrench_frames": wrench_frame or None, "wrench_expressed": wrench_expressed, "method": method}
    given |= {"symbol": symbol, "header": header or None, "constants": constants}
    options = {name: value for name, value in given.items() if value is not None}
    exported = robot.export(cast(Any, language), function, **options)
    of_function = {name: value for name, value in options.items() if name in CATALOG[function].options}
    program = robot.program(function, **of_function)
    facts: dict[str, Any] = {"robot": robot.name, "function": function, "language": language, "options": of_function}
    facts |= {"inputs": dict(program.inputs), "shape": program.shape, "operations": str(program.counts)}
    if output is None:
        yield {**facts, "text": _text(exported)}, Verbatim(_text(exported))
    else:
        path = write_whole(output, _content(exported))
        sentence = f"Wrote {function} of {robot.name!r} ({facts['operations']}) to {path}."
        yield {**facts, **written(path)}, escape(sentence)


def _text(exported: Any) -> str:
    """What is printed: C as it is, Python code of SymPy, the serialized function of CasADi."""
    if isinstance(exported, str):
        return exported
    return str(exported.source() if hasattr(exported, "source") else exported.serialize() + "\n")


def _content(exported: Any) -> bytes:
    """What is written; CasADi has a format of its own for files."""
    if not hasattr(exported, "save"):
        return _text(exported).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "function.casadi"
        exported.save(str(path))
        return path.read_bytes()


def _list() -> Answer:
    data, rows = [], []
    for quantity in CATALOG.values():
        name, inputs, options = quantity.name, list(quantity.inputs), list(quantity.options)
        summary = " ".join(without_tags(quantity.summary(Robot)).split())
        data.append({"function": name, "inputs": inputs, "options": options, "summary": summary})
        rows.append((name, " ".join(inputs), " ".join(f"--{option}" for option in options), summary))
    drawn = table("", ("function", "inputs", "options", "result"), rows)
    return data, [indented(drawn), "  One of them: [bold]dqdyn export ROBOT FUNCTION[/]"]
