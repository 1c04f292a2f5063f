"""What robots look like: files read as other programs read them, solids closed, missing parts replaced."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from robot_data import urdf_file
from trees import TREES, tree

import dqdyn as dq
from dqdyn.errors import LoadError
from dqdyn.model.description import Description, Joint, Link, Shape, placement
from dqdyn.robot import Robot
from dqdyn.view.mesh_files import read_mesh
from dqdyn.view.shapes import PLAIN, appearance_of
from dqdyn.view.solids import KINDS, along, cone
from dqdyn.view.triangles import Triangles, merged, reduced, welded, with_normals


def volume(mesh: Triangles) -> float:
    """By the divergence theorem: positive where faces are counter-clockwise from outside."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def area(mesh: Triangles) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2.0)


class TestSolids:
    @pytest.mark.parametrize(
        ("kind", "size", "expected"),
        [
            ("box", (1.0, 2.0, 3.0), 6.0),
            ("sphere", (0.5,), np.pi / 6.0),
            ("cylinder", (0.5, 2.0), np.pi / 2.0),
            ("capsule", (0.5, 2.0), np.pi / 2.0 + np.pi / 6.0),
            ("ellipsoid", (1.0, 2.0, 3.0), 8.0 * np.pi),
        ],
    )
    def test_volumes(self, kind: str, size: tuple[float, ...], expected: float) -> None:
        assert volume(KINDS[kind](*size)) == pytest.approx(expected, rel=0.04)

    def test_cone_and_capsule_between_points(self) -> None:
        assert volume(cone(1.0, 3.0)) == pytest.approx(np.pi, rel=0.02)
        rod = along(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 3.0]), 0.1)
        assert rod.vertices.min(axis=0) == pytest.approx([0.9, 1.9, 2.9], abs=2e-3)
        assert rod.vertices.max(axis=0) == pytest.approx([1.1, 4.1, 3.1], abs=2e-3)
        assert volume(rod) > 0.0

    def test_mirrored_solids_keep_their_outside(self) -> None:
        assert volume(KINDS["box"](1.0, 1.0, 1.0).moved(np.diag([-1.0, 1.0, 1.0, 1.0]))) == pytest.approx(1.0)

    def test_normals_point_outwards_and_keep_creases(self) -> None:
        vertices, normals, faces = with_normals(KINDS["box"](2.0, 2.0, 2.0))
        assert len(vertices) == 24  # each corner once per side
        assert np.einsum("ij,ij->i", vertices, normals) == pytest.approx(1.0)
        vertices, normals, faces = with_normals(KINDS["sphere"](1.0))
        assert np.einsum("ij,ij->i", vertices, normals).min() > 0.97
        assert faces.max() < len(vertices)

    def test_reduced_meshes_keep_their_shape(self) -> None:
        ball = merged(KINDS["sphere"](1.0).moved(np.diag([1, 1, 1, 1.0])) for _ in range(1))[0]
        fine = Triangles(*_subdivided(ball, 3))
        coarse = reduced(fine, 3000)
        assert len(fine.faces) > 40_000
        assert 300 < len(coarse.faces) <= 3000
        assert volume(coarse) == pytest.approx(volume(fine), rel=0.05)


def _subdivided(mesh: Triangles, times: int) -> tuple[np.ndarray, np.ndarray]:
    mesh = welded(mesh)
    for _ in range(times):
        a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        corners = np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        mesh = welded(Triangles(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)))
    return mesh.vertices, mesh.faces


