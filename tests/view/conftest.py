"""A watched page of the browser, and small robots that are easy to see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pages import Watched, recorded

from dqdyn.model.description import Description, Joint, Link, Shape, placement
from dqdyn.model.inertia import box
from dqdyn.robot import Robot

RED = (0.9, 0.05, 0.05, 1.0)


@pytest.fixture
def watched(chromium: Any) -> Iterator[Watched]:
    """A page whose messages and requests are kept."""
    context = chromium.new_context(viewport={"width": 900, "height": 900})
    yield Watched(context)
    context.close()


@pytest.fixture(scope="session")
def signpost() -> Robot:
    """A gray post with a red arm that turns about the vertical, within ±1.5 rad."""
    post = Link("post", visuals=(Shape("cylinder", (0.05, 0.6), placement((0, 0, 0.3)), color=(0.3, 0.3, 0.3, 1.0)),))
    arm = Link(
        "arm",
        box(2.0, (0.6, 0.15, 0.15), (0.3, 0.0, 0.0)),
        visuals=(Shape("box", (0.6, 0.15, 0.15), placement((0.3, 0, 0)), color=RED),),
    )
    turn = Joint("turn", "revolute", "post", "arm", origin=placement((0, 0, 0.6)), lower=-1.5, upper=1.5)
    return Robot.from_description(Description("signpost", (post, arm), (turn,)))


@pytest.fixture(scope="session")
def swing(signpost: Robot) -> Any:
    """The red arm goes from −1.4 to 1.4 rad in 3 s."""
    return recorded(signpost, np.linspace(0.0, 3.0, 301), np.linspace(-1.4, 1.4, 301)[:, None])
