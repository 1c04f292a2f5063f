"""The pendulum's blow: what it hits with, how the greatest one is found, and what comes of it in MuJoCo."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.analysis.experiments import experiment, pendulum_blow
from dqdyn.analysis.experiments.experiment import Result
from dqdyn.analysis.experiments.multi_contact.setting import HAND
from dqdyn.analysis.experiments.pendulum_blow import claims, setting
from dqdyn.analysis.experiments.pendulum_blow.blows import Search, searched
from dqdyn.analysis.experiments.pendulum_blow.pendulum import PENDULUM, Pendulum, Swing
from dqdyn.analysis.experiments.pendulum_blow.study import Study
from dqdyn.simulate.observation import LinkContact, Observation

G = 9.81


# --- the pendulum -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pendulum", [Pendulum(), Pendulum(mass=4.0, length=0.7, radius=0.2, direction=-0.6)])
def test_momentum_and_angle_of_release(pendulum: Pendulum) -> None:
    for angle in (0.1, 1.2, math.pi):
        rate = pendulum.momentum(angle) / (pendulum.mass * pendulum.length)
        kinetic = 0.5 * pendulum.mass * (pendulum.length**2 + 0.4 * pendulum.radius**2) * rate**2
        assert kinetic == pytest.approx(pendulum.mass * G * pendulum.length * (1.0 - math.cos(angle)))
        assert pendulum.energy(angle) == pytest.approx(pendulum.energy(0.0, rate)) == pytest.approx(kinetic)
        assert pendulum.angle(pendulum.momentum(angle)) == pytest.approx(angle)


@pytest.mark.parametrize("momentum", [0.0, -1.0, 1e3, math.nan])
def test_blows_that_no_pendulum_has(momentum: float) -> None:
    with pytest.raises(dq.Error, match="the pendulum's blow is from 0 to 191"):
        Pendulum().angle(momentum)


def test_it_hangs_down_at_the_back_of_the_trunk() -> None:
    """Released behind, on the robot's right, and at the bottom one radius away from the back."""
    start, pendulum = setting.start(), Pendulum()
    body = pendulum.body(start, 100.0)
    assert body.hinge is not None
    trunk = start.robot.pose("chest", start.q0)
    ball = trunk.inverse() * dq.Point(np.array(body.hinge.point) - [0.0, 0.0, pendulum.length])
    assert ball.position[0] == pytest.approx(-0.09 - pendulum.radius, abs=1e-9)
    assert ball.position[1] / ball.position[0] == pytest.approx(math.tan(pendulum.direction), abs=1e-9)
    assert ball.position[2] == pytest.approx(pendulum.height, abs=1e-9)
    arm = body.at(0.0).translation - body.hinge.point
    assert arm @ pendulum.along == pytest.approx(-pendulum.length * math.sin(pendulum.angle(100.0)))


def test_swing_sums_forces_and_moments() -> None:
    """A constant push at the ball's center for 10 steps, while the angle grows evenly, and a later touch."""
    pendulum, dt = Pendulum(direction=0.0), 1e-3
    swing = Swing(pendulum, pendulum.body(setting.start(), 50.0), dt)
    pivot = np.array(pendulum.body(setting.start(), 50.0).hinge.point)  # type: ignore[union-attr]
    for k in range(200):
        angle = -0.05 + 1e-3 * k
        place = pivot + pendulum.length * np.array([math.sin(angle), 0.0, -math.cos(angle)])
        pushes = 20 <= k < 30 or k == 150
        contact = LinkContact(np.array([400.0, 0.0, 0.0]), 400.0, place, (PENDULUM,))
        other = LinkContact(np.array([0.0, 0.0, 300.0]), 300.0, np.zeros(3), ("ground",))
        touching = {"chest": contact, "left_foot_link": other} if pushes else {"left_foot_link": other}
        swing.note(Observation(dt * k, touching, {PENDULUM: np.concatenate([[1.0, 0.0, 0.0, 0.0], place])}, {}))
    assert swing.blow == slice(20, 30)
    assert swing.impulse == pytest.approx(4.0)
    assert swing.peak == pytest.approx(400.0)
    assert swing.rate(50) == pytest.approx(1.0)
    levers = pendulum.length * np.cos(-0.05 + 1e-3 * np.arange(20, 30))
    assert swing.angular_impulse[0] == pytest.approx(-400.0 * levers.sum() * dt)


