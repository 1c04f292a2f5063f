"""Standing robots in MuJoCo under whole-body control: short versions of what ``benchmarks.standing`` shows."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.arrays import Array
from dqdyn.contacts.support_polygon import convex_hull
from dqdyn.control.whole_body.contact_motion import anchor_of, anchored_corners

sys.path.append(str(Path(__file__).parents[2]))

from benchmarks.standing import robots

from dqdyn.analysis.standing import pushes, setting
from dqdyn.analysis.standing.balance import balance
from dqdyn.analysis.standing.loop import run


def test_bound_of_the_pendulum() -> None:
    """ẍ = ω₀² (x − d) + F/m for the time T, then without F: below the bound x stays behind d, above it runs away."""
    standing = setting.humanoid()
    m, w, T = standing.robot.mass, standing.omega, pushes.PUSH
    d = pushes.distance_to_edge(standing.polygon.corners, standing.center[:2], 0.0)
    assert d == pytest.approx(0.11)  # half the length of the sole
    for ratio, falls in ((0.999, False), (1.001, True)):
        force = ratio * pushes.greatest_force(standing, 0.0) / m
        x, v = 0.0, 0.0
        for a, t in ((force, T), (0.0, 4.0)):
            # about its equilibrium the pendulum moves as cosh and sinh
            rest = d - a / w**2
            e, c, s = x - rest, math.cosh(w * t), math.sinh(w * t)
            x, v = rest + e * c + v / w * s, e * w * s + v * c
        assert (x > d) == falls


def test_distance_to_the_edge() -> None:
    """The end of the way is on the border of the polygon, and half of it inside."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        corners = convex_hull(rng.normal(size=(8, 2)))
        point, angle = corners.mean(axis=0), rng.uniform(-math.pi, math.pi)
        way = pushes.distance_to_edge(corners, point, angle) * np.array([math.cos(angle), math.sin(angle)])
        polygon = contacts.SupportPolygon(corners)
        assert polygon.distance(point + way) == pytest.approx(0.0, abs=1e-12)
        assert polygon.distance(point + 0.5 * way) > 0.0


@pytest.mark.parametrize("name", robots.ROBOTS)
def test_robots_stand_over_their_soles(name: str) -> None:
    standing = robots.ROBOTS[name]()
    robot, q0 = standing.robot, standing.q0
    for foot in standing.feet:
        sole = robot.pose(foot, q0)
        np.testing.assert_allclose(sole.rotation_matrix, np.eye(3), atol=1e-9)
        assert sole.translation[2] == pytest.approx(0.0, abs=1e-12)
    middle = np.mean([robot.pose(foot, q0).translation for foot in standing.feet], axis=0)
    np.testing.assert_allclose(standing.center[:2], middle[:2], atol=2e-3)  # the Talos is not quite symmetric
    assert (q0 > robot.limits.lower).all()
    assert (q0 < robot.limits.upper).all()


@pytest.mark.long
def test_anchors_by_compiled_poses_and_their_corners() -> None:
    """They are those of the contacts by the tree, at any state, against the world and against another link."""
    robot, rng = setting.humanoid().robot, np.random.default_rng(8)
    given = [
        contacts.face("left_foot", half_length=0.1, half_width=0.05, center=(0.02, 0.01, 0.0)),
        contacts.edge("right_foot", [(0.1, 0.05, 0.0), (0.1, -0.05, 0.0)]),
        contacts.point("left_hand", (0.0, 0.1, 0.0), partner="chest"),
    ]
    composition = ct.whole_body_controller(robot, [ct.RestTask()], contacts=given).composition
    for _ in range(5):
        q = robot.random_configuration(rng)
        for contact in given:
            anchor = composition.anchor_at(contact, q)
            np.testing.assert_allclose(anchor, anchor_of(robot.model, contact, q), atol=1e-12)
            corners = [c.vector for c in contact.corner_positions(robot.model, q.tolist())]
            partner = dq.Pose() if contact.partner == "world" else robot.pose(contact.partner, q)
            seen = (np.array(corners) - partner.translation) @ partner.rotation_matrix
            np.testing.assert_allclose(anchored_corners(contact, anchor), seen, atol=1e-12)


class Swaying:
    """Balance around c = a sin(π t) sideways, by ξ = c + ċ/ω₀ as the target; ``amplitude`` a in m."""

    def __init__(self, standing: setting.Standing) -> None:
        self.standing, self.amplitude = standing, 0.0
        self.target = ct.Measured(standing.center[:2], np.zeros(2))
        self.controller = balance(standing, self.target)
        self.reset = self.controller.reset

    @property
    def report(self) -> ct.StepReport:
        return self.controller.report

    def at(self, t: float) -> float:
        return self.amplitude * math.sin(math.pi * t)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        r, w = math.pi, self.standing.omega
        rate = self.amplitude * r * math.cos(r * t)
        target = [0.0, self.at(t) + rate / w], [0.0, rate - r * r * self.at(t) / w]
        self.target.update(self.standing.center[:2] + target[0], np.array(target[1]))
        return self.controller(t, q, v)


@pytest.fixture(scope="module")
def law() -> Swaying:
    return Swaying(setting.humanoid())


@pytest.mark.long
def test_stands(law: Swaying) -> None:
    """Nothing moves, and the forces that the controller plans are those of the engine."""
    law.amplitude = 0.0
    standing, done = law.standing, run(law.standing, law, 1.0)
    assert done.stood
    assert done.loop.status == {"solved": 1001}
    assert standing.feet_moved(done.trajectory.q) < 1e-3
    assert done.speed < 1e-3
    # The soles sink in by 0.6 mm, which the contacts try to undo.
    np.testing.assert_allclose(done.centers[-1], standing.center, atol=2e-3)
    for contact, link in zip(standing.supports, standing.links, strict=True):
        planned = law.controller.contact_wrenches[contact.name]
        weight = 0.5 * standing.robot.mass * setting.G
        assert done.trajectory.extra[f"normal_force/{link}"][-1] == pytest.approx(weight, rel=1e-3)
        assert planned[2] == pytest.approx(weight, rel=5e-3)


@pytest.mark.long
def test_sways(law: Swaying) -> None:
    law.amplitude = 0.03
    done = run(law.standing, law, 4.0)
    assert done.stood
    assert done.loop.status == {"solved": 4001}
    late = done.trajectory.time > 2.0
    wanted = [law.at(float(t)) for t in done.trajectory.time]
    np.testing.assert_allclose((done.centers[:, 1] - wanted)[late], 0.0, atol=1e-3)
    assert done.centers[late, 1].max() > 0.029
    assert law.standing.feet_moved(done.trajectory.q) < 2e-3


@pytest.mark.long
@pytest.mark.parametrize("angle", [0.0, 0.75 * math.pi, -0.5 * math.pi])
def test_survives_what_it_should(law: Swaying, angle: float) -> None:
    """0.7 of what the linear pendulum survives, in motors' and joints' limits; three times as much throws it down."""
    law.amplitude = 0.0
    robot = law.standing.robot
    done = pushes.push(law.standing, law, angle, 0.7, after=3.0)
    assert done.survived, done.why
    assert set(done.run.loop.status) == {"solved"}
    effort = np.array([0.0 if motor is None else motor.effort for motor in robot.motors])
    assert (np.abs(done.run.trajectory.tau) <= effort + 1e-6).all()
    q = done.run.trajectory.q
    assert (q >= robot.limits.lower - 1e-3).all()
    assert (q <= robot.limits.upper + 1e-3).all()
    assert not pushes.push(law.standing, law, angle, 2.1, after=1.5).survived
