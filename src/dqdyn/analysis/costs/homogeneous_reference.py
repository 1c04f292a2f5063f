"""Newton-Euler recursion with homogeneous matrices (Lynch and Park, Modern Robotics, ch. 8), as a reference for costs.

Farias compares the dual-quaternion recursion with this one in Figs. 4 and 5. Poses are 4×4, adjoints and inertias 6×6,
all in full, as the book writes them. Twists are [ω, v] and wrenches [τ, f] here, in the book's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.scalar import Scalar, cos, sin
from dqdyn.analysis.costs.farias import Cost, farias_table_4, farias_total
from dqdyn.analysis.costs.operands import Operands, count_step, require_joints
from dqdyn.dynamics.arguments import Matrix
from dqdyn.dynamics.formulations.literal.matrices import plus, product, scaled, times, transposed

Vector = list[Scalar]


@dataclass(frozen=True)
class HomogeneousLink:
    """Pose of the frame before, seen from here at home (4×4); screw axis [ω, v] and inertia (6×6) in this frame."""

    home: Matrix
    axis: Vector
    inertia: Matrix


def screw_motion(axis: Sequence[Scalar], angle: Scalar) -> Matrix:
    """e^[A]θ of a unit rotation axis (4×4) by Rodrigues' formula."""
    s, c = sin(angle), 1.0 - cos(angle)
    w = _skew(axis[:3])
    square = product(w, w)
    rotation = _on_diagonal(plus(scaled(c, square), scaled(s, w)), 1.0)
    # θ + (1 − cos θ)[ω] + (θ − sin θ)[ω]²
    slide = _on_diagonal(plus(scaled(c, w), scaled(angle - s, square)), angle)
    moved = times(slide, axis[3:])
    return [[*row, p] for row, p in zip(rotation, moved, strict=True)] + [[0.0, 0.0, 0.0, 1.0]]


def adjoint_matrix(pose: Matrix) -> Matrix:
    """[Ad_T] = [[R, 0], [[p]R, R]] (6×6): the product [p]R is its cost."""
    rotation = [row[:3] for row in pose[:3]]
    below = product(_skew([row[3] for row in pose[:3]]), rotation)
    return [[*row, 0.0, 0.0, 0.0] for row in rotation] + [[*a, *b] for a, b in zip(below, rotation, strict=True)]


def bracket_matrix(twist: Sequence[Scalar]) -> Matrix:
    """[ad_V] = [[[ω], 0], [[v], [ω]]] (6×6)."""
    w, v = _skew(twist[:3]), _skew(twist[3:])
    return [[*row, 0.0, 0.0, 0.0] for row in w] + [[*a, *b] for a, b in zip(v, w, strict=True)]


def inverse_dynamics(
    links: Sequence[HomogeneousLink], motion: Matrix, start: tuple[Vector, Vector], end: tuple[Matrix, Vector]
) -> Vector:
    """τ (n) of a serial arm. ``motion`` is θ, θ̇ and θ̈ of all joints, ``start`` V and V̇ = [0, −g] of the base.

    ``end`` is the pose of the last frame seen from the end effector, and the wrench that it exerts, in its frame.
    """
    twist, rate = start
    adjoints, own = [], []
    for link, theta, v, a in zip(links, *motion, strict=True):
        carry = adjoint_matrix(product(screw_motion(link.axis, -theta), link.home))
        adjoints.append(carry)
        twist = _sum(times(carry, twist), [x * v for x in link.axis])
        bracket = bracket_matrix(twist)
        turned = times(bracket, [x * v for x in link.axis])
        rate = _sum(_sum(times(carry, rate), turned), [x * a for x in link.axis])
        spin = times(transposed(bracket), times(link.inertia, twist))
        own.append([x - y for x, y in zip(times(link.inertia, rate), spin, strict=True)])
    tau: Vector = []
    wrench = end[1]
    for link, moving, carry in zip(
        reversed(links), reversed(own), [adjoint_matrix(end[0]), *reversed(adjoints[1:])], strict=True
    ):
        wrench = _sum(times(transposed(carry), wrench), moving)
        tau.append(times([wrench], link.axis)[0])
    return tau[::-1]


# --- costs ------------------------------------------------------------------------------------------------------------


def forward_kinematics_costs(n: int) -> dict[str, Cost]:
    """The four curves of [Farias, fig. 4] at n: products of poses alone; by D-H parameters three for each joint.

    Storage as in [Farias, table 4]: one pose for each product.
    """
    require_joints(n)
    tally = count_step(product, (4, 4), (4, 4))
    rows = {row.name: row.printed for row in farias_table_4() if row.printed is not None}
    matrix = Cost(16, tally.mul, tally.add)
    return {
        "matrices, D-H": matrix.times(3 * n),
        "matrices, screws": matrix.times(n),
        "dual quaternions, D-H": rows["(39), D-H"].times(n),
        "dual quaternions, screws": rows["(39)"].times(n),
    }


def newton_euler_costs(n: int) -> dict[str, Cost]:
    """The curves of [Farias, fig. 5] at n: the recursion with matrices counted; Algorithm 1 as printed and as counted.

    Storage of the matrix recursion is that of the operands of its steps, as the paper defines it.
    """
    dual = farias_total(n)
    assert dual.printed is not None
    return {"matrices": matrix_cost(n), "dual quaternions, printed": dual.printed, "dual quaternions": dual.counted}


def matrix_cost(n: int) -> Cost:
    """What :func:`inverse_dynamics` costs for n joints."""
    require_joints(n)
    c = Operands()
    links = [HomogeneousLink(c((4, 4)), c(6), c((6, 6))) for _ in range(n)]
    inverse_dynamics(links, c((3, n)), (c(6), c(6)), (c((4, 4)), c(6)))
    return Cost(STORAGE * n, c.tally.mul + c.tally.div, c.tally.add)


STORAGE = sum(
    (
        16 + 6 + 1,  # pose: home, axis, angle
        16,  # adjoint: pose
        6 + 1 + 36 + 6,  # twist: axis, rate, adjoint, twist before
        6 + 1 + 36 + 6 + 6 + 1,  # its rate: axis, acceleration, adjoint, rate before, twist, rate of the joint
        36 + 6 + 6,  # wrench of the body: inertia, twist, its rate
        6 + 36 + 6,  # wrench of the joint: that of the body, adjoint, wrench behind
        6 + 6,  # torque: wrench, axis
    )
)
"""Floats of the operands of each step for one joint, listed as [Farias, table 4] lists them."""


def _skew(c: Sequence[Scalar]) -> Matrix:
    x, y, z = c
    return [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]


def _on_diagonal(a: Matrix, x: Scalar) -> Matrix:
    """A + x 1."""
    return [[e + x if i == j else e for j, e in enumerate(row)] for i, row in enumerate(a)]


def _sum(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]
