"""Machine code of real robots against Pinocchio: ten here, all with ``python -m tests.dynamics.all_compiled``."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_robots import SMALL, compare
from example_robots import FILES, LARGEST, ROBOTS, robot
from trees import assert_close, random_robot, random_state, run

from dqdyn import robots
from dqdyn.dynamics.methods import CORIOLIS, FORWARD, INVERSE, MASS_MATRIX
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.robot import Robot

FREE = {"talos/talos_full_v2", "centauro/centauro", "anymal_b_simple/anymal"}
CASES = [(name, "free" if name in FREE else "fixed") for name in LARGEST]
ROBOT = random_robot(41, 4, ("revolute", "prismatic", "universal", "spherical"))


def test_names_of_the_ten() -> None:
    assert FREE < set(LARGEST) <= set(ROBOTS)
    assert len(set(LARGEST)) == 10
    sizes = {name: robot(name, "fixed").nv for name in ROBOTS}
    assert max(sizes, key=sizes.__getitem__) == LARGEST[0]


@pytest.mark.parametrize(("name", "base"), CASES)
@pytest.mark.long
def test_against_pinocchio(name: str, base: str) -> None:
    outcome = compare(name, base)
    assert outcome.worst < 1e-9, outcome
    matrices = {"coriolis_matrix", "inverse_dynamics_derivatives"}
    assert (matrices <= set(outcome.deviations)) == (outcome.nv <= SMALL)


def test_chain_of_200_joints() -> None:
    """Long straight-line code against the algorithm on plain numbers."""
    chain = robots.chain(200, seed=1)
    state = random_state(chain, np.random.default_rng(5))
    assert_close(chain.inverse_dynamics(*state), run(chain, "inverse_dynamics", *state), 1e-11)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *(("inverse_dynamics", method) for method in INVERSE),
        *(("forward_dynamics", method) for method in FORWARD),
        *(("mass_matrix", method) for method in MASS_MATRIX),
        *(("coriolis_matrix", method) for method in CORIOLIS),
    ],
)
def test_every_method_through_robot(name: str, method: str) -> None:
    """Compiled, one state and a batch, with friction and armature, against "auto" on plain numbers."""
    q, v, a = random_state(ROBOT, np.random.default_rng(1), (3,))
    given = {"mass_matrix": (q,), "coriolis_matrix": (q, v)}.get(name, (q, v, a))
    expected = run(ROBOT, name, *given, method=method if name == "coriolis_matrix" else "auto")
    function = getattr(ROBOT, name)
    assert_close(function(*given, method=method), expected, 1e-9)
    assert_close(function(*(x[1] for x in given), method=method), expected[1], 1e-9)
    out = np.empty(expected[1].shape)
    assert function(*(x[1] for x in given), method=method, out=out) is out
    assert_close(out, expected[1], 1e-9)


def test_auto_is_the_cheapest() -> None:
    counts = {m: ROBOT.count("inverse_dynamics", method=m).total for m in ("auto", *INVERSE)}
    assert counts["auto"] == min(counts.values())
    assert counts["auto"] < counts["newton-euler"] < counts["closed-form"]


def test_damping_costs_a_product_and_a_sum() -> None:
    """The figures of docs/dynamics.md."""
    panda = Robot(build(read_urdf(FILES["panda/panda"]), quiet=True))
    panda = panda.lock({joint.name: 0.0 for joint in panda.joints if "finger" in joint.name})
    counts = [r.count("inverse_dynamics", method="newton-euler") for r in (panda.without_friction(), panda)]
    assert [(c.mul, c.add) for c in counts] == [(491, 392), (498, 399)]


def test_methods_take_turns() -> None:
    """The method's memory of the last call must not outlive a change of method, wrenches or expression."""
    q, v, a = random_state(ROBOT, np.random.default_rng(2))
    w = np.arange(6.0)
    plain, loaded = run(ROBOT, "inverse_dynamics", q, v, a), {}
    for expressed in ("body", "aligned"):
        options = {"wrench_frames": ("tool",), "wrench_expressed": expressed}
        loaded[expressed] = run(ROBOT, "inverse_dynamics", q, v, a, w, **options)
    assert np.abs(loaded["body"] - loaded["aligned"]).max() > 1e-3
    for _ in range(3):
        assert_close(ROBOT.inverse_dynamics(q, v, a), plain, 1e-11)
        assert_close(ROBOT.inverse_dynamics(q, v, a, {"tool": w}), loaded["body"], 1e-11)
        assert_close(ROBOT.inverse_dynamics(q, v, a, {"tool": w}, expressed="aligned"), loaded["aligned"], 1e-11)
        assert_close(ROBOT.inverse_dynamics(q, v, a, None, "gauss"), plain, 1e-9)
        assert_close(ROBOT.inverse_dynamics(q, v, a, {}), plain, 1e-11)
        back = ROBOT.forward_dynamics(q, v, loaded["aligned"], {"tool": w}, expressed="aligned")
        assert_close(back, a, 1e-9)
        assert_close(ROBOT.forward_dynamics(q, v, plain), a, 1e-9)


def test_energies_and_forces_through_robot() -> None:
    q, v, _ = random_state(ROBOT, np.random.default_rng(3), (2, 2))
    assert ROBOT.energy(q, v).shape == (2, 2)
    assert_close(ROBOT.energy(q, v), ROBOT.kinetic_energy(q, v) + ROBOT.potential_energy(q), 0)
    for name, given in (("kinetic_energy", (q, v)), ("potential_energy", (q,))):
        assert_close(getattr(ROBOT, name)(*given), run(ROBOT, name, *given)[..., 0], 1e-12)
        assert np.ndim(getattr(ROBOT, name)(*(x[0, 0] for x in given))) == 0
    for name, given in (("bias_forces", (q, v)), ("gravity_forces", (q,))):
        assert_close(getattr(ROBOT, name)(*given), run(ROBOT, name, *given), 1e-11)
