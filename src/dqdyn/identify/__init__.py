"""Parameters of a robot from measured motion: what can be seen, how to move, what was found, and how sure it is.

>>> import dqdyn as dq
>>> robot = dq.robots.two_link()
>>> base = dq.identify.base_parameters(robot, terms=())
>>> len(base) < 20
True
"""

from __future__ import annotations

from dqdyn.identify.base import BaseParameters, base_parameters
from dqdyn.identify.columns import TERMS, Columns
from dqdyn.identify.data import Data
from dqdyn.identify.excitation import Excitation, excitation
from dqdyn.identify.fit import fit, validate
from dqdyn.identify.pseudo_inertia import parameters_of, pseudo_inertia
from dqdyn.identify.report import Report, Validation
from dqdyn.identify.solution import Solution

__all__ = [
    "TERMS",
    "BaseParameters",
    "Columns",
    "Data",
    "Excitation",
    "Report",
    "Solution",
    "Validation",
    "base_parameters",
    "excitation",
    "fit",
    "parameters_of",
    "pseudo_inertia",
    "validate",
]
