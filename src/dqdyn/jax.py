"""Functions of a robot in JAX on native code of the CPU. For any device there is ``robot.export("jax", name)``.

>>> import dqdyn as dq
>>> robot = dq.robots.arm7()
>>> torques = dq.jax.function(robot, "inverse_dynamics")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.compile.export.jax_primitive import JaxFunction
from dqdyn.compile.runtime.differentiable import Differentiable
from dqdyn.compile.runtime.threads import whole
from dqdyn.compile.runtime.xla_ffi import number_of, register
from dqdyn.compile.trace.program import Program
from dqdyn.errors import StateError, missing_extra
from dqdyn.robot import Robot
from dqdyn.robot.differentiable import differentiable
from dqdyn.robot.options import Option

__all__ = ["function"]


def function(robot: Robot, name: str, *, threads: int = 1, **options: Option) -> NativeFunction:
    """The function ``name`` of a robot on JAX arrays (..., n) of the CPU, under jit, vmap and derivatives of any order.

    ``options`` are those of ``robot.function``. XLA's memory is read and written without a copy. Without
    ``jax_enable_x64``, arrays are float32: they are converted, computed in float64 and converted back. Gradients with
    respect to q are those in its nq numbers, for a unit quaternion tangential to the sphere. NaN propagates.
    """
    try:
        import jax  # noqa: F401
    except ImportError:
        raise missing_extra("jax", "jax", "dqdyn.jax") from None
    return NativeFunction(differentiable(robot, name, whole(threads), options))


class NativeFunction(JaxFunction):
    """A program in machine code that XLA calls."""

    def __init__(self, native: Differentiable) -> None:
        super().__init__(native.program, "", native.units)
        self.native = native

    def of(self, program: Program) -> NativeFunction:
        return NativeFunction(Differentiable(program, self.units, self.native.threads))

    def rows(self, *arrays: Any) -> Any:
        import jax

        if (platform := jax.default_backend()) != "cpu":
            remedy = "robot.export('jax', ...) runs on any device"
            raise StateError(f"{self.__name__} is native code of the CPU, and JAX computes on {platform!r}: {remedy}.")
        shape = jax.ShapeDtypeStruct((arrays[0].shape[0], len(self.program.outputs)), arrays[0].dtype)
        return jax.ffi.ffi_call(register(), shape)(*arrays, number=np.int64(self._number))

    @cached_property
    def _number(self) -> int:
        return number_of(self._fill)

    def _fill(self, out: Array, *arrays: Array) -> None:
        """Results into the memory of XLA."""
        shaped = out.reshape(len(out), *self.program.shape)
        if out.dtype == np.float64:
            self.native(*arrays, out=shaped)
        else:
            shaped[...] = self.native(*(a.astype(float) for a in arrays))
