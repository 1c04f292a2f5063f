"""Draw docs/figures/packages.svg: the packages of dqdyn in their layers.

Run ``python tools/package_map.py``; a test compares the figure with the packages that exist.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

TARGET = Path(__file__).parent.parent / "docs" / "figures" / "packages.svg"

LAYERS: tuple[tuple[tuple[str, str], ...], ...] = (
    (("cli", "commands"), ("gym", "environments")),
    (("view", "browser, pages, plots"),),
    (("analysis", "costs, validation, experiments"),),
    (("scale", "Dask arrays, Zarr, sweeps of simulations"),),
    (
        ("simulate", "integrators, plants"),
        ("control", "tasks, limits, QP"),
        ("identify", "from data"),
        ("robots", "built-in robots"),
    ),
    (("references", "paths in time, on the manifold; computed torque"),),
    (("robot", "Robot: every function of a robot, by name"),),
    (
        ("constraints", "kinds and methods"),
        ("coordinates", "of bases and ball joints"),
        ("quasi_velocities", "Kane's speeds"),
    ),
    (("dynamics", "formulations, gravity"), ("contacts", "wrench cones"), ("scenes", "bodies to touch")),
    (("kinematics", "the tree: poses, Jacobians, distances"), ("footsteps", "plans, swings")),
    (("model", "description, joints, frames"), ("formats", "URDF, MJCF, JSON, DH, screws")),
    (("geometry", "points, lines, planes, segments"), ("splines", "polynomials of time")),
    (("algebra", "dual quaternions over any scalar"),),
)
"""Name and content of the packages, the highest layer first; a package imports only from layers below its own."""
BESIDE = ("compile", ("trace", "codegen", "runtime", "export"))
"""Below ``robot`` and beside the core, of which it knows the scalars only."""
FIRST_CORE = 7  # index of the highest layer beside the compiler

WIDTH, HEIGHT, GAP, LEFT, TOP = 620, 46, 12, 24, 24
ASIDE = 150
FILL = {"core": "#e8eef7", "compiler": "#f7efe0", "robot": "#dfeee0", "above": "#f3f3f3"}


def box(x: float, y: float, width: float, height: float, name: str, content: str, fill: str) -> str:
    """A package: its name, and below it what it holds."""
    middle = x + width / 2
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" fill="{fill}" stroke="#5a6472"/>'
        f'<text x="{middle:g}" y="{y + 19:g}" class="name">{escape(name)}</text>'
        f'<text x="{middle:g}" y="{y + 35:g}" class="content">{escape(content)}</text>'
    )


def drawing() -> str:
    """The figure."""
    core = range(FIRST_CORE, len(LAYERS))
    parts = []
    for row, layer in enumerate(LAYERS):
        y = TOP + row * (HEIGHT + GAP)
        room = WIDTH - (ASIDE + GAP if row in core else 0)
        kind = "core" if row in core else "robot" if row == FIRST_CORE - 1 else "above"
        width = (room - GAP * (len(layer) - 1)) / len(layer)
        for k, (name, content) in enumerate(layer):
            parts.append(box(LEFT + k * (width + GAP), y, width, HEIGHT, name, content, FILL[kind]))
    name, modules = BESIDE
    top = TOP + FIRST_CORE * (HEIGHT + GAP)
    height = len(core) * (HEIGHT + GAP) - GAP
    x = LEFT + WIDTH - ASIDE
    parts.append(
        f'<rect x="{x}" y="{top}" width="{ASIDE}" height="{height}" rx="5" fill="{FILL["compiler"]}" stroke="#5a6472"/>'
        f'<text x="{x + ASIDE / 2:g}" y="{top + 24}" class="name">{name}</text>'
    )
    for k, module in enumerate(modules):
        parts.append(f'<text x="{x + ASIDE / 2:g}" y="{top + 60 + 24 * k}" class="content">{module}</text>')
    for k, line in enumerate(("knows scalars and", "programs, no robots")):
        parts.append(f'<text x="{x + ASIDE / 2:g}" y="{top + height - 34 + 16 * k}" class="content">{line}</text>')
    bottom = TOP + len(LAYERS) * (HEIGHT + GAP)
    note = "A package imports only from layers below its own."
    parts.append(f'<text x="{LEFT + WIDTH / 2:g}" y="{bottom + 12}" class="content">{note}</text>')
    size = f"0 0 {WIDTH + 2 * LEFT} {bottom + 30}"
    style = (
        "text{text-anchor:middle;font-family:system-ui,sans-serif;fill:#1b2430}"
        ".name{font-size:14px;font-weight:600}.content{font-size:11px}"
    )
    background = '<rect width="100%" height="100%" fill="#ffffff"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img" aria-label="Packages of dqdyn">'
    return f"{head}\n<style>{style}</style>\n{background}\n" + "\n".join(parts) + "\n</svg>\n"


def packages() -> set[str]:
    """Names in the figure."""
    return {name for layer in LAYERS for name, _ in layer} | {BESIDE[0]}


if __name__ == "__main__":
    TARGET.write_text(drawing(), encoding="utf-8")
    print(f"{TARGET.name}: {len(packages())} packages")
