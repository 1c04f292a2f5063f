"""Options of MuJoCo as plant, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.errors import Error, unknown_name
from dqdyn.robot import Robot
from dqdyn.scenes.scene import Scene
from dqdyn.simulate.problem import number, shown

METHODS = ("Euler", "RK4", "implicit", "implicitfast")
CONES = ("elliptic", "pyramidal")
SOLVERS = ("Newton", "CG", "PGS")
_MOST_ITERATIONS = 10**6
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class EngineOptions:
    """How MuJoCo simulates a robot and its scene.

    ``scene``: bodies to touch. ``ground``: the height in m of a horizontal plane with MuJoCo's friction 1; None leaves
    it out. ``limits``: whether joints stop at their limits. ``method`` is MuJoCo's integrator.

    Friction between the robot and a body of the scene is that of the body, or ``robot_friction`` where given; of two
    bodies of the scene the larger counts. ``cone``: "elliptic" is Coulomb's round cone, "pyramidal" has four sides.
    ``impratio`` is how much harder friction is than the normal direction; what sticks creeps in inverse proportion: a
    block on a slope of 30° by 0.14 mm/s with 10, by 0.014 mm/s with 100. With a scene they are "elliptic" and 100
    unless given, without one MuJoCo's own "pyramidal" and 1. ``noslip_iterations`` above 0 removes the creep.

    ``solref`` (time constant in s, damping ratio) and ``solimp`` (3 or 5 numbers) say how hard all contacts are but
    those that bounce. With MuJoCo's own (0.02, 1) a body that rests on the ground sinks in by 0.4 mm, in proportion to
    the square of the time constant, which has to be two time steps or more. ``solver``, ``iterations`` and
    ``tolerance`` are MuJoCo's.

    ``self_contact``: pairs of links that touch each other; others of the robot do not. ``welds`` and ``connects``:
    pairs (frame of the robot, body of the scene or "world") that are joined where they are at the start, in all
    directions or in position only, by MuJoCo's equality constraints, and then do not touch. ``joint_solref``, by
    default (0.005, 1) or two time steps, and ``joint_solimp`` say how hard.
    """

    scene: Scene | None = None
    ground: float | None = None
    limits: bool = True
    method: str = "Euler"
    robot_friction: float | None = None
    cone: str | None = None
    impratio: float | None = None
    solref: Any = None
    solimp: Any = None
    noslip_iterations: int = 0
    solver: str = "Newton"
    iterations: int = 100
    tolerance: float = 1e-8
    self_contact: Pairs = ()
    welds: Pairs = ()
    connects: Pairs = ()
    joint_solref: Any = None
    joint_solimp: Any = (0.99, 0.999, 0.001)

    @classmethod
    def of(cls, robot: Robot, timestep: float, options: dict[str, Any]) -> EngineOptions:
        """The options by name for a time step of MuJoCo in s, or an error that says which is wrong."""
        known = [f.name for f in fields(cls)]
        for name in options:
            if name not in known:
                raise unknown_name("option of plant='mujoco'", name, ("substeps", *known), room=len(known) + 1)
        made = cls(**options)
        made._check(robot, timestep)
        return made

    def solref_of_joints(self, timestep: float) -> tuple[float, float]:
        """``joint_solref``, or its default."""
        return (max(0.005, 2.0 * timestep), 1.0) if self.joint_solref is None else self.joint_solref

    def _check(self, robot: Robot, timestep: float) -> None:
        if self.scene is not None and not isinstance(self.scene, Scene):
            remedy = "make one with dq.Scene([scenes.ground(), ...])"
            raise Error(f"scene is a Scene or None; found {shown(self.scene)}: {remedy}.", argument="scene")
        for name, known in (("method", METHODS), ("cone", CONES), ("solver", SOLVERS)):
            value = getattr(self, name)
            if value is None and name == "cone":
                continue
            if not isinstance(value, str) or value not in known:
                what = "MuJoCo's integrators" if name == "method" else f"MuJoCo's options for {name}"
                raise Error(f"{what} are {', '.join(known)}; found {shown(value)}.", **{name: value})
        if not isinstance(self.limits, (bool, np.bool_)):
            raise Error(f"limits is True or False; found {shown(self.limits)}.", argument="limits")
        if self.ground is not None:
            object.__setattr__(self, "ground", number("ground", self.ground, "a finite height in m"))
            if self.scene is not None and "ground" in self.scene:
                raise Error("the scene has a 'ground' already: leave out ground=.", argument="ground")
        for name, least in (("robot_friction", 0.0), ("impratio", 1e-6), ("tolerance", 0.0)):
            value = getattr(self, name)
            if value is None:
                continue
            if number(name, value, "a finite number") < least:
                raise Error(f"{name} must not be below {least:g}; found {shown(value)}.", argument=name)
        for name, least in (("noslip_iterations", 0), ("iterations", 1)):
            value = getattr(self, name)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not whole or not least <= value <= _MOST_ITERATIONS:
                text = f"{name} is a whole number from {least} to {_MOST_ITERATIONS:g}; found {shown(value)}."
                raise Error(text, argument=name)
        for name, sizes in (("solref", (2,)), ("solimp", (3, 5)), ("joint_solref", (2,)), ("joint_solimp", (3, 5))):
            self._numbers(name, sizes)
        for name in ("solref", "joint_solref"):
            self._check_solref(name, timestep)
        links = {link.name for link in robot.description.links}
        for name in ("self_contact", "welds", "connects"):
            for first, second in self._pairs(name):
                if name == "self_contact":
                    for link in (first, second):
                        if link not in links:
                            raise unknown_name("link for self_contact", link, sorted(links))
                    if first == second:
                        raise Error(f"link {first!r} cannot touch itself: name two links.", argument=name)
                    continue
                robot.model.frame(first)
                bodies = () if self.scene is None else self.scene.names
                if second != "world" and second not in bodies:
                    raise unknown_name(f"body of the scene for {name}", second, (*bodies, "world"))

    def _numbers(self, name: str, sizes: tuple[int, ...]) -> None:
        value = getattr(self, name)
        if value is None and name != "joint_solimp":
            return
        array = real_array(value, name)
        if array.ndim != 1 or len(array) not in sizes or not np.isfinite(array).all():
            counts = " or ".join(map(str, sizes))
            raise Error(f"{name} is {counts} finite numbers, as MuJoCo has it; found {shown(value)}.", argument=name)
        object.__setattr__(self, name, tuple(array.tolist()))

    def _check_solref(self, name: str, timestep: float) -> None:
        """An error where MuJoCo would take another time constant in silence."""
        value = getattr(self, name)
        if value is None or max(value) < 0.0:  # two negative numbers are stiffness and damping
            return
        if min(value) <= 0.0:
            raise Error(f"{name} has two numbers above 0, or two below; found {shown(value)}.", argument=name)
        if value[0] < 2.0 * timestep:
            what = f"the time constant of {name}, {value[0]:g} s, is shorter than two steps of {timestep:g} s"
            raise Error(f"{what}: take it longer, or more substeps.", argument=name)

    def _pairs(self, name: str) -> Pairs:
        what = "links" if name == "self_contact" else "a frame of the robot and a body of the scene"
        try:
            given = [(first, second) for first, second in getattr(self, name)]
        except (TypeError, ValueError):
            given = [("", None)]
        if not all(isinstance(x, str) for pair in given for x in pair):
            text = f"{name} is a list of pairs of names, {what}; found {shown(getattr(self, name))}."
            raise Error(text, argument=name)
        object.__setattr__(self, name, tuple(given))
        return given
