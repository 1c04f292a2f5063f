"""Functions of a robot in PyTorch: native code in the forward and in the backward pass.

>>> import dqdyn as dq
>>> robot = dq.robots.arm7()
>>> torques = dq.torch.function(robot, "inverse_dynamics")  # doctest: +SKIP
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dqdyn.compile.runtime.differentiable import Differentiable
from dqdyn.compile.runtime.threads import whole
from dqdyn.errors import StateError, missing_extra
from dqdyn.robot import Robot
from dqdyn.robot.differentiable import differentiable
from dqdyn.robot.options import Option

__all__ = ["function"]


def function(robot: Robot, name: str, *, threads: int = 1, **options: Option) -> TorchFunction:
    """The function ``name`` of a robot on tensors (..., n) of the CPU, differentiable to any order in both modes.

    ``options`` are those of ``robot.function``. float64 tensors are passed without a copy, whatever their strides.
    float32 ones are converted, computed in float64 and converted back. Gradients with respect to q are those in its nq
    numbers, for a unit quaternion tangential to the sphere. NaN propagates; quaternions are used as they are.
    """
    try:
        import torch  # noqa: F401
    except ImportError:
        raise missing_extra("torch", "torch", "dqdyn.torch") from None
    return TorchFunction(differentiable(robot, name, whole(threads), options))


class TorchFunction:
    """A function of a robot on tensors; leading axes are broadcast."""

    def __init__(self, native: Differentiable) -> None:
        self.native, self.program = native, native.program
        self.__name__ = native.program.name

    def __call__(self, *inputs: Any) -> Any:
        import torch

        expected = self.program.inputs
        if len(inputs) != len(expected):
            names = ", ".join(name for name, _ in expected)
            raise StateError(f"{self.__name__} takes {names}; found {len(inputs)} arguments.")
        for (name, size), tensor in zip(expected, inputs, strict=True):
            self._check(name, size, tensor)
        wide = [t.to(torch.float64) for t in inputs]
        shapes = {t.shape[:-1] for t in wide}
        if len(shapes) > 1:  # PyTorch sums the gradients over the axes along which it expands
            lead = torch.broadcast_shapes(*shapes)
            wide = [t.expand(*lead, t.shape[-1]) for t in wide]
        result = _function().apply(self.native, *wide)
        return result if any(t.dtype == torch.float64 for t in inputs) else result.to(torch.float32)

    def _check(self, name: str, size: int, tensor: Any) -> None:
        import torch

        what = f"{name} of {self.__name__}"
        if not isinstance(tensor, torch.Tensor):
            raise StateError(f"{what} must be a tensor; found {type(tensor).__name__}.", argument=name)
        if tensor.device.type != "cpu":
            remedy = "move it with .cpu(), or use robot.export('jax', ...), which runs on any device"
            raise StateError(f"{what} is on the device {str(tensor.device)!r}: {remedy}.", argument=name)
        if tensor.dtype not in (torch.float64, torch.float32):
            raise StateError(f"{what} must have dtype float64 or float32; found {tensor.dtype}.", argument=name)
        if tensor.ndim == 0 or tensor.shape[-1] != size:
            found = tuple(tensor.shape)
            raise StateError(f"{what} has shape ({size},) or (..., {size}); found {found}.", argument=name)

    def __repr__(self) -> str:
        names = ", ".join(name for name, _ in self.program.inputs)
        return f"<{self.__name__}({names}) in PyTorch: {self.program.counts}>"


@lru_cache(maxsize=1)
def _function() -> Any:
    """The class that PyTorch differentiates, made where PyTorch is there."""
    import torch

    class NativeFunction(torch.autograd.Function):  # type: ignore[misc]
        """``apply(native, *tensors)`` of one common leading shape."""

        @staticmethod
        def forward(native: Differentiable, *tensors: Any) -> Any:
            return torch.from_numpy(native(*(t.detach().numpy() for t in tensors)))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.native, *tensors = inputs
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            native, tensors = ctx.native, ctx.saved_tensors
            wanted = tuple(k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed)
            outputs = gradient.ndim - len(native.program.shape)
            flat = gradient.reshape(*gradient.shape[:outputs], len(native.program.outputs))
            pulled = NativeFunction.apply(native.adjoint(wanted), *tensors, flat)
            parts = pulled.split([native.program.inputs[k][1] for k in wanted], dim=-1)
            result: list[Any] = [None] * (1 + len(tensors))
            for k, part in zip(wanted, parts, strict=True):
                result[1 + k] = part
            return tuple(result)

        @staticmethod
        def jvp(ctx: Any, _: Any, *rates: Any) -> Any:
            native, tensors = ctx.native, ctx.saved_tensors
            dense = [torch.zeros_like(t) if r is None else r for t, r in zip(tensors, rates, strict=True)]
            return NativeFunction.apply(native.tangent, *tensors, *dense)

        @staticmethod
        def vmap(info: Any, in_dims: Any, native: Differentiable, *tensors: Any) -> Any:
            """One more leading axis, which native batches have anyway."""
            wide = [
                t.expand(info.batch_size, *t.shape) if dim is None else t.movedim(dim, 0)
                for t, dim in zip(tensors, in_dims[1:], strict=True)
            ]
            return NativeFunction.apply(native, *wide), 0

    return NativeFunction
