"""External wrenches as users give them: a mapping from frames to [f, τ] becomes one array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dqdyn.algebra.frame_names import agree
from dqdyn.algebra.real import scalar_array
from dqdyn.algebra.value import Value
from dqdyn.algebra.values import Wrench
from dqdyn.arrays import Reals, is_lazy
from dqdyn.dynamics.choice import Method
from dqdyn.dynamics.wrenches import EXPRESSIONS
from dqdyn.errors import StateError, unknown_name
from dqdyn.kinematics.frames import expression_frame
from dqdyn.robot.options import Options
from dqdyn.robot.state import symbols

Wrenches = Mapping[str, Wrench | Reals]
"""External wrenches by the frame at which they act."""


def wrench_input(
    wrenches: Any, expressed: str, check: bool, method: Method = "auto", time: bool = False
) -> tuple[Options, tuple[np.ndarray, ...]]:
    """Options that name the frames, and their wrenches one after the other as one array (..., 6k), none without any."""
    if expressed not in EXPRESSIONS:
        raise unknown_name("expression", expressed, EXPRESSIONS)
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise StateError(
            f"wrenches maps frames to [f, τ], as in {{'tool': [0, 0, 1, 0, 0, 0]}}; found {type(wrenches).__name__}.",
            argument="wrenches",
        )
    if not wrenches:
        return Options(method=method, time=time), ()
    for frame, wrench in wrenches.items():
        _require_expression(frame, wrench, expressed)
    parts = [_components(frame, wrench, check) for frame, wrench in wrenches.items()]
    try:
        batch = np.broadcast_shapes(*(p.shape[:-1] for p in parts))
    except ValueError:
        shapes = ", ".join(f"{frame!r} {p.shape}" for frame, p in zip(wrenches, parts, strict=True))
        raise StateError(f"wrenches have batches that do not fit together: {shapes}.", argument="wrenches") from None
    stacked = np.concatenate([np.broadcast_to(p, (*batch, 6)) for p in parts], axis=-1)
    if is_lazy(stacked):
        stacked = stacked.rechunk({stacked.ndim - 1: -1})  # type: ignore[attr-defined]
    return Options(method=method, wrench_frames=tuple(wrenches), wrench_expressed=expressed, time=time), (stacked,)


def _require_expression(frame: str, wrench: Any, expressed: str) -> None:
    """A :class:`StateError` where a wrench names another frame of expression than the one in which it is taken."""
    expected = expression_frame(frame, expressed)
    if isinstance(wrench, Wrench) and not agree(wrench.expressed, expected):
        problem = f"the wrench at frame {frame!r} is taken as expressed in {expected!r}; it is expressed in"
        text = f"{problem} {wrench.expressed!r}: bring it there with expressed_in({expected!r}, pose)."
        raise StateError(text, frame=frame, expected=expected, found=wrench.expressed)


def _components(frame: str, wrench: Any, check: bool) -> np.ndarray:
    """[f, τ] as an array of shape (..., 6)."""
    what = f"the wrench at frame {frame!r}"
    if isinstance(wrench, Value) and not isinstance(wrench, Wrench):
        raise StateError(f"{what} is a Wrench or six numbers [f, τ]; found {wrench!r}.", frame=frame)
    given = wrench.dq.vec6() if isinstance(wrench, Wrench) else symbols(wrench, 6)
    array = given if is_lazy(given) else scalar_array(given, what, StateError, frame=frame)
    if array.ndim == 0 or array.shape[-1] != 6:
        raise StateError(f"{what} is [f, τ] with 6 components; found shape {array.shape}.", frame=frame)
    if check and array.dtype.kind == "f" and not is_lazy(array) and not np.isfinite(array).all():
        remedy = "give finite numbers, or pass check=False to let it pass"
        raise StateError(f"{what} is not finite: {remedy}.", frame=frame)
    return array
