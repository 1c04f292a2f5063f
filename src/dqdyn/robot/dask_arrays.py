"""Functions of a robot on Dask arrays: chunk by chunk, in whatever process a chunk is computed.

What travels is the robot as data. A process builds it once, whatever the number of chunks, and compiles its functions,
or loads them from the cache of its machine, at their first chunk.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.arrays import Array, is_lazy
from dqdyn.compile.runtime.function import Function
from dqdyn.errors import StateError
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import TIMES

if TYPE_CHECKING:
    from dqdyn.robot.base import WithFunctions
    from dqdyn.robot.compiled_functions import CompiledFunctions

_KEPT = 64
"""Robots that a process keeps; the one that was used longest ago goes first."""
_ROWS, _RESULTS = 1000, 2000
"""Numbers of axes in Dask's index notation: leading axes count from 0; rows of inputs and axes of the result follow."""
_robots: OrderedDict[str, WithFunctions] = OrderedDict()
_lock = threading.Lock()


class Travelling:
    """One function of a robot, which pickles: its name and options, and the robot as bytes with their digest."""

    def __init__(self, digest: str, pickled: bytes, name: str, options: Options) -> None:
        self.digest, self.pickled, self.name, self.options = digest, pickled, name, options

    @classmethod
    def of(cls, functions: CompiledFunctions, name: str, options: Options) -> Travelling:
        """The function of that name; the class of the robot and what it is built from are pickled by value."""
        import cloudpickle

        pickled = cloudpickle.dumps((functions.owner, functions.variables.recipe))
        return cls(hashlib.sha256(pickled).hexdigest(), pickled, name, options)

    def __call__(self, *blocks: Array, check: bool, threads: int) -> Array:
        """The function on numbers, by the robot of this process."""
        functions = robot_of(self.digest, self.pickled)._functions
        function = functions.get(functions.variables.functions[self.name], self.options)
        try:
            rows: Array = function(*blocks, check=check, threads=threads)
            return rows
        except StateError as error:
            count = max((len(block) for block in blocks if np.ndim(block) > 1), default=1)
            raise type(error)(f"in a chunk of {count} rows: {error}", **error.data) from None

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return type(self).__name__, self.digest, self.name, repr(self.options)


def robot_of(digest: str, pickled: bytes) -> WithFunctions:
    """The robot of this process with that digest; built at its first use."""
    with _lock:
        found = _robots.get(digest)
        if found is None:
            import cloudpickle

            owner, recipe = cloudpickle.loads(pickled)
            found = _robots[digest] = owner(*recipe)
            while len(_robots) > _KEPT:
                _robots.popitem(last=False)
        _robots.move_to_end(digest)
        return found


def lazily(
    travelling: Travelling, function: Function, inputs: Sequence[Any], *, out: Any, check: bool, threads: int
) -> Any:
    """The result of a function of which at least one input is a Dask array: a Dask array with their leading axes."""
    import dask.array as da

    name = function.__name__
    if out is not None:
        raise StateError(f"out of {name} cannot receive a Dask array: leave it out, and store the result.")
    numbers = [input_name in TIMES for input_name, _ in function.program.inputs]
    arrays = [_operand(function, i, value, numbers[i], check) for i, value in enumerate(inputs)]
    shapes = [a.shape if number else a.shape[:-1] for a, number in zip(arrays, numbers, strict=True)]
    _require_common(function, arrays, shapes)
    batch = max(map(len, shapes))
    pairs: list[Any] = []
    for i, (array, shape) in enumerate(zip(arrays, shapes, strict=True)):
        axes = tuple(range(batch - len(shape), batch))
        row = () if numbers[i] else (_ROWS + i,)
        pairs += [array, (*axes, *row)] if is_lazy(array) else _constant(array, (*axes, *row), len(shape), da)
    result = {_RESULTS + k: size for k, size in enumerate(function.program.shape)}
    return da.blockwise(
        travelling,
        (*range(batch), *result),
        *pairs,
        new_axes=result,
        concatenate=True,
        name=None,
        token=name,
        dtype=np.float64,
        meta=np.empty((0,) * (batch + len(result))),
        check=check,
        threads=threads,
    )


def _constant(array: Array, index: tuple[Any, ...], batch: int, da: Any) -> list[Any]:
    """An input of numbers: as it is for all chunks, or, where it has leading axes, in one chunk that is cut to fit."""
    return [da.from_array(array, chunks=-1), index] if batch else [array, None]


def _operand(function: Function, argument: int, value: Any, number: bool, check: bool) -> Any:
    """An input as an array of numbers, or as a Dask array whose rows are whole."""
    name, size = function.program.inputs[argument]
    if not is_lazy(value):
        array = function.convert(argument, value, check)
        if array.dtype == object:
            raise StateError(
                f"{name} of {function.__name__} holds symbols, which Dask arrays cannot meet.", argument=name
            )
        return array[..., 0] if number else array
    if value.dtype.kind not in "fiub":
        raise StateError(
            f"{name} of {function.__name__} must be real numbers; found the type {value.dtype}.", argument=name
        )
    if number:
        return value
    if value.ndim == 0 or value.shape[-1] != size:
        expected = f"has shape ({size},) or (..., {size}); found {value.shape}"
        raise StateError(f"{name} of {function.__name__} {expected}.", argument=name, expected=size, found=value.shape)
    if value.numblocks[-1] > 1:
        cut = f"{name} of {function.__name__} has chunks {value.chunks[-1]} through its rows of {size} numbers"
        remedy = f"write {name}.rechunk({{{value.ndim - 1}: -1}}) to keep rows whole"
        raise StateError(f"{cut}: {remedy}.", argument=name, chunks=value.chunks[-1])
    return value


def _require_common(function: Function, arrays: Sequence[Any], shapes: Sequence[tuple[Any, ...]]) -> None:
    """An error where leading axes do not fit together; those of unknown length are compared when they are computed."""
    known = [shape for shape in shapes if all(isinstance(n, (int, np.integer)) for n in shape)]
    try:
        np.broadcast_shapes(*known)
    except ValueError:
        named = zip(function.program.inputs, arrays, strict=True)
        given = ", ".join(f"{name} {a.shape}" for (name, _), a in named)
        raise StateError(f"inputs of {function.__name__} have batches that do not fit together: {given}.") from None
