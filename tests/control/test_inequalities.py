"""Vector field inequalities: their rows term by term, what they keep out, and the lemma about gains."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from control_tools import MOVING, accelerate, follow
from trees import random_state, tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.scalar import sin
from dqdyn.geometry import distances as geometry

ARM = dq.robots.arm7()
Q0 = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
MOVING_LINE = lambda t: dq.Line.from_plucker(MOVING["line"](t)[:3], MOVING["line"](t)[3:])
INEQUALITIES = {
    "keep out": lambda **g: ct.KeepOut("tool", MOVING["point"], MOVING["number"], **g),
    "keep in": lambda **g: ct.KeepIn("tool", MOVING["point"], MOVING["number"], **g),
    "cone": lambda **g: ct.Cone("tool", MOVING_LINE, MOVING["number"], **g),
    "region": lambda **g: ct.Region("tool", [MOVING["plane"], dq.Plane([1.0, 0.0, 0.0], distance=-2.0)], 0.1, **g),
    "torso and arm": lambda **g: ct.TorsoArm(ct.line("joint1"), "joint4", "tool", MOVING["number"], **g),
}


@pytest.mark.filterwarnings("ignore:.*violated at the start", "ignore:Lemma 4.1")
@pytest.mark.equation("Quiroz", "4.1")
@pytest.mark.equation("Quiroz", "4.2")
@pytest.mark.equation("Quiroz", "4.3")
@pytest.mark.equation("Quiroz", "4.4")
@pytest.mark.equation("Quiroz", "4.5")
@pytest.mark.equation("Quiroz", "4.6")
@pytest.mark.equation("Quiroz", "4.7")
@pytest.mark.equation("Quiroz", "4.8")
@pytest.mark.equation("Quiroz", "4.31")
@pytest.mark.equation("Quiroz", "4.32")
@pytest.mark.equation("Quiroz", "4.34")
@pytest.mark.equation("Quiroz", "4.36")
@pytest.mark.equation("Quiroz", "4.37")
@pytest.mark.equation("Quiroz", "4.38")
@pytest.mark.equation("Quiroz", "4.39")
@pytest.mark.equation("Quiroz", "4.40")
@pytest.mark.parametrize("name", INEQUALITIES)
def test_rows_term_by_term(name: str) -> None:
    """β_d + β_res = (η_d J + J̇) v + η_p h + ζ̇ + η_d ζ, and −J; for keep-in h is d_safe − d."""
    v = np.linspace(-0.3, 0.4, 7)
    rows = ct.linearise(ARM, INEQUALITIES[name]())(0.4, Q0, v)
    first = ct.velocity_controller(ARM, [ct.RestTask()], [INEQUALITIES[name](gain=0.8)])
    first(0.4, Q0)
    np.testing.assert_allclose(first.composition.views["A"], -rows.jacobian, atol=1e-12)
    np.testing.assert_allclose(first.composition.views["upper"], 0.8 * rows.value + rows.residual, atol=1e-12)
    second = ct.acceleration_controller(ARM, [ct.RestTask()], [INEQUALITIES[name](gains=(1.5, 0.3))])
    second(0.4, Q0, v)
    beta = (1.5 * rows.jacobian + rows.jacobian_derivative) @ v + 0.3 * rows.value
    beta = beta + rows.residual_derivative + 1.5 * rows.residual
    np.testing.assert_allclose(second.composition.views["A"], -rows.jacobian, atol=1e-12)
    np.testing.assert_allclose(second.composition.views["upper"], beta, atol=1e-10)


def test_torso_and_arm_switch() -> None:
    """The distance of the lines where their perpendicular meets the forearm; else of the nearer end; continuous."""
    robot = tree("every kind, mimic")
    f = ct.linearise(robot, ct.TorsoArm(ct.line("link_1"), "camera", ct.point("tool", (0.0, 0.0, 0.5)), 0.0))
    seen = set()
    for seed in range(40):
        q, _, _ = random_state(robot, np.random.default_rng(seed))
        torso = robot.pose("link_1", q) * dq.Line([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])
        elbow = robot.pose("camera", q).translation
        hand = (robot.pose("tool", q) * dq.Point([0.0, 0.0, 0.5])).position
        forearm = dq.Line.from_points(elbow, hand)
        # parameter of the foot of the common perpendicular on the forearm
        l, k = torso.direction, forearm.direction
        p = torso.closest_point_to_origin.position
        along = np.linalg.solve(np.stack([k, -l, np.cross(k, l)], axis=1), p - elbow)[0]
        inside = 0.0 < along < np.linalg.norm(hand - elbow)
        seen.add(inside)
        lines = geometry.line_to_line_squared_distance(torso, forearm)
        ends = [geometry.point_to_line_squared_distance(dq.Point(e), torso) for e in (elbow, hand)]
        assert f(0.0, q).value[0] == pytest.approx(lines if inside else min(ends), abs=1e-9)
    assert seen == {True, False}


def obstacle(t: object) -> list[object]:
    """Comes at the tool and goes past it."""
    x, y, z = ARM.pose("tool", Q0).translation
    return [x + 0.05 * sin(2.0 * t), y + 0.6 - 0.4 * t, z + 0.03]


@pytest.mark.equation("Quiroz", "4.22")
@pytest.mark.equation("Quiroz", "4.23")
@pytest.mark.parametrize("level", ["velocity", "torque"])
def test_moving_obstacle(level: str) -> None:
    """Case I: no inequality. II: an obstacle whose motion is unknown. III: all is known. Only III stays out."""
    home = ct.TranslationTask("tool", ARM.pose("tool", Q0).translation, gain=2.0)
    entered = {}
    for case, what in {"I": None, "II": ct.Moving(obstacle, known=False), "III": ct.Moving(obstacle)}.items():
        zones = [] if what is None else [ct.KeepOut("tool", what, 0.15, gain=1.5)]
        least, dt, q, v = np.inf, 5e-3, Q0, np.zeros(7)
        make = ct.velocity_controller if level == "velocity" else ct.torque_controller
        tasks = [home] if level == "velocity" else [[home], [ct.RestTask(gain=2.0)]]
        c = make(ARM, tasks, zones)
        for k in range(600):
            distance = np.linalg.norm(ARM.pose("tool", q).translation - [float(x) for x in obstacle(k * dt)])
            least = min(least, distance)
            if level == "velocity":
                q = ARM.integrate(q, c(k * dt, q), dt)
            else:
                a = ARM.forward_dynamics(q, v, c(k * dt, q, v))
                q, v = ARM.integrate(q, v + 0.5 * dt * a, dt), v + dt * a
        entered[case] = least
    assert entered["I"] < 0.10
    assert entered["II"] < 0.15 - 1e-3
    assert entered["III"] > 0.15 - 1e-4


@pytest.mark.filterwarnings("ignore:The target of")
def test_keep_in_and_region() -> None:
    p = ARM.pose("tool", Q0).translation
    far = ct.TranslationTask("tool", p + [0.5, 0.0, -0.3], gain=2.0)
    c = ct.velocity_controller(ARM, [far], [ct.KeepIn("tool", dq.Point(p), 0.1, gain=3.0)])
    q = follow(ARM, c, Q0, 3.0, 5e-3)
    assert np.linalg.norm(ARM.pose("tool", q).translation - p) == pytest.approx(0.1, abs=1e-3)
    planes = [dq.Plane(n, p - 0.05 * np.array(n)) for n in ([1.0, 0, 0], [-1.0, 0, 0], [0, 0, 1.0], [0, 0, -1.0])]
    c = ct.velocity_controller(ARM, [far], [ct.Region("tool", planes, 0.01, gain=3.0)])
    q = follow(ARM, c, Q0, 3.0, 5e-3)
    np.testing.assert_allclose((ARM.pose("tool", q).translation - p)[[0, 2]], [0.04, -0.04], atol=1e-3)
    assert list(c.distances) == [f"region of tool: plane {i}" for i in (1, 2, 3, 4)]


@pytest.mark.equation("Quiroz", "4.35")
@pytest.mark.filterwarnings("ignore:The target of")
@pytest.mark.parametrize("level", ["velocity", "acceleration"])
def test_cone_keeps_the_cup_upright(level: str) -> None:
    x = ARM.pose("tool", Q0)
    axis = x.rotation_matrix[:, 2]
    task = ct.PoseTask(
        "tool", x * dq.Pose(rotation=[np.cos(0.4), np.sin(0.4), 0, 0], translation=[0, 0.1, 0]), gain=2.0
    )
    cone = ct.Cone("tool", axis, 0.1, gain=3.0)
    angles = []
    angle = lambda q: np.arccos(np.clip(ARM.pose("tool", q).rotation_matrix[:, 2] @ axis, -1, 1))
    if level == "velocity":
        c = ct.velocity_controller(ARM, [task], [cone])
        angles.append(angle(follow(ARM, c, Q0, 3.0, 5e-3)))
    else:
        c = ct.acceleration_controller(ARM, [task], [cone])
        accelerate(ARM, c, Q0, np.zeros(7), 4.0, 5e-3, lambda t, q, v: angles.append(angle(q)))
    assert max(angles) < 0.1 + 1e-4
    assert angles[-1] > 0.09


# --- Lemma 4.1 --------------------------------------------------------------------------------------------------------


def worst(a: ct.Activation, factor: float = 1.0) -> float:
    """The least h along ḧ = −η_d ḣ − η_p h, integrated step by step."""
    h, rate, dt, least = a.h, a.rate, 1e-3, a.h
    for _ in range(20000):
        middle = rate + 0.5 * dt * (-a.eta_d * rate - a.eta_p * h)
        h, rate = h + dt * middle, rate + dt * (-a.eta_d * middle - a.eta_p * (h + 0.5 * dt * rate))
        least = min(least, h)
    return least * factor


@pytest.mark.equation("Quiroz", "4.16")
@pytest.mark.equation("Quiroz", "lemma 4.1")
@pytest.mark.equation("Quiroz", "4.17")
@pytest.mark.equation("Quiroz", "4.19")
def test_lemma() -> None:
    """Its conditions suffice; the sharp one is also needed; the bound is the solution of the equation."""
    cases = {"both": 0, "sharp only": 0, "none": 0}
    for rate, eta_p in product(np.linspace(-3.0, 1.0, 9), (0.1, 0.5, 0.9)):
        a = ct.Activation("h", 0.5, float(rate), 2.0, eta_p)
        assert a.holds <= a.sharp
        cases["both" if a.holds else "sharp only" if a.sharp else "none"] += 1
        assert (worst(a) > -1e-3) == a.sharp
        h, v, dt = a.h, a.rate, 1e-4
        for _ in range(10000):
            v, h = v + dt * (-a.eta_d * v - a.eta_p * h), h + dt * v
        assert a.bound(1.0) == pytest.approx(h, abs=2e-3)
        assert bool(a.failing) != a.holds
    assert min(cases.values()) > 0
    assert not ct.Activation("h", 0.5, 0.0, 2.0, 1.5).holds  # complex poles
    assert "h(0)" in ct.Activation("h", -0.5, 0.0, 2.0, 0.5).failing[0]


@pytest.mark.equation("Quiroz", "lemma 4.1")
def test_automatic_gains_satisfy_the_lemma() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        h, rate, gain = rng.uniform(1e-3, 2.0), rng.normal() * 3.0, rng.uniform(0.1, 5.0)
        a = ct.Activation("h", h, rate, *ct.automatic_gains((3 * gain, 2 * gain**2), h, rate))
        assert a.holds
        assert a.eta_d >= 3 * gain
    assert ct.automatic_gains((3.0, 2.0), -0.1, 1.0) == (3.0, 2.0)


def test_controller_knows_whether_the_lemma_holds() -> None:
    v = np.array([0.0, 1.5, 0.0, -1.0, 0.0, 0.5, 0.0])
    ahead = ARM.pose("tool", Q0).translation + 0.25 * (ARM.translation_jacobian("tool", Q0) @ v)
    task = [ct.RestTask()]
    automatic = ct.acceleration_controller(ARM, task, [ct.KeepOut("tool", dq.Point(ahead), 0.1)])
    automatic(0.0, Q0, v)
    assert automatic.activations[0].holds
    fixed = ct.acceleration_controller(ARM, task, [ct.KeepOut("tool", dq.Point(ahead), 0.1, gains=(1.0, 0.2))])
    with pytest.warns(ct.ControlWarning, match=r"Lemma 4.1 does not hold for .*η_d = 1 is below 2\|ḣ\(0\)\|/h\(0\)"):
        fixed(0.0, Q0, v)
    assert not fixed.activations[0].holds
    assert (fixed.activations[0].eta_d, fixed.activations[0].eta_p) == (1.0, 0.2)
    gains = automatic.composition.gains.copy()
    automatic(0.1, Q0, v)
    np.testing.assert_array_equal(automatic.composition.gains, gains)  # chosen once, at activation
