"""Random robots of every joint kind, states and rates along their motion; shared by all tests of robots.

Trees are seeded: the same seed gives the same robot. Axes point anywhere, links branch, and child frames are off their
joints now and then, so that nothing hides behind a zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import stack, unstack
from dqdyn.model.description import Description, Joint, Link, Mimic, NamedFrame
from dqdyn.model.inertia import Inertia, Vector, as_tensor, as_vector
from dqdyn.model.joints import KINDS
from dqdyn.robot import Robot

JOINT_KINDS = tuple(name for name, kind in KINDS.items() if kind.__module__.startswith("dqdyn."))
"""The joint kinds of the package, without those that tests define."""
ONE_AXIS = ("revolute", "prismatic", "helical")
_FIRST = (*ONE_AXIS, "cylindrical", "universal", "spherical", "planar", "free")  # their order is that of the draws
MOVING = (*_FIRST, *sorted(kind for kind in JOINT_KINDS if kind not in _FIRST and KINDS[kind].nv))

# name: seed, number of joints, kinds, mimic joints, base
_TREES: dict[str, tuple[int, int, tuple[str, ...], int, str]] = {
    "every kind": (1, 12, MOVING, 0, "fixed"),
    "every kind, mimic": (2, 14, MOVING, 3, "fixed"),
    "free base": (3, 7, (*ONE_AXIS, "universal", "planar"), 1, "free"),
    "planar base": (4, 6, (*ONE_AXIS, "cylindrical", "spherical"), 0, "planar"),
    "one axis": (5, 8, ONE_AXIS, 2, "fixed"),
    "moving subspaces": (6, 5, ("universal", "planar"), 0, "fixed"),
    "one joint": (7, 1, ("revolute",), 0, "fixed"),
}
TREES = tuple(_TREES)
"""Names of trees for :func:`tree`: together they cover kinds, branches, mimic joints and bases."""


@cache
def tree(name: str) -> Robot:
    """The robot of that name, one of ``TREES``."""
    seed, joints, kinds, mimics, base = _TREES[name]
    return random_robot(seed, joints, kinds, mimics=mimics, base=base)


def random_robot(
    seed: int, joints: int = 8, kinds: Sequence[str] = MOVING, *, mimics: int = 0, base: str = "fixed"
) -> Robot:
    """The robot of :func:`random_description`."""
    return Robot.from_description(random_description(seed, joints, kinds, mimics=mimics, base=base), strict=True)


def random_description(
    seed: int, joints: int = 8, kinds: Sequence[str] = MOVING, *, mimics: int = 0, base: str = "fixed"
) -> Description:
    """A tree of ``joints`` moving joints that goes through ``kinds`` in a random order, and a fixed joint now and then.

    ``mimics`` of the joints with one axis follow another one. The frame "tool" is on the last link, "camera" on any.
    """
    rng = np.random.default_rng(seed)
    order = [kinds[i % len(kinds)] for i in range(joints)]
    rng.shuffle(order)
    links, made = [Link("link_0", random_inertia(rng))], []
    for kind in order:
        made.append(_joint(rng, kind, len(links), links[_behind(rng, len(links))].name))
        links.append(Link(made[-1].child, random_inertia(rng)))
        if rng.uniform() < 0.2:  # folded into the body by the model
            made.append(_joint(rng, "fixed", len(links), links[-1].name))
            links.append(Link(made[-1].child, random_inertia(rng)))
    frames = (
        NamedFrame("tool", links[-1].name, random_placement(rng)),
        NamedFrame("camera", links[int(rng.integers(0, len(links)))].name, random_placement(rng)),
    )
    return Description(f"tree_{seed}", tuple(links), tuple(_with_mimics(rng, made, mimics)), frames, base)


def _behind(rng: np.random.Generator, links: int) -> int:
    """Mostly a link added lately, so that trees are deep; sometimes any, so that they branch."""
    return int(rng.integers(0, links)) if rng.uniform() < 0.3 else links - 1


def _joint(rng: np.random.Generator, kind: str, index: int, parent: str) -> Joint:
    limited = kind in ONE_AXIS
    low = float(-rng.uniform(0.5, 2.0))
    return Joint(
        name=f"{kind}_{index}",
        kind=kind,
        parent=parent,
        child=f"link_{index}",
        origin=random_placement(rng),
        axis=random_unit(rng),
        second_axis=random_unit(rng),
        pitch=float(rng.uniform(-0.5, 0.5)),
        child_origin=random_placement(rng) if rng.uniform() < 0.3 else IDENTITY,
        lower=low if limited else None,
        upper=low + float(rng.uniform(1.0, 3.0)) if limited else None,
        velocity=float(rng.uniform(1.0, 5.0)),
        effort=float(rng.uniform(10.0, 100.0)),
        damping=float(rng.uniform(0.0, 1.0)),
        friction=float(rng.uniform(0.0, 0.5)),
        armature=float(rng.uniform(0.0, 0.2)),
    )


def _with_mimics(rng: np.random.Generator, joints: list[Joint], mimics: int) -> list[Joint]:
    """Some joints follow another one, which may come later in the tree; every second one follows a follower."""
    able = rng.permutation([i for i, joint in enumerate(joints) if joint.kind in ONE_AXIS])
    followers, masters = able[:mimics], able[mimics:]
    for n, follower in enumerate(followers):
        target = joints[followers[n - 1] if n % 2 else rng.choice(masters)].name
        mimic = Mimic(target, float(rng.uniform(0.3, 2.0) * rng.choice([-1.0, 1.0])), float(rng.uniform(-0.5, 0.5)))
        joints[follower] = Joint(**{**joints[follower].__dict__, "mimic": mimic})
    return joints


def random_unit(rng: np.random.Generator) -> Vector:
    """A direction."""
    v = rng.normal(size=3)
    return as_vector(v / np.linalg.norm(v))


def random_rotation(rng: np.random.Generator) -> Quaternion:
    """A unit quaternion, uniformly distributed."""
    r = rng.normal(size=4)
    return Quaternion(*(float(c) for c in r / np.linalg.norm(r)))


def random_placement(rng: np.random.Generator, reach: float = 0.5) -> DQ:
    """A pose with coordinates within ±reach in m."""
    return pose(random_rotation(rng), pure(*as_vector(rng.uniform(-reach, reach, 3))))


def random_inertia(rng: np.random.Generator) -> Inertia:
    """A body that can exist: the tensor tr(Σ) − Σ of a cloud of masses with covariance Σ."""
    mass, cloud = float(rng.uniform(0.2, 3.0)), rng.normal(size=(3, 4)) * 0.1
    covariance = cloud @ cloud.T * mass
    tensor = np.trace(covariance) * np.eye(3) - covariance
    return Inertia(mass, as_vector(rng.uniform(-0.3, 0.3, 3)), as_tensor(tensor))


# --- states -------------------------------------------------------------------------------------------------------


def random_q(robot: Robot, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Configurations of shape (*batch, nq) within the limits."""
    rows = [robot.random_configuration(rng) for _ in range(math.prod(batch))]
    return np.array(rows).reshape(*batch, robot.nq)


