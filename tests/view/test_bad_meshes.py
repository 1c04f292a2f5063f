"""Meshes that are damaged or made to do harm: each is named in a note, and the rest of the robot is drawn."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.errors import LoadError
from dqdyn.model.description import Description, Joint, Link, Shape, placement
from dqdyn.robot import Robot
from dqdyn.view import mesh_files
from dqdyn.view.html import html_page
from dqdyn.view.mesh_files import read_mesh
from dqdyn.view.shapes import appearance_of
from dqdyn.view.sweep import sweep

GOOD = """<COLLADA><library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="f" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
<technique_common><accessor source="#f" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><vcount>4</vcount><p>0 1 2 3</p></polylist>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene><node><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
</COLLADA>"""
PAINTED = (
    GOOD.replace("<polylist ", '<polylist material="m" ')
    .replace(
        '<instance_geometry url="#g"/>',
        '<instance_geometry url="#g"><instance_material symbol="m" target="#paint"/></instance_geometry>',
    )
    .replace(
        "<library_visual",
        '<library_materials><material id="paint"><instance_effect url="#e"/></material></library_materials>'
        '<library_effects><effect id="e"><diffuse><color>COLOR</color></diffuse></effect></library_effects>'
        "<library_visual",
        1,
    )
)


def sharing(depth: int) -> str:
    """Nodes of which each uses the next one twice: 2^depth instances of the last."""
    nodes = "".join(
        f'<node id="n{i}"><instance_node url="#n{i + 1}"/><instance_node url="#n{i + 1}"/></node>' for i in range(depth)
    )
    library = f'<library_nodes>{nodes}<node id="n{depth}"/></library_nodes>'
    return GOOD.replace("<node>", '<node><instance_node url="#n0"/></node><node>').replace(
        "<library_visual", f"{library}<library_visual", 1
    )


SPOILED = {
    "no vertices": GOOD.replace('"VERTEX"', '"NORMAL"'),
    "no positions": GOOD.replace('"POSITION"', '"NORMAL"'),
    "no numbers": GOOD.replace("float_array", "int_array"),
    "no counts": GOOD.replace("<vcount>4</vcount>", ""),
    "huge polygon": GOOD.replace("<vcount>4<", "<vcount>4000000000000<"),
    "counts that overflow": GOOD.replace("<vcount>4<", "<vcount>" + "9000000000000000000 " * 3 + "<"),
    "negative polygon": GOOD.replace("<vcount>4<", "<vcount>-4<"),
    "too few corners": GOOD.replace("<vcount>4<", "<vcount>5<"),
    "negative offset": GOOD.replace('offset="0"', 'offset="-3"'),
    "huge offset": GOOD.replace('offset="0"', f'offset="{10**400}"'),
    "offset of words": GOOD.replace('offset="0"', 'offset="first"'),
    "flat positions": GOOD.replace('stride="3"', 'stride="2"'),
    "negative corner": GOOD.replace("<p>0 1 2 3<", "<p>0 1 2 -1<"),
    "missing corner": GOOD.replace("<p>0 1 2 3<", "<p>0 1 2 4<"),
    "huge corner": GOOD.replace("<p>0 1 2 3<", f"<p>0 1 2 {10**30}<"),
    "NaN": GOOD.replace(">0 0 0 1", ">nan 0 0 1"),
    "far away": GOOD.replace(">0 0 0 1", ">1e300 0 0 1"),
    "missing geometry": GOOD.replace('url="#g"', 'url="#x"'),
    "geometry without a name": GOOD.replace('url="#g"', ""),
    "unit": GOOD.replace("<COLLADA>", '<COLLADA><asset><unit meter="nan"/></asset>'),
    "matrix": GOOD.replace("<node>", "<node><matrix>1 2 3</matrix>"),
    "infinite matrix": GOOD.replace("<node>", "<node><scale>1e200 1 1</scale><scale>1e200 1 1</scale>"),
    "nodes that share nodes": sharing(60),
    "node in itself": GOOD.replace("<node>", '<node id="n"><instance_node url="#n"/>'),
    "instances": GOOD.replace("<node>", "<node>" + '<instance_geometry url="#g"/>' * 30_000),
    "short color": PAINTED.replace("COLOR", "1 0"),
    "nothing": "",
    "words": "<COLLADA>",
}


@pytest.mark.parametrize("name", SPOILED)
def test_collada_that_is_not_whole_is_one_sentence(name: str, tmp_path: Path) -> None:
    path = tmp_path / "part.dae"
    path.write_text(SPOILED[name])
    with pytest.raises(LoadError, match=r"^The mesh 'part\.dae' is not drawn: ") as caught:
        read_mesh(path)
    assert str(caught.value).isprintable()
    assert caught.value.file == str(path)


def test_collada_that_is_whole_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "part.dae"
    for text in (GOOD, sharing(8), PAINTED.replace("COLOR", "nan 0 0 1"), PAINTED.replace("COLOR", "9 -9 0 1")):
        path.write_text(text)
        (mesh,) = read_mesh(path)
        assert mesh.faces.shape == (2, 3)
        assert mesh.color in (None, (1.0, 0.0, 0.0, 1.0))


def test_a_geometry_is_read_once_for_all_its_instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dqdyn.view import collada

    read, path = [], tmp_path / "part.dae"
    path.write_text(GOOD.replace("<node>", "<node>" + '<instance_geometry url="#g"/>' * 50))
    fans = collada.fans
    monkeypatch.setattr(collada, "fans", lambda *given: read.append(given) or fans(*given))
    (mesh,) = read_mesh(path)
    assert len(mesh.faces) == 102
    assert len(read) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999999999\n"),
        ("b.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n"),
        ("c.obj", b"v 1e400 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
        ("d.obj", b"v 0 0 0\nv 1 0 0\nusemtl a\nf 1 2 3\nv 0 1 0\nv 0 0 1\nusemtl b\nf 1 2 5\n"),
        ("e.stl", b"solid\nvertex 1 2 nan\nvertex 1 2 3\nvertex 1 2 3\n"),
        ("f.stl", b"solid\nvertex 1 2 3\n"),
    ],
)
def test_other_formats(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(LoadError, match=f"^The mesh '{name}' is not drawn: "):
        read_mesh(path)


def test_faces_without_area_and_colors_without_numbers_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a.mtl").write_text("newmtl paint\nKd nan 7 -1\nnewmtl other\nKd 7 -1 0\n")
    path = tmp_path / "a.obj"
    path.write_text(
        "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl none\nf 1\nf 1 2\nf\n"
        "usemtl paint\nf 1 2 3\nusemtl other\nf 1 2 3\n"
    )
    assert [mesh.color for mesh in read_mesh(path)] == [None, (1.0, 0.0, 0.0, 1.0)]


def test_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "part.dae"
    with path.open("wb") as file:
        file.truncate(8 * 2**30)  # sparse: it takes no space on the disk
    with pytest.raises(LoadError, match="more than 200000000 bytes"):
        read_mesh(path)
    monkeypatch.setattr(mesh_files, "LARGEST_TEXT", 100)
    path.write_text(GOOD)
    with pytest.raises(LoadError, match="more than 100 bytes of text"):
        read_mesh(path)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
@pytest.mark.parametrize("ending", [".dae", ".stl", ".obj"])
def test_a_pipe_is_not_opened(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"part{ending}"
    os.mkfifo(path)
    with pytest.raises(LoadError, match="not a regular file"):
        read_mesh(path)


def robot_with(*shapes: Shape) -> Robot:
    seen = Shape("box", (0.1, 0.1, 0.1))
    links = (Link("base", visuals=(seen,)), Link("arm", visuals=shapes), Link("hand", visuals=(seen,)))
    joints = (Joint("a", "revolute", "base", "arm"), Joint("b", "revolute", "arm", "hand", placement((0, 0, 0.5))))
    return Robot.from_description(Description("r", links, joints))


@pytest.mark.parametrize("name", SPOILED)
def test_one_bad_mesh_leaves_the_rest_of_the_page(name: str, tmp_path: Path) -> None:
    path = tmp_path / "part.dae"
    path.write_text(SPOILED[name])
    robot = robot_with(Shape("mesh", (1.0, 1.0, 1.0), mesh="part.dae", path=path))
    look = appearance_of(robot)
    assert {part.body for part in look.meshes} == {-1, 0, 1}  # a simple shape stands for the arm
    (note,) = look.notes
    assert note.startswith("The mesh 'part.dae' is not drawn")
    assert note.endswith("It belongs to link 'arm'.")
    page = html_page(sweep(robot))
    assert "part.dae" in page


@pytest.mark.parametrize("size", [1e10, 1e29])
def test_shapes_that_are_too_large_are_noted(size: float, tmp_path: Path) -> None:
    path = tmp_path / "part.dae"
    path.write_text(GOOD)
    for shape in (
        Shape("box", (size, 1.0, 1.0)),
        Shape("mesh", (size, size, 1.0), mesh="part.dae", path=path),
        Shape("sphere", (1.0,), placement((size, 0.0, 0.0))),
    ):
        look = appearance_of(robot_with(shape))
        assert look.notes == ("A shape of link 'arm' is too large or too far away to be drawn.",)
        assert all(np.isfinite(part.mesh.vertices).all() for part in look.meshes)


@pytest.mark.parametrize(
    "shape", [Shape("box", (1.0,)), Shape("sphere"), Shape("mesh", (1.0,)), Shape("plane", (1.0,)), Shape("pyramid")]
)
def test_sizes_that_do_not_fit_the_kind_are_refused(shape: Shape) -> None:
    with pytest.raises(dq.ModelError, match="link 'arm'"):
        robot_with(shape)
