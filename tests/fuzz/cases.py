"""What a case is and how it is judged; nothing here knows of processes."""

from __future__ import annotations

import random
import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dqdyn.errors import CompileWarning, Error, ModelWarning

Case = dict[str, Any]
"""What JSON can hold, so that a case can be kept in a file, made smaller, and sent to another process."""

FINE, REFUSED, VIOLATION = "fine", "refused", "violation"
LONGEST_MESSAGE = 2000  # characters; a sentence that nobody reads is no sentence


class Area:
    """One part of the library: ``make`` draws a case, ``check`` tries it.

    ``check`` returns a word about what was compared, lets an :class:`dqdyn.Error` through where the library refuses
    the input, and fails by ``assert`` where an answer is wrong.
    """

    name = ""
    weight = 1.0  # share of the inputs where a number of them is asked for
    chunk = 100  # cases that a worker does between two reports
    limit = 20.0  # s for one case, after which it hangs; generous, since the machine may be busy

    def prepare(self) -> None:
        """What all cases need, made once in a process."""

    def make(self, rng: random.Random) -> Case:
        raise NotImplementedError

    def check(self, case: Case) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Verdict:
    """How a case ended; ``kind`` has names and numbers blanked, ``text`` is all that is known."""

    outcome: str
    kind: str
    text: str = ""


def case_of(area: Area, seed: int) -> Case:
    """The case of that number: the same on every machine."""
    return area.make(random.Random(f"{area.name} {seed}"))


def judge(area: Area, case: Case) -> Verdict:
    """Try a case in this process."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            verdict = Verdict(FINE, area.check(case))
        except Error as error:
            verdict = _refusal(error)
        except KeyboardInterrupt:
            raise
        except AssertionError as error:
            verdict = _violation("wrong answer", error)
        except BaseException as error:  # SystemExit too: whatever escapes is the finding
            verdict = _violation(type(error).__name__, error)
    if verdict.outcome != VIOLATION:
        for warning in caught:
            ours = issubclass(warning.category, (ModelWarning, CompileWarning))
            said = str(warning.message)
            if not ours or not is_sentence(said):
                what = f"{warning.category.__name__}: {blanked(said)}"
                return Verdict(VIOLATION, f"warning {what}", f"{said!r} at {warning.filename}:{warning.lineno}")
    return verdict


def _refusal(error: Error) -> Verdict:
    said = str(error)
    if is_sentence(said):
        return Verdict(REFUSED, f"{type(error).__name__}: {blanked(said)}", said)
    return Verdict(VIOLATION, f"message that is not one printable line: {_place(error)}", repr(said))


def _violation(what: str, error: BaseException) -> Verdict:
    trace = "".join(traceback.format_exception(error))
    return Verdict(VIOLATION, f"{what}: {blanked(str(error))} [{_place(error)}]", trace)


def _place(error: BaseException) -> str:
    """Where in the library it came from, else where in the check."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "/dqdyn/" in frame.filename.replace("\\", "/")] or list(frames)
    return f"{inside[-1].filename.rpartition('/')[2]}, {inside[-1].name}" if inside else "nowhere"


def is_sentence(message: str) -> bool:
    """Whether a message is one printable line that can be read."""
    return bool(message.strip()) and message.isprintable() and len(message) <= LONGEST_MESSAGE


_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|<[^<>]*>|b'…'")
_FOUND = re.compile(r"(; found|[Kk]nown:|did you mean) .*", re.DOTALL)
_NUMBER = re.compile(r"(?<![A-Za-z\d])[-+]?(?:\d[\d_.]*(?:[eE][-+]?\d+)?|inf\b|nan\b)")
_LIST = re.compile(r"[(\[](?:#|None|…|[,\s])*[)\]]|#(?:, #)+")


def blanked(message: str) -> str:
    """A message with names and numbers blanked: what is left is its kind."""
    text = _FOUND.sub(r"\1 …", _QUOTED.sub("'…'", message[:LONGEST_MESSAGE]))
    text = _NUMBER.sub("#", text)
    text = _LIST.sub("(#)", " ".join(text.split()))
    return text if len(text) <= 110 else text[:110] + "…"


# --- where a case stands ------------------------------------------------------------------------------------------

_stage = [lambda inside: None]
"""Told when another library is about to be asked; a worker writes it where its parent can see it."""


def on_oracle(tell: Any) -> None:
    _stage[0] = tell


@contextmanager
def oracle() -> Iterator[None]:
    """Around calls of other libraries: where one of them ends the process, that is no finding about ours."""
    _stage[0](True)
    try:
        yield
    finally:
        _stage[0](False)
