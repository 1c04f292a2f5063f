"""The convex hull of points of the plane, over any scalar: its corners, its area, and the area's gradient.

A straight-line program, without a branch on a value: points are sorted by a network, and from each point the steepest
way to a later one is taken, upwards for one half of the border and downwards for the other. Both halves lead from the
first point to the last whatever rounding does, so the border is always closed: corners in one line, and corners that
coincide, change neither the area nor anything else by more than rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from dqdyn.algebra.scalar import Scalar, less, select, total
from dqdyn.errors import Error

PlanePoint = Sequence[Scalar]
"""(x, y) in m."""

_SHEAR = 0.375
"""Of the direction by which points are sorted, u = x + shear y: few are one above the other in it."""


@dataclass(frozen=True)
class Hull:
    """The convex hull of points, in the order in which these were given.

    ``is_corner``: 1 for a corner of the hull, 0 for a point inside, between two corners of one edge, or on a corner
    that counts already. ``area`` in m²; ``gradient``: ∂A/∂(x, y) of every point in m.

    The gradient is that of the polygon of these corners. Where a point is about to become a corner, or to cease to be
    one, the area has two one-sided derivatives: without the point, and with it.
    """

    is_corner: list[Scalar]
    area: Scalar
    gradient: list[tuple[Scalar, Scalar]]


def convex_hull_of(points: Sequence[PlanePoint]) -> Hull:
    """The convex hull of at least one point; NaN in one of them makes area and gradient NaN."""
    if not len(points):
        raise Error("a convex hull is that of at least one point; found none.")
    n, network = len(points), _sorting_network(len(points))
    sheared = [(p[0] + _SHEAR * p[1], p[1]) for p in points]
    ordered, swaps = _sort(sheared, network)
    edges, is_corner = _border(ordered)
    u = [p[0] - ordered[0][0] for p in ordered]
    v = [p[1] - ordered[0][1] for p in ordered]
    # A = ½ Σ e_ij (u_i v_j − v_i u_j) with e_ij = −e_ji, which is 1 where the border leads from i to j, else 0.
    by_u = [0.5 * total([0.0, *(edges[i][j] * v[j] for j in range(n) if j != i)]) for i in range(n)]
    by_v = [-0.5 * total([0.0, *(edges[i][j] * u[j] for j in range(n) if j != i)]) for i in range(n)]
    area = 0.5 * total(a * x + b * y for a, b, x, y in zip(by_u, by_v, u, v, strict=True))
    back = _unsort(list(zip(by_u, by_v, is_corner, strict=True)), network, swaps)
    return Hull([c for _, _, c in back], area, [(a, b + _SHEAR * a) for a, b, _ in back])


def hull_area(points: Sequence[PlanePoint]) -> Scalar:
    """The area of the convex hull of points (x, y), in m²."""
    return convex_hull_of(points).area


def _border(points: Sequence[PlanePoint]) -> tuple[list[list[Scalar]], list[Scalar]]:
    """e_ij of points in order, and 1 for those on the border; the border leads counter-clockwise."""
    n = len(points)
    below, on_lower = _chain(points, lambda turn: less(0.0, turn))
    above, on_upper = _chain(points, lambda turn: less(turn, 0.0))
    edges: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        edges[i][j] = below[i][j] - above[i][j]
        edges[j][i] = -edges[i][j]
    return edges, [select(less(0.5, a + b), 1.0, 0.0) for a, b in zip(on_lower, on_upper, strict=True)]


def _chain(
    points: Sequence[PlanePoint], is_worse: Callable[[Scalar], Scalar]
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """One half of the border, from the first point to the last: 1 at [i][j] where it leads from i to j, and on it.

    ``is_worse``: of the turn from the best way so far to another one, whether this is on the inner side.
    """
    n = len(points)
    steps: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    on_chain: list[Scalar] = [1.0, *[0.0] * (n - 1)]
    for i in range(n - 1):
        ways = {j: (points[j][0] - points[i][0], points[j][1] - points[i][1]) for j in range(i + 1, n)}
        best, worse = ways[i + 1], {}
        for j in range(i + 2, n):
            worse[j] = is_worse(best[0] * ways[j][1] - best[1] * ways[j][0])
            best = (select(worse[j], best[0], ways[j][0]), select(worse[j], best[1], ways[j][1]))
        here = on_chain[i]
        for j in range(n - 1, i + 1, -1):  # the last that was better is where it leads
            steps[i][j], here = select(worse[j], 0.0, here), select(worse[j], here, 0.0)
        steps[i][i + 1] = here
        for j in ways:
            on_chain[j] = on_chain[j] + steps[i][j]
    return steps, on_chain


# --- sorting ------------------------------------------------------------------------------------------------------


def _sort(points: list[tuple[Scalar, Scalar]], network: list[tuple[int, int]]) -> tuple[list[PlanePoint], list[Scalar]]:
    """Points by u, those of equal u by v, and for each exchange of the network whether it was made."""
    ordered: list[PlanePoint] = list(points)
    swaps = []
    for i, j in network:
        a, b = ordered[i], ordered[j]
        tied = select(less(a[0], b[0]), 0.0, select(less(b[1], a[1]), 1.0, 0.0))
        swap = less(0.5, select(less(b[0], a[0]), 1.0, tied))
        ordered[i], ordered[j] = _exchanged(swap, a, b)
        swaps.append(swap)
    return ordered, swaps


def _unsort(values: Sequence[PlanePoint], network: list[tuple[int, int]], swaps: list[Scalar]) -> list[PlanePoint]:
    """Values of points in order as values of the points as they were given."""
    given = list(values)
    for (i, j), swap in zip(reversed(network), reversed(swaps), strict=True):
        given[i], given[j] = _exchanged(swap, given[i], given[j])
    return given


def _exchanged(swap: Scalar, a: PlanePoint, b: PlanePoint) -> tuple[PlanePoint, PlanePoint]:
    first = tuple(select(swap, y, x) for x, y in zip(a, b, strict=True))
    return first, tuple(select(swap, x, y) for x, y in zip(a, b, strict=True))


def _sorting_network(n: int) -> list[tuple[int, int]]:
    """Batcher's merge exchange for n values (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M)."""
    exchanges = []
    top = 1 << max(0, (n - 1).bit_length() - 1)
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            exchanges += [(i, i + d) for i in range(n - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2
    return exchanges
