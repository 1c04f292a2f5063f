"""From the name of a function to machine code: checked, traced and compiled once."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import is_lazy
from dqdyn.compile.codegen.results import ResultForm
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.method_table import MethodTable
from dqdyn.compile.runtime.process_lock import LOCK
from dqdyn.compile.trace.linear_system import DeferredProgram, LinearSystem
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import cheapest, trace
from dqdyn.dynamics.parameters import with_parameters
from dqdyn.errors import Error, unknown_name
from dqdyn.model.model import Frame, Model
from dqdyn.robot.options import DEFAULTS, FRAMES, KEYS, Option, Options, checked, read_options
from dqdyn.robot.program_store import stored
from dqdyn.robot.robot_function import Entries, RobotFunction
from dqdyn.robot.variables import Variables

if TYPE_CHECKING:
    from dqdyn.robot.joint_functions import JointFunction

_LOG = logging.getLogger(__name__)
_LONG_TO_TRACE = 100  # axes from which even a function of one frame takes longer to trace than to find on disk
_MATRICES = 3  # of derivatives
RENAMED: Mapping[str, tuple[str, Mapping[str, Option]]] = {
    "inverse_dynamics_with_wrenches": ("inverse_dynamics", {}),
    "forward_dynamics_with_wrenches": ("forward_dynamics", {}),
    "joint_wrenches_with_wrenches": ("joint_wrenches", {}),
    "forward_dynamics_at": ("forward_dynamics", {"time": True}),
    "forward_dynamics_with_wrenches_at": ("forward_dynamics", {"time": True}),
    "forward_dynamics_by_kkt": ("forward_dynamics", {"method": "kkt"}),
}
"""Former names of functions, which are options now: kept for one release."""


class Made(NamedTuple):
    """How a program was made."""

    seconds: float
    from_cache: bool


class CompiledFunctions:
    """The functions of one robot, in one choice of variables, that have been requested.

    ``owner`` is the class whose methods document them. Those with default options are in ``direct`` as well, by name,
    then by frames, "expressed" or "method", where they have them: :mod:`dqdyn.compile.runtime.method` finds them there
    without running Python code.
    """

    def __init__(self, variables: Variables, owner: type) -> None:
        self.variables, self.owner = variables, owner
        self.direct = MethodTable()
        self.made: dict[tuple[str, Options], Made] = {}
        self._compiled: dict[tuple[str, Options], Function] = {}
        self._several: dict[tuple[Any, ...], JointFunction] = {}
        self._ready: dict[tuple[str, Options], Callable[..., np.ndarray]] = {}

    def named(self, name: str, options: Mapping[str, Option]) -> tuple[RobotFunction, Options]:
        """The function of that name and its options, checked."""
        known = self.variables.functions
        if name not in known and name in RENAMED and RENAMED[name][0] in known:
            new, given = RENAMED[name]
            text = f"the function {name!r} is {new!r} with options now, and the old name goes with the next release."
            warnings.warn(text, DeprecationWarning, stacklevel=4)
            name, options = new, {**given, **options}
        if name not in known:
            raise unknown_name("function", name, known)
        return known[name], read_options(self.variables.model, known[name], options)

    def get(self, function: RobotFunction, options: Options) -> Function:
        """A function whose options are checked; threads that race for it wait for the one that compiles it."""
        key = (function.name, options)
        compiled = self._compiled.get(key)
        if compiled is None:
            with LOCK:
                compiled = self._compiled.get(key)
                if compiled is None:
                    compiled = self._compiled[key] = self.compile(function, options)
        return compiled

    def ready(self, name: str, options: Options, first: Any) -> Callable[..., np.ndarray]:
        """The quickest callable for the methods of a robot; code for one state is made when one state comes."""
        ready: Callable[..., np.ndarray] | None
        try:
            ready = self._ready.get((name, options))
        except TypeError:  # an option that cannot be a key, such as a list of methods
            with suppress(TypeError):  # of a list in place of a frame
                checked(self.variables.model, self.variables.functions[name], options)
            raise Error(f"options of {name} are names, such as frame='tool'; found {options!r}.") from None
        if ready is not None:
            return ready
        function = self.variables.functions[name]
        compiled = self.get(function, checked(self.variables.model, function, options))
        compiled = compiled.plain
        if _is_batch(first):
            return compiled
        ready = compiled.fast
        self._ready[name, options] = ready
        self._make_direct(function, options, ready)
        return ready

    def compile(self, function: RobotFunction, options: Options) -> Function:
        """The function as machine code, or interpreted."""
        variables, names = self.variables, function.all_inputs(options)
        verify = variables.require(function, options)
        of_system = function.of_system(variables.subject, options)
        if of_system is None:
            program, system = self.stored_program(function, options), None
        else:
            system = LinearSystem(self.stored_program(of_system, options, function), _MATRICES)
            program = DeferredProgram(function.name, system, partial(self.program, function, options))
        return Function(
            program,
            partial(variables.read, program),
            variables.unit_quaternions(names),
            function.summary(self.owner),
            numbers=variables.times(names),
            verify=verify,
            refusals={} if function.refuses is None else {0: function.refuses(function, options)},
            native=variables.native,
            lazy=partial(self._lazily, function, options),
            system=system,
            **_forms(function, variables.model, options, program),
        )

    def _lazily(self, function: RobotFunction, options: Options, compiled: Function, inputs: Any, **how: Any) -> Any:
        """The result of a function of Dask arrays, lazy itself."""
        from dqdyn.robot.dask_arrays import Travelling, lazily

        return lazily(Travelling.of(self, function.name, options), compiled, inputs, **how)

    def stored_program(self, function: RobotFunction, options: Options, of: RobotFunction | None = None) -> Program:
        """The program, from the cache where it is there; it may give the system ``of`` another function."""
        start = time.perf_counter()
        trace_it, model = partial(self.program, function, options), self.variables.model
        of = of or function
        named = type(self.variables) is Variables and self.variables.functions.get(of.name) is of
        named = named and not options.parameters  # which read the description, too, that the key does not have
        quick = "frame" in function.options and not function.divides and model.nv < _LONG_TO_TRACE
        keep = named and not quick
        program, known = stored(model, function.name, options, trace_it) if keep else (trace_it(), False)
        _LOG.debug("%s %s of %s: %s", "read" if known else "traced", function.name, model.name, program.counts)
        self.made[of.name, options] = Made(time.perf_counter() - start, known)
        return program

    def program(self, function: RobotFunction, options: Options) -> Program:
        """The straight-line program with the fewest operations among those of all candidates."""
        return cheapest(function.name, self._sizes(function, options), self._algorithms(function, options))

    def programs(self, function: RobotFunction, options: Options) -> list[Program]:
        """The straight-line programs of all candidates."""
        inputs = self._sizes(function, options)
        return [trace(function.name, inputs, algorithm) for algorithm in self._algorithms(function, options)]

    def _algorithms(self, function: RobotFunction, options: Options) -> list[Callable[..., Entries]]:
        """Candidates to be traced."""
        candidates = function.algorithms(self.variables.subject, options)
        if options.parameters:
            return [partial(self._with_parameters, function, options, i) for i in range(len(candidates))]
        return [partial(function.evaluate, form, on, options) for form, on in candidates]

    def _with_parameters(
        self, function: RobotFunction, options: Options, candidate: int, *inputs: Sequence[Scalar]
    ) -> Entries:
        """A candidate on the model whose parameters are among the inputs."""
        given = dict(zip(function.all_inputs(options), inputs, strict=True))
        model, options = self._opened(options, given)
        form, on = function.algorithms(model, options)[candidate]
        return function.evaluate(form, on, options, *inputs)

    def _opened(self, options: Options, given: Mapping[str, Sequence[Scalar]]) -> tuple[Model, Options]:
        """The model with parameters among the inputs, and the options with its frames."""
        model = with_parameters(self.variables.model, {name: given[name] for name in options.parameters})
        frame, frame1, frame2 = (_same_frame(model, getattr(options, name)) for name in FRAMES)
        return model, options._replace(frame=frame, frame1=frame1, frame2=frame2)

    def several(self, wanted: Any) -> JointFunction:
        """Several functions in one program; see :mod:`dqdyn.robot.joint_functions`."""
        from dqdyn.robot.joint_functions import joint_function, read_entries

        entries = read_entries(self, wanted)
        key = tuple((e.function.name, e.options, e.field) for e in entries)
        with LOCK:
            if key not in self._several:
                self._several[key] = joint_function(self, entries)
        return self._several[key]

    def count(self, function: RobotFunction, options: Options, tally: Tally | None = None) -> Tally:
        """Operations of the algorithm as written, before any simplification."""
        tally, subject = Tally() if tally is None else tally, self.variables.subject
        given = {name: counters(size, tally) for name, size in self._sizes(function, options)}
        if options.parameters:
            subject, options = self._opened(options, given)
        function.run(subject, options, *given.values())
        return tally

    def _sizes(self, function: RobotFunction, options: Options) -> list[tuple[str, int]]:
        return [(name, self.variables.size(name, options)) for name in function.all_inputs(options)]

    def _make_direct(self, function: RobotFunction, options: Options, ready: Any) -> None:
        """Let the method of that name find the function where its options, but for its keys, have their defaults."""
        from dqdyn.compile.runtime.method import load_methods
        from dqdyn.robot.base import WithFunctions

        usual = {name: getattr(DEFAULTS, name) for name in KEYS if name in function.options}
        if isinstance(ready, Function) or options._replace(**usual) != DEFAULTS:
            return
        load_methods(WithFunctions)
        *path, last = (function.method or function.name, *function.keys(options))
        table: dict[str, Any] = self.direct
        for key in path:
            table = table.setdefault(key, {})
        table[last] = ready


def _forms(function: RobotFunction, model: Model, options: Options, program: Program) -> dict[str, Any]:
    """How the result of a function is given: by itself, and by the method of a robot."""
    whole = ResultForm((program.shape,))
    if function.value is not None:
        plain = ResultForm((program.shape,), is_value=True)
        return {"forms": {"call": whole, "plain": plain}, "value": function.value(model, options)}
    if function.plain == "number":
        return {"forms": {"call": whole, "plain": ResultForm(((),))}}
    if function.plain == "parts":
        parts = (program.shape[1:],) * program.shape[0]
        return {"forms": {"call": whole, "plain": ResultForm(parts, is_tuple=True)}, "parts": parts}
    return {}


def _is_batch(value: Any) -> bool:
    """Whether a vector is many; asked of the value itself, for NumPy's functions warn on some symbols."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and isinstance(value[0], (list, tuple, np.ndarray))
    return (isinstance(value, np.ndarray) and value.ndim > 1) or is_lazy(value)


def _same_frame(model: Model, frame: Frame | None) -> Frame | None:
    """A frame of the robot where the model with parameters has it."""
    return frame if frame is None else model.frames.get(frame.name, frame)
