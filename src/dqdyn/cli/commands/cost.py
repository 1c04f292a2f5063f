"""``dqdyn cost``: the cost tables of the papers beside ours, and what the programs of a robot cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from rich.console import RenderableType

from dqdyn.analysis.costs import farias as paper_cost
from dqdyn.analysis.costs import quiroz as quiroz_cost
from dqdyn.analysis.costs.farias import Row
from dqdyn.analysis.costs.formula import CostLine, Formula
from dqdyn.analysis.costs.homogeneous_reference import matrix_cost
from dqdyn.cli.command import Answer, command
from dqdyn.cli.cost_figures import draw_figures
from dqdyn.cli.options import option
from dqdyn.cli.screen import attributes, escape, indented, mark, table
from dqdyn.dynamics.methods import INVERSE
from dqdyn.robot import Robot

TABLES: dict[str, Callable[[], Sequence[Row | CostLine]]] = {
    "Farias, table 2: quaternions": paper_cost.farias_table_2,
    "Farias, table 3: dual quaternions": paper_cost.farias_table_3,
    "Farias, table 4: steps for one joint": paper_cost.farias_table_4,
    "Quiroz, table 5.1: elementary operations": quiroz_cost.quiroz_table_5_1,
    "Quiroz, table 5.2: Jacobians and their rates": quiroz_cost.quiroz_table_5_2,
    "Quiroz, table 5.3: equations of motion": quiroz_cost.quiroz_table_5_3,
    "Quiroz, table 5.4: whole algorithms": quiroz_cost.quiroz_table_5_4,
    "Silva, table 3: whole algorithms": quiroz_cost.silva_table_3,
}
KINDS = ("mul", "add", "storage")


@command("Compare and measure", robot="arm7")
def cost(
    robot: Robot,
    n: Annotated[
        int | None, option("Joints of the papers' arms; default: the degrees of freedom of ROBOT.", "-n", min=1)
    ] = None,
    figures: Annotated[Path | None, option("A folder for figures 4 and 5 of Farias (needs matplotlib).")] = None,
) -> Iterator[Answer]:
    """Compare operation counts: printed in the papers, counted in their steps, and in the programs of ROBOT.

    The papers' own steps run on scalars that count. Where a count differs from the printed one, the reason is given.

    [dim]Examples:[/]

    \b
      dqdyn cost
      dqdyn cost humanoid
      dqdyn cost chain:12 -n 12
      dqdyn cost --figures .
      dqdyn cost --json
    """
    size = n or max(robot.nv, 1)
    tables = [{"table": name, "lines": [_facts(line) for line in make()]} for name, make in TABLES.items()]
    data = {"robot": robot.name, "nv": robot.nv, "n": size, "tables": tables, "at_n": at_size(size)}
    data |= {"programs": programs(robot), "figures": draw_figures(figures) if figures is not None else []}
    yield data, _drawn(data)


def at_size(n: int) -> list[dict[str, Any]]:
    """Whole algorithms of the papers for n joints: printed and counted operations."""
    lines: list[Row | CostLine] = [replace(paper_cost.farias_total(n), name="Farias, algorithm 1")]
    lines += [Row("Lynch & Park, homogeneous matrices", None, matrix_cost(n)), *quiroz_cost.quiroz_table_5_4()]

    def operations(cost: Any) -> dict[str, int] | None:
        values = attributes(cost, "mul", "add") if cost is not None else {}
        return {kind: int(x(n=n)) if isinstance(x, Formula) else x for kind, x in values.items()} or None

    return [
        {"algorithm": line.name, "printed": operations(line.printed), "counted": operations(line.counted)}
        for line in lines
    ]


def programs(robot: Robot) -> list[dict[str, Any]]:
    """Operations of every formulation of inverse dynamics for this robot: as written, and compiled."""
    rows = []
    for method in ["auto", *INVERSE]:
        row: dict[str, Any] = {"method": method}
        for who, simplify in (("written", False), ("compiled", True)):
            counts = robot.count("inverse_dynamics", simplify=simplify, method=method)
            row[who] = {"mul": counts.mul + counts.div, **attributes(counts, "add", "sincos", "total")}
        rows.append(row)
    return rows


def _facts(line: Row | CostLine) -> dict[str, Any]:
    """A line of a table as texts; formulas keep their variables."""
    kinds = KINDS if isinstance(line, Row) else KINDS[:2]
    texts = {
        who: cost and {kind: str(getattr(cost, kind)) for kind in kinds}
        for who, cost in (("printed", line.printed), ("counted", line.counted))
    }
    equal = line.printed is not None and line.printed == line.counted
    return {"name": line.name, **texts, "equal": equal, "reason": line.reason}


# --- for people -------------------------------------------------------------------------------------------------------


def _drawn(data: dict[str, Any]) -> Iterator[RenderableType]:
    yield "  [bold]= x[/] is printed and counted; in [bold]x ≠ y[/] the paper prints x and its steps cost y.\n"
    for part in data["tables"]:
        yield indented(_paper_table(part["table"], part["lines"]))
    lines = [line for part in data["tables"] for line in part["lines"] if line["printed"]]
    same = sum(line["equal"] for line in lines)
    borrowed = sum(line["equal"] and line["reason"] == quiroz_cost.AS_PRINTED for line in lines)
    yield f"[bold]{same} of {len(lines)}[/] printed lines are equal to ours in every number, {borrowed} of them "
    yield f"{quiroz_cost.AS_PRINTED}.\n"
    yield indented(_size_table(data["n"], data["at_n"]))
    yield indented(_program_table(data["robot"], data["programs"]))
    yield "  As written, the algorithm of the paper runs on scalars that count; compiled, constants of this robot are"
    yield "  folded and repeated expressions computed once. Sines and cosines are counted in [bold]sincos[/] alone."
    for path in data["figures"]:
        yield f"{mark(True)} {escape(str(path))}"


def _paper_table(title: str, lines: Sequence[dict[str, Any]]) -> RenderableType:
    rows = [(line["name"], *(_pair(line, kind) for kind in KINDS), line["reason"]) for line in lines]
    return table(title, ("line", "mul", "add", "floats", "remark"), rows)


def _pair(line: dict[str, Any], kind: str) -> str:
    """The printed number and ours in one cell."""
    printed, counted = ((line[who] or {}).get(kind) for who in ("printed", "counted"))
    if printed is None or counted is None:
        return f"{printed}, ours –" if printed else f"ours {counted}" if counted else ""
    return f"= {printed}" if printed == counted else f"{printed} ≠ {counted}"


def _size_table(n: int, rows: Sequence[dict[str, Any]]) -> RenderableType:
    columns = ("algorithm", "mul, paper", "mul, ours", "add, paper", "add, ours")
    shown = [(who, kind) for kind in ("mul", "add") for who in ("printed", "counted")]
    drawn = [(row["algorithm"], *(str((row[who] or {}).get(kind, "")) for who, kind in shown)) for row in rows]
    return table(f"Whole algorithms for an arm of n = {n}", columns, drawn, right=columns[1:])


def _program_table(robot: str, rows: Sequence[dict[str, Any]]) -> RenderableType:
    columns = ("method", "mul, written", "add, written", "mul, compiled", "add, compiled", "sincos")
    shown = [(who, kind) for who in ("written", "compiled") for kind in ("mul", "add")] + [("compiled", "sincos")]
    drawn = [(row["method"], *(str(row[who][kind]) for who, kind in shown)) for row in rows]
    return table(f"Inverse dynamics of {robot}, every formulation", columns, drawn, right=columns[1:])
