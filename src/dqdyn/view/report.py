"""Reports: one self-contained page of texts, tables, matrices and curves, styled like the animation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import RealArray
from dqdyn.formats.whole_file import write_whole
from dqdyn.view.page import escape, filled, page
from dqdyn.view.series import Panel
from dqdyn.view.svg import figures


class Report:
    """A page that grows from top to bottom; every method adds one part and returns the report. Texts are plain."""

    styles: tuple[str, ...] = ("player.css", "report.css")
    scripts: tuple[str, ...] = ("report.js",)

    def __init__(self, title: str, facts: Sequence[str] = ()) -> None:
        self.title, self.facts = title, tuple(facts)
        self._sections: list[list[str]] = []

    def section(self, title: str) -> Report:
        """What is added from here on stands under this title."""
        self._sections.append([f"<h2>{escape(title)}</h2>"])
        return self

    def text(self, text: str) -> Report:
        """A paragraph."""
        return self._add(f"<p>{escape(text)}</p>")

    def link(self, text: str, target: str) -> Report:
        """A link on a line of its own, relative to the page."""
        return self._add(f'<p><a href="{escape(target)}">{escape(text)}</a></p>')

    def numbers(self, numbers: Mapping[str, str]) -> Report:
        """A row of figures to see first: what → value."""
        each = (f"<div><b>{escape(value)}</b><span>{escape(what)}</span></div>" for what, value in numbers.items())
        return self._add(f'<div class="numbers">{"".join(each)}</div>')

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", right: Sequence[str] = ()
    ) -> Report:
        """A table; the columns named in ``right`` are aligned to the right."""
        sides = [' class="right"' if column in right else "" for column in columns]

        def cells(tag: str, row: Sequence[str]) -> str:
            return "".join(f"<{tag}{side}>{escape(cell)}</{tag}>" for cell, side in zip(row, sides, strict=True))

        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
        caption = f"<caption>{escape(title)}</caption>" if title else ""
        return self._add(
            f'<div class="wide"><table>{caption}<thead><tr>{cells("th", columns)}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )

    def matrix(self, title: str, values: RealArray) -> Report:
        """A matrix (m, n) with four digits; what is only rounding beside its largest number is shown as 0."""
        array = np.atleast_2d(real_array(values, f"the matrix {title!r}"))
        least = 1e-12 * np.abs(array).max(initial=0.0)
        rows = "".join(f"<tr>{''.join(_cell(x, least) for x in row)}</tr>" for row in array.tolist())
        return self._add(
            f'<p>{escape(title)}</p><div class="wide"><table class="matrix"><tbody>{rows}</tbody></table></div>'
        )

    def curves(self, panels: Sequence[Panel], time: RealArray) -> Report:
        """Curves over time (n,) in s, each panel a figure."""
        return self._add(f'<div class="plots">{figures(panels, time)}</div>')

    def html(self) -> str:
        """The text of the page."""
        sections = "\n".join(f"<section>{''.join(parts)}</section>" for parts in self._sections)
        body = filled("report.html", SECTIONS=sections)
        return page(self.title, self.facts, body, styles=self.styles, scripts=self.scripts)

    def write(self, path: str | Path) -> Path:
        """Write the page; an existing file is replaced whole. It needs no network and no other file."""
        return write_whole(Path(path), self.html().encode())

    def _repr_html_(self) -> str:
        """The page in a notebook."""
        from dqdyn.view.notebook import framed

        return framed(self.html())

    def _add(self, part: str) -> Report:
        if not self._sections:
            self._sections.append([])
        self._sections[-1].append(part)
        return self


def _cell(x: float, least: float) -> str:
    if abs(x) <= least:
        return '<td class="zero">0</td>'
    return f"<td>{x:.4g}</td>".replace("-", "−")
