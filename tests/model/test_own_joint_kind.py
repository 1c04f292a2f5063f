"""A joint kind defined outside the package passes everything that the built-in ones do, or is refused by a sentence."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from own_kinds import OWN, Pinion, description
from trees import assert_close, rate, run

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import ONE, ZERO, I, J
from dqdyn.dynamics.methods import CORIOLIS, FORWARD, INVERSE, MASS_MATRIX
from dqdyn.model.description import Joint, Mimic
from dqdyn.model.joints import KINDS, JointKind
from dqdyn.robot import Robot
from dqdyn.simulate.integrators import INTEGRATORS
from dqdyn.view.joint_sliders import JointSliders

CHAINS = [
    ("revolute", "polar", "spherical"),
    ("progressive", "revolute", "prismatic"),
    ("polar", "progressive", "free"),
    ("pinion", "revolute", "prismatic"),
]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    KINDS.update(OWN)
    yield
    for name in OWN:
        del KINDS[name]


@pytest.fixture(params=CHAINS, ids="-".join)
def robot(request: pytest.FixtureRequest) -> Robot:
    return Robot.from_description(description(*request.param))


def state(robot: Robot, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.mark.parametrize("name", OWN)
def test_twist_and_its_rate_are_those_of_the_pose(name: str) -> None:
    robot, h = Robot.from_description(description(name)), 1e-5
    q, v, a = state(robot)
    before, after = (robot.pose("tool", robot.integrate(q, v, t)) for t in (-h, h))
    spatial = (after.dq - before.dq) * (1.0 / h) * robot.pose("tool", q).dq.conj()
    assert_close(
        robot.twist("tool", q, v, expressed="world").vec6(), [*spatial.primary.vector, *spatial.dual.vector], 1e-8
    )
    along = lambda t: robot.twist("tool", q + v * t + a * t * t / 2.0, v + a * t).vec6()
    assert_close(robot.twist_rate("tool", q, v, a).vec6(), (along(h) - along(-h)) / (2.0 * h), 1e-8)


def test_round_trips_of_json_pickle_and_equality(robot: Robot, tmp_path: Path) -> None:
    robot.write(tmp_path / "own.json")
    read = dq.load(tmp_path / "own.json")
    assert read == robot == pickle.loads(pickle.dumps(robot))
    assert [joint.kind for joint in read.joints] == [joint.kind for joint in robot.joints]
    q = state(robot)[0]
    assert_close(read.pose("tool", q).vec8(), robot.pose("tool", q).vec8(), 0.0)


def test_all_formulations_agree(robot: Robot) -> None:
    q, v, a = state(robot)
    tau = robot.inverse_dynamics(q, v, a)
    wrench = {"tool": np.arange(6.0)}
    pushed = robot.inverse_dynamics(q, v, a, wrenches=wrench)
    mass, n = robot.mass_matrix(q), robot.bias_forces(q, v)
    assert_close(mass @ a + n, tau, 1e-10)
    for method in INVERSE:
        assert_close(robot.inverse_dynamics(q, v, a, method=method), tau, 1e-9)
        assert_close(robot.inverse_dynamics(q, v, a, wrenches=wrench, method=method), pushed, 1e-9)
    for method in FORWARD:
        assert_close(robot.forward_dynamics(q, v, tau, method=method), a, 1e-9)
        assert_close(robot.forward_dynamics(q, v, pushed, wrenches=wrench, method=method), a, 1e-9)
    for method in MASS_MATRIX:
        assert_close(robot.mass_matrix(q, method=method), mass, 1e-10)
    for method in CORIOLIS:
        matrix, still = robot.coriolis_matrix(q, v, method=method), robot.gravity_forces(q)
        assert_close(matrix @ v + still + 0.1 * v, n, 1e-9)
    assert_close(robot.inverse_dynamics(q, v, a), tau, 1e-10)


def test_energy_balance(robot: Robot) -> None:
    q, v, a = state(robot)
    h = 1e-5
    tau = robot.inverse_dynamics(q, v, a) - 0.1 * v  # without damping
    energy = lambda t: robot.energy(robot.integrate(q, v + a * t / 2.0, t), v + a * t)
    assert energy(h) - energy(-h) == pytest.approx(2.0 * h * float(tau @ v), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("which", ["inverse_dynamics", "forward_dynamics"])
def test_derivatives_are_those_of_the_functions(robot: Robot, which: str) -> None:
    q, v, a = state(robot)
    function = getattr(robot, which)
    third = a if which == "inverse_dynamics" else robot.inverse_dynamics(q, v, a)
    d_dq, d_dv, d_last = getattr(robot, f"{which}_derivatives")(q, v, third)
    h, eye = 1e-6, np.eye(robot.nv)
    central = lambda f: np.transpose([(f(h * e) - f(-h * e)) / (2.0 * h) for e in eye])
    assert_close(d_dq, central(lambda d: function(robot.integrate(q, d, 1.0), v, third)), 2e-6)
    assert_close(d_dv, central(lambda d: function(q, v + d, third)), 2e-6)
    assert_close(d_last, central(lambda d: function(q, v, third + d)), 2e-6)


def test_second_derivatives_and_momenta_are_those_of_the_functions(robot: Robot) -> None:
    q, v, a = state(robot, 4)
    rng = np.random.default_rng(5)
    weights, w, dv, da = rng.normal(size=(4, robot.nv))
    at = lambda t: (run(robot, "integrate", q, w, t), v + t * dv, a + t * da)
    gradient = lambda t: weights @ run(robot, "inverse_dynamics_derivatives", *at(t))
    found = run(robot, "inverse_dynamics_hessian_product", q, v, a, weights, w, dv, da)
    assert_close(found, rate(gradient), 1e-8)
    momentum = lambda t: run(robot, "centroidal_momentum_matrix", run(robot, "integrate", q, v, t))
    assert_close(run(robot, "centroidal_momentum_matrix_derivative", q, v), rate(momentum), 1e-9)
    assert_close(run(robot, "centroidal_momentum_matrix", q) @ v, run(robot, "centroidal_momentum", q, v), 1e-12)
    by_q, by_v = run(robot, "integrate_jacobians", q, v, 0.2)
    end = run(robot, "integrate", q, v, 0.2)
    moved = lambda t: run(robot, "difference", end, run(robot, "integrate", run(robot, "integrate", q, w, t), v, 0.2))
    assert_close(by_q @ w, rate(moved), 1e-9)
    assert by_v[0, 0] == pytest.approx(0.2)


def test_jacobians_are_those_of_the_pose(robot: Robot) -> None:
    q, v, a = state(robot)
    for expressed in ("body", "world", "aligned"):
        jacobian = robot.twist_jacobian("tool", q, expressed=expressed)
        assert_close(jacobian @ v, robot.twist("tool", q, v, expressed=expressed).vec6(), 1e-12)
    moved = robot.twist_jacobian("tool", q) @ a + robot.twist_jacobian_derivative("tool", q, v) @ v
    assert_close(moved, robot.twist_rate("tool", q, v, a).vec6(), 1e-11)


@pytest.mark.parametrize("integrator", [*INTEGRATORS, "adaptive"])
def test_every_integrator_follows_the_same_motion(integrator: str) -> None:
    robot = Robot.from_description(description(*CHAINS[2]))
    q, v, _ = state(robot, 3)
    fine = dq.simulate(robot, duration=0.05, dt=1e-4, q0=q, v0=v)
    dt = 1e-4 if integrator == "semi-implicit-euler" else 1e-3
    run = dq.simulate(robot, duration=0.05, dt=dt, q0=q, v0=v, integrator=integrator)
    assert_close(run.q[-1], fine.q[-1], 2e-4)


@pytest.mark.parametrize("name", OWN)
def test_orders_of_the_integrators_hold(name: str) -> None:
    robot = Robot.from_description(description("revolute", name))
    q, v, _ = state(robot, 1)
    end = lambda dt, integrator: dq.simulate(robot, duration=0.4, dt=dt, q0=q, v0=v, integrator=integrator).q[-1]
    exact = end(1e-4, "rkmk4")
    for integrator, order in (("rkmk4", 4), ("variational", 2)):
        coarse, fine = (np.abs(end(dt, integrator) - exact).max() for dt in (2e-2, 1e-2))
        assert coarse / fine > 0.7 * 2.0**order


def test_velocity_control_and_inverse_kinematics_reach_a_pose(robot: Robot) -> None:
    start = robot.neutral()
    goal = robot.pose("tool", robot.integrate(start, 0.2 * state(robot, 2)[1], 1.0))
    solution = robot.inverse_kinematics("tool", goal, start)
    assert solution.success, solution
    assert_close(robot.pose("tool", solution.q).translation, goal.translation, 1e-6)
    controller = ct.velocity_controller(
        robot, [ct.TranslationTask("tool", goal.translation, gain=4.0)], [ct.JointLimits()]
    )
    q = start
    for k in range(400):
        q = robot.integrate(q, controller(k * 0.01, q), 0.01)
    assert_close(robot.pose("tool", q).translation, goal.translation, 1e-4)


def test_tables_and_pages_name_every_component(robot: Robot, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    q, v, _ = state(robot)
    run = dq.simulate(robot, duration=0.02, dt=1e-3, q0=q, v0=v)
    table = run.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    labels = [c for c in table.columns if c.startswith("q ")]
    assert len(labels) == len(set(labels)) == robot.nq
    for joint in robot.joints:
        if joint.kind == "polar":
            assert f"q {joint.name}.1 [rad]" in labels
            assert f"q {joint.name}.2 [m]" in labels
        if joint.kind == "progressive":
            assert f"q {joint.name} [rad]" in labels
    assert run.to_html(tmp_path / "run.html").stat().st_size > 10_000


def test_sliders_hold_the_coordinates(robot: Robot) -> None:
    q = state(robot)[0]
    sliders = JointSliders.__new__(JointSliders)
    sliders.robot, sliders.q = robot, q
    sliders.joints = [joint for joint in robot.joints if not joint.is_mimic]
    values = sliders._values(q)
    assert values.shape == (robot.nv,)
    assert_close(robot.difference(sliders._configuration(values), q), np.zeros(robot.nv), 1e-12)


def test_a_kind_with_an_expansion_is_written(tmp_path: Path) -> None:
    robot = Robot.from_description(description("revolute", "polar", "prismatic"))
    q, v, a = state(robot)
    for name in ("own.urdf", "own.xml"):
        with pytest.warns(dq.ModelWarning) if name.endswith("urdf") else contextlib.nullcontext():
            robot.write(tmp_path / name, lossy=True)
        read = dq.load(tmp_path / name)
        assert [joint.kind for joint in read.joints] == ["revolute", "revolute", "prismatic", "prismatic"]
        assert [joint.name for joint in read.joints] == ["joint0", "joint1_turn", "joint1_reach", "joint2"]
        assert_close(read.pose("tool", q).vec8(), robot.pose("tool", q).vec8(), 1e-12)
        assert read.joints[1].upper == (2.0,)
        rotors = np.zeros(4) if name.endswith("xml") else 0.2 * a
        assert_close(read.inverse_dynamics(q, v, a) + rotors, robot.inverse_dynamics(q, v, a), 1e-9)


@pytest.mark.parametrize("followed", [False, True])
def test_a_coupled_part_may_come_before_the_one_that_it_follows(followed: bool, tmp_path: Path) -> None:
    whole = description("pinion", "revolute")
    if followed:
        follower = replace(whole.joints[1], mimic=Mimic("joint0", -0.5, 0.25))
        whole = whole.with_changes(joints=(whole.joints[0], follower))
    robot = Robot.from_description(whole)
    q, v, a = state(robot)
    with pytest.warns(dq.ModelWarning, match="armature"):
        robot.write(tmp_path / "own.urdf", lossy=True)
    read = dq.load(tmp_path / "own.urdf")
    assert [(joint.name, joint.kind) for joint in read.joints] == [
        ("joint0_travel", "prismatic"),
        ("joint0", "revolute"),
        ("joint1", "revolute"),
    ]
    assert_close(read.pose("tool", q).vec8(), robot.pose("tool", q).vec8(), 1e-12)
    light = Robot.from_description(whole.with_changes(joints=tuple(replace(j, armature=0.0) for j in whole.joints)))
    assert_close(read.inverse_dynamics(q, v, a), light.inverse_dynamics(q, v, a), 1e-9)
    with pytest.raises(dq.Error, match="cannot hold the pinion joint 'joint0': write URDF or JSON"):
        robot.write(tmp_path / "own.xml")


@pytest.mark.parametrize("ending", [".urdf", ".xml"])
def test_a_kind_without_an_expansion_is_refused_by_a_sentence(ending: str, tmp_path: Path) -> None:
    robot = Robot.from_description(description("revolute", "progressive"))
    with pytest.raises(dq.Error, match="cannot hold the progressive joint 'joint1': write JSON") as caught:
        robot.write(tmp_path / f"own{ending}")
    assert caught.value.element == "joint1"
    assert not list(tmp_path.iterdir())


def test_layouts_of_mujoco_and_pinocchio(tmp_path: Path) -> None:
    mujoco, pinocchio = pytest.importorskip("mujoco"), pytest.importorskip("pinocchio")
    robot = Robot.from_description(description("revolute", "polar", "prismatic"))
    q, v, a = state(robot)
    robot.write(tmp_path / "own.xml")
    with pytest.warns(dq.ModelWarning):
        robot.write(tmp_path / "own.urdf", lossy=True)
    for layout in (
        robot.to_mujoco(mujoco.MjModel.from_xml_path(str(tmp_path / "own.xml"))),
        robot.to_pinocchio(pinocchio.buildModelFromUrdf(str(tmp_path / "own.urdf"))),
    ):
        assert_close(layout.q_from(layout.q(q)), q, 0.0)
        assert_close(layout.a_from(q, v, layout.a(q, v, a)), a, 0.0)
    other = Robot.from_description(description("revolute", "progressive", "prismatic"))
    with pytest.raises(dq.Error, match="joint1"):
        other.to_mujoco(mujoco.MjModel.from_xml_path(str(tmp_path / "own.xml")))
    with pytest.raises(dq.Error, match="joint1"):
        other.to_pinocchio(pinocchio.buildModelFromUrdf(str(tmp_path / "own.urdf")))


def test_a_kind_with_one_coordinate_mimics() -> None:
    whole = description("revolute", "progressive")
    follower = Joint(**{**whole.joints[1].__dict__, "mimic": Mimic("joint0", 0.5, 0.1)})
    robot = Robot.from_description(whole.with_changes(joints=(whole.joints[0], follower)))
    free = Robot.from_description(whole)
    q, v, a = state(robot)
    both = lambda x, offset=0.0: np.array([x[0], 0.5 * x[0] + offset])
    assert_close(robot.pose("tool", q).vec8(), free.pose("tool", both(q, 0.1)).vec8(), 1e-14)
    tau = free.inverse_dynamics(both(q, 0.1), both(v), both(a))
    for method in INVERSE:
        assert_close(robot.inverse_dynamics(q, v, a, method=method), [tau[0] + 0.5 * tau[1]], 1e-9)


# --- faults of a kind -------------------------------------------------------------------------------------------------


def refused(kind: type[JointKind], sentence: str) -> None:
    try:
        with pytest.raises(dq.Error, match=sentence):
            Robot.from_description(description("revolute", kind.name))
    finally:
        del KINDS[kind.name]


class Slide(JointKind):
    """A slide along x that is right; the classes below each spoil one thing."""

    nq, nv, angular = 1, 1, (False,)

    def pose(self, q):
        return pose(ONE, I * q[0])

    def subspace(self, q):
        return (DQ.of(ZERO, I),)


def test_what_contradicts_itself_is_refused() -> None:
    class Wrong(Slide):
        name = "wrong subspace"

        def subspace(self, q):
            return (DQ.of(ZERO, J),)

    class Shifted(Slide):
        name = "shifted"

        def pose(self, q):
            return pose(ONE, I * (q[0] + 1.0))

    class Branching(Slide):
        name = "branching"

        def pose(self, q):
            return pose(ONE, I * q[0]) if q[0] > 0.0 else pose(ONE, I * -q[0])

    class Slow(Pinion):
        name = "slow"

        def expansion(self):
            travel, turn = super().expansion()
            return replace(travel, ratio=0.5 * self.radius), turn

    class Alone(Pinion):
        name = "alone"

        def expansion(self):
            return super().expansion()[:1]

    refused(Slow, "expansion with another pose")
    refused(Alone, "ratio, but without a coordinate")
    refused(Wrong, "subspace that does not belong to its pose")
    refused(Shifted, "not the identity at the neutral q")
    refused(Branching, "raises TypeError")


def test_a_kind_is_checked_when_it_is_defined() -> None:
    with pytest.raises(dq.Error, match="already"):

        class Revolute(Slide):
            name = "revolute"

    with pytest.raises(dq.Error, match="one per velocity"):

        class Two(Slide):
            name, nq, nv = "two", 2, 2

    with pytest.raises(dq.Error, match="define rate, integrate, difference, neutral"):

        class Circle(Slide):
            name, nq = "circle", 2

    with pytest.raises(dq.Error, match=r"'bare' lacks nq, nv, angular, pose\(q\), subspace\(q\): define"):

        class Bare(JointKind):
            name = "bare"

    with pytest.raises(dq.Error, match=r"'posed' lacks subspace\(q\): define"):

        class Posed(JointKind):
            name, nq, nv, angular = "posed", 1, 1, (True,)

            def pose(self, q):
                return pose(ONE, I * q[0])

    assert not {"two", "circle", "bare", "posed"} & set(KINDS)
