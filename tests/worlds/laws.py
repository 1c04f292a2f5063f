"""All laws, and the judgement of one world by them."""

from __future__ import annotations

import traceback
import warnings

from dqdyn.errors import Error

from . import (
    law_changes,
    law_compiled,
    law_constraints,
    law_coordinates,
    law_forces,
    law_kinematics,
    law_motion,
    oracles,
)
from .case import Case
from .world import world

LAWS = (
    *law_forces.LAWS,
    *law_motion.LAWS,
    *law_kinematics.LAWS,
    *law_changes.LAWS,
    *law_constraints.LAWS,
    *law_coordinates.LAWS,
    *oracles.LAWS,
    *law_compiled.LAWS,
)


def judged(seed: int) -> Case:
    """The world of that seed with everything that it breaks."""
    case = Case(world(seed))
    for law in LAWS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                law(case)
        except Error as problem:
            case.refuse(law.__name__, problem)
        except Exception:
            case.broken.append(f"{law.__name__}: {traceback.format_exc(limit=-3)}")
    return case
