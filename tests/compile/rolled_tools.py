"""Programs and robots with repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from compile_tools import program_of
from random_programs import ARITY, EXACT

import dqdyn as dq
from dqdyn.algebra.dual import IDENTITY
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.compile.trace.program import Instruction, Program
from dqdyn.model.description import Description, Joint, Link
from dqdyn.model.inertia import Inertia


def repetitive(seed: int) -> Program:
    """Stretches of random operations, repeated on other operands, with other operations in between."""
    rng = np.random.default_rng(seed)
    sizes = [int(n) for n in rng.integers(1, 9, size=2)]
    code: list[Instruction] = [("input", (i, k), 0.0) for i, size in enumerate(sizes) for k in range(size)]
    code += [("const", (), float(c)) for c in rng.normal(size=5)]
    reals, conditions, outputs = list(range(len(code))), list[int](), list[int]()

    def add(op: str, operands: tuple[int, ...]) -> None:
        (conditions if op == "less" else reals).append(len(code))
        code.append((op, operands, 0.0))

    for _ in range(int(rng.integers(1, 4))):
        for _ in range(int(rng.integers(0, 4))):
            add(str(rng.choice(["add", "mul", "sub"])), tuple(int(k) for k in rng.choice(reals, 2)))
        template = [str(op) for op in rng.choice([*EXACT, "sin", "cos"], size=int(rng.integers(3, 12)))]
        template.insert(0, "less")
        # An operand is a step back inside the stretch, or what the one before made there, or anything at all.
        wires = [[(rng.random(), int(rng.integers(1, 5))) for _ in range(ARITY[op])] for op in template]
        shown = [p for p, op in enumerate(template) if op != "less" and (p == len(template) - 1 or rng.random() < 0.4)]
        before: list[int] = []
        for _ in range(int(rng.integers(3, 9))):
            made: list[int] = []
            for op, wired in zip(template, wires, strict=True):
                inside = [k for k in made if k in reals]
                operands = []
                for o, (choice, back) in enumerate(wired):
                    if op == "select" and o == 0:
                        operands.append(conditions[-1] if choice < 0.7 else int(rng.choice(conditions)))
                    elif choice < 0.5 and len(inside) >= back:
                        operands.append(inside[-back])
                    elif 0.5 <= choice < 0.7 and len(before) >= back and before[-back] in reals:
                        operands.append(before[-back])
                    elif choice < 0.8:  # a constant or an input
                        constant = sum(sizes) + (0 if back == 4 else int(rng.integers(5)))
                        operands.append(constant if back > 2 else int(rng.integers(sum(sizes))))
                    else:
                        operands.append(int(rng.choice(reals)))
                add(op, tuple(operands))
                made.append(len(code) - 1)
            before = made
            outputs += [made[p] for p in shown]
    outputs += [int(k) for k in rng.choice(reals, size=5)]
    return program_of(code, [int(k) for k in rng.permutation(outputs)] if seed % 2 else outputs, sizes)


def arms(count: int, joints: int, base: str = "free") -> dq.Robot:
    """Arms of random links on one body, with all that joints have."""
    rng = np.random.default_rng(count)
    links, made = [Link("body", Inertia(3.0, (0.1, 0.0, 0.2), ((1.0, 0.0, 0.1), (0.0, 2.0, 0.0), (0.1, 0.0, 1.5))))], []
    for arm in range(count):
        parent = "body"
        for k in range(joints):
            name = f"{arm}_{k}"
            turn = rng.normal(size=4)
            turn /= np.linalg.norm(turn)
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
            links.append(
                Link(name, Inertia(float(rng.uniform(0.5, 1.0)), tuple(rng.normal(size=3) * 0.1), _tensor(rng)))  # type: ignore[arg-type]
            )
            origin = pose(Quaternion(*turn.tolist()), pure(*rng.normal(size=3).tolist())) if k else IDENTITY
            given = {"damping": 0.1 + 0.01 * k, "friction": 0.2, "armature": 0.01 * (k + 1)} if arm else {}
            made.append(
                Joint(f"j{name}", "revolute", parent, name, origin=origin, axis=tuple(axis.tolist()), **given)  # type: ignore[arg-type]
            )
            parent = name
    return dq.Robot.from_description(Description("arms", tuple(links), tuple(made), (), base))


def _tensor(rng: np.random.Generator) -> Any:
    a = rng.normal(size=(3, 3)) * 0.05
    cloud = a @ a.T + 0.01 * np.eye(3)
    return tuple(map(tuple, (np.trace(cloud) * np.eye(3) - cloud).tolist()))
