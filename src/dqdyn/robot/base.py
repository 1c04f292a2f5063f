"""What robots share, in whatever variables: their functions, and the way from a method to machine code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dqdyn.algebra.counter import Tally
from dqdyn.arrays import Array, Out
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.method_table import MethodTable
from dqdyn.compile.trace.program import Counts, Program
from dqdyn.errors import Error
from dqdyn.model.model import Frame, Model, TreeJoint
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.options import DEFAULTS, Option, Options

if TYPE_CHECKING:
    from dqdyn.robot.ahead_of_time import CompiledAhead, Wanted

Several = list[Any] | tuple[Any, ...] | Mapping[str, Any]
"""Functions to be compiled as one, each as "name", "name:frame" or (name, options); by the names of their results."""
Inputs = tuple[Any, ...]
"""What is given to a function, in the order of its inputs."""


class WithFunctions:
    """An object whose methods run compiled functions."""

    __slots__ = ("_direct", "_functions")
    # The first slot is where compiled methods look for machine code.

    _direct: MethodTable
    _functions: CompiledFunctions

    def _set_functions(self, functions: CompiledFunctions) -> None:
        object.__setattr__(self, "_functions", functions)
        object.__setattr__(self, "_direct", functions.direct)

    @overload
    def function(self, name: str, **options: Option) -> Callable[..., Array]: ...

    @overload
    def function(self, name: Several) -> Callable[..., tuple[Array, ...]]: ...

    def function(self, name: str | Several, **options: Option) -> Callable[..., Any]:
        """The compiled function ``name`` bound to this robot, for loops; it has a signature and a docstring.

        ``f = robot.function("twist_jacobian", frame="hand"); f(q, out=J)``. ``f.__self__.program`` is its program.
        Options that add an input each, after the others: ``wrench_frames`` (a list: [f, τ] per frame, one after the
        other, in the axes of ``wrench_expressed``) and ``time`` (True: t in s, on which constraints may depend).
        ``packed=True`` gives the upper triangle of a mass matrix, row by row: ``M[np.triu_indices(nv)]``.

        A list of functions is compiled as one, which computes once what they share and gives a tuple of arrays:
        ``f = robot.function(["mass_matrix", "bias_forces", "twist_jacobian:hand"]); M, h, J = f(q, v)``. Entries are
        names, "name:frame", or pairs of a name and options; a dict names the results. Inputs are q, v, a, tau as far as
        they are needed, then all others in the order of the list. ``out=`` takes a tuple of arrays.
        """
        return self._bound(name, options).fast

    def compile(
        self, functions: Iterable[Wanted] | None = None, *, batches: bool = False, progress: bool | None = None
    ) -> CompiledAhead:
        """Compile functions before they are needed, on all cores; print the result for a table.

        ``functions`` are names, with a frame as in ``"pose:tool"`` (two as in ``"relative_pose:left,right"``), or pairs
        ``(name, options)``; default: all that need no frame. ``batches`` compiles the code for batches, too.
        ``progress`` shows a bar; None: on a terminal. The cache keeps the code for other processes.
        """
        from dqdyn.robot.ahead_of_time import compile_ahead

        return compile_ahead(self._functions, functions, batches, progress)

    def program(self, name: str | Several, **options: Option) -> Program:
        """The straight-line program behind a function, or several; ``print`` it, count it, export it."""
        return self._bound(name, options).program

    def count(self, name: str | Several, simplify: bool = True, **options: Option) -> Counts | Tally:
        """Operations of a function, or several in one program: ``.mul``, ``.add``, ``.sincos``, ``.total``, ….

        ``simplify=True`` counts the compiled program; ``False`` the algorithm as written, as the papers count.
        """
        if simplify:
            return self.program(name, **options).counts
        if isinstance(name, str):
            return self._functions.count(*self._functions.named(name, options))
        tally = Tally()
        for entry in self._functions.several(name).entries:
            self._functions.count(entry.function, entry.options, tally)
        return tally

    def _bound(self, name: Any, options: Mapping[str, Option]) -> Function:
        """One function with its options, or several."""
        if isinstance(name, str):
            return self._functions.get(*self._functions.named(name, options))
        if options:
            text = "options belong to one function: pass them in its pair, as in ('twist_jacobian', {'frame': 'hand'})"
            raise Error(f"{text}; found {', '.join(options)} beside a list of functions.", options=list(options))
        return self._functions.several(name)

    def _run(
        self, name: str, inputs: Inputs, options: Options = DEFAULTS, out: Out = None, check: bool = True
    ) -> Array:
        """A function on inputs; plain calls of compiled methods run machine code without coming here."""
        function = self._functions.ready(name, options, inputs[0])
        if check:  # a built-in function is quickest without names of arguments
            return function(*inputs) if out is None else function(*inputs, out=out)
        return function(*inputs, out=out, check=False)

    def _run_plain(self, name: str, inputs: Inputs, options: Options = DEFAULTS, check: bool = True) -> Any:
        """A function whose method gives something else than an array: a tuple of arrays, or a value."""
        function: Callable[..., Any] = self._functions.ready(name, options, inputs[0])
        return function(*inputs) if check else function(*inputs, check=False)


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits per coordinate; ±inf where there is none."""

    lower: Array
    """(nq,) in rad or m."""
    upper: Array
    """(nq,) in rad or m."""
    velocity: Array
    """(nv,) in rad/s or m/s."""
    effort: Array
    """(nv,) in N m or N."""


class RobotBase(WithFunctions):
    """A model and its functions."""

    __slots__ = ("__weakref__", "_limits", "model")

    model: Model
    _limits: Limits

    @property
    def joints(self) -> tuple[TreeJoint, ...]:
        """Moving joints in the order of q: ``.name``, ``.kind``, ``.q`` and ``.v`` (slices), limits, damping, …"""
        return self.model.joints

    @property
    def frames(self) -> Mapping[str, Frame]:
        """Frames by name: every link, every joint (its child side), and those added."""
        return self.model.frames


def limits_of(model: Model) -> Limits:
    """Limits of all joints that have coordinates of their own."""
    own = [joint for joint in model.joints if not joint.is_mimic]
    arrays = [np.array([c for j in own for c in getattr(j, name)]) for name in ("lower", "upper", "velocity", "effort")]
    for array in arrays:
        array.setflags(write=False)
    return Limits(*arrays)
