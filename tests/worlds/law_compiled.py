"""Laws of compiled code, in one world of twenty: machine code, batches and exports give what the algorithm gives.

Each such world compiles a few functions, drawn by its seed, since compiling all of them would take minutes.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.constraints.forward import CONSTRAINED_FORWARD
from dqdyn.dynamics.methods import INVERSE
from dqdyn.errors import Error

from .case import Case
from .numbers import evaluate

SHARE = 20
STATES = 11
"""In a batch: more than one SIMD register holds, and not a multiple of it."""
LARGEST = 40
"""Velocities up to which matrices and forward dynamics are compiled: LLVM takes minutes for larger ones."""
SMALL = 15
"""The same for forward dynamics under constraints."""


def compiled(case: Case) -> None:
    """One state and a batch of states, by robot methods."""
    if case.world.seed % SHARE:
        return
    case.ran.add("compiled")
    rng = np.random.default_rng(case.world.seed)
    q, v, a = case.state
    batch = _batch(case, rng)
    for name, inputs, options in _drawn(case, rng):
        try:
            function = case.robot.function(name, **options)
        except Error as problem:
            case.refuse(f"compiled {name}", problem)
            continue
        given = {"q": q, "v": v, "a": a, "tau": case.plain, "wrenches": case.world.wrenches}
        rows = {"q": batch[0], "v": batch[1], "a": batch[2], "tau": batch[3], "wrenches": case.world.wrenches}
        one, many = [given[i] for i in inputs], [rows[i] for i in inputs]
        try:
            found, all_found = function(*one), function(*many)
        except Error as problem:
            case.refuse(f"compiled {name}", problem)
            continue
        expected = evaluate(case.robot, name, *one, **options)
        growth = _growth(case) if name == "forward_dynamics" else 1.0
        if growth > 1e8:
            continue  # few digits are left, and both have lost them
        case.check(f"compiled, {name}", found, expected, growth * _allowed(case, name, expected))
        single = np.array([function(*(x[k] if x.ndim > 1 else x for x in many)) for k in range(STATES)])
        rows_alike = np.abs(single).reshape(STATES, -1).max(1, initial=0.0).reshape(-1, *[1] * (single.ndim - 1))
        allowed = (1e-3 if name == "forward_dynamics" else 1e-9) * rows_alike + 0 * single  # other rows may be worse
        case.check(f"single = batch, {name}", all_found[1:], single[1:], allowed[1:])
        case.check(f"single = batch here, {name}", all_found[0], single[0], growth * _allowed(case, name, expected))


def exported(case: Case) -> None:
    """C by the machine's compiler and CasADi up to twelve velocities, SymPy up to six."""
    robot = case.robot
    if case.world.seed % SHARE or not 0 < robot.nv <= 12:
        return
    q, v, a = case.state
    expected = evaluate(robot, "inverse_dynamics", q, v, a)
    allowed = case.eps * case.force_size
    if shutil.which("cc"):
        case.ran.add("c")
        source = robot.export("c", "inverse_dynamics", symbol="tau")
        case.check("C", _by_c(source, (q, v, a), robot.nv), expected, allowed)
    case.ran.add("casadi")
    function = robot.export("casadi", "inverse_dynamics")
    case.check("CasADi", np.array(function(q, v, a)).ravel(), expected, allowed)
    if robot.nv <= 6:
        case.ran.add("sympy")
        found = robot.export("sympy", "inverse_dynamics").lambdify()(q, v, a)
        case.check("SymPy", np.array(found, dtype=float).ravel(), expected, allowed)


def _drawn(case: Case, rng: np.random.Generator) -> list[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """Functions to compile: the fast forms, with wrenches if there are any, and one more of those with a choice."""
    found: list[tuple[str, tuple[str, ...], dict[str, Any]]] = []
    if case.robot.nv <= LARGEST:
        found.append(("mass_matrix", ("q",), {}))
    if case.world.frames:
        found.append(("inverse_dynamics", ("q", "v", "a", "wrenches"), case.world.under))
    else:
        found.append(("inverse_dynamics", ("q", "v", "a"), {}))
    if case.robot.nv <= (SMALL if case.robot.constraints else LARGEST):
        methods = tuple(CONSTRAINED_FORWARD) if case.robot.constraints else ("auto",)
        found.append(("forward_dynamics", ("q", "v", "tau"), {"method": str(rng.choice(methods))}))
    more = [
        ("coriolis_matrix", ("q", "v"), {}),
        ("inverse_dynamics_derivatives", ("q", "v", "a"), {}),
        ("bias_forces", ("q", "v"), {}),
        ("centroidal_momentum_matrix", ("q",), {}),
        ("twist_jacobian", ("q",), {"frame": "tool", "expressed": "world"}),
        *(
            ("inverse_dynamics", ("q", "v", "a"), {"method": method})
            for method in INVERSE
            if case.robot.nv <= SMALL or not method.endswith("-literal")  # whose programs are very long
        ),
    ]
    if case.robot.nv <= LARGEST:
        found.append(more[int(rng.integers(len(more)))])
    return found


def _allowed(case: Case, name: str, expected: np.ndarray) -> np.ndarray:
    """As the law of the same function on plain numbers."""
    if (name.startswith("inverse_dynamics") and expected.ndim == 1) or name == "bias_forces":
        return case.eps * case.force_size
    if name == "forward_dynamics" and not case.robot.constraints:
        return case.acceleration_error
    if name == "mass_matrix":
        return case.eps * case.mass_size
    parts = {"coriolis_matrix": case.coriolis_size, "inverse_dynamics_derivatives": case.force_size.max(initial=0.0)}
    size = np.max(parts.get(name, case.reach**2 * (1.0 + np.abs(expected).max(initial=0.0))), initial=0.0)
    return np.asarray(10.0 * case.eps * (size + np.abs(expected).max(initial=0.0)) + 0.0 * expected)


def _growth(case: Case) -> float:
    """How much more than without constraints rounding errors may grow."""
    if not case.robot.constraints:
        return 1.0
    A = evaluate(case.robot, "constraint_matrix", case.world.q, [0.0])
    s = np.linalg.svd(A, compute_uv=False)
    sound = s[s > 1e-14 * max(1.0, s.max(initial=0.0))]
    return float(100.0 * (sound[0] / sound[-1]) ** 2 * case.condition) if len(sound) else case.condition


def _batch(case: Case, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """The world's state and others."""
    q, v, a = case.state
    rows = [case.robot.random_configuration(rng) for _ in range(STATES - 1)]
    shape = (STATES, case.robot.nv)
    speeds = np.where(np.arange(STATES)[:, None] == 0, v, rng.normal(size=shape))
    rates = np.where(np.arange(STATES)[:, None] == 0, a, rng.normal(size=shape))
    forces = np.where(np.arange(STATES)[:, None] == 0, case.plain, rng.normal(size=shape))
    return np.array([q, *rows]).reshape(STATES, case.robot.nq), speeds, rates, forces


def _by_c(source: str, inputs: tuple[np.ndarray, ...], size: int) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        path, library = Path(folder) / "code.c", Path(folder) / "code.so"
        path.write_text(source, encoding="utf-8")
        subprocess.run(["cc", "-std=c99", "-shared", "-fPIC", str(path), "-o", str(library), "-lm"], check=True)
        function = ctypes.CDLL(str(library)).tau
        out, arrays = np.zeros(size), [np.ascontiguousarray(x, dtype=float) for x in inputs]
        function(*(ctypes.c_void_p(x.ctypes.data) for x in (*arrays, out)))
    return out


LAWS = (compiled, exported)
