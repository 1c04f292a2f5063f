"""Files that are no XML, or XML that wants to harm: always one LoadError that says what and where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from urdf_text import ARM

from dqdyn.errors import LoadError
from dqdyn.formats.safe_xml import XmlBounds, parse

BILLION_LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{("&" + a + ";") * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + ']><robot name="&i;"/>'
)


def message(source: Any, **limits: int) -> str:
    with pytest.raises(LoadError) as caught:
        parse(source, XmlBounds(**limits))
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith((".", "?"))
    assert caught.value.__cause__ is None
    return text


def written(folder: Path, content: bytes, name: str = "robot.urdf") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_elements_know_where_they_are() -> None:
    document = parse("\n\n" + ARM)
    assert document.root.tag == "robot"
    assert [e.line for e in document.root.all("link")] == [6, 7, 12, 13]
    assert document.root.all("link")[0].column == 3
    assert sum(1 for _ in document.root.walk()) == ARM.replace("</", "").replace("<?", "").count("<")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("<robot>\n<link></robot>", 2, "mismatched tag"),
        ("<robot", 1, "unclosed token"),
        ("<robot>", 1, "no element found"),
        ("<a/><b/>", 1, "junk after document element"),
        ('<robot name="a" name="b"/>', 1, "duplicate attribute"),
        ("<robot name=a/>", 1, "not well-formed"),
        ("<robot>\n\n&nothing;</robot>", 3, "undefined entity"),
        ("plain < text", 1, "syntax error"),
        ("<robot>\x01</robot>", 1, "not well-formed"),
    ],
)
def test_malformed(text: str, line: int, reason: str, tmp_path: Path) -> None:
    found = message(text)
    assert f"line {line}, column" in found
    assert reason in found
    assert "correct it there" in found
    path = written(tmp_path, text.encode())
    assert message(path) == found.replace("The given text", str(path))


def test_entity_bomb_is_not_expanded(tmp_path: Path) -> None:
    for source in (BILLION_LAUGHS, written(tmp_path, BILLION_LAUGHS.encode())):
        assert "line 1: the file has a DOCTYPE or entities" in message(source)


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    secret = written(tmp_path, b"the secret", "secret.txt")
    for declaration in (f'[<!ENTITY x SYSTEM "{secret.as_uri()}">]', f'SYSTEM "{secret.as_uri()}"'):
        found = message(f'<!DOCTYPE r {declaration}><robot name="r">&x;</robot>')
        assert "remove them" in found
        assert "the secret" not in found


def test_limits() -> None:
    deep = "<robot>" + "<a>" * 50 + "</a>" * 50 + "</robot>"
    assert parse(deep, XmlBounds(depth=51)).root.tag == "robot"
    assert "more than 50 elements inside each other" in message(deep, depth=50)
    wide = "<robot>\n" + "<a/>\n" * 99 + "</robot>"
    assert len(parse(wide, XmlBounds(elements=100)).root.children) == 99
    assert "line 100: there are more than 99 elements" in message(wide, elements=99)
    assert "more than 1000 bytes" in message(f'<robot name="{"x" * 1000}"/>', size=1000)


def test_the_standard_limits_stop_nests_and_floods() -> None:
    assert "inside each other" in message("<a>" * 100_000)
    assert "more than 200000 elements" in message("<a>" + "<b/>" * 200_000 + "</a>")


def test_huge_file(tmp_path: Path) -> None:
    path = tmp_path / "huge.urdf"
    with path.open("wb") as stream:
        stream.truncate(10_000_000_000)  # sparse: it takes no space, and reading it all would take long
    assert "huge.urdf has more than 32000000 bytes" in message(path)


def test_missing_file_names_close_ones(tmp_path: Path) -> None:
    written(tmp_path, b"<robot/>", "panda_arm.urdf")
    found = message(tmp_path / "panda_arn.urdf")
    assert "No file" in found
    assert "did you mean panda_arm.urdf" in found
    assert "no similar name in its folder: check the path" in message(tmp_path / "zzz.xml")
    assert "does not exist or cannot be read" in message(tmp_path / "no" / "such" / "robot.urdf")
    assert "No file 'robot.urdf'" in message("robot.urdf")


def test_directory_names_a_file_in_it(tmp_path: Path) -> None:
    assert "is a directory: name a file in it." in message(tmp_path)
    written(tmp_path, b"<robot/>", "panda.URDF")
    assert "is a directory: name a file in it, such as panda.URDF." in message(str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in message(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b" \n\t ", "is empty"),
        (b"\x7fELF\x00\x00<\x01\x02", "is binary, not XML"),
        (b"hello", "is not XML"),
        ('<robot name="é"/>'.encode("latin-1"), "line 1: the byte 0xe9 is not UTF-8: save it as UTF-8"),
        (b'<?xml version="1.0" encoding="nonsense"?><robot name="r"/>', "save it as UTF-8"),
        (b'<?xml version="1.0" encoding="utf-16"?><robot name="r"/>', "save it as UTF-8"),
        (b'<?xml version="1.0" encoding="shift_jis"?><robot name="r"/>', "save it as UTF-8"),
        (b'\n<?xml version="1.0"?><robot name="r"/>', "line 2, column 1: the XML is malformed"),
    ],
)
def test_content_that_is_no_xml(content: bytes, expected: str, tmp_path: Path) -> None:
    found = message(written(tmp_path, content))
    assert expected in found
    assert "robot.urdf" in found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_declared_encodings_are_read(encoding: str, tmp_path: Path) -> None:
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?><robot name="Düse"/>'
    assert parse(written(tmp_path, text.encode(encoding))).root.attributes["name"] == "Düse"
    assert parse(text).root.attributes["name"] == "Düse"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", "from a path or from text"),
        (None, "from a path or from text; found None"),
        (b"<robot/>", "from a path or from text"),
        (7, "from a path or from text; found 7"),
        ("a\0b.urdf", "cannot be read"),
        ("x" * 5000, "cannot be read"),
        ("<robot name='\ud800'/>", "lone surrogate at character 13"),
    ],
)
def test_sources_that_are_none(source: Any, expected: str) -> None:
    found = message(source)
    assert expected in found
    assert len(found) < 400


def test_undeclared_prefixes_are_part_of_the_tag() -> None:
    assert parse("<robot><sensor:camera/></robot>").root.children[0].tag == "sensor:camera"


def outcome(source: Any) -> str:
    """The message of the refusal, or nothing."""
    try:
        parse(source)
    except LoadError as error:
        return str(error)
    return ""


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert "\n" not in outcome("<" + text)


@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.urdf"
    for content in (data, b"<robot>" + data + b"</robot>"):
        path.write_bytes(content)
        message = outcome(path)
        assert str(path) in message or not message


@given(st.text(max_size=100).filter(lambda text: "<" not in text))
def test_any_name_is_no_file(name: str) -> None:
    with pytest.raises(LoadError):
        parse("no-such-folder/" + name)
