"""Every operation that DQ Robotics has too gives its results, on random elements, to 1e-12.

Its angle is an arccosine, which loses digits near 0 and 2π: the strata there are compared with mpmath instead.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import dqrobotics
import numpy as np
import pytest
from algebra_tools import random_dq, random_pose, random_pure

from dqdyn.algebra import functions
from dqdyn.algebra.dual import DQ

TRIALS = 25


def theirs(x: Any) -> Any:
    return dqrobotics.DQ(x.vec8()) if isinstance(x, DQ) else x


def plain(result: Any) -> np.ndarray:
    """Coefficients, whichever library the result is from; theirs gives vectors as columns."""
    if isinstance(result, dqrobotics.DQ):
        result = result.vec8()
    if isinstance(result, DQ):
        result = result.vec8()
    array = np.asarray(result, dtype=float)
    return array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array


def compare(mine: Any, other: Any) -> None:
    a, b = plain(mine), plain(other)
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


Make = Callable[[np.random.Generator], Any]


def quaternion(rng: np.random.Generator) -> DQ:
    return random_dq(rng).P()


def unit_quaternion(rng: np.random.Generator) -> DQ:
    return random_pose(rng).P()


def exponent(rng: np.random.Generator) -> float:
    return float(rng.uniform(-1.5, 1.5))


NAMED: dict[str, tuple[Make, ...]] = {
    **dict.fromkeys(("P", "D", "Re", "Im", "conj", "sharp", "norm", "inv", "normalize"), (random_dq,)),
    **dict.fromkeys(("vec3", "vec4", "vec8", "hamiplus8", "haminus8", "generalized_jacobian"), (random_dq,)),
    **dict.fromkeys(("hamiplus4", "haminus4"), (quaternion,)),
    **dict.fromkeys(("rotation", "translation", "rotation_axis", "rotation_angle", "log"), (random_pose,)),
    **dict.fromkeys(("tplus", "pinv", "Q8"), (random_pose,)),
    **dict.fromkeys(("cross", "dot"), (random_pure, random_pure)),
    **dict.fromkeys(("C4", "C8"), ()),
    "vec6": (random_pure,),
    "crossmatrix4": (lambda rng: random_pure(rng).P(),),
    "exp": (random_pure,),
    "pow": (random_pose, exponent),
    "dec_mult": (random_pose, random_pose),
    "Ad": (random_pose, random_pure),
    "Adsharp": (random_pose, random_dq),
    "Q4": (unit_quaternion,),
}
PREDICATES = [name for name in dir(dqrobotics) if name.startswith("is_")]


@pytest.mark.parametrize("name", NAMED)
def test_functions(name: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(TRIALS):
        arguments = [make(rng) for make in NAMED[name]]
        compare(getattr(functions, name)(*arguments), getattr(dqrobotics, name)(*map(theirs, arguments)))


def test_every_name_of_dq_robotics_is_here() -> None:
    constants = {"DQ", "DQ_threshold"}
    for name in set(dir(dqrobotics)) - constants:
        if not name.startswith("_") and not isinstance(getattr(dqrobotics, name), ModuleType):
            assert hasattr(functions, name), name
    functions_there = {n for n in dir(dqrobotics) if callable(getattr(dqrobotics, n)) and not n.startswith("_")}
    assert functions_there - {"DQ"} - set(PREDICATES) - {"i_", "j_", "k_", "E_"} <= set(NAMED)


@pytest.mark.parametrize("name", ["i_", "j_", "k_", "E_"])
def test_units(name: str) -> None:
    compare(getattr(functions, name), getattr(dqrobotics, name))


@pytest.mark.parametrize("name", PREDICATES)
def test_predicates(name: str) -> None:
    rng = np.random.default_rng(2)
    line = random_pose(rng)
    candidates = [
        DQ([2.5]),
        DQ([2.5, 0, 0, 0, 1, 0, 0, 0]),
        DQ(rng.normal(size=3)),
        random_dq(rng),
        random_pure(rng),
        quaternion(rng),
        random_pose(rng),
        functions.Ad(line, functions.k_),
        functions.Adsharp(line, functions.k_),
        DQ(),
    ]
    answers = [getattr(functions, name)(x) for x in candidates]
    assert answers == [getattr(dqrobotics, name)(theirs(x)) for x in candidates]
    assert len(set(answers)) == 2


def test_a_rotation_is_no_plane() -> None:
    """The one predicate where we differ on purpose."""
    assert dqrobotics.is_plane(dqrobotics.DQ([1]))
    assert not functions.is_plane(DQ([1]))


def test_operators() -> None:
    rng = np.random.default_rng(3)
    for _ in range(TRIALS):
        a, b = random_dq(rng), random_dq(rng)
        s = float(rng.normal())
        compare(a + b, theirs(a) + theirs(b))
        compare(a - b, theirs(a) - theirs(b))
        compare(a * b, theirs(a) * theirs(b))
        compare(a * s, theirs(a) * s)
        compare(s * a, s * theirs(a))
        compare(a + s, theirs(a) + s)
        compare(s + a, s + theirs(a))
        compare(a - s, theirs(a) - s)
        compare(s - a, -theirs(a) + s)  # theirs gives a − s for s − a
        compare(-a, -theirs(a))
        compare(a / b, theirs(a) * dqrobotics.inv(theirs(b)))
        assert (a == b) == (theirs(a) == theirs(b))
        assert a == DQ(theirs(a).vec8().ravel())


@pytest.mark.parametrize("name", ["P", "D", "Re", "Im", "conj", "sharp", "norm", "inv", "normalize"])
def test_methods(name: str) -> None:
    x = random_dq(np.random.default_rng(4))
    compare(getattr(x, name)(), getattr(theirs(x), name)())


@pytest.mark.parametrize("name", ["rotation", "translation", "rotation_axis", "rotation_angle", "log", "vec8"])
def test_methods_of_poses(name: str) -> None:
    x = random_pose(np.random.default_rng(5))
    compare(getattr(x, name)(), getattr(theirs(x), name)())
    compare(x**0.3, theirs(x).pow(0.3))
    compare(x.log().exp(), theirs(x))


@pytest.mark.parametrize("count", [1, 3, 4, 6, 8])
def test_constructor_means_the_same(count: int) -> None:
    numbers = np.random.default_rng(6).normal(size=count)
    compare(DQ(numbers), dqrobotics.DQ(numbers))
    compare(DQ(list(numbers)), dqrobotics.DQ(numbers))


def test_norm_of_a_pure_dual_part() -> None:
    x = DQ([0, 0, 0, 0, 1, 2, 3, 4])
    compare(functions.norm(x), dqrobotics.norm(theirs(x)))


def test_planes_and_points_move_alike() -> None:
    """Adsharp on a plane and on the point 1 + εp; both need translation and rotation to show a wrong conjugate."""
    rng = np.random.default_rng(7)
    x, p = random_pose(rng), DQ(rng.normal(size=3))
    n = functions.normalize(DQ(rng.normal(size=3)))
    plane = n + functions.E_ * float(rng.normal())
    compare(functions.Adsharp(x, plane), dqrobotics.Adsharp(theirs(x), theirs(plane)))
    moved = functions.rotation(x) * p * functions.conj(functions.rotation(x)) + functions.translation(x)
    point = x * (functions.E_ * p + 1) * functions.conj_sharp(x)
    compare(point, functions.E_ * moved + 1)
