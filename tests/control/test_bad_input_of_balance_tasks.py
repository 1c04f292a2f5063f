"""Mistakes in tasks on momentum, the divergent component and impedance: one sentence with the remedy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trees import tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.errors import Error, UnknownNameError

ARM = dq.robots.arm6()
FREE = tree("free base")
HERE = dq.Pose()


def momentum(**options: Any) -> ct.MomentumTask:
    return ct.MomentumTask(**options)


def divergent(target: Any = (0.0, 0.0), **options: Any) -> ct.DivergentComponentTask:
    return ct.DivergentComponentTask(target, **(options or {"omega": 3.0}))


def impedance(frame: Any = "tool", target: Any = HERE, **options: Any) -> ct.ImpedanceTask:
    return ct.ImpedanceTask(frame, target, **({"stiffness": 10.0} | options))


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    # momentum
    "momentum of three": (lambda: momentum(target=[0, 0, 0]), "The target of the momentum has 6 components"),
    "angular momentum of six": (lambda: momentum(target=np.zeros(6), part="angular"), "angular momentum has 3"),
    "momentum of a number": (lambda: momentum(target=1.0), "The target of the momentum is a vector"),
    "momentum that is NaN": (lambda: momentum(target=[math.nan] * 6), "target of the momentum must be finite"),
    "momentum of words": (lambda: momentum(target="abcdef"), "The target of the momentum"),
    "gain of momentum": (lambda: momentum(gain=0.0), "The gain of momentum must be a number above 0"),
    "gains of momentum": (
        lambda: ct.linearise(ARM, momentum(gain=[1.0, 2.0])),
        "gain of momentum has one number, or one per component of the error, 6; found 2",
    ),
    "weight of momentum": (lambda: momentum(weight=-1.0), "The weight of momentum must be a number above 0"),
    "moving momentum without a rate": (
        lambda: momentum(target=lambda t: np.sin(np.full(6, float(t)))),
        "target of the momentum moves, but its velocity or acceleration is not given",
    ),
    # divergent component
    "divergent component of three": (lambda: divergent([0, 0, 0]), "target of the divergent component has 2"),
    "divergent component of None": (lambda: divergent(None), "target of the divergent component is a vector"),
    "divergent component that is NaN": (lambda: divergent([0.0, math.nan]), "must be finite"),
    "neither height nor omega": (
        lambda: ct.DivergentComponentTask([0, 0]),
        "height of the center of mass in m or omega",
    ),
    "height and omega": (lambda: divergent(height=1.0, omega=3.0), "one of them; found"),
    "height of zero": (lambda: divergent(height=0.0), "The height of divergent component must be a number above 0"),
    "height of a word": (lambda: divergent(height="1"), "must be a number above 0; found '1'"),
    "omega that is infinite": (lambda: divergent(omega=math.inf), "omega of divergent component must be a number"),
    "support of one point": (lambda: divergent(omega=3.0, support=[[0.0, 0.0]]), "has no area: give at least three"),
    "support on a line": (lambda: divergent(omega=3.0, support=[[0, 0], [1, 1], [2, 2]]), "has no area"),
    "support nearly on a line": (lambda: divergent(omega=3.0, support=[[0, 0], [1, 1e-12], [2, 0]]), "has no area"),
    "support without points": (lambda: divergent(omega=3.0, support=np.zeros((0, 2))), "has no area"),
    "support in space": (lambda: divergent(omega=3.0, support=np.eye(3)), r"points of the ground \(n, 2\)"),
    "support that is NaN": (lambda: divergent(omega=3.0, support=[[0, 0], [1, 0], [0, math.nan]]), "finite"),
    "support of a word": (lambda: divergent(omega=3.0, support="feet"), "support of divergent component"),
    "no gravity": (
        lambda: ct.linearise(FREE.with_gravity([0.0, 0.0, 0.0]), divergent(height=1.0)),
        "needs gravity along -z: .*; found",
    ),
    "tilted gravity": (lambda: ct.linearise(FREE.with_gravity([1.0, 0.0, -9.0]), divergent()), "gravity along -z"),
    "divergent component by velocity": (
        lambda: ct.velocity_controller(FREE, [divergent()]),
        "'divergent component' is a law of accelerations, .*: use CenterOfMassTask there",
    ),
    "point of no robot": (lambda: divergent().zero_moment_point(None, 0.0, [], []), "is made for a Robot"),  # type: ignore[arg-type]
    "point at no time": (
        lambda: divergent().zero_moment_point(FREE, math.nan, FREE.neutral(), np.zeros(FREE.nv)),
        "The time must be a number; found nan",
    ),
    "point of many states": (
        lambda: divergent().zero_moment_point(FREE, 0.0, [FREE.neutral()] * 3, np.zeros((3, FREE.nv))),
        "one state at a time",
    ),
    "point of a short state": (lambda: divergent().zero_moment_point(FREE, 0.0, [0.0], [0.0]), "has 16 components"),
    # impedance
    "impedance of a line": (
        lambda: impedance(ct.line("tool")),
        "An ImpedanceTask moves a frame, or a point of the robot",
    ),
    "impedance of None": (lambda: impedance(None), "An ImpedanceTask moves a frame, .*; found None"),
    "target of a frame that is a point": (lambda: impedance("tool", [0.0, 0.0, 0.0]), "has 8 components"),
    "target of a point that is a plane": (
        lambda: impedance(ct.point("tool"), dq.Plane([0, 0, 1.0], distance=0.0)),
        "point",
    ),
    "negative stiffness": (
        lambda: impedance(stiffness=-1.0),
        "stiffness of impedance of tool must be positive semidefinite: its least eigenvalue is -1",
    ),
    "stiffness of None": (lambda: impedance(stiffness=None), "The stiffness of impedance of tool must be real numbers"),
    "stiffness of three": (lambda: impedance(stiffness=[1.0] * 3), r"one number, 6 of them, or a matrix \(6, 6\)"),
    "stiffness that is NaN": (lambda: impedance(stiffness=math.nan), "all finite; found nan"),
    "stiffness without symmetry": (lambda: impedance(stiffness=np.triu(np.ones((6, 6)))), "must be symmetric"),
    "indefinite stiffness": (
        lambda: impedance(stiffness=np.diag([1, 1, 1, 1, 1, -1.0])),
        "must be positive semidefinite",
    ),
    "inertia of zero": (lambda: impedance(inertia=0.0), "inertia of impedance of tool must be positive definite"),
    "singular inertia": (lambda: impedance(inertia=np.diag([1, 1, 1, 1, 1, 0.0])), "must be positive definite"),
    "inertia by a word": (lambda: impedance(inertia="own"), "inertia of impedance of tool is 'natural' or numbers"),
    "negative damping": (lambda: impedance(damping=-1.0), "damping of impedance of tool must be positive semidefinite"),
    "natural without damping": (lambda: impedance(inertia="natural"), "needs a damping"),
    "natural with a force": (
        lambda: impedance(inertia="natural", damping=1.0, force=np.zeros(6)),
        "a force acts by itself: leave force out",
    ),
    "natural on a free base": (
        lambda: ct.linearise(FREE, impedance(inertia="natural", damping=1.0)),
        "where all axes have motors, but joint '.*' has none: give an inertia",
    ),
    "force of three at a frame": (lambda: impedance(force=[1.0, 2.0, 3.0]), "force of impedance of tool has 6"),
    "force of six at a point": (
        lambda: impedance(ct.point("tool"), [0.0, 0.0, 0.0], force=np.zeros(6)),
        "force of impedance of tool has 3",
    ),
    "force that is NaN": (lambda: impedance(force=[math.nan] * 6), "must be finite"),
    "force at hands": (
        lambda: impedance(ct.absolute_frame("tool", "joint1"), force=np.zeros(6)),
        "takes a force at one frame: leave it out",
    ),
    "impedance by velocity": (
        lambda: ct.velocity_controller(ARM, [impedance()]),
        "'impedance of tool' is a law of accelerations, .*: use PoseTask or TranslationTask there",
    ),
    "impedance by velocity as a constraint": (
        lambda: ct.velocity_controller(ARM, [ct.RestTask()], [impedance()]),
        "is a law of accelerations",
    ),
    "impedance of an unknown frame": (lambda: ct.linearise(ARM, impedance("tol")), "did you mean 'tool'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input(case: str) -> None:
    make, text = WRONG[case]
    with pytest.raises(Error, match=text) as caught:
        make()
    assert str(caught.value).rstrip().endswith((".", "?"))


def test_unknown_part_of_the_momentum() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'angular'"):
        momentum(part="anguler")
    with pytest.raises(UnknownNameError, match="part of the momentum"):
        momentum(part=["linear", "angular"])


def test_a_force_that_is_lost_is_told_and_the_robot_brakes() -> None:
    """A sensor that fails in the loop: the policy decides, the report names it."""
    force = ct.Measured(np.zeros(6))
    controller = ct.acceleration_controller(ARM, [impedance(force=force)])
    q, v = ARM.random_configuration(1), np.full(6, 0.1)
    controller(0.0, q, v)
    assert controller.report.status == "solved"
    force.update([math.nan] * 6)
    a = controller(0.01, q, v)
    assert controller.report.status == "held"
    assert "the force of impedance of tool" in controller.report.reason
    assert np.isfinite(a).all()
    assert (a * v < 0.0).all()
