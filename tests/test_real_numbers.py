"""Complex numbers, integers beyond floats, arrays of forty axes: refused in a sentence wherever numbers come in."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.real import MOST_AXES, real_array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.constraints import JointCoupling
from dqdyn.control.qp.solve import solve_quadratic_program
from dqdyn.model.build import build
from dqdyn.model.description import Description, Joint, Link, Mimic, placement
from dqdyn.references import ComputedTorque
from dqdyn.view.markers import Markers

ROBOT = dq.robots.arm7()
Q = np.zeros(7)
PROGRAM = Function(trace("tiny", [("x", 2)], lambda x: ([x[0] * x[1], x[0] - x[1]], (2,))))
UNIT = [1.0, 0, 0, 0, 0, 0, 0, 0]


def one_joint(**data: Any) -> Any:
    return build(Description("r", (Link("a"), Link("b")), (Joint("j", "revolute", "a", "b", **data),)))


# Each takes one array of numbers that are fine, of the size that is given with it.
DOORS: dict[str, tuple[list[float], Callable[[Any], Any]]] = {
    "q": ([0.1] * 7, lambda x: ROBOT.mass_matrix(x)),
    "v": ([0.1] * 7, lambda x: ROBOT.inverse_dynamics(Q, x, Q)),
    "unchecked": ([0.1] * 7, lambda x: ROBOT.mass_matrix(x, check=False)),
    "function": ([0.1] * 7, lambda x: ROBOT.function("mass_matrix")(x)),
    "program": ([0.1] * 2, lambda x: PROGRAM(x)),
    "wrench": ([0.1] * 6, lambda x: ROBOT.inverse_dynamics(Q, Q, Q, wrenches={"tool": x})),
    "DQ": (UNIT, lambda x: dq.DQ(x)),
    "Pose": (UNIT, lambda x: dq.Pose(x)),
    "translation": ([0.1] * 3, lambda x: dq.Pose(translation=x)),
    "matrix": (np.eye(4).tolist(), lambda x: dq.Pose.from_matrix(x)),
    "Twist": ([0.1] * 6, lambda x: dq.Twist(x)),
    "Point": ([0.1] * 3, lambda x: dq.Point(x)),
    "Line": ([0.0, 0.0, 1.0], lambda x: dq.Line(x, [0, 0, 0])),
    "Plane": ([0.0, 0.0, 1.0], lambda x: dq.Plane(x, [0, 0, 0])),
    "com": ([0.1] * 3, lambda x: dq.Inertia(1.0, x)),
    "tensor": (np.eye(3).tolist(), lambda x: dq.Inertia(1.0, (0, 0, 0), x)),
    "placement": ([0.1] * 3, lambda x: placement(x)),
    "rpy": ([0.1] * 3, lambda x: placement(rpy=x)),
    "quaternion": ([1.0, 0, 0, 0], lambda x: placement(quaternion=x)),
    "limits": ([-1.0], lambda x: one_joint(lower=x[0])),
    "damping": ([1.0], lambda x: one_joint(damping=x[0])),
    "axis": ([0.0, 0.0, 1.0], lambda x: one_joint(axis=tuple(x))),
    "gravity": ([0.0, 0.0, -1.0], lambda x: ROBOT.with_gravity(x)),
    "payload": ([0.1] * 3, lambda x: ROBOT.with_payload("tool", 1.0, x)),
    "frame": (UNIT, lambda x: ROBOT.add_frame("f", "tool", x)),
    "lock": ([0.1], lambda x: ROBOT.lock({"joint1": x[0]})),
    "inverse kinematics": (np.eye(4).tolist(), lambda x: ROBOT.inverse_kinematics("tool", x, Q + 0.3)),
    "table": ([[0.1] * 4] * 3, lambda x: dq.from_dh(x)),
    "screws": ([[0.0, 0, 1, 0, 0, 0]], lambda x: dq.from_screws(x, np.eye(4))),
    "home": (np.eye(4).tolist(), lambda x: dq.from_screws([[0, 0, 1, 0, 0, 0]], x)),
    "ratios": ([1.0, 2.0], lambda x: JointCoupling(("joint1", "joint2"), x)),
    "quadratic program": (np.eye(2).tolist(), lambda x: solve_quadratic_program(x, [0.0, 0.0])),
    "task": ([0.1] * 3, lambda x: ct.TranslationTask("tool", x)),
    "velocity limits": ([1.0] * 7, lambda x: ct.velocity_controller(ROBOT, [ct.RestTask()], [ct.VelocityLimits(x)])),
    "forces": ([0.1] * 7, lambda x: dq.simulate(ROBOT, x, duration=0.002, dt=1e-3)),
    "gains": ([1.0] * 7, lambda x: ComputedTorque(ROBOT, lambda t: (Q, Q, Q), kp=x)),
    "command": ([0.1] * 7, lambda x: dq.simulate(ROBOT, lambda t, q, v: x, duration=0.002, dt=1e-3)),
    "drawn": ([0.1] * 3, lambda x: Markers().point(x)),
    "color": ([0.1] * 3, lambda x: Markers().point([0, 0, 0], color=x)),
}


@pytest.mark.parametrize("name", DOORS)
def test_real_numbers_pass_in_any_wrapping(name: str) -> None:
    numbers, door = DOORS[name]
    for given in (
        numbers,
        np.array(numbers),
        np.array(numbers, dtype=np.float32),
        np.array(numbers, dtype=object),
    ):
        door(given)


BAD: dict[str, Callable[[Any], Any]] = {
    "complex": lambda x: np.array(x) + 1j,
    "complex64": lambda x: (np.array(x) + 1j).astype(np.complex64),
    "zero imaginary part": lambda x: np.array(x) + 0j,
    "list": lambda x: (np.array(x) + 1j).tolist(),
    "objects": lambda x: (np.array(x) + 1j).astype(object),
    "NumPy's objects": lambda x: objects(x, np.complex128(1j)),
    "one of them": lambda x: objects(x, 0.0, np.complex64(1j)),
    "huge": lambda x: objects(x, 10**400),
    "huge among floats": lambda x: objects(x, 0.5, 10**400).tolist(),
    "texts": lambda x: np.array(x).astype(str),
    "nothing": lambda x: objects(x, 0.0, None),
    "axes": lambda x: np.array(x).reshape((1,) * (40 - np.ndim(x)) + np.shape(x)),
}


def objects(like: Any, fill: Any, last: Any = None) -> Any:
    result = np.empty(np.shape(like), dtype=object)
    result[...] = fill
    result.flat[-1] = fill if last is None and fill != 0.0 else last
    return result


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_real_number_is_refused_in_one_sentence(name: str, bad: str) -> None:
    """NumPy's ComplexWarning is an error here, as is any error that is not ours."""
    numbers, door = DOORS[name]
    if bad == "nothing" and name in ("limits", "damping"):
        return  # there None says that there is none
    with pytest.raises(dq.Error) as caught:
        door(BAD[bad](numbers))
    assert str(caught.value).isprintable()


