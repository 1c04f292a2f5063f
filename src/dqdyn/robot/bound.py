"""Functions of the catalog bound to a robot, its frames and choices, traced and compiled: ``f(q, out=J)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.counter import Tally, counters
from dqdyn.caching import cached_property
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace
from dqdyn.dynamics import wrenches
from dqdyn.errors import Error, ModelError, unknown_name
from dqdyn.kinematics.frames import EXPRESSIONS
from dqdyn.model.model import Model
from dqdyn.robot.catalog import INPUT_SIZES, METHODS, Quantity, quantities
from dqdyn.robot.constrained_catalog import constrained_method, require_determined, require_untimed
from dqdyn.robot.made_once import MadeOnce
from dqdyn.robot.state import as_input

DEFAULTS: dict[str, Any] = {"expressed": "body", "method": "auto", "wrench_expressed": "body"}


class Bindings:
    """The functions of one model that have been asked for, each traced and compiled once.

    ``native=False`` interprets them, for a few calls that would not pay for compiling.
    """

    def __init__(self, model: Model, native: bool | None = None) -> None:
        self.model, self.native = model, native
        self._functions: MadeOnce[Function] = MadeOnce()

    def function(self, name: str, options: dict[str, Any]) -> Function:
        """The function ``name`` of the catalog, its options checked."""
        quantity, values = self.resolve(name, options)
        return self._functions.get((name, values), lambda: self.compiled(quantity, values))

    def compiled(self, quantity: Quantity, options: tuple[Any, ...]) -> Function:
        model = self.model
        names, verify = quantity.inputs, None

        if quantity.name.startswith("forward_dynamics"):
            self.require_inertia()
            require_untimed(model, quantity.name, names)
            verify = None if self._is_regular else self.require_regular
        program = self.program(quantity, options)

        def door(argument: int, value: Any, check: bool) -> np.ndarray:
            return as_input(model, *program.inputs[argument], value, check)

        numbers = [argument for argument, name in enumerate(names) if name in ("dt", "t")]
        choices: dict[str, Any] = {"units": unit_quaternions(model, names), "numbers": numbers, "native": self.native}
        return Function(program, door, summary=quantity.summary, verify=verify, **choices)

    def program(self, quantity: Quantity, options: tuple[Any, ...]) -> Program:
        """The straight-line program of a quantity for this model."""
        inputs = [(name, self.size(name, quantity, options)) for name in quantity.inputs]
        programs = [trace(quantity.name, inputs, form) for form in quantity.variants(self.model, options)]
        return min(programs, key=lambda program: program.counts.total)

    def size(self, name: str, quantity: Quantity, options: tuple[Any, ...]) -> int:
        """Length of an input."""
        if name == "wrenches":
            return 6 * len(options[quantity.options.index("wrench_frames")])
        size = INPUT_SIZES[name]
        return size if isinstance(size, int) else int(getattr(self.model, size))

    def count(self, name: str, options: dict[str, Any]) -> Tally:
        """Operations of the algorithm as written, before any simplification."""
        quantity, values = self.resolve(name, options)
        tally = Tally()
        quantity.run(self.model, values, [counters(self.size(n, quantity, values), tally) for n in quantity.inputs])
        return tally

    def resolve(self, name: str, options: dict[str, Any]) -> tuple[Quantity, tuple[Any, ...]]:
        """The quantity of that name and its options in order, checked and hashable."""
        known = quantities(self.model)
        if name not in known:
            raise unknown_name("function", name, known)
        quantity = known[name]
        unknown = set(options) - set(quantity.options)
        if unknown:
            raise unknown_name(f"option of {name}", sorted(unknown)[0], quantity.options)
        values = []
        for option in quantity.options:
            if option not in options and option not in DEFAULTS:
                raise Error(f"{name} needs the option {option!r}: pass {option}=...", option=option)
            values.append(self._option(name, option, options.get(option, DEFAULTS.get(option))))
        return quantity, tuple(values)

    def _option(self, name: str, option: str, value: Any) -> Any:
        if option.startswith("frame"):
            return self.model.frame(value)
        if option == "method":
            if name.startswith("forward_dynamics") and self.model.constraints:
                return constrained_method(self.model, value)
            if value != "auto" and value not in METHODS[name]:
                raise unknown_name(f"method of {name}", value, ["auto", *METHODS[name]])
            return self._able(value)
        if option == "wrench_frames":
            if isinstance(value, str) or not isinstance(value, Sequence):
                raise Error(f"wrench_frames is a list of frames, as in ['tool']; found {value!r}.", option=option)
            return tuple(self.model.frame(frame).name for frame in value)
        known = wrenches.EXPRESSIONS if option == "wrench_expressed" else EXPRESSIONS
        if value not in known:
            raise unknown_name("expression", value, known)
        return value

    def _able(self, method: str) -> str:
        """The method, unless it cannot treat this robot: mimic joints couple branches."""
        follower = next((joint.name for joint in self.model.joints if joint.is_mimic), None)
        if method == "articulated-body" and follower is not None:
            raise ModelError(
                f"the method 'articulated-body' has no place for joint {follower!r} of {self.model.name!r}, which "
                "mimics another: use 'composite-body', or load the robot with mimic=False.",
                joint=follower,
            )
        return method

    def require_inertia(self) -> None:
        """An error with the joint's name where M is singular in every configuration, and constraints do not help."""
        if self._without_inertia is not None and self.model.constraints:
            require_determined(self.model)
        elif self._without_inertia is not None:
            raise ModelError(
                f"forward dynamics of {self.model.name!r} is impossible: joint {self._without_inertia!r} moves no "
                "inertia, so the mass matrix is singular; give its links mass, or lock it.",
                joint=self._without_inertia,
            )

    def require_regular(self, inputs: Sequence[np.ndarray]) -> None:
        """An error with the joint's name where M is singular at a state, q the first of the inputs (..., n)."""
        from dqdyn.dynamics.massless_joints import joint_of, vanishing

        if self._is_regular:
            return
        found = vanishing(self._pivots(inputs[0], check=False))
        if (found < 0).all():
            return
        row = tuple(int(i) for i in np.argwhere(found >= 0)[0])
        joint = joint_of(self.model, int(found[row]))
        where = f"the q of state {row[0] if len(row) == 1 else row}" if row else "this q"
        raise ModelError(
            f"forward dynamics of {self.model.name!r} is impossible at {where}: joint {joint!r} moves no "
            "inertia there, so the mass matrix is singular; leave this configuration, or give the links mass.",
            joint=joint,
            row=row,
        )

    @cached_property
    def _pivots(self) -> Function:
        from dqdyn.dynamics.massless_joints import pivots

        model, size = self.model, 3 * self.model.nv
        return Function(trace("pivots", [("q", model.nq)], lambda q: (pivots(model, q), (size,))), native=self.native)

    @cached_property
    def _is_regular(self) -> bool:
        """Whether no state can make M singular; constraints have their own ways."""
        from dqdyn.dynamics.massless_joints import is_regular

        return bool(self.model.constraints) or is_regular(self.model)

    @cached_property
    def _without_inertia(self) -> str | None:
        from dqdyn.dynamics.massless_joints import joint_without_inertia

        return joint_without_inertia(self.model)


def unit_quaternions(model: Model, names: tuple[str, ...]) -> list[tuple[int, int]]:
    """(argument, start) of every unit quaternion in the inputs."""
    return [
        (argument, joint.q.start + joint.motion.quaternion.start)
        for argument, name in enumerate(names)
        if name.startswith("q")
        for joint in model.joints
        if joint.motion.quaternion is not None
    ]
