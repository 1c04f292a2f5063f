"""Damaged meshes: a refusal, or triangles that can be drawn; a page of a robot survives any of them."""

from __future__ import annotations

import random
import struct
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from dqdyn.errors import LoadError
from dqdyn.model.description import Description, Link, Shape
from dqdyn.robot import Robot
from dqdyn.view.mesh_files import read_mesh
from dqdyn.view.shapes import appearance_of
from dqdyn.view.triangles import with_normals

from ..cases import Area, Case
from ..mutate import as_bytes, as_text, damaged_bytes, damaged_text
from ..mutate_xml import damaged_xml

CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
OBJ = "mtllib part.mtl\n" + "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
OBJ += "usemtl red\nf 1 3 2\nf 1/1 2/2 4/3\nusemtl blue\nf -4 -1 -2\nf 2//1 3//1 4//1 1//1\n"
MTL = "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\nmap_Kd blue.png\n"
TEXT_STL = "solid part\n" + "".join(
    "facet normal 0 0 1\nouter loop\n"
    + "".join("vertex {} {} {}\n".format(*CORNERS[i]) for i in face)
    + "endloop\nendfacet\n"
    for face in FACES
)
DAE = """<COLLADA version="1.4.1"><asset><unit meter="0.01"/></asset>
<library_effects><effect id="e"><profile_COMMON><technique><lambert><diffuse><color>1 0 0 1</color></diffuse></lambert>
</technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="f" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#f" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<triangles count="2" material="sym"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3</p></triangles>
<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#s" offset="1"/>
<vcount>3</vcount><p>0 0 3 1 2 2</p></polylist>
<polygons count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>1 2 3</p></polygons></mesh></geometry>
</library_geometries>
<library_nodes><node id="n2"><instance_geometry url="#g"/></node><node id="n1">
<instance_node url="#n2"/></node></library_nodes>
<library_visual_scenes><visual_scene id="scene"><node id="top"><translate>1 2 3</translate><rotate>0 0 1 90</rotate>
<scale>1 1 2</scale><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="sym" target="#m"/></technique_common></bind_material></instance_geometry>
<instance_node url="#n1"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene></COLLADA>"""
_WORDS = "#g #s #v #e #m #n1 #n2 #top #scene VERTEX POSITION NORMAL 0 1 2 3 -1 100"
WORDS = tuple(_WORDS.split())


@cache
def binary_stl() -> bytes:
    records = (b"".join(struct.pack("<3f", *p) for p in ((0, 0, 1), *(CORNERS[i] for i in f))) + b"\0\0" for f in FACES)
    return b"part".ljust(80) + struct.pack("<I", len(FACES)) + b"".join(records)


def nested(depth: int, each: int) -> str:
    """Nodes that each show the next one several times: a short text with each**depth triangles."""
    nodes = [f'<node id="d{i}">' + f'<instance_node url="#d{i + 1}"/>' * each + "</node>" for i in range(depth)]
    last = f'<node id="d{depth}"><instance_geometry url="#g"/></node>'
    text = DAE.replace("<library_nodes>", "<library_nodes>" + "".join(nodes) + last)
    return text.replace('<instance_node url="#n1"/>', '<instance_node url="#d0"/>')


class Fuzzed(Area):
    """A file."""

    weight = 0.5

    def make(self, rng: random.Random) -> Case:
        kind = rng.choice(("stl", "text stl", "obj", "mtl", "dae", "dae", "dae", "nested"))
        if kind == "stl":
            return {"suffix": ".stl", "content": as_text(damaged_bytes(rng, binary_stl()))}
        if kind == "text stl":
            return {"suffix": ".stl", "content": damaged_text(rng, TEXT_STL)}
        if kind in ("obj", "mtl"):
            return {"suffix": ".obj", "content": damaged_text(rng, OBJ), "mtl": damaged_text(rng, MTL)}
        text = nested(rng.randint(0, 70), rng.randint(1, 3)) if kind == "nested" else DAE
        return {"suffix": ".dae", "content": damaged_xml(rng, text, WORDS) if rng.random() < 0.9 else text}

    def check(self, case: Case) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"part{case['suffix']}"
            path.write_bytes(_encoded(case["content"]))
            if "mtl" in case:
                (Path(folder) / "part.mtl").write_bytes(_encoded(case["mtl"]))
            refused = None
            try:
                meshes = read_mesh(path)
            except LoadError as error:
                refused, meshes = error, []
            for mesh in meshes:
                assert np.isfinite(mesh.vertices).all(), "vertices are not finite"
                assert mesh.faces.min() >= 0, "faces without vertices"
                assert mesh.faces.max() < len(mesh.vertices), "faces without vertices"
                assert mesh.color is None or np.isfinite(mesh.color).all(), "a color is not finite"
            look = appearance_of(_robot(path))
            assert look.meshes, "nothing is drawn"
            for part in look.meshes:
                vertices, normals, _ = with_normals(part.mesh)
                assert np.isfinite(vertices).all(), "drawn vertices are not finite"
                assert np.isfinite(normals).all(), "normals are not finite"
            if refused is not None:
                raise refused
            if case["suffix"] == ".stl":
                _compare_stl(_encoded(case["content"]), meshes)
            return "drawn" if meshes else "empty"


def _encoded(text: str) -> bytes:
    return as_bytes(text) if all(c < "\u0100" for c in text) else text.encode("utf-8", errors="replace")


def _robot(path: Path) -> Robot:
    """One link with that mesh beside a ball."""
    shapes = (Shape("mesh", (1.0, 1.0, 1.0), mesh=path.name, path=path), Shape("sphere", (0.1,)))
    return Robot.from_description(Description("seen", (Link("body", visuals=shapes),), base="free"))


def _compare_stl(data: bytes, meshes: list) -> None:
    """Triangles of a binary file by ``struct``, where its size says that it is one."""
    if len(data) < 84 or len(data) != 84 + 50 * (count := struct.unpack_from("<I", data, 80)[0]) or not count:
        return
    expected = [struct.unpack_from("<9f", data, 84 + 50 * i + 12) for i in range(count)]
    found = np.concatenate([mesh.vertices[mesh.faces].reshape(-1, 9) for mesh in meshes])
    assert (found == np.array(expected)).all(), "the triangles are others"
