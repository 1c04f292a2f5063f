"""One primitive of JAX for all programs: what jit, vmap, forward and reverse mode do with them.

A program is evaluated on rows. Its derivatives are programs: the tangent, which is linear in its rates, and the
adjoint, to which JAX comes by transposing the tangent. Each is differentiated in the same way, so any order works.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np

from dqdyn.caching import cached_property
from dqdyn.compile.trace.adjoint import adjoint
from dqdyn.compile.trace.partials import Units
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tangent import tangent
from dqdyn.errors import StateError


class JaxFunction(ABC):
    """A program on JAX arrays (..., size), one per input; leading axes are broadcast.

    ``jax.jit``, ``vmap``, ``grad``, ``jvp``, ``vjp``, ``jacfwd``, ``jacrev`` and ``hessian`` apply. Derivatives are
    programs, too, made when they are asked for; with respect to the unit quaternions ``units`` they are tangential to
    the sphere.
    """

    def __init__(self, program: Program, summary: str = "", units: Units = ()) -> None:
        self.program, self.units = program, tuple(units)
        self.__name__, self.__doc__ = program.name, summary
        self._adjoints: dict[tuple[int, ...], JaxFunction] = {}

    @abstractmethod
    def rows(self, *arrays: Any) -> Any:
        """Arrays (rows, size) of one dtype to (rows, outputs), in operations of JAX."""

    @abstractmethod
    def of(self, program: Program) -> JaxFunction:
        """A derivative, evaluated in the same way."""

    def dtype(self, arrays: list[Any]) -> Any:
        """That of the result."""
        import jax.numpy as jnp

        return jnp.result_type(*arrays, jnp.float32)

    def __call__(self, *inputs: Any) -> Any:
        import jax.numpy as jnp

        arrays = self._checked(inputs)
        dtype = self.dtype(arrays)
        lead = jnp.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        rows = math.prod(lead)
        flat = [jnp.broadcast_to(a, (*lead, a.shape[-1])).reshape(rows, a.shape[-1]).astype(dtype) for a in arrays]
        return _primitive().bind(*flat, function=self).reshape(*lead, *self.program.shape)

    def __repr__(self) -> str:
        return f"<{self.__name__}({', '.join(name for name, _ in self.program.inputs)}) in JAX: {self.program.counts}>"

    def _checked(self, inputs: tuple[Any, ...]) -> list[Any]:
        import jax.numpy as jnp

        expected = self.program.inputs
        if len(inputs) != len(expected):
            names = ", ".join(name for name, _ in expected)
            raise StateError(f"{self.__name__} takes {names}; found {len(inputs)} arguments.")
        arrays = [jnp.asarray(x) for x in inputs]
        for (name, size), array in zip(expected, arrays, strict=True):
            if array.ndim == 0 or array.shape[-1] != size:
                shapes = f"({size},) or (..., {size}); found {array.shape}"
                raise StateError(f"{name} of {self.__name__} has shape {shapes}.", argument=name, expected=size)
            if jnp.iscomplexobj(array):
                raise StateError(f"{name} of {self.__name__} is complex: pass real numbers.", argument=name)
        return arrays

    @cached_property
    def tangent(self) -> JaxFunction:
        """(inputs, rates) → rate of the result."""
        return self.of(tangent(self.program, self.units))

    def adjoint(self, arguments: tuple[int, ...]) -> JaxFunction:
        """(inputs, cotangent) → gradients with respect to some inputs, one after the other."""
        if arguments not in self._adjoints:
            self._adjoints[arguments] = self.of(adjoint(self.program, arguments, self.units))
        return self._adjoints[arguments]


@lru_cache(maxsize=1)
def _primitive() -> Any:
    """The primitive; ``primal`` is the function whose tangent is evaluated, so that it can be transposed."""
    import jax
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    program = Primitive("dqdyn_program")

    def evaluate(*arrays: Any, function: JaxFunction, primal: JaxFunction | None = None) -> Any:
        return function.rows(*arrays)

    def shaped(*arrays: Any, function: JaxFunction, primal: JaxFunction | None = None) -> Any:
        return jax.core.ShapedArray((arrays[0].shape[0], len(function.program.outputs)), arrays[0].dtype)

    def batch(arrays: Any, axes: Any, **parameters: Any) -> Any:
        """More rows, rather than a batch of loops."""
        size = next(a.shape[axis] for a, axis in zip(arrays, axes, strict=True) if axis is not None)
        wide = [
            jnp.broadcast_to(a, (size, *a.shape)) if axis is None else jnp.moveaxis(a, axis, 0)
            for a, axis in zip(arrays, axes, strict=True)
        ]
        rows = wide[0].shape[1]
        flat = [a.reshape(size * rows, a.shape[-1]) for a in wide]
        return program.bind(*flat, **parameters).reshape(size, rows, -1), 0

    def jvp(arrays: Any, rates: Any, *, function: JaxFunction, primal: JaxFunction | None = None) -> Any:
        dense = [ad.instantiate_zeros(rate) for rate in rates]
        result = program.bind(*arrays, function=function, primal=primal)
        return result, program.bind(*arrays, *dense, function=function.tangent, primal=function)

    def transpose(cotangent: Any, *arrays: Any, function: JaxFunction, primal: JaxFunction) -> Any:
        given = arrays[: len(primal.program.inputs)]
        if type(cotangent) is ad.Zero:
            return [None] * len(arrays)
        wanted = tuple(k for k, rate in enumerate(arrays[len(given) :]) if ad.is_undefined_primal(rate))
        gradients = program.bind(*given, cotangent, function=primal.adjoint(wanted))
        ends = np.cumsum([primal.program.inputs[k][1] for k in wanted]).tolist()
        parts = dict(zip(wanted, jnp.split(gradients, ends[:-1], axis=-1), strict=True))
        return [None] * len(given) + [parts.get(k) for k in range(len(arrays) - len(given))]

    program.def_impl(jax.jit(evaluate, static_argnames=("function", "primal")))
    program.def_abstract_eval(shaped)
    batching.primitive_batchers[program] = batch
    ad.primitive_jvps[program] = jvp
    ad.primitive_transposes[program] = transpose
    mlir.register_lowering(program, mlir.lower_fun(evaluate, multiple_results=False))
    return program
