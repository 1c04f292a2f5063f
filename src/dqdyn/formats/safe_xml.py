"""Untrusted XML: bounded, without DTDs and entities; every fault is a :class:`LoadError` that says where it is.

Namespaces are not resolved: robot files use undeclared prefixes, and here a prefix is part of the tag.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from dqdyn.errors import LoadError
from dqdyn.formats.files import LARGEST_FILE, printable, read_bytes

TEXT = "The given text"
"""How messages name a source that is not a file."""
_MOST_TEXT = 100  # characters of an element that are kept: a number
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class XmlBounds:
    """What a file may cost. The largest robots we know have 0.3 MB, 4000 elements, depth 10."""

    size: int = LARGEST_FILE  # bytes
    depth: int = 100  # elements inside each other
    elements: int = 200_000


XML_BOUNDS = XmlBounds()
MJCF_BOUNDS = XmlBounds(depth=500)
"""MJCF nests every body in its parent; MuJoCo itself reads no deeper."""


@dataclass(slots=True, eq=False)
class Element:
    """A tag with its attributes, the elements inside it, and the first characters of the text between tags."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        """The elements of that tag directly inside."""
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator[Element]:
        """This element and everything inside it."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed(element.children))


@dataclass(frozen=True)
class Document:
    """A parsed file: its root element, how messages name it, and its path where it has one."""

    root: Element
    file: str
    path: Path | None = None


def is_text(source: str | Path) -> bool:
    """Whether a source is XML itself rather than the name of a file."""
    return isinstance(source, str) and "<" in source


def parse(source: str | Path, limits: XmlBounds = XML_BOUNDS) -> Document:
    """The elements of an XML file, or of XML text (any string with ``<`` in it)."""
    if is_text(source):
        return _parse_text(str(source), limits)
    if not isinstance(source, (str, Path)) or not str(source):
        raise LoadError(f"A robot is read from a path or from text; found {source!r}.", file=str(source))
    path, file = Path(source), printable(str(source))
    data = read_bytes(path, file, limits.size)
    if not data.strip():
        raise LoadError(f"{file} is empty: give a file with a robot in it.", file=file)
    if b"\0" in data[:1024] and not data.startswith(_UTF16):
        raise LoadError(f"{file} is binary, not XML: give the robot as a text file.", file=file)
    if b"<" not in data:
        raise LoadError(f"{file} is not XML, since it has no '<': give a robot file such as URDF.", file=file)
    return Document(_parse_bytes(data, file, limits, None), file, path)


def _parse_text(text: str, limits: XmlBounds) -> Document:
    # Python's triple quotes begin with a line break, which XML forbids before its declaration.
    body = text.lstrip()
    skipped = text[: len(text) - len(body)].count("\n")
    try:
        data = body.encode()
    except UnicodeEncodeError as problem:
        raise LoadError(f"{TEXT} holds a lone surrogate at character {problem.start}: remove it.", file=TEXT) from None
    if len(data) > limits.size:
        raise LoadError(f"{TEXT} has more than {limits.size} bytes: a robot needs far fewer.", file=TEXT)
    return Document(_parse_bytes(data, TEXT, limits, "utf-8", skipped), TEXT)


def _parse_bytes(data: bytes, file: str, limits: XmlBounds, encoding: str | None, skipped: int = 0) -> Element:
    """``encoding`` overrides the one that the XML declares; ``skipped`` lines were cut off in front."""
    # Expat itself, as the SAX reader of the standard library would load half of it, network included.
    parser = expat.ParserCreate(encoding)
    tree = _Tree(parser, file, limits, skipped)
    try:
        parser.Parse(data, True)
    except LoadError:
        raise
    except expat.ExpatError as problem:
        raise _malformed(problem, data, file, encoding, skipped) from None
    except (LookupError, ValueError) as problem:  # an encoding that Python or expat does not know
        raise LoadError(f"{file} cannot be decoded ({problem}): save it as UTF-8.", file=file) from None
    assert tree.root is not None  # expat refuses a document without an element
    return tree.root


def _malformed(problem: expat.ExpatError, data: bytes, file: str, encoding: str | None, skipped: int) -> LoadError:
    line, column, reason = problem.lineno + skipped, problem.offset + 1, expat.ErrorString(problem.code)
    fault = f", column {column}: the XML is malformed ({reason}): correct it there"
    if "encoding" in reason:
        fault = f": {reason}: save it as UTF-8 and declare that"
    elif encoding is None and reason.startswith("not well-formed") and not data.startswith(_UTF16):
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as bad:
            byte = f"the byte 0x{data[bad.start]:02x} is not UTF-8"
            fault = f": {byte}: save it as UTF-8 or declare its encoding in the first line"
    return LoadError(f"{file}, line {line}{fault}.", file=file, line=line, column=column)


class _Tree:
    """Builds the elements while the limits hold; refuses what could reach outside of the file."""

    def __init__(self, parser: Any, file: str, limits: XmlBounds, skipped: int) -> None:
        self.parser, self.file, self.limits, self.skipped = parser, file, limits, skipped
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CharacterDataHandler = self.characters
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        for kind in ("StartDoctypeDecl", "EntityDecl", "UnparsedEntityDecl", "ExternalEntityRef"):
            setattr(parser, f"{kind}Handler", self.refuse)

    @property
    def line(self) -> int:
        return int(self.parser.CurrentLineNumber) + self.skipped

    def refuse(self, *_: Any) -> NoReturn:
        problem = "the file has a DOCTYPE or entities, which could read other files or fill the memory: remove them"
        raise self.error(self.line, "DOCTYPE", problem)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.line, int(self.parser.CurrentColumnNumber) + 1)
        self.count += 1
        if self.count > self.limits.elements:
            raise self.excess(element, f"{self.limits.elements} elements")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        if len(self.open) > self.limits.depth:
            raise self.excess(element, f"{self.limits.depth} elements inside each other")

    def end(self, tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        if len(self.open[-1].text) < _MOST_TEXT:
            self.open[-1].text += text[:_MOST_TEXT]

    def excess(self, element: Element, bound: str) -> LoadError:
        problem = f"there are more than {bound}, which no robot needs: check the file"
        return self.error(element.line, element.tag, problem)

    def error(self, line: int, element: str, problem: str) -> LoadError:
        return LoadError(f"{self.file}, line {line}: {problem}.", file=self.file, line=line, element=element)
