"""Descriptions with every kind of joint, and poses of links, for the tests of the writers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.errors import ModelWarning
from dqdyn.model.description import Description, Joint, Link, Mimic, NamedFrame, Shape, placement
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Model
from dqdyn.robot import Robot

AXIS, SECOND = (2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0), (0.6, 0.0, -0.8)
INERTIA = Inertia(1.5, (0.1, -0.2, 0.3), ((0.05, 0.01, -0.005), (0.01, 0.06, 0.002), (-0.005, 0.002, 0.07)))
ORIGIN = placement((0.3, -0.2, 0.5), (0.4, -0.7, 1.9))
CHILD_ORIGIN = placement((-0.1, 0.25, 0.15), (1.0, 0.5, -0.3))


def joint(kind: str, parent: str = "base", child: str = "tip", **changes: object) -> Joint:
    values = {"origin": ORIGIN, "axis": AXIS, "second_axis": SECOND, "pitch": 0.02, "child_origin": CHILD_ORIGIN}
    return Joint(f"{kind}_joint", kind, parent, child, **{**values, **changes})  # type: ignore[arg-type]


def one_joint(kind: str, **changes: object) -> Description:
    """A link on a base by one joint, with a link fixed to it and an extra frame."""
    return Description(
        f"one {kind}",
        (Link("base", INERTIA), Link("tip", INERTIA), Link("tool", Inertia(0.2, (0.0, 0.0, 0.1), np.eye(3) * 0.01))),
        (joint(kind, **changes), Joint("flange", "fixed", "tip", "tool", placement((0.0, 0.0, 0.4), (0.1, 0.2, 0.3)))),
        (NamedFrame("camera", "tool", placement((0.05, 0.0, 0.0), (0.0, 1.0, 0.0))),),
    )


def all_kinds(kinds: Sequence[str], child_origin: DQ = CHILD_ORIGIN) -> Description:
    """A chain with one joint of each kind, every link with mass."""
    links = ["base", *(f"after_{kind}" for kind in kinds)]
    joints = [joint(kind, links[i], links[i + 1], child_origin=child_origin) for i, kind in enumerate(kinds)]
    return Description("all kinds", tuple(Link(name, INERTIA) for name in links), tuple(joints))


def rich() -> Description:
    """Every field away from its default."""
    arm = Link(
        "arm",
        INERTIA,
        (
            Shape("box", (0.1, 0.2, 0.3), ORIGIN, "skin", color=(0.1, 0.2, 0.3, 1.0), material="blue"),
            Shape("sphere", (0.1,), color=(1.0, 0.0, 0.0, 0.5)),
        ),
        (Shape("cylinder", (0.1, 0.4), ORIGIN, "hull"),),
    )
    limited = {"lower": -1.25, "upper": 2.5, "velocity": 3.5, "effort": 40.0, "damping": 0.5, "friction": 0.25}
    return Description(
        "rich",
        (Link("base"), arm, Link("finger", INERTIA), Link("thumb", INERTIA), Link("pad")),
        (
            Joint("shoulder", "revolute", "base", "arm", ORIGIN, AXIS, **limited),  # type: ignore[arg-type]
            Joint("slide", "prismatic", "arm", "finger", ORIGIN, SECOND, lower=-0.1, upper=0.3, effort=0.5),
            Joint("follow", "revolute", "arm", "thumb", ORIGIN, AXIS, mimic=Mimic("slide", -2.5, 0.125)),
            Joint("glue", "fixed", "thumb", "pad", CHILD_ORIGIN),
        ),
        (NamedFrame("eye", "arm", ORIGIN),),
    )


def written(write: Callable[[Model], str], model: Model) -> tuple[str, list[str]]:
    """The text and what the writer warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = write(model)
    assert all(issubclass(warning.category, ModelWarning) for warning in caught)
    return text, [str(warning.message) for warning in caught]


def close(x: np.ndarray, y: np.ndarray, tolerance: float = 1e-12) -> bool:
    """Whether two poses agree; x and −x are the same pose."""
    return bool(min(np.abs(x - y).max(), np.abs(x + y).max()) < tolerance)


def frame_poses(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Poses (8,) of all frames in the world, walking from the root: x = parent · placement · motion."""
    coordinates, bodies = [float(c) for c in q], {WORLD_BODY: IDENTITY}
    for one in model.joints:
        motion = one.motion.pose(one.coordinates(coordinates))
        bodies[one.index] = bodies[one.parent] * one.placement * motion
    return {name: (bodies[frame.body] * frame.placement).vec8() for name, frame in model.frames.items()}


def random_q(model: Model, seed: int) -> np.ndarray:
    return Robot(model).random_configuration(np.random.default_rng(seed))


def assert_same_poses(one: Model, q: np.ndarray, other: Model, other_q: np.ndarray, tolerance: float = 1e-12) -> None:
    """Every link and frame of the first robot stands at the same place in the second."""
    mine, theirs = frame_poses(one, q), frame_poses(other, other_q)
    names = [link.name for link in one.description.links] + [frame.name for frame in one.description.frames]
    for name in names:
        assert close(mine[name], theirs[name], tolerance), name


def assert_same_inertias(one: Model, other: Model, tolerance: float = 1e-12) -> None:
    """Every moving body has the same mass and inertia, seen from the link that names it."""
    assert len(one.bodies) == len(other.bodies)
    for mine, theirs in zip(one.bodies, other.bodies, strict=True):
        assert abs(mine.inertia.mass - theirs.inertia.mass) < tolerance, mine.name
        np.testing.assert_allclose(mine.inertia.com, theirs.inertia.com, atol=tolerance, err_msg=mine.name)
        np.testing.assert_allclose(mine.inertia.tensor, theirs.inertia.tensor, atol=tolerance, err_msg=mine.name)
