"""Mesh names are resolved where the file exists; nothing is required and nothing fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dqdyn.formats.meshes import MeshFinder
from dqdyn.formats.urdf.reader import read_urdf


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """ws/arm/urdf/arm.urdf with meshes in ws/arm, ws/hand, other/tool and prefix/share/tool2."""
    for name in ("ws/arm/meshes/a.stl", "ws/hand/meshes/h é.stl", "other/tool/t.stl", "prefix/share/tool2/t.stl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "ws/arm/urdf").mkdir()
    (tmp_path / "secret.stl").touch()
    return tmp_path


def finder(tree: Path, packages: tuple[Path, ...] = (), **environment: str) -> MeshFinder:
    return MeshFinder(tree / "ws/arm/urdf/arm.urdf", packages, environment)


@pytest.mark.parametrize(
    ("mesh", "expected"),
    [
        ("package://arm/meshes/a.stl", "ws/arm/meshes/a.stl"),  # a folder above is the package
        ("package:///arm/meshes/a.stl", "ws/arm/meshes/a.stl"),
        ("model://arm/meshes/a.stl", "ws/arm/meshes/a.stl"),
        ("package://hand/meshes/h é.stl", "ws/hand/meshes/h é.stl"),  # a folder above holds the package
        ("package://hand/meshes/h%20%C3%A9.stl", "ws/hand/meshes/h é.stl"),
        ("package://arm/meshes/../meshes/a.stl", "ws/arm/meshes/a.stl"),
        ("../meshes/a.stl", "ws/arm/meshes/a.stl"),
        ("package://tool/t.stl", None),
        ("package://arm/meshes", None),
        ("package://arm", None),
        ("package://", None),
        ("package://../secret.stl", None),
        ("package://arm/../../secret.stl", None),
        ("https://example.org/a.stl", None),
        ("a.stl", None),
        ("", None),
    ],
)
def test_names(mesh: str, expected: str | None, tree: Path) -> None:
    assert finder(tree).find(mesh) == (None if expected is None else tree / expected)


def test_file_names(tree: Path) -> None:
    path = tree / "ws/hand/meshes/h é.stl"
    for mesh in (path.as_uri(), f"file://{path}", str(path)):
        assert finder(tree).find(mesh) == path
    assert finder(tree).find("file:///no/such.stl") is None


def test_package_paths(tree: Path) -> None:
    for packages in ((tree / "other",), (tree / "other/tool",)):
        assert finder(tree, packages).find("package://tool/t.stl") == tree / "other/tool/t.stl"


def test_paths_of_ros(tree: Path) -> None:
    empty = f"{os.pathsep}{tree / 'nowhere'}{os.pathsep}"
    found = finder(tree, ROS_PACKAGE_PATH=empty + str(tree / "other")).find("package://tool/t.stl")
    assert found == tree / "other/tool/t.stl"
    for name in ("AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH"):
        found = finder(tree, **{name: empty + str(tree / "prefix")}).find("package://tool2/t.stl")
        assert found == tree / "prefix/share/tool2/t.stl"


def test_text_has_no_folder(tree: Path) -> None:
    assert MeshFinder(None, (), {}).find("package://arm/meshes/a.stl") is None
    found = MeshFinder(None, (tree / "ws",), {}).find("package://arm/meshes/a.stl")
    assert found == tree / "ws/arm/meshes/a.stl"


def test_through_the_reader(tree: Path) -> None:
    path = tree / "ws/arm/urdf/arm.urdf"
    geometry = '<geometry><mesh filename="package://{}"/></geometry>'
    visuals = "".join(f"<visual>{geometry.format(m)}</visual>" for m in ("tool/t.stl", "arm/meshes/a.stl", "x/y.stl"))
    path.write_text(f'<robot name="r"><link name="l">{visuals}</link></robot>')
    (link,) = read_urdf(path, package_paths=[tree / "other"]).links
    assert [shape.path for shape in link.visuals] == [
        tree / "other/tool/t.stl",
        tree / "ws/arm/meshes/a.stl",
        None,
    ]
    assert link.visuals[0].mesh == "package://tool/t.stl"


@given(
    mesh=st.builds(
        str.__add__,
        st.sampled_from(["package://", "file://", "model://", "", "/", "../", "package://a/../", "file:///%00"]),
        st.text(max_size=40) | st.just("x" * 5000) | st.just("\0") | st.just("%00/a") | st.just("../" * 500),
    )
)
def test_any_name_is_found_or_not(mesh: str) -> None:
    found = MeshFinder(Path("folder/robot.urdf"), (Path("packages"),), {}).find(mesh)
    assert found is None or found.is_file()
