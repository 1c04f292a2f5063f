"""Where the mesh files of a robot are. A missing mesh is not an error, since dynamics needs none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

_PACKAGE_SCHEMES = ("package://", "model://")
_ROS_PATHS = ("ROS_PACKAGE_PATH",)
_PREFIX_PATHS = ("AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH")


class MeshFinder:
    """Resolves mesh names as files write them; compares file names only, opens nothing, uses no network.

    ``package://name/rest`` is searched in ``package_paths``, in the paths of ROS, and in every folder above the robot's
    file: each may hold the package or be the package itself. Relative names start at the folder of the robot's file.
    """

    def __init__(
        self, file: Path | None, package_paths: Sequence[Path] = (), environment: Mapping[str, str] = os.environ
    ) -> None:
        self.folder = os.path.abspath(file.parent) if file is not None else None
        self.roots = [os.path.abspath(path) for path in package_paths] + _environment_roots(environment)
        if self.folder is not None:
            self.roots += [self.folder, *map(str, Path(self.folder).parents)]
        self.paths: dict[str, Path | None] = {}
        self.packages: dict[str, list[str]] = {}

    def find(self, mesh: str) -> Path | None:
        """The file of a mesh, or None."""
        if mesh not in self.paths:
            self.paths[mesh] = self._search(mesh)
        return self.paths[mesh]

    def _search(self, mesh: str) -> Path | None:
        for scheme in _PACKAGE_SCHEMES:
            if mesh.startswith(scheme):
                package, _, rest = mesh[len(scheme) :].lstrip("/").partition("/")
                return self._in_package(package, rest) or self._in_package(unquote(package), unquote(rest))
        if mesh.startswith("file://"):
            return _file(unquote(mesh[len("file://") :])) or _file(mesh[len("file://") :])
        if "://" in mesh or not mesh:
            return None
        return _file(mesh if self.folder is None else os.path.join(self.folder, mesh))

    def _in_package(self, package: str, rest: str) -> Path | None:
        for folder in self._folders(package):
            path = os.path.normpath(os.path.join(folder, rest.lstrip("/")))
            # A name such as package://p/../../etc/x must not lead out of its package.
            if path.startswith(folder + os.sep) and (file := _file(path)):
                return file
        return None

    def package(self, name: str) -> str | None:
        """The folder of a package, or None."""
        return next(iter(self._folders(name)), None)

    def _folders(self, package: str) -> list[str]:
        """Existing folders that may be the package, best first."""
        if package in ("", ".", "..") or "\0" in package:
            return []
        if package not in self.packages:
            folders = []
            for root in self.roots:
                folders += [root] if os.path.basename(root) == package else []
                folders.append(os.path.join(root, package))
            self.packages[package] = [folder for folder in folders if os.path.isdir(folder)]
        return self.packages[package]


def _environment_roots(environment: Mapping[str, str]) -> list[str]:
    def entries(names: Sequence[str]) -> list[str]:
        return [entry for name in names for entry in environment.get(name, "").split(os.pathsep) if entry]

    return entries(_ROS_PATHS) + [os.path.join(prefix, "share") for prefix in entries(_PREFIX_PATHS)]


def _file(path: str) -> Path | None:
    # os.path.isfile answers False where a name is impossible (NUL, too long); Path.is_file raises for some.
    return Path(os.path.normpath(path)) if os.path.isfile(path) else None
