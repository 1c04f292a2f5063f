"""State machines of whole-body control: a table stands on four legs, lets one go, puts it down again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from standing import resting_table

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.compile.runtime import native

g = ct.guards
TABLE, Q0, FEET = resting_table()
CENTER = TABLE.center_of_mass(Q0)
DT, RATE = 5e-3, 400.0


def tasks(lower: float, shift: float = 0.0) -> list[ct.Task]:
    center = CENTER - np.array([shift, shift, lower])
    return [
        ct.PostureTask(Q0, gain=5.0, weight=0.01, name="posture"),
        ct.CenterOfMassTask(center, weight=10.0, gain=4.0, name="center"),
    ]


FLOOR = ct.KeepAbove("slab", dq.Plane([0.0, 0.0, 1.0], distance=0.2), name="floor")
CEILING = ct.KeepAbove("slab", dq.Plane([0.0, 0.0, -1.0], distance=-2.0), name="ceiling")


def machine(robot: Any = TABLE, **options: Any) -> ct.StateMachine:
    """Lower the slab on four legs, rest on three of them for a while, go up on four."""
    loaded = g.all_of(g.switched(), g.touching("leg_1", force=20.0))
    return ct.StateMachine(
        robot,
        [
            ct.State("four", tasks(0.05), FLOOR, FEET, ct.Transition("three", g.reached("center", 5e-3)), 5.0),
            ct.State(
                "three", tasks(0.05), [CEILING, FLOOR], FEET[1:], ct.Transition("back", g.after(0.6)), 5.0, ramp=0.1
            ),
            ct.State("back", tasks(0.05), FLOOR, FEET, ct.Transition("up", loaded), 5.0),
            ct.State(
                "up",
                tasks(0.0),
                FLOOR,
                FEET,
                ct.Transition("done", g.reached("center", 5e-3, during=0.05)),
                5.0,
                options={"damping": 0.01},
            ),
            ct.State("done", ends="done"),
            ct.State("failed", ends="failed"),
        ],
        start="four",
        level="whole-body",
        torque_rate=RATE,
        **options,
    )


@pytest.fixture(scope="module")
def made() -> ct.StateMachine:
    return machine()


class Looked:
    """A machine in whose steps nothing may be compiled, though the simulation around it may, and what it said."""

    level = "torque"

    def __init__(self, machine: ct.StateMachine) -> None:
        self.machine, self.seen = machine, list[tuple[str, bool, bool]]()
        self.reset, self.observe, self.record = machine.reset, machine.observe, machine.record

    def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        def no_compiler(*_: Any, **__: Any) -> None:
            raise AssertionError("compiled in the loop")

        state = self.machine.state
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(native.Library, "__init__", no_compiler)
            command = self.machine(t, q, v)
        if state == self.machine.state and not self.machine.ended:
            unknown = bool(np.isnan(self.machine.error("center")).any())
            self.seen.append((state, self.machine.is_active, unknown))
        return command


@pytest.fixture(scope="module")
def ran(made: ct.StateMachine) -> tuple[Looked, dq.Trajectory]:
    looked = Looked(made)
    return looked, dq.simulate(TABLE, looked, 3.5, DT, q0=Q0, contacts=FEET, ground=0.0)


def test_contacts_tasks_and_constraints_change_by_guards(ran: tuple[Looked, dq.Trajectory]) -> None:
    looked, found = ran
    assert [event.to for event in looked.machine.log] == ["four", "three", "back", "up", "done"]
    assert looked.machine.ended == "done"
    assert found.status == "finished"
    # on three legs the first one carries little more than itself once it is let go, and 20 N before the table goes up
    force, state = found.extra["wrench/leg_1"][:, 2], found.extra["state"]
    assert force[state == 1][-1] < 5.0 < 20.0 < force[state == 0][-1]
    lift = int(np.argmax(state == 3))
    assert force[lift - 1] >= 20.0
    np.testing.assert_allclose(TABLE.center_of_mass(found.q[-1]), CENTER, atol=5e-3)
    # torques change no faster than allowed, transitions included, but where the report says that this gave way
    solved = found.extra["solved"][1:] == 1.0
    assert (~solved).sum() <= 2
    assert np.abs(np.diff(found.tau, axis=0))[solved].max() <= RATE * DT + 1e-6
    # a constraint of one state alone is recorded there alone
    ceiling = found.extra["h: ceiling"]
    assert np.isfinite(ceiling).sum() > 80
    assert np.isnan(ceiling[state != 1]).all()
    assert np.isfinite(found.extra["h: floor"][state < 3.5]).sum() > 300


def test_errors_are_not_known_while_contacts_of_the_state_before_are_let_go(ran: tuple[Looked, dq.Trajectory]) -> None:
    three = [(active, unknown) for state, active, unknown in ran[0].seen if state == "three"]
    assert all(active != unknown for active, unknown in three)
    waiting = sum(unknown for _, unknown in three)
    assert waiting * DT == pytest.approx(0.1, abs=2 * DT)  # the ramp
    assert not any(active for active, _ in three[:waiting])


def test_sets_are_named_after_states_and_the_end_goes_on_with_the_last(ran: tuple[Looked, dq.Trajectory]) -> None:
    made = ran[0].machine
    controller = made.controller
    assert isinstance(controller, ct.WholeBodyController)
    assert set(controller.contact_sets) == {"four", "three", "back", "up"}
    assert controller.contact_set == "up"
    designs = {name: program.composition.design for name, program in made.programs.items()}
    assert [c.name for c in designs["three"].constraints] == ["ceiling", "floor"]
    assert [designs[name].damping for name in ("four", "up")] == [1e-3, 0.01]


def test_guards_on_forces_need_a_plant_that_measures_them() -> None:
    states = [
        ct.State("go", ct.PostureTask(Q0), (), (), ct.Transition("end", g.touching(FEET[0], force=20.0)), 5.0),
        ct.State("end", ends="done"),
        ct.State("failed", ends="failed"),
    ]
    made = ct.StateMachine(TABLE, states, start="go")
    with pytest.raises(dq.Error, match="needs measured forces, and the plant measures none"):
        made(0.0, Q0)


@pytest.mark.parametrize("contacts", [[], FEET[:1], [FEET[0], FEET[2]]], ids=["none", "one", "two"])
def test_a_free_base_needs_three_corners(contacts: list[Any]) -> None:
    states = [
        ct.State("stand", tasks(0.0), (), contacts, ct.Transition("done", g.after(1.0)), 2.0),
        ct.State("done", ends="done"),
        ct.State("failed", ends="failed"),
    ]
    with pytest.raises(dq.Error, match=rf"'stand'.*with {len(contacts)} corners?: it needs three or more"):
        ct.StateMachine(TABLE, states, start="stand", level="whole-body")


def test_collinear_corners_are_refused() -> None:
    from dqdyn import contacts as touch

    line = [touch.point("slab", (0.1 * k, 0.0, -0.05), friction=0.5, name=f"p{k}") for k in range(3)]
    states = [
        ct.State("stand", tasks(0.0), (), line, ct.Transition("done", g.after(1.0)), 2.0),
        ct.State("done", ends="done"),
        ct.State("failed", ends="failed"),
    ]
    with pytest.raises(dq.Error, match="3 corners in a line"):
        ct.StateMachine(TABLE, states, start="stand", level="whole-body")


def test_options_of_the_whole_machine_are_refused_in_states() -> None:
    states = [
        ct.State("stand", tasks(0.0), (), FEET, ct.Transition("done", g.after(1.0)), 2.0, options={"solver": "piqp"}),
        ct.State("done", ends="done"),
        ct.State("failed", ends="failed"),
    ]
    with pytest.raises(dq.Error, match="'solver' of the state 'stand' is one of the whole machine"):
        ct.StateMachine(TABLE, states, start="stand", level="whole-body")


@pytest.mark.parametrize("what", ["tasks", "constraints", "damping"])
def test_what_sets_have_of_their_own_is_by_name(made: ct.StateMachine, what: str) -> None:
    controller = made.controller
    assert isinstance(controller, ct.WholeBodyController)
    with pytest.raises(dq.Error, match=rf"{what} of prepare are a dictionary by name of the set of contacts; found 3"):
        controller.prepare({"new": FEET}, **{what: 3})  # type: ignore[arg-type]
    with pytest.raises(dq.Error, match="no set of contacts named 'nwe': did you mean 'new'"):
        controller.prepare({"new": FEET}, **{what: {"nwe": 3}})  # type: ignore[arg-type]
    assert "new" not in controller.contact_sets


@pytest.mark.long
def test_a_base_in_unit_quaternions_does_the_same(ran: tuple[Looked, dq.Trajectory]) -> None:
    """Asked with q and q̇ of a unit-quaternion base, as Bouyarmane has it."""
    expected = [(event.to, pytest.approx(event.t, abs=1e-9)) for event in ran[0].machine.log]
    robot = TABLE.in_coordinates("quaternion")
    made = machine(robot)
    q0 = robot.from_minimal(Q0, np.zeros(TABLE.nv))[0]
    found = dq.simulate(robot, made, 3.5, DT, q0=q0, contacts=FEET, ground=0.0)
    assert [(event.to, event.t) for event in made.log] == expected
    np.testing.assert_allclose(found.q, ran[1].q, atol=1e-6)
