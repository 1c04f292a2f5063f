"""MuJoCo parses and compiles an MJCF file; files of meshes and textures that dynamics does not need are not opened."""

from __future__ import annotations

import math
import os
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.errors import LoadError, missing_extra
from dqdyn.formats import safe_xml
from dqdyn.formats.files import read_bytes
from dqdyn.formats.safe_xml import TEXT, is_text


@dataclass(frozen=True)
class MeshAsset:
    """A mesh as the file names it, where it was found, and how its vertices are changed: scale · Rᵀ(v − position)."""

    name: str
    file: str
    path: Path | None
    scale: tuple[float, ...]
    position: tuple[float, ...]
    rotation: tuple[float, ...]  # (w, x, y, z) of R


@dataclass
class Compiled:
    """A compiled ``mujoco.MjModel`` and what it does not contain."""

    model: Any
    file: str
    name: str
    meshes: dict[str, MeshAsset]  # by name
    aside: dict[int, str | None]  # geoms that were not compiled: the name of their mesh, None for a height field
    texts: dict[str, str]  # of <custom>
    notes: list[str] = field(default_factory=list)


def compile_mjcf(source: str | Path) -> Compiled:
    """The model in an MJCF file, or in MJCF text (any string with ``<`` in it)."""
    mujoco = _mujoco()
    text = is_text(source)
    file = TEXT if text else str(source)
    # Read here first: the messages on missing files are better than MuJoCo's, and it would take URDF as well.
    _require_mjcf(str(source).encode(errors="replace") if text else read_bytes(Path(source), file), file)
    folder = Path.cwd() if text else Path(source).absolute().parent
    _require_files(source, file, folder, set())
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        try:
            spec = mujoco.MjSpec.from_string(str(source)) if text else mujoco.MjSpec.from_file(str(source))
            meshes = {mesh.name: _asset(spec, mesh, folder) for mesh in spec.meshes}
            _blank_textures(mujoco, spec)
            aside = _set_aside(mujoco, spec, file)
            for mesh in spec.meshes:
                _require_file(file, mesh.file, folder / (spec.compiler.meshdir or ""), folder)
            model = spec.compile()
        except LoadError:
            raise
        except Exception as problem:  # MuJoCo raises several kinds, and no fault of a file may escape as another error
            raise _load_error(file, str(problem)) from None
    _require_numbers(model, file)
    texts = {one.name: one.data for one in spec.texts}
    notes = [f"MuJoCo says: {_one_line(str(doubt.message))}" for doubt in doubts]
    return Compiled(model, file, spec.modelname, meshes, {geom.id: mesh for geom, mesh in aside}, texts, notes)


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError:
        raise missing_extra("mujoco", "mjcf", "Reading MJCF") from None
    return mujoco


def _require_mjcf(data: bytes, file: str) -> None:
    tag = re.search(rb"<([^\s<>!?/]+)", re.sub(rb"<!--.*?-->", b"", data, flags=re.DOTALL))
    if tag is not None and tag[1] != b"mujoco":
        outermost = tag[1][:60].decode(errors="replace")
        message = f"is not MJCF: its outermost element is <{outermost}>, not <mujoco>; load it with dqdyn.load."
        raise LoadError(f"{file} {message}", file=file, element=outermost)


def _require_files(source: str | Path, file: str, folder: Path, seen: set[Path]) -> None:
    """No file that MuJoCo reads along with this one is a pipe or a device, on which it would block forever."""
    for element in safe_xml.parse(source, safe_xml.MJCF_BOUNDS).root.walk():
        if element.tag in ("include", "model") and element.attributes.get("file"):
            for path in _require_file(file, element.attributes["file"], folder):
                if path.suffix.lower() == ".xml" and path not in seen:
                    seen.add(path)
                    _require_files(path, str(path), folder, seen)


def _require_file(file: str, name: str, *folders: Path) -> list[Path]:
    """Where a file that this one names is: an error if that is not a regular file, nothing if it is missing."""
    paths = [folder / name for folder in folders if name and os.path.exists(folder / name)]
    if not all(map(os.path.isfile, paths)):
        raise LoadError(f"{file} refers to {name!r}, which is not a regular file: name one.", file=file, element=name)
    return paths


def _load_error(file: str, problem: str) -> LoadError:
    problem = _one_line(problem)
    remedy = "correct it there"
    if "opening file" in problem:
        remedy = "put that file in its place, or give the bodies that use it an <inertial>"
    return LoadError(f"{file}: MuJoCo cannot read it ({problem}): {remedy}.", file=file, problem=problem)


def _one_line(text: str) -> str:
    return " ".join(text.replace("\n", ", ").split()).strip(" ,.").replace(",,", ",")


def _asset(spec: Any, mesh: Any, folder: Path) -> MeshAsset:
    directory = getattr(mesh, "compiler", spec.compiler).meshdir or ""
    name = os.path.basename(mesh.file) if getattr(spec, "strippath", False) else mesh.file
    candidates = (folder / directory / name, folder / name) if name else ()
    path = next((path for path in candidates if os.path.isfile(path)), None)
    scale, position, rotation = (tuple(map(float, numbers)) for numbers in (mesh.scale, mesh.refpos, mesh.refquat))
    return MeshAsset(mesh.name, mesh.file, path, scale, position, rotation)


