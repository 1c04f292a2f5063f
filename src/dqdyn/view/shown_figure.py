"""Figures that show themselves: in notebooks, in windows, and nowhere on machines without a screen."""

from __future__ import annotations

import io
import sys
from functools import cache
from typing import Any

from dqdyn.errors import missing_extra

_WITHOUT_SCREEN = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


def shown_figure() -> Any:
    """An empty ``matplotlib.figure.Figure``, which is displayed by whatever shows figures here.

    In a notebook it appears once, also from the midst of a cell; where windows can be opened, ``plt.show()`` opens it.
    Without a screen pyplot does not know it, so long runs do not gather figures.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise missing_extra("matplotlib", "plot", "plotting a trajectory") from None
    if plt.get_backend().lower() in _WITHOUT_SCREEN:
        return _shown_class()(layout="constrained")
    return plt.figure(FigureClass=_shown_class(), layout="constrained")


def open_window(figure: Any) -> None:
    """In an interactive session of Python, open the figure's window at once; pyplot and notebooks do it themselves."""
    import matplotlib.pyplot as plt

    if hasattr(sys, "ps1") and _is_managed(figure) and not _is_notebook(plt.get_backend()):
        figure.show()


def _is_notebook(backend: str) -> bool:
    return any(word in backend.lower() for word in ("inline", "ipympl", "widget", "nbagg"))


def _is_managed(figure: Any) -> bool:
    """Whether pyplot has it, and so displays it."""
    import matplotlib.pyplot as plt

    number = getattr(figure, "number", None)
    return number in plt.get_fignums() and plt.figure(number) is figure


@cache
def _shown_class() -> type[Any]:
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure that prints as a sentence, and as a picture in notebooks."""

        def __repr__(self) -> str:
            titles = ", ".join(axis.get_ylabel() for axis in self.axes)
            return f"Figure with {titles or 'nothing'}: figure.savefig(path) writes it, plt.show() opens a window."

        __str__ = __repr__

        def _ipython_display_(self) -> None:
            # What pyplot has, it shows at the end of the cell; a second picture would be one too many.
            if _is_managed(self):
                return
            from IPython.display import display

            content = io.BytesIO()
            self.savefig(content, format="png", dpi=100)
            show: Any = display
            show({"image/png": content.getvalue(), "text/plain": repr(self)}, raw=True)

    return ShownFigure
