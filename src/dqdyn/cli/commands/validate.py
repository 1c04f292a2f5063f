"""``dqdyn validate``: models against MuJoCo, with the table and the figure of Silva beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.console import RenderableType

from dqdyn.analysis.validation.comparison import CUTOFF, MASS_ERROR, ORDER, PLANTS, Validation
from dqdyn.analysis.validation.comparison import validate as run
from dqdyn.analysis.validation.silva_table import METHODS, PRINTED
from dqdyn.arrays import Array
from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import argument, option
from dqdyn.cli.screen import attributes, escape, indented, mark, number, table
from dqdyn.cli.validate_figure import draw_figure, shown_coordinates
from dqdyn.errors import unknown_name
from dqdyn.view.plots import require_drawing

KINDS = ("min", "mean", "std", "max")
_BARS, _WIDTH = "▁▂▃▄▅▆▇█", 36


@command("Compare and measure")
def validate(
    names: Annotated[
        list[str] | None, argument(f"Which of the three robots: {', '.join(PLANTS)}.", "ROBOT", show_default="all")
    ] = None,
    duration: Annotated[float, option("Time in s.")] = 5.0,
    cutoff: Annotated[float, option("Cutoff of the Butterworth filter in Hz.")] = CUTOFF,
    order: Annotated[int, option("Order of the Butterworth filter.", min=1)] = ORDER,
    figures: Annotated[Path | None, option("A folder for figure 3 of Silva (needs matplotlib).")] = None,
) -> Iterator[Answer]:
    """Compare accelerations of our models with those of MuJoCo, as Silva's table 2 does with V-REP's.

    Torques drive each robot in the engine; its velocities are filtered and differentiated. The models take the same
    states and torques. The coefficient of multiple correlation (CMC) of two waveforms is 1 where they are the same. The
    nonholonomic robot stands on two driven wheels and a caster: contacts of the engine hold it, no constraint of ours.

    [dim]Examples:[/]

    \b
      dqdyn validate
      dqdyn validate nonholonomic --figures .
      dqdyn validate holonomic --duration 2 --json
    """
    chosen = list(dict.fromkeys(names or PLANTS))
    for name in chosen:
        if name not in PLANTS:
            raise unknown_name("robot to validate", name, PLANTS)
    if figures is not None:
        require_drawing(figures)
    validations = [run(name, duration=duration, cutoff=cutoff, order=order, progress=None) for name in chosen]
    recording = {"duration": duration, "cutoff": cutoff, "order": order, "sampling": validations[0].recording.dt}
    drawn = [draw_figure(_pictured(validations), figures)] if figures is not None else []
    data = {**recording, "robots": [facts(validation) for validation in validations], "figures": drawn}
    yield data, _drawn(data, validations)


def facts(validation: Validation) -> dict[str, Any]:
    """The results for one robot, as plain data."""

    def per_name(values: Iterable[float]) -> dict[str, float]:
        return {name: float(value) for (name, _), value in zip(validation.names, values, strict=True)}

    methods = []
    for method, meaning in METHODS.items():
        printed, ours = PRINTED.get((validation.key, method)), validation.models.get(method)
        line = {"method": method, "name": meaning, "paper": printed and asdict(printed)}
        methods.append({**line, "ours": ours and asdict(ours.summary), "cmc": ours and per_name(ours.cmc)})
    control = asdict(validation.control.summary) | {"cmc": per_name(validation.control.cmc)}
    return {
        "robot": validation.key,
        **attributes(validation, "title", "missing", "seconds"),
        "methods": methods,
        "control": {"body": validation.control_body, "mass_error": MASS_ERROR, **control},
        "moved": per_name(validation.moved),
        "units": dict(validation.names),
        "slip": validation.slip(),
    }


def _pictured(validations: Sequence[Validation]) -> Validation:
    """Figure 3 of the paper is of the nonholonomic robot; without it, of the last one."""
    return next((validation for validation in validations if validation.key == "nonholonomic"), validations[-1])


# --- for people -------------------------------------------------------------------------------------------------------


def _drawn(data: dict[str, Any], validations: Sequence[Validation]) -> Iterator[RenderableType]:
    yield f"[bold]Silva, table 2[/]: CMC of accelerations over {number(data['duration'])} s;"
    yield "the paper's models against V-REP, ours against MuJoCo.\n"
    for robot in data["robots"]:
        yield indented(_table(robot))
        yield from _remarks(robot)
    yield from _curves(_pictured(validations))
    for path in data["figures"]:
        yield f"{mark(True)} {escape(str(path))}"


def _table(robot: dict[str, Any]) -> RenderableType:
    rows = []
    for line in robot["methods"]:
        missing = "not installed" if line["method"] in robot["missing"] else "N/A"
        printed, ours = line["paper"], line["ours"]
        if printed is None and ours is None:
            rows.append((line["method"], "", *["N/A"] * len(KINDS)))
            continue
        rows.append((line["method"], "paper", *(f"{printed[kind]:.4f}" for kind in KINDS)))
        rows.append(("", "ours", *(missing if ours is None else _ours(ours[kind], kind) for kind in KINDS)))
    rows.append(("control", "ours", *(_ours(robot["control"][kind], kind) for kind in KINDS)))
    return table(robot["title"], ("method", "whose", *KINDS), rows, right=KINDS)


def _ours(value: float, kind: str) -> str:
    return f"{value:.1e}" if kind == "std" and 0.0 < value < 1e-4 else f"{value:.6f}"


def _remarks(robot: dict[str, Any]) -> Iterator[str]:
    least = min(robot["moved"], key=lambda name: robot["moved"][name])
    yield f"  Every coordinate moved, {escape(least)} the least, by {number(robot['moved'][least])} rad or m."
    body, part = escape(robot["control"]["body"]), robot["control"]["mass_error"]
    yield f"  The control: the same run, by a model whose {body} is {part:.0%} too heavy."
    if (slip := robot["slip"]) is not None:
        yield f"  It never stood on fewer than {slip['fewest_contacts']} of its 3 contacts. It slipped by at most"
        sideways, rolling, speed = (number(slip[what]) for what in ("sideways", "rolling", "speed"))
        yield f"  {sideways} m/s sideways and {rolling} m/s rolling, at up to {speed} m/s."
    if robot["missing"]:
        yield "  The Robotics Toolbox is compared where it is installed: pip install roboticstoolbox-python."
    yield f"  [dim]{number(robot['seconds'])} s[/]\n"


def _curves(validation: Validation) -> Iterator[RenderableType]:
    """Figure 3 of the paper, in letters."""
    rows = []
    model = validation.models["dqGP"]
    for which, k in shown_coordinates(model.cmc):
        for who, values in (("MuJoCo", validation.measured), ("dqGP", model.accelerations)):
            label = f"{validation.names[k][0]} ({which} CMC)" if who == "MuJoCo" else ""
            rows.append((label, who, _sparkline(values[:, k], validation.measured[:, k])))
    title = f"Silva, figure 3: accelerations of the {validation.title}"
    yield indented(table(title, ("coordinate", "", "along the way"), rows))


def _sparkline(values: Array, scale: Array) -> str:
    picked = values[np.linspace(0, len(values) - 1, _WIDTH).astype(int)]
    low, high = float(scale.min()), float(scale.max())
    place = np.clip((picked - low) / (high - low if high > low else 1.0), 0.0, 1.0)
    return "".join(_BARS[round(float(x) * (len(_BARS) - 1))] for x in place)