def test_it_arrives_with_its_momentum_in_the_engine() -> None:
    """Beside a small robot that it does not touch: speed at the bottom and energy on the way, by MuJoCo."""
    pytest.importorskip("mujoco")
    pendulum, arm = Pendulum(), dq.robots.two_link()
    body = pendulum.body(setting.start(), 100.0)
    swing = Swing(pendulum, body, 1e-3)

    class Limp:
        def observe(self, observation: Observation) -> None:
            swing.note(observation)

        def step(self, t: float, q: Any, v: Any) -> Any:
            return np.zeros(arm.nv)

    scene = dq.Scene([body])
    dq.simulate(arm, Limp(), 1.0, 1e-3, plant="mujoco", scene=scene, progress=False, every=100)
    bottom = int(np.flatnonzero(swing.angles > 0.0)[0])
    assert pendulum.mass * pendulum.length * swing.rate(bottom) == pytest.approx(100.0, rel=1e-3)
    energies = [pendulum.energy(float(swing.angles[k - 1 : k + 1].mean()), swing.rate(k)) for k in (100, 400, 600)]
    assert energies == pytest.approx([pendulum.energy(pendulum.angle(100.0))] * 3, rel=2e-3)
    assert swing.blow == slice(0, 0)
    assert swing.impulse == swing.peak == 0.0


# --- the setting ------------------------------------------------------------------------------------------------------


def test_the_hand_starts_above_its_region_of_the_table() -> None:
    start = setting.start()
    corners = [c.vector for c in setting.palm().corner_positions(start.robot, list(start.q0))]
    for corner in np.array(corners, dtype=float):
        assert corner[2] > setting.HEIGHT + 0.01
        assert all(np.dot(plane.normal, corner) > plane.distance for plane in setting.region())
    (left, right), (near, far) = setting.TOP
    assert left < setting.REGION[0][0] < setting.REGION[0][1] < right
    assert near < setting.REGION[1][0] < setting.REGION[1][1] < far
    top = setting.table()
    assert top.at(0.0).translation[2] + 0.5 * top.size[2] == pytest.approx(setting.HEIGHT)
    below = setting.scene().surface_below((0.3, 0.4, 2.0))
    assert below is not None
    assert below.body == setting.TABLE


# --- the search -------------------------------------------------------------------------------------------------------


def fallen_from(limit: float) -> Any:
    """A ring whose robot falls from a momentum in N s on."""

    def blow(posture: Any, momentum: float, *, duration: float, substeps: int) -> Any:
        return SimpleNamespace(momentum=momentum, survived=momentum < limit, substeps=substeps)

    return SimpleNamespace(blow=blow, pendulum=Pendulum())


@pytest.mark.parametrize("limit", [20.0, 89.0, 100.0, 131.0, 190.0])
def test_the_greatest_blow_is_bracketed(limit: float) -> None:
    ring = fallen_from(limit)
    *_, found = searched(ring, None, [ring.blow(None, 100.0, duration=1.0, substeps=2)], 0.05, 1.0)  # type: ignore[arg-type]
    assert found.greatest < limit <= found.least <= found.greatest * 1.05
    assert {blow.substeps for blow in found.blows} == {2}
    assert len(found.blows) < 30


def test_a_robot_that_survives_all_blows_ends_the_search() -> None:
    ring = fallen_from(1e9)
    *_, found = searched(ring, None, [ring.blow(None, 100.0, duration=1.0, substeps=1)], 0.05, 1.0)  # type: ignore[arg-type]
    assert found.greatest == pytest.approx(Pendulum().strongest)
    assert math.isinf(found.least)


