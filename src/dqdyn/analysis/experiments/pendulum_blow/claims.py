"""What the experiment claims, beside what MuJoCo measured."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dqdyn.analysis.experiments.experiment import Claim
from dqdyn.analysis.experiments.multi_contact.setting import HAND
from dqdyn.analysis.experiments.pendulum_blow.blows import DT, Blow
from dqdyn.analysis.experiments.pendulum_blow.study import VARIED, Study

KEPT = 0.01  # of an energy or an angular impulse, which must agree
MOVED = 0.03  # m of feet and hand that stay


def all_claims(study: Study) -> Iterator[Claim]:
    """In the order of the page."""
    yield grows(study)
    yield falls(study)
    yield stays(study)
    yield inside(study)
    yield robust(study)
    yield greatest(study)
    yield away(study)
    yield finished(study)
    yield within(study)
    yield from of_the_pendulum(study)


def grows(study: Study) -> Claim:
    """The area of feet, of feet and hand, and maximised."""
    feet, (near, far) = study.start.polygon.area, (p.polygon.area for p in study.steps.both)
    return Claim(
        "the support polygon grows by the hand, and by maximising its area",
        f"feet {1e4 * feet:.0f} cm², with the hand {1e4 * near:.0f} cm², maximised {1e4 * far:.0f} cm²",
        feet < near < far,
    )


def falls(study: Study) -> Claim:
    """The unmaximised posture under the blow."""
    blows = {count: study.pair(count)[0] for count in study.searches}
    words = [
        f"{_step(b)}: center of mass down to {b.centers[:, 2].min():.2f} m; on the ground: "
        f"{_few(b.on_ground)}"
        for b in blows.values()
    ]  # fmt: skip
    return Claim(
        f"a blow of {study.momentum:g} N s: unmaximised it falls", "; ".join(words), all(b.fell for b in blows.values())
    )


def stays(study: Study) -> Claim:
    """The maximised posture under the same blow."""
    blows = [study.pair(count)[1] for count in study.searches]
    words = []
    for blow in blows:
        feet = max(blow.moved(foot) for foot in blow.standing.feet)
        words.append(
            f"{_step(blow)}: {1e3 * blow.speed:.1f} mm/s at the end, feet moved by {1e3 * feet:.0f} mm and the hand "
            f"by {1e3 * blow.moved(HAND):.0f} mm at most"
        )
    still = all(max(b.moved(frame) for frame in (*b.standing.feet, HAND)) < MOVED for b in blows)
    return Claim(
        "the same blow: maximised it stays on feet and left hand, nothing else touches, and comes to rest",
        "; ".join(words),
        still and all(b.stayed for b in blows),
    )


def inside(study: Study) -> Claim:
    """Where the center of mass is, seen from above, before it sinks."""
    words, holds = [], True
    for near, far in (study.pair(count) for count in study.searches):
        rooms = near.room[near.upright]
        out = np.flatnonzero(rooms < 0.0)
        left = f"left at {near.trajectory.time[out[0]]:.2f} s, hit at {_hit(near):.2f} s" if len(out) else "not left"
        words.append(f"{_step(near)}: {left}; maximised always {100 * far.room.min():.1f} cm inside")
        holds &= len(out) > 0 and float(far.room.min()) > 0.0
    return Claim(
        "the center of mass leaves the unmaximised polygon before it sinks, and stays inside of the maximised one",
        "; ".join(words),
        holds,
    )


def robust(study: Study) -> Claim:
    """Blows that are a little weaker and stronger."""
    pairs = [study.pair(count, factor) for count in study.searches for factor in VARIED]
    return Claim(
        "so it is with a blow that is 5 % weaker or stronger",
        "; ".join(f"{a.momentum:.4g} N s, {_step(a)}: {a.outcome} | {b.outcome}" for a, b in pairs),
        all(a.fell and b.stayed for a, b in pairs),
    )


def greatest(study: Study) -> Claim:
    """The greatest blow that is survived by each."""
    words, ratios = [], []
    for near, far in study.searches.values():
        ratios.append(far.greatest / max(near.greatest, 1e-9))
        words.append(
            f"{_step(near.blows[0])}: {near.greatest:.1f} N s and {far.greatest:.1f} N s, {ratios[-1]:.2f} times"
        )
    ended = all(np.isfinite(s.least) for both in study.searches.values() for s in both)
    return Claim(
        "the blow that is raised until both fall: maximised it survives more",
        "; ".join(words),
        ended and min(ratios) > 1.0,
    )


def away(study: Study) -> Claim:
    """Blows to the other side."""
    gains = [far.greatest / max(near.greatest, 1e-9) for near, far in (*study.searches.values(), study.away)]
    near, far = study.away
    angle = math.degrees(study.ring.pendulum.direction)
    return Claim(
        "a hand pushes and does not pull: against blows away from it the greater area is of less use",
        f"{angle:.0f}° to the right instead of the left: {near.greatest:.1f} N s and {far.greatest:.1f} N s, "
        f"{gains[-1]:.2f} times instead of {min(gains[:-1]):.2f}",
        0.0 < gains[-1] < min(gains[:-1]),
    )


def finished(study: Study) -> Claim:
    """No warning of the engine, each of which ends a run or marks it as doubtful."""
    runs = [blow.trajectory.status for blow in study.blows]
    bad = [status for status in runs if not status.startswith("finished")]
    words = f"{len(runs) - len(bad)} of {len(runs)} runs" + (f"; {bad[0]}" if bad else "")
    return Claim("all runs finished, without a warning of the engine", words, not bad)


def within(study: Study) -> Claim:
    """Of runs that are survived: forces against efforts, and how fast a blow makes joints."""
    stayed = [blow for blow in study.blows if blow.survived]
    limits = study.start.robot.limits
    driven = np.isfinite(limits.effort)
    used = max((float((np.abs(b.trajectory.tau) / limits.effort)[:, driven].max()) for b in stayed), default=math.inf)
    quick = [max((x / m for _, x, m in _fast(b)), default=0.0) for b in stayed]
    fast = max((row for b in stayed for row in _fast(b)), key=lambda row: row[1] / row[2], default=None)
    words = f"{100.0 * used:.0f} % of an effort at most"
    if fast is not None:
        words += f"; the blow makes {fast[0]} {fast[1]:.1f} rad/s fast, above its {fast[2]:g} rad/s, and joints of "
        words += f"{sum(q > 1.0 for q in quick)} of {len(stayed)} such runs too fast"
    return Claim("what is survived takes no more than the efforts of the motors", words, used <= 1.0 + 1e-6)


def _fast(blow: Blow) -> list[tuple[str, float, float]]:
    """Joints that were faster than their limits: names, rad/s, and limits."""
    rows = blow.trajectory.about.get("beyond", ())
    return [(row["joint"], abs(row["value"]), abs(row["limit"])) for row in rows if row["kind"] == "velocity"]


def of_the_pendulum(study: Study) -> Iterator[Claim]:
    """Its energy until it hits, and its angular momentum while it does."""
    swings = [blow.swing for count in study.searches for blow in study.pair(count)]
    off = [arrived / released - 1.0 for arrived, released in (swing.arrival for swing in swings)]
    arrived, released = swings[0].arrival
    yield Claim(
        f"the pendulum comes with the energy of its release, to {100 * KEPT:g} %",
        f"{arrived:.1f} J of {released:.1f} J, at most {100 * max(map(abs, off)):.2f} % off",
        max(map(abs, off)) < KEPT,
    )
    # Forces are measured once per control step: with several steps of the engine they are samples, and not all.
    finest = [blow.swing for count in study.searches if count == 1 for blow in study.pair(count)]
    pairs = [swing.angular_impulse for swing in finest]
    wrong = [abs(contact / shown - 1.0) for contact, shown in pairs]
    words = ", ".join(f"{-contact:.1f} of {-shown:.1f} N m s" for contact, shown in pairs)
    impulses = ", ".join(f"{swing.impulse:.1f} N s" for swing in swings)
    yield Claim(
        f"the engine's contact forces change the pendulum's motion as they must, to {100 * KEPT:g} %",
        f"angular impulse of the blow {words}; impulse along the blow {impulses}",
        bool(wrong) and max(wrong) < KEPT,
    )


def _step(blow: Blow) -> str:
    return f"engine step {1.0 / blow.substeps:g} ms"


def _hit(blow: Blow) -> float:
    return float(blow.swing.blow.start * DT)


def _few(links: list[str]) -> str:
    return ", ".join(link.replace("_", " ") for link in links[:3]) + (
        f" and {len(links) - 3} more" if len(links) > 3 else ""
    )
