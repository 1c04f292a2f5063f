"""URDF out of a xacro template, by the package ``xacro``; packages are found in folders, so that ROS is not needed.

A template may evaluate expressions and include other files, so unlike URDF it is to be loaded from sources that you
trust.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dqdyn.errors import LoadError, missing_extra, one_line
from dqdyn.formats import safe_xml
from dqdyn.formats.meshes import MeshFinder
from dqdyn.formats.safe_xml import Document

_LOCK = threading.Lock()  # xacro keeps its state in its module


def is_xacro(document: Document) -> bool:
    """Whether a document is a template: by its name, or by an element of xacro."""
    return document.file.endswith(".xacro") or any(one.tag.startswith("xacro:") for one in document.root.walk())


def refuse_arguments(arguments: Mapping[str, Any] | None, file: str) -> None:
    """An error where arguments are given to what is not a template."""
    if arguments:
        raise LoadError(f"{file} is not a xacro template, so it takes no xacro_args: leave them out.", file=file)


def expanded(document: Document, package_paths: Sequence[Path], arguments: Mapping[str, Any]) -> Document:
    """The URDF document of a template; ``arguments`` are those of its <xacro:arg>."""
    file, path = document.file, document.path
    if path is None:
        raise LoadError(f"{file} is a xacro template: save it in a file, for it may include others.", file=file)
    try:
        import xacro
    except ImportError:
        raise missing_extra("xacro", "xacro", f"Reading {file}, a xacro template,") from None
    given = {str(name): str(value) for name, value in arguments.items()}
    said = io.StringIO()
    with _LOCK, _packages_in(MeshFinder(path, package_paths)), contextlib.redirect_stderr(said):
        try:
            text = xacro.process_file(str(path), mappings=given).toxml()
        except LoadError:
            raise
        except Exception as problem:  # xacro raises many kinds, and wraps those of expressions in the file
            cause = _lost_package(problem)
            reason = one_line(str(problem) or type(problem).__name__, 300).rstrip(".")
            remedy = "correct it there, or give its arguments by xacro_args"
            raise cause or LoadError(f"{file}: xacro cannot expand it ({reason}): {remedy}.", file=file) from None
    return Document(safe_xml.parse(text).root, file, path)


@contextlib.contextmanager
def _packages_in(finder: MeshFinder) -> Iterator[None]:
    """Let ``$(find package)`` look into folders; xacro itself would ask ROS."""
    from xacro import substitution_args

    def find(package: str) -> str:
        folder = finder.package(package)
        if folder is None:
            remedy = "give the folder that holds it by package_paths"
            raise _LostPackageError(f"the package {package!r} is in none of the folders searched: {remedy}.")
        return folder

    former = substitution_args._eval_find, substitution_args._eval_dict["find"]
    substitution_args._eval_find = substitution_args._eval_dict["find"] = find
    try:
        yield
    finally:
        substitution_args._eval_find, substitution_args._eval_dict["find"] = former


class _LostPackageError(LoadError):
    """Passed on through xacro, which wraps what is raised inside."""


def _lost_package(problem: BaseException | None) -> LoadError | None:
    while problem is not None:
        if isinstance(problem, _LostPackageError):
            return LoadError(str(problem))
        inner = getattr(problem, "exc", None)
        problem = inner if isinstance(inner, BaseException) else problem.__cause__ or problem.__context__
    return None
