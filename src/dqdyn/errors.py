"""One family of errors and warnings; each carries the data behind its sentence as attributes.

Whatever a message contains, such as a name from a damaged file, it is one line of printable text.
"""

from __future__ import annotations

import difflib
import json
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

logging.getLogger("dqdyn").addHandler(logging.NullHandler())  # silent until the application asks for its log

LONGEST = 1200
"""Characters of a message; a longer one loses its middle, for the remedy stands at the end."""


def one_line(text: Any, longest: int = LONGEST) -> str:
    """Text as one line that prints: line breaks, control characters and marks of direction are escaped as by repr."""
    shown = str(text)
    if not shown.isprintable():
        shown = re.sub(r"\n +", " ", shown)  # NumPy breaks the lines of arrays so
        shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown)
    if len(shown) > longest:
        shown = f"{shown[: longest - longest // 3]} … {shown[3 - longest // 3 :]}"
    return shown


class Error(ValueError):
    """Any fault in what the user gave. Keyword data become attributes, e.g. ``error.joint``."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(one_line(message))
        self.data = data

    def __getattr__(self, name: str) -> Any:
        data = self.__dict__.get("data", {})
        if name in data:
            return data[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; its data are {sorted(data)}")

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), str(self), self.data)


def _rebuild(kind: type[Error], message: str, data: dict[str, Any]) -> Error:
    return kind(message, **data)


class LoadError(Error):
    """A file or table cannot be read as a robot; carries ``file`` and ``element`` where known."""


class ModelError(Error):
    """A description is not a robot: missing links, cycles, impossible masses, zero axes."""


class StateError(Error):
    """A configuration, velocity or other argument has the wrong size or bad values."""


class LazyArrayError(StateError):
    """A Dask array where numbers are needed now; functions of a robot take them and stay lazy."""


class UnknownNameError(Error):
    """No such frame, joint, body or robot; carries ``name`` and close ``matches``."""


class FormatError(Error):
    """A file format cannot hold what the robot has; carries ``element``."""


class MissingExtraError(Error, ImportError):
    """A feature needs an optional package; carries ``package`` and the ``extra`` to install."""


class LibraryWarning(UserWarning):
    """Any warning of this package."""

    def __init__(self, message: Any) -> None:
        super().__init__(one_line(message))


class ModelWarning(LibraryWarning):
    """Something in a robot is doubtful but usable; also kept in ``robot.warnings``."""


class CompileWarning(LibraryWarning):
    """Native code, its fast call path or its cache is unavailable; results are the same, only slower."""


_SHORT = 12
"""Names that a message has room for."""

_COMPARED = 100
"""Characters; longer names are not compared, which would take time that grows with the square of their length."""


def unknown_name(what: str, name: Any, known: Iterable[str], *, room: int = _SHORT) -> UnknownNameError:
    """The error for a name that is not among ``known``; the remedy is close matches, and all names if they are few.

    Few are at most ``room``.
    """
    known = [str(k) for k in known]
    matches = close_names(name, known) if isinstance(name, str) else []
    shown = ", ".join(one_line(k, _COMPARED) for k in known[:room]) + (", …" if len(known) > room else "")
    if matches:
        guess = "did you mean " + " or ".join(repr(m) for m in matches) + "?"
        remedy = guess if len(known) > room else f"{guess} Known: {shown}."
    else:
        remedy = f"known: {shown}." if known else "there is none."
    return UnknownNameError(
        f"There is no {what} named {one_line(repr(name), _COMPARED)}: {remedy}", name=name, matches=matches
    )


def close_names(name: str, known: Iterable[str], cutoff: float = 0.5) -> list[str]:
    """At most three known names that are close to a name."""
    compared = [k for k in known if len(k) <= _COMPARED]
    return difflib.get_close_matches(name, compared, n=3, cutoff=cutoff) if len(name) <= _COMPARED else []


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """The error for an optional package that is not installed."""
    return MissingExtraError(
        f"{purpose} needs the package {package!r}: install it with {install_command(package, extra)}.",
        package=package,
        extra=extra,
    )


def install_command(package: str, extra: str) -> str:
    """What installs an optional package here: the extra of this library from its own folder, or the package itself.

    The library may have come from a folder, a wheel or an index, and only the first can be asked for extras again.
    """
    folder = _own_folder()
    return f"pip install {package}" if folder is None else f"pip install '{folder}[{extra}]'"


def _own_folder() -> str | None:
    """The folder that the library was installed from, if it is still there."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname  # slow to import

    try:
        text = distribution("dqdyn").read_text("direct_url.json")
        url = json.loads(text or "{}").get("url", "")
    except (PackageNotFoundError, ValueError):
        return None
    if not url.startswith("file:"):
        return None
    folder = Path(url2pathname(urlsplit(url).path))
    return str(folder) if (folder / "pyproject.toml").is_file() else None