def test_symbols_pass_where_they_may() -> None:
    x, y, z = sympy.symbols("x y z")
    assert dq.Point([x, y, z]).dq.primary.x == x
    assert dq.DQ([x, 0, 0, 0, 0, 0, 0, 0]).primary.w == x
    assert ROBOT.gravity_forces(sympy.symbols("q:7")).dtype == object
    assert real_array([Fraction(1, 2), sympy.Rational(1, 4)], "x").tolist() == [0.5, 0.25]


def test_batches_of_many_axes_pass_up_to_the_stated_number() -> None:
    shape = (1,) * (MOST_AXES - 2) + (2, 7)
    assert ROBOT.mass_matrix(np.zeros(shape)).shape == (*shape, 7)
    assert dq.Pose(np.broadcast_to(UNIT, (1,) * (MOST_AXES - 1) + (8,))).shape == (1,) * (MOST_AXES - 1)
    assert ROBOT.inverse_dynamics(np.zeros(shape), Q, Q).shape == shape
    for axes in range(MOST_AXES + 1, 65):
        with pytest.raises(dq.StateError, match="axes, more than 32: reshape it"):
            ROBOT.mass_matrix(np.zeros((1,) * (axes - 1) + (7,)))


def test_ratios_of_mimics_are_real() -> None:
    joints = (Joint("j", "revolute", "a", "b"), Joint("k", "revolute", "b", "c", mimic=Mimic("j", np.complex128(1j))))  # type: ignore[arg-type]
    with pytest.raises(dq.ModelError, match="not finite"):
        build(Description("r", (Link("a"), Link("b"), Link("c")), joints))


def test_masked_entries_are_not_taken_for_numbers() -> None:
    with pytest.raises(dq.Error, match="masked"):
        dq.Point(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