def random_v(robot: Robot, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Velocities, or accelerations, of shape (*batch, nv)."""
    return rng.normal(size=(*batch, robot.nv))


def random_state(
    robot: Robot, rng: np.random.Generator, batch: tuple[int, ...] = ()
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a of shapes (*batch, nq), (*batch, nv), (*batch, nv)."""
    return random_q(robot, rng, batch), random_v(robot, rng, batch), random_v(robot, rng, batch)


def run(robot: Robot, name: str, *inputs: Any, **options: Any) -> np.ndarray:
    """The algorithm of a function of the catalog on plain numbers: no compiler, no checks, any batch.

    Laws and oracles judge this; other tests hold the compiled function to it.
    """
    function, chosen = robot._functions.named(name, options)
    arrays = [np.asarray(x, dtype=float) for x in inputs]
    names = function.all_inputs(chosen)
    arrays = [x[..., None] if which in ("t", "dt") else x for which, x in zip(names, arrays, strict=True)]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    entries, shape = function.run(robot.model, chosen, *(unstack(x, x.shape[-1]) for x in arrays))
    return stack(entries, shape, batch)


# --- rates along a motion -----------------------------------------------------------------------------------------


def rate(function: Callable[[float], Any], h: float = 1e-2) -> np.ndarray:
    """d/dt function(t) at t = 0 by central differences of order 8, good to about 1e-12 where all is of size 1."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    terms = [w * (np.asarray(function(k * h)) - np.asarray(function(-k * h))) for k, w in enumerate(weights, 1)]
    return np.asarray(sum(terms)) / h


def rate_along(
    function: Callable[[np.ndarray], Any], robot: Robot, q: np.ndarray, v: np.ndarray, h: float = 1e-2
) -> np.ndarray:
    """d/dt function(q(t)) for q moving with the velocity v on its manifold."""
    return rate(lambda t: function(run(robot, "integrate", q, v, t)), h)


def moving_state(
    robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> Callable[[float], tuple[np.ndarray, np.ndarray]]:
    """t → (q, v) with velocity v and acceleration a at t = 0, for first derivatives of functions of the state there."""
    return lambda t: (run(robot, "integrate", q, v + 0.5 * t * a, t), v + t * a)


def assert_close(found: Any, expected: Any, tolerance: float = 1e-10, scale: float = 1.0) -> float:
    """Every entry within ``tolerance`` of the largest expected one, or of ``scale`` if that is larger."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    if not found.size:
        return 0.0
    error = float(np.abs(found - expected).max() / max(scale, np.abs(expected).max()))
    assert error <= tolerance, f"off by {error:.3g}, allowed {tolerance:.3g}"
    return error
