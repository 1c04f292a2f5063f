"""Which parts of a long computation are complete: one small file for each, written after everything else of the part.

A process that is killed leaves at most a part without its file, and that part is computed again. A file appears whole
or not at all, and holds the checksums of what the part wrote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, one_line

_PLAN = "plan.json"


class Journal:
    """The parts of one computation that are complete, in a folder; ``plan`` says which computation it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def begin(cls, folder: Path, plan: Mapping[str, Any], output: str) -> Journal:
        """A journal of this plan, new or continued; an error where that of the output is of another one."""
        journal, plain = cls(folder), json.loads(json.dumps(plan))
        if (found := journal.plan()) is None:
            folder.mkdir(parents=True, exist_ok=True)
            written_whole(folder / _PLAN, json.dumps(plain, indent=1, ensure_ascii=False))
        elif found != plain:
            differs = [name for name in plain | found if plain.get(name) != found.get(name)]
            was, now = (one_line(repr(x.get(differs[0])), 60) for x in (found, plain))
            text = f"{output!r} was begun with another {differs[0]} ({was}, now {now})"
            raise Error(f"{text}: choose another output, or remove it and {str(folder)!r}.", differs=differs)
        return journal

    def plan(self) -> dict[str, Any] | None:
        """What the journal was begun with; None where there is none."""
        try:
            found: dict[str, Any] = json.loads((self.folder / _PLAN).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError:
            what = f"{str(self.folder / _PLAN)!r} is damaged, so it is not known what was computed"
            raise Error(f"{what}: remove it with its output, or choose another output.") from None
        return found

    def done(self) -> set[int]:
        """Numbers of the parts that are complete."""
        if not self.folder.is_dir():
            return set()
        names = (entry.name for entry in os.scandir(self.folder))
        stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return {int(stem) for stem in stems if stem.isdigit()}

    def complete(self, part: int, record: Mapping[str, Any]) -> None:
        """Mark a part as complete; everything that it writes must have been written."""
        written_whole(self._file(part), json.dumps(dict(record), ensure_ascii=False))

    def record(self, part: int) -> dict[str, Any]:
        """What was noted of a part."""
        found: dict[str, Any] = json.loads(self._file(part).read_text(encoding="utf-8"))
        return found

    def forget(self, part: int) -> None:
        """Have a part computed again."""
        self._file(part).unlink(missing_ok=True)

    def _file(self, part: int) -> Path:
        return self.folder / f"{part:08d}.json"


def written_whole(path: Path, text: str) -> None:
    """Write a file so that it appears whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def checksum(array: Array) -> int:
    """CRC-32C of the bytes of an array, by the package that Zarr brings for it."""
    from google_crc32c import value

    return int(value(np.ascontiguousarray(array)))