def _blank_textures(mujoco: Any, spec: Any) -> None:
    """Replace images by one pixel: they are not used here, and their files may be missing."""
    for texture in spec.textures:
        if texture.file or any(texture.cubefiles):
            texture.file, texture.cubefiles = "", [""] * len(texture.cubefiles)
            texture.builtin = mujoco.mjtBuiltin.mjBUILTIN_FLAT
            texture.width = 1
            texture.height = 1 if texture.type == mujoco.mjtTexture.mjTEXTURE_2D else 6
    for skin in list(spec.skins):
        spec.delete(skin)


_NUMBERS = {
    "joint": ("jnt_pos", "jnt_axis", "jnt_range", "jnt_actfrcrange"),
    "body": ("body_pos", "body_quat", "body_mass", "body_inertia", "body_ipos", "body_iquat"),
    "geom": ("geom_pos", "geom_quat", "geom_size", "geom_rgba"),
    "site": ("site_pos", "site_quat"),
    "camera": ("cam_pos", "cam_quat"),
    "key": ("key_qpos",),
    "equality": ("eq_data",),
    "actuator": ("actuator_gear", "actuator_forcerange", "actuator_ctrlrange", "actuator_gainprm"),
}
"""Fields of MuJoCo's model that are read here, by what they belong to."""


def _require_numbers(model: Any, file: str) -> None:
    """MuJoCo takes NaN for a number, and some of its fields for a number that is left out."""
    rows = [(kind, name, getattr(model, name), None) for kind, names in _NUMBERS.items() for name in names]
    of_axes = ("dof_damping", "dof_armature", "dof_frictionloss")
    springs = (model.jnt_stiffness, model.qpos_spring[model.jnt_qposadr])
    rows += [("joint", name, values, None) for name, values in zip(("stiffness", "springref"), springs, strict=True)]
    rows += [("joint", name, getattr(model, name), model.dof_jntid) for name in of_axes]
    rows.append(("joint", "ref", model.qpos0[model.jnt_qposadr], None))
    for kind, name, values, owners in rows:
        bad = np.argwhere(np.isnan(values))
        if name.endswith(("_quat", "_iquat")):
            _require_unit(model, file, kind, values)
        if len(bad):
            owner = int(bad[0][0] if owners is None else owners[bad[0][0]])
            element = getattr(model, kind)(owner).name or f"{kind}{owner}"
            fault = f"has NaN in {name.partition('_')[2] or name}: write finite numbers"
            raise LoadError(f"{file}: the {kind} {element!r} {fault}.", file=file, element=element)


def _require_unit(model: Any, file: str, kind: str, quaternions: Any) -> None:
    """MuJoCo divides by the length, which overflows where a component is huge: the result is not a rotation."""
    bad = np.argwhere(np.abs((quaternions**2).sum(axis=1) - 1.0) > 1e-6)
    if len(bad):
        element = getattr(model, kind)(int(bad[0][0])).name or f"{kind}{bad[0][0]}"
        fault = "has a quaternion that is far too long: divide it by its length"
        raise LoadError(f"{file}: the {kind} {element!r} {fault}.", file=file, element=element)


def _set_aside(mujoco: Any, spec: Any, file: str) -> list[tuple[Any, str | None]]:
    """Turn mesh geoms that give no mass into small balls, so that their files need not be there.

    The geoms stay, because sensors and the like may refer to them. Height fields are treated alike.
    """
    aside: list[tuple[Any, str | None]] = []
    meshes, fields = ({asset.name for asset in assets} for assets in (spec.meshes, spec.hfields))
    for body in spec.bodies:
        for geom in body.geoms:
            is_mesh, is_field = (geom.type == getattr(mujoco.mjtGeom, f"mjGEOM_{k}") for k in ("MESH", "HFIELD"))
            wanted, known = (geom.meshname, meshes) if is_mesh else (geom.hfieldname, fields)
            if (is_mesh or is_field) and wanted not in known:
                asset = f"the asset {wanted!r}, which the file does not define: add it to <asset>"
                problem = f"a geom of the body {body.name!r} is drawn from {asset}."
                raise LoadError(f"{file}: {problem}", file=file, element=wanted)
            if is_field or (is_mesh and not _gives_mass(mujoco, spec, body, geom)):
                aside.append((geom, geom.meshname if is_mesh else None))
    for geom, _ in aside:
        geom.type, geom.size, geom.meshname, geom.hfieldname = mujoco.mjtGeom.mjGEOM_SPHERE, [1e-3, 0, 0], "", ""
    used = {geom.meshname for geom in spec.geoms}
    for asset in [mesh for mesh in spec.meshes if mesh.name not in used] + list(spec.hfields):
        spec.delete(asset)
    return aside


def _gives_mass(mujoco: Any, spec: Any, body: Any, geom: Any) -> bool:
    if body.id == 0 or body.name == "world":
        return False
    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    never = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    low, high = spec.compiler.inertiagrouprange
    massless = geom.mass == 0.0 or (math.isnan(geom.mass) and geom.density == 0.0) or not low <= geom.group <= high
    return not (massless or never or (body.explicitinertial and not always))
