"""Random scenes: random arms, primitives, moving obstacles and gains; does any safe zone get entered?

``python tests/control/scenes.py 1000`` runs as many scenes and prints what it found; tests run a few of them.

What is to be expected of a step τ during which the command is held, with h at the samples t_k = kτ:

*By velocity* the row says ḣ ≥ −η h at t_k. Along the flow of the held command h(t_k + τ) = h + τ ḣ + ½τ² ḧ(ξ), so with
B ≥ −ḧ, h_{k+1} ≥ (1 − ητ) h_k − ½τ²B, and by induction h_k ≥ −τ B/(2η): an entry of **first order** in τ.

*By acceleration* let −ρ and −σ be the poles, ρ ≥ σ, and y = ḣ + ρh. The row ḧ ≥ −η_d ḣ − η_p h says ẏ ≥ −σ y at t_k,
and Lemma 4.1 gives y(0) ≥ 0, since ρ ≥ η_d/2. With a bound C on −ÿ along the held acceleration y_k ≥ −τ C/(2σ) as
above, and ḣ ≥ −ρh − τ C/(2σ) keeps h ≥ −τ C/(2ρσ) = −τ C/(2η_p) but for terms of τ²: **first order** again.

Between samples h is lower by at most ½τ²B more. So every scene runs at τ and τ/2 and, where a zone was entered by more
than the tolerance of the solver allows for, at half the step again and again, until two halvings in a row each shrink
the entry at an order of at least 0.8, or there is none at two steps in a row. A scene whose entry does neither fails.

Both bounds need h with bounded second derivatives near the path. The distance of a line from a part of length L at an
angle θ to it is the least D_s of the points s in [0, 1] of the part, and D̈ = ∂²D_s/∂t² − 2L² sin²θ ṡ² where that is
between the ends. The last term is large only for small θ, while the nearest point runs to an end within a time of
L sin θ. Meanwhile h is concave, so no lower than before or on arrival, and there it is the h of an end, which has a row
of its own and bounded derivatives: the order is the first still. Infinite lines have no ends: as they become parallel
their nearest points run to infinity, and D jumps. Hence zones of two lines count the robot's within a reach.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing import Pool

import numpy as np
from scene_world import Scene, scene

from dqdyn import control as ct
from dqdyn.control.core.policy import POLICIES
from dqdyn.control.qp.conflict import NamedRows, is_feasible

DURATION, STEP, HALVINGS = 2.0, 4e-3, 9
BRAKE = 10.0  # 1/s, of v̇ = −k v without a solution; the limits of acceleration are far beyond
TOLERANCE = 1e-7  # of h: rows hold to 1e-9, or 1e-7 where many of them touch, and h follows with 1/η
ORDER = 0.8  # of the entry in the step, at each of the last two halvings; expected is 1


@dataclass
class Entry:
    """The deepest point of a run in a zone: −h, and which zone."""

    depth: float
    zone: str = ""


@dataclass
class Outcome:
    """What happened in a scene: entries at the step, its half, …, or what was in conflict."""

    seed: int
    level: str
    entries: list[Entry] = field(default_factory=list)
    conflict: tuple[str, ...] = ()
    policy: str = ""
    lemma: int = 0
    kinds: list[str] = field(default_factory=list)

    @property
    def feasible(self) -> bool:
        return not self.conflict

    @property
    def depths(self) -> list[float]:
        """How deep a zone was entered, per step; 0 for less than the tolerance."""
        return [e.depth if e.depth > TOLERANCE else 0.0 for e in self.entries]

    @property
    def entered(self) -> bool:
        return any(self.depths)

    @property
    def vanished(self) -> bool:
        """No entry at the last two steps."""
        return len(self.depths) > 1 and not any(self.depths[-2:])

    @property
    def order(self) -> float:
        """The lower of the orders at which the last two halvings shrink the entry; NaN without entries there."""
        last = self.depths[-3:]
        return float(min(np.log2(a / b) for a, b in pairwise(last))) if len(last) == 3 and all(last) else np.nan

    @property
    def shrinks(self) -> bool:
        """Whether the entry vanishes, or shrinks at the order that is expected."""
        return self.vanished or self.order >= ORDER

    @property
    def holds(self) -> bool:
        """What a scene has to show."""
        return self.shrinks if self.feasible else not self.policy


def run(seed: int, halvings: int = HALVINGS, reach: float | None = None) -> Outcome:
    """One scene at its steps; with ``reach``, lines near lines count so far to both sides, in m."""
    found = scene(seed, reach)
    outcome = Outcome(seed, found.level, kinds=[_kind(zone) for zone in found.zones])
    for k in range(halvings + 1):
        found.controller.reset()
        _follow(found, outcome, STEP / 2**k)
        if not outcome.feasible or (k and outcome.shrinks):
            break
    return outcome


def _kind(zone: ct.Inequality) -> str:
    pair = getattr(zone, "pair", None)
    if pair is None:
        return type(zone).__name__
    return f"{type(zone).__name__} {'line_to_line' if pair.ends_of else pair.function.name}"


def _follow(scene: Scene, outcome: Outcome, dt: float) -> None:
    robot, controller, q, v = scene.robot, scene.controller, scene.q0, scene.v0
    least, row = np.inf, 0
    rows = controller.composition.views["h"]
    by_velocity = scene.level == "velocity"
    for k in range(round(DURATION / dt) + 1):
        u = controller(k * dt, q) if by_velocity else controller(k * dt, q, v)
        if controller.report.status != "solved":
            outcome.conflict = controller.report.conflict or ("no bounds: the solver failed",)
            outcome.policy = policies(controller, k * dt, q, v, u)
            return
        if k == 0 and not by_velocity:
            activations = controller.activations
            assert len(activations) == len(rows)
            assert all(a.holds for a in activations), "gains='auto' must satisfy the lemma"
            outcome.lemma = len(activations)
        if rows.min() < least:
            least, row = float(rows.min()), int(rows.argmin())
        if by_velocity:
            q = robot.integrate(q, u, dt)
        else:
            q, v = robot.integrate(q, v + 0.5 * dt * u, dt), v + dt * u
    outcome.entries.append(Entry(max(0.0, -least), _kind(scene.owner(row))))


# --- scenes without a solution ----------------------------------------------------------------------------------------


def policies(controller: ct.Controller, t: float, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> str:
    """What each policy does where no command obeys all bounds: "" if all act as promised, else which one does not."""
    report = controller.report
    slowed = held if controller.level == "velocity" else held + BRAKE * v  # it stops at once, or brakes
    if report.status != "held" or np.abs(slowed).max() > 1e-9 * (1.0 + np.abs(held).max()):
        return "hold"
    assert report.rows is not None
    if not _is_minimal(report.rows, report.conflict):
        return "the conflict is not minimal"
    state = (q,) if controller.level == "velocity" else (q, v)
    controller.policy = POLICIES["relax"]
    u, relaxed = controller(t, *state), controller.report
    allowed = report.rows.b + np.array([relaxed.violation.get(name, 0.0) for name in report.rows.names])
    room = 1e-6 * (1.0 + np.linalg.norm(report.rows.a, axis=1) * max(1.0, float(np.linalg.norm(u))))
    gave_way = set(relaxed.violation) & set(report.conflict)
    if relaxed.status != "relaxed" or not gave_way or (report.rows.a @ u > allowed + room).any():
        return "relax"
    controller.policy = POLICIES["raise"]
    try:
        controller(t, *state)
    except ct.InfeasibleError as error:
        return "" if error.conflict == report.conflict else "raise"
    return "raise"


def _is_minimal(rows: NamedRows, conflict: tuple[str, ...]) -> bool:
    """All of them are in conflict, and without any one of them the rest are not."""
    a, b, _ = rows.scaled()
    among = lambda names: np.isin(np.array(rows.names), list(names))
    whole = among(conflict)
    parts = [among(set(conflict) - {name}) for name in conflict]
    return bool(conflict) and not is_feasible(a[whole], b[whole]) and all(is_feasible(a[p], b[p]) for p in parts)


# --- what was found ---------------------------------------------------------------------------------------------------


def summary(outcomes: list[Outcome]) -> str:
    """What a run found, in words."""
    feasible = [o for o in outcomes if o.feasible]
    lines = [f"{len(outcomes)} scenes, {len(feasible)} stayed feasible, {len(outcomes) - len(feasible)} did not"]
    kinds = Counter(kind for o in outcomes for kind in o.kinds)
    lines.append("zones: " + ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    by_acceleration = [o for o in feasible if o.level == "acceleration"]
    rows = sum(o.lemma for o in by_acceleration)
    lines.append(f"conditions of Lemma 4.1 held for all {rows} inequalities of {len(by_acceleration)} scenes")
    for level in ("velocity", "acceleration"):
        lines += _of_level(level, [o for o in feasible if o.level == level])
    failed = [o for o in feasible if not o.holds]
    lines.append(f"scenes whose entry neither vanishes nor shrinks at an order from {ORDER} on: {len(failed)}")
    lines += [f"  {_shown(o)}" for o in failed]
    kept = sum(not o.policy for o in outcomes if not o.feasible)
    lines.append(f"scenes without a solution: {len(outcomes) - len(feasible)}; policies as promised in {kept}")
    for o in outcomes:
        if not o.feasible:
            wrong = f"; FAILED: {o.policy}" if o.policy else ""
            lines.append(f"  scene {o.seed} by {o.level}: in conflict {', '.join(o.conflict)}{wrong}")
    return "\n".join(lines)


def _of_level(level: str, found: list[Outcome]) -> Iterable[str]:
    entered = [o for o in found if o.entered]
    yield f"by {level}: {len(found)} scenes, {len(entered)} with an entry of more than {TOLERANCE:g}"
    for k in range(max((len(o.depths) for o in entered), default=0)):
        depths = [o.depths[k] for o in entered if len(o.depths) > k]
        over = sum(d > 0.0 for d in depths)
        yield f"  at {1e6 * STEP / 2**k:6.1f} µs: {over:3d} of {len(depths)} entered, the deepest by {max(depths):.2e}"
    orders = [o.order for o in entered if not o.vanished]
    spread = f": {min(orders):.2f} to {max(orders):.2f}, median {np.median(orders):.2f}" if orders else ""
    yield f"  {len(entered) - len(orders)} vanished, {len(orders)} have an order{spread}"


def _shown(o: Outcome) -> str:
    depths = ", ".join(f"{d:.2g}" for d in o.depths)
    zones = " ".join(dict.fromkeys(e.zone for e in o.entries if e.depth > TOLERANCE))
    order = "" if np.isnan(o.order) else f", order {o.order:.2f}"
    return f"scene {o.seed} by {o.level}: {zones}{' ' if zones else ''}entries {depths}{order}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", type=int, nargs="?", default=1000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first scene")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    seeds, outcomes = range(options.first, options.first + options.scenes), []
    with Pool(options.jobs) as pool:
        for outcome in pool.imap(run, seeds) if options.jobs > 1 else map(run, seeds):
            outcomes.append(outcome)
            if outcome.entered or not outcome.feasible:
                print(_shown(outcome), outcome.conflict, file=sys.stderr, flush=True)
    print(summary(outcomes))
    if not all(o.holds for o in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main()
