"""A joint with several axes moves as a chain of simpler joints does: poses, Jacobians and their rates."""

from __future__ import annotations

import numpy as np
import pytest
from joint_samples import L2, L
from trees import assert_close, random_inertia, random_placement, random_unit, run

from dqdyn.algebra.dual import DQ
from dqdyn.model.description import Description, Joint, Link
from dqdyn.model.inertia import Inertia, Vector
from dqdyn.model.joints.planar import Planar
from dqdyn.robot import Robot

E1, E2 = (e.vector for e in Planar(L).in_plane())

# kind: the joint's own parameters, and the (kind, axis) of the chain, in the order of v
CHAINS: dict[str, tuple[dict[str, Vector], list[tuple[str, Vector]]]] = {
    "cylindrical": ({"axis": L}, [("revolute", L), ("prismatic", L)]),
    "universal": ({"axis": L, "second_axis": L2}, [("revolute", L), ("revolute", L2)]),
    "planar": ({"axis": L}, [("prismatic", E1), ("prismatic", E2), ("revolute", L)]),
}


def between(joints: list[Joint], inertia: Inertia, at: DQ, tip: DQ) -> Robot:
    """base – revolute – the joints in question – prismatic – tip; links inside a chain have no mass."""
    first = Joint("before", "revolute", "base", "a", axis=(0.6, 0.0, 0.8), origin=at)
    last = Joint("after", "prismatic", joints[-1].child, "b", axis=(0.0, 0.6, 0.8), origin=tip)
    links = [Link("base"), Link("a", inertia), *(Link(j.child) for j in joints[:-1])]
    links += [Link(joints[-1].child, inertia), Link("b", inertia)]
    return Robot.from_description(Description("pair", tuple(links), (first, *joints, last)), strict=True)


def pair(kind: str) -> tuple[Robot, Robot]:
    rng = np.random.default_rng(8)
    at, tip, origin, child_origin = (random_placement(rng) for _ in range(4))
    inertia = random_inertia(rng)
    own, chain = CHAINS[kind]
    one = Joint("one", kind, "a", "end", origin=origin, child_origin=child_origin, **own)  # type: ignore[arg-type]
    many = []
    for i, (simple, axis) in enumerate(chain):
        first, last = i == 0, i == len(chain) - 1
        many.append(
            Joint(
                f"axis_{i}",
                simple,
                "a" if first else f"inner_{i - 1}",
                "end" if last else f"inner_{i}",
                axis=axis,
                origin=origin if first else DQ([1, 0, 0, 0, 0, 0, 0, 0]),
                child_origin=child_origin if last else DQ([1, 0, 0, 0, 0, 0, 0, 0]),
            )
        )
    return between([one], inertia, at, tip), between(many, inertia, at, tip)


@pytest.mark.parametrize("kind", CHAINS)
def test_joint_equals_its_chain(kind: str) -> None:
    one, many = pair(kind)
    assert one.nv == many.nv == len(CHAINS[kind][1]) + 2
    rng = np.random.default_rng(1)
    for q, v, a in rng.normal(size=(3, 3, one.nv)) * 1.5:
        same = lambda tolerance, name, *inputs, **options: assert_close(
            run(one, name, *inputs, **options), run(many, name, *inputs, **options), tolerance
        )
        for frame in ("end", "b"):
            same(1e-14, "pose", q, frame=frame)
            for expressed in ("body", "world", "aligned"):
                same(1e-14, "twist_jacobian", q, frame=frame, expressed=expressed)
                same(1e-13, "twist_jacobian_derivative", q, v, frame=frame, expressed=expressed)
                same(1e-13, "twist_rate", q, v, a, frame=frame, expressed=expressed)
        same(1e-14, "center_of_mass_jacobian", q)
        same(1e-13, "center_of_mass_jacobian_derivative", q, v)
        same(1e-13, "centroidal_momentum_matrix", q)


def test_spherical_joint_moves_as_a_chain_of_three_turns() -> None:
    """Velocities differ in meaning; the twists that they generate must span and agree."""
    rng = np.random.default_rng(2)
    at, tip = random_placement(rng), random_placement(rng)
    inertia = random_inertia(rng)
    axes = [random_unit(rng) for _ in range(3)]
    ball = between([Joint("one", "spherical", "a", "end")], inertia, at, tip)
    names = ["a", "inner_0", "inner_1", "end"]
    turns = [Joint(f"axis_{i}", "revolute", names[i], names[i + 1], axis=axes[i]) for i in range(3)]
    chain = between(turns, inertia, at, tip)
    q, v, a = rng.normal(size=(3, 5))
    relative = run(chain, "relative_pose", q, frame1="end", frame2="a")
    q_ball = np.concatenate([q[:1], relative[:4], q[4:]])
    # ω of the end against a, in the axes of the end, and its rate.
    columns = run(chain, "twist_jacobian", q, frame="end")[:3, 1:4]
    v_ball = np.concatenate([v[:1], columns @ v[1:4], v[4:]])
    own = np.concatenate([[0.0], v[1:4], [0.0]])
    carried = run(chain, "twist_jacobian_derivative", q, own, frame="end")[:3, 1:4]
    a_ball = np.concatenate([a[:1], columns @ a[1:4] + carried @ v[1:4], a[4:]])
    balls, chains = (q_ball, v_ball, a_ball), (q, v, a)
    for frame in ("end", "b"):
        for n, name in enumerate(("pose", "twist", "twist_rate"), 1):
            found = run(ball, name, *balls[:n], frame=frame)
            assert_close(found, run(chain, name, *chains[:n], frame=frame), 1e-12)
