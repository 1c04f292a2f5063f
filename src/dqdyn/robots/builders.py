"""Built-in robots: functions that return descriptions, one short file per family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dqdyn.errors import Error, unknown_name
from dqdyn.model.description import Description
from dqdyn.robots.arms import arm6, arm7
from dqdyn.robots.chains import chain, two_link
from dqdyn.robots.humanoids import humanoid
from dqdyn.robots.linkages import five_bar, four_bar
from dqdyn.robots.mobile import holonomic_manipulator, nonholonomic_manipulator
from dqdyn.robots.multi_contact import multi_contact_humanoid
from dqdyn.robots.platform import stewart_platform
from dqdyn.robots.small_body import mobile_bimanual, small_bimanual
from dqdyn.robots.upper_body import bimanual

_ARMS = (two_link, chain, arm6, arm7, holonomic_manipulator, nonholonomic_manipulator)
_BODIES = (bimanual, small_bimanual, mobile_bimanual, humanoid, multi_contact_humanoid)
_LOOPS = (four_bar, five_bar, stewart_platform)
BUILDERS: dict[str, Callable[..., Description]] = {build.__name__: build for build in (*_ARMS, *_BODIES, *_LOOPS)}


def names() -> list[str]:
    """Names of the built-in robots."""
    return list(BUILDERS)


def describe(name: str, *arguments: Any, **options: Any) -> Description:
    """The built-in robot of that name, e.g. ``describe("chain", 50)``."""
    if name not in BUILDERS:
        raise unknown_name("built-in robot", name, BUILDERS)
    try:
        return BUILDERS[name](*arguments, **options)
    except TypeError as error:
        raise Error(f"The built-in robot {name!r} does not take these options: {error}.", name=name) from None
