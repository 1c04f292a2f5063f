"""The result of a run: a value with everything that was recorded at the sampled times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, StateError
from dqdyn.robot import Robot

if TYPE_CHECKING:
    from dqdyn.robot.coordinates import Choices, RobotInCoordinates
    from dqdyn.simulate.in_coordinates import CoordinatePath

PER_SAMPLE = ("q", "v", "a", "tau", "kinetic", "potential", "residual")
MAPPINGS = ("wrenches", "extra", "events")
_RENDERERS: dict[str, Callable[..., Any]] = {}
_DRAWING = "dqdyn.view"
BEYOND = "finished beyond limits"
"""How the status of a run begins that left limits."""
WATCHED, UNTRUSTED = "watched", "untrusted"
"""What ``about`` of a batch has: the kinds of limits that are reported; the runs that did not finish, with statuses."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of a robot, sampled at ``time`` (n,) in s.

    ``q`` (n, nq), ``v``, ``a``, ``tau`` (n, nv) in the robot's units; τ is what acted from this sample to the next.
    ``wrenches``: frame → (n, 6), those from outside. ``kinetic`` and ``potential`` (n,) in J. ``residual`` (n, m):
    how far the state is from its m constraints, first at position, then at velocity level. A batch of B runs has
    its index second: ``q`` is (n, B, nq); :meth:`member` picks one. ``status`` says why the run ended, ``statuses``
    why each run of a batch did. ``extra`` holds what a controller recorded, ``events`` the times of events by name,
    ``about`` the settings of the run.
    """

    robot: Robot
    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    kinetic: Array
    potential: Array
    residual: Array
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    status: str = "finished"
    extra: Mapping[str, Array] = field(default_factory=dict)
    events: Mapping[str, Array] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("time", *PER_SAMPLE):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        for name in MAPPINGS:
            arrays = {key: _frozen(value) for key, value in getattr(self, name).items()}
            object.__setattr__(self, name, MappingProxyType(arrays))
        object.__setattr__(self, "about", MappingProxyType(dict(self.about)))
        self._check()

    def _check(self) -> None:
        """Every array has a row for every sample, and the size that the robot gives it."""
        n, runs = self.time.shape, self.q.shape[1:-1]
        nq, nv = (self.robot.nq,), (self.robot.nv,)
        sizes = {"q": nq, "v": nv, "a": nv, "tau": nv, "residual": self.residual.shape[-1:]}
        sizes |= {"kinetic": (), "potential": ()}
        expected = {"time": n[:1], **{name: (*n, *runs, *size) for name, size in sizes.items()}}
        expected |= {f"wrenches/{frame}": (*n, *runs, 6) for frame in self.wrenches}
        for name, array in self.arrays().items():
            kind, _, rest = name.partition("/")
            if name in expected and (array.shape != expected[name] or array.dtype.kind not in "fiu" or len(runs) > 1):
                found = f"{array.shape} of {array.dtype}"
                text = f"{name!r} of a trajectory has the shape {expected[name]} here; found {found}."
                raise StateError(text, argument=name)
            if kind == "extra" and rest and array.shape[:1] != n:
                raise StateError(f"{name!r} has a row for each of {n[0]} samples; found {array.shape}.", argument=name)

    def __getstate__(self) -> dict[str, Any]:
        return {k: dict(x) if isinstance(x, MappingProxyType) else x for k, x in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """Time from the first to the last sample in s."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    @property
    def finished(self) -> bool:
        """Whether the run came to its end and its numbers can be trusted, within the limits of the robot or not."""
        return self.status == "finished" or self.status.startswith(f"{BEYOND}:")

    @property
    def energy(self) -> Array:
        """Kinetic plus potential energy in J."""
        return self.kinetic + self.potential

    @property
    def batch(self) -> tuple[int, ...]:
        """() for one run, (B,) for a batch."""
        return self.q.shape[1:-1]

    def member(self, index: int) -> Trajectory:
        """One run of a batch, with its own ``status`` and its own ``about["beyond"]`` and ``about["clipped"]``."""
        if not self.batch:
            raise StateError("this trajectory is one run, not a batch: it has no members.", argument="index")
        if not -self.batch[0] <= index < self.batch[0]:
            raise StateError(f"this batch has {self.batch[0]} runs; found the index {index}.", argument="index")
        arrays = {name: getattr(self, name)[:, index] for name in PER_SAMPLE}
        extra = {name: x[:, index] if name == "joint_forces" else x for name, x in self.extra.items()}
        wrenches = {frame: w[:, index] for frame, w in self.wrenches.items()}
        from dqdyn.simulate.limits import told

        return told(self, index, replace(self, **arrays, wrenches=wrenches, extra=extra))

    @property
    def statuses(self) -> tuple[str, ...]:
        """The status of each run of a batch; of one run its own."""
        return tuple(self.member(i).status for i in range(*self.batch)) if self.batch else (self.status,)

    def part(self, samples: slice) -> Trajectory:
        """The samples of a slice, e.g. every tenth: ``part(slice(None, None, 10))``."""
        arrays = {name: getattr(self, name)[samples] for name in ("time", *PER_SAMPLE)}
        wrenches = {frame: w[samples] for frame, w in self.wrenches.items()}
        return replace(self, **arrays, wrenches=wrenches, extra={k: x[samples] for k, x in self.extra.items()})

    def in_coordinates(self, coordinates: RobotInCoordinates | Choices) -> CoordinatePath:
        """(q, q̇, q̈), each (n, nq), in other coordinates of its free and spherical joints; batches (n, B, nq).

        ``coordinates`` as of ``Robot.in_coordinates``, or a robot in coordinates. Euler angles do not jump by 2π.
        """
        from dqdyn.simulate.in_coordinates import chosen, path

        return path(chosen(self.robot, coordinates), self.q, self.v, self.a)

    # --- files and other libraries ---

    def save(self, path: str | Path) -> Path:
        """Write one file, by the ending; an existing one is replaced whole.

        .npz holds all arrays and the robot, for :meth:`load`; .csv and .parquet hold the table of :meth:`to_pandas` for
        other programs, with the time as first column (.parquet needs pyarrow).
        """
        from dqdyn.simulate.files import save

        return save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """Read what :meth:`save` wrote."""
        from dqdyn.simulate.files import load

        return load(path)

    def to_pandas(self) -> Any:
        """A table with one row per sample, indexed by time; columns such as "q joint1 [rad]"."""
        from dqdyn.simulate.tables import to_pandas

        return to_pandas(self)

    def to_html(self, path: str | Path, **options: Any) -> Path:
        """Write one self-contained page with the animation and the plots."""
        return Path(renderer("to_html")(self, path, **options))

    def to_video(self, path: str | Path, **options: Any) -> Path:
        """Write a .mp4 or .gif of the 3-D view; ``rate``, ``speed``, ``size``, … as :func:`dqdyn.view.write_video`."""
        return Path(renderer("to_video")(self, path, **options))

    def to_png(self, path: str | Path, *, at: float | None = None, **options: Any) -> Path:
        """Write a picture of the 3-D view at a time in s, default: the end; see :func:`dqdyn.view.write_png`."""
        return Path(renderer("to_png")(self, path, at=at, **options))

    def plot(self, *what: str, **options: Any) -> Any:
        """Figures of the curves against time, by matplotlib."""
        return renderer("plot")(self, *what, **options)

    def _repr_html_(self) -> str | None:
        """A player in a notebook."""
        html: str | None = renderer("_repr_html_")(self)
        return html

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trajectory):
            return NotImplemented
        if self.robot != other.robot or self.status != other.status or dict(self.about) != dict(other.about):
            return False
        ours, theirs = self.arrays(), other.arrays()
        equal = (np.array_equal(x, theirs[k], equal_nan=x.dtype.kind == "f") for k, x in ours.items())
        return set(ours) == set(theirs) and all(equal)

    __hash__ = None  # type: ignore[assignment]

    def arrays(self) -> dict[str, Array]:
        """All arrays by name; those of mappings as "wrenches/tool"."""
        result = {name: getattr(self, name) for name in ("time", *PER_SAMPLE)}
        for name in MAPPINGS:
            result |= {f"{name}/{key}": value for key, value in getattr(self, name).items()}
        return result

    def __repr__(self) -> str:
        many = f" × {self.batch[0]} runs" if self.batch else ""
        samples = f"{len(self)} samples over {self.duration:.6g} s{many}"
        status = BEYOND if self.finished and self.status != "finished" else self.status
        return f"<Trajectory of {self.robot.name!r}: {samples}, {status}>"


def register(name: str, function: Callable[..., Any]) -> None:
    """Let ``Trajectory.<name>`` call ``function(trajectory, …)``; names are "to_html", "plot", …."""
    _RENDERERS[name] = function


def renderer(name: str) -> Callable[..., Any]:
    """The function that was registered; the drawing package is imported when it is first needed."""
    if name not in _RENDERERS:
        import_module(_DRAWING)
    if name not in _RENDERERS:
        raise Error(f"this build of dqdyn cannot do Trajectory.{name}: {_DRAWING} does not register it.", name=name)
    return _RENDERERS[name]


def _frozen(value: Any) -> Array:
    array = np.asarray(value)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array
