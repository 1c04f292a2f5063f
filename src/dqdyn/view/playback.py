"""Playing a trajectory on viser's page: time slider, play button, speed, and a plot with a cursor."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import one_line
from dqdyn.view.motion import FASTEST
from dqdyn.view.series import Panel, panels_of
from dqdyn.view.svg import COLORS

SPEEDS = {"0.1×": 0.1, "0.25×": 0.25, "0.5×": 0.5, "1×": 1.0, "2×": 2.0, "5×": 5.0}
_POINTS = 500  # of a plotted curve
_PLOT_EVERY = 0.1  # seconds between moves of the cursor


class Playback:
    """Owns the controls and a thread that moves them while the motion plays."""

    def __init__(self, server: Any, trajectory: Any, moved: Callable[[int], None]) -> None:
        self.trajectory, self.moved = trajectory, moved
        self.time = np.asarray(trajectory.time, dtype=float)
        self.sample, self.playing = 0, False
        self._last_plot = 0.0
        self._from_thread = False
        self._end = threading.Event()
        gui = server.gui
        start, end = float(self.time[0]), float(self.time[-1])
        step = float(f"{max(end - start, 1e-6) / 1000.0:.3g}")
        with gui.add_folder(one_line(f"{trajectory.robot.name}: playback")):
            self.button = gui.add_button("play")
            self.slider = gui.add_slider("time (s)", start, max(end, start + 1e-9), step, start)
            self.speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1×")
            self.repeat = gui.add_checkbox("repeat", True)
        self.panels = {panel.label: panel for panel in panels_of(trajectory)}
        self.chart: Any = None
        if self.panels:
            with gui.add_folder("Curves"):
                self.choice = gui.add_dropdown("quantity", tuple(self.panels))
                self.choice.on_update(lambda _: self._redraw(gui))
                self._redraw(gui)
        self.button.on_click(lambda _: self.pause() if self.playing else self.play())
        self.slider.on_update(lambda _: self._scrubbed())
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def play(self) -> None:
        if self.slider.value >= self.time[-1]:
            self.slider.value = float(self.time[0])
        self.playing = len(self.time) > 1
        self.button.label = "pause" if self.playing else "play"

    def pause(self) -> None:
        self.playing = False
        self.button.label = "play"

    def stop(self) -> None:
        self.playing = False
        self._end.set()
        self.thread.join(timeout=2.0)

    def _scrubbed(self) -> None:
        if not self._from_thread:
            self.at(float(self.slider.value), force=not self.playing)

    def at(self, seconds: float, force: bool = False) -> None:
        """Show the sample next to a time."""
        self.sample = int(np.clip(np.searchsorted(self.time, seconds), 0, len(self.time) - 1))
        self.moved(self.sample)
        if self.chart is not None and (force or clock.monotonic() - self._last_plot > _PLOT_EVERY):
            self._last_plot = clock.monotonic()
            self.chart.data = self._data(self.panels[self.choice.value])

    def _run(self) -> None:
        last = clock.monotonic()
        while not self._end.wait(1.0 / FASTEST):
            now = clock.monotonic()
            elapsed, last = now - last, now
            if not self.playing:
                continue
            seconds = float(self.slider.value) + elapsed * SPEEDS[self.speed.value]
            if seconds >= self.time[-1]:
                seconds = float(self.time[0] if self.repeat.value else self.time[-1])
                if not self.repeat.value:
                    self.pause()
            self._from_thread = True
            self.slider.value = seconds
            self._from_thread = False
            self.at(seconds)

    def _redraw(self, gui: Any) -> None:
        panel = self.panels[self.choice.value]
        lines = [
            {"label": one_line(name), "stroke": COLORS[i % len(COLORS)], "width": 1.5}
            for i, name in enumerate(panel.curves)
        ]
        series = ({"label": "time (s)"}, *lines, {"label": "now", "stroke": "#888888", "width": 1})
        options: dict[str, Any] = {"title": panel.label, "series": series, "data": self._data(panel)}
        if self.chart is None:
            self.chart = gui.add_uplot(aspect=1.4, scales={"x": {"time": False}}, **options)
        for name, value in options.items():
            setattr(self.chart, name, value)

    def _data(self, panel: Panel) -> tuple[Array, ...]:
        """Time, curves, and a step at the present, from the least value to the largest."""
        kept = np.unique(np.linspace(0, len(self.time) - 1, _POINTS).astype(int))
        kept = np.sort(np.concatenate([kept, [self.sample, self.sample]]))
        curves = [_filled(np.asarray(values, dtype=float))[kept] for values in panel.curves.values()]
        least, most = float(np.min(curves)), float(np.max(curves))
        first = int(np.searchsorted(kept, self.sample))
        now = np.where(np.arange(len(kept)) <= first, least, most)
        return (self.time[kept], *curves, now)


def _filled(values: Array) -> Array:
    """Values that are not finite repeat the one before: uPlot draws nothing where one is missing."""
    known = np.where(np.isfinite(values), np.arange(len(values)), 0)
    filled: Array = np.nan_to_num(values[np.maximum.accumulate(known)], posinf=0.0, neginf=0.0)
    return filled
