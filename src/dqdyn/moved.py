"""Modules under their former names; the documented ones stay, the others warn for one release."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

DOCUMENTED = {
    "dqdyn.compile.cache": "dqdyn.compile.runtime.cache",
    "dqdyn.compile.export_c": "dqdyn.compile.export.c",
    "dqdyn.compile.function": "dqdyn.compile.runtime.function",
    "dqdyn.dynamics.coordinates": "dqdyn.coordinates",
    "dqdyn.dynamics.coordinates.base": "dqdyn.coordinates.parameterisation",
    "dqdyn.dynamics.lagrange": "dqdyn.dynamics.formulations.lagrange",
}
DEPRECATED = {
    "dqdyn.dynamics.constraints": "dqdyn.constraints",
    "dqdyn.footsteps.quintic": "dqdyn.splines.quintic",
    "dqdyn.model.loaders": "dqdyn.formats",
    "dqdyn.model.robots": "dqdyn.robots.builders",
    "dqdyn.model.writers": "dqdyn.formats",
    "dqdyn.view.scene": "dqdyn.view.markers",
}


class MovedModules(MetaPathFinder, Loader):
    """Finds modules by their old names; it is called after Python's own finders fail."""

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        known = fullname in DOCUMENTED or fullname in DEPRECATED
        return spec_from_loader(fullname, self) if known else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name in DEPRECATED:
            text = f"{spec.name} is now {DEPRECATED[spec.name]}; the old name goes with the next release."
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        module = import_module({**DOCUMENTED, **DEPRECATED}[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run; the import has put the old name's specification into the module."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


sys.meta_path.append(MovedModules())
