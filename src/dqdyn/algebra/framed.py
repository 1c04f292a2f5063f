"""Values of a body against a reference, which may name both."""

from __future__ import annotations

from typing import Any, ClassVar

from dqdyn.algebra.frame_names import Name
from dqdyn.algebra.value import Value
from dqdyn.errors import Error


class Framed(Value):
    """A value of a body against a reference, by the names of their frames; None is a name that was not given."""

    FRAMES: ClassVar[tuple[str, ...]] = ("body", "reference")
    __slots__ = ()

    @property
    def body(self) -> Name:
        """The frame that is placed, that moves, or on which a wrench acts."""
        return self.frames[0]

    @property
    def reference(self) -> Name:
        """The frame in which a pose is, against which a twist is, or whose body exerts a wrench."""
        return self.frames[1]

    def _require_one(self, holder: str) -> None:
        """An :class:`Error` where this is a batch, and what is to hold it holds one."""
        if self.shape:
            kind = type(self).__name__.lower()
            raise Error(
                f"{holder} holds one {kind}; found a batch of shape {self.shape}: take its elements one by one, "
                "with [i].",
                found=self.shape,
            )

    def _shown(self, **parts: list[Any]) -> str:
        names = {key: name for key, name in zip(self.FRAMES, self.frames, strict=True) if name is not None}
        return f"{type(self).__name__}({', '.join(f'{key}={part!r}' for key, part in {**parts, **names}.items())})"