def test_only_blows_below_the_first_fall_count_as_survived() -> None:
    blows: list[Any] = [SimpleNamespace(momentum=m, survived=s) for m, s in ((80.0, True), (90.0, False), (95.0, True))]
    assert (Search(blows).greatest, Search(blows).least) == (80.0, 90.0)
    assert Search(blows[1:2]).greatest == 0.0


# --- the experiment ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"plant": "mujoco", "momentum": "much"}, "momentum of pendulum-blow"),
        ({"plant": "mujoco", "momentum": 1e4}, "the pendulum's blow is from 0 to 191"),
        ({"plant": "mujoco", "resolution": 0.0}, "a share between 0 and 1"),
        ({"plant": "mujoco", "resolution": math.nan}, "a share between 0 and 1"),
        ({"plant": "mujoco", "substeps": ()}, "a list of whole numbers from 1 on"),
        ({"plant": "mujoco", "substeps": 2}, "a list of whole numbers from 1 on"),
        ({"plant": "mujoco", "substeps": [1, 0.5]}, "a list of whole numbers from 1 on"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        experiment("pendulum-blow", **options)


@cache
def study() -> Study:
    """Short, and with a coarse search."""
    pytest.importorskip("mujoco")
    return pendulum_blow.studied(pendulum_blow.MOMENTUM, 4.0, 0.2, (1,))


@cache
def result() -> Result:
    return pendulum_blow.report(study())


@pytest.mark.long
@pytest.mark.equation("Quiroz", "fig. 4.9")
def test_the_same_blow_fells_one_posture_and_not_the_other() -> None:
    near, far = study().pair(1)
    assert near.fell
    assert near.on_ground
    assert far.stayed
    assert near.momentum == far.momentum
    assert set(far.trajectory.about["touched"]) >= {"left_palm", "left_foot_link", "right_foot_link", "chest"}
    assert set(far.trajectory.about["touched"]["chest"]) == {PENDULUM}
    assert 1.5 * near.posture.polygon.area < far.posture.polygon.area


@pytest.mark.long
def test_both_postures_differ_in_the_hand() -> None:
    start, (near, far) = study().start, study().steps.both
    robot = start.robot
    for posture in (near, far):
        np.testing.assert_allclose(robot.center_of_mass(posture.q0), start.center, atol=1e-6)
        for frame in (*start.feet, "chest"):
            a, b = robot.pose(frame, posture.q0), robot.pose(frame, start.q0)
            np.testing.assert_allclose(a.rotation_matrix, b.rotation_matrix, atol=1e-6)
        palm = robot.pose(HAND, posture.q0)
        assert palm.translation[2] == pytest.approx(setting.HEIGHT, abs=5e-4)
        assert palm.rotation_matrix[2, 2] > 1.0 - 1e-5
        limits = robot.limits
        assert (posture.q0[7:] > limits.lower[7:]).all()
        assert (posture.q0[7:] < limits.upper[7:]).all()
    assert np.linalg.norm(far.hand - near.hand) > 0.2


@pytest.mark.long
def test_claims_hold_and_would_not_if_the_postures_were_exchanged() -> None:
    assert [claim.text for claim in result().claims if not claim.holds] == []
    assert len(result().claims) == 11
    json.dumps(result().as_data(), allow_nan=False)
    near, far = study().searches[1]
    exchanged = replace(study(), searches={1: (far, near)})
    for claim in (claims.falls, claims.stays, claims.inside, claims.robust, claims.greatest, claims.away):
        assert not claim(exchanged).holds
    ended = SimpleNamespace(momentum=1.0, trajectory=SimpleNamespace(status="diverged after t = 1 s"))
    doubtful = replace(study(), away=(Search([ended]), Search([])))  # type: ignore[list-item]
    assert not claims.finished(doubtful).holds


@pytest.mark.long
def test_a_robot_that_has_fallen_has_no_motors() -> None:
    near, far = study().pair(1)
    assert near.off is not None
    assert far.off is None
    late = near.trajectory.time > near.off + 0.01
    power = np.sum(near.trajectory.tau[late] * near.trajectory.v[late], axis=1)
    assert power.max() <= 0.0
