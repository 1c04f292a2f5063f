"""dqdyn's own file format: every field of a description in JSON, floats bit for bit.

One object with ``"format": "dqdyn robot"`` and ``"version": 1``, then the fields of
:class:`dqdyn.model.description.Description`, all of them. A pose is its 8 coefficients, an infinite limit the text
"Infinity" or "-Infinity", which JSON lacks as numbers. The base is the model's; whether mimic joints are freed is
chosen when loading.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dqdyn.errors import LoadError
from dqdyn.formats.files import read_bytes
from dqdyn.formats.json.fields import DESCRIPTION, JsonPlace
from dqdyn.formats.losses import Written, text_of
from dqdyn.formats.safe_xml import TEXT
from dqdyn.model.description import Description
from dqdyn.model.gravity_field import require_uniform
from dqdyn.model.model import Model

FORMAT = "dqdyn robot"
VERSION = 1


def write_json(model: Model) -> str:
    """The model's description as JSON, with the model's base and gravity; one line per link and joint."""
    return text_of(compose_json, model)


def compose_json(model: Model) -> Written:
    """The same, with a list of what JSON cannot hold."""
    require_uniform(model.name, model.gravity, "JSON")
    lost = tuple(c.name for c in model.constraints if c.loop() is None and not c.of_base(model.base))
    # What an earlier file had and the description has not is lost already.
    description = model.description.on_base(model.base).with_changes(gravity=model.gravity, losses=())
    data = {"format": FORMAT, "version": VERSION, **DESCRIPTION.write(description, JsonPlace(model.name))}
    lines = (f'"{key}": {_lines(value)}' for key, value in data.items())
    return Written("{\n" + ",\n".join(lines) + "\n}\n", "JSON", lost)


def _lines(value: Any) -> str:
    if isinstance(value, list) and value and not isinstance(value[0], float):
        return "[\n  " + ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def read_json(source: str | Path) -> Description:
    """The description in a file, or in JSON text (a string that begins with ``{`` or ``[``)."""
    if isinstance(source, str) and source.lstrip().startswith(("{", "[")):
        place, text = JsonPlace(TEXT), source
    else:
        place = JsonPlace(str(source))
        try:
            text = read_bytes(Path(source), place.file).decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            raise place.error(f" is not UTF-8 at byte {problem.start}: save it as UTF-8.") from None
    if not text.strip():
        raise place.error(" is empty: give a file with a robot in it.")
    data = _parsed(text, place)
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise place.error(f' is JSON, but not a robot of dqdyn: it lacks "format": "{FORMAT}".')
    version = data.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        fault = f" has the format version {version!r}, but {VERSION} is read here: use its own dqdyn."
        raise place.error(fault, version=version)
    description: Description = DESCRIPTION.read(data, place)
    return description


def _parsed(text: str, place: JsonPlace) -> Any:
    def constant(name: str) -> Any:
        raise place.error(f" has the number {name}, which JSON does not know: correct it.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise place.error(f" has the field {twice!r} twice in one object: keep one.")
        return result

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=unique)
    except json.JSONDecodeError as problem:
        where = f", line {problem.lineno}, column {problem.colno}"
        fault = f"{where}: the JSON is malformed ({problem.msg}): correct it there."
        raise place.error(fault, line=problem.lineno) from None
    except LoadError:
        raise
    except RecursionError:
        raise place.error(" is nested too deeply for a robot: check the file.") from None
    except ValueError:  # Python reads no integers of thousands of digits
        raise place.error(" has an integer that is far too long: check the file.") from None
