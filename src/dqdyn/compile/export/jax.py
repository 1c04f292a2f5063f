"""Programs as pure functions of JAX: they can be jitted, mapped and differentiated, on any device.

XLA fuses a straight-line program into one kernel that computes shared values again for every result, whatever barriers
it is given: for an arm twenty times the time of the form here, and 40 s of compiling for the inverse dynamics of a
humanoid. So the program is data: a loop runs over its instructions, each on a block of states, and compiling takes a
second whatever the program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.caching import cached_property
from dqdyn.compile.export.jax_primitive import JaxFunction
from dqdyn.compile.export.registers import RegisterCode, register_code
from dqdyn.compile.trace.partials import Units
from dqdyn.compile.trace.program import Program
from dqdyn.errors import Error, missing_extra

BLOCK = 1024
"""States that an instruction is applied to at a time: their registers fit into the cache of a core."""


def to_jax(program: Program, summary: str = "", units: Units = (), block: int = BLOCK) -> LoopFunction:
    """A function of arrays (..., size), one per input, that gives an array (..., *shape)."""
    try:
        import jax  # noqa: F401
    except ImportError:
        raise missing_extra("jax", "jax", "The export to JAX") from None
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:
        raise Error(f"block is the number of states computed at a time, 1 or more; found {block!r}.", block=block)
    return LoopFunction(program, summary, units, block)


class LoopFunction(JaxFunction):
    """A program as a loop over its instructions; the dtype is that of the inputs."""

    def __init__(self, program: Program, summary: str = "", units: Units = (), block: int = BLOCK) -> None:
        super().__init__(program, summary, units)
        self.block = block

    def of(self, program: Program) -> LoopFunction:
        return LoopFunction(program, "", self.units, self.block)

    @cached_property
    def _code(self) -> RegisterCode:
        return register_code(self.program)

    def rows(self, *arrays: Any) -> Any:
        import jax
        import jax.numpy as jnp

        rows, outputs = arrays[0].shape[0], len(self.program.outputs)
        if rows == 0 or outputs == 0:
            return jnp.zeros((rows, outputs), arrays[0].dtype)
        if rows <= self.block:
            return self._one_block(jnp.concatenate([a.T for a in arrays])).T
        blocks = -(-rows // self.block)
        # An even share for each block: the last one is not nearly empty.
        size = -(-rows // blocks)
        apart = [jnp.pad(a, ((0, blocks * size - rows), (0, 0))).reshape(blocks, size, -1) for a in arrays]
        inputs = jnp.concatenate([a.transpose(0, 2, 1) for a in apart], axis=1)
        results = jax.lax.map(self._one_block, inputs)
        return results.transpose(0, 2, 1).reshape(blocks * size, outputs)[:rows]

    def _one_block(self, inputs: Any) -> Any:
        """Inputs (components, states) to (outputs, states)."""
        import jax
        import jax.numpy as jnp

        code, states, dtype = self._code, inputs.shape[1], inputs.dtype
        names = code.operations
        branches = [_branch(name, states) for name in names]
        table = [(names.index(op), *_three(read), to) for op, read, to in code.rows]
        steps = jnp.asarray(np.array(table, dtype=np.int32).reshape(len(table), 5))
        constants = jnp.asarray(np.array(code.constants), dtype=dtype)
        empty = jnp.zeros((code.count - inputs.shape[0], states), dtype)
        registers = jnp.concatenate([inputs, empty])

        def step(k: Any, registers: Any) -> Any:
            op, x, y, z, to = (steps[k, c] for c in range(5))
            # The row is computed apart from the registers, so that XLA knows that it overlaps none of them.
            row = jax.lax.switch(op, branches, registers, x, y, z, constants[k])
            return jax.lax.dynamic_update_index_in_dim(registers, row, to, 0)

        if table:
            registers = jax.lax.fori_loop(0, len(table), step, registers)
        return registers[np.array(code.outputs)]


def _three(read: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*read, 0, 0, 0)[:3]
    return x, y, z


def _branch(name: str, states: int) -> Any:
    """``branch(registers, x, y, z, constant)`` gives the row that the operation ``name`` computes."""
    import jax
    import jax.numpy as jnp

    operations: dict[str, Any] = {
        "constant": lambda c: jnp.full((states,), c),
        "add constant": lambda c, x: x + c,
        "mul constant": lambda c, x: x * c,
        "constant sub": lambda c, x: c - x,
        "add": lambda c, x, y: x + y,
        "sub": lambda c, x, y: x - y,
        "mul": lambda c, x, y: x * y,
        "div": lambda c, x, y: x / y,
        "sqrt": lambda c, x: jnp.sqrt(x),
        "sin": lambda c, x: jnp.sin(x),
        "cos": lambda c, x: jnp.cos(x),
        "atan2": lambda c, x, y: jnp.arctan2(x, y),
        "less": lambda c, x, y: jnp.where(x < y, jnp.ones_like(x), jnp.zeros_like(x)),
        "select": lambda c, x, y, z: jnp.where(x != 0.0, y, z),
    }
    operation = operations[name]
    reads = operation.__code__.co_argcount - 1

    def branch(registers: Any, x: Any, y: Any, z: Any, constant: Any) -> Any:
        rows = [jax.lax.dynamic_index_in_dim(registers, r, 0, keepdims=False) for r in (x, y, z)[:reads]]
        return operation(constant, *rows)

    return branch