class TestFiles:
    @pytest.mark.parametrize("robot", ["panda", "ur5_robot", "talos_reduced", "solo12", "go1", "so100", "baxter"])
    def test_as_another_library_reads_them(self, robot: str) -> None:
        trimesh = pytest.importorskip("trimesh", reason="mesh files are compared with trimesh, which is missing")
        paths = _meshes(robot)
        compared = 0
        for path in paths[:12]:
            found = merged(mesh.colored(None) for mesh in read_mesh(path))[0]
            assert np.isfinite(found.vertices).all()
            if path.suffix.lower() in (".stl", ".obj"):
                other = trimesh.load(path, force="mesh")
                assert found.vertices.min(axis=0) == pytest.approx(other.bounds[0], abs=1e-6)
                assert found.vertices.max(axis=0) == pytest.approx(other.bounds[1], abs=1e-6)
                assert area(found) == pytest.approx(other.area, rel=1e-4)
                compared += 1
        assert paths
        assert compared or {path.suffix.lower() for path in paths} == {".dae"}

    def test_collada_of_panda_covers_its_collision_meshes(self) -> None:
        """The visuals are .dae, the collisions hulls in .stl: they fill the same boxes."""
        robot = _quietly(urdf_file("panda"))
        compared = 0
        for link in robot.description.links:
            if link.visuals and link.collisions and link.visuals[0].path and link.collisions[0].path:
                seen = merged(mesh.colored(None) for mesh in read_mesh(link.visuals[0].path))[0].vertices
                hull = merged(read_mesh(link.collisions[0].path))[0].vertices
                assert seen.min(axis=0) == pytest.approx(hull.min(axis=0), abs=0.01)
                assert seen.max(axis=0) == pytest.approx(hull.max(axis=0), abs=0.01)
                compared += 1
        assert compared >= 8

    def test_collada_colors_units_and_nodes(self, tmp_path: Path) -> None:
        path = tmp_path / "part.dae"
        path.write_text(COLLADA)
        (mesh,) = read_mesh(path)
        assert mesh.color == (0.1, 0.2, 0.3, 1.0)
        # A unit square in centimetres, moved by 1 along x, turned by 90° about z, scaled by 2; a fan of two triangles.
        assert mesh.vertices.min(axis=0) == pytest.approx([-0.01, 0.0, 0.0])
        assert mesh.vertices.max(axis=0) == pytest.approx([0.01, 0.02, 0.0])
        assert area(mesh) == pytest.approx(4e-4)

    def test_stl_as_text_and_binary(self, tmp_path: Path) -> None:
        corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
        text, binary = tmp_path / "text.stl", tmp_path / "binary.STL"
        lines = "".join(f"      vertex {x} {y} {z}\n" for x, y, z in corners)
        text.write_text(f"solid x\n facet normal 0 0 1\n  outer loop\n{lines}  endloop\n endfacet\nendsolid x\n")
        head = b"solid misleading".ljust(80, b"\0") + struct.pack("<I", 1)
        binary.write_bytes(head + struct.pack("<12fH", 0, 0, 1, *(c for p in corners for c in p), 0))
        for path in (text, binary):
            (mesh,) = read_mesh(path)
            assert mesh.vertices == pytest.approx(np.array(corners))
            assert area(mesh) == pytest.approx(0.5)

    def test_obj_with_materials_fans_and_backward_indices(self, tmp_path: Path) -> None:
        (tmp_path / "a.mtl").write_text("newmtl paint\nKd 0.5 0.25 1\nnewmtl wood\nKd 1 1 1\nmap_Kd wood.png\n")
        path = tmp_path / "a.obj"
        path.write_text(
            "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nusemtl paint\nf 1/1 2/2 3/3 4/4\n"
            "usemtl wood\nf -4//1 -3//1 -2//1\n"
        )
        painted, wooden = read_mesh(path)
        assert painted.color == (0.5, 0.25, 1.0, 1.0)
        assert area(painted) == pytest.approx(1.0)
        assert wooden.color is None
        assert area(wooden) == pytest.approx(0.5)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.stl", b"\x00\x01"),
            ("b.stl", b"solid\nvertex 1 2 x\n"),
            ("c.obj", b"v 0 0 0\nf 1 2 3\n"),
            ("d.obj", b"v 0 0\nf 1 1 1\n"),
            ("e.dae", b"<COLLADA><library_visual_scenes>"),
            ("f.dae", b'<!DOCTYPE x [<!ENTITY a "b">]><COLLADA/>'),
            ("g.ply", b"ply"),
        ],
    )
    def test_bad_files_are_named(self, name: str, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / name
        path.write_bytes(content)
        if name == "a.stl":  # nothing in it is no fault
            assert read_mesh(path) == []
            return
        with pytest.raises(LoadError, match=f"The mesh '{name}' is not drawn") as caught:
            read_mesh(path)
        assert caught.value.file == str(path)


def _meshes(name: str) -> list[Path]:
    robot = _quietly(urdf_file(name))
    found = [s.path for link in robot.description.links for s in link.visuals if s.path is not None]
    return list(dict.fromkeys(found))


def _quietly(path: Path) -> Robot:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        return dq.load(path)


class TestLooks:
    def test_panda_is_drawn_from_its_meshes(self) -> None:
        robot = _quietly(urdf_file("panda"))
        look = appearance_of(robot)
        assert look.notes == ()
        assert {part.body for part in look.meshes} == {-1, *range(len(robot.bodies))}
        assert len({part.color for part in look.meshes}) > 3  # the files' own colors
        assert 10_000 < sum(len(part.mesh.faces) for part in look.meshes) <= 150_000

    @pytest.mark.long
    def test_large_robots_are_coarsened(self) -> None:
        look = appearance_of(_quietly(urdf_file("go1")), most_faces=40_000)
        assert sum(len(part.mesh.faces) for part in look.meshes) < 60_000

    def test_primitives_stand_where_the_description_says(self, signpost: Robot) -> None:
        parts = {part.body: part for part in appearance_of(signpost).meshes}
        assert parts[0].color == (0.9, 0.05, 0.05, 1.0)
        assert parts[0].mesh.vertices.max(axis=0) == pytest.approx([0.6, 0.075, 0.075])
        assert parts[-1].mesh.vertices.max(axis=0)[2] == pytest.approx(0.6)

    @pytest.mark.parametrize("name", TREES)
    def test_robots_without_shapes_are_drawn_from_their_joints(self, name: str) -> None:
        robot = tree(name)
        look = appearance_of(robot)
        assert {part.body for part in look.meshes} == set(range(len(robot.bodies)))

    def test_a_missing_mesh_becomes_a_capsule_and_is_noted(self) -> None:
        lost = Shape("mesh", (1.0, 1.0, 1.0), mesh="package://nowhere/upper.stl")
        seen = Shape("box", (0.1, 0.1, 0.1))
        links = (
            Link("base", visuals=(seen,)),
            Link("upper", visuals=(lost,)),
            Link("bare"),
            Link("end", visuals=(seen,)),
        )
        joints = (
            Joint("a", "revolute", "base", "upper"),
            Joint("b", "revolute", "upper", "bare", origin=placement((0, 0, 0.5))),
            Joint("c", "revolute", "bare", "end", axis=(1.0, 0.0, 0.0)),
        )
        look = appearance_of(Robot.from_description(Description("r", links, joints)))
        assert {part.body for part in look.meshes} == {-1, 0, 2}  # "bare" shows nothing, as written
        assert look.notes == (
            "The mesh 'package://nowhere/upper.stl' of link 'upper' is not found; a simple shape is drawn instead.",
        )
        heights = np.concatenate([part.mesh.vertices[:, 2] for part in look.meshes if part.body == 0])
        assert heights.max() > 0.5

    def test_visuals_without_a_color_are_plain(self) -> None:
        link = Link("a", visuals=(Shape("box", (1.0, 1.0, 1.0)),))
        (part,) = appearance_of(Robot.from_description(Description("r", (link,)))).meshes
        assert part.color == PLAIN


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="c"><lambert><diffuse><color>0.1 0.2 0.3 1</color>
</diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">-0.5 0 0 0.5 0 0 0.5 1 0 -0.5 1 0</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist count="1" material="s"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="NORMAL" source="#p" offset="1"/><vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><scale>2 2 2</scale><node><translate>0 0.5 0</translate>
<rotate>0 0 1 90</rotate><translate>0 -0.5 0</translate><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="s" target="#m"/></technique_common></bind_material></instance_geometry></node></node>
</visual_scene></library_visual_scenes></COLLADA>"""
