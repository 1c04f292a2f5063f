"""What a file cannot hold: collected by the writers, then refused, or said and left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from dqdyn.errors import FormatError, ModelWarning
from dqdyn.model.model import Model


@dataclass(frozen=True)
class Written:
    """The text of a file and what it lacks of the robot: first ``constraints``, by name, then everything else."""

    text: str
    file_format: str
    constraints: tuple[str, ...] = ()
    other: tuple[str, ...] = ()

    @property
    def losses(self) -> tuple[str, ...]:
        """All of it, one phrase each; what two shapes of a link lose is said once."""
        return tuple(dict.fromkeys([*(f"the constraint {name!r}" for name in self.constraints), *self.other]))


def refuse_losses(written: Written, model: Model, losses: tuple[str, ...]) -> None:
    """An error that names ``losses``, if there are any; it carries all of them."""
    if losses:
        remedy = "write robot.without_constraints(), JSON, or lossy=True" if written.constraints else "write JSON"
        remedy += "" if written.constraints else ", or lossy=True to leave them out"
        listed = f"{'; '.join(losses)} of {model.name!r}"
        element = written.constraints[0] if written.constraints else losses[0]
        raise FormatError(f"{written.file_format} cannot hold {listed}: {remedy}.", element=element, losses=losses)


def warn_losses(written: Written, model: Model) -> None:
    """One warning for everything that a file cannot hold."""
    if written.losses:
        listed = ", ".join(written.losses)
        message = f"{written.file_format} cannot hold these of {model.name!r}, they are left out: {listed}."
        warnings.warn(message, ModelWarning, stacklevel=4)


def text_of(compose: Callable[[Model], Written], model: Model) -> str:
    """The text alone: constraints that it lacks are refused, for motion depends on them; the rest is a warning."""
    written = compose(model)
    refuse_losses(written, model, written.losses if written.constraints else ())
    warn_losses(written, model)
    return written.text
