"""The reader of any format finds out which one it is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from urdf_text import ARM

from dqdyn.errors import LoadError
from dqdyn.formats.load import read
from dqdyn.formats.urdf.reader import read_urdf


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the readers of other formats are called with."""
    seen: list[Any] = []
    for module, function in (
        ("dqdyn.formats.mjcf.reader", "read_mjcf"),
        ("dqdyn.formats.json.document", "read_json"),
    ):
        stand_in = ModuleType(module)
        setattr(stand_in, function, lambda source, name=function, **options: seen.append((name, source, options)))
        monkeypatch.setitem(sys.modules, module, stand_in)
    return seen


def test_urdf(tmp_path: Path) -> None:
    assert read(ARM) == read_urdf(ARM)
    for name in ("arm.urdf", "arm.xml", "arm"):
        (tmp_path / name).write_text(ARM)
        assert read(tmp_path / name) == read_urdf(tmp_path / name)


def test_package_paths_reach_the_urdf_reader(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/m.stl").touch()
    mesh = '<visual><geometry><mesh filename="package://p/m.stl"/></geometry></visual>'
    text = f'<robot name="r"><link name="l">{mesh}</link></robot>'
    assert read(text, package_paths=[tmp_path]).links[0].visuals[0].path == tmp_path / "p/m.stl"


def test_mjcf(tmp_path: Path, calls: list[Any]) -> None:
    path = tmp_path / "arm.xml"
    path.write_text("<mujoco/>")
    for source in ("<mujoco/>", path, str(path)):
        read(source, package_paths=[tmp_path])
        assert calls.pop() == ("read_mjcf", source, {})


def test_json(tmp_path: Path, calls: list[Any]) -> None:
    for name in ("arm.json", "arm.robot"):
        (tmp_path / name).write_text("\n {}")
    for source in (' {"name": "a<b"}', tmp_path / "arm.json", str(tmp_path / "arm.robot"), tmp_path / "missing.json"):
        read(source)
        assert calls.pop() == ("read_json", source, {})


@pytest.mark.parametrize("source", ["", None, 3, "nowhere.urdf", "a\0b", "<sdf/>", "<x>", "nowhere/robot"])
def test_bad_sources(source: Any) -> None:
    with pytest.raises(LoadError):
        read(source)
